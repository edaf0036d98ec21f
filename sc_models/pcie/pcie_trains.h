// PCIe in trains: the TLPs of one request are one short loop, each with its own start; completions are looked at when
// the oldest job can end, with their own times, so no event is spent on each.
#pragma once

#include <cstdint>
#include <vector>

#include "pcie/answer_queue.h"
#include "pcie/credit_pool.h"
#include "pcie/pcie_dma.h"

namespace mrc {

class PcieTrains final : public PcieDma {
 public:
  PcieTrains(const sc_core::sc_module_name& name, WheelModule& owner, const PcieConfig& config,
             const ClockDomain& clock, KeyedRandom random, const WorkClock& work, CauseTable& causes);

  void step(TimePs now) override;
  void settle(TimePs end) override {
    free_tags(end);
    posted_.settle(end);
  }

 private:
  /// A header credit of a request.
  struct NonPostedCredit {
    TimePs back = 0;  ///< when it comes back
    StartId by = 0;   ///< the request
  };
  struct Deadline {
    TimePs at = 0;
    std::uint32_t sequence = 0;
    std::uint16_t tag = 0;
  };

  void issue_write(TimePs now, const PostedWrite& write) override;
  /// Both return when the last TLP has left. In a row: no TLP waits for anything but the one before it, so that the
  /// slot and the credits hear of the write once; what it does to them is the same.
  TimePs write_in_a_row(const PostedWrite& write, std::uint32_t tlps);
  TimePs write_one_by_one(TimePs now, const PostedWrite& write);
  void expect_completion(TimePs ready, const Request& request) override;
  void take_completions(TimePs now);
  /// All completions of a request at once.
  void take_train(TimePs ready, const Request& request);
  /// One after another, with credits, stalls and faults.
  void take_one_by_one(TimePs ready, const Request& request);
  /// The last completion of a request has come at `end`.
  void finish_request(const Request& request, TimePs end, StartId start);
  void end_tag(std::uint16_t tag, TimePs end, StartId start);
  void free_tag_at(TimePs end, StartId start);
  /// Why a request leaves at `at` and not earlier.
  StartId trace_request(TimePs now, TimePs at, const ReadRequestTlp& request);
  /// Why its completions end at `end`: they waited for this behind those before them; none: for nothing.
  StartId trace_data(const Request& request, TimePs end, Cause waited_for);
  void give_up_lost(TimePs now);
  void free_tags(TimePs now);
  void issue_reads(TimePs now);
  bool issue_retries(TimePs now);
  bool issue_lookups(TimePs now);
  /// False when something is missing; the known part is in the ledger and in waits_until_.
  bool issue_request(TimePs now, ReadRequestTlp& request);
  TimePs send_request(TimePs now, TimePs at);
  void arm(TimePs now);

  bool one_by_one_;  ///< each completion counts: finite credits or faults
  Ring<Deadline> deadlines_;
  AnswerQueue<Request> answers_;     ///< outstanding requests: when their first completion is at the host's end
  std::vector<TimePs> tag_free_at_;  ///< ring: when tags of completed requests are free, in order
  std::vector<StartId> tag_freed_by_;
  std::uint64_t tag_free_head_ = 0;
  std::uint64_t tag_free_tail_ = 0;
  std::vector<NonPostedCredit> non_posted_;  ///< ring of the last requests
  std::size_t next_non_posted_ = 0;
  std::uint64_t requests_issued_ = 0;
  TimePs next_issue_ = 0;
  TimePs waits_until_ = 0;
  bool waits_for_lookup_ = false;
  TimePs reads_free_at_ = 0;   ///< with ID-based ordering: when the last read request has left
  TimePs posted_visible_ = 0;  ///< when all writes so far are visible
  CreditPool posted_;
  CreditPool completions_;
};

}  // namespace mrc
