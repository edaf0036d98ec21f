#include "nic/rx/parser.h"

#include <fmt/format.h>

#include "engine/latency_account.h"
#include "nic/control/sack_processor.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"
#include "nic/rx/psn_tracker.h"

namespace mrc::timing {

Parser::Parser(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic)
    : Box(name, owner,
          {.name = "parser", .part = NicPart::receive, .behind = "srv6_encap", .packets = Handling::passes}),
      slot(*this, nic.rx_work),
      nic_(nic),
      packet_memory_(nic.memories[kPacketBuffer]),
      in_(*this, "parser.queue", nic.config.nic.parser.queue_entries, {.from_wire = true}),
      to_psn_tracker_(*this, "psn_tracker.queue", nic.config.nic.psn_tracker.queue_entries),
      to_sack_processor_(*this, "sack_processor.queue", nic.config.nic.sack_processor.queue_entries),
      psn_tracker_full_(
          nic.causes.declare_full("psn_tracker.queue", to_psn_tracker_.taker(), {"nic.psn_tracker.queue_entries"})),
      sack_processor_full_(nic.causes.declare_full("sack_processor.queue", to_sack_processor_.taker(),
                                                   {"nic.sack_processor.queue_entries"})),
      starts_(nic.trace, server_cause(nic, "parser")) {
  in_.connect(this);
  nic.causes.declare("parser.queue", {"nic.parser.queue_entries"});
  declare(pipeline_server(nic, "parser", "parser", nic.config.nic.parser.pipeline, Datapath::yes));
  nic.memories.count(kQueue, in_.occupancy());
  nic.memories.count(PsnTracker::kQueue, to_psn_tracker_.occupancy());
  nic.memories.count(SackProcessor::kQueue, to_sack_processor_.occupancy());
}

void Parser::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const NicConfig& config = nic.node.nic;
  Packet full;
  full.payload_bytes = nic.protocol.mtu_bytes;
  full.opcode = Opcode::write_only_imm;
  const std::uint64_t frame_bytes = wire_bytes(full, nic.protocol) - kEthernetOverheadBytes;
  std::uint64_t packets =
      config.parser.queue_entries + config.psn_tracker.queue_entries + config.psn_tracker.context_wait_entries;
  if (nic.protocol.encryption.on()) packets += config.decrypt.queue_entries + config.decrypt.key_wait_entries;
  out.add(kPacketBuffer, packets * nic.datapath_words(frame_bytes), config.memory.packet_buffer,
          {{"frame", config.datapath_bits}});
  out.add(kQueue, {.depth = config.parser.queue_entries}, {kBufferPointerField, {"length", 15}, kPlaneField});
}

void Parser::declare_latency(LatencyAccount& account) {
  account.pass_box(account.nic().parser.pipeline.latency_cycles);
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
  const bool to_tracker = goes_to_psn_tracker(head);
  const bool encrypted = to_decrypt_ != nullptr && nic_.associations->covers(head);
  Fifo<Packet*>& next = encrypted ? *to_decrypt_ : to_tracker ? to_psn_tracker_ : to_sack_processor_;
  if (next.full()) {
    slot.blocked(now, encrypted ? decrypt_full_ : to_tracker ? psn_tracker_full_ : sack_processor_full_);
    next.wait_room(now, *this);
    return;
  }
  const PipelineConfig& pipeline = nic_.config.nic.parser.pipeline;
  // Of a trimmed packet only what the switch left comes in.
  const std::uint32_t frame_bytes = nic_.link_bytes.in_nic(head) - kEthernetOverheadBytes;
  const std::uint64_t packet_beats = beats(frame_bytes, nic_.config.nic.datapath_bits);
  // Work begins before the slot is busy with it, or the slot would count as starved of it.
  // An encrypted packet is checked by its tag.
  const bool intact = encrypted || head.damage != Damage::corrupted;
  const MemoryAccess frame = packet_memory_.read_stream(now, 0, frame_bytes);
  if (to_tracker && intact && !frame.failed()) nic_.rx_work.begin(now);
  slot.stalled(now, frame.delay_ps, packet_memory_.cause());
  next_start_ = now + frame.delay_ps +
                nic_.clock.cycles(std::max<std::uint64_t>(packet_beats, pipeline.initiation_interval_cycles));
  starts_.start(now, slot, in_.front()->last_start, in_.ready_at());
  starts_.stall(frame.delay_ps, slot);
  slot.busy(now, next_start_);
  Packet* packet = in_.pop(now);
  if (!intact) {
    ++nic_.counters.corrupted_received;
    nic_.box_counters.damaged.add(*packet);
    nic_.packets.release(packet);
  } else if (frame.failed()) {
    nic_.memory_failed(now, packet_memory_,
                       fmt::format("PSN {} to QP {} is dropped", packet->psn, packet->destination_qp));
    ++nic_.box_counters.memory_dropped;
    nic_.box_counters.damaged.add(*packet);
    nic_.packets.release(packet);
  } else {
    next.push(now, packet, now + frame.delay_ps + nic_.clock.cycles(pipeline.latency_cycles));
  }
  in_.wait_ready(next_start_);
}

}  // namespace mrc::timing
