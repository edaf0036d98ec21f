#include "fit/measured_curves.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "parameters/input_file.h"
#include "parameters/latency_histogram.h"
#include "parameters/parameter_value.h"
#include "traffic/line_reader.h"
#include "traffic/trace_error.h"

namespace mrc {
namespace {

using Words = std::vector<std::string>;

constexpr double kMostBytes = 65'535;
constexpr double kMostWindowBytes = 1 << 30;
constexpr double kTail = 0.95;

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return {};
  return number;
}

Words cells_of(const std::string& line) {
  Words cells{""};
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

/// The lines of a file as somebody reads them, with their place for messages.
class Lines {
 public:
  explicit Lines(const std::string& path) : path_(path) {
    if (const std::string why = why_unreadable(path); !why.empty()) throw ParameterError(path, why);
    std::ifstream file(path);
    LineReader reader(file, path);
    while (next(reader)) lines_.emplace_back(reader.text());
  }
  const std::string& path() const { return path_; }
  std::size_t count() const { return lines_.size(); }
  const std::string& operator[](std::size_t i) const { return lines_[i]; }
  std::string place(std::size_t i) const { return fmt::format("{}:{}", path_, i + 1); }

 private:
  static bool next(LineReader& reader) {
    try {
      return reader.next();
    } catch (const TraceError& error) {
      const std::string place = reader.place();
      throw ParameterError(place, std::string(error.what()).substr(place.size() + 2));
    }
  }

  std::string path_;
  std::vector<std::string> lines_;
};

/// A table with a head: cells by the name of their column.
class Table {
 public:
  Table(const Lines& lines, std::size_t head) : lines_(lines), row_(head) {
    const Words names = cells_of(lines[head]);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!columns_.emplace(names[i], i).second) {
        throw ParameterError(place(), fmt::format("two columns are named {}", printable(names[i])));
      }
    }
  }
  bool next() {
    do {
      if (++row_ >= lines_.count()) return false;
    } while (lines_[row_].empty());
    cells_ = cells_of(lines_[row_]);
    if (cells_.size() < columns_.size()) {
      throw ParameterError(place(), fmt::format("{} cells; the head has {}", cells_.size(), columns_.size()));
    }
    return true;
  }
  std::string place() const { return lines_.place(row_); }
  bool has(const std::string& column) const {
    return columns_.count(column) > 0 && !cells_[columns_.at(column)].empty();
  }
  std::string text(const std::string& column, const std::string& otherwise) const {
    return has(column) ? cells_[columns_.at(column)] : otherwise;
  }
  double number(const std::string& column, double least, double most, std::optional<double> otherwise = {}) const {
    if (!has(column)) {
      if (otherwise) return *otherwise;
      throw ParameterError(place(), fmt::format("the column {} is missing", column));
    }
    const std::string& cell = cells_[columns_.at(column)];
    const std::optional<double> found = number_of(cell);
    if (found && *found >= least && *found <= most) return *found;
    throw ParameterError(place(),
                         fmt::format("{} = {} is not allowed; allowed: {} … {}", column, printable(cell), least, most));
  }
  std::string word(const std::string& column, const Words& allowed, const std::string& otherwise) const {
    const std::string found = text(column, otherwise);
    if (std::find(allowed.begin(), allowed.end(), found) != allowed.end()) return found;
    throw ParameterError(place(), fmt::format("{} = {} is not allowed; allowed: {}; nearest: {}", column,
                                              printable(found), fmt::join(allowed, ", "), nearest(found, allowed)));
  }

 private:
  const Lines& lines_;
  std::size_t row_;
  std::map<std::string, std::size_t> columns_;
  Words cells_;
};

std::string text_of(const MeasuredValue& value) {
  const std::string test = pcie_test_words()[static_cast<std::size_t>(value.point.test)];
  std::string text = fmt::format("{} of {} B in {} B", test, value.point.bytes, value.point.window_bytes);
  if (value.place.cache) text += *value.place.cache == CacheState::warm ? ", warm" : ", cold";
  if (value.place.remote_share || value.point.peer_memory) {
    HostConfig host;
    put_at(value.place, host);
    text += ", " + memory_word(value.point, host);
  }
  if (value.kind == CurveKind::rate) return text;
  return text + (value.share == 0 ? ", mean" : fmt::format(", {:g} %", 100 * value.share));
}

void add(MeasuredCurves& curves, MeasuredValue value, CurveKind kind, double share, double number,
         const std::string& place) {
  if (!(number > 0)) throw ParameterError(place, fmt::format("{} is not a measured value; allowed: above 0", number));
  value.kind = kind;
  value.share = share;
  value.value = number;
  if (value.point.units() == 0) {
    throw ParameterError(
        place, fmt::format("a window of {} B holds no transfer of {} B", value.point.window_bytes, value.point.bytes));
  }
  value.text = text_of(value);
  curves.values.push_back(std::move(value));
}

template <typename Enum>
Enum value_of_word(const std::string& word, const Words& words) {
  return static_cast<Enum>(std::find(words.begin(), words.end(), word) - words.begin());
}

/// What `mrcsim pcie --format csv` writes, or less of it: test, bytes, and the measured columns. Of a latency one value
/// of its middle counts and one of its tail: what else there is says the same.
void read_own_table(const Lines& lines, MeasuredCurves& curves) {
  using Columns = std::vector<std::pair<std::string, double>>;
  static const std::vector<std::pair<CurveKind, Columns>> quantiles{
      {CurveKind::latency, {{"median_ns", 0.5}, {"mean_ns", 0}}},
      {CurveKind::tail, {{"p99_ns", 0.99}, {"p95_ns", 0.95}, {"p999_ns", 0.999}}}};
  for (Table table(lines, 0); table.next();) {
    MeasuredValue value;
    value.point.test = value_of_word<PcieTest>(table.word("test", pcie_test_words(), ""), pcie_test_words());
    value.point.pattern =
        value_of_word<AccessPattern>(table.word("pattern", access_pattern_words(), "random"), access_pattern_words());
    value.point.bytes = static_cast<std::uint32_t>(table.number("bytes", 1, kMostBytes));
    value.point.offset_bytes = static_cast<std::uint32_t>(table.number("offset_bytes", 0, 4095, 0));
    value.point.window_bytes = static_cast<std::uint64_t>(table.number("window_bytes", 1, kMostWindowBytes, 8192));
    read_cache_word(table.word("cache", {"-", "", "warm", "cold"}, ""), value.place);
    const std::string memory = table.text("node", "");
    if (!read_memory_word(memory, value.point, value.place)) {
      throw ParameterError(
          table.place(), fmt::format("node = {} is not allowed; allowed: local, remote, N% remote, accel.; nearest: {}",
                                     printable(memory), nearest(memory, {"local", "remote", "accel."})));
    }
    const std::size_t before = curves.values.size();
    if (is_latency(value.point.test)) {
      for (const auto& [kind, columns] : quantiles) {
        const auto found = std::find_if(columns.begin(), columns.end(),
                                        [&table](const auto& column) { return table.has(column.first); });
        if (found == columns.end()) continue;
        add(curves, value, kind, found->second, table.number(found->first, 0, 1e9), table.place());
      }
    } else if (table.has("gbps")) {
      add(curves, value, CurveKind::rate, 0, table.number("gbps", 0, 1e6), table.place());
    }
    if (curves.values.size() > before) continue;
    throw ParameterError(table.place(), is_latency(value.point.test)
                                            ? "no measured value: median_ns, mean_ns, p95_ns, p99_ns or p999_ns"
                                            : "no measured value: gbps");
  }
}

/// A file of the study: bw_*.csv or lat_*.csv. Its rates are in Gb/s, whatever the head says.
void read_pcie_bench(const Lines& lines, MeasuredCurves& curves) {
  static const std::map<std::string, PcieTest> tests{{"BW_DMA_RD", PcieTest::read_bandwidth},
                                                     {"BW_DMA_WR", PcieTest::write_bandwidth},
                                                     {"BW_DMA_RW", PcieTest::mixed_bandwidth},
                                                     {"LAT_DMA_RD", PcieTest::read_latency},
                                                     {"LAT_DMA_WRRD", PcieTest::write_read_latency}};
  std::map<std::string, std::size_t> unknown;
  for (Table table(lines, 0); table.next();) {
    const std::string test = table.text("Test", "");
    if (test == "Test") continue;  // a second head
    const std::string cache = table.text("Cache", "");
    const auto known = tests.find(test);
    if (known == tests.end() || (cache != "HWarm" && cache != "Cold")) {
      ++unknown[known == tests.end() ? test : cache];
      continue;
    }
    MeasuredValue value;
    value.point.test = known->second;
    value.point.pattern = table.text("PAT", "Rand") == "Seq" ? AccessPattern::sequential : AccessPattern::random;
    value.point.window_bytes = static_cast<std::uint64_t>(table.number("WinSZ", 1, kMostWindowBytes));
    value.point.bytes = static_cast<std::uint32_t>(table.number("SZ", 1, kMostBytes));
    value.point.offset_bytes = static_cast<std::uint32_t>(table.number("HO", 0, 4095, 0));
    value.place.cache = cache == "HWarm" ? CacheState::warm : CacheState::cold;
    if (value.point.units() == 0) {
      ++unknown["transfers larger than their window"];
    } else if (is_latency(value.point.test)) {
      add(curves, value, CurveKind::latency, 0.5, table.number("Med(ns)", 0, 1e9), table.place());
      add(curves, value, CurveKind::tail, 0.95, table.number("95%(ns)", 0, 1e9), table.place());
    } else {
      add(curves, value, CurveKind::rate, 0, table.number("BW (GB/s)", 0, 1e6), table.place());
    }
  }
  for (const auto& [what, rows] : unknown) {
    curves.left_out.push_back(fmt::format("{}: {} rows with {}", lines.path(), rows, printable(what)));
  }
}

void read_histogram(const std::string& path, std::uint32_t bytes, MeasuredCurves& curves) {
  const LatencyHistogram histogram(path);
  for (const double share : {0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99}) {
    MeasuredValue value;
    value.point.test = PcieTest::read_latency;
    value.point.bytes = bytes;
    value.point.window_bytes = std::max<std::uint64_t>(8192, value.point.unit_bytes());
    add(curves, value, share >= kTail ? CurveKind::tail : CurveKind::latency, share, histogram.quantile_ns(share),
        path);
  }
}

/// The table of a latency test of perftest: #bytes … t_typical[usec] …
void read_perftest(const Lines& lines, std::size_t head, MeasuredCurves& curves) {
  const std::vector<std::string_view> columns = words_of(lines[head]);
  const auto wanted = std::find(columns.begin(), columns.end(), "t_typical[usec]");
  const bool writes = std::any_of(&lines[0], &lines[0] + head, [](const std::string& line) {
    return line.find("RDMA_Write Latency Test") != std::string::npos;
  });
  if (wanted == columns.end() || !writes) {
    throw ParameterError(lines.place(head),
                         "of perftest only ib_write_lat is fitted: a title with RDMA_Write Latency Test and a column "
                         "t_typical[usec]; rates of a NIC are what mrcsim run has");
  }
  const auto column = static_cast<std::size_t>(wanted - columns.begin());
  for (std::size_t row = head + 1; row < lines.count(); ++row) {
    const std::vector<std::string_view> words = words_of(lines[row]);
    if (words.size() <= column) continue;  // the line below the table
    const std::optional<double> bytes = number_of(words[0]);
    const std::optional<double> usec = number_of(words[column]);
    if (!bytes || !usec || *bytes < 1 || *bytes > kMostBytes || !(*usec > 0)) {
      throw ParameterError(lines.place(row), fmt::format("{}: expected 1 … {} bytes and microseconds above 0",
                                                         printable(lines[row]), kMostBytes));
    }
    MeasuredValue value;
    value.kind = CurveKind::write_latency;
    value.point.bytes = static_cast<std::uint32_t>(*bytes);
    value.value = 1000 * *usec;
    value.text = fmt::format("ib_write_lat of {} B", value.point.bytes);
    curves.values.push_back(std::move(value));
  }
}

}  // namespace

void read_measured(const std::string& path, std::uint32_t histogram_bytes, MeasuredCurves& curves) {
  const Lines lines(path);
  if (lines.count() == 0) throw ParameterError(path, "is empty");
  for (std::size_t i = 0; i < lines.count(); ++i) {
    const std::size_t text = lines[i].find_first_not_of(' ');
    if (text != std::string::npos && lines[i].compare(text, 6, "#bytes") == 0) return read_perftest(lines, i, curves);
  }
  const Words head = cells_of(lines[0]);
  if (lines[0] == "ns,count") return read_histogram(path, histogram_bytes, curves);
  if (head[0] == "Test") return read_pcie_bench(lines, curves);
  if (std::find(head.begin(), head.end(), "test") != head.end()) return read_own_table(lines, curves);
  throw ParameterError(
      lines.place(0),
      "not a curve that can be fitted; the first line is that of mrcsim pcie --format csv (test, bytes, "
      "gbps, median_ns …), of a pcie-bench file (Test,PAT,…) or of a histogram (ns,count), or the file "
      "is the output of ib_write_lat");
}

}  // namespace mrc
