// The ready list and the contexts of qp_scheduler by RTL: each operation of the box goes through the engine, and what
// becomes of turns and lookups is compared with ring 1. In `rtl` mode the engine alone says whose turn it is and
// whether its context is there. By pins, the engine says when an operation is taken and when a turn begins; ring 1
// decides in that cycle what comes of it, and the answer is compared when it comes out.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "engine/causal_trace.h"
#include "engine/rtl_path.h"
#include "mrc/tx/context_slots.h"
#include "mrc/tx/ready_list.h"
#include "nic/tx/qp_scheduler_engine.h"
#include "parameters/pipeline_config.h"

namespace mrc {

/// By pins: what a turn waited for after its QP was activated.
enum class TurnWait : std::uint8_t {
  nothing,
  rtl,   ///< the RTL took the activation later, or began another turn or none
  room,  ///< turns might not begin
};

/// By pins: who is told what the RTL has taken and answered, in the cycle in which it does.
class QpSchedulerPinsClient {
 public:
  virtual ~QpSchedulerPinsClient() = default;
  /// One more context can be read, and the one in its slot written.
  virtual bool can_fetch() const = 0;
  /// As can_fetch(), of this QP's.
  virtual bool can_fetch_now(std::uint32_t qp) const = 0;
  virtual void was_listed(std::uint32_t qp, TimePs now, StartId because) = 0;
  /// A turn has found no context.
  virtual void turn_ended(const ContextReply& turn, TimePs now) = 0;
  virtual void granted(const ContextReply& turn, TurnWait wait, TimePs now) = 0;
  /// The answer to the oldest lookup.
  virtual void was_seen(const ContextReply& seen, TimePs now) = 0;
  /// Precondition: can_fetch_now().
  virtual void begin_fetch(const ContextReply& fetched, TimePs now, StartId because) = 0;
  virtual void was_filled(std::uint32_t qp, TimePs now, TimePs done_at, StartId because) = 0;
  /// Something can be fetched that could not be before.
  virtual void room_came(TimePs now) = 0;
};

class QpSchedulerRtlPath : public RtlPath {
 public:
  QpSchedulerRtlPath(RtlMode mode, RtlTiming timing, std::unique_ptr<QpSchedulerEngine> engine,
                     const QpSchedulerSizes& sizes, NodeId node, const PipelineConfig& box)
      : RtlPath("qp_scheduler", mode, timing), engine_(std::move(engine)), sizes_(sizes), node_(node), box_(box) {}

  const QpSchedulerSizes& sizes() const { return sizes_; }
  void activate(std::uint32_t qp);
  /// `expected`: what ring 1 says of the turn; returns what counts. `cycle`: of the core clock.
  ContextReply turn(const ContextReply& expected, bool room, std::uint64_t cycle);
  void give_back(std::uint32_t qp, std::uint32_t slot, bool again);
  ContextReply look(const ContextReply& expected, bool room, std::uint64_t cycle);
  void fill(std::uint32_t qp, bool list, bool used);
  void drop(std::uint32_t qp);

  struct PinsSettings {
    std::uint32_t quantum_bytes = 0;  ///< of a grant
    TimePs period_ps = 0;             ///< of the core clock
    std::uint32_t most_ahead = 0;     ///< slots in use up to which fetches begin for turns
  };
  /// By pins, from now on: ring 1's list and contexts are changed here alone.
  void clock_with(ReadyList& list, ContextSlots& slots, const PinsSettings& settings, QpSchedulerPinsClient& client);
  /// To be offered to the RTL, from `at` on.
  void offer_activation(std::uint32_t qp, TimePs at, StartId because);
  void offer_return(const GrantReturn& back, TimePs now, StartId because);
  void offer_lookup(std::uint32_t qp, StartId because) { lookups_.emplace_back(qp, because); }
  void offer_drop(std::uint32_t qp) { drops_.push_back(qp); }
  /// No context is at the input that has come.
  bool takes_fill() const { return !inputs_.filled; }
  /// Precondition: takes_fill().
  void offer_fill(const ContextFill& fill, TimePs done_at, StartId because);
  /// The first activation that is not at the input; kNever without one.
  TimePs next_activation() const { return activations_.empty() ? kNever : activations_.begin()->at; }
  /// Turns that have begun and are not answered.
  std::uint32_t turns_inside() const { return static_cast<std::uint32_t>(turns_.size()); }
  /// A fetch could begin as far as the RTL is concerned.
  bool fetch_is_free() const { return fetches_.empty() && slots_->held() < sizes_.slots; }
  /// Nothing is offered or inside. `run`: turns may begin.
  bool is_idle(TimePs now, bool run) const;
  /// A difference was met: RTL and ring 1 have gone different ways.
  bool is_over() const { return mismatches() > 0; }
  /// A cycle of the RTL's clock, number `cycle`, at `now`.
  void clock(TimePs now, std::uint64_t cycle, bool run);
  /// In the latest cycle an input was occupied, or a QP waited for its turn and turns could begin.
  bool was_occupied() const { return occupied_; }

  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  /// False once what is in the RTL has gone another way and is not to be asked any more.
  bool asks() const { return drives() || mismatches() == 0; }
  ContextReply judge(const char* what, const ContextReply& expected, const ContextReply& reply, std::uint64_t cycle);

  struct Activation {
    TimePs at = 0;
    std::uint32_t qp = 0;
    StartId because = 0;
    auto operator<=>(const Activation&) const = default;
  };
  struct Return {
    GrantReturn back;
    TimePs at = 0;
    StartId because = 0;
  };
  struct Turn {
    ContextReply expected;
    TurnWait wait = TurnWait::nothing;
    std::uint64_t begun = 0;
  };
  struct Lookup {
    ContextReply expected;
    std::uint64_t begun = 0;
  };
  struct Fetch {
    ContextReply expected;
    StartId because = 0;
  };
  /// The next of each kind is put to its input.
  void offer(TimePs now);
  /// Cycles since the latest one in which the block was not clocked.
  void catch_up(std::uint64_t cycle);
  void take_answers(TimePs now, std::uint64_t cycle, const QpSchedulerOutputs& outputs);
  void take_turn(TimePs now, std::uint64_t cycle, const ContextReply& reply);
  void take_grant(TimePs now, std::uint64_t cycle, const ContextReply& reply);
  void take_seen(TimePs now, std::uint64_t cycle, const ContextReply& reply);
  void take_fetch(TimePs now, std::uint64_t cycle, const ContextReply& reply);
  /// What was offered and is taken changes ring 1.
  void change_list(TimePs now, const QpSchedulerOutputs& outputs);
  void change_contexts(TimePs now, std::uint64_t cycle, const QpSchedulerOutputs& outputs);
  void end_turn(std::uint32_t qp, bool again, TimePs now, StartId because);
  void was_listed(std::uint32_t qp, TimePs now, StartId because);
  /// A fetch may begin for a turn, or for a lookup.
  bool has_room(bool turn) const;
  /// What ring 1's contexts say of a QP in a turn, or for another box.
  ContextReply look_up(std::uint32_t qp, bool turn, StartId because);
  void begin_turn(std::uint64_t cycle, std::optional<std::uint32_t> qp);
  TurnWait wait_of(std::uint32_t qp);
  void note_late(std::uint32_t qp, TimePs from, TimePs now);
  void note_cycle(const QpSchedulerOutputs& outputs);
  void watch(const QpSchedulerOutputs& outputs);
  /// Of a block in which nothing has happened for a while.
  void compare_state(const QpSchedulerOutputs& outputs, std::uint64_t cycle);
  static bool moves(const QpSchedulerOutputs& outputs);

  std::unique_ptr<QpSchedulerEngine> engine_;
  QpSchedulerSizes sizes_;
  NodeId node_;
  PipelineConfig box_;

  // By pins.
  ReadyList* list_ = nullptr;
  ContextSlots* slots_ = nullptr;
  PinsSettings settings_;
  QpSchedulerPinsClient* client_ = nullptr;
  std::set<Activation> activations_;  ///< not at the input
  std::deque<Return> returns_;        ///< the first is at the input
  std::deque<std::pair<std::uint32_t, StartId>> lookups_;
  std::deque<std::uint32_t> drops_;
  QpSchedulerInputs inputs_;
  Activation activation_;  ///< at the input, if one is
  TimePs filled_at_ = 0;
  StartId filled_by_ = 0;
  std::deque<Turn> turns_;   ///< begun, and not answered
  std::deque<Turn> grants_;  ///< answered, and not granted
  std::deque<Lookup> seen_;  ///< taken, and not answered
  std::deque<Fetch> fetches_;
  bool slot_is_open_ = false;  ///< that of the last fetch is chosen in the next cycle
  struct Listing {
    std::uint32_t qp = 0;
    std::uint32_t cycles = 0;  ///< until then
    StartId because = 0;
  };
  std::deque<Listing> listings_;    ///< of contexts that have come
  std::vector<StartId> kept_;       ///< by QP: its latest activation
  std::vector<std::uint8_t> late_;  ///< by QP: its activation waited for the RTL
  bool listed_before_ = false;      ///< in the cycle before, a QP was on the list
  bool ran_before_ = false;         ///< and turns could begin
  bool occupied_ = false;
  std::uint64_t next_cycle_ = 0;
  std::uint64_t quiet_cycles_ = 0;
  std::uint64_t unmoved_cycles_ = 0;
};

}  // namespace mrc
