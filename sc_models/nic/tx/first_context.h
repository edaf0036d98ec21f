// The context for what a box does next, where the box does one thing after the other and waits for it.
#pragma once

#include <cstdint>

#include "engine/box.h"
#include "engine/cause.h"
#include "nic/tx/context_client.h"

namespace mrc::timing {

class QpScheduler;

class FirstContext : private ContextClient {
 public:
  /// `box` is stepped when an answer may have changed.
  explicit FirstContext(Box& box) : box_(box) {}
  void connect(QpScheduler& scheduler);

  /// The box may go on with what needs the context of QP `qp` (index), once for each read that it waited for. If not,
  /// it asks again for the same QP. `because`: start of what needs it.
  bool may_use(TimePs now, std::uint32_t qp, StartId because);
  /// Where it may not: what it waits for.
  Cause waits_for() const;
  /// Start of the read that brought the context for which the box last waited.
  StartId came_by() const { return came_by_; }

 private:
  enum class State : std::uint8_t { unasked, asked, awaited, here };

  bool context_here(std::uint32_t qp, TimePs now, TimePs done_at, StartId because) override;
  bool waits_for_context(std::uint32_t qp) const override { return state_ == State::awaited && qp_ == qp; }
  void context_seen(ContextLookup lookup, TimePs now) override;
  void ask(TimePs now, StartId because);
  void is_here(TimePs now, TimePs done_at);

  Box& box_;
  QpScheduler* scheduler_ = nullptr;
  State state_ = State::unasked;
  std::uint32_t qp_ = 0;
  TimePs ready_at_ = 0;
  StartId came_by_ = 0;
};

}  // namespace mrc::timing
