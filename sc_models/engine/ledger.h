// Where the time of an issue slot went. Each moment of a slot's life is charged to exactly one of busy, starved (work
// exists upstream), idle (the NIC holds no work for it) or blocked by a named resource; the sums make up the run.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/recorder.h"
#include "mrc/types.h"

namespace mrc {

/// The resources that can hold up a slot.
enum class BlockedBy : std::uint8_t {
  context_miss,
  cwnd,  ///< window as it began or as quick adapt left it
  cwnd_ecn,
  cwnd_trim,
  cwnd_loss,
  cwnd_penalty,        ///< rcv_cwnd_pen of the receiver
  cwnd_no_pkt_buffer,  ///< NACKs of the receiver: its staging buffer was full
  cwnd_no_bitmap,
  cwnd_no_resource,
  cwnd_out_of_window,
  mpr,
  write_imm_limit,
  wqe_fetch,  ///< WQEs are on their way
  retransmit_entries,
  retransmit_bytes,
  segmenter_queue,      ///< grants that the segmenter has not taken
  segmented_queue,      ///< packets that payload_fetch has not taken
  payload_fetch_queue,  ///< packets whose payload is under way: too few for the latency
  read_queue,           ///< requests that pcie_dma has not taken
  read_tags,
  completion_buffer,
  non_posted_credits,
  posted_credits,
  completion_credits,
  address_translation,
  pcie_stall,
  pcie_line,
  read_latency,
  spray_scheduler,  ///< packets that the spray scheduler has not taken
  no_good_ev,
  port_credit,
  retransmit_queue,  ///< packets that the retransmit buffer has not taken
  encap_queue,       ///< packets that srv6_encap has not taken
  control_queue,
  port_control_fifo,
  parser_queue,
  psn_tracker_queue,
  rx_staging,
  ack_queue,
  sack_queue,
  completion_queue,
  link_down,
  srv6_encap,  ///< its datapath is the slowest
  segmenter,
  doorbell_queue,        ///< the host may ring no more doorbells
  outstanding_messages,  ///< the host may post no more before something completes
  acknowledgement,       ///< all is sent, the last acknowledgements and completions are on their way
  no_work,
  cq_entries,       ///< the completion queue in host memory is full
  cqe_moderation,   ///< CQEs are gathered
  sram_qp_context,  ///< a port of this memory, in the order of MemoryId
  sram_wqe_prefetch,
  sram_retransmit_records,
  sram_retransmit_payload,
  sram_path_table,
  sram_congestion,
  sram_bitmap,
  sram_packet_buffer,
  sram_rx_staging,
  sram_completion_buffer,
  sram_port_fifo,
  sram_completion_queue,
  count
};
inline constexpr std::size_t kBlockedByCount = static_cast<std::size_t>(BlockedBy::count);
std::string_view to_string(BlockedBy cause);

/// Told before a slot changes its state, and before work begins or ends, unless nobody cares until `quiet_until()`.
class SlotObserver {
 public:
  virtual ~SlotObserver() = default;
  virtual void before_change(TimePs now) = 0;
  TimePs quiet_until() const { return quiet_until_; }

 protected:
  TimePs quiet_until_ = 0;
};

/// Time during which a NIC holds work for a group of slots (transmit, receive); separates starved from idle.
class WorkClock {
 public:
  void begin(TimePs now) {
    if (count_ == 0) change(now);
    if (count_++ == 0) since_ = now;
    if (tap_.recorder != nullptr) tell(now, 1);
  }
  void end(TimePs now) {
    if (count_ == 1) change(now);
    if (--count_ == 0) total_ += now - since_;
    if (tap_.recorder != nullptr) tell(now, ~std::uint64_t{0});
  }
  void observe(SlotObserver& observer) const { observer_ = &observer; }
  void record_to(Recorder& recorder, std::uint32_t object) const { tap_ = {&recorder, object}; }
  bool active() const { return count_ > 0; }
  /// Time with work up to `now`, where `now` may lie ahead: work in hand is taken to last.
  TimePs elapsed(TimePs now) const { return total_ + (count_ > 0 && now > since_ ? now - since_ : 0); }

 private:
  void change(TimePs now) {
    if (observer_ != nullptr && now > observer_->quiet_until()) observer_->before_change(now);
  }
  [[gnu::cold, gnu::noinline]] void tell(TimePs now, std::uint64_t change) const {
    tap_.recorder->add({.time = now, .value = change, .object = tap_.object, .kind = Record::Kind::work, .packet = {}});
  }

  mutable SlotObserver* observer_ = nullptr;
  std::uint64_t count_ = 0;
  TimePs since_ = 0;
  TimePs total_ = 0;
  mutable RecorderTap tap_;
};

class IssueSlot {
 public:
  IssueSlot(std::string box, const WorkClock& work) : box_(std::move(box)), work_(&work) {}

  /// The slot issues from `now` until `until`; afterwards it is empty-handed unless told otherwise.
  void busy(TimePs now, TimePs until) {
    close(now);
    busy_from_ = now;
    busy_until_ = until;
    if (tap_.recorder != nullptr && until > last_) tell(kSlotBusy, until);
    if (until > last_) {
      busy_ += until - last_;
      last_ = until;
    }
    open_empty();
  }
  void blocked(TimePs now, BlockedBy cause) {
    close(now);
    state_ = static_cast<std::uint8_t>(cause);
    if (tap_.recorder != nullptr) tell(state_, last_);
  }
  /// Nothing to do: starved while the NIC holds work for the slot, idle otherwise.
  void empty(TimePs now) {
    close(now);
    open_empty();
  }

  /// The slot cannot go on at `now` and for `span_ps` for want of a memory's port; busy() for the same `now` follows.
  void stalled(TimePs now, TimePs span_ps, BlockedBy cause) {
    if (span_ps == 0) return;
    close(now);
    const TimePs end = now + span_ps;
    if (tap_.recorder != nullptr && end > last_) tell(static_cast<std::uint8_t>(cause), end);
    if (end > last_) {
      blocked_[static_cast<std::size_t>(cause)] += end - last_;
      last_ = end;
    }
    stalled_at_ = now;
    stalled_by_ = cause;
  }
  /// What it issues at the moment waited for a memory's port.
  bool is_stalled() const { return stalled_at_ == busy_from_; }
  BlockedBy stalled_by() const { return stalled_by_; }

  void observe(SlotObserver& observer) { observer_ = &observer; }
  void record_to(Recorder& recorder, std::uint32_t object) const { tap_ = {&recorder, object}; }
  const WorkClock& work() const { return *work_; }
  bool is_blocked() const { return state_ != kEmpty; }
  /// Precondition: is_blocked().
  BlockedBy blocked_by() const { return static_cast<BlockedBy>(state_); }
  /// Issues at `now`; what it was told last reaches as far.
  bool is_busy(TimePs now) const { return state_ == kEmpty && busy_until_ >= now; }

  const std::string& box() const { return box_; }
  /// Shares up to `end`; call once, at the end of the run.
  void finish(TimePs end) { close(end); }
  TimePs busy_ps() const { return busy_; }
  TimePs starved_ps() const { return starved_; }
  TimePs idle_ps() const { return idle_; }
  TimePs blocked_ps(BlockedBy cause) const { return blocked_[static_cast<std::size_t>(cause)]; }
  /// Time accounted so far: the end of the last charged span.
  TimePs accounted_ps() const { return last_; }

 private:
  static constexpr std::uint8_t kEmpty = 0xFF;

  void open_empty() {
    state_ = kEmpty;
    work_at_open_ = work_->elapsed(last_);
    if (tap_.recorder != nullptr) tell(kSlotEmpty, last_);
  }
  /// States begin where the account of the last one ends.
  [[gnu::cold, gnu::noinline]] void tell(std::uint64_t state, TimePs until) const {
    tap_.recorder->add({.time = last_,
                        .until = until,
                        .value = state,
                        .object = tap_.object,
                        .kind = Record::Kind::slot,
                        .packet = {}});
  }
  void close(TimePs now) {
    if (observer_ != nullptr && now > observer_->quiet_until()) observer_->before_change(now);
    if (now <= last_) return;
    const TimePs span = now - last_;
    if (state_ != kEmpty) {
      blocked_[state_] += span;
    } else {
      const TimePs worked = work_->elapsed(now);
      const TimePs with_work = worked > work_at_open_ ? worked - work_at_open_ : 0;
      const TimePs starved = with_work < span ? with_work : span;
      starved_ += starved;
      idle_ += span - starved;
    }
    last_ = now;
  }

  std::string box_;
  const WorkClock* work_;
  SlotObserver* observer_ = nullptr;
  TimePs busy_from_ = 0;
  TimePs busy_until_ = 0;
  TimePs stalled_at_ = kNever;
  BlockedBy stalled_by_ = BlockedBy::count;
  TimePs last_ = 0;
  TimePs work_at_open_ = 0;
  TimePs busy_ = 0;
  TimePs starved_ = 0;
  TimePs idle_ = 0;
  std::uint8_t state_ = kEmpty;
  mutable RecorderTap tap_;
  std::array<TimePs, kBlockedByCount> blocked_{};
};

}  // namespace mrc
