#include "traffic/flow_csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "parameters/quantity.h"
#include "traffic/line_reader.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"
#include "traffic/workload_builder.h"

namespace mrc {
namespace {

constexpr std::array<std::string_view, 6> kColumns{"start_us", "src", "dst", "bytes", "tag", "priority"};
constexpr std::size_t kColumnsWithoutPriority = 5;

class Line {
 public:
  Line(std::string_view text, std::string place, std::string_view header, std::size_t columns)
      : place_(std::move(place)) {
    for (std::size_t i = 0; i < columns; ++i) {
      const std::size_t comma = text.find(',');
      const bool last = i + 1 == columns;
      if (last != (comma == std::string_view::npos)) {
        throw TraceError(place_,
                         fmt::format("expected {} fields ({}), found {}", columns, header,
                                     i + 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), ','))));
      }
      fields_[i] = text.substr(0, comma);
      if (!last) text.remove_prefix(comma + 1);
    }
  }

  template <typename Number>
  Number get(std::size_t column, Number minimum, Number maximum) const {
    const std::string_view text = fields_[column];
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    // Written so that not-a-number is refused too.
    const bool inside = value >= minimum && value <= maximum;
    if (error == std::errc() && end == text.data() + text.size() && inside) return value;
    refuse(column, std::is_integral_v<Number> ? "an integer" : "a decimal number", minimum, maximum);
  }
  /// A size, alone or with a unit.
  std::uint64_t get_bytes(std::size_t column, std::uint64_t minimum, std::uint64_t maximum) const {
    const std::string_view text = fields_[column];
    const std::int64_t bytes = parse_bytes(text).value_or(-1);
    if (bytes >= 0 && static_cast<std::uint64_t>(bytes) >= minimum && static_cast<std::uint64_t>(bytes) <= maximum) {
      return static_cast<std::uint64_t>(bytes);
    }
    const bool has_unit = !unit_behind_number(text).value_or("").empty();
    refuse(column, "an integer", minimum, maximum,
           has_unit ? fmt::format("; units: {}", fmt::join(units_for("bytes"), ", ")) : "");
  }

 private:
  template <typename Number>
  [[noreturn]] void refuse(std::size_t column, std::string_view kind, Number minimum, Number maximum,
                           const std::string& hint = "") const {
    throw TraceError(place_, fmt::format("column {} is \"{}\"; allowed: {} {} … {}{}", kColumns[column],
                                         fields_[column], kind, minimum, maximum, hint));
  }

  std::string place_;
  std::array<std::string_view, kColumns.size()> fields_;
};

}  // namespace

Workload read_flow_csv(std::istream& in, const std::string& name, const ReadOptions& options) {
  LineReader lines(in, name);
  const bool has_line = lines.next();
  const bool has_priority = has_line && lines.text() == kFlowCsvPriorityHeader;
  if (!has_line || (lines.text() != kFlowCsvHeader && !has_priority)) {
    throw TraceError(name + ":1",
                     fmt::format("expected the header line {}, with or without ,priority", kFlowCsvHeader));
  }
  const std::string_view header = has_priority ? kFlowCsvPriorityHeader : kFlowCsvHeader;
  const std::size_t columns = has_priority ? kColumns.size() : kColumnsWithoutPriority;
  WorkloadBuilder builder(options.totals);
  std::uint32_t ranks = 0;
  while (lines.next()) {
    if (options.rows != 0 && builder.size() == options.rows) break;
    const Line fields(lines.text(), lines.place(), header, columns);
    WorkNode node;
    node.kind = WorkKind::send;
    node.earliest = static_cast<TimePs>(fields.get<double>(0, 0.0, static_cast<double>(kMostTraceTimeUs)) * 1e6 + 0.5);
    node.rank = static_cast<std::uint32_t>(fields.get<std::uint64_t>(1, 0, kMostRank));
    node.peer = static_cast<std::uint32_t>(fields.get<std::uint64_t>(2, 0, kMostRank));
    node.bytes = fields.get_bytes(3, 1, kMostMessageBytes);
    node.tag = static_cast<std::uint32_t>(fields.get<std::uint64_t>(4, 0, 0xFFFF'FFFF));
    if (has_priority) node.traffic_class = static_cast<std::uint8_t>(fields.get<std::uint64_t>(5, 0, kMostPriority));
    node.origin = lines.number();
    if (node.rank == node.peer) {
      throw TraceError(lines.place(), fmt::format("src and dst are both {}; a flow needs two ranks", node.rank));
    }
    ranks = std::max({ranks, node.rank + 1, node.peer + 1});
    if (!builder.counts_only() && builder.size() == kMostWorkNodes)
      throw TraceError(lines.place(), fmt::format("more than {} flows", kMostWorkNodes));
    builder.add(node);
  }
  if (builder.size() == 0) throw TraceError(name, "holds no flow");
  return builder.finish(ranks);
}

std::string flow_csv_text(const Workload& workload, const std::vector<TimePs>& starts) {
  std::vector<std::uint32_t> sends;
  for (std::uint32_t i = 0; i < workload.nodes.size(); ++i) {
    if (workload.nodes[i].kind == WorkKind::send) sends.push_back(i);
  }
  std::stable_sort(sends.begin(), sends.end(), [&](std::uint32_t a, std::uint32_t b) { return starts[a] < starts[b]; });
  const bool has_priority =
      std::any_of(sends.begin(), sends.end(), [&](std::uint32_t i) { return workload.nodes[i].traffic_class != 0; });
  std::string text(has_priority ? kFlowCsvPriorityHeader : kFlowCsvHeader);
  text += '\n';
  for (const std::uint32_t i : sends) {
    const WorkNode& node = workload.nodes[i];
    text += fmt::format("{}.{:06},{},{},{},{}", starts[i] / kPsPerUs, starts[i] % kPsPerUs, node.rank, node.peer,
                        node.bytes, node.tag);
    text += has_priority ? fmt::format(",{}\n", node.traffic_class) : "\n";
  }
  return text;
}

}  // namespace mrc
