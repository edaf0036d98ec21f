#include "traffic/load_trace.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "parameters/input_file.h"
#include "traffic/astra_reader.h"
#include "traffic/chakra_reader.h"
#include "traffic/flow_csv.h"
#include "traffic/goal_binary_reader.h"
#include "traffic/goal_reader.h"
#include "traffic/htsim_reader.h"
#include "traffic/line_reader.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"
#include "traffic/watched_file.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFlowCsv = "flow_csv";
constexpr std::string_view kChakra = "chakra";
constexpr std::string_view kGoal = "goal";
constexpr std::string_view kGoalBinary = "goal_binary";
constexpr std::string_view kAstra = "astra_text";
constexpr std::string_view kHtsim = "htsim_cm";

/// Files rank 0, 1, … of a pattern, up to the first that does not exist.
std::vector<std::string> files_of_pattern(const std::string& pattern) {
  if (const std::string why = why_unreadable(pattern); why.starts_with("has a NUL")) throw TraceError(pattern, why);
  const std::size_t at = pattern.find(kRankInName);
  std::vector<std::string> files;
  for (;;) {
    std::string name = pattern;
    name.replace(at, kRankInName.size(), std::to_string(files.size()));
    if (!fs::exists(name)) break;
    files.push_back(name);
  }
  if (files.empty()) throw TraceError(pattern, "there is no file for rank 0");
  return files;
}

/// "name.12.et" → 12; -1 for another name.
std::int64_t rank_in_name(const fs::path& file) {
  const std::string stem = file.stem().string();
  const std::size_t dot = stem.rfind('.');
  std::int64_t rank = -1;
  if (file.extension() != ".et" || dot == std::string::npos) return rank;
  const char* end = stem.data() + stem.size();
  const auto parsed = std::from_chars(stem.data() + dot + 1, end, rank);
  return parsed.ec == std::errc() && parsed.ptr == end ? rank : -1;
}

std::vector<std::string> files_of_folder(const std::string& folder) {
  std::map<std::int64_t, std::string> by_rank;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::int64_t rank = rank_in_name(entry.path());
    if (rank < 0) continue;
    const auto [other, added] = by_rank.emplace(rank, entry.path().string());
    if (!added)
      throw TraceError(folder,
                       fmt::format("two files for rank {}: {} and {}", rank, other->second, entry.path().string()));
  }
  std::vector<std::string> files;
  for (const auto& [rank, name] : by_rank) {
    if (rank != static_cast<std::int64_t>(files.size())) {
      throw TraceError(folder, fmt::format("there is a file for rank {}, but none for rank {}", rank, files.size()));
    }
    files.push_back(name);
  }
  if (files.empty()) throw TraceError(folder, "the folder holds no file name.<rank>.et");
  return files;
}

std::vector<std::string> files_of(const std::string& path) {
  try {
    if (path.find(kRankInName) != std::string::npos) return files_of_pattern(path);
    if (fs::is_directory(path)) return files_of_folder(path);
    return {path};
  } catch (const fs::filesystem_error& error) {
    throw TraceError(path, "cannot be read: " + error.code().message());
  }
}

/// The first word behind spaces and comments, and its line.
std::pair<std::string, std::string> first_word(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  for (;;) {
    const std::size_t at = text.find_first_not_of(space);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at);
    const bool block = text.starts_with("/*");
    const bool line = text.starts_with('#') || text.starts_with("//");
    if (!block && !line) break;
    const std::size_t end = text.find(block ? "*/" : "\n");
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + (block ? 2 : 1));
  }
  return {std::string(text.substr(0, text.find_first_of(space))),
          std::string(text.substr(0, text.find_first_of("\r\n")))};
}

std::string recognise(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw TraceError(file, "cannot be read");
  std::string head(4096, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  if (head.empty()) throw TraceError(file, "is empty");
  if (head.starts_with(kByteOrderMark)) head.erase(0, kByteOrderMark.size());
  if (is_goal_binary_head(head)) return std::string(kGoalBinary);
  if (head.starts_with("\x1f\x8b")) throw TraceError(file, "is compressed (gzip); unpack it first");
  const bool text = std::all_of(head.begin(), head.end(),
                                [](unsigned char c) { return c >= 0x20 || c == '\n' || c == '\r' || c == '\t'; });
  if (text) {
    const auto [word, line] = first_word(head);
    if (line.starts_with("start_us,")) return std::string(kFlowCsv);
    if (word == "num_ranks") return std::string(kGoal);
    if (word == "Nodes") return std::string(kHtsim);
    if (is_astra_head(word)) return std::string(kAstra);
  }
  if (!text && looks_like_chakra(file)) return std::string(kChakra);
  throw TraceError(file,
                   "is not a trace that mrcsim knows; known: chakra (MLCommons execution trace), goal (begins with "
                   "num_ranks), goal_binary (its compiled form), astra_text (begins with a kind of parallelism), "
                   "htsim_cm (begins with Nodes), "
                   "flow_csv (begins with " +
                       std::string(kFlowCsvHeader) + ")");
}

/// Before anything is opened: a pipe would never end.
void require_files(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (const std::string why = why_unreadable(file); !why.empty()) throw TraceError(file, why);
  }
}

std::string format_of(const TraceRequest& request, const std::vector<std::string>& files) {
  if (request.format == "auto") return recognise(files.front());
  const auto& names = trace_formats();
  if (std::find(names.begin(), names.end(), request.format) != names.end()) return request.format;
  throw TraceError(request.path,
                   fmt::format("format {} is not known; known: {}", request.format, fmt::join(names, ", ")));
}

Workload read(const TraceRequest& request, const std::vector<std::string>& files, const std::string& format,
              TraceTotals* totals, Warnings& warnings) {
  const ReadOptions options{.ranks = request.ranks,
                            .rows = request.rows,
                            .ranks_per_host = request.ranks_per_host,
                            .strict = request.strict,
                            .totals = totals,
                            .progress = request.progress};
  if (format == kChakra) return read_chakra(files, options, warnings);
  if (files.size() != 1) throw TraceError(request.path, "this format has one file for all ranks");
  const std::string& file = files.front();
  WatchedFile in(file, request.progress);
  if (!in) throw TraceError(file, "cannot be read");
  if (format == kAstra) return read_astra(in, file, options, warnings);
  if (request.ranks != 0) {
    throw TraceError(file, fmt::format("traffic.ranks = {}, but the file says which ranks it has; it cuts traces that "
                                       "stand for all ranks (astra_text, one Chakra file)",
                                       request.ranks));
  }
  if (format == kHtsim) return read_htsim(in, file, options);
  if (format == kFlowCsv) return read_flow_csv(in, file, options);
  if (request.rows != 0) throw TraceError(file, "traffic.rows does not cut GOAL: its operations wait for one another");
  return format == kGoalBinary ? read_goal_binary(in, file, options, warnings) : read_goal(in, file, options, warnings);
}

void scale_bytes(Workload& workload, double factor) {
  for (WorkNode& node : workload.nodes) {
    if (node.kind == WorkKind::compute || node.kind == WorkKind::collective) continue;
    const double bytes = std::round(static_cast<double>(node.bytes) * factor);
    node.bytes = static_cast<std::uint64_t>(std::clamp(bytes, 1.0, static_cast<double>(kMostMessageBytes)));
  }
  for (Collective& collective : workload.collectives) {
    if (collective.kind == CollectiveKind::barrier) continue;
    const double bytes = std::round(static_cast<double>(collective.bytes) * factor);
    collective.bytes = static_cast<std::uint64_t>(std::clamp(bytes, 1.0, static_cast<double>(kMostMessageBytes)));
  }
}

/// Whoever counts the collectives of a trace would expect messages.
std::string silence(const std::string& path) {
  return path +
         ": no message is played: all its collectives are of groups of one rank (traffic.ranks and the trace's "
         "own group sizes decide)";
}
bool is_silent(const Workload& workload) {
  if (workload.sends() > 0 || workload.collectives.empty()) return false;
  return std::all_of(workload.collectives.begin(), workload.collectives.end(),
                     [&](const Collective& c) { return workload.groups[c.group].ranks.size() == 1; });
}

std::string place_of(const Workload& workload, const WorkNode& node) {
  const bool by_node = workload.format == kChakra || workload.format == kGoalBinary;
  return by_node ? fmt::format("{}: rank {}, node {}", workload.source, node.rank, node.origin)
                 : fmt::format("{}:{}", workload.source, node.origin);
}

}  // namespace

const std::vector<std::string>& trace_formats() {
  static const std::vector<std::string> names{"auto",       "chakra",   "goal",    "goal_binary",
                                              "astra_text", "htsim_cm", "flow_csv"};
  return names;
}

LoadedTrace load_trace(const TraceRequest& request) {
  const std::vector<std::string> files = files_of(request.path);
  require_files(files);
  LoadedTrace trace;
  const std::string format = format_of(request, files);
  trace.workload = read(request, files, format, nullptr, trace.warnings);
  trace.workload.source = request.path;
  trace.workload.format = format;
  if (request.byte_scale != 1.0) scale_bytes(trace.workload, request.byte_scale);
  if (is_silent(trace.workload)) trace.warnings.push_back(silence(request.path));
  return trace;
}

TraceContents count_trace(const TraceRequest& request) {
  const std::vector<std::string> files = files_of(request.path);
  require_files(files);
  TraceContents contents;
  contents.format = format_of(request, files);
  const Workload workload = read(request, files, contents.format, &contents.totals, contents.warnings);
  contents.ranks = workload.ranks;
  if (contents.totals.is_silent()) contents.warnings.push_back(silence(request.path));
  contents.same_on_all_ranks = workload.same_on_all_ranks || (contents.format == kChakra && files.size() == 1 &&
                                                              contents.totals.sends + contents.totals.receives == 0);
  return contents;
}

void check_ranks(const Workload& workload, std::uint32_t ranks, std::uint32_t nics) {
  for (const WorkNode& node : workload.nodes) {
    const bool talks = node.kind == WorkKind::send || node.kind == WorkKind::receive;
    if (node.rank < ranks && (!talks || node.peer < ranks)) continue;
    throw TraceError(place_of(workload, node),
                     fmt::format("rank {} is outside the topology: fabric.nics = {}, ranks 0 … {}",
                                 node.rank < ranks ? node.peer : node.rank, nics, ranks - 1));
  }
}

std::string describe(const TraceRequest& request, const TraceContents& contents) {
  const TraceTotals& t = contents.totals;
  const char* each = contents.same_on_all_ranks ? " per rank" : "";
  std::string text = fmt::format(
      "{} ({})\n  ranks         {}{}\n  nodes         {}{}\n  sends         {}\n  receives      {}\n  bytes sent    "
      "{}\n"
      "  collectives   {} calls by ranks{}, {} B\n  computations  {}, {} us in all\n",
      request.path, contents.format, contents.ranks, contents.same_on_all_ranks ? ", all alike" : "", t.nodes, each,
      t.sends, t.receives, t.bytes, t.collective_nodes(), each, t.collective_bytes(), t.computations,
      t.computing_ps / kPsPerUs);
  if (!t.collectives.empty()) text += "  collectives by kind and size\n";
  for (const auto& [key, count] : t.collectives)
    text += fmt::format("    {:<16} {:>14} B  x {}\n", to_string(key.first), key.second, count);
  if (!t.sizes.empty()) text += "  message sizes\n";
  constexpr std::size_t most = 16;
  std::size_t shown = 0;
  for (const auto& [bytes, count] : t.sizes) {
    if (shown++ < most) text += fmt::format("    {:>14} B  x {}\n", bytes, count);
  }
  if (t.sends_of_other_sizes > 0) {
    text += fmt::format("    and more than {} other sizes\n", t.sizes.size() - most);
  } else if (t.sizes.size() > most) {
    text += fmt::format("    and {} other sizes\n", t.sizes.size() - most);
  }
  return text;
}

}  // namespace mrc
