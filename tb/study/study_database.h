// The SQLite file of one or more studies (schema: docs/study.md): every run once, whichever study asked for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "study/design.h"
#include "study/sqlite.h"

namespace mrc {

/// One run that a study wants.
struct RunSpec {
  std::string scenario;  ///< path
  Settings settings;     ///< what differs from the scenario, canonical text
  std::uint64_t seed = 1;
  std::string digest;  ///< of all that the result depends on: scenario, settings, seed, trace, executable
};

/// One run as the database has it. Metrics are 0 where there is no result.
struct RunRecord {
  std::int64_t id = 0;
  std::string digest;
  std::uint64_t seed = 0;
  std::string state;   ///< planned, done: has a result; failed: has none
  std::string status;  ///< of the result: complete, known, partial, stalled, mismatch, failed
  int exit_code = 0;
  std::string error;
  double goodput_gbps = 0;
  double simulated_time_us = 0;
  double message_time_p99_us = 0;
  std::int64_t sram_bits = 0;

  /// All is done, or what is left would not change what was asked for.
  bool complete() const { return state == "done" && (status == "complete" || status == "known"); }
};

/// How a run that was started ended.
struct RunOutcome {
  int exit_code = 0;  ///< of the process; 128 + n when signal n ended it
  std::string error;  ///< last line that it printed as an error
  double wall_seconds = 0;
  std::string result_json;  ///< empty without a result
};

/// Throws StudyError where the file is not a database of mrcsim, is of a newer one, or is damaged (SQLite's own check
/// of its pages, and the results are JSON). With an older schema this connection has today's views.
void require_study_database(Sqlite& sqlite, const std::string& path);

class StudyDatabase {
 public:
  /// Opens or makes `path`, and brings an older schema up to date. Throws StudyError as require_study_database().
  explicit StudyDatabase(const std::string& path);

  const std::string& path() const { return path_; }
  Sqlite& sqlite() { return sqlite_; }

  /// The study of this kind, scenario and description, made where there is none. `command` is what the user typed.
  std::int64_t study(const std::string& kind, const std::string& scenario, const std::string& description,
                     const std::string& command);
  void set_answer(std::int64_t study, const std::string& answer_json);
  /// Takes away which runs belong to a study; the runs stay.
  void forget_points(std::int64_t study);
  /// The run belongs to the study's point with this number.
  void add_to_study(std::int64_t study, std::int64_t point, const Settings& settings, std::int64_t run);

  /// The run of this digest, added as planned where there is none.
  RunRecord plan(const RunSpec& spec, const std::string& build);
  std::optional<RunRecord> find(const std::string& digest);
  void store(const std::string& digest, const RunOutcome& outcome);
  /// result.json of a run; empty without one.
  std::string result_json(std::int64_t run);

 private:
  void create();

  std::string path_;
  Sqlite sqlite_;
};

}  // namespace mrc
