// psn_tracker by RTL: gives each packet and each SACK to the engine and compares every field of the reply, and the
// banks in use, with ring 1's. In `rtl` mode the engine's verdict is the only one that counts, and ring 1 follows it;
// in `shadow` mode ring 1 decides.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "engine/causal_trace.h"
#include "engine/fifo.h"
#include "engine/pin_bridge.h"
#include "engine/rtl_path.h"
#include "mrc/rx/responder.h"
#include "nic/nic_context.h"
#include "nic/rx/psn_tracker_engine.h"

namespace mrc {

/// By pins: a SACK whose contents ack_coalescer asks for, and gets.
struct SackRead {
  std::uint32_t qp = 0;
  SackTrigger trigger;
  StartId because = 0;
  SackFields sack;
};

/// By pins: a request, and what is needed when its reply comes.
struct PsnAsk : PsnRequest {
  Packet* packet = nullptr;  ///< null: a QP is set up, or a SACK is read
  RxResources resources;
  RxDecision decision;  ///< what is known of it before the window is asked
  RtlCycles systemc;
  TimePs delay = 0;  ///< that the memories add
  SackRead read;

  /// In the staging buffer and for a descriptor, until the reply says whether the packet is placed.
  bool promises_room() const {
    return op == PsnOp::data && !is_probe && resources.packet_buffer_available && resources.other_resource_available;
  }
};

class PsnTrackerRtlPath : public RtlPath {
 public:
  using Pins = PinBridge<PsnTrackerEngine, PsnAsk>;

  /// `is_joined`: by pins, with ack_coalescer behind it in the same RTL.
  PsnTrackerRtlPath(RtlMode mode, RtlTiming timing, std::unique_ptr<PsnTrackerEngine> engine, bool is_joined = false)
      : RtlPath("psn_tracker", mode, timing),
        is_joined_(is_joined),
        engine_(std::move(engine)),
        pins_("psn_tracker", *engine_),
        reads_(kUnlisted, "psn_tracker.sack_reads", kReads),
        contents_(kUnlisted, "psn_tracker.sack_contents", kReads) {}

  /// Responder::accept(), on_trimmed() and build_sack() with the RTL in or beside the window.
  RxDecision accept(NicContext& nic, Qp& qp, const Packet& packet, const RxResources& resources, TimePs now);
  RxDecision on_trimmed(NicContext& nic, Qp& qp, const Packet& packet, TimePs now);
  SackFields build_sack(NicContext& nic, Qp& qp, const SackTrigger& trigger, TimePs now);

  /// The QP was connected anew: its window, whose edge had passed `cack`, is released and set up again.
  void renew(const NicContext& nic, const Qp& qp, Psn cack, TimePs now);

  bool is_joined() const { return is_joined_; }
  /// Joined: a probe keeps its place among the packets that are asked about.
  void pass_probe(const NicContext& nic, const Qp& qp, PsnAsk& ask);
  /// By pins: asks about a packet. False where it does not get as far as the window: then `ask.decision` is all.
  bool ask(const NicContext& nic, Qp& qp, PsnAsk& ask);
  /// What was asked, or a SACK that is to be read, is offered to the RTL.
  void offer_next(const NicContext& nic, TimePs now);
  bool has_asked() const { return !asked_.empty(); }
  PinCycle clock(std::uint64_t cycle, bool takes);
  /// The reply to the oldest request came out: `decision` of its packet, contents of its SACK.
  PsnAsk conclude(NicContext& nic, TimePs now);
  template <typename Visit>
  void for_each_packet(const Visit& visit) const {
    for (const PsnAsk& ask : asked_) {
      if (ask.packet != nullptr) visit(*ask.packet);
    }
    pins_.for_each([&](const PsnAsk& ask) {
      if (ask.packet != nullptr) visit(*ask.packet);
    });
  }
  Fifo<SackRead>& reads() { return reads_; }
  Fifo<SackRead>& contents() { return contents_; }
  Pins& pins() { return pins_; }
  const Pins& pins() const { return pins_; }

  /// What the latest packet takes, where SystemC would take `systemc`; compared where it got as far as the RTL.
  RtlCycles service(RtlCycles systemc);
  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  void set_up(const NicContext& nic, const Qp& qp);
  /// One request. The QP is set up before its first.
  PsnReply run(const NicContext& nic, const Qp& qp, PsnRequest request);
  /// `expected` lacks the state that the request leaves: it is taken from ring 1 as it is now.
  void compare(const NicContext& nic, const Qp& qp, const PsnRequest& request, PsnReply expected, const PsnReply& reply,
               TimePs now);

  static PsnRequest request_of(const Responder& responder, const Packet& packet, const RxResources& resources);
  static PsnRequest request_of(const SackTrigger& trigger);
  /// Ring 1 decides too, is compared with the reply, and follows.
  void settle(const NicContext& nic, Qp& qp, const Packet& packet, const PsnRequest& request,
              const RxResources& resources, const PsnReply& reply, RxDecision& decision, TimePs now);
  SackFields settle_sack(const NicContext& nic, Qp& qp, const PsnRequest& request, const SackTrigger& trigger,
                         const PsnReply& reply, TimePs now);
  void set_up_by_pins(const NicContext& nic, const Qp& qp);

  static constexpr std::uint32_t kReads = 8;

  bool is_joined_;
  std::unique_ptr<PsnTrackerEngine> engine_;
  Pins pins_;
  Fifo<SackRead> reads_;
  Fifo<SackRead> contents_;
  std::deque<PsnAsk> asked_;
  std::vector<bool> set_up_;    ///< by QP
  std::uint64_t requests_ = 0;  ///< packets and SACKs; the path's transactions are the packets
  RtlCycles latest_;            ///< of a packet in the RTL, none where it did not get that far
};

}  // namespace mrc
