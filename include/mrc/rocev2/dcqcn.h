// Reaction point of DCQCN (SIGCOMM 2015): the sending rate of a flow, reduced by CNPs, increased by a timer and a byte
// counter through fast recovery, additive and hyper increase. Time is an argument in picoseconds and never decreases
// between calls.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mrc/rocev2/rc_config.h"
#include "mrc/types.h"

namespace mrc {

class Dcqcn {
 public:
  /// Starts at `line_rate_gbps` without a limit (paper: no slow start).
  Dcqcn(const DcqcnConfig& config, double line_rate_gbps)
      : config_(config), line_gbps_(line_rate_gbps), target_gbps_(line_rate_gbps), current_gbps_(line_rate_gbps) {}

  /// R_T = R_C, R_C = R_C (1 - alpha / 2), alpha = (1 - g) alpha + g; both increase stages restart.
  void on_cnp(TimePs now) {
    target_gbps_ = current_gbps_;
    current_gbps_ = std::max(current_gbps_ * (1.0 - alpha_ / 2.0), config_.least_rate_gbps);
    alpha_ = (1.0 - config_.g) * alpha_ + config_.g;
    limited_ = true;
    timer_steps_ = byte_steps_ = 0;
    bytes_ = 0;
    alpha_at_ = now + config_.alpha_period_ps;
    increase_at_ = now + config_.increase_period_ps;
  }

  /// A packet of `bytes` (on the wire) was sent; the next may be sent at next_send_time().
  void on_sent(std::uint32_t bytes, TimePs now) {
    const double gap = static_cast<double>(bytes) * 8'000.0 / current_gbps_;
    next_send_ = std::max(now, next_send_) + static_cast<TimePs>(gap);
    if (!limited_) return;
    for (bytes_ += bytes; bytes_ >= config_.increase_bytes; bytes_ -= config_.increase_bytes) {
      ++byte_steps_;
      increase();
    }
  }
  TimePs next_send_time() const { return next_send_; }

  /// Time of the next on_timer(); kNever while the flow is not limited.
  TimePs next_timer() const { return limited_ ? std::min(alpha_at_, increase_at_) : kNever; }
  /// Runs every timer that is due at `now`.
  void on_timer(TimePs now) {
    for (; limited_ && alpha_at_ <= now; alpha_at_ += config_.alpha_period_ps) alpha_ *= 1.0 - config_.g;
    for (; limited_ && increase_at_ <= now; increase_at_ += config_.increase_period_ps) {
      ++timer_steps_;
      increase();
    }
  }

  double rate_gbps() const { return current_gbps_; }
  double target_gbps() const { return target_gbps_; }
  double alpha() const { return alpha_; }
  /// A CNP has reduced the rate, and it has not returned to line rate.
  bool limited() const { return limited_; }

 private:
  /// Within this share of line rate the limit is removed and alpha reset; halving alone never reaches it (assumption).
  static constexpr double kRecovered = 0.999;

  /// A step of the timer or the byte counter. Hyper increase grows with the steps beyond F (QCN; the paper names the
  /// phase only).
  void increase() {
    const std::uint32_t f = config_.fast_recovery_steps;
    if (std::min(timer_steps_, byte_steps_) > f) {
      target_gbps_ += config_.hyper_gbps * (std::min(timer_steps_, byte_steps_) - f);
    } else if (std::max(timer_steps_, byte_steps_) > f) {
      target_gbps_ += config_.additive_gbps;
    }
    target_gbps_ = std::min(target_gbps_, line_gbps_);
    current_gbps_ = (current_gbps_ + target_gbps_) / 2.0;
    if (current_gbps_ >= kRecovered * line_gbps_) release();
  }
  void release() {
    current_gbps_ = target_gbps_ = line_gbps_;
    alpha_ = 1.0;
    limited_ = false;
  }

  DcqcnConfig config_;
  double line_gbps_;
  double target_gbps_;
  double current_gbps_;
  double alpha_ = 1.0;
  std::uint32_t timer_steps_ = 0;
  std::uint32_t byte_steps_ = 0;
  std::uint64_t bytes_ = 0;
  TimePs next_send_ = 0;
  TimePs alpha_at_ = 0;
  TimePs increase_at_ = 0;
  bool limited_ = false;
};

}  // namespace mrc
