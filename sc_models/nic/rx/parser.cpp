#include "nic/rx/parser.h"

namespace mrc::timing {

Parser::Parser(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic)
    : Box(name, owner),
      slot("parser", nic.rx_work),
      nic_(nic),
      in_("parser.queue", nic.config.nic.parser.queue_entries),
      to_psn_tracker_("psn_tracker.queue", nic.config.nic.psn_tracker.queue_entries),
      to_sack_processor_("sack_processor.queue", nic.config.nic.sack_processor.queue_entries) {
  in_.connect(this);
}

void Parser::step(TimePs now) {
  if (now < next_start_) {
    wake_at(next_start_);
    return;
  }
  if (!in_.ready(now)) {
    slot.empty(now);
    in_.wait_ready(now);
    return;
  }
  const Packet& head = *in_.front();
  const bool to_tracker = is_data(head.opcode) || head.opcode == Opcode::probe_request;
  Fifo<Packet*>& next = to_tracker ? to_psn_tracker_ : to_sack_processor_;
  if (next.full()) {
    slot.blocked(now, to_tracker ? BlockedBy::psn_tracker_queue : BlockedBy::sack_queue);
    next.wait_room(now, *this);
    return;
  }
  const PipelineConfig& pipeline = nic_.config.nic.parser.pipeline;
  // Of a trimmed packet only what the switch left comes in.
  const std::uint32_t bytes =
      link_bytes(head, nic_.scenario.protocol.encapsulation, nic_.scenario.fabric.trim_bytes) - kEthernetOverheadBytes;
  const std::uint64_t packet_beats = beats(bytes, nic_.config.nic.datapath_bits);
  next_start_ = now + nic_.clock.cycles(std::max<std::uint64_t>(packet_beats, pipeline.initiation_interval_cycles));
  // Work begins before the slot is busy with it, or the slot would count as starved of it.
  const bool intact = head.damage != Damage::corrupted;
  if (to_tracker && intact) nic_.rx_work.begin(now);
  slot.busy(now, next_start_);
  Packet* packet = in_.pop(now);
  if (!intact) {
    ++nic_.counters.corrupted_received;
    nic_.counters.damaged.add(*packet);
    nic_.packets.release(packet);
  } else {
    next.push(now, packet, now + nic_.clock.cycles(pipeline.latency_cycles));
  }
  in_.wait_ready(next_start_);
}

}  // namespace mrc::timing
