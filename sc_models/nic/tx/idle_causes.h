// Why transmit ports were idle: each picosecond of each idle port is attributed to one cause, the one that at that time
// held up the first box, walking from the ports to the host, that had something to do. Looked at only while a port is
// idle. Which box is behind which, and which cause means that the box behind is slow, is what the boxes declare.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/ledger.h"
#include "mrc/control/congestion.h"
#include "mrc/types.h"
#include "nic/nic_context.h"
#include "pcie/pcie_dma.h"

namespace mrc::timing {

class PayloadFetch;
class QpScheduler;
class Segmenter;
class SprayScheduler;

class IdleCauses : public SlotObserver {
 public:
  IdleCauses(NicContext& nic, PcieDma& pcie, std::uint32_t ports);
  /// `boxes`: of the NIC, in the order of its picture. From `first` to the ports their slots are observed.
  void connect(const QpScheduler& first, const Segmenter& segmenter, const PayloadFetch& payload_fetch,
               const SprayScheduler& spray_scheduler, std::span<Box* const> boxes);

  /// The port sends from now until `until`. `new_data`: a first transmission.
  void port_busy(TimePs now, std::uint32_t port, TimePs until, bool new_data);
  /// After port_busy(): the line has nothing for so long at first, because of `cause`.
  void line_waits(Cause cause, TimePs delay) {
    if (started_ && !finished_) idle_ps_[cause.index()] += delay;
  }
  /// A retransmission is sent: what has been waited for since the last first transmission, when all was sent, was this.
  void retransmits(TimePs now, std::uint8_t loss_cause);
  /// The state of the boxes is about to change.
  void before_change(TimePs now) override;

  /// Idle time of all ports between `begin` and now, by cause, in picoseconds of one port.
  const PerCause<TimePs>& idle_ps() const { return idle_ps_; }
  /// A part of it not among these: waiting for the last acknowledgements where it ended with a retransmission, by
  /// CutCause.
  const std::array<TimePs, kCutCauses>& retransmission_ps() const { return retransmission_ps_; }
  /// Idle time is counted from here on; what came before, without work, is nobody's.
  void start(TimePs now);
  /// A message of a program has completed, perhaps the last: the account stays open until the program ends.
  void note_completion(TimePs now);
  /// Idle time of ports that were down since the latest note_completion(), in picoseconds of one port.
  TimePs down_since_completion_ps() const { return idle_ps_[link_down_.index()] - down_at_completion_ps_; }
  /// Closes the account at the last completion; later calls change nothing.
  void finish(TimePs now);

 private:
  /// A box behind the spray scheduler, which reserves room at a port: only its datapath can hold packets up.
  struct Behind {
    const IssueSlot* slot;
    Cause queue;   ///< in front of it is full
    Cause server;  ///< it is the slowest
  };

  Cause cause(TimePs now) const;
  Cause cause_in_pcie(TimePs now) const;
  /// The queue behind the spray scheduler is full: a box behind it is slow, or a queue is short.
  Cause cause_behind_spray(TimePs now) const;
  bool is_blocked_by_itself(const IssueSlot& slot) const {
    return slot.is_blocked() && nic_.causes.box_behind(slot.blocked_by()) == nullptr;
  }
  void look_for_quiet();

  const NicContext& nic_;
  PcieDma& pcie_;
  const IssueSlot* qp_scheduler_ = nullptr;
  const IssueSlot* segmenter_ = nullptr;
  const IssueSlot* payload_fetch_ = nullptr;
  const IssueSlot* spray_scheduler_ = nullptr;
  Cause segmenter_slow_;
  Cause segmenter_queue_;  ///< full
  Cause waits_for_wqe_;
  std::vector<Behind> behind_spray_;
  Cause records_port_;  ///< of the retransmit buffer
  Cause link_down_;
  Cause doorbell_queue_;        ///< the host may ring no more doorbells
  Cause outstanding_messages_;  ///< the host may post no more before something completes
  Cause acknowledgement_;       ///< all is sent, the last acknowledgements and completions are on their way
  Cause no_work_;
  std::vector<TimePs> busy_until_;
  TimePs last_ = 0;
  bool started_ = false;
  bool finished_ = false;
  PerCause<TimePs> idle_ps_{};
  TimePs down_at_completion_ps_ = 0;
  TimePs answers_awaited_ps_ = 0;  ///< of acknowledgement_, since the last first transmission
  std::array<TimePs, kCutCauses> retransmission_ps_{};
};

}  // namespace mrc::timing
