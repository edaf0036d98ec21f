// Round robin over the QPs that can send: loads their context, has their WQEs fetched, and grants the segmenter a
// quantum. Only QPs in the ready list are looked at, so idle QPs cost nothing. Whoever else needs a context asks here,
// and contexts that leave the NIC are written back.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "engine/box.h"
#include "engine/class_turns.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "engine/occupancy.h"
#include "mrc/tx/context_slots.h"
#include "mrc/tx/ready_list.h"
#include "nic/nic_context.h"
#include "nic/tx/context_cache.h"
#include "nic/tx/context_client.h"
#include "nic/tx/context_write_back.h"
#include "nic/tx/qp_scheduler_rtl_path.h"
#include "node/tenant_limits.h"
#include "pcie/pcie_dma.h"

namespace mrc::timing {

class RetransmitBuffer;

/// Permission for a QP to send up to this many payload bytes before its turn ends.
struct Grant {
  std::uint32_t qp = 0;
  std::uint32_t quantum_bytes = 0;
  StartId start = 0;
};

/// Mark of a request in wqe_requests(): the WQE that is next is read once more.
inline constexpr std::uint32_t kRereadWqe = 0x8000'0000;

class QpScheduler : public Box, private ReadClient, private QpSchedulerPinsClient {
 public:
  static constexpr QueueMemory kReadyList{"qp_scheduler.ready"};
  static constexpr PortedMemory kContextCache{.name = "qp_scheduler.context_cache",
                                              .parameters = "nic.memory.qp_context"};
  static constexpr QueueMemory kGrants{"qp_scheduler.grants"};
  static constexpr QueueMemory kWqeRequests{"wqe_fetch.requests"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);

  QpScheduler(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie,
              RetransmitBuffer& retransmit_buffer, QpSchedulerRtlPath* rtl = nullptr);

  /// Something about the QP changed (doorbell, WQE, window, loss): look at it from `at` on.
  /// `because`: the start that changed it.
  void activate(std::uint32_t qp, TimePs at, StartId because);
  /// The segmenter has used up or given back the QP's grant, of which `unused_bytes` are left.
  void grant_done(std::uint32_t qp, TimePs now, StartId because, std::uint32_t unused_bytes);
  /// QPs that waited for this window may go on.
  void window_opened(CongestionDomain& domain, TimePs now, StartId because);

  /// Some QP has its turn before the one that sends now has its next.
  bool others_wait(TimePs now) const {
    // A QP may be on the list before its WQE or context is there; when it was put there depends on the lookahead.
    return !grants_.empty() || due_classes(now) != 0 || (by_pins() && rtl_->turns_inside() > 0);
  }
  /// With strict scheduling: a QP of a higher class can be granted or has been, so that this class's turn ends.
  bool more_urgent_waits(TimePs now, std::uint32_t traffic_class) const {
    return preempts_ && ((due_classes(now) | granted_classes()) >> traffic_class >> 1) != 0;
  }
  /// Who holds a grant, and is told when a more urgent QP is ready.
  void give_grants_to(Box& segmenter) { segmenter_ = &segmenter; }

  Fifo<Grant>& grants() { return grants_; }
  Fifo<std::uint32_t>& wqe_requests() { return wqe_requests_; }
  void step(TimePs now) override;
  /// The QP waits for its turn.
  bool is_listed(std::uint32_t qp) const { return lists_[nic_.qps[qp].traffic_class].is_listed(qp); }
  std::uint32_t contexts_held() const { return slots_ ? slots_->resident() : cache_.resident(); }
  Cause waits_for_wqe() const { return no_wqe_; }
  Cause grants_full() const { return grants_full_; }

  /// The QP's WQEs on the NIC are `more` (or fewer) from now on; those of all QPs are counted.
  void hold_wqes(TimePs now, Qp& qp, std::int32_t more);
  /// A context may leave the NIC: not all of its QPs' contexts have room in the cache.
  bool evicts_contexts() const { return write_back_ != nullptr; }
  static bool evicts_contexts(const NicContext& nic) { return cache_of(nic).can_evict(); }
  /// Asked by a box before it does what needs the context of QP `qp` (index). True: it is on the NIC. False: its read
  /// has begun, and the box's ContextClient is told when it ends; or it cannot be read now, and `box` is woken when it
  /// can. `because`: start of what needs the context.
  bool has_context(TimePs now, std::uint32_t qp, Box& box, StartId because);
  /// The read of the context has begun and not ended.
  bool context_is_read(std::uint32_t qp) const { return slots_ ? slots_->loading(qp) : cache_.loading(qp); }
  void connect(ContextClient& client) { clients_.push_back(&client); }
  /// Lookups are answered later: ask_context() in the place of has_context().
  bool answers_later() const { return by_pins(); }
  /// `client` is told when the answer is there. `because`: start of what needs the context.
  void ask_context(TimePs now, std::uint32_t qp, ContextClient& client, StartId because);
  /// By pins: a lookup found no room. `box` is woken when another may.
  void wait_to_ask(TimePs now, Box& box);
  /// Of what waits for an answer.
  Cause busy() const { return servers().front().cause; }
  Cause context_miss() const { return context_miss_; }
  /// The context on the NIC cannot be read: it is fetched again.
  void context_failed(TimePs now, std::uint32_t qp);

  IssueSlot slot;

 private:
  void read_done(std::uint64_t cookie, TimePs now, TimePs done_at) override;
  bool serve(TimePs now, std::uint32_t traffic_class);
  /// The QP has its turn and its context is here. False if it can send nothing: then its turn is over.
  bool may_be_granted(TimePs now, Qp& qp);
  /// Of the QP of the class whose turn begins now.
  ContextReply begin_turn(TimePs now, std::uint32_t traffic_class);
  /// The turn of a QP whose context is here ends. `again`: it wants another.
  void end_turn(TimePs now, std::uint32_t qp, bool again, StartId because);
  void listed(std::uint32_t qp, TimePs at, StartId because);
  ReadyList& list_of(std::uint32_t qp) { return lists_[nic_.qps[qp].traffic_class]; }
  /// Empty, with the entries that tenants may have at most.
  static ContextCache cache_of(const NicContext& nic);
  /// What the cache says of a context, for a turn or for another box. `room`: a fetch of it could begin.
  ContextReply look(std::uint32_t qp, bool turn, bool room);
  bool can_fetch(std::uint32_t qp, bool turn) const;
  /// The fetch of `fetched` begins.
  void fetch(TimePs now, const ContextReply& fetched, StartId because);
  /// Returns the QP whose context has left the cache for it.
  std::optional<std::uint32_t> insert_context(std::uint32_t qp, bool list, bool used);
  /// Contexts that are on the NIC when the run begins.
  void hold_at_start(std::size_t contexts);
  void read_context(TimePs now, std::uint32_t qp, StartId because);
  struct ContextThatCame {
    TimePs at = 0;
    std::uint32_t qp = 0;
    StartId because = 0;
    auto operator<=>(const ContextThatCame&) const = default;
  };
  /// Contexts that wait for it take their place in the cache, as far as those that they evict have room.
  void take_contexts(TimePs now);
  bool has_room_for_evicted() const;
  void take_context(TimePs now, const ContextThatCame& context);
  /// Somebody besides the QP's turn waits for it.
  bool is_waited_for(std::uint32_t qp) const;
  /// Contexts that have left the cache go on to the host.
  void write_contexts(TimePs now);
  /// Where nothing can be fetched: `box` is woken when it may be.
  void wait_for_room(TimePs now, Box& box);
  void slot_is_free(TimePs now);
  void want_wqes(TimePs now, Qp& qp);
  /// Reads the WQE that is next; false if it has to be fetched again.
  bool wqe_readable(TimePs now, Qp& qp);
  void park(TimePs now, Qp& qp, SendGate gate);
  /// It has nothing that it could send; WQEs may be on their way.
  void park_idle(TimePs now, Qp& qp);
  /// Classes whose first QP is ready, a bit each.
  std::uint32_t due_classes(TimePs now) const {
    std::uint32_t due = 0;
    for (std::uint32_t c = 0; c < lists_.size(); ++c)
      due |= (!lists_[c].empty() && lists_[c].front().from <= now ? 1U : 0U) << c;
    return due;
  }
  /// Classes with grants that the segmenter has not given back.
  std::uint32_t granted_classes() const {
    std::uint32_t granted = 0;
    for (std::uint32_t c = 0; c < lists_.size(); ++c) granted |= (granted_[c] > 0 ? 1U : 0U) << c;
    return granted;
  }
  /// The pick rule: the class whose first QP is served next; ClassTurns::kNone where none is ready, or the share is
  /// that of a class whose QPs are all granted.
  std::uint32_t pick(TimePs now);
  /// The QP's tenant may send no more for now: it waits for that, in its turn.
  bool is_held(TimePs now, Qp& qp);
  std::uint64_t qps_listed() const;
  /// Puts QPs back whose tenants may now send.
  void end_holds(TimePs now);
  /// When something may be served that is not ready now; kNever for nothing.
  TimePs next_service(TimePs now) const;
  /// A QP on the list from `listed_from` on is granted its turn.
  StartId trace_grant(TimePs now, Qp& qp, TimePs listed_from);
  Cause cause_of(SendGate gate, CutCause cut) const;

  // By pins.
  bool by_pins() const { return rtl_ != nullptr && rtl_->by_pins(); }
  void step_by_pins(TimePs now);
  /// Of the contexts that have come, the next is put to the RTL's input.
  void offer_fill(TimePs now);
  /// There is room for what one more turn may lead to.
  bool may_begin_turn() const;
  void wait_to_begin_turn(TimePs now);
  void wake_for_offers();
  bool can_fetch() const override { return pcie_.can_read() && (!evicts_contexts() || write_back_->has_room()); }
  bool can_fetch_now(std::uint32_t qp) const override {
    return can_fetch() && (!evicts_contexts() || !write_back_->holds(qp));
  }
  void was_listed(std::uint32_t qp, TimePs now, StartId because) override;
  void turn_ended(const ContextReply& turn, TimePs now) override;
  void granted(const ContextReply& turn, TurnWait wait, TimePs now) override;
  void was_seen(const ContextReply& seen, TimePs now) override;
  void begin_fetch(const ContextReply& fetched, TimePs now, StartId because) override;
  void was_filled(std::uint32_t qp, TimePs now, TimePs done_at, StartId because) override;
  void room_came(TimePs now) override { slot_is_free(now); }
  StartId trace_grant_by_pins(TimePs now, Qp& qp, TurnWait wait);

  NicContext& nic_;
  MemoryStructure& context_memory_;
  MemoryStructure& wqe_memory_;
  PcieDma& pcie_;
  RetransmitBuffer& retransmit_buffer_;
  std::vector<ContextClient*> clients_;
  std::deque<ContextClient*> asked_by_;  ///< by pins: who waits for an answer, in the order of the questions
  QpSchedulerRtlPath* rtl_;
  std::vector<ReadyList> lists_;             ///< by traffic class
  ContextCache cache_;                       ///< least recently used
  std::uint32_t most_ahead_;                 ///< contexts that are read for turns before they are used
  std::optional<ContextSlots> slots_;        ///< as the RTL does it, instead
  std::vector<std::uint32_t> slot_of_turn_;  ///< by QP that has its turn
  std::deque<ContextThatCame> read_;         ///< in the completion buffer, for want of room for what they evict
  std::vector<Box*> wait_for_slot_;
  Occupancy ready_qps_;
  Occupancy contexts_;
  std::unique_ptr<ContextWriteBack> write_back_;  ///< null: no context ever leaves
  Fifo<Grant> grants_;
  Fifo<std::uint32_t> wqe_requests_;
  Occupancy wqes_;
  std::array<std::uint32_t, kMostTrafficClasses> granted_{};
  ClassTurns turns_;
  ClassCredit credit_;
  bool preempts_;
  TenantLimits limits_;
  Box* segmenter_ = nullptr;
  Cause grants_full_;
  Cause context_miss_;
  Cause no_wqe_;  ///< WQEs are on their way
  Cause mpr_;
  Cause write_imm_limit_;
  std::array<Cause, kCutCauses> window_{};  ///< by what last made the window small
  Cause doorbells_full_;
  Cause class_share_;
  Cause rate_limit_;
  StartTrace starts_;
  TimePs next_start_ = 0;

  std::set<ContextThatCame> came_;  ///< by pins: not at the RTL's input
  TimePs next_cycle_ = 0;           ///< by pins
  bool turn_unused_ = false;        ///< by pins: in the latest cycle, a turn ended without a grant
};

}  // namespace mrc::timing
