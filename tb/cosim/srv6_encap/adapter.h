// Drives a Verilated srv6_encap_run with whole packets. Included only where a Verilated class is at hand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "cosim/clocked_model.h"
#include "cosim/srv6_encap/beats.h"
#include "cosim/trace.h"
#include "nic/tx/srv6_encap_engine.h"

namespace mrc {

/// `Model` is the Verilated class, `kBytes` its datapath width. In encapsulate() a packet runs alone: the block is not
/// clocked from its last beat on until the next packet, in whose first cycle that beat is taken. Where the next is
/// offered earlier it is placed at the cycle at which the block's ready would have let it in. Those cycles are the
/// block's own as long as the output is always taken, because a packet then never waits for one before it once its
/// first beat is in. Two packets inside at once are seen by pins, and by the bench. Throws std::invalid_argument for a
/// packet without bytes, which the block cannot express, and RtlError where the block never ends a packet or
/// counts more bytes than a beat has.
template <typename Model, std::size_t kBytes, typename Clocked = ClockedModel<Model>>
class Srv6EncapAdapter : public Srv6EncapEngine {
 public:
  template <typename... Shared>
  explicit Srv6EncapAdapter(const cosim::TraceRecorder& recorder = {}, Shared&&... shared)
      : model_(std::forward<Shared>(shared)...), recorder_(recorder) {
    recorder_.set("beat_bytes", kBytes);
    model_->out_ready_i = 1;
    model_.reset();
    model_.clock();
    model_.restart_count();
    model_.on_rest([this] { model_->in_valid_i = model_->out_ready_i = 0; });
  }

  EncapReply encapsulate(const Srv6EncapInput& input, std::span<const std::byte> inner_packet,
                         std::uint64_t offer_cycle) override {
    if (inner_packet.empty()) throw std::invalid_argument("srv6_encap RTL: inner packet without bytes");
    if (recorder_.records()) record(input, inner_packet);
    In in = srv6_encap_in(input);
    header_bytes_ = kIpv6HeaderBytes + (input.srh ? kSrhBytes : 0);
    const std::uint64_t start = std::max(offer_cycle, input.icrc ? next_cycle_ : next_plain_cycle_);
    EncapReply reply;
    reply.accepted_cycle = start;
    received_.clear();
    std::size_t sent = 0;
    bool first_out = true;
    bool last_out = false;
    bool free_again = false;
    std::uint64_t plain_cycle = 0;
    std::size_t count = put_beat_at(in, inner_packet, sent);
    // Ready may depend on what is offered.
    model_.low();
    for (std::uint64_t cycle = 0; !last_out; ++cycle) {
      if (cycle > kMostCycles) throw RtlError("srv6_encap RTL does not come to the end of a packet");
      const bool sends = count > 0;
      const bool ready = model_->in_ready_o != 0;
      if (ready && !sends && !free_again) {
        free_again = true;
        reply.next_cycle = start + cycle;
      }
      if (input.icrc && !sends && plain_cycle == 0 && is_free_for_plain()) plain_cycle = start + cycle;
      model_.next([&] {
        if (!ready || !sends) return;
        sent += count;
        count = put_beat_at(in, inner_packet, sent);
      });
      if (model_->out_valid_o == 0) continue;
      // What is registered at the end of a cycle is on the wires in the next.
      if (first_out) reply.first_out_cycle = start + cycle + 1;
      first_out = false;
      last_out = model_->out_eop_o != 0;
      reply.last_out_cycle = start + cycle + 1;
      take_beat();
    }
    // The last beat is taken in the next packet's first cycle.
    if (!free_again) reply.next_cycle = reply.last_out_cycle;
    // A beat that comes out more than went in holds the input up later, behind the stages of the ICRC.
    if (input.icrc) {
      reply.next_cycle = std::max(reply.next_cycle, start + reply.last_out_cycle - reply.first_out_cycle + 1);
    }
    next_cycle_ = reply.next_cycle;
    // One that comes with its ICRC does not pass those that wait for theirs.
    next_plain_cycle_ = plain_cycle == 0 && input.icrc ? reply.last_out_cycle : std::max(plain_cycle, reply.next_cycle);
    finish(reply, inner_packet, input.icrc);
    return reply;
  }
  std::uint64_t cycles() const override { return model_.cycles(); }

  void begin_cycle(std::uint64_t cycle) override { model_.begin_cycle(cycle); }
  PinCycle clock(const EncapItem* offered, const EncapItem* oldest, bool takes) override {
    PinCycle pins;
    const std::size_t count = offered == nullptr ? 0 : put_next_beat(*offered);
    model_->in_valid_i = offered == nullptr ? 0 : 1;
    model_->out_ready_i = takes ? 1 : 0;
    model_.low();
    pins.ready = model_->in_ready_o != 0;
    if (pins.ready && offered != nullptr) {
      pins.begun = sent_ == 0;
      pins.taken = sent_ + count == offered->inner.size();
      sent_ = pins.taken ? 0 : sent_ + count;
    }
    pins.out_waits = model_->out_valid_o != 0 && !takes;
    if (model_->out_valid_o != 0 && takes) take_beat_of(oldest, pins);
    model_.high();
    return pins;
  }
  const EncapReply& answer() const override { return answer_; }

 private:
  using In = srv6_encap_ports::In;
  static constexpr std::uint64_t kMostCycles = 100'000;

  void record(const Srv6EncapInput& input, std::span<const std::byte> packet) {
    for (cosim::Transaction& beat : srv6_encap_beats(input, packet, kBytes)) recorder_.add(In::kPort, std::move(beat));
  }
  void put_beat(In& in, std::span<const std::byte> bytes, bool first, bool last) {
    // Behind the first beat only these change.
    in.bytes = bytes.size();
    in.sop = first ? 1 : 0;
    in.eop = last ? 1 : 0;
    if (first) {
      in.put(model_.pins());
    } else {
      set_pin(model_->in_bytes_i, in.bytes);
      set_pin(model_->in_sop_i, in.sop);
      set_pin(model_->in_eop_i, in.eop);
    }
    // Almost all beats are full: a copy of constant length needs no string instruction.
    if (bytes.size() == kBytes) {
      std::memcpy(&model_->in_data_i[0], bytes.data(), kBytes);
    } else {
      std::memcpy(&model_->in_data_i[0], bytes.data(), bytes.size());
    }
  }
  /// What is offered of the packet behind the bytes that were sent. Returns its bytes, 0: nothing is left.
  std::size_t put_beat_at(In& in, std::span<const std::byte> packet, std::size_t sent) {
    const std::size_t count = std::min(kBytes, packet.size() - sent);
    if (count > 0) put_beat(in, packet.subspan(sent, count), sent == 0, sent + count == packet.size());
    model_->in_valid_i = count > 0 ? 1 : 0;
    return count;
  }
  /// Nothing is offered: would the first beat of a packet that comes with its ICRC be taken?
  bool is_free_for_plain() {
    model_->in_sop_i = 1;
    model_->icrc_i = 0;
    model_.low();
    const bool ready = model_->in_ready_o != 0;
    model_->icrc_i = 1;
    model_.low();
    return ready;
  }
  std::size_t put_next_beat(const EncapItem& item) {
    if (item.inner.empty()) throw std::invalid_argument("srv6_encap RTL: inner packet without bytes");
    In in = srv6_encap_in(item.input);
    if constexpr (requires { model_->in_takes_path_i; }) {
      model_->in_takes_path_i = item.takes_path ? 1 : 0;
      if (item.takes_path) in.plane = in.uplink = 0;
    }
    return put_beat_at(in, item.inner, sent_);
  }
  void take_beat_of(const EncapItem* item, PinCycle& pins) {
    if (item == nullptr) throw RtlError("srv6_encap RTL gives a beat of no packet");
    if (packet_ended_) received_.clear();
    pins.first_out = received_.empty();
    take_beat();
    pins.last_out = packet_ended_ = model_->out_eop_o != 0;
    if (!pins.first_out && !pins.last_out) return;
    answer_ = {};
    header_bytes_ = kIpv6HeaderBytes + (item->input.srh ? kSrhBytes : 0);
    finish(answer_, item->inner, item->input.icrc);
  }
  void take_beat() {
    if (model_->out_bytes_o > kBytes) throw RtlError("srv6_encap RTL counts more bytes than a beat has");
    const auto* bytes = reinterpret_cast<const std::byte*>(&model_->out_data_o[0]);
    received_.insert(received_.end(), bytes, bytes + model_->out_bytes_o);
  }
  void finish(EncapReply& reply, std::span<const std::byte> inner, bool icrc) const {
    if (received_.size() < header_bytes_) return;
    std::memcpy(reply.header.data(), received_.data(), reply.header.size());
    if (header_bytes_ > reply.header.size()) {
      std::memcpy(reply.srh.data(), received_.data() + reply.header.size(), reply.srh.size());
    }
    const std::size_t inner_end = header_bytes_ + inner.size();
    reply.inner_intact = received_.size() == inner_end + (icrc ? kIcrcBytes : 0) &&
                         std::memcmp(received_.data() + header_bytes_, inner.data(), inner.size()) == 0;
    if (!icrc || !reply.inner_intact) return;
    for (std::size_t i = 0; i < kIcrcBytes; ++i) {
      reply.icrc |= std::to_integer<std::uint32_t>(received_[inner_end + i]) << (8 * i);
    }
  }

  Clocked model_;
  cosim::TraceRecorder recorder_;
  std::vector<std::byte> received_;
  std::size_t header_bytes_ = 0;
  std::uint64_t next_cycle_ = 0;
  std::uint64_t next_plain_cycle_ = 0;  ///< of a packet that comes with its ICRC
  // By pins:
  EncapReply answer_;
  std::size_t sent_ = 0;  ///< bytes of what is offered
  bool packet_ended_ = false;
};

}  // namespace mrc
