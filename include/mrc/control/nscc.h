// `uet-1.0-nscc`, the window algorithm that MRC takes from Ultra Ethernet 1.0 (its section on network-signaled
// congestion control; constants: Table 3-76). Delay against a target and ECN give four quadrants; quick adapt sets the
// window to what arrived.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mrc/control/congestion.h"
#include "mrc/protocol_config.h"
#include "mrc/types.h"

namespace mrc {

/// The constants with every derived one filled in (UEC 1.0 Table 3-76, relative to 100 Gb/s x 12 us).
inline CongestionConfig derive_nscc(CongestionConfig config, const ProtocolConfig& protocol) {
  const double mss = protocol.mtu_bytes;
  const double bdp = config.line_rate_gbps / 8.0 * static_cast<double>(config.base_rtt_ps) / 1000.0;
  const double a = bdp / 150'000.0;
  const auto fill = [](auto& field, auto value) {
    if (field == 0) field = static_cast<std::decay_t<decltype(field)>>(value);
  };
  fill(config.target_delay_ps, (protocol.trim_nack ? 0.75 : 1.0) * static_cast<double>(config.base_rtt_ps));
  fill(config.min_cwnd_bytes, mss);
  // A path with a bandwidth-delay product below one packet still has a window of one packet.
  fill(config.max_cwnd_bytes, std::max(1.5 * bdp, static_cast<double>(config.min_cwnd_bytes)));
  fill(config.initial_cwnd_bytes, config.max_cwnd_bytes);
  fill(config.adjust_bytes_threshold, 8 * mss);
  fill(config.adjust_period_ps, config.base_rtt_ps);
  fill(config.eta_bytes, 0.15 * mss * a);
  fill(config.fi_bytes, 5.0 * mss * a);
  fill(config.fi_scale, 0.25 * a);
  fill(config.qa_threshold_ps, 4 * config.target_delay_ps);
  return config;
}

class Nscc final : public CongestionControl {
 public:
  /// `config` as derive_nscc() returns it.
  Nscc(const CongestionConfig& config, const ProtocolConfig& protocol)
      : config_(config),
        mss_(protocol.mtu_bytes),
        base_rtt_(config.base_rtt_ps),
        max_cwnd_bytes_(config.max_cwnd_bytes) {
    derive_alpha();
    cwnd_ = static_cast<double>(config.initial_cwnd_bytes);
    publish();
  }

  /// Keeps the window, within the new bounds. A changed base RTT is the new starting point for learning it.
  void change(const CongestionConfig& config) override {
    if (config.base_rtt_ps != config_.base_rtt_ps) base_rtt_ = config.base_rtt_ps;
    config_ = config;
    max_cwnd_bytes_ = config.max_cwnd_bytes;
    if (base_rtt_ < config.base_rtt_ps) scale_max_cwnd();
    derive_alpha();
    publish();
  }

  void on_ack(const AckSample& sample) override {
    const auto newly = static_cast<double>(sample.newly_received_bytes);
    achieved_bytes_ += newly;
    received_bytes_ += newly;
    heard_of(newly);
    penalize(sample);
    if (sample.rtt_ps != 0) follow(sample, newly);
    publish();
  }

  void on_trim(const TrimSample& sample) override {
    if (sample.rtt_ps != 0) update_base_rtt(sample.rtt_ps);
    average_delay_ += config_.delay_ewma_weight * (static_cast<double>(config_.base_rtt_ps) - average_delay_);
    heard_of(sample.bytes);
    const bool in_flight_before = ignore_bytes_ > 0;
    if (sample.last_hop && config_.last_hop_trim_holds && !in_flight_before)
      hold_until_ = sample.now + base_rtt_ + config_.target_delay_ps;
    if (!sample.last_hop || config_.last_hop_trim_cuts) {
      const bool handled = ask_quick_adapt(sample.now, CutCause::trim);
      if (!handled && config_.trim_cuts_cwnd) cut(cwnd_ - sample.bytes, CutCause::trim);
    }
    publish();
  }

  void on_refusal(std::uint32_t bytes, TimePs now) override {
    heard_of(bytes);
    if (!config_.refusal_triggers_quick_adapt) return;
    ask_quick_adapt(now, trigger_);
    publish();
  }

  void on_loss(std::uint32_t bytes, TimePs now) override {
    heard_of(bytes);
    const bool handled = config_.loss_triggers_quick_adapt && ask_quick_adapt(now, CutCause::loss);
    if (!handled) cut(cwnd_ - bytes, CutCause::loss);
    publish();
  }

  double average_delay_ps() const { return average_delay_; }

 private:
  /// Below this delay a queue counts as empty (UEC's reference simulator: 1 us).
  static constexpr TimePs kNoDelayPs = kPsPerUs;
  static constexpr double kPenaltyScale = 128.0;

  void derive_alpha() {
    const double a = config_.line_rate_gbps / 8.0 * static_cast<double>(config_.base_rtt_ps) / 1000.0 / 150'000.0;
    const double b = static_cast<double>(config_.target_delay_ps) / (12.0 * kPsPerUs);
    alpha_ = 4.0 * mss_ * a * b / static_cast<double>(config_.target_delay_ps);
  }

  /// State of the network according to a SACK with an RTT sample.
  void follow(const AckSample& sample, double newly) {
    update_base_rtt(sample.rtt_ps);
    const TimePs delay = sample.rtt_ps - std::min(sample.rtt_ps, base_rtt_);
    const bool marked = sample.ecn || marks_missing(delay);
    update_average(delay, marked);
    if (quick_adapt(sample.now, delay, marked)) return;
    adjust(sample, delay, marked, newly);
    fulfil(sample.now);
  }

  /// A queue that marks has marked its packets before they are so late: this one did not, as the last hop.
  bool marks_missing(TimePs delay) const {
    return config_.unmarked_delay == UnmarkedDelay::as_marked && delay >= config_.target_delay_ps;
  }

  void update_base_rtt(TimePs rtt) {
    if (rtt >= base_rtt_ || !config_.base_rtt_is_learned) return;
    base_rtt_ = rtt;
    scale_max_cwnd();
  }
  void scale_max_cwnd() {
    if (!config_.max_cwnd_follows_rtt) return;
    const double share = static_cast<double>(base_rtt_) / static_cast<double>(config_.base_rtt_ps);
    const auto scaled = static_cast<std::uint64_t>(share * static_cast<double>(config_.max_cwnd_bytes));
    max_cwnd_bytes_ = std::max(scaled, config_.min_cwnd_bytes);
  }

  /// `bytes` of what was in flight at the last quick adaptation, or later, have left it.
  void heard_of(double bytes) { ignore_bytes_ = std::max(0.0, ignore_bytes_ - bytes); }

  void update_average(TimePs delay, bool marked) {
    // By UEC 1.0 delay without a mark comes from the path's length or the far end, not from a queue that this window
    // feeds.
    const bool unmarked_delay = !marked && delay > config_.target_delay_ps;
    const double sample = unmarked_delay ? 0.25 * static_cast<double>(base_rtt_) : static_cast<double>(delay);
    average_delay_ += config_.delay_ewma_weight * (sample - average_delay_);
  }

  void penalize(const AckSample& sample) {
    if (sample.receiver_penalty > 0) {
      if (saved_cwnd_ == 0) saved_cwnd_ = cwnd_;
      const double clipped = std::min(cwnd_, static_cast<double>(inflight_bytes_));
      cut(clipped - sample.receiver_penalty * static_cast<double>(sample.newly_received_bytes) / kPenaltyScale,
          CutCause::penalty);
    } else if (saved_cwnd_ > 0) {
      if (sample.restore_cwnd) cwnd_ = std::max(cwnd_, saved_cwnd_);
      saved_cwnd_ = 0;
    }
  }

  /// A packet met a full queue or was lost: what is said of one that was marked holds for it.
  bool ask_quick_adapt(TimePs now, CutCause cause) {
    quick_adapt_wanted_ = true;
    trigger_ = cause;
    return quick_adapt(now, 0, true);
  }
  /// True where nothing else is to follow: the window has just been set to what arrived, or the mark is one of the
  /// queue that it was set for.
  bool quick_adapt(TimePs now, TimePs delay, bool marked) {
    if (config_.disable_quick_adapt) return false;
    const bool ignored = marked && ignore_bytes_ > 0;
    if (!ignored && !adapts(now, delay)) return false;
    increase_ = 0;
    received_bytes_ = 0;
    return true;
  }
  bool adapts(TimePs now, TimePs delay) {
    if (now < quick_adapt_end_) return false;
    const bool wanted = quick_adapt_end_ != 0 && (quick_adapt_wanted_ || delay > config_.qa_threshold_ps);
    const double achieved = achieved_bytes_;
    quick_adapt_end_ = now + base_rtt_ + config_.target_delay_ps;
    achieved_bytes_ = 0;
    if (!wanted || achieved >= static_cast<double>(max_cwnd_bytes_ >> config_.qa_gate)) return false;
    quick_adapt_wanted_ = false;
    cut(achieved, trigger_);
    trigger_ = CutCause::quick_adapt;
    ignore_bytes_ = static_cast<double>(inflight_bytes_);
    return true;
  }

  void adjust(const AckSample& sample, TimePs delay, bool marked, double newly) {
    const bool late = delay >= config_.target_delay_ps;
    if (marked || late) end_fast_increase();
    if (marked) {
      if (late) decrease(sample.now);
      return;
    }
    if (sample.receiver_penalty > 0 || sample.now < hold_until_) return;
    if (late) {
      increase_ += config_.fi_bytes * newly;
    } else if (!fast_increase(delay, newly)) {
      increase_ += alpha_ * newly * static_cast<double>(config_.target_delay_ps - delay);
    }
  }

  /// A window of bytes without delay, and all following bytes without one.
  bool fast_increase(TimePs delay, double newly) {
    undelayed_bytes_ = delay <= kNoDelayPs ? undelayed_bytes_ + newly : 0;
    fast_ = delay <= kNoDelayPs && (fast_ || undelayed_bytes_ > cwnd_);
    if (fast_) cwnd_ += newly * config_.fi_scale;
    return fast_;
  }

  /// At any sign of congestion.
  void end_fast_increase() {
    fast_ = false;
    undelayed_bytes_ = 0;
  }

  void decrease(TimePs now) {
    const auto target = static_cast<double>(config_.target_delay_ps);
    if (average_delay_ <= target || now < last_decrease_ + base_rtt_) return;
    const double factor = 1.0 - config_.gamma * (average_delay_ - target) / average_delay_;
    cut(cwnd_ * std::max(factor, config_.max_md_jump), CutCause::ecn);
    last_decrease_ = now;
  }

  void fulfil(TimePs now) {
    const bool period_over = now >= last_fulfil_ + config_.adjust_period_ps;
    if (received_bytes_ <= config_.adjust_bytes_threshold && !period_over) return;
    cwnd_ += increase_ / cwnd_;
    if (period_over) {
      if (now >= hold_until_) cwnd_ += config_.eta_bytes;
      last_fulfil_ = now;
    }
    increase_ = 0;
    received_bytes_ = 0;
  }

  void cut(double window, CutCause cause) {
    // Bounded here and not only where it is published: the increase that may follow divides by the window.
    cwnd_ = std::min(cwnd_, std::max(window, static_cast<double>(config_.min_cwnd_bytes)));
    last_cut_ = cause;
  }

  void publish() {
    cwnd_ = std::clamp(cwnd_, static_cast<double>(config_.min_cwnd_bytes), static_cast<double>(max_cwnd_bytes_));
    cwnd_bytes_ = static_cast<std::uint64_t>(cwnd_);
  }

  CongestionConfig config_;
  double mss_;
  double alpha_ = 0;
  TimePs base_rtt_;               ///< smallest RTT seen, at first the configured one
  std::uint64_t max_cwnd_bytes_;  ///< as configured, or scaled with base_rtt_
  double cwnd_ = 0;
  double saved_cwnd_ = 0;
  double average_delay_ = 0;
  double increase_ = 0;
  double achieved_bytes_ = 0;
  double received_bytes_ = 0;
  double undelayed_bytes_ = 0;
  double ignore_bytes_ = 0;
  bool fast_ = false;
  bool quick_adapt_wanted_ = false;
  TimePs quick_adapt_end_ = 0;
  TimePs hold_until_ = 0;  ///< no increase before
  TimePs last_decrease_ = 0;
  TimePs last_fulfil_ = 0;
};

}  // namespace mrc
