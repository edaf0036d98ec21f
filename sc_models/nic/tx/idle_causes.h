// Why transmit ports stood idle: each picosecond of each idle port is charged to one cause, the one that at that time
// held up the first box, walking from the ports to the host, that had something to do. Looked at only while a port is
// idle.
#pragma once

#include <array>
#include <vector>

#include "engine/ledger.h"
#include "mrc/types.h"
#include "nic/nic_context.h"

namespace mrc::timing {

/// The slots on the data's way to the ports, and what lies in the read queue between two of them.
struct TransmitSlots {
  const IssueSlot* srv6_encap = nullptr;
  const IssueSlot* retransmit_buffer = nullptr;
  const IssueSlot* spray_scheduler = nullptr;
  const IssueSlot* payload_fetch = nullptr;
  const IssueSlot* read_issue = nullptr;
  const IssueSlot* segmenter = nullptr;
  const IssueSlot* qp_scheduler = nullptr;
};

class IdleCauses : public SlotObserver {
 public:
  IdleCauses(const NicContext& nic, std::uint32_t ports) : nic_(nic), busy_until_(ports, 0) {}
  void connect(const TransmitSlots& slots) { slots_ = slots; }

  /// The port sends from now until `until`.
  void port_busy(TimePs now, std::uint32_t port, TimePs until);
  /// The state of the boxes is about to change.
  void before_change(TimePs now) override;

  /// Idle time of all ports between `begin` and now, by cause, in picoseconds of one port.
  const std::array<TimePs, kBlockedByCount>& idle_ps() const { return idle_ps_; }
  /// Idle time is counted from here on; what came before, without work, is nobody's.
  void start(TimePs now);
  /// Closes the account at the last completion; later calls change nothing.
  void finish(TimePs now);

 private:
  BlockedBy cause(TimePs now) const;
  BlockedBy cause_in_pcie(TimePs now) const;
  /// The queue behind the spray scheduler is full: the box behind it is slow, or the queue is short.
  BlockedBy cause_behind_spray(TimePs now) const;
  void look_for_quiet();

  const NicContext& nic_;
  TransmitSlots slots_;
  std::vector<TimePs> busy_until_;
  TimePs last_ = 0;
  bool started_ = false;
  bool finished_ = false;
  std::array<TimePs, kBlockedByCount> idle_ps_{};
};

}  // namespace mrc::timing
