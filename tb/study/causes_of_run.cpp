#include "study/causes_of_run.h"

#include <nlohmann/json.hpp>

namespace mrc {
namespace {

constexpr const char* kMessageCauses = "message_causes";

}  // namespace

std::vector<std::string> with_causes_of(const Objective& objective, std::vector<std::string> assignments) {
  if (objective.metric == Objective::Metric::p99) assignments.emplace_back("run.message_causes=true");
  return assignments;
}

bool has_message_causes(const nlohmann::json& result, const Objective& objective) {
  return objective.metric == Objective::Metric::p99 && result.contains(kMessageCauses);
}

std::vector<CauseOfRun> causes_of_run(const nlohmann::json& result, const Objective& objective) {
  const bool of_messages = has_message_causes(result, objective);
  std::vector<CauseOfRun> causes;
  for (const nlohmann::json& row : result.at(of_messages ? kMessageCauses : "limits")) {
    causes.push_back({row.at("cause").get<std::string>(), row.at(of_messages ? "us" : "gbps").get<double>(),
                      row.at("relieved_by").get<std::vector<std::string>>()});
  }
  return causes;
}

std::string_view unit_of_causes(bool of_messages) {
  return of_messages ? "us" : "Gb/s";
}

}  // namespace mrc
