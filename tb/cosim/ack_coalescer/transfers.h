// Events and SACKs of ack_coalescer as transfers of its streams.
#pragma once

#include <cstdint>

#include "cosim/ack_coalescer/ports.h"
#include "cosim/mrc_pkg.h"
#include "nic/control/ack_coalescer_engine.h"

namespace mrc {

static_assert(rtl::is_sack_event<SackEvent>(2) && rtl::SackCauses{.bytes = 1}.word() == kSackByBytes &&
              rtl::SackCauses{.ack_request = 1}.word() == kSackByAckRequest &&
              rtl::SackCauses{.ce = 1}.word() == kSackByCe &&
              rtl::SackCauses{.retransmission = 1}.word() == kSackByRetransmission &&
              rtl::SackCauses{.asked_for = 1}.word() == kSackAskedFor);

/// `slot`: of the QP's context.
inline ack_coalescer_ports::Evt to_evt(const SackQuestion& question, std::uint32_t slot) {
  const SackTrigger& trigger = question.trigger;
  return {.event = static_cast<std::uint64_t>(question.event),
          .slot = slot,
          .payload_bytes = question.payload_bytes,
          .retransmission = question.retransmission,
          .psn = trigger.psn,
          .ev = trigger.ev,
          .tx_timestamp = trigger.tx_timestamp,
          .probe_id = trigger.probe_id,
          .ce = trigger.ce,
          .ack_request = trigger.ack_request,
          .probe = trigger.probe};
}

inline SackOwed to_sack(const ack_coalescer_ports::Sack& sack) {
  return {.causes = static_cast<std::uint8_t>(sack.causes),
          .counter_bytes = static_cast<std::uint32_t>(sack.counter_bytes),
          .trigger = {.psn = static_cast<Psn>(sack.psn),
                      .ev = static_cast<Ev>(sack.ev),
                      .tx_timestamp = static_cast<std::uint16_t>(sack.tx_timestamp),
                      .probe_id = static_cast<std::uint16_t>(sack.probe_id),
                      .ce = sack.ce != 0,
                      .ack_request = sack.ack_request != 0,
                      .probe = sack.probe != 0}};
}

}  // namespace mrc
