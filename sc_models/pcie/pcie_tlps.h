// PCIe TLP by TLP: each TLP is an event of its own, every credit, tag and byte is looked at when it is needed and not
// before. Slow and plain: the oracle that the trains are compared with.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "pcie/answer_queue.h"
#include "pcie/pcie_dma.h"

namespace mrc {

class PcieTlps : public PcieDma {
 public:
  PcieTlps(const sc_core::sc_module_name& name, WheelModule& owner, const PcieConfig& config, const ClockDomain& clock,
           KeyedRandom random, const WorkClock& work, CauseTable& causes);

  void step(TimePs now) override;

 protected:
  /// In front of the link, in the order in which the NIC's boxes asked.
  struct WaitingWrite {
    PostedWrite left;  ///< what has not been sent yet
    std::uint64_t order = 0;
    bool taken = false;  ///< its turn has come: from now on later read requests are behind it
  };
  struct WaitingRequest {
    Request request;
    std::uint64_t order = 0;
  };
  /// The request whose completions are being sent.
  struct Answering {
    Request request;
    std::uint32_t offset = 0;
    bool again = false;  ///< the same completion a second time
    Fate fate;
  };
  struct Completion {
    TimePs arrives = 0;
    Request request;
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
    Fate fate;
  };
  struct LeftWrite {
    TimePs at = 0;
    WriteClient* client = nullptr;
    std::uint64_t cookie = 0;
    TimePs visible = 0;
  };
  struct Credits {
    TimePs back = 0;
    std::uint32_t data = 0;
  };
  struct Deadline {
    TimePs at = 0;
    std::uint32_t sequence = 0;
    std::uint16_t tag = 0;
  };

  void issue_write(TimePs now, const PostedWrite& write) override;
  void expect_completion(TimePs ready, const Request& request) override;

  void take_credits_back(TimePs now);
  void tell_writers(TimePs now);
  void land_completion(TimePs now);
  /// Nothing: it has been lost.
  std::optional<Completion> landed(TimePs now);
  /// The last completion of the request with this tag has come.
  void complete(TimePs now, std::uint16_t tag);
  void give_up_lost(TimePs now);
  /// The tag of a request whose time is over; nothing without one.
  std::optional<std::uint16_t> next_expired(TimePs now);
  /// A request that was made, and has its tag, goes to the link.
  void queue_request(TimePs now, const ReadRequestTlp& request);
  void send_upstream(TimePs now);
  void send_read_request(TimePs now);
  void send_completion(TimePs now);
  /// Sends a write TLP; `left` is what is left of its write behind it.
  void send_tlp(TimePs now, const WriteTlp& tlp, const PostedWrite& left);
  /// There are credits for a write TLP of `bytes`.
  bool has_posted_credits(TimePs now, std::uint32_t bytes);

  // What is different where RTL is clocked.
  /// A write could leave, but for the line.
  virtual bool write_waits(TimePs now) const { return !writes_.empty() && writes_.front().left.start <= now; }
  virtual bool write_is_first() const;
  virtual bool can_send_write(TimePs now);
  virtual void send_write_tlp(TimePs now);

  /// Something can happen at `time`.
  void remind(TimePs time) { reminders_.push(time); }

  std::priority_queue<TimePs, std::vector<TimePs>, std::greater<>> reminders_;
  std::uint64_t orders_ = 0;
  std::uint32_t sequence_ = 0;
  TimePs posted_visible_ = 0;
  bool sent_write_last_ = false;

  std::deque<WaitingWrite> writes_;
  std::deque<WaitingRequest> requests_;
  std::deque<LeftWrite> left_writes_;
  AnswerQueue<Request> answers_;  ///< requests at the host, and when it answers them
  std::optional<Answering> answering_;
  std::optional<Completion> on_the_wire_;
  std::deque<Deadline> deadlines_;

  std::uint32_t posted_headers_;
  Occupancy posted_data_;
  std::uint32_t non_posted_headers_;
  std::uint32_t completion_headers_;
  std::uint32_t completion_data_;
  std::deque<Credits> posted_out_;
  std::deque<Credits> non_posted_out_;
  std::deque<Credits> completions_out_;

 private:
  void issue_read_request(TimePs now);
  bool may_issue(TimePs now, std::uint32_t bytes, bool retry);
  void take_next_write(TimePs now);

  TimePs next_issue_ = 0;
};

}  // namespace mrc
