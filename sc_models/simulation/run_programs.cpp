#include "simulation/run_programs.h"

#include <algorithm>
#include <systemc>

#include "programs/programs.h"
#include "simulation/critical_paths.h"
#include "simulation/ranks.h"

namespace mrc {
namespace {

/// Bytes after which the share of a run that is done, of which nobody knows how long it is, is half of what was left.
constexpr double kHalfBytes = 64 << 20;

/// What a NIC or a light endpoint does is seen by software at least so much later.
TimePs notice_of(const Model& model) {
  TimePs least = kNever;
  for (const auto& node : model.nodes) {
    least = std::min(least, ps_from_ns(node->context.config.pcie.write_latency_ns));
  }
  return std::max<TimePs>(least, 1);
}

TimePs next_event(TimePs now) {
  if (!sc_core::sc_pending_activity()) return kNever;
  return now + sc_core::sc_time_to_pending_activity().value();
}

class Loop {
 public:
  Loop(Model& model, Sampler& sampler)
      : model_(model),
        sampler_(sampler),
        programs_(*model.options.programs),
        notice_ps_(notice_of(model)),
        limit_(ps_from_us(model.scenario.run.max_time_us)),
        next_sample_(step_of_series()) {}

  RunEnd play(const std::atomic<bool>& interrupted) {
    while (true) {
      const TimePs now = kernel_now();
      const TimePs until = programs_.run(now);
      if (programs_.over()) return RunEnd::over;
      if (interrupted.load()) return RunEnd::interrupted;
      // Other programs may wait for ever for one that has failed, so the run ends run.stall_us after the failure.
      const bool failed = !programs_.failures().empty();
      if (failed && !failed_) limit_ = std::min(limit_, now + ps_from_us(model_.scenario.run.stall_us));
      failed_ = failed;
      if (now >= limit_) return failed ? RunEnd::over : RunEnd::out_of_time;
      if (is_stuck(now, until)) return failed ? RunEnd::over : RunEnd::stalled;
      advance(now, std::min(until, programs_.next_visible()));
    }
  }

 private:
  TimePs step_of_series() const {
    return std::max<TimePs>(1, sc_core::sc_time(sampler_.step_us(), sc_core::SC_US).value());
  }

  bool is_stuck(TimePs now, TimePs until) {
    if (programs_.progress() != last_progress_ || until != kNever) progress_at_ = now;
    last_progress_ = programs_.progress();
    if (until != kNever) return false;
    return next_event(now) == kNever || now - progress_at_ > ps_from_us(model_.scenario.run.stall_us);
  }

  /// Not beyond `until`, and not beyond what the NICs may let programs see.
  void advance(TimePs now, TimePs until) {
    TimePs end = std::min({until, next_sample_, limit_});
    const TimePs event = std::max(next_event(now), now);
    if (event < kNever - notice_ps_) end = std::min(end, event + notice_ps_);
    run_until(model_, std::max(end, now + 1));
    if (model_.recording) model_.recording->flush(kernel_now());
    if (kernel_now() >= next_sample_) sample();
  }

  void sample() {
    sampler_.sample();
    watch_evs(model_);
    if (model_.capture) model_.capture->flush_before(kernel_now());
    const auto bytes = static_cast<double>(acknowledged());
    model_.critical_paths->look(bytes / (bytes + kHalfBytes));
    if (model_.options.progress) model_.options.progress({us_from_ps(kernel_now()), 0});
    next_sample_ += step_of_series();
  }

  std::uint64_t acknowledged() const {
    std::uint64_t bytes = 0;
    for (const auto& node : model_.nodes) bytes += node->player().statistics().acknowledged_bytes;
    return bytes;
  }

  Model& model_;
  Sampler& sampler_;
  Programs& programs_;
  TimePs notice_ps_;
  TimePs limit_;
  TimePs next_sample_;
  TimePs progress_at_ = 0;
  bool failed_ = false;  ///< a program has failed
  std::uint64_t last_progress_ = 0;
};

}  // namespace

RunEnd play_programs(Model& model, Sampler& sampler, const std::atomic<bool>& interrupted) {
  model.critical_paths->look(0);
  for (const auto& node : model.nodes) {
    if (node->endpoint) node->endpoint->start();
  }
  model.fabric->wake();
  const RunEnd end = Loop(model, sampler).play(interrupted);
  for (const auto& node : model.nodes) {
    if (node->programs == nullptr) continue;
    node->programs->close(kernel_now());
    for (std::uint32_t i = 0; i < node->context.qps.size(); ++i) {
      const NodeId peer = node->context.qps[i].peer;
      if (peer != ProgramHost::kNobody) node->qps_of_peer[peer].push_back(i);
    }
  }
  return end;
}

}  // namespace mrc
