// One box of the NIC alone with the queues beside it: what the boxes of a NIC
// share, a wheel for the box and the test's own boxes, and a wheel that is never run for neighbours that the box calls.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <systemc>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/box.h"
#include "engine/causal_trace.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/mrc_halves.h"
#include "nic/nic_context.h"
#include "transports/node_transport.h"

namespace mrc::box_test {

/// A queue beside the box that no other box owns.
template <typename Item>
Fifo<Item> queue(const std::string& name, std::uint32_t capacity) {
  return Fifo<Item>(kUnlisted, name, capacity);
}

/// Its boxes are never stepped: their queues and functions are there, but they do nothing by themselves.
class ParkedWheel : public WheelModule {
 public:
  explicit ParkedWheel(const char* name) : WheelModule(name, KernelMode::wheel, 1) {
    for (sc_core::sc_object* child : get_child_objects()) {
      if (sc_core::sc_process_handle process(child); process.valid()) process.disable();
    }
  }
};

/// Takes from a queue from `first` on (kNever: never), an entry per `interval`
/// or all that are ready, and writes down when.
template <typename Item>
class Taker : public Box {
 public:
  Taker(const char* name, WheelModule& owner, Fifo<Item>& queue, TimePs first = 0, TimePs interval = 0)
      : Box(name, owner), queue_(queue), next_(first), interval_(interval) {
    queue_.connect(this);
    wake_at(first);
  }
  void step(TimePs now) override {
    while (now >= next_ && queue_.ready(now)) {
      times.push_back(now);
      items.push_back(queue_.pop(now));
      next_ = now + interval_;
    }
    if (now < next_) {
      wake_at(next_);
    } else {
      queue_.wait_ready(now);
    }
  }

  std::vector<TimePs> times;
  std::vector<Item> items;

 private:
  Fifo<Item>& queue_;
  TimePs next_;
  TimePs interval_;
};

/// Calls a function at a time of the simulation.
class At : public Box {
 public:
  template <typename Function>
  At(const char* name, WheelModule& owner, TimePs time, Function function)
      : Box(name, owner), time_(time), function_(std::move(function)) {
    wake_at(time);
  }
  void step(TimePs now) override {
    if (now == time_) function_(now);
  }

 private:
  TimePs time_;
  std::function<void(TimePs)> function_;
};

/// A clock of 1 GHz, so that a cycle is a nanosecond, payload by reference, two ports.
inline ScenarioConfig small_nic() {
  ScenarioConfig scenario;
  scenario.name = "box";
  scenario.node_default.nic.core_clock_ghz = 1;
  scenario.node_default.nic.ports = 2;
  scenario.node_default.host.payload = PayloadMode::reference;
  return scenario;
}
/// The same, and this box has a latency of 7 cycles, an interval of 3 and, if it owns a queue, 4 entries in it.
template <typename BoxConfig>
ScenarioConfig small_nic(BoxConfig NicConfig::*box) {
  ScenarioConfig scenario = small_nic();
  BoxConfig& config = scenario.node_default.nic.*box;
  config.pipeline = {.latency_cycles = 7, .initiation_interval_cycles = 3};
  if constexpr (requires { config.queue_entries; }) config.queue_entries = 4;
  return scenario;
}
constexpr TimePs kNs = 1000;
/// The start that brought something about, where nobody records starts.
inline constexpr StartId kNobody = 0;
constexpr std::uint32_t kRkey = 7;
constexpr std::uint64_t kRemoteAddress = 1ULL << 40;

class Bench {
 public:
  /// `qps` QPs with both halves, all to node 1. `scenario` is copied.
  explicit Bench(const ScenarioConfig& config, std::uint32_t qps = 1)
      : scenario(config),
        nic(0, scenario),
        transport_(make_node_transport(nic)),
        wheel("wheel", KernelMode::wheel, 1),
        parked("parked") {
    transport_->reserve(qps);
    nic.protection.add({kRemoteAddress, 1ULL << 30, kRkey, NodeTransport::kDomain});
    for (std::uint32_t i = 0; i < qps; ++i) add_qp();
  }

  /// Everything that is due before `end`. All boxes of a test are there before the first call.
  void run_until(TimePs end) {
    sc_core::sc_start(sc_core::sc_time::from_value(end - sc_core::sc_time_stamp().value()));
  }
  /// A packet of the NIC's pool towards its own first QP.
  Packet* packet(Opcode opcode, std::uint32_t payload_bytes = 0, Psn psn = 0) {
    Packet* packet = nic.packets.acquire();
    packet->opcode = opcode;
    packet->payload_bytes = payload_bytes;
    packet->dma_length = payload_bytes;
    packet->psn = psn;
    packet->va = kRemoteAddress + std::uint64_t{psn} * 4096;
    packet->rkey = kRkey;
    packet->source_node = 1;
    packet->destination_qp = nic.qps[0].number;
    packet->has_timestamp = is_data(opcode);
    return packet;
  }
  auto& requestor(std::uint32_t qp) { return requestor_of(nic.qps[qp]); }
  auto& responder(std::uint32_t qp) { return responder_of(nic.qps[qp]); }
  /// The QP has the WQE of a WRITE.
  void post(std::uint32_t qp, std::uint32_t bytes) {
    ASSERT_EQ(requestor(qp).post({.remote_address = kRemoteAddress, .rkey = kRkey, .bytes = bytes}, 0),
              PostStatus::posted);
  }
  /// Time for which the slot was held up by what the results call `cause`. The slot's account is closed.
  TimePs blocked_ps(const IssueSlot& slot, std::string_view cause) const { return slot.blocked_ps(find(cause)); }
  const std::string& name_of(Cause cause) const { return nic.causes.name(cause); }
  /// Throws std::invalid_argument where no box has declared it.
  Cause find(std::string_view name) const {
    for (std::size_t i = 0; i < nic.causes.size(); ++i) {
      if (nic.causes.name(Cause::at(i)) == name) return Cause::at(i);
    }
    throw std::invalid_argument(fmt::format("no cause is called {}", name));
  }

  ScenarioConfig scenario;
  NicContext nic;

 private:
  void add_qp() {
    Qp& qp = transport_->add_qp();
    qp.peer = 1;
    qp.peer_number = qp.number;
    transport_->add_requestor(qp, 0);
    transport_->add_responder(qp, 0);
    qp.reverse_paths = std::make_unique<ReversePaths>(nic.config.nic.ports, KeyedRandom(1, "reverse"));
  }

  std::unique_ptr<NodeTransport> transport_;

 public:
  WheelModule wheel;
  ParkedWheel parked;
};

/// A buffer that a box declares.
inline const Occupancy& buffer(const Box& box, std::string_view name) {
  for (const DeclaredBuffer& buffer : box.buffers()) {
    if (buffer.occupancy->name() == name) return *buffer.occupancy;
  }
  throw std::invalid_argument(fmt::format("no buffer is called {}", name));
}

/// Times of equal distance, from `first` on.
inline std::vector<TimePs> times(TimePs first, TimePs interval, std::size_t count) {
  std::vector<TimePs> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(first + i * interval);
  return all;
}

/// The times at which `small_nic(box)`, given six entries at 0, puts them out when its queue of four is first read at
/// 50 ns: the fifth follows after the latency, the sixth an interval later.
inline std::vector<TimePs> times_behind_a_full_queue() {
  return {50 * kNs, 50 * kNs, 50 * kNs, 50 * kNs, 57 * kNs, 60 * kNs};
}

/// Runs until 100 ns and checks that the box, built by `small_nic(box)` and given six entries, was held up by its queue
/// of four, which `next` first reads at 50 ns. The fourth entry occupies the box until 12 ns.
template <typename Item>
void expect_held_up_by_queue(Bench& bench, IssueSlot& slot, const Taker<Item>& next, std::string_view cause) {
  bench.run_until(100 * kNs);
  EXPECT_EQ(next.times, times_behind_a_full_queue());
  slot.finish(100 * kNs);
  EXPECT_EQ(bench.blocked_ps(slot, cause), 38 * kNs);
}

}  // namespace mrc::box_test
