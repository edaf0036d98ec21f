#include "simulation/run.h"

#include <algorithm>
#include <optional>
#include <span>
#include <systemc>

#include "simulation/critical_paths.h"
#include "simulation/ranks.h"

namespace mrc {
namespace {

/// How far a run is, at the end of a step of the series: sums over nodes and ranks.
struct State {
  std::uint64_t nodes_left = 0;
  std::uint64_t progress = 0;      ///< bytes
  std::uint64_t acknowledged = 0;  ///< bytes of messages that are complete
  std::uint64_t sent = 0;          ///< bytes of first transmissions
  std::uint64_t computing = 0;
  std::uint64_t wrong = 0;
  std::uint64_t failed = 0;
  std::uint64_t interrupted = 0;
  std::uint64_t pending = 0;  ///< ranks on which anything is still to happen

  std::span<std::uint64_t> values() { return {&nodes_left, sizeof *this / sizeof nodes_left}; }
};

/// The end of the time that the run has, by the kernel's clock: a whole picosecond, so that the kernel gets there.
TimePs time_limit(const Model& model) {
  return ps_from_us(model.scenario.run.max_time_us) - model.skipped.total();
}

State state_of(const Model& model, const std::atomic<bool>& interrupted) {
  State state;
  state.pending = sc_core::sc_pending_activity() ? 1 : 0;
  state.interrupted = interrupted.load() ? 1 : 0;
  state.wrong = model.split && !model.split->misplaced.empty() ? 1 : 0;
  for (const auto& node : model.nodes) {
    if (!node->here) continue;
    const WorkPlayer& player = node->player();
    state.nodes_left += player.nodes_left();
    state.progress += player.progress();
    state.acknowledged += player.statistics().acknowledged_bytes;
    state.sent += node->context.counters.first_payload_bytes;
    state.computing += player.computing() ? 1 : 0;
    state.failed += player.statistics().first_failure.empty() ? 0 : 1;
    state.wrong += player.statistics().corrupted_bytes > 0 || node->first_rtl_mismatch() != nullptr ? 1 : 0;
  }
  if (model.split) model.split->ranks.sum(state.values());
  return state;
}

/// Ends a run of which nothing has moved for too long.
class Watchdog {
 public:
  explicit Watchdog(const Model& model) : model_(model) {}

  /// Nothing for a run that goes on.
  std::optional<RunEnd> look(const State& now, TimePs at) {
    const double now_us = us_from_ps(at);
    if (now.wrong > 0) return RunEnd::over;
    if (now.interrupted > 0) return RunEnd::interrupted;
    if (now.progress != last_progress_ || now.computing > 0) progress_at_us_ = now_us;
    last_progress_ = now.progress;
    if (now.nodes_left == 0) return std::nullopt;
    const bool stuck = now.pending == 0 || now_us - progress_at_us_ > model_.scenario.run.stall_us;
    // What waits for a message that a QP error has ended waits for ever; the error is the news.
    if (stuck) return now.failed > 0 ? RunEnd::over : RunEnd::stalled;
    if (at >= time_limit(model_)) return RunEnd::out_of_time;
    return std::nullopt;
  }

 private:
  const Model& model_;
  std::uint64_t last_progress_ = 0;
  double progress_at_us_ = 0;
};

void start(const Model& model) {
  for (const auto& node : model.nodes) {
    if (!node->here) continue;
    if (node->host) {
      node->host->start();
    } else {
      node->endpoint->start();
    }
  }
  model.fabric->wake();
}

/// Runs the kernel for one step of the series, or to the end of the time that the run has.
void advance(Model& model, double step_us) {
  // A recording is handed on in short pieces, so that what it holds does not grow with the step.
  constexpr TimePs piece = 4 * kPsPerUs;
  const TimePs step = std::max<TimePs>(1, sc_core::sc_time(step_us, sc_core::SC_US).value());
  const TimePs end = std::min(kernel_now() + step, time_limit(model));
  while (model.recording && end - kernel_now() > piece) {
    run_until(model, kernel_now() + piece);
    model.recording->flush(kernel_now());
  }
  run_until(model, end);
  if (model.recording) model.recording->flush(kernel_now());
}

/// Messages may all end at once, so what was sent counts, but for what is copied or skipped.
void report_progress(const Model& model, const State& now, std::uint64_t offered) {
  if (!model.options.progress) return;
  const std::uint64_t done = std::min(std::max(now.acknowledged, now.sent), offered);
  model.options.progress({us_from_ps(kernel_now() + model.skipped.total()),
                          offered == 0 ? 0.0 : static_cast<double>(done) / static_cast<double>(offered)});
}

}  // namespace

RunEnd play(Model& model, Sampler& sampler, EarlyStop& early_stop, FastForward& fast_forward,
            const std::atomic<bool>& interrupted) {
  model.critical_paths->look(0);
  start(model);
  const std::uint64_t offered = model.workload.bytes();
  Watchdog watchdog(model);
  for (State now = state_of(model, interrupted); now.nodes_left > 0;) {
    advance(model, sampler.step_us());
    sampler.sample();
    watch_evs(model);
    if (model.capture) model.capture->flush_before(kernel_now());
    now = state_of(model, interrupted);
    if (const auto end = watchdog.look(now, kernel_now())) return *end;
    if (now.nodes_left > 0 && early_stop.look(kernel_now())) return RunEnd::known;
    fast_forward.look(kernel_now());
    model.critical_paths->look(offered == 0 ? 0 : static_cast<double>(now.acknowledged) / static_cast<double>(offered));
    report_progress(model, now, offered);
  }
  return RunEnd::over;
}

}  // namespace mrc
