// What a run's result says the objective's metric was lost to: the message time has its own causes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "study/objective.h"

namespace mrc {

struct CauseOfRun {
  std::string cause;
  double amount = 0;  ///< us of the slowest percent of the messages, or Gb/s
  std::vector<std::string> relieved_by;
};

/// What runs have to be told so that their results have the causes of `objective`.
std::vector<std::string> with_causes_of(const Objective& objective, std::vector<std::string> assignments);

/// Whether `result` has causes of the message time; otherwise those of p99 are what goodput is lost to.
bool has_message_causes(const nlohmann::json& result, const Objective& objective);
/// The largest first.
std::vector<CauseOfRun> causes_of_run(const nlohmann::json& result, const Objective& objective);
/// Of causes_of_run.
std::string_view unit_of_causes(bool of_messages);

}  // namespace mrc
