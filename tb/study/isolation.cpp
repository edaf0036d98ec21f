#include "study/isolation.h"

#include <nlohmann/json.hpp>
#include <string>

#include <fmt/format.h>

#include "study/objective.h"
#include "study/study_error.h"

namespace mrc {
namespace {

using Json = nlohmann::json;

/// What one run says of one tenant.
struct Row {
  std::uint64_t messages = 0;
  double time_us = 0;
  double worst_us = 0;
  double p99_us = 0;
};

Row row_of(const std::string& result, std::uint32_t job) {
  const Json whole = Json::parse(result);
  for (const Json& row : whole.at("tenants")) {
    if (row.at("job") != job) continue;
    const double time = row.at("last_done_us").get<double>() - row.at("first_posted_us").get<double>();
    const Json& times = row.at("message_time_us");
    return {row.at("completed").get<std::uint64_t>(), time, times.at("max").get<double>(),
            times.at("p99").get<double>()};
  }
  throw StudyError(fmt::format("job {} sends no message from one NIC to another", job));
}

Isolation compared(std::uint32_t job, const std::vector<Row>& alone, const std::vector<Row>& together) {
  Isolation isolation;
  isolation.job = job;
  isolation.messages = alone.front().messages;
  std::vector<double> time, worst, p99;
  const auto seeds = static_cast<double>(alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) {
    isolation.alone_us += alone[i].time_us / seeds;
    isolation.together_us += together[i].time_us / seeds;
    isolation.worst_alone_us += alone[i].worst_us / seeds;
    isolation.worst_together_us += together[i].worst_us / seeds;
    time.push_back(together[i].time_us / alone[i].time_us);
    worst.push_back(together[i].worst_us / alone[i].worst_us);
    p99.push_back(together[i].p99_us / alone[i].p99_us);
  }
  isolation.slowdown = confidence_interval(time);
  isolation.worst_slowdown = confidence_interval(worst);
  isolation.p99_slowdown = confidence_interval(p99);
  return isolation;
}

}  // namespace

std::vector<Isolation> measure_isolation(Campaign& campaign, const RunPlanner& planner, StudyDatabase& database,
                                         std::uint32_t seeds) {
  const ScenarioConfig scenario = planner.scenario({});
  const auto jobs = static_cast<std::uint32_t>(1 + background_traces(scenario.traffic).size());
  if (!scenario.traffic.tenants.separate || jobs < 2) {
    throw StudyError("needs a scenario with traffic.background and traffic.tenants.separate = true");
  }
  require_whole_runs(scenario, "isolation");
  std::vector<RunSpec> specs = planner.specs({{"traffic.tenants.play", ""}}, seeds);
  for (std::uint32_t job = 0; job < jobs; ++job) {
    for (RunSpec& spec : planner.specs({{"traffic.tenants.play", std::to_string(job)}}, seeds))
      specs.push_back(std::move(spec));
  }
  const std::vector<RunRecord> records = campaign.run(specs);
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].complete()) continue;
    throw StudyError(fmt::format("the run {} with seed {} is not complete: {}",
                                 i < seeds ? "of all jobs" : fmt::format("of job {} alone", i / seeds - 1),
                                 records[i].seed, records[i].error.empty() ? records[i].status : records[i].error));
  }
  std::vector<Isolation> answer;
  for (std::uint32_t job = 0; job < jobs; ++job) {
    std::vector<Row> alone, together;
    for (std::uint32_t i = 0; i < seeds; ++i) {
      together.push_back(row_of(database.result_json(records[i].id), job));
      alone.push_back(row_of(database.result_json(records[(job + 1) * seeds + i].id), job));
    }
    answer.push_back(compared(job, alone, together));
  }
  return answer;
}

}  // namespace mrc
