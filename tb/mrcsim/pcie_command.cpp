#include "mrcsim/pcie_command.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "mrcsim/experiment_plot.h"
#include "mrcsim/option_checks.h"
#include "mrcsim/pcie_plot.h"
#include "mrcsim/progress.h"
#include "parameters/quantity.h"
#include "parameters/scenario.h"
#include "pcie/pcie_experiment.h"
#include "results/output_file.h"

namespace mrc {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kMostBytes = 65'535;
constexpr std::uint64_t kMostWindowBytes = 1ULL << 30;
constexpr std::size_t kMostPoints = 4096;

struct PcieOptions {
  std::string scenario;
  std::vector<std::string> assignments;
  std::vector<std::string> tests{"read_latency", "read_bandwidth", "write_bandwidth"};
  std::vector<std::string> bytes{"64", "128", "256", "512", "1024", "2048"};
  std::vector<std::string> offsets{"0"};
  std::vector<std::string> windows{"8KiB"};
  std::vector<std::string> patterns{"random"};
  std::vector<std::string> caches;
  std::vector<std::string> nodes;
  std::vector<std::string> memories{"host"};
  std::uint32_t transfers = 20'000;
  std::string format = "table";
  std::string plot;
};

/// A point with the host that it finds.
struct PciePointRow {
  PciePoint point;
  NodeConfig node;
  PcieClosedForm form;
  PcieMeasurement measured;
};

std::uint64_t bytes_of(const char* option, const std::string& text, std::uint64_t least, std::uint64_t most) {
  const std::optional<std::int64_t> bytes = parse_bytes(text);
  if (bytes && *bytes >= 0 && static_cast<std::uint64_t>(*bytes) >= least &&
      static_cast<std::uint64_t>(*bytes) <= most) {
    return static_cast<std::uint64_t>(*bytes);
  }
  throw ParameterError(fmt::format("{} {}", option, text),
                       fmt::format("is not allowed; allowed: {} … {} bytes", least, most));
}

template <typename Enum>
Enum word_of(const std::string& word, const std::vector<std::string>& words) {
  return static_cast<Enum>(std::find(words.begin(), words.end(), word) - words.begin());
}

void check(const PciePointRow& row) {
  const PciePoint& point = row.point;
  if (point.units() == 0) {
    throw ParameterError(fmt::format("--window {}", point.window_bytes),
                         fmt::format("holds no transfer of {} bytes at offset {}; allowed: {} or more", point.bytes,
                                     point.offset_bytes, point.unit_bytes()));
  }
  const std::uint64_t room = row.node.pcie.completion_buffer_bytes;
  if (point.bytes > room) {
    throw ParameterError(fmt::format("--bytes {}", point.bytes),
                         fmt::format("does not fit pcie.completion_buffer_bytes = {}", room));
  }
  if (point.peer_memory && row.node.host.peer.read_ns == 0) {
    throw ParameterError("--memory accelerator", "needs its latency: host.peer.read_ns is 0");
  }
}

std::vector<PciePointRow> rows_of(const PcieOptions& options, const NodeConfig& node) {
  const std::vector<std::string> as_scenario{""};
  const std::vector<std::string>& caches = options.caches.empty() ? as_scenario : options.caches;
  const std::vector<std::string>& nodes = options.nodes.empty() ? as_scenario : options.nodes;
  if (!options.caches.empty() && node.host.cache.bytes == 0) {
    throw ParameterError("--cache " + caches.front(), "needs a cache: host.cache.bytes is 0");
  }
  const std::size_t points = options.memories.size() * options.tests.size() * options.patterns.size() * caches.size() *
                             nodes.size() * options.windows.size() * options.offsets.size() * options.bytes.size();
  if (points > kMostPoints) {
    throw ParameterError(fmt::format("{} points", points), fmt::format("are too many; allowed: {}", kMostPoints));
  }
  std::vector<PciePointRow> rows;
  for (const std::string& memory : options.memories)
    for (const std::string& test : options.tests)
      for (const std::string& pattern : options.patterns)
        for (const std::string& cache : caches)
          for (const std::string& socket : nodes)
            for (const std::string& window : options.windows)
              for (const std::string& offset : options.offsets)
                for (const std::string& bytes : options.bytes) {
                  PciePointRow row;
                  row.point.test = word_of<PcieTest>(test, pcie_test_words());
                  row.point.pattern = word_of<AccessPattern>(pattern, access_pattern_words());
                  row.point.window_bytes = bytes_of("--window", window, 1, kMostWindowBytes);
                  row.point.offset_bytes = static_cast<std::uint32_t>(bytes_of("--offset", offset, 0, 4095));
                  row.point.bytes = static_cast<std::uint32_t>(bytes_of("--bytes", bytes, 1, kMostBytes));
                  PciePlace place;
                  read_cache_word(cache, place);
                  read_memory_word(socket, row.point, place);
                  row.point.peer_memory = memory == "accelerator";
                  row.node = node;
                  put_at(place, row.node.host);
                  check(row);
                  row.form = pcie_closed_form(row.node, row.point);
                  rows.push_back(std::move(row));
                }
  return rows;
}

void measure(std::vector<PciePointRow>& rows, const PcieOptions& options, const ScenarioConfig& scenario) {
  ProgressLine progress(options.format == "table");
  std::vector<std::unique_ptr<PcieExperiment>> experiments;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto on_progress = [&progress, i, all = rows.size(), transfers = options.transfers](std::uint64_t done) {
      const double share = static_cast<double>(done) / static_cast<double>(transfers);
      progress.update((static_cast<double>(i) + share) / static_cast<double>(all),
                      fmt::format("point {} of {}", i + 1, all));
    };
    experiments.push_back(std::make_unique<PcieExperiment>(fmt::format("point{}", i), rows[i].node, rows[i].point,
                                                           scenario.seed, options.transfers, scenario.run.kernel,
                                                           on_progress));
  }
  run_pcie_experiments();
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].measured = experiments[i]->measured();
}

std::string cache_word(const PciePointRow& row) {
  return cache_word(row.node.host);
}

std::string node_word(const PciePointRow& row) {
  return memory_word(row.point, row.node.host);
}

const std::string& test_word(const PciePointRow& row) {
  return pcie_test_words()[static_cast<std::size_t>(row.point.test)];
}

std::string pattern_word(const PciePointRow& row) {
  return access_pattern_words()[static_cast<std::size_t>(row.point.pattern)];
}

void print_table(const std::vector<PciePointRow>& rows) {
  const auto print_head = [](bool latency) {
    fmt::print("{:<19} {:<10} {:<5} {:<6} {:>10} {:>6} {:>6}  ", "test", "pattern", "cache", "node", "window", "offset",
               "bytes");
    if (latency) {
      fmt::print("{:>9} {:>9} {:>9} {:>9} {:>9} {:>12}\n", "min ns", "median", "mean", "p99", "p99.9", "closed form");
    } else {
      fmt::print("{:>9} {:>12} {:>9} {:>7}  {}\n", "Gb/s", "closed form", "link", "share", "bound by");
    }
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const PciePointRow& row = rows[i];
    const bool latency = is_latency(row.point.test);
    if (i == 0 || is_latency(rows[i - 1].point.test) != latency) print_head(latency);
    fmt::print("{:<19} {:<10} {:<5} {:<6} {:>10} {:>6} {:>6}  ", test_word(row), pattern_word(row), cache_word(row),
               node_word(row), row.point.window_bytes, row.point.offset_bytes, row.point.bytes);
    const PcieMeasurement& m = row.measured;
    if (latency) {
      fmt::print("{:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} {:>12.1f}\n", m.quantile_ns(0), m.quantile_ns(0.5),
                 m.mean_ns, m.quantile_ns(0.99), m.quantile_ns(0.999), row.form.latency_ns);
    } else {
      fmt::print("{:>9.2f} {:>12.2f} {:>9.2f} {:>6.1f}%  {}\n", m.gbps, row.form.gbps, row.form.link_gbps,
                 100.0 * m.gbps / row.form.gbps, row.form.bound_by);
    }
  }
}

void print_csv(const std::vector<PciePointRow>& rows) {
  fmt::print(
      "test,pattern,cache,node,window_bytes,offset_bytes,bytes,transfers,gbps,closed_form_gbps,link_gbps,bound_by,"
      "min_ns,median_ns,mean_ns,p95_ns,p99_ns,p999_ns,max_ns,closed_form_ns,iotlb_lookups,page_walks,cache_misses,"
      "cache_evictions,table_lookups,table_misses,translation_lookups,translation_misses\n");
  for (const PciePointRow& row : rows) {
    const PcieMeasurement& m = row.measured;
    fmt::print("{},{},{},{},{},{},{},{},", test_word(row), pattern_word(row), cache_word(row), node_word(row),
               row.point.window_bytes, row.point.offset_bytes, row.point.bytes, m.transfers);
    if (is_latency(row.point.test)) {
      fmt::print(",,,,{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},", m.quantile_ns(0), m.quantile_ns(0.5),
                 m.mean_ns, m.quantile_ns(0.95), m.quantile_ns(0.99), m.quantile_ns(0.999), m.quantile_ns(1),
                 row.form.latency_ns);
    } else {
      fmt::print("{:.4f},{:.4f},{:.4f},{},,,,,,,,,", m.gbps, row.form.gbps, row.form.link_gbps, row.form.bound_by);
    }
    fmt::print("{},{},{},{},{},{},{},{}\n", m.iotlb_lookups, m.page_walks, m.cache_misses, m.cache_evictions,
               m.table_lookups, m.table_misses, m.translation_lookups, m.translation_misses);
  }
}

void print_json(const std::vector<PciePointRow>& rows, const PcieOptions& options, const ScenarioConfig& scenario) {
  Json all{{"scenario", options.scenario}, {"seed", scenario.seed}, {"points", Json::array()}};
  for (const PciePointRow& row : rows) {
    const PcieMeasurement& m = row.measured;
    Json point{{"test", test_word(row)},
               {"pattern", pattern_word(row)},
               {"cache", cache_word(row)},
               {"node", node_word(row)},
               {"window_bytes", row.point.window_bytes},
               {"offset_bytes", row.point.offset_bytes},
               {"bytes", row.point.bytes},
               {"transfers", m.transfers}};
    if (is_latency(row.point.test)) {
      point["mean_ns"] = m.mean_ns;
      point["closed_form_ns"] = row.form.latency_ns;
      point["distribution_ns"] = Json::array();
      for (const auto& [share, ns] : m.quantiles_ns) point["distribution_ns"].push_back({{"share", share}, {"ns", ns}});
    } else {
      point["gbps"] = m.gbps;
      point["closed_form_gbps"] = row.form.gbps;
      point["link_gbps"] = row.form.link_gbps;
      point["bound_by"] = row.form.bound_by;
    }
    point["host"] = {{"iotlb_lookups", m.iotlb_lookups},
                     {"page_walks", m.page_walks},
                     {"cache_misses", m.cache_misses},
                     {"cache_evictions", m.cache_evictions}};
    if (m.table_lookups > 0) point["nic"]["table"] = {{"lookups", m.table_lookups}, {"misses", m.table_misses}};
    if (m.translation_lookups > 0) {
      point["nic"]["translations"] = {{"lookups", m.translation_lookups}, {"misses", m.translation_misses}};
    }
    all["points"].push_back(std::move(point));
  }
  fmt::print("{}\n", all.dump(2));
}

/// What tells the hosts of the points apart, without the words that all have.
std::string where_of(const PciePointRow& row, const std::vector<PciePointRow>& rows) {
  std::string where;
  using Word = std::string (*)(const PciePointRow&);
  for (const Word word : {Word(pattern_word), Word(cache_word), Word(node_word)}) {
    const bool differs = std::any_of(rows.begin(), rows.end(),
                                     [&](const PciePointRow& other) { return word(other) != word(rows.front()); });
    if (differs) where += (where.empty() ? "" : ", ") + word(row);
  }
  return where;
}

/// FILE.svg, and FILE-2.svg where there are bandwidths and latencies.
std::vector<std::string> plot_paths(const PcieOptions& options, const std::vector<PciePointRow>& rows) {
  if (options.plot.empty()) return {};
  const std::filesystem::path path(options.plot);
  std::vector<std::string> paths{options.plot};
  const bool first = is_latency(rows.front().point.test);
  const bool both = std::any_of(rows.begin(), rows.end(),
                                [&](const PciePointRow& row) { return is_latency(row.point.test) != first; });
  if (both) paths.push_back((path.parent_path() / (path.stem().string() + "-2.svg")).string());
  return paths;
}

void write_plots(const std::vector<std::string>& paths, const std::vector<PciePointRow>& rows) {
  std::vector<PciePlotPoint> points;
  for (const PciePointRow& row : rows) {
    const bool latency = is_latency(row.point.test);
    points.push_back({.test = test_word(row),
                      .where = where_of(row, rows),
                      .window_bytes = static_cast<double>(row.point.window_bytes),
                      .offset_bytes = static_cast<double>(row.point.offset_bytes),
                      .bytes = static_cast<double>(row.point.bytes),
                      .latency = latency,
                      .measured = latency ? row.measured.quantile_ns(0.5) : row.measured.gbps,
                      .closed_form = latency ? row.form.latency_ns : row.form.gbps});
  }
  const std::vector<std::string> plots = pcie_plots(points);
  for (std::size_t i = 0; i < plots.size(); ++i) write_whole_file(paths[i], plots[i], kPlotFile);
}

void run(const PcieOptions& options) {
  // A host alone needs no traffic.
  ScenarioOverrides overrides{{"traffic.trace=none"}, {}};
  overrides.assignments.insert(overrides.assignments.end(), options.assignments.begin(), options.assignments.end());
  const ScenarioConfig scenario =
      options.scenario.empty() ? make_scenario(overrides) : load_scenario(options.scenario, overrides);
  std::vector<PciePointRow> rows = rows_of(options, scenario.node_default);
  const std::vector<std::string> plots = plot_paths(options, rows);
  for (const std::string& path : plots) check_writable(path, kPlotFile);
  measure(rows, options, scenario);
  if (!plots.empty()) write_plots(plots, rows);
  if (options.format == "table") print_table(rows);
  if (options.format == "csv") print_csv(rows);
  if (options.format == "json") print_json(rows, options, scenario);
}

}  // namespace

void add_pcie_command(CLI::App& app) {
  auto options = std::make_shared<PcieOptions>();
  CLI::App* command =
      app.add_subcommand("pcie", "Measure latency and bandwidth of PCIe and host alone, over size, window and cache");
  command->add_option("SCENARIO", options->scenario, "scenario file (TOML); default: the defaults of all parameters");
  command->add_option("--set", options->assignments, "key=value; wins over the file, may be repeated")
      ->take_all()
      ->expected(1, -1);
  const auto list = [command](const char* name, std::vector<std::string>& values, const char* description) {
    return command->add_option(name, values, description)->delimiter(',')->expected(1, -1);
  };
  list("--test", options->tests, "tests; default: read_latency, read_bandwidth, write_bandwidth")
      ->check(CLI::IsMember(pcie_test_words()));
  list("--bytes", options->bytes, "sizes of a transfer; default: 64 to 2048");
  list("--offset", options->offsets, "bytes from a cache line's begin to the transfer's; default: 0");
  list("--window", options->windows, "sizes of the memory that the transfers use; default: 8KiB");
  list("--pattern", options->patterns, "order of the transfers' addresses; default: random")
      ->check(CLI::IsMember(access_pattern_words()));
  list("--cache", options->caches, "what the host's cache holds at first; default: host.cache.state")
      ->check(CLI::IsMember({"warm", "cold"}));
  list("--node", options->nodes, "socket of the memory; default: host.numa.remote_share")
      ->check(CLI::IsMember({"local", "remote"}));
  list("--memory", options->memories, "whose memory it is; default: host")
      ->check(CLI::IsMember({"host", "accelerator"}));
  command->add_option("--transfers", options->transfers, "transfers of a point; default: 20000")
      ->check(allow_number("100 … 100000000", [](double value) { return value >= 100 && value <= 1e8; }));
  command->add_option("--format", options->format, "table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}));
  command->add_option(
      "--plot", options->plot,
      "FILE.svg: results and closed form over size, window or offset; with bandwidths and latencies, the "
      "latencies in FILE-2.svg");
  command->callback([options] { run(*options); });
}

}  // namespace mrc
