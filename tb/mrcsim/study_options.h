// Common command line options of sweep and size.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
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

/// A campaign with the executor given by the options, showing `progress`. Signals are caught from here on.
std::unique_ptr<Campaign> make_campaign(const StudyOptions& options, StudyDatabase& database, ProgressLine& progress);

/// Calls `body`; after an interruption prints what is done and how to continue, and returns its exit code.
int run_study(const StudyOptions& options, const std::function<int()>& body);

}  // namespace mrc
