#include "mrcsim/latency_command.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "latency/latency_terms.h"
#include "mrcsim/option_checks.h"
#include "parameters/scenario.h"

namespace mrc {
namespace {

struct LatencyOptions {
  std::string scenario;
  std::vector<std::string> assignments;
  std::uint32_t bytes = kSmallWriteBytes;
};

void print_terms(const LatencyOptions& options) {
  const ScenarioConfig scenario = load_scenario(options.scenario, {options.assignments, {}});
  require_latency_terms(scenario, options.bytes, fmt::format("latency --bytes {}", options.bytes));
  LatencyTerm sum;
  fmt::print("{:<16} {:>9} {:>9} {:>9}  {:<11} {}\n", "term", "ns", "low", "high", "source", "from");
  for (const LatencyTerm& t : latency_terms(scenario, options.bytes)) {
    fmt::print("{:<16} {:>9.1f} {:>9.1f} {:>9.1f}  {:<11} {}\n", t.term, t.ns, t.low_ns, t.high_ns, t.source, t.from);
    sum.ns += t.ns;
    sum.low_ns += t.low_ns;
    sum.high_ns += t.high_ns;
  }
  fmt::print("{:<16} {:>9.1f} {:>9.1f} {:>9.1f}\n", "sum", sum.ns, sum.low_ns, sum.high_ns);
}

}  // namespace

void add_latency_command(CLI::App& app) {
  auto options = std::make_shared<LatencyOptions>();
  CLI::App* command = app.add_subcommand("latency", "List the latency terms of a small write, with range and source");
  command->add_option("SCENARIO", options->scenario, "scenario file (TOML)")->required();
  command->add_option("--set", options->assignments, "key=value; wins over the file, may be repeated")
      ->take_all()
      ->expected(1, -1);
  command->add_option("--bytes", options->bytes, "length of the write, at most protocol.mtu_bytes")
      ->check(positive_number());
  command->callback([options] { print_terms(*options); });
}

}  // namespace mrc
