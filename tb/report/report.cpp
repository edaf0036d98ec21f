#include "report/report.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "parameters/input_file.h"
#include "parameters/registry.h"
#include "report/page.h"
#include "report/picture.h"
#include "report/run_excerpt.h"
#include "study/sqlite.h"
#include "study/study_database.h"
#include "study/study_error.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string read_file(const fs::path& path) {
  if (const std::string why = why_unreadable(path.string()); !why.empty()) throw StudyError(path.string() + ": " + why);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw StudyError(path.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_database(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(15, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == "SQLite format 3";
}

/// What the page says about each parameter beside its value.
Json parameter_table() {
  static const ScenarioConfig defaults;
  Json table = Json::object();
  for (const Parameter& p : parameters()) {
    table[p.name] = {{"default", to_string(p.get(defaults, defaults.node_default))},
                     {"unit", p.unit},
                     {"source", to_string(p.source)},
                     {"meaning", p.meaning}};
  }
  return table;
}

/// What run.json says of the run beside it; null for a result without one, such as one of an older version.
Json provenance_of(const fs::path& file) {
  if (!fs::exists(file)) return nullptr;
  Json known = Json::parse(read_file(file), nullptr, false);
  if (!known.is_object()) throw StudyError(file.string() + ": is not JSON");
  return known;
}

Json run_data(const fs::path& file) {
  Json data{{"kind", "run"}, {"series", nullptr}, {"why", nullptr}};
  data["result"] = Json::parse(read_file(file), nullptr, false);
  if (!data["result"].is_object() || !data["result"].contains("mrcsim_version") || !data["result"].contains("limits"))
    throw StudyError(file.string() + ": is not a result.json of mrcsim");
  const fs::path series = file.parent_path() / "series.json";
  if (fs::exists(series)) data["series"] = Json::parse(read_file(series), nullptr, false);
  if (data["series"].is_discarded()) throw StudyError(series.string() + ": is not JSON");
  data["run"] = provenance_of(file.parent_path() / "run.json");
  return data;
}

Json points_of(Sqlite& sqlite, std::int64_t study) {
  Json points = Json::array();
  SqliteStatement rows(sqlite,
                       "SELECT point, runs, complete, goodput_gbps, goodput_min_gbps, goodput_max_gbps, "
                       "message_time_p99_us, simulated_time_us, sram_bits, top_limit FROM points WHERE study_id = ?1 "
                       "ORDER BY point");
  rows.bind(1, study);
  while (rows.step()) {
    points.push_back({{"point", rows.integer(0)},
                      {"settings", Json::object()},
                      {"runs", rows.integer(1)},
                      {"complete", rows.integer(2)},
                      {"goodput_gbps", rows.real(3)},
                      {"goodput_min_gbps", rows.real(4)},
                      {"goodput_max_gbps", rows.real(5)},
                      {"message_time_p99_us", rows.real(6)},
                      {"simulated_time_us", rows.real(7)},
                      {"sram_bits", rows.integer(8)},
                      {"top_limit", rows.text(9)}});
    SqliteStatement settings(
        sqlite,
        "SELECT key, value, typeof(value) FROM setting WHERE study_id = ?1 AND point = ?2 ORDER BY "
        "position");
    settings.bind(1, study).bind(2, rows.integer(0));
    while (settings.step()) {
      const bool text = settings.text(2) == "text";
      points.back()["settings"][settings.text(0)] = text ? Json(settings.text(1)) : Json(settings.real(1));
    }
  }
  return points;
}

Json failures_of(Sqlite& sqlite, std::int64_t study) {
  Json failures = Json::array();
  SqliteStatement rows(sqlite,
                       "SELECT settings, seed, coalesce(error, state) FROM runs WHERE study_id = ?1 AND (state <> "
                       "'done' OR exit_code <> 0) LIMIT 100");
  rows.bind(1, study);
  while (rows.step())
    failures.push_back({{"settings", rows.text(0)}, {"seed", rows.integer(1)}, {"error", rows.text(2)}});
  return failures;
}

/// The effective configuration of the study's first run but for the seed; null without a result.
Json first_parameters_of(Sqlite& sqlite, std::int64_t study) {
  SqliteStatement rows(
      sqlite,
      "SELECT r.result FROM study_run s JOIN run r ON r.id = s.run_id WHERE s.study_id = ?1 AND r.result "
      "IS NOT NULL ORDER BY s.point LIMIT 1");
  rows.bind(1, study);
  if (!rows.step()) return nullptr;
  Json parameters = Json::parse(rows.text(0)).at("parameters");
  parameters.erase("seed");
  parameters.erase("run.message_causes");
  return parameters;
}

/// The same without what the study's points set.
Json parameters_of(Sqlite& sqlite, std::int64_t study) {
  Json parameters = first_parameters_of(sqlite, study);
  if (parameters.is_null()) return parameters;
  SqliteStatement varied(sqlite, "SELECT DISTINCT key FROM setting WHERE study_id = ?1");
  varied.bind(1, study);
  while (varied.step()) parameters.erase(varied.text(0));
  return parameters;
}

Json database_data(const fs::path& file) {
  Sqlite sqlite(file.string(), true);
  require_study_database(sqlite, file.string());
  Json data{{"kind", "study"}, {"database", file.filename().string()}, {"studies", Json::array()}};
  SqliteStatement rows(
      sqlite, "SELECT id, kind, scenario, command, description, answer, mrcsim_version FROM study ORDER BY id");
  while (rows.step()) {
    const std::int64_t id = rows.integer(0);
    data["studies"].push_back({{"id", id},
                               {"kind", rows.text(1)},
                               {"scenario", rows.text(2)},
                               {"command", rows.text(3)},
                               {"version", rows.text(6)},
                               {"description", Json::parse(rows.text(4), nullptr, false)},
                               {"answer", rows.is_null(5) ? Json(nullptr) : Json::parse(rows.text(5), nullptr, false)},
                               {"points", points_of(sqlite, id)},
                               {"failures", failures_of(sqlite, id)},
                               {"parameters", parameters_of(sqlite, id)}});
  }
  if (data["studies"].empty()) throw StudyError(file.string() + ": holds no study");
  return data;
}

/// The answer of `mrcsim why` for a run with these parameters, whatever its seed, with the command.
Json why_of(const fs::path& file, Json parameters) {
  if (!fs::exists(file)) throw StudyError(file.string() + ": --why: does not exist; expected a database of mrcsim why");
  if (!is_database(file)) throw StudyError(file.string() + ": --why: is not a database of mrcsim");
  parameters.erase("seed");
  parameters.erase("run.message_causes");
  Sqlite sqlite(file.string(), true);
  require_study_database(sqlite, file.string());
  SqliteStatement rows(
      sqlite, "SELECT id, command, answer FROM study WHERE kind = 'why' AND answer IS NOT NULL ORDER BY id DESC");
  while (rows.step()) {
    if (first_parameters_of(sqlite, rows.integer(0)) != parameters) continue;
    return {{"command", rows.text(1)}, {"answer", Json::parse(rows.text(2))}};
  }
  throw StudyError(file.string() +
                   ": --why: holds no answer of mrcsim why for the scenario and settings of this run; run mrcsim why "
                   "with the same --set");
}

/// As text of a script element: nothing in it can end the element.
std::string embedded(const Json& data) {
  const std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

fs::path file_of(const std::string& place) {
  fs::path file = place;
  if (fs::is_directory(file)) file /= "result.json";
  if (!fs::exists(file))
    throw StudyError(file.string() + ": does not exist; expected a result.json, its folder or a database");
  if (const std::string why = why_unreadable(file.string()); !why.empty()) throw StudyError(file.string() + ": " + why);
  return file;
}

/// The picture of a result; empty where it is one of another version, without what the picture needs.
std::string picture_in_page(const Json& result) {
  try {
    return nic_picture(result, true);
  } catch (const Json::exception&) {
    return "";
  }
}

/// A result of another version is shown as it is.
void shorten(Json& result, Json& series) {
  const Json whole_result = result;
  const Json whole_series = series;
  try {
    shorten_for_page(result, series);
  } catch (const Json::exception&) {
    result = whole_result;
    series = whole_series;
  }
}

/// `page` with `text` where `mark` is.
std::string filled(std::string_view page, std::string_view mark, std::string_view text) {
  const std::size_t at = page.find(mark);
  return fmt::format("{}{}{}", page.substr(0, at), text, page.substr(at + mark.size()));
}

}  // namespace

std::string report_html(const ReportRequest& request) {
  const fs::path file = file_of(request.place);
  Json data;
  try {
    const bool is_study = is_database(file);
    if (is_study && !request.why.empty()) throw StudyError("--why: is for the report of a run");
    data = is_study ? database_data(file) : run_data(file);
    if (!request.why.empty()) data["why"] = why_of(request.why, data["result"].at("parameters"));
  } catch (const Json::exception& error) {
    throw StudyError(fmt::format("{}: is damaged: {}", file.string(), error.what()));
  }
  std::string picture;
  if (data["kind"] == "run") {
    picture = picture_in_page(data["result"]);
    shorten(data["result"], data["series"]);
  }
  data["parameters"] = parameter_table();
  data["written"] = {{"version", request.version}, {"time", request.time}};
  // The picture's place is before that of the data, so that no text of the data is taken for a mark.
  const std::string page = filled(report_page(), "@DATA@", embedded(data));
  return filled(page, "@PICTURE@", picture);
}

std::string report_picture(const std::string& place) {
  const fs::path file = file_of(place);
  if (is_database(file))
    throw StudyError(file.string() + ": a picture is of one run; expected a result.json or its folder");
  std::string picture;
  try {
    picture = nic_picture(run_data(file)["result"], false);
  } catch (const Json::exception& error) {
    throw StudyError(fmt::format("{}: is damaged: {}", file.string(), error.what()));
  }
  if (picture.empty()) {
    throw StudyError(file.string() + ": the node under test is a light endpoint, which has no boxes to draw");
  }
  return picture;
}

}  // namespace mrc
