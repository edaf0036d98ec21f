#include "engine/ledger.h"

namespace mrc {

std::string_view to_string(BlockedBy cause) {
  // clang-format off: a name a line, in the order of the enumeration
  static constexpr std::array<std::string_view, kBlockedByCount> names{
      "qp_scheduler.context_miss",
      "cwnd",
      "cwnd.ecn",
      "cwnd.trim",
      "cwnd.loss",
      "cwnd.penalty",
      "receiver.rx_staging",
      "receiver.bitmap_banks",
      "receiver.resource",
      "receiver.window",
      "mpr",
      "write_imm_limit",
      "wqe_fetch",
      "retransmit_buffer.entries",
      "retransmit_buffer.bytes",
      "qp_scheduler.grants",
      "segmenter.queue",
      "payload_fetch.queue",
      "pcie.read_queue",
      "pcie.read_tags",
      "pcie.completion_buffer",
      "pcie.non_posted_credits",
      "pcie.posted_credits",
      "pcie.completion_credits",
      "pcie.address_translation",
      "pcie.stall",
      "pcie.line",
      "pcie.read_latency",
      "spray_scheduler",
      "spray_scheduler.no_good_ev",
      "port.tx_fifo",
      "spray_scheduler.queue",
      "retransmit_buffer.queue",
      "control_queue",
      "port.control_fifo",
      "parser.queue",
      "psn_tracker.queue",
      "rx_staging",
      "ack_coalescer.queue",
      "sack_processor.queue",
      "completion.queue",
      "port.link_down",
      "srv6_encap",
      "segmenter",
      "doorbell.queue",
      "host.outstanding_messages",
      "acknowledgement",
      "no_work",
  };
  // clang-format on
  return names[static_cast<std::size_t>(cause)];
}

}  // namespace mrc
