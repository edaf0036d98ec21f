// Requests and replies of psn_tracker as transfers of its streams.
#pragma once

#include <cstdint>

#include "cosim/mrc_pkg.h"
#include "cosim/psn_tracker/ports.h"
#include "nic/rx/psn_tracker_engine.h"

namespace mrc {

static_assert(rtl::is_psn_op<PsnOp>() && rtl::is_psn_outcome<PsnOutcome>() && rtl::is_nack_reason<NackReason>());

/// `slot`: of the QP's context.
inline psn_tracker_ports::Req to_req(const PsnRequest& r, std::uint32_t slot) {
  return {.op = static_cast<std::uint64_t>(r.op),
          .slot = slot,
          .psn = r.psn,
          .ends_message = r.ends_message,
          .allowed = r.conditions.allowed,
          .packet_buffer = r.conditions.packet_buffer,
          .other_resource = r.conditions.other_resource,
          .receive = r.conditions.receive,
          .ce = r.ce,
          .ack_request = r.ack_request,
          .probe = r.probe,
          .probe_id = r.probe_id};
}

inline PsnReply to_reply(const psn_tracker_ports::Rsp& rsp) {
  return {.verdict = {.outcome = static_cast<PsnOutcome>(rsp.outcome),
                      .nack = static_cast<NackReason>(rsp.nack),
                      .place = rsp.place != 0,
                      .duplicate = rsp.duplicate != 0,
                      .repeat_ack = rsp.repeat_ack != 0},
          .closes = static_cast<std::uint16_t>(rsp.closes),
          .cack = static_cast<Psn>(rsp.cack),
          .highest = static_cast<Psn>(rsp.highest),
          .ooo_count = static_cast<std::uint16_t>(rsp.ooo_count),
          .sack_offset = static_cast<std::int16_t>(rsp.sack_offset),
          .ack_psn_offset = static_cast<std::int16_t>(rsp.ack_psn_offset),
          .sack_bitmap = rsp.sack_bitmap,
          .mpr = static_cast<std::uint8_t>(rsp.mpr)};
}

}  // namespace mrc
