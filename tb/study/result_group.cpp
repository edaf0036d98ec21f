#include "study/result_group.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "parameters/input_file.h"
#include "study/sqlite.h"
#include "study/study_database.h"
#include "study/study_error.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Json parse_result(const std::string& text, const std::string& place) {
  Json result = Json::parse(text, nullptr, false);
  if (!result.is_object() || !result.contains("mrcsim_version") || !result.contains("parameters") ||
      !result["parameters"].is_object())
    throw StudyError(place + ": is not a result.json of mrcsim");
  return result;
}

Json read_result(const fs::path& path) {
  if (const std::string why = why_unreadable(path.string()); !why.empty()) throw StudyError(path.string() + ": " + why);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw StudyError(path.string() + ": cannot be read");
  return parse_result({std::istreambuf_iterator<char>(file), {}}, path.string());
}

void load_folder(const fs::path& folder, ResultGroup& group) {
  if (fs::exists(folder / "result.json")) {
    group.results.push_back(read_result(folder / "result.json"));
    return;
  }
  std::vector<fs::path> inner;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (fs::exists(entry.path() / "result.json")) inner.push_back(entry.path() / "result.json");
  }
  std::sort(inner.begin(), inner.end());
  for (const fs::path& path : inner) group.results.push_back(read_result(path));
}

/// "study.sqlite:1.3"; false if `place` does not look like that.
bool load_point(const std::string& place, ResultGroup& group) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) return false;
  const std::string numbers = place.substr(colon + 1);
  long long study = 0;
  long long point = 0;
  const char* end = numbers.data() + numbers.size();
  const auto [dot, error] = std::from_chars(numbers.data(), end, study);
  if (error != std::errc() || dot == end || *dot != '.') return false;
  if (const auto [rest, bad] = std::from_chars(dot + 1, end, point); bad != std::errc() || rest != end) return false;
  const std::string path = place.substr(0, colon);
  Sqlite sqlite(path, true);
  require_study_database(sqlite, path);
  SqliteStatement rows(sqlite,
                       "SELECT r.result FROM study_run s JOIN run r ON r.id = s.run_id WHERE s.study_id = ?1 AND "
                       "s.point = ?2 AND r.result IS NOT NULL ORDER BY r.seed");
  rows.bind(1, std::int64_t{study}).bind(2, std::int64_t{point});
  while (rows.step()) group.results.push_back(parse_result(rows.text(0), place));
  return true;
}

Json without_seed(const Json& result) {
  Json parameters = result.at("parameters");
  parameters.erase("seed");
  return parameters;
}

}  // namespace

ResultGroup load_results(const std::string& place) {
  ResultGroup group{.name = place, .results = {}};
  if (fs::is_directory(place)) {
    load_folder(place, group);
  } else if (fs::exists(place)) {
    group.results.push_back(read_result(place));
  } else if (!load_point(place, group)) {
    throw StudyError(place +
                     ": does not exist; expected a result.json, a folder with results, or DATABASE:STUDY.POINT");
  }
  if (group.results.empty()) throw StudyError(place + ": holds no result");
  for (const Json& result : group.results) {
    if (without_seed(result) != without_seed(group.results.front()))
      throw StudyError(place + ": holds results of different configurations; name one of them");
  }
  return group;
}

}  // namespace mrc
