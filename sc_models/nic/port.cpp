#include "nic/port.h"

#include <fmt/format.h>
#include <algorithm>

#include "engine/latency_account.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"
#include "nic/rx/overrun_causes.h"
#include "nic/rx/parser.h"
#include "nic/tx/idle_causes.h"
#include "nic/tx/spray_scheduler.h"
#include "node/packet_capture.h"

namespace mrc::timing {
namespace {

constexpr std::uint32_t kSmallestDataPacketBytes = 128;

}  // namespace

Port::Port(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, std::uint32_t index,
           Link& transmit, Link& receive)
    : Box(name, owner,
          {.name = "port",
           .part = NicPart::ports,
           .behind = index == 0 ? "retransmit_timer" : fmt::format("port{}", index - 1),
           .packets = Handling::passes,
           .instance = static_cast<std::int32_t>(index)}),
      slot(*this, nic.tx_work),
      nic_(nic),
      frame_memory_(nic.memories[kTxFifo]),
      packet_memory_(nic.memories[Parser::kPacketBuffer]),
      index_(index),
      transmit_link_(transmit),
      receive_link_(receive),
      line_(nic.config.nic.port_gbps),
      ps_per_byte_(static_cast<TimePs>(8000.0 / nic.config.nic.port_gbps)),
      mac_fec_ps_(
          static_cast<TimePs>((nic.config.nic.port.mac_fec_latency_ns + mac_added_ns(nic.scenario.fabric)) * 1000.0)),
      tx_fifo_(*this, fmt::format("port{}.tx_fifo", index), "bytes", nic.config.nic.port.tx_fifo_bytes),
      control_(*this, fmt::format("port{}.control_fifo", index), nic.config.nic.port.control_fifo_entries,
               {.is_accounted = false}),
      data_(*this, fmt::format("port{}.data", index), nic.config.nic.port.tx_fifo_bytes / kSmallestDataPacketBytes,
            {.is_sized = false}),
      no_control_room_(nic.causes.declare("port.control_fifo")),
      starts_(nic.trace, server_cause(nic, "port.line"), Cause(), StartPoint::kPorts) {
  for (std::uint32_t c = 1; c < nic.queue_classes(); ++c) above_.push_back(std::make_unique<ClassFifo>(*this, c));
  declare(DeclaredServer{.cause = nic.causes.declare("port.line", {"nic.port_gbps", "nic.ports"}),
                         .gbps = nic.config.nic.port_gbps});
  declare(DeclaredTokens{.cause = nic.causes.declare("port.tx_fifo", {"nic.port.tx_fifo_bytes"}),
                         .capacity = tx_fifo_.capacity(),
                         .unit = tx_fifo_.unit(),
                         .taken_by = "spray_scheduler",
                         .returned_by = place().full_name()});
  declare(DeclaredTokens{.cause = nic.causes.declare("port.control_fifo", {"nic.port.control_fifo_entries"}),
                         .capacity = control_.occupancy().capacity(),
                         .unit = "entries",
                         .taken_by = nic.config.nic.srv6_encap.control_packets ? "srv6_encap" : "control_queue",
                         .returned_by = place().full_name()});
  nic.memories.count(kControlFifo, control_.occupancy());
}

Port::ClassFifo::ClassFifo(Port& port, std::uint32_t traffic_class)
    : bytes(port, fmt::format("port{}.tx_fifo.class{}", port.index_, traffic_class), "bytes",
            port.nic_.config.nic.port.tx_fifo_bytes),
      packets(port, fmt::format("port{}.data.class{}", port.index_, traffic_class),
              port.nic_.config.nic.port.tx_fifo_bytes / kSmallestDataPacketBytes, {.is_sized = false}) {}

void Port::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const NicConfig& config = nic.node.nic;
  out.add(kTxFifo, nic.datapath_words(config.port.tx_fifo_bytes), config.memory.port_fifo,
          {{"frame", config.datapath_bits}}, config.ports);
  out.add(kControlFifo, {.depth = config.port.control_fifo_entries, .instances = config.ports}, {kControlPacketField});
}

void Port::declare_transmit_latency(LatencyAccount& account) {
  account.add_boxes("transmit_boxes", "nic.*.latency_cycles, nic.core_clock_ghz");
  account.add("mac_fec_transmit", account.nic().port.mac_fec_latency_ns,
              LatencyAccount::plausible("nic.port.mac_fec_latency_ns"), "assumption", "nic.port.mac_fec_latency_ns");
  account.add_exact("serialization", account.serialization_ns(), "spec", "nic.port_gbps, frame length");
}

void Port::declare_receive_latency(LatencyAccount& account) {
  account.add("mac_fec_receive", account.nic().port.mac_fec_latency_ns,
              LatencyAccount::plausible("nic.port.mac_fec_latency_ns"), "assumption", "nic.port.mac_fec_latency_ns");
}

void Port::connect(SprayScheduler& spray_scheduler, Fifo<Packet*>& parser_queue, IdleCauses& idle_causes,
                   OverrunCauses& overrun_causes) {
  idle_causes_ = &idle_causes;
  overrun_causes_ = &overrun_causes;
  spray_scheduler_ = &spray_scheduler;
  parser_queue_ = &parser_queue;
  control_.connect(this);
  data_.connect(this);
  for (const auto& fifo : above_) fifo->packets.connect(this);
  receive_link_.set_receiver(this, mac_fec_ps_);
}

void Port::free_sent_bytes(TimePs now) {
  if (bytes_on_line_ == 0 || line_.free_at() > now) return;
  bytes_of(class_on_line_).remove_announced(line_.free_at(), bytes_on_line_);
  bytes_on_line_ = 0;
}

bool Port::has_data_room(TimePs now, std::uint32_t wire_bytes, std::uint32_t traffic_class) {
  free_sent_bytes(now);
  return bytes_of(traffic_class).fits(wire_bytes);
}

std::uint64_t Port::data_room(TimePs now) {
  free_sent_bytes(now);
  return tx_fifo_.capacity() - tx_fifo_.level();
}

void Port::reserve_data(TimePs now, std::uint32_t wire_bytes, std::uint32_t traffic_class) {
  bytes_of(traffic_class).add(now, wire_bytes);
}

void Port::send_data(TimePs now, Packet* packet, TimePs ready_at) {
  packets_of(packet->traffic_class).push(now, packet, ready_at);
}

void Port::send(TimePs now, Packet* packet, TimePs ready_at) {
  const std::uint32_t frame = nic_.link_bytes.in_nic(*packet);
  const std::uint32_t bytes = nic_.link_bytes.on_link(*packet);
  NodeCounters& counters = nic_.counters;
  BoxCounters& of_boxes = nic_.box_counters;
  if (is_data(packet->opcode)) {
    bytes_on_line_ = frame;
    class_on_line_ = packet->traffic_class;
    ++counters.data_packets;
    counters.data_payload_bytes += packet->payload_bytes;
    of_boxes.data_wire_bytes += bytes;
    if (packet->retransmission) {
      ++counters.retransmitted;
      of_boxes.retransmitted_wire_bytes += bytes;
      of_boxes.retransmitted_wire_bytes_by_cause[packet->loss_cause] += bytes;
    } else {
      counters.first_payload_bytes += packet->payload_bytes;
      first_payload_bytes_ += packet->payload_bytes;
    }
  } else {
    ++counters.control_packets;
    of_boxes.control_wire_bytes += bytes;
  }
  if (nic_.capture != nullptr) nic_.capture->record(nic_.node, index_, now, *packet);
  const TimePs delay = is_data(packet->opcode) ? read_frame(now, *packet, frame) : 0;
  if (next_rate_change_ < rate_changes_.size()) change_rate(now);
  const TimePs last_bit = line_.occupy(now + delay, bytes);
  if (bytes_on_line_ > 0) bytes_of(class_on_line_).announce_remove(last_bit, bytes_on_line_);
  if (full_share_ < 1) slow_ps_ += static_cast<TimePs>(static_cast<double>(last_bit - now) * (1 - full_share_));
  starts_.follow_packet_before(packet->last_start);
  starts_.start(now, slot, packet->last_start, ready_at);
  slot.busy(now, last_bit);
  const bool data = is_data(packet->opcode);
  last_sent_ = {.data = data, .retransmission = packet->retransmission, .loss_cause = packet->loss_cause};
  if (data && packet->retransmission) idle_causes_->retransmits(now, packet->loss_cause);
  idle_causes_->port_busy(now, index_, last_bit, data && !packet->retransmission);
  if (delay > 0) idle_causes_->line_waits(frame_memory_.cause(), delay);
  transmit_link_.send(now + delay + mac_fec_ps_, last_bit + mac_fec_ps_, *packet);
  nic_.packets.release(packet);
}

Port::OnLine Port::on_line(TimePs now) const {
  OnLine packet = last_sent_;
  if (line_.free_at() <= now) return packet;
  const auto to_come_ps = static_cast<double>(line_.free_at() - now);
  packet.bytes = to_come_ps * full_share_ * nic_.config.nic.port_gbps / 8000;
  packet.slow_ps = to_come_ps * (1 - full_share_);
  return packet;
}

TimePs Port::read_frame(TimePs now, Packet& packet, std::uint32_t bytes) {
  const MemoryAccess frame = frame_memory_.read_stream(now, index_, bytes, line_time(bytes));
  slot.stalled(now, frame.delay_ps, frame_memory_.cause());
  if (frame.failed()) {
    nic_.memory_failed(now, frame_memory_,
                       fmt::format("PSN {} to QP {} leaves with an inverted ICRC and is retransmitted", packet.psn,
                                   packet.destination_qp));
    packet.damage = Damage::corrupted;
  }
  return frame.delay_ps;
}

void Port::change_rate(TimePs now) {
  for (; next_rate_change_ < rate_changes_.size() && rate_changes_[next_rate_change_].at <= now; ++next_rate_change_) {
    const double gbps = rate_changes_[next_rate_change_].gbps;
    line_.set_gbps(gbps);
    full_share_ = gbps / nic_.config.nic.port_gbps;
  }
}

Fifo<Packet*>& Port::next_data(TimePs now) {
  for (std::size_t i = above_.size(); i-- > 0;) {
    if (above_[i]->packets.ready(now)) return above_[i]->packets;
  }
  return data_;
}

void Port::transmit(TimePs now) {
  if (line_.free_at() > now) return;
  free_sent_bytes(now);
  spray_scheduler_->retry(now, starts_.last());
  if (control_.ready(now)) {
    const TimePs ready_at = control_.ready_at();
    send(now, control_.pop(now), ready_at);
    nic_.trace.give(no_control_room_, starts_.last());
  } else if (Fifo<Packet*>& data = next_data(now); data.ready(now)) {
    const TimePs ready_at = data.ready_at();
    send(now, data.pop(now), ready_at);
  } else {
    slot.empty(now);
  }
}

void Port::receive(TimePs now) {
  while (receive_link_.next_due() <= now) {
    nic_.counters.received.add(receive_link_.front().packet);
    if (parser_queue_->full()) {
      nic_.box_counters.overrun.add(receive_link_.front().packet);
      ++nic_.box_counters.rx_overrun;
      overrun_causes_->count();
      if (Recorder* recorder = nic_.recorder) {
        recorder->add({.time = now,
                       .kind = Record::Kind::dropped,
                       .has_packet = true,
                       .packet = PacketTag::of(receive_link_.front().packet)});
      }
    } else {
      Packet* packet = nic_.packets.acquire();
      *packet = receive_link_.front().packet;
      if (nic_.capture != nullptr) nic_.capture->record(nic_.node, index_, now, *packet);
      const std::uint32_t bytes = nic_.link_bytes.in_nic(*packet);
      const MemoryAccess stored = packet_memory_.write_stream(now, 0, bytes, line_time(bytes));
      parser_queue_->push(now, packet, now + stored.delay_ps);
    }
    receive_link_.pop();
  }
}

void Port::arm(TimePs now) {
  if (!receive_link_.empty()) wake_at(receive_link_.next_due());
  const bool spray_may_wait = bytes_on_line_ > 0 && !bytes_of(class_on_line_).fits(bytes_on_line_);
  if (spray_may_wait) wake_at(line_.free_at());
  const TimePs earliest = std::max(now, line_.free_at());
  control_.wait_ready(earliest);
  data_.wait_ready(earliest);
  for (const auto& fifo : above_) fifo->packets.wait_ready(earliest);
}

void Port::step(TimePs now) {
  receive(now);
  transmit(now);
  arm(now);
}

}  // namespace mrc::timing
