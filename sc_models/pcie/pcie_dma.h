// The box behind wqe_fetch, payload_fetch and dma_write: splits reads by MRRS and writes by MPS, holds tags, credits
// and the completion buffer, and carries TLPs over the link. The TLPs of one request are one short loop (a train), each
// with its own start; completions are looked at when the oldest job can end, with their own times, so no event is spent
// on each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/box.h"
#include "engine/clock_domain.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "engine/occupancy.h"
#include "engine/serial_line.h"
#include "mrc/random.h"
#include "mrc/ring.h"
#include "parameters/config.h"
#include "pcie/host_port.h"
#include "pcie/latency_distribution.h"
#include "pcie/pcie_law.h"

namespace mrc {

/// Who gets told that a read is done.
class ReadClient {
 public:
  virtual ~ReadClient() = default;
  /// All bytes of the job with this cookie are in the completion buffer from `done_at` on, which may lie ahead of now.
  virtual void read_done(std::uint64_t cookie, TimePs now, TimePs done_at) = 0;
};

class PcieDma : public Box {
 public:
  PcieDma(const sc_core::sc_module_name& name, WheelModule& owner, const PcieConfig& config, const ClockDomain& clock,
          KeyedRandom random, const WorkClock& work);

  /// Room in the read queue; a caller without room waits with wait_read_room().
  bool can_read() const { return !read_queue_.full(); }
  void wait_read_room(TimePs now, Box& caller) { read_queue_.wait_room(now, caller); }

  /// Queues a read of `bytes` (at least 1) at `address`. `in_order` jobs are reported in the order of their issue,
  /// others as they end. The bytes hold completion buffer until release_completion_buffer(). `into`: where a host port
  /// puts them, null where nobody looks.
  void read(TimePs now, std::uint64_t address, std::uint32_t bytes, ReadClient& client, std::uint64_t cookie,
            bool in_order, std::byte* into = nullptr);
  /// A client has moved `bytes` on; now or earlier.
  void release_completion_buffer(TimePs now, std::uint32_t bytes);

  /// Times of a posted write: when its first TLP starts and when its last has left.
  struct WriteTimes {
    TimePs first_start;
    TimePs last_end;
  };
  /// Issues the write now, as credits and the line allow. The caller issues one after another.
  WriteTimes write(TimePs now, std::uint64_t address, std::uint32_t bytes);
  TimePs write_latency() const { return write_latency_ps_; }

  /// Reads are answered by `host`; of the drawn latency the answer spends at least `shortest_return_ps` on its way
  /// back.
  void connect(HostPort& host, TimePs shortest_return_ps) {
    host_ = &host;
    shortest_return_ps_ = shortest_return_ps;
  }
  /// The host's memory has answered a read request at `at`.
  void host_answered(const HostRead& request, TimePs at);

  void step(TimePs now) override;
  void observe(SlotObserver& observer) { observer_ = &observer; }

  /// Bytes that reads asked for, that were reported to who asked, and that are asked for and not reported.
  std::uint64_t bytes_asked() const { return bytes_asked_; }
  std::uint64_t bytes_reported() const { return bytes_reported_; }
  std::uint64_t bytes_under_way() const;

  IssueSlot& write_slot() { return write_slot_; }
  IssueSlot& read_issue_slot() { return read_issue_; }
  IssueSlot& read_data_slot() { return read_data_; }
  const SerialLine& read_line() const { return downstream_; }
  const Occupancy& tags() const { return tags_; }
  const Occupancy& completion_buffer() const { return completion_buffer_; }
  const Occupancy& posted_data() const { return posted_data_; }
  const Occupancy& read_queue() const { return read_queue_.occupancy(); }

 private:
  struct ReadJob {
    std::uint64_t address = 0;
    std::uint64_t cookie = 0;
    ReadClient* client = nullptr;
    TimePs last_ready = 0;  ///< when the host has answered the latest of its requests
    TimePs done_at = 0;
    std::uint32_t bytes = 0;
    std::uint32_t to_issue = 0;     ///< bytes not yet requested
    std::uint32_t outstanding = 0;  ///< requests without all completions
    std::uint32_t unanswered = 0;   ///< of these, without the host port's answer
    bool in_order = false;
    bool begun = false;
    std::byte* into = nullptr;  ///< where a host port puts the bytes
  };
  /// A request under way: its first completion reaches the NIC's end of the link at `ready`.
  struct Request {
    TimePs ready;
    std::uint64_t sequence;
    std::uint32_t job;
    std::uint32_t bytes;
    std::uint32_t tlps;
    friend bool operator>(const Request& a, const Request& b) {
      return a.ready != b.ready ? a.ready > b.ready : a.sequence > b.sequence;
    }
  };
  struct PostedTlp {
    TimePs credit_back;
    std::uint32_t data_units;
  };

  void take_completions(TimePs now);
  void free_tags(TimePs now);
  void report(TimePs now);
  void issue_reads(TimePs now);
  void ask_host(TimePs sent, ReadJob& job, const Request& request);
  void expect_completion(ReadJob& job, const Request& request);
  bool issue_request(TimePs now, ReadJob& job, std::uint32_t job_index);
  void return_posted_credits(TimePs now);
  void arm(TimePs now);
  std::uint32_t new_job();

  PcieConfig config_;
  PcieLaw law_;
  ClockDomain clock_;
  std::uint32_t mps_bytes_;
  std::uint32_t mrrs_bytes_;
  TimePs credit_return_ps_;
  TimePs write_latency_ps_;
  std::uint32_t posted_headers_;
  std::uint32_t non_posted_headers_;
  LatencyDistribution latency_;
  KeyedRandom random_;
  SerialLine upstream_;
  SerialLine downstream_;

  Fifo<std::uint32_t> read_queue_;
  std::vector<ReadJob> jobs_;
  std::vector<std::uint32_t> free_jobs_;
  std::uint64_t bytes_asked_ = 0;
  std::uint64_t bytes_reported_ = 0;
  /// Issued in-order jobs; those that have all their bytes and wait for an older one hold no tag any more.
  Ring<std::uint32_t> in_order_jobs_;
  std::vector<std::uint32_t> loose_jobs_;  ///< issued jobs that report when they end
  std::vector<Request> requests_;          ///< min-heap by ready time
  std::vector<TimePs> tag_free_at_;        ///< ring: when tags of completed requests are free, in order
  std::uint64_t tag_free_head_ = 0;
  std::uint64_t tag_free_tail_ = 0;
  std::vector<TimePs> non_posted_back_;  ///< ring: when header credits of the last requests come back
  std::uint64_t requests_issued_ = 0;
  TimePs next_issue_ = 0;

  std::vector<PostedTlp> posted_;  ///< ring of writes whose credits are out
  std::uint64_t posted_head_ = 0;
  std::uint64_t posted_tail_ = 0;

  Occupancy tags_;
  Occupancy completion_buffer_;
  Occupancy posted_data_;
  bool waits_for_completion_buffer_ = false;
  SlotObserver* observer_ = nullptr;
  HostPort* host_ = nullptr;  ///< null: the host answers after the drawn latency
  TimePs shortest_return_ps_ = 0;
  TimePs waits_for_credit_until_ = 0;
  IssueSlot read_issue_;
  IssueSlot read_data_;
  IssueSlot write_slot_;
};

}  // namespace mrc
