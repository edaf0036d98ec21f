// psn_tracker by RTL: gives each packet and each SACK to the engine and compares every field of the reply, and the
// banks in use, with ring 1's. In `rtl` mode the engine's verdict is the only one that counts, and ring 1 follows it;
// in `shadow` mode ring 1 decides.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/rtl_path.h"
#include "mrc/rx/responder.h"
#include "nic/nic_context.h"
#include "nic/rx/psn_tracker_engine.h"

namespace mrc {

class PsnTrackerRtlPath : public RtlPath {
 public:
  PsnTrackerRtlPath(RtlMode mode, const PsnTrackerSizes& sizes, std::unique_ptr<PsnTrackerEngine> engine)
      : RtlPath("psn_tracker", mode), sizes_(sizes), engine_(std::move(engine)) {}

  /// Throws std::invalid_argument where the NIC has more QPs than the RTL.
  void check(const NicContext& nic) const;

  /// Responder::accept(), on_trimmed() and build_sack() with the RTL in or beside the window.
  RxDecision accept(NicContext& nic, Qp& qp, const Packet& packet, const RxResources& resources, TimePs now);
  RxDecision on_trimmed(NicContext& nic, Qp& qp, const Packet& packet, TimePs now);
  SackFields build_sack(NicContext& nic, Qp& qp, const SackTrigger& trigger, TimePs now);

  /// What the latest packet takes, where SystemC would take `systemc`; compared where it got as far as the RTL.
  RtlCycles service(RtlCycles systemc);
  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  /// One request. The QP is set up before its first.
  PsnReply run(const NicContext& nic, const Qp& qp, PsnRequest request);
  /// `expected` lacks the state that the request leaves: it is taken from ring 1 as it is now.
  void compare(const NicContext& nic, const Qp& qp, const PsnRequest& request, PsnReply expected, const PsnReply& reply,
               TimePs now);

  PsnTrackerSizes sizes_;
  std::unique_ptr<PsnTrackerEngine> engine_;
  std::vector<bool> set_up_;    ///< by QP
  std::uint64_t requests_ = 0;  ///< packets and SACKs; the path's transactions are the packets
  RtlCycles latest_;            ///< of a packet in the RTL, none where it did not get that far
};

}  // namespace mrc
