// Commands, events and responses at the pins of a Verilated retransmit_buffer_flat.
#pragma once

#include "cosim/pin.h"
#include "mrc/tx/retransmit_command.h"

namespace mrc {

template <typename Model>
void put_command(Model& model, const RetransmitCommand& command) {
  model.cmd_valid_i = 1;
  put(model.cmd_op_i, static_cast<std::uint64_t>(command.op));
  put(model.cmd_qp_i, command.qp);
  put(model.cmd_psn_i, command.psn);
  put(model.cmd_base_i, command.base);
  put(model.cmd_bitmap_i, command.bitmap);
  put(model.cmd_now_i, command.now);
  put(model.cmd_limit_i, command.limit);
  put(model.cmd_threshold_i, command.threshold);
  put(model.cmd_ev_i, command.ev);
  put(model.cmd_cause_i, static_cast<std::uint64_t>(command.cause));
  put(model.cmd_message_i, command.message);
  put(model.cmd_offset_i, command.offset);
  put(model.cmd_bytes_i, command.bytes);
}

template <typename Model>
RetransmitEvent event_of(const Model& model) {
  return {model.evt_psn_o, model.evt_bytes_o, model.evt_ev_o, model.evt_lost_o != 0, model.evt_was_lost_o != 0};
}

/// Without the events.
template <typename Model>
void take_reply(const Model& model, RetransmitOp op, RetransmitReply& reply) {
  const bool taken = op == RetransmitOp::take && model.rsp_hit_o != 0;
  reply.hit = model.rsp_hit_o != 0;
  reply.advanced = model.rsp_advanced_o != 0;
  reply.count = model.rsp_count_o;
  reply.psn = taken || (op == RetransmitOp::append && reply.hit) ? model.rsp_psn_o : 0;
  reply.message = taken ? model.rsp_message_o : 0;
  reply.offset = taken ? model.rsp_offset_o : 0;
  reply.bytes = taken ? model.rsp_bytes_o : 0;
  reply.cause = taken ? static_cast<CutCause>(model.rsp_cause_o) : CutCause::none;
  reply.unacked = model.rsp_unacked_o;
  reply.next = model.rsp_next_o;
  reply.has_lost = model.rsp_has_lost_o != 0;
  reply.oldest_lost = reply.has_lost ? model.rsp_oldest_lost_o : 0;
  reply.outstanding = model.rsp_outstanding_o != 0;
  reply.oldest_psn = reply.outstanding ? model.rsp_oldest_psn_o : 0;
  reply.oldest_sent = reply.outstanding ? model.rsp_oldest_sent_o : 0;
  reply.free = model.rsp_free_o;
}

}  // namespace mrc
