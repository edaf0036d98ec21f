// Requests and replies on the ports of a Verilated psn_tracker_flat. Included only where a Verilated class is at hand.
#pragma once

#include "cosim/pin.h"
#include "nic/rx/psn_tracker_engine.h"

namespace mrc {

template <typename Model>
void put_settings(Model& model, const PsnTrackerSettings& settings) {
  model.nack_out_of_window_i = settings.out_of_window == OutOfWindow::nack ? 1 : 0;
  model.dynamic_mpr_i = settings.dynamic_mpr ? 1 : 0;
}

template <typename Model>
void put_request(Model& model, const PsnRequest& request) {
  put(model.req_op_i, static_cast<std::uint64_t>(request.op));
  put(model.req_qp_i, request.qp);
  model.req_psn_i = request.psn;
  model.req_ends_message_i = request.ends_message ? 1 : 0;
  model.req_allowed_i = request.conditions.allowed ? 1 : 0;
  model.req_packet_buffer_i = request.conditions.packet_buffer ? 1 : 0;
  model.req_other_resource_i = request.conditions.other_resource ? 1 : 0;
  model.req_receive_i = request.conditions.receive ? 1 : 0;
  model.req_ce_i = request.ce ? 1 : 0;
  model.req_ack_request_i = request.ack_request ? 1 : 0;
  model.req_probe_i = request.probe ? 1 : 0;
  model.req_probe_id_i = request.probe_id;
}

template <typename Model>
PsnReply reply_of(const Model& model) {
  PsnReply reply;
  reply.verdict.outcome = static_cast<PsnOutcome>(model.rsp_outcome_o);
  reply.verdict.nack = static_cast<NackReason>(model.rsp_nack_o);
  reply.verdict.place = model.rsp_place_o != 0;
  reply.verdict.duplicate = model.rsp_duplicate_o != 0;
  reply.verdict.repeat_ack = model.rsp_repeat_ack_o != 0;
  reply.closes = model.rsp_closes_o;
  reply.cack = model.rsp_cack_o;
  reply.highest = model.rsp_highest_o;
  reply.ooo_count = model.rsp_ooo_count_o;
  reply.sack_offset = static_cast<std::int16_t>(model.rsp_sack_offset_o);
  reply.ack_psn_offset = static_cast<std::int16_t>(model.rsp_ack_psn_offset_o);
  reply.sack_bitmap = model.rsp_sack_bitmap_o;
  reply.mpr = model.rsp_mpr_o;
  return reply;
}

}  // namespace mrc
