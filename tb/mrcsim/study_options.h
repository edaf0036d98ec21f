// Common command line options of sweep and size.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "mrcsim/progress.h"
#include "study/campaign.h"

namespace mrc {

struct StudyOptions {
  std::string scenario;
  std::vector<std::string> assignments;
  std::uint32_t seeds = 1;
  std::uint32_t jobs = 0;  ///< 0: one per core; no limit on a cluster
  std::string database = "out/study.sqlite";
  std::string on = "local";
  std::vector<std::string> sbatch;
  bool quiet = false;
};

/// `default_seeds` is the default of the option, and is shown in its help.
void add_study_options(CLI::App& command, StudyOptions& options, std::uint32_t default_seeds);

/// The command line as it was typed, to be kept with the study.
std::string typed_command();
/// The executable as it was typed, for a shell: a user's RTL has one of its own.
std::string typed_executable();

/// A campaign with the executor given by the options, showing `progress`. Signals are caught from here on.
std::unique_ptr<Campaign> make_campaign(const StudyOptions& options, StudyDatabase& database, ProgressLine& progress);
/// The same for who shows the progress itself.
std::unique_ptr<Campaign> make_campaign(const StudyOptions& options, StudyDatabase& database,
                                        Campaign::OnProgress on_progress);

/// Stores a study's runs, those of the same settings as one point, and its answer.
void keep(StudyDatabase& database, std::int64_t study, const std::vector<std::pair<Settings, std::int64_t>>& runs,
          const nlohmann::ordered_json& answer);

/// Calls `body`; after an interruption prints what is done and how to continue, and returns its exit code.
int run_study(const StudyOptions& options, const std::function<int()>& body);

/// JSON has no infinity.
nlohmann::ordered_json number_or_null(double value);

}  // namespace mrc
