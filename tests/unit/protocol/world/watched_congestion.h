// Any congestion control, with what it is told and what it makes of it looked at.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "mrc/control/congestion_registry.h"
#include "violation.h"

namespace mrc::world {

class WatchedCongestion final : public CongestionControl {
 public:
  WatchedCongestion(const CongestionConfig& config, const ProtocolConfig& protocol)
      : config_(derive_nscc(config, protocol)),
        bounded_(config.algorithm != "none"),
        least_rtt_(config.base_rtt_ps),
        inner_(make_congestion_control(config, protocol)) {
    cwnd_bytes_ = inner_->cwnd_bytes();
    check_bounds();
  }

  void on_ack(const AckSample& sample) override {
    last_sample_ = sample;
    if (sample.rtt_ps != 0) least_rtt_ = std::min(least_rtt_, sample.rtt_ps);
    const std::uint64_t before = cwnd_bytes_;
    heard_of(sample.newly_received_bytes);
    // An adaptation that leaves the window as large is not seen here; after it at most what is in flight is ignored.
    ignored_bytes_ = std::min(ignored_bytes_, inflight_bytes_);
    const std::uint64_t cut = cut_by([&] { inner_->on_ack(sample); });
    cwnd_after_ack_ = cwnd_bytes_;
    if (cut == 0 || last_cut_ == CutCause::penalty) return;
    last_cut_ == CutCause::ecn ? check_decrease(before) : quick_adapted();
  }
  void on_trim(const TrimSample& sample) override {
    if (sample.rtt_ps != 0) least_rtt_ = std::min(least_rtt_, sample.rtt_ps);
    heard_of(sample.bytes);
    const std::uint64_t cut = cut_by([&] { inner_->on_trim(sample); });
    const bool counts = (!sample.last_hop || config_.last_hop_trim_cuts) && ignored_bytes_ == 0;
    require(counts || cut == 0, "a trim that does not count cuts the window by {} B", cut);
    // More than the packet: only quick adapt does that.
    if (cut > (config_.trim_cuts_cwnd ? sample.bytes + 1 : 0)) quick_adapted();
  }
  void on_refusal(std::uint32_t bytes, TimePs now) override {
    heard_of(bytes);
    const std::uint64_t cut = cut_by([&] { inner_->on_refusal(bytes, now); });
    const bool counts = config_.refusal_triggers_quick_adapt && ignored_bytes_ == 0;
    require(cut == 0 || counts, "a refusal that does not count cuts the window by {} B", cut);
    if (cut > 0) quick_adapted();
  }
  void on_loss(std::uint32_t bytes, TimePs now) override {
    heard_of(bytes);
    const std::uint64_t cut = cut_by([&] { inner_->on_loss(bytes, now); });
    require(cut <= bytes + 1 || config_.loss_triggers_quick_adapt, "a loss of {} B cuts the window by {} B", bytes,
            cut);
    require(cut == 0 || !config_.loss_triggers_quick_adapt || ignored_bytes_ == 0,
            "a loss behind a quick adaptation cuts the window by {} B", cut);
    if (cut > bytes + 1) quick_adapted();
  }

  const AckSample& last_sample() const { return last_sample_; }
  std::uint64_t cwnd_after_ack() const { return cwnd_after_ack_; }

 private:
  /// What `call` takes from the window, 0 where it grows.
  template <typename Call>
  std::uint64_t cut_by(Call call) {
    inner_->discharge(static_cast<std::uint32_t>(inner_->inflight_bytes()));
    inner_->charge(static_cast<std::uint32_t>(inflight_bytes_));
    const std::uint64_t before = cwnd_bytes_;
    call();
    cwnd_bytes_ = inner_->cwnd_bytes();
    last_cut_ = inner_->last_cut();
    check_bounds();
    // At its bound, which may have come down: nothing else cut it further.
    if (cwnd_bytes_ == largest()) return 0;
    return cwnd_bytes_ < before ? before - cwnd_bytes_ : 0;
  }
  void check_decrease(std::uint64_t before) const {
    const bool late = last_sample_.rtt_ps >= least_rtt_ + config_.target_delay_ps;
    require(last_sample_.ecn && late, "the window shrinks from {} to {} B by ECN without a mark and a delay", before,
            cwnd_bytes_);
    // A penalty in the same SACK may have cut before.
    const double least = last_sample_.receiver_penalty > 0 ? 0.0 : config_.max_md_jump;
    require(static_cast<double>(cwnd_bytes_) >= static_cast<double>(before) * least - 1.0,
            "one cut takes the window from {} to {} B", before, cwnd_bytes_);
  }
  std::uint64_t largest() const {
    if (!config_.max_cwnd_follows_rtt) return config_.max_cwnd_bytes;
    const double share = static_cast<double>(least_rtt_) / static_cast<double>(config_.base_rtt_ps);
    return std::max(static_cast<std::uint64_t>(share * static_cast<double>(config_.max_cwnd_bytes)),
                    config_.min_cwnd_bytes);
  }
  void check_bounds() const {
    if (!bounded_) return;
    require(cwnd_bytes_ >= config_.min_cwnd_bytes && cwnd_bytes_ <= largest(), "window of {} B outside {} … {} B",
            cwnd_bytes_, config_.min_cwnd_bytes, largest());
  }
  void heard_of(std::uint64_t bytes) { ignored_bytes_ -= std::min(ignored_bytes_, bytes); }
  void quick_adapted() {
    const std::uint64_t gate = largest() >> config_.qa_gate;
    require(!config_.disable_quick_adapt, "quick adapt although it is off");
    require(cwnd_bytes_ <= std::max(gate, config_.min_cwnd_bytes), "quick adapt to {} B, above its gate of {} B",
            cwnd_bytes_, gate);
    ignored_bytes_ = inflight_bytes_;
  }

  CongestionConfig config_;
  bool bounded_;
  TimePs least_rtt_;
  std::unique_ptr<CongestionControl> inner_;
  AckSample last_sample_;
  std::uint64_t cwnd_after_ack_ = 0;
  /// At least as many bytes are to be heard of before a trim, refusal or loss behind the last quick adaptation counts.
  std::uint64_t ignored_bytes_ = 0;
};

}  // namespace mrc::world
