// Local ACK timers of all QPs: a heap of the earliest times at which a QP can time out. A later deadline leaves the
// earlier entry standing and is found out when it fires, so that the usual case, an acknowledgement in time, costs a
// comparison. One that has expired waits for the context of its QP, and those behind it wait with it.
#pragma once

#include <optional>
#include <vector>

#include "engine/box.h"
#include "nic/nic_context.h"
#include "nic/tx/first_context.h"

namespace mrc::timing {

class QpScheduler;
class SackProcessor;

class RetransmitTimer : public Box {
 public:
  static constexpr CountedTable kTimers{"retransmit_timer"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);

  RetransmitTimer(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic);
  void connect(SackProcessor& sack_processor, QpScheduler& scheduler) {
    sack_processor_ = &sack_processor;
    context_.connect(scheduler);
  }

  /// The QP's next deadline may have come closer.
  void update(std::uint32_t qp, TimePs now);
  void step(TimePs now) override;

 private:
  struct Entry {
    TimePs at;
    std::uint32_t qp;
    friend bool operator>(const Entry& a, const Entry& b) { return a.at != b.at ? a.at > b.at : a.qp > b.qp; }
  };
  void push(Entry entry);
  Entry pop();
  /// False if the QP's context has to come first.
  bool expire(TimePs now, const Entry& entry);

  NicContext& nic_;
  AccessCounter& timers_;
  SackProcessor* sack_processor_ = nullptr;
  std::vector<Entry> heap_;
  std::optional<Entry> expired_;  ///< waits for the context of its QP
  FirstContext context_{*this};
  Cause timeout_;
  std::uint32_t place_;
};

}  // namespace mrc::timing
