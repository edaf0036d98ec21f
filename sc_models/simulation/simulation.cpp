#include "simulation/simulation.h"

#include <string>
#include <utility>

#include "programs/programs.h"
#include "simulation/build.h"
#include "simulation/collect.h"
#include "simulation/model.h"
#include "simulation/ranks.h"
#include "simulation/run.h"
#include "simulation/run_programs.h"
#include "simulation/sample.h"
#include "simulation/waits.h"

namespace mrc {
namespace {

/// How a run ended, for its result.
struct Verdict {
  RunStatus status = RunStatus::complete;
  std::vector<std::string> details;
};

/// Of a run whose work is over: failed work requests, then what was wrong.
Verdict judge_work(const Model& model) {
  Verdict verdict;
  for (const auto& node : model.nodes) {
    const HostStatistics& host = node->player().statistics();
    if (host.first_failure.empty()) continue;
    verdict.status = RunStatus::failed;
    verdict.details.push_back(host.first_failure);
  }
  for (const auto& node : model.nodes) {
    if (node->nic) node->nic->rtl().compare_states(sc_core::sc_time_stamp().value());
    const std::string* difference = node->first_rtl_mismatch();
    const std::string& corruption = node->player().statistics().first_corruption;
    if (!corruption.empty()) verdict.details.push_back(corruption);
    if (difference != nullptr) verdict.details.push_back(node->name + ": " + *difference);
    if (!corruption.empty() || difference != nullptr) verdict.status = RunStatus::mismatch;
  }
  if (model.options.programs == nullptr || verdict.status != RunStatus::complete) return verdict;
  verdict.details = model.options.programs->failures();
  if (!verdict.details.empty()) verdict.status = RunStatus::failed;
  return verdict;
}

Verdict judge(const Model& model, RunEnd end) {
  switch (end) {
    case RunEnd::interrupted:
      return {RunStatus::partial, {"interrupted"}};
    case RunEnd::stalled:
      return {RunStatus::stalled, describe_stall(model)};
    case RunEnd::out_of_time:
      return {RunStatus::partial, {"run.max_time_us is over"}};
    case RunEnd::known:
    case RunEnd::over:
      break;
  }
  Verdict verdict = judge_work(model);
  if (end == RunEnd::known && verdict.status == RunStatus::complete) verdict.status = RunStatus::known;
  return verdict;
}

}  // namespace

Simulation::Simulation(const ScenarioConfig& scenario, const Workload& workload,
                       const std::vector<NodeId>& nics_of_ranks, SimulationOptions options)
    : model_(build_model(scenario, workload, nics_of_ranks, std::move(options))) {}

Simulation::~Simulation() = default;

RunResult Simulation::run(const std::atomic<bool>& interrupted) {
  if (model_->split) gather_buffer_names(*model_);
  Sampler sampler(*model_);
  EarlyStop early_stop(*model_);
  FastForward fast_forward(*model_);
  Programs* programs = model_->options.programs;
  const RunEnd end = programs != nullptr ? play_programs(*model_, sampler, interrupted)
                                         : play(*model_, sampler, early_stop, fast_forward, interrupted);
  note_reactions(*model_);
  if (model_->split) gather(*model_, sampler.series());
  if (model_->split && !model_->split->is_first()) {
    gather_nics(*model_, 0);
    return {};
  }
  Verdict verdict = judge(*model_, end);
  if (model_->split) gather_nics(*model_, end_of(*model_, verdict.status));
  RunResult result = collect(*model_, verdict.status, std::move(verdict.details));
  result.early_stop = early_stop.finish(kernel_now());
  result.fast_forward = fast_forward.finish();
  result.series = std::move(sampler.series());
  if (programs != nullptr) {
    result.messages.count = programs->messages_offered();
    result.bytes.offered = programs->bytes_offered();
  }
  return result;
}

}  // namespace mrc
