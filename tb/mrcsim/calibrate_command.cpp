#include "mrcsim/calibrate_command.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
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
#include "study/interruption.h"
#include "study/study_error.h"

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

std::string title_of(const RtlBlock& block, const Calibration& calibration) {
  return std::string(block.name) + (calibration.way[0] == 0 ? "" : ": ") + calibration.way;
}

std::string table(const RtlBlock& block, const Calibration& calibration, const std::vector<cosim::CalibrationRow>& rows,
                  const std::vector<std::string>& sizes) {
  std::string text = fmt::format(
      "\n## {}\n\n| sizes | load | output taken | RTL mean | SystemC mean | error | RTL p99 | SystemC p99 | RTL per "
      "cycle "
      "| SystemC per cycle | error | within |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      title_of(block, calibration));
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
        measured.rows.push_back(cosim::calibrate(*model, point, calibration.pipeline(NodeConfig()), calibration.stages,
                                                 check_interruption));
        measured.sizes.push_back(size);
      }
    }
  }
  return measured;
}

/// The value that a parameter has by default.
std::int64_t default_of(const char* parameter) {
  return std::get<std::int64_t>(find_parameter(parameter)->get(ScenarioConfig(), NodeConfig()));
}

/// `charged`: what of it the box charges here.
std::string setting(const char* parameter, std::uint64_t charged) {
  const std::int64_t value = default_of(parameter);
  const std::int64_t elsewhere = value - static_cast<std::int64_t>(charged);
  return fmt::format("{} = {}{}", parameter, value,
                     elsewhere > 0 ? fmt::format(", {} of which belong to another block", elsewhere) : "");
}

/// What was measured against what the model uses, and what to set where the two differ. Of the latency the row with the
/// least load says most, of the interval that with the most; both with outputs that are taken at once.
struct Verdict {
  std::string measured;
  std::vector<std::string> to_set;
};

void propose(const char* parameter, double rtl_minus_model, Verdict& verdict) {
  if (parameter[0] == 0) return;
  const auto more = static_cast<std::int64_t>(std::llround(rtl_minus_model));
  if (more == 0) return;
  verdict.to_set.push_back(fmt::format("{}={}", parameter, std::max<std::int64_t>(default_of(parameter) + more, 0)));
}

Verdict verdict_of(const Calibration& calibration, const std::vector<cosim::CalibrationRow>& rows) {
  // The rows of the last size: at 10, 50, 90 and 100 % load with outputs taken at once, then with back-pressure.
  const cosim::CalibrationRow& idle = rows[rows.size() - kRowsASize];
  const cosim::CalibrationRow& full = rows[rows.size() - kRowsASize + 3];
  const double rtl_interval = 1 / full.rtl.throughput;
  const double model_interval = 1 / full.systemc.throughput;
  const cosim::SystemcCycles model = calibration.pipeline(NodeConfig());
  Verdict verdict;
  verdict.measured = fmt::format(
      "latency {:.2f} cycles in RTL, {:.2f} in the model ({}); one transfer per {:.2f} cycles in RTL, per {:.2f} in "
      "the model{}",
      idle.rtl.mean_latency, idle.systemc.mean_latency, setting(calibration.latency_parameter, model.latency),
      rtl_interval, model_interval,
      calibration.interval_parameter[0] == 0
          ? ""
          : fmt::format(" ({})", setting(calibration.interval_parameter, model.occupied)));
  if (std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.within_limits(); })) return verdict;
  propose(calibration.latency_parameter, -idle.mean_error_cycles(), verdict);
  propose(calibration.interval_parameter, rtl_interval - model_interval, verdict);
  if (verdict.to_set.empty()) {
    verdict.to_set.push_back(fmt::format("no value of {} or its interval: the table shows at which load they differ",
                                         calibration.latency_parameter));
  }
  return verdict;
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
  catch_interruption();
  std::string measured_lines;
  std::vector<std::string> to_set;
  std::size_t points = 0;
  std::size_t outside = 0;
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
      points += measured.rows.size();
      outside += static_cast<std::size_t>(std::count_if(measured.rows.begin(), measured.rows.end(),
                                                        [](const auto& row) { return !row.within_limits(); }));
      const Verdict verdict = verdict_of(calibration, measured.rows);
      to_set.insert(to_set.end(), verdict.to_set.begin(), verdict.to_set.end());
      measured_lines += fmt::format("{}: {}\n", title_of(block, calibration), verdict.measured);
      text += table(block, calibration, measured.rows, measured.sizes);
    }
  }
  progress.finish();
  if (options.out.empty()) {
    fmt::print("{}", text);
  } else {
    write_whole_file(options.out, text, kTables);
  }
  fmt::print("\n{}", measured_lines);
  if (outside == 0) {
    fmt::print("Verdict: agree: at all {} points of {} the model is within the limits of the RTL; nothing to set\n",
               points, fmt::join(chosen, ", "));
    return kExitOk;
  }
  fmt::print("Verdict: differ: at {} of {} points of {} the model is outside the limits; to set: {}\n", outside, points,
             fmt::join(chosen, ", "), fmt::join(to_set, " "));
  std::fflush(stdout);
  fmt::print(stderr, "mrcsim: mismatch: the cycles of {} in the model differ from the RTL by more than the limits\n",
             fmt::join(chosen, ", "));
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
  command->callback([options, &exit_code] {
    try {
      exit_code = run(*options);
    } catch (const StudyInterrupted&) {
      fmt::print(stderr, "mrcsim: interrupted; nothing was written\n");
      exit_code = kExitInterrupted;
    }
  });
}

}  // namespace mrc
