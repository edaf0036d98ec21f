// Interface that replaces the receive windows of all QPs, request by request. The Verilated RTL implements it;
// staging, descriptors, memory regions and posted receives stay with the SystemC box, which says with each packet what
// they allow.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/pins_engine.h"
#include "mrc/rx/bank_reads.h"
#include "mrc/rx/receive_window.h"
#include "mrc/types.h"
#include "nic/control/ack_coalescer_engine.h"

namespace mrc {

/// What a block is built for. A scenario with other banks or another window is refused.
struct PsnTrackerSizes {
  std::uint32_t slots = 0;      ///< contexts in the block
  std::uint32_t banks = 0;      ///< of 128 PSNs, shared by all QPs
  std::uint32_t mpr_units = 0;  ///< of 128 PSNs: the window of a QP
};

/// For each bank of a request behind its first: it is read in one cycle and looked at in the next.
inline constexpr std::uint32_t kPsnTrackerCyclesPerBank = 2;

/// What is the same for all QPs and does not change.
struct PsnTrackerSettings {
  OutOfWindow out_of_window = OutOfWindow::nack;
  bool dynamic_mpr = false;
};

enum class PsnOp : std::uint8_t {
  setup,  ///< the QP, which is new or was released, begins at this PSN
  data,
  trimmed,
  trimmed_lasthop,
  sack,     ///< contents of a SACK that the packet with this PSN has triggered
  release,  ///< the QP is given up: its banks go back
  load,     ///< a slot gets a QP whose context was stored
  store     ///< a slot is given up: the context goes out, its banks stay
};

struct PsnRequest {
  PsnOp op = PsnOp::data;
  std::uint32_t qp = 0;  ///< index; RTL finds a slot for it
  Psn psn = 0;
  bool ends_message = false;  ///< with data
  RxConditions conditions{};  ///< with data
  bool ce = false;            ///< from here on with sack
  bool ack_request = false;
  bool probe = false;
  std::uint16_t probe_id = 0;
  // Joined with ack_coalescer, which is asked about the packet when the reply is there:
  bool is_probe = false;    ///< the window is not asked; `op` counts for nothing
  SackQuestion reflects{};  ///< but for `event`, which the reply decides
};

struct PsnReply {
  RxVerdict verdict;         ///< accept without NACK if the request is not a packet
  std::uint16_t closes = 0;  ///< messages whose end the edge has passed
  Psn cack = 0;              ///< state after the request
  Psn highest = 0;
  std::uint16_t ooo_count = 0;
  std::int16_t sack_offset = 0;  ///< from here on 0 but with sack
  std::int16_t ack_psn_offset = 0;
  std::uint64_t sack_bitmap = 0;
  std::uint8_t mpr = 0;

  /// Calls visit(name, value) for every field, in the order in which a difference is reported.
  template <typename Visit>
  void fields(const Visit& visit) const {
    visit("outcome", static_cast<std::uint64_t>(verdict.outcome));
    visit("nack", static_cast<std::uint64_t>(verdict.nack));
    visit("place", static_cast<std::uint64_t>(verdict.place));
    visit("duplicate", static_cast<std::uint64_t>(verdict.duplicate));
    visit("repeat_ack", static_cast<std::uint64_t>(verdict.repeat_ack));
    visit("closes", static_cast<std::uint64_t>(closes));
    visit("cack", static_cast<std::uint64_t>(cack));
    visit("highest", static_cast<std::uint64_t>(highest));
    visit("ooo_count", static_cast<std::uint64_t>(ooo_count));
    visit("sack_offset", static_cast<std::uint64_t>(static_cast<std::uint16_t>(sack_offset)));
    visit("ack_psn_offset", static_cast<std::uint64_t>(static_cast<std::uint16_t>(ack_psn_offset)));
    visit("sack_bitmap", sack_bitmap);
    visit("mpr", static_cast<std::uint64_t>(mpr));
  }
  friend bool operator==(const PsnReply&, const PsnReply&) = default;
};

class PsnTrackerEngine : public PinsEngine<PsnRequest, PsnReply> {
 public:
  virtual PsnReply run(const PsnRequest& request) = 0;
  /// Banks that QPs hold.
  virtual std::uint32_t banks_in_use() const = 0;

  /// Of the latest request: cycles from the one that it was taken in to the one with its reply.
  virtual std::uint32_t latency_cycles() const = 0;
  /// Clock cycles that it was evaluated for.
  virtual std::uint64_t cycles() const = 0;
};

}  // namespace mrc
