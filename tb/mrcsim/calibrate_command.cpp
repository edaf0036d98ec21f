#include "mrcsim/calibrate_command.h"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cosim/bench/calibration.h"
#include "cosim/rtl_blocks.h"
#include "cosim/rtl_modules.h"
#include "mrcsim/exit_code.h"
#include "mrcsim/option_checks.h"
#include "mrcsim/progress.h"
#include "parameters/registry.h"
#include "results/output_file.h"

namespace mrc {
namespace {

/// Ways in which outputs are taken, loads.
constexpr std::size_t kRowsASize = 2 * 4;

struct Options {
  std::vector<std::string> blocks;
  std::string out;
  std::string size = "both";
  std::uint64_t transfers = 20'000;
  std::uint64_t seed = 101;
};

std::vector<std::string> sizes_of(const Options& options) {
  if (options.size == "both") return {"small", "default"};
  return {options.size};
}

std::string table(const RtlBlock& block, const Calibration& calibration, const std::vector<cosim::CalibrationRow>& rows,
                  const std::vector<std::string>& sizes) {
  std::string text = fmt::format(
      "\n## {}\n\n| sizes | load | output taken | RTL mean | SystemC mean | error | RTL p99 | SystemC p99 | RTL per "
      "cycle "
      "| SystemC per cycle | error | within |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      std::string(block.name) + (calibration.way[0] == 0 ? "" : ": ") + calibration.way);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const cosim::CalibrationRow& row = rows[i];
    text += fmt::format(
        "| {} | {:.0f} % | {:.0f} % | {:.3f} | {:.3f} | {:+.3f} | {} | {} | {:.5f} | {:.5f} | {:+.3f} % | {} |\n",
        sizes[i], 100 * row.point.load, 100 * row.point.output_ready, row.rtl.mean_latency, row.systemc.mean_latency,
        row.mean_error_cycles(), row.rtl.p99_latency, row.systemc.p99_latency, row.rtl.throughput,
        row.systemc.throughput, 100 * row.throughput_error(), row.within_limits() ? "yes" : "**no**");
  }
  return text;
}

struct Measured {
  std::vector<cosim::CalibrationRow> rows;
  std::vector<std::string> sizes;  ///< of each row
};

/// `about_to_measure` is told the size of each row.
template <typename Report>
Measured measure(const RtlBlock& block, const Calibration& calibration, const Options& options,
                 const Report& about_to_measure) {
  Measured measured;
  std::uint64_t seed = options.seed;
  for (const std::string& size : sizes_of(options)) {
    const std::unique_ptr<cosim::BlockModel> model = cosim::make_bench_model(block.name, size);
    for (const double ready : {1.0, 0.75}) {
      for (const double load : {0.1, 0.5, 0.9, 1.0}) {
        about_to_measure(size);
        const cosim::CalibrationPoint point{
            load, ready, options.transfers, seed++, calibration.in_port, calibration.out_port};
        measured.rows.push_back(
            cosim::calibrate(*model, point, calibration.pipeline(NodeConfig()), calibration.stages));
        measured.sizes.push_back(size);
      }
    }
  }
  return measured;
}

bool is_chosen(const Options& options, const std::string& block) {
  return options.blocks.empty() ||
         std::find(options.blocks.begin(), options.blocks.end(), block) != options.blocks.end();
}

std::size_t chosen_ways(const Options& options) {
  std::size_t ways = 0;
  for (const RtlBlock& block : rtl_blocks()) ways += is_chosen(options, block.name) ? block.calibrations.size() : 0;
  return ways;
}

constexpr FileKind kTables{"a calibration", "Written by `mrcsim calibrate`"};

int run(const Options& options) {
  std::vector<std::string> known;
  for (const RtlBlock& block : rtl_blocks()) {
    if (!block.calibrations.empty()) known.emplace_back(block.name);
  }
  for (const std::string& name : options.blocks) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw std::invalid_argument(fmt::format("calibrate: unknown block {}; blocks: {}; nearest: {}", name,
                                            fmt::join(known, ", "), nearest(name, known)));
  }
  std::vector<std::string> chosen;
  for (const std::string& name : known) {
    if (is_chosen(options, name)) chosen.push_back(name);
  }
  for (const std::string& size : sizes_of(options)) require_rtl_modules(bench_kind(size), chosen);
  std::string text =
      "# SystemC boxes compared with their RTL\n\n"
      "Written by `mrcsim calibrate`; a test checks the limits. Latency in cycles from the acceptance of a transfer to "
      "its\n"
      "response; throughput in transfers per cycle. Both sides get the same transfers in the same cycles and the same\n"
      "back-pressure (`output taken`), with seeds that were not used to choose any value. SystemC: the timing rule of "
      "the\n"
      "box (interval, latency, and the additional cycles of the transfer) with default parameters. Limits: throughput\n"
      "within 1 %, mean within the larger of 2 % and 0.5 cycles, p99 within the larger of 5 % and 1 cycle.\n";
  if (!options.out.empty()) check_writable(options.out, kTables);
  // A table that is printed is a whole document, and these lines come before it.
  for (const std::string& name : chosen) {
    fmt::print("{}\n", rtl_line(rtl_source(bench_kind(sizes_of(options).front()), name)));
  }
  fmt::print("\n");
  std::fflush(stdout);
  bool good = true;
  std::size_t done = 0;
  ProgressLine progress(true);
  for (const RtlBlock& block : rtl_blocks()) {
    if (!is_chosen(options, block.name)) continue;
    for (const Calibration& calibration : block.calibrations) {
      const auto about_to_measure = [&](const std::string& size) {
        progress.update(static_cast<double>(done++) /
                            static_cast<double>(kRowsASize * sizes_of(options).size() * chosen_ways(options)),
                        fmt::format("{}, {} sizes", block.name, size));
      };
      const Measured measured = measure(block, calibration, options, about_to_measure);
      for (const cosim::CalibrationRow& row : measured.rows) good = good && row.within_limits();
      text += table(block, calibration, measured.rows, measured.sizes);
    }
  }
  progress.finish();
  if (options.out.empty()) {
    fmt::print("{}", text);
  } else {
    write_whole_file(options.out, text, kTables);
  }
  if (good) return kExitOk;
  fmt::print(stderr, "mrcsim: mismatch: the cycles of a SystemC box differ from its RTL by more than the limits\n");
  return kExitMismatch;
}

}  // namespace

void add_calibrate_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("calibrate", "Compare the cycles of RTL blocks with their SystemC boxes");
  command->add_option("BLOCK", options->blocks, "blocks; default: all");
  command->add_option("--out", options->out, "file for the table (Markdown); default: print it");
  command->add_option("--size", options->size, "small, default (sizes of the default scenario) or both; default: both")
      ->check(CLI::IsMember({"small", "default", "both"}));
  command->add_option("--count", options->transfers, "transfers per row; default: 20000")->check(positive_number());
  command->add_option("--seed", options->seed, "first seed; each row has its own");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace mrc
