#include "mrcsim/provenance.h"

#include <array>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "mrcsim/commit.h"
#include "mrcsim/study_options.h"

namespace mrc {
namespace {

std::string utc_time() {
  std::time_t now = std::time(nullptr);
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH"); epoch != nullptr && *epoch != '\0') {
    now = static_cast<std::time_t>(std::strtoll(epoch, nullptr, 10));
  }
  std::tm utc{};
  std::array<char, 32> text{};
  if (gmtime_r(&now, &utc) == nullptr) return "";
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &utc);
  return text.data();
}

}  // namespace

Provenance provenance() {
  const std::string commit = source_commit();
  return {.command = typed_command(),
          .time = utc_time(),
          .version = commit.empty() ? std::string(MRCSIM_VERSION) : MRCSIM_VERSION " (commit " + commit + ")"};
}

std::string json_of(const Provenance& made) {
  const nlohmann::ordered_json json{{"command", made.command}, {"time", made.time}, {"version", made.version}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace mrc
