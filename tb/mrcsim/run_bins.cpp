#include "mrcsim/run_bins.h"

#include <algorithm>

#include <fmt/format.h>

#include "cosim/rtl_blocks.h"
#include "cosim/rtl_modules.h"
#include "mrcsim/coverage_json.h"

namespace mrc {
namespace {

/// Adds one trace, played to the block alone, to what is known of the block.
void play_trace(const cosim::Trace& trace, const std::function<bool()>& stopped, NodeId node, BlockBins& found) {
  const std::unique_ptr<cosim::StreamBench> bench = cosim::make_bench(found.block, "default");
  // Before the bench adds its own points.
  if (found.coverage.points().empty()) found.coverage = bench->model().coverage;
  if (trace.offers.empty()) return;
  cosim::CosimOptions options;
  // Each time with different back-pressure.
  options.count = cosim::kTraceLoads * trace.offers.size();
  options.shorten = false;
  options.trace = trace;
  options.stopped = stopped;
  const cosim::CosimReport report = bench->run(options);
  found.transfers += report.transactions;
  found.coverage.add_hits(report.coverage);
  if (report.first_mismatch && found.mismatch.empty()) {
    found.mismatch = fmt::format("nic{}: {}", node, report.first_mismatch->line());
  }
}

}  // namespace

RunBins::RunBins(const std::vector<RtlSelection>& selections) {
  std::vector<std::string> blocks;
  for (const RtlSelection& selection : selections) {
    if (selection.mode != RtlMode::shadow) continue;
    if (std::ranges::find(blocks, selection.block) == blocks.end()) blocks.push_back(selection.block);
    recorded_.push_back({selection.block, selection.node, std::make_unique<cosim::Trace>()});
  }
  require_rtl_modules(RtlModuleKind::bench_default, blocks);
  for (const std::string& block : blocks) require_same_sources(block, RtlModuleKind::bench_default);
}

void RunBins::add_rtl(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl) {
  const auto of = std::ranges::find_if(recorded_, [&](const Recorded& recorded) {
    return recorded.block == selection.block && recorded.node == selection.node;
  });
  if (of == recorded_.end()) return mrc::add_rtl(selection, scenario, rtl);
  add_recorded_rtl(selection, scenario, cosim::TraceRecorder(*of->trace, kMostTransfers), rtl);
}

std::vector<BlockBins> RunBins::play(const std::function<bool()>& stopped,
                                     const std::function<void(double)>& progress) const {
  std::vector<BlockBins> found;
  std::size_t played = 0;
  std::size_t all = 0;
  for (const Recorded& recorded : recorded_) all += recorded.trace->offers.size();
  for (const Recorded& recorded : recorded_) {
    auto of = std::ranges::find(found, recorded.block, &BlockBins::block);
    if (of == found.end()) {
      of = found.emplace(found.end());
      of->block = recorded.block;
    }
    progress(static_cast<double>(played) / static_cast<double>(std::max<std::size_t>(all, 1)));
    play_trace(*recorded.trace, stopped, recorded.node, *of);
    played += recorded.trace->offers.size();
  }
  return found;
}

std::string bins_json(const std::vector<BlockBins>& blocks) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const BlockBins& block : blocks) {
    Json entry{{"block", block.block}, {"transfers", block.transfers}};
    entry["mismatch"] = block.mismatch.empty() ? Json(nullptr) : Json(block.mismatch);
    entry["functional_coverage"] = coverage_json(block.coverage);
    list.push_back(std::move(entry));
  }
  return Json{{"schema_version", 1}, {"blocks", list}}.dump(2) + "\n";
}

std::string bins_text(const std::vector<BlockBins>& blocks, const std::string& file) {
  std::string text;
  std::uint64_t bins = 0;
  std::uint64_t hit = 0;
  const auto add = [&](const std::string& of, std::uint64_t h, std::uint64_t b, const std::string& more) {
    text += fmt::format("  {:<10} {:<18} {:>4} of {:>4} hit{}\n", text.empty() ? "bins" : "", of, h, b, more);
  };
  for (const BlockBins& block : blocks) {
    bins += block.coverage.bins();
    hit += block.coverage.bins_hit();
    add(block.block, block.coverage.bins_hit(), block.coverage.bins(),
        fmt::format(" by {} transfers", block.transfers));
  }
  add("all", hit, bins,
      fmt::format(", {:.1f} %; each of them: {}",
                  100.0 * static_cast<double>(hit) / static_cast<double>(std::max<std::uint64_t>(bins, 1)), file));
  for (const BlockBins& block : blocks) {
    if (block.mismatch.empty()) continue;
    text +=
        fmt::format("  {:<10} {} alone, asked what this run asks it: {}\n", "mismatch", block.block, block.mismatch);
  }
  return text;
}

}  // namespace mrc
