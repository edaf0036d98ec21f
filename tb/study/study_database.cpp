#include "study/study_database.h"

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "results/dumped_member.h"
#include "study/study_error.h"

namespace mrc {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// "mrcs": tells a database of ours from others.
constexpr std::int64_t kApplicationId = 0x6D72'6373;
/// 1 had the same tables; its view of points did not count runs that are known.
constexpr std::int64_t kSchemaVersion = 2;
constexpr std::int64_t kOldestVersion = 1;

constexpr const char* kTables = R"sql(
CREATE TABLE study (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,             -- sweep, size, sensitivity, all, attack
  scenario TEXT NOT NULL,         -- path as it was given
  description TEXT NOT NULL,      -- JSON: what was asked for
  command TEXT NOT NULL,
  mrcsim_version TEXT NOT NULL,
  answer TEXT,                    -- JSON, once there is one
  UNIQUE (kind, scenario, description));
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,    -- of scenario, settings, seed, trace and executable
  scenario TEXT NOT NULL,
  settings TEXT NOT NULL,         -- JSON object: what differs from the scenario
  seed INTEGER NOT NULL,
  mrcsim_version TEXT NOT NULL,
  build TEXT NOT NULL,            -- digest of the executable
  state TEXT NOT NULL,            -- planned, done (has a result), failed (has none)
  status TEXT,                    -- of the result: complete, known, partial, stalled, mismatch, failed
  exit_code INTEGER,
  error TEXT,
  wall_seconds REAL,
  goodput_gbps REAL,
  simulated_time_us REAL,
  message_time_mean_us REAL,
  message_time_p99_us REAL,
  sram_bits INTEGER,
  top_limit TEXT,                 -- first cause in limits besides framing
  result TEXT);                   -- result.json
CREATE TABLE study_run (
  study_id INTEGER NOT NULL REFERENCES study,
  point INTEGER NOT NULL,         -- runs of one point differ in their seed only
  run_id INTEGER NOT NULL REFERENCES run,
  PRIMARY KEY (study_id, point, run_id));
CREATE TABLE setting (
  study_id INTEGER NOT NULL REFERENCES study,
  point INTEGER NOT NULL,
  position INTEGER NOT NULL,
  key TEXT NOT NULL,
  value,                          -- a number where it is one
  PRIMARY KEY (study_id, point, position));
CREATE INDEX study_run_by_run ON study_run (run_id);
)sql";

constexpr const char* kViews = R"sql(
CREATE VIEW points_settings AS
  SELECT study_id, point, group_concat(key || '=' || value, ' ') AS settings
  FROM (SELECT * FROM setting ORDER BY study_id, point, position) GROUP BY study_id, point;
CREATE VIEW runs AS
  SELECT s.study_id, s.point, coalesce(p.settings, '') AS settings, r.seed, r.state, r.status, r.goodput_gbps,
    r.message_time_mean_us, r.message_time_p99_us, r.simulated_time_us, r.sram_bits, r.top_limit, r.wall_seconds,
    r.exit_code, r.error, r.id AS run_id
  FROM study_run s JOIN run r ON r.id = s.run_id
    LEFT JOIN points_settings p ON p.study_id = s.study_id AND p.point = s.point
  ORDER BY s.study_id, s.point, r.seed;
CREATE VIEW points AS
  SELECT study_id, point, settings, count(*) AS runs, sum(status IN ('complete', 'known')) AS complete,
    avg(goodput_gbps) AS goodput_gbps, min(goodput_gbps) AS goodput_min_gbps, max(goodput_gbps) AS goodput_max_gbps,
    avg(message_time_p99_us) AS message_time_p99_us, avg(simulated_time_us) AS simulated_time_us,
    max(sram_bits) AS sram_bits, min(top_limit) AS top_limit
  FROM runs GROUP BY study_id, point;
CREATE VIEW studies AS
  SELECT s.id AS study_id, s.kind, s.scenario, count(DISTINCT t.point) AS points, count(t.run_id) AS runs,
    sum(r.state = 'done') AS done, sum(r.state = 'failed') AS failed, s.mrcsim_version, s.command
  FROM study s LEFT JOIN study_run t ON t.study_id = s.id LEFT JOIN run r ON r.id = t.run_id GROUP BY s.id;
CREATE VIEW limits AS
  SELECT r.id AS run_id, json_extract(l.value, '$.cause') AS cause, json_extract(l.value, '$.gbps') AS gbps
  FROM run r, json_each(r.result, '$.limits') l;
CREATE VIEW buffers AS
  SELECT r.id AS run_id, json_extract(b.value, '$.node') AS node, json_extract(b.value, '$.name') AS name,
    json_extract(b.value, '$.unit') AS unit, json_extract(b.value, '$.capacity') AS capacity,
    json_extract(b.value, '$.mean') AS mean, json_extract(b.value, '$.p99') AS p99,
    json_extract(b.value, '$.high_water') AS high_water, json_extract(b.value, '$.time_full_share') AS time_full_share
  FROM run r, json_each(r.result, '$.buffers') b;
CREATE VIEW ledger AS
  SELECT r.id AS run_id, json_extract(l.value, '$.node') AS node, json_extract(l.value, '$.box') AS box,
    json_extract(l.value, '$.busy') AS busy, json_extract(l.value, '$.starved') AS starved,
    json_extract(l.value, '$.idle') AS idle, json_extract(l.value, '$.blocked') AS blocked
  FROM run r, json_each(r.result, '$.ledger') l;
CREATE VIEW sram AS
  SELECT r.id AS run_id, json_extract(s.value, '$.structure') AS structure, json_extract(s.value, '$.bits') AS bits
  FROM run r, json_each(r.result, '$.sram') s;
CREATE VIEW parameters AS
  SELECT r.id AS run_id, p.key AS name, p.value AS value FROM run r, json_each(r.result, '$.parameters') p;
CREATE VIEW curves AS
  SELECT s.id AS study_id, json_extract(s.description, '$.buffer') AS buffer,
    json_extract(c.value, '$.value') AS value, json_extract(c.value, '$.mean') AS mean,
    json_extract(c.value, '$.low') AS low, json_extract(c.value, '$.high') AS high,
    json_extract(c.value, '$.holds') AS holds, json_extract(c.value, '$.sram_bits') AS sram_bits,
    json_extract(c.value, '$.cause') AS cause, json_extract(c.value, '$.cause_gbps') AS cause_gbps
  FROM study s, json_each(s.answer, '$.curve') c WHERE s.kind = 'size';
)sql";

constexpr const char* kRunColumns =
    "SELECT id, digest, seed, state, status, exit_code, error, goodput_gbps, simulated_time_us, message_time_p99_us, "
    "sram_bits FROM run WHERE digest = ?1";

RunRecord record_of(const SqliteStatement& row) {
  return {.id = row.integer(0),
          .digest = row.text(1),
          .seed = static_cast<std::uint64_t>(row.integer(2)),
          .state = row.text(3),
          .status = row.text(4),
          .exit_code = static_cast<int>(row.integer(5)),
          .error = row.text(6),
          .goodput_gbps = row.real(7),
          .simulated_time_us = row.real(8),
          .message_time_p99_us = row.real(9),
          .sram_bits = row.integer(10)};
}

std::string settings_json(const Settings& settings) {
  OrderedJson object = OrderedJson::object();
  for (const auto& [key, value] : settings) object[key] = value;
  return object.dump();
}

std::string top_limit(const Json& result) {
  for (const Json& limit : result.at("limits")) {
    const auto cause = limit.at("cause").get<std::string>();
    if (cause != "framing" && cause != "unattributed") return cause;
  }
  return "";
}

std::int64_t sram_bits(const Json& result) {
  std::int64_t bits = 0;
  for (const Json& row : result.at("sram")) bits += row.at("bits").get<std::int64_t>();
  return bits;
}

/// Of a result what has a column; the rest, nearly all of it, is not parsed. Discarded where a member or the end is
/// missing.
Json columns_of(const std::string& result_json) {
  if (!result_json.ends_with("\n}\n")) return Json(Json::value_t::discarded);
  constexpr std::array<std::string_view, 7> columns{
      "status", "simulated_time_us", "goodput_gbps", "steady_goodput", "message_time_us", "limits", "sram"};
  Json result = Json::object();
  for (const std::string_view name : columns) {
    Json value = Json::parse(dumped_member(result_json, name), nullptr, false);
    if (value.is_discarded()) return value;
    result[std::string(name)] = std::move(value);
  }
  return result;
}

std::int64_t pragma(Sqlite& sqlite, const std::string& name) {
  SqliteStatement statement(sqlite, "PRAGMA " + name);
  return statement.step() ? statement.integer(0) : 0;
}

/// Temporary views that take precedence over those of the file, which may be read-only.
std::string temporary_views() {
  constexpr std::string_view create = "CREATE VIEW";
  std::string sql = kViews;
  for (std::size_t at = sql.find(create); at != std::string::npos; at = sql.find(create, at + create.size()))
    sql.replace(at, create.size(), "CREATE TEMP VIEW");
  return sql;
}

/// Replaces the views of the file; the tables have not changed since schema 1.
void bring_up_to_date(Sqlite& sqlite) {
  std::string sql = "BEGIN;";
  SqliteStatement views(sqlite,
                        "SELECT printf(' DROP VIEW main.\"%w\";', name) FROM main.sqlite_master WHERE type = 'view'");
  while (views.step()) sql += views.text(0);
  sqlite.execute(fmt::format("{} {} PRAGMA user_version = {}; COMMIT;", sql, kViews, kSchemaVersion));
}

/// `path`, whose folder exists now.
const std::string& with_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  return path;
}

}  // namespace

void require_study_database(Sqlite& sqlite, const std::string& path) {
  if (pragma(sqlite, "application_id") != kApplicationId) {
    throw StudyError(path + ": is a database, but not one of mrcsim; choose another file");
  }
  const std::int64_t version = pragma(sqlite, "user_version");
  if (version < kOldestVersion || version > kSchemaVersion) {
    throw StudyError(fmt::format("{}: has schema {}, this mrcsim reads {} to {} and writes {}", path, version,
                                 kOldestVersion, kSchemaVersion, kSchemaVersion));
  }
  SqliteStatement check(sqlite, "PRAGMA quick_check(1)");
  if (const bool answered = check.step(); answered && check.text(0) != "ok") {
    throw StudyError(fmt::format("{}: is damaged: {}", path, check.text(0)));
  }
  SqliteStatement results(sqlite, "SELECT id FROM run WHERE result IS NOT NULL AND NOT json_valid(result) LIMIT 1");
  if (results.step())
    throw StudyError(fmt::format("{}: is damaged: the result of run {} is not JSON", path, results.integer(0)));
  if (version < kSchemaVersion) sqlite.execute(temporary_views());
}

StudyDatabase::StudyDatabase(const std::string& path) : path_(path), sqlite_(with_folder(path), false) {
  SqliteStatement tables(sqlite_, "SELECT count(*) FROM sqlite_master");
  tables.step();
  if (tables.integer(0) == 0) {
    create();
  } else {
    require_study_database(sqlite_, path);
    if (pragma(sqlite_, "user_version") < kSchemaVersion) bring_up_to_date(sqlite_);
  }
}

void StudyDatabase::create() {
  sqlite_.execute(fmt::format("BEGIN; PRAGMA application_id = {}; PRAGMA user_version = {}; {} {} COMMIT;",
                              kApplicationId, kSchemaVersion, kTables, kViews));
}

std::int64_t StudyDatabase::study(const std::string& kind, const std::string& scenario, const std::string& description,
                                  const std::string& command) {
  SqliteStatement insert(sqlite_,
                         "INSERT INTO study (kind, scenario, description, command, mrcsim_version) "
                         "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET command = ?4, mrcsim_version = ?5");
  insert.bind(1, kind).bind(2, scenario).bind(3, description).bind(4, command).bind(5, MRCSIM_VERSION).run();
  SqliteStatement select(sqlite_, "SELECT id FROM study WHERE kind = ?1 AND scenario = ?2 AND description = ?3");
  select.bind(1, kind).bind(2, scenario).bind(3, description).step();
  return select.integer(0);
}

void StudyDatabase::set_answer(std::int64_t study, const std::string& answer_json) {
  SqliteStatement(sqlite_, "UPDATE study SET answer = ?2 WHERE id = ?1").bind(1, study).bind(2, answer_json).run();
}

void StudyDatabase::forget_points(std::int64_t study) {
  SqliteStatement(sqlite_, "DELETE FROM study_run WHERE study_id = ?1").bind(1, study).run();
  SqliteStatement(sqlite_, "DELETE FROM setting WHERE study_id = ?1").bind(1, study).run();
}

void StudyDatabase::add_to_study(std::int64_t study, std::int64_t point, const Settings& settings, std::int64_t run) {
  SqliteStatement(sqlite_, "INSERT OR IGNORE INTO study_run VALUES (?1, ?2, ?3)")
      .bind(1, study)
      .bind(2, point)
      .bind(3, run)
      .run();
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const auto& [key, value] = settings[i];
    // Numbers compare and sort as such.
    SqliteStatement(sqlite_,
                    "INSERT OR REPLACE INTO setting VALUES (?1, ?2, ?3, ?4, CASE WHEN json_valid(?5) AND json_type(?5) "
                    "IN ('integer', 'real') THEN json_extract(?5, '$') ELSE ?5 END)")
        .bind(1, study)
        .bind(2, point)
        .bind(3, static_cast<std::int64_t>(i))
        .bind(4, key)
        .bind(5, value)
        .run();
  }
}

std::optional<RunRecord> StudyDatabase::find(const std::string& digest) {
  SqliteStatement select(sqlite_, kRunColumns);
  select.bind(1, digest);
  return select.step() ? std::optional(record_of(select)) : std::nullopt;
}

RunRecord StudyDatabase::plan(const RunSpec& spec, const std::string& build) {
  SqliteStatement(sqlite_,
                  "INSERT OR IGNORE INTO run (digest, scenario, settings, seed, mrcsim_version, build, state) "
                  "VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'planned')")
      .bind(1, spec.digest)
      .bind(2, spec.scenario)
      .bind(3, settings_json(spec.settings))
      .bind(4, static_cast<std::int64_t>(spec.seed))
      .bind(5, MRCSIM_VERSION)
      .bind(6, build)
      .run();
  return *find(spec.digest);
}

void StudyDatabase::store(const std::string& digest, const RunOutcome& outcome) {
  const Json result = columns_of(outcome.result_json);
  if (result.is_discarded()) {
    SqliteStatement(sqlite_,
                    "UPDATE run SET state = 'failed', status = NULL, exit_code = ?2, error = ?3, wall_seconds = ?4 "
                    "WHERE digest = ?1")
        .bind(1, digest)
        .bind(2, std::int64_t{outcome.exit_code})
        .bind(3, outcome.error)
        .bind(4, outcome.wall_seconds)
        .run();
    return;
  }
  // With run.stop_within_percent the steady goodput, whether the run ended early or not: they are compared.
  const bool steady = result.at("steady_goodput").at("gbps") > 0;
  const Json& goodput = steady ? result.at("steady_goodput").at("gbps") : result.at("goodput_gbps");
  const Json& times = result.at("message_time_us");
  SqliteStatement(sqlite_,
                  "UPDATE run SET state = 'done', status = ?2, exit_code = ?3, error = ?4, wall_seconds = ?5, "
                  "goodput_gbps = ?6, simulated_time_us = ?7, message_time_mean_us = ?8, message_time_p99_us = ?9, "
                  "sram_bits = ?10, top_limit = ?11, result = ?12 WHERE digest = ?1")
      .bind(1, digest)
      .bind(2, result.at("status").get<std::string>())
      .bind(3, std::int64_t{outcome.exit_code})
      .bind(4, outcome.error)
      .bind(5, outcome.wall_seconds)
      .bind(6, goodput.get<double>())
      .bind(7, result.at("simulated_time_us").get<double>())
      .bind(8, times.at("mean").get<double>())
      .bind(9, times.at("p99").get<double>())
      .bind(10, sram_bits(result))
      .bind(11, top_limit(result))
      .bind(12, outcome.result_json)
      .run();
}

std::string StudyDatabase::result_json(std::int64_t run) {
  SqliteStatement select(sqlite_, "SELECT result FROM run WHERE id = ?1");
  select.bind(1, run);
  return select.step() ? select.text(0) : std::string();
}

}  // namespace mrc
