#include "mrcsim/isolation_command.h"

#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "mrcsim/exit_code.h"
#include "mrcsim/study_options.h"
#include "study/isolation.h"

namespace mrc {
namespace {

using Json = nlohmann::ordered_json;

struct IsolationOptions : StudyOptions {
  std::string format = "text";
};

Json json_of(const Interval& interval) {
  return {{"mean", interval.mean}, {"low", interval.low}, {"high", interval.high}};
}

Json json_of(const std::vector<Isolation>& tenants) {
  Json rows = Json::array();
  for (const Isolation& tenant : tenants) {
    rows.push_back({{"job", tenant.job},
                    {"messages", tenant.messages},
                    {"alone_us", tenant.alone_us},
                    {"together_us", tenant.together_us},
                    {"worst_message_alone_us", tenant.worst_alone_us},
                    {"worst_message_together_us", tenant.worst_together_us},
                    {"slowdown", json_of(tenant.slowdown)},
                    {"p99_slowdown", json_of(tenant.p99_slowdown)},
                    {"worst_message_slowdown", json_of(tenant.worst_slowdown)}});
  }
  return {{"tenants", std::move(rows)}};
}

std::string text_of(const Interval& interval) {
  return interval.low == interval.high
             ? fmt::format("{:.3f}", interval.mean)
             : fmt::format("{:.3f} ({:.3f} … {:.3f})", interval.mean, interval.low, interval.high);
}

void print(const std::vector<Isolation>& tenants) {
  fmt::print("{:>6} {:>9} {:>12} {:>12} {:>14} {:>17}  {}\n", "tenant", "messages", "alone, us", "together, us",
             "worst message", "worst, together", "slow-down: time; p99; worst message");
  for (const Isolation& tenant : tenants) {
    fmt::print("{:>6} {:>9} {:>12.2f} {:>12.2f} {:>14.2f} {:>17.2f}  {}; {}; {}\n", tenant.job, tenant.messages,
               tenant.alone_us, tenant.together_us, tenant.worst_alone_us, tenant.worst_together_us,
               text_of(tenant.slowdown), text_of(tenant.p99_slowdown), text_of(tenant.worst_slowdown));
  }
}

int isolation(const IsolationOptions& options) {
  const RunPlanner planner({options.scenario, options.assignments});
  StudyDatabase database(options.database);
  ProgressLine progress(!options.quiet && options.format == "text");
  const auto campaign = make_campaign(options, database, progress);
  const std::vector<Isolation> tenants = measure_isolation(*campaign, planner, database, options.seeds);
  progress.finish();
  if (options.format == "json") {
    fmt::print("{}\n", json_of(tenants).dump(2));
  } else {
    print(tenants);
  }
  return kExitOk;
}

}  // namespace

void add_isolation_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<IsolationOptions>();
  CLI::App* command =
      app.add_subcommand("isolation", "Run each tenant of a scenario alone and all together, and compare");
  add_study_options(*command, *options, 1);
  command->add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command->callback([options, &exit_code] { exit_code = run_study(*options, [&] { return isolation(*options); }); });
}

}  // namespace mrc
