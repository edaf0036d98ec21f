#include "traffic/class_rules.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "parameters/comma_list.h"
#include "parameters/parameter_value.h"
#include "parameters/quantity.h"
#include "traffic/line_reader.h"
#include "traffic/trace_limits.h"

namespace mrc {
namespace {

constexpr const char* kKey = "traffic.classes.rules";
constexpr std::string_view kMessage = "message";

struct Rule {
  std::optional<std::string> kind;  ///< of a collective, or kMessage
  std::uint64_t least_bytes = 0;
  std::uint64_t most_bytes = ~0ULL;
  std::optional<std::uint32_t> job;
  std::optional<std::uint32_t> tag;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> ranks;  ///< first and last of the communicator
  std::uint8_t traffic_class = 0;
};

std::vector<std::string> kinds() {
  std::vector<std::string> names{std::string(kMessage)};
  for (std::size_t i = 0; i < kCollectiveKinds; ++i) names.emplace_back(to_string(static_cast<CollectiveKind>(i)));
  return names;
}

class RuleReader {
 public:
  explicit RuleReader(const TrafficClasses& classes) : classes_(classes) {}

  std::vector<Rule> run() {
    std::vector<Rule> rules;
    for (const std::string_view rule : comma_list(classes_.rules)) rules.push_back(rule_of(rule));
    return rules;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const { throw ParameterError(kKey, std::string(what)); }

  std::uint64_t integer(std::string_view text, std::string_view what, std::uint64_t most) const {
    return parse_integer(text, kKey, what, 0, most);
  }
  std::uint64_t bytes_of(std::string_view text) const {
    const std::int64_t bytes = parse_bytes(text).value_or(-1);
    if (bytes < 0) refuse(fmt::format("\"{}\" is not a number of bytes, such as 65536 or 64KiB", text));
    return static_cast<std::uint64_t>(bytes);
  }

  Rule rule_of(std::string_view text) const {
    const auto arrow = text.find("->");
    if (arrow == std::string_view::npos) refuse(fmt::format("\"{}\": expected CONDITIONS -> CLASS", text));
    Rule rule;
    rule.traffic_class =
        static_cast<std::uint8_t>(integer(trimmed(text.substr(arrow + 2)), "the class", classes_.count - 1));
    std::string_view rest = trimmed(text.substr(0, arrow));
    while (!rest.empty()) {
      const auto space = rest.find(' ');
      take(rest.substr(0, space), rule);
      rest = space == std::string_view::npos ? std::string_view() : trimmed(rest.substr(space));
    }
    return rule;
  }

  void take(std::string_view condition, Rule& rule) const {
    const auto at = condition.find_first_of("<>=");
    const std::string_view name = condition.substr(0, at);
    std::string_view value = at == std::string_view::npos ? std::string_view() : condition.substr(at);
    if (name == "bytes" && value.starts_with("<=")) {
      rule.most_bytes = bytes_of(value.substr(2));
    } else if (name == "bytes" && value.starts_with(">=")) {
      rule.least_bytes = bytes_of(value.substr(2));
    } else if (value.starts_with('=')) {
      take_equal(name, value.substr(1), rule);
    } else {
      expected(condition);
    }
  }
  void take_equal(std::string_view name, std::string_view value, Rule& rule) const {
    if (name == "kind") {
      const std::vector<std::string> known = kinds();
      if (std::find(known.begin(), known.end(), value) == known.end()) {
        refuse(fmt::format("no kind {}; there are: {}; nearest: {}", value, fmt::join(known, ", "),
                           nearest(value, known)));
      }
      rule.kind = std::string(value);
    } else if (name == "job") {
      rule.job = static_cast<std::uint32_t>(integer(value, "the job", kMostJobs));
    } else if (name == "tag") {
      rule.tag = static_cast<std::uint32_t>(integer(value, "the tag", 0xFFFF'FFFF));
    } else if (name == "ranks") {
      const auto dash = value.find('-');
      const auto first = static_cast<std::uint32_t>(integer(value.substr(0, dash), "the first rank", kMostRank));
      const std::string_view last = dash == std::string_view::npos ? value : value.substr(dash + 1);
      rule.ranks.emplace(first, static_cast<std::uint32_t>(integer(last, "the last rank", kMostRank)));
      if (rule.ranks->second < first) refuse(fmt::format("ranks={}: the last rank is below the first", value));
    } else {
      expected(name);
    }
  }
  [[noreturn]] void expected(std::string_view found) const {
    refuse(fmt::format("\"{}\": expected kind=, bytes<=, bytes>=, job=, tag= or ranks=FIRST-LAST", found));
  }

  const TrafficClasses& classes_;
};

class Classifier {
 public:
  Classifier(Workload& workload, const std::vector<Rule>& rules, std::uint32_t job)
      : workload_(workload), rules_(rules), job_(job) {}

  /// The class that the rules give this work; what it has where no rule fits.
  std::uint8_t class_of(const WorkNode& work) const {
    for (const Rule& rule : rules_) {
      if (fits(rule, work)) return rule.traffic_class;
    }
    return work.traffic_class;
  }

 private:
  bool fits(const Rule& rule, const WorkNode& work) const {
    const bool collective = work.kind == WorkKind::collective;
    const std::uint64_t bytes = collective ? workload_.collectives[work.match].bytes : work.bytes;
    if (bytes < rule.least_bytes || bytes > rule.most_bytes) return false;
    if (rule.job && *rule.job != job_) return false;
    if (rule.tag && (collective || *rule.tag != work.tag)) return false;
    if (rule.kind) {
      const std::string_view kind = collective ? to_string(workload_.collectives[work.match].kind) : kMessage;
      if (*rule.kind != kind) return false;
    }
    return !rule.ranks || inside(*rule.ranks, work);
  }
  bool inside(const std::pair<std::uint32_t, std::uint32_t>& ranks, const WorkNode& work) const {
    const auto is_member = [&](std::uint32_t rank) { return rank >= ranks.first && rank <= ranks.second; };
    if (work.kind != WorkKind::collective) return is_member(work.rank) && is_member(work.peer);
    const std::vector<std::uint32_t>& members = workload_.groups[workload_.collectives[work.match].group].ranks;
    return std::all_of(members.begin(), members.end(), is_member);
  }

  Workload& workload_;
  const std::vector<Rule>& rules_;
  std::uint32_t job_;
};

}  // namespace

void classify(Workload& workload, const TrafficClasses& classes, std::uint32_t job) {
  const std::vector<Rule> rules = RuleReader(classes).run();
  const Classifier classifier(workload, rules, job);
  const auto highest = static_cast<std::uint8_t>(classes.count - 1);
  for (WorkNode& work : workload.nodes) {
    work.job = static_cast<std::uint8_t>(job);
    if (work.kind != WorkKind::compute) work.traffic_class = std::min(classifier.class_of(work), highest);
  }
}

}  // namespace mrc
