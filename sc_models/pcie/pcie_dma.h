// The box behind wqe_fetch, payload_fetch and dma_write: splits reads by MRRS and writes by MPS, holds tags, credits
// and the completion buffer, and carries TLPs over the link. This file has what does not depend on how time is stepped:
// the read queue, who is told when a read is done, address translation, faults. PcieTrains and PcieTlps step the TLPs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/box.h"
#include "engine/causal_trace.h"
#include "engine/clock_domain.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "engine/memories.h"
#include "engine/occupancy.h"
#include "engine/serial_line.h"
#include "mrc/random.h"
#include "mrc/ring.h"
#include "parameters/config.h"
#include "pcie/address_translation.h"
#include "pcie/host_path.h"
#include "pcie/host_port.h"
#include "pcie/latency_distribution.h"
#include "pcie/nic_lookups.h"
#include "pcie/pcie_counts.h"
#include "pcie/pcie_dma_engine.h"
#include "pcie/pcie_dma_rtl_path.h"
#include "pcie/pcie_law.h"
#include "pcie/read_order.h"
#include "pcie/read_tags.h"
#include "pcie/stall_windows.h"

namespace mrc {

/// Who gets told that a read is done.
class ReadClient {
 public:
  virtual ~ReadClient() = default;
  /// All bytes of the job with this cookie are in the completion buffer from `done_at` on, which may lie ahead of now.
  virtual void read_done(std::uint64_t cookie, TimePs now, TimePs done_at) = 0;
};

/// Who gets told that a write has left.
class WriteClient {
 public:
  virtual ~WriteClient() = default;
  /// The last TLP of the write with this cookie has left at `last_end`, which may lie ahead of now. May be called from
  /// within PcieDma::write().
  virtual void write_left(std::uint64_t cookie, TimePs now, TimePs last_end) = 0;
};

/// Whether a write may pass an earlier one of the same NIC that waits for its address translation.
enum class WriteOrder : std::uint8_t { strict, relaxed };

class PcieDma : public Box, private LookupUser, private ReadClient {
 public:
  static constexpr QueueMemory kReadTags{"pcie.read_tags"};
  static constexpr PortedMemory kCompletionBuffer{
      .name = "pcie.completion_buffer", .parameters = "nic.memory.completion_buffer", .streamed = true};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  void count_memories(Memories& memories) const { memories.count(kReadTags, tags_); }

  /// Steps in trains or TLP by TLP, as config.stepping says; with RTL by pins, TLP by TLP at the RTL's pace. `rtl`
  /// outlives it; null: SystemC only.
  static std::unique_ptr<PcieDma> create(const sc_core::sc_module_name& name, WheelModule& owner,
                                         const PcieConfig& config, const ClockDomain& clock, KeyedRandom random,
                                         const WorkClock& work, CauseTable& causes, PcieDmaRtlPath* rtl = nullptr);

  /// Room in the read queue; a caller without room waits with wait_read_room().
  bool can_read() const { return !read_queue_.full(); }
  /// Reads that the engine has not begun to split.
  std::uint32_t waiting_reads() const { return read_queue_.size(); }
  void wait_read_room(TimePs now, Box& caller) { read_queue_.wait_room(now, caller); }

  /// A read of this much payload will find room in the completion buffer as soon as all that is not payload has been
  /// taken from it, and leaves room for other reads, whatever becomes of the payload.
  bool has_payload_room(std::uint32_t bytes) const {
    return bytes_asked_ - bytes_released_ + bytes + config_.mrrs_bytes <= config_.completion_buffer_bytes;
  }
  /// `box` is stepped when it may have.
  void wait_payload_room(Box& box) { waits_for_payload_room_ = &box; }

  /// Queues a read of `bytes` (at least 1) at `address`. `in_order` jobs are reported in the order of their issue,
  /// others as they end. The bytes hold completion buffer until release_completion_buffer(). `into`: where a host port
  /// puts them, null where nobody looks. `because`: start of the box that asks. `payload`: of the payload, which all
  /// in-order jobs are.
  void read(TimePs now, std::uint64_t address, std::uint32_t bytes, ReadClient& client, std::uint64_t cookie,
            bool in_order, std::byte* into = nullptr, StartId because = 0, bool payload = false);
  /// A client has moved `bytes` on; now or earlier.
  void release_completion_buffer(TimePs now, std::uint32_t bytes);

  /// A posted write, from `start` (now or later) on as credits, order and the line allow. Writes leave in the order of
  /// these calls, but relaxed ones may pass others that wait for a translation.
  void write(TimePs now, TimePs start, std::uint64_t address, std::uint32_t bytes, WriteClient& client,
             std::uint64_t cookie, WriteOrder order);
  /// A write to this address will come: its translation can be asked for.
  void translate_ahead(TimePs now, std::uint64_t address, std::uint32_t bytes) {
    if (translation_.enabled()) translation_.ready_at(now, address, bytes);
    if (lookups_) look_up_write(now, address, bytes);
  }
  /// Payload lies in memory that answers so much later than the host's.
  void set_payload_extra(TimePs extra_ps) { payload_extra_ps_ = extra_ps; }
  /// What an access meets in the host beside the latencies of [pcie]. Before the first read or write, or with none
  /// under way. `peer_regions`: the memory that software registers is an accelerator's.
  void use_host(const HostPathConfig& host, bool peer_regions);
  /// Software has registered this memory as a region and uses it: in a warm cache of the host it is there, as far as it
  /// fits.
  void add_region(std::uint64_t address, std::uint64_t bytes) {
    if (lookups_) lookups_->add_region(address, bytes);
    if (path_) path_->add_region(address, bytes);
  }
  /// The NIC has written this memory before the run: the host's cache shows it.
  void written_before(std::uint64_t address, std::uint32_t bytes) {
    if (path_) path_->written_before(address, bytes);
  }
  /// While a client is told that its write has left at `last_end`: when its bytes, and all written before, are visible.
  TimePs visible_at(TimePs last_end) const { return path_ ? left_visible_ : last_end + write_latency_ps_; }

  /// No TLP starts in [from, until), neither way. To be told before the run reaches `from`.
  void stall(TimePs from, TimePs until) { stalls_.add(from, until); }

  /// Reads are answered by `host`; of the drawn latency the answer spends at least `shortest_return_ps` on its way
  /// back.
  void connect(HostPort& host, TimePs shortest_return_ps) {
    host_ = &host;
    shortest_return_ps_ = shortest_return_ps;
  }
  /// The host's memory has answered a read request at `at`.
  void host_answered(const HostRead& request, TimePs at);

  void observe(SlotObserver& observer) { observer_ = &observer; }
  /// Before the run.
  void trace_to(NodeTrace& trace);
  /// While a client is told of its read: the start of the completion that ended it.
  StartId done_by() const { return done_by_; }
  /// What the write that was issued last waited for, or the line.
  Cause write_limit() const { return write_limit_; }

  /// Bytes that reads asked for, that were reported to who asked, and that are asked for and not reported.
  std::uint64_t bytes_asked() const { return bytes_asked_; }
  std::uint64_t bytes_reported() const { return bytes_reported_; }
  std::uint64_t bytes_under_way() const;

  IssueSlot& write_slot() { return write_slot_; }
  IssueSlot& read_issue_slot() { return read_issue_; }
  IssueSlot& read_data_slot() { return read_data_; }
  const SerialLine& read_line() const { return downstream_; }
  /// What completions wait for when they queue: the line, credits, a stall.
  Cause answers_wait_for() const { return answers_wait_for_; }
  const Occupancy& completion_buffer() const { return completion_buffer_; }
  /// Causes that boxes in front of this one wait for too.
  Cause read_queue_full() const { return causes_.read_queue_full; }
  Cause read_latency() const { return causes_.read_latency; }
  Cause no_completion_buffer() const { return causes_.completion_buffer; }
  Cause line() const { return causes_.line; }
  PcieCounts counts() const;
  /// Null where no part of the host is modelled.
  const HostPath* host_path() const { return path_.get(); }

 protected:
  PcieDma(const sc_core::sc_module_name& name, WheelModule& owner, const PcieConfig& config, const ClockDomain& clock,
          KeyedRandom random, const WorkClock& work, CauseTable& causes);

  struct Causes {
    Causes(CauseTable& table, CauseTable::Taker read_queue);
    Cause read_queue_full;
    Cause read_tags;
    Cause completion_buffer;
    Cause non_posted_credits;
    Cause posted_credits;
    Cause completion_credits;
    Cause address_translation;
    Cause memory_table;
    Cause stall;
    Cause line;
    Cause read_latency;
    Cause read_issue;
    HostPath::Causes host;
  };
  struct ReadJob {
    std::uint64_t address = 0;  ///< of the next request
    std::uint64_t cookie = 0;
    ReadClient* client = nullptr;
    TimePs translated_at = 0;
    TimePs last_ready = 0;  ///< when the host has answered the latest of its requests
    TimePs done_at = 0;
    std::uint32_t bytes = 0;
    std::uint32_t to_issue = 0;     ///< bytes not yet requested
    std::uint32_t outstanding = 0;  ///< requests without all completions
    std::uint32_t unanswered = 0;   ///< of these, without the host port's answer
    bool in_order = false;
    bool payload = false;
    bool begun = false;
    std::byte* into = nullptr;  ///< where a host port puts the bytes
    StartId because = 0;
    StartId done_by = 0;
    HostAccess access = HostAccess::by_address;
    bool in_lookup = false;  ///< the NIC's tables do not have its memory yet
  };
  /// One read request TLP as it travels.
  struct Request {
    std::uint64_t address = 0;
    std::uint32_t sequence = 0;
    std::uint32_t job = 0;
    std::uint16_t bytes = 0;
    std::uint16_t tag = 0;
    StartId start = 0;
  };
  struct PostedWrite {
    TimePs start = 0;
    std::uint64_t address = 0;
    WriteClient* client = nullptr;
    std::uint64_t cookie = 0;
    std::uint32_t bytes = 0;
    HostAccess access = HostAccess::by_address;
  };
  /// A request that has to be retried.
  struct Retry {
    std::uint64_t address = 0;
    std::uint32_t job = 0;
    std::uint32_t bytes = 0;
  };
  /// What fault injection does to one completion.
  struct Fate {
    bool lost = false;
    bool poisoned = false;
    bool duplicated = false;
  };

  /// Takes over a write whose address is translated.
  virtual void issue_write(TimePs now, const PostedWrite& write) = 0;
  /// The first completion of a request is at the host's end of the link at `ready`.
  virtual void expect_completion(TimePs ready, const Request& request) = 0;

  /// The observer of the NIC's slots is told before anything changes.
  void tell_observer(TimePs now) {
    if (observer_ != nullptr && now > observer_->quiet_until()) observer_->before_change(now);
  }
  /// Puts a job that begins among those that are reported.
  void begin(ReadJob& job, std::uint32_t index);
  void report(TimePs now);
  void finish_job(TimePs now, std::uint32_t index, bool in_order);

  // What the block's RTL does too. Each gives what to go on with.
  /// The next request of a job, cut at MRRS.
  ReadRequestTlp next_request(std::uint32_t index) const {
    const ReadJob& job = jobs_[index];
    return {job.address, bytes_in_block(job.address, job.to_issue, config_.mrrs_bytes), index, 0, false};
  }
  /// Gives the request its tag; false where RTL makes none.
  bool make(TimePs now, std::uint32_t sequence, ReadRequestTlp& request);
  /// That much of the job is asked for.
  static void advance(ReadJob& job, std::uint32_t bytes) {
    job.address += bytes;
    job.to_issue -= std::min(bytes, job.to_issue);
    ++job.outstanding;
  }
  ReadTags::Verdict accept(TimePs now, const Request& request, std::uint32_t offset, std::uint32_t bytes,
                           bool poisoned);
  void give_up(std::uint16_t tag);
  /// RTL splits, assigns tags, sorts completions and reports instead of this code, or in shadow of it.
  void ask_rtl(PcieDmaRtlPath* rtl) {
    rtl_ = rtl;
    tracks_tags_ = tracks_tags_ || rtl != nullptr;
  }
  void begin_write(const PostedWrite& write) {
    if (rtl_) rtl_->write(write.address, write.bytes);
  }
  /// The next TLP of a write, cut at MPS, and what is left of the write without it.
  WriteTlp next_tlp(TimePs now, PostedWrite& left);
  void release_translated_writes(TimePs now);
  Cause cause_of(LookupTable table) const {
    return table == LookupTable::translations ? causes_.address_translation : causes_.memory_table;
  }
  /// The lookups whose reads have come by now go on.
  void take_lookups(TimePs now);
  /// When the next of them comes; kNever without one.
  TimePs next_lookup() const { return looked_up_.empty() ? kNever : looked_up_.front().first; }
  /// What a read that is in a lookup waits for.
  Cause lookup_cause(std::uint32_t index) const { return cause_of(lookups_->waits_for(index)); }
  Fate draw_fate();
  /// The request left at `sent`: its answer is drawn or asked for. `posted_visible` is when all writes that left before
  /// it are visible.
  [[gnu::always_inline]] void reach_host(TimePs sent, TimePs posted_visible, const Request& request) {
    const TimePs latency = latency_.draw(latency_random_) + (jobs_[request.job].payload ? payload_extra_ps_ : 0);
    if (path_) return reach_host_path(sent, latency, posted_visible, request);
    answer(sent, in_order(sent + latency, posted_visible), request);
  }
  /// A write TLP has left at `end`: when the host has taken it out of the buffers whose credits it holds.
  TimePs reach_host(TimePs end, const WriteTlp& tlp, HostAccess access);
  /// When all that has been written by TLPs until `last_end`, the last of which left then, is visible.
  TimePs visible_by(TimePs last_end) const { return path_ ? write_visible_ : last_end + write_latency_ps_; }
  /// Why posted credits come back late.
  Cause posted_wait() const { return late_write_ == Cause() ? causes_.posted_credits : late_write_; }
  /// A host port has still to answer one of the job's requests, so that no timeout runs.
  bool host_is_asked(std::uint32_t job) const { return jobs_[job].unanswered > 0; }

  PcieConfig config_;
  PcieLaw law_;
  ClockDomain clock_;
  TimePs credit_return_ps_;
  TimePs write_latency_ps_;
  // Of the block itself.
  TimePs request_ps_;
  TimePs report_ps_;
  TimePs write_ps_;
  TimePs writes_end_ = 0;  ///< of the last write: the next one is cut while it leaves
  TimePs payload_extra_ps_ = 0;
  TimePs completion_timeout_ps_;
  bool faults_on_;
  bool tracks_tags_;  ///< each completion is compared with the state of its tag
  SerialLine upstream_;
  SerialLine downstream_;
  StallWindows stalls_;

  Fifo<std::uint32_t> read_queue_;
  std::vector<ReadJob> jobs_;
  ReadOrder order_;                         ///< of the jobs that have begun and are not reported
  std::unique_ptr<NicLookups> lookups_;     ///< null: nothing is looked up over the link
  std::deque<std::uint32_t> lookup_reads_;  ///< jobs of lookups, which pass the read queue
  Ring<Retry> retries_;
  ReadTags tag_table_;

  PcieDmaRtlPath* rtl_ = nullptr;  ///< asked transaction by transaction; null: nobody is
  NodeTrace* trace_ = nullptr;     ///< null: of no NIC
  std::uint32_t request_place_ = 0;
  std::uint32_t data_place_ = 0;
  std::uint32_t host_place_ = 0;
  StartId last_request_ = 0;
  StartId last_data_ = 0;
  TimePs left_visible_ = 0;  ///< of the write that is told of
  bool traces() const { return trace_ != nullptr && trace_->on(); }
  Cause write_limit_;

  PcieCounts counts_;
  Occupancy tags_;
  Occupancy completion_buffer_;
  bool waits_for_completion_buffer_ = false;
  Causes causes_;
  Cause answers_wait_for_;
  IssueSlot read_issue_;
  IssueSlot read_data_;
  IssueSlot write_slot_;

 private:
  struct UntranslatedWrite {
    TimePs ready_at = 0;
    PostedWrite write;
    bool strict = false;          ///< passes no other
    std::uint64_t in_lookup = 0;  ///< number of the lookup that it waits for; 0: none
  };
  /// Numbers of lookups: of reads that of their job, of writes from here on.
  static constexpr std::uint64_t kFirstWriteAccess = 1ULL << 32;

  std::uint32_t new_job();
  std::uint32_t queue_job(const ReadJob& job);
  /// False: it is not here, and looked for as lookup write_accesses_.
  bool look_up_write(TimePs now, std::uint64_t address, std::uint32_t bytes);
  void fetch(TimePs now, const LookupEntry& entry) override;
  void looked_up(TimePs now, std::uint64_t access) override;
  void read_done(std::uint64_t cookie, TimePs now, TimePs done_at) override;
  /// How the host finds the memory of an access of a client.
  HostAccess client_access() const {
    return config_.address_translation.entries > 0 && config_.address_translation.request == TranslationRequest::link
               ? HostAccess::translated
               : HostAccess::by_address;
  }
  /// The request that left at `sent` meets the host's parts.
  void reach_host_path(TimePs sent, TimePs latency, TimePs posted_visible, Request request);
  /// An answer that would be ready at `ready`, in the order of PCIe.
  TimePs in_order(TimePs ready, TimePs posted_visible) {
    // A read pushes the writes before it: the host answers once they are visible, unless the read may pass them.
    if (!config_.id_based_ordering) ready = std::max(ready, posted_visible);
    if (config_.completion_order == CompletionOrder::in_order) {
      ready = std::max(ready, last_answer_ready_);
      last_answer_ready_ = ready;
    }
    return ready;
  }
  void answer(TimePs sent, TimePs ready, const Request& request) {
    if (host_ == nullptr) {
      expect_completion(ready, request);
    } else {
      ask_host(sent, ready - sent, request);
    }
  }
  StartId trace_host(const HostPath::Times& times, StartId request);
  void ask_host(TimePs sent, TimePs latency, const Request& request);

  std::unique_ptr<HostPath> path_;  ///< null: the host's parts are not modelled
  TimePs write_visible_ = 0;        ///< with a path: when the last write TLP that left is visible, and all before it
  Cause late_write_;                ///< what the last write TLP queued for in the host; none: nothing
  std::array<StartId, kHostParts> last_host_{};  ///< the latest start at each part of the host
  HostPort* host_ = nullptr;                     ///< null: the host answers after the drawn latency
  TimePs shortest_return_ps_ = 0;
  LatencyDistribution latency_;
  KeyedRandom latency_random_;
  KeyedRandom fault_random_;
  TimePs last_answer_ready_ = 0;
  std::uint64_t bytes_asked_ = 0;
  std::uint64_t bytes_reported_ = 0;
  std::uint64_t bytes_released_ = 0;
  Box* waits_for_payload_room_ = nullptr;
  std::vector<std::uint32_t> free_jobs_;
  StartId done_by_ = 0;
  StartId in_order_done_by_ = 0;
  TimePs in_order_done_ = 0;  ///< no in-order job is done before the one in front of it
  AddressTranslation translation_;
  std::vector<LookupEntry> lookup_entries_;  ///< of the reads of lookups, by cookie; some are free
  std::vector<std::uint64_t> free_lookup_entries_;
  std::vector<std::pair<TimePs, std::uint64_t>> looked_up_;  ///< min-heap: reads that come then, by cookie
  StartId lookup_done_by_ = 0;
  std::uint64_t write_accesses_ = kFirstWriteAccess;
  std::vector<UntranslatedWrite> untranslated_;  ///< in the order of their calls
  SlotObserver* observer_ = nullptr;
};

}  // namespace mrc
