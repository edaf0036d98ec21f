#include "traffic/load_trace.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>

#include "traffic/chakra_reader.h"
#include "traffic/flow_csv.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRank = "{rank}";
constexpr std::string_view kFlowCsv = "flow_csv";
constexpr std::string_view kChakra = "chakra";

/// Files rank 0, 1, … of a pattern, up to the first that does not exist.
std::vector<std::string> files_of_pattern(const std::string& pattern) {
  const std::size_t at = pattern.find(kRank);
  std::vector<std::string> files;
  for (;;) {
    std::string name = pattern;
    name.replace(at, kRank.size(), std::to_string(files.size()));
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
    if (path.find(kRank) != std::string::npos) return files_of_pattern(path);
    if (fs::is_directory(path)) return files_of_folder(path);
    if (!fs::exists(path)) throw TraceError(path, "does not exist");
    return {path};
  } catch (const fs::filesystem_error& error) {
    throw TraceError(path, "cannot be read: " + error.code().message());
  }
}

std::string recognise(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw TraceError(file, "cannot be read");
  std::string head(512, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  if (head.empty()) throw TraceError(file, "is empty");
  const bool text = std::all_of(head.begin(), head.end(),
                                [](unsigned char c) { return c >= 0x20 || c == '\n' || c == '\r' || c == '\t'; });
  if (text) return std::string(kFlowCsv);
  if (looks_like_chakra(file)) return std::string(kChakra);
  throw TraceError(file, "is no trace that mrcsim knows; known: chakra (MLCommons execution trace), flow_csv");
}

std::string format_of(const TraceRequest& request, const std::vector<std::string>& files) {
  if (request.format == "auto") return recognise(files.front());
  if (request.format == kFlowCsv || request.format == kChakra) return request.format;
  throw TraceError(request.path,
                   fmt::format("format {} is not known; known: auto, {}, {}", request.format, kChakra, kFlowCsv));
}

void scale_bytes(Workload& workload, double factor) {
  for (WorkNode& node : workload.nodes) {
    if (node.kind == WorkKind::compute) continue;
    const double bytes = std::round(static_cast<double>(node.bytes) * factor);
    node.bytes = static_cast<std::uint64_t>(std::clamp(bytes, 1.0, static_cast<double>(kMostMessageBytes)));
  }
}

std::string place_of(const Workload& workload, const WorkNode& node) {
  return workload.format == kFlowCsv ? fmt::format("{}:{}", workload.source, node.origin)
                                     : fmt::format("{}: rank {}, node {}", workload.source, node.rank, node.origin);
}

}  // namespace

LoadedTrace load_trace(const TraceRequest& request) {
  const std::vector<std::string> files = files_of(request.path);
  const std::string format = format_of(request, files);
  LoadedTrace trace;
  if (format == kFlowCsv) {
    if (files.size() != 1) throw TraceError(request.path, "flows of all ranks stand in one file");
    std::ifstream in(files.front(), std::ios::binary);
    if (!in) throw TraceError(files.front(), "cannot be read");
    trace.workload = read_flow_csv(in, files.front());
  } else {
    trace.workload = read_chakra(files, {.ranks = request.ranks, .strict = request.strict}, trace.warnings);
  }
  trace.workload.source = request.path;
  trace.workload.format = format;
  if (request.byte_scale != 1.0) scale_bytes(trace.workload, request.byte_scale);
  return trace;
}

void check_ranks(const Workload& workload, std::uint32_t nodes) {
  for (const WorkNode& node : workload.nodes) {
    const bool talks = node.kind != WorkKind::compute;
    if (node.rank < nodes && (!talks || node.peer < nodes)) continue;
    throw TraceError(place_of(workload, node),
                     fmt::format("rank {} is outside the topology: fabric.nics = {}, ranks 0 … {}",
                                 node.rank < nodes ? node.peer : node.rank, nodes, nodes - 1));
  }
}

std::string describe_collectives(const TraceRequest& request) {
  const std::vector<std::string> files = files_of(request.path);
  if (format_of(request, files) != kChakra) return {};
  const ChakraContents contents = chakra_contents(files);
  if (contents.collectives.empty()) return {};
  std::string text = fmt::format("{}: {} nodes, collectives\n", request.path, contents.nodes);
  for (const auto& [kind, total] : contents.collectives) {
    text += fmt::format("  {:<20}  x {:<6} {} B\n", kind, total.count, total.bytes);
  }
  return text;
}

std::string describe(const Workload& workload) {
  std::map<std::uint64_t, std::uint64_t> sizes;
  std::uint64_t computations = 0;
  std::uint64_t receives = 0;
  TimePs busy = 0;
  for (const WorkNode& node : workload.nodes) {
    if (node.kind == WorkKind::send) ++sizes[node.bytes];
    if (node.kind == WorkKind::receive) ++receives;
    if (node.kind == WorkKind::compute) ++computations;
    if (node.kind == WorkKind::compute) busy += node.duration;
  }
  std::string text = fmt::format(
      "{} ({})\n  ranks         {}\n  nodes         {}\n  sends         {}\n  receives      {}\n  bytes sent    {}\n"
      "  computations  {}, {} us in all\n  message sizes\n",
      workload.source, workload.format, workload.ranks, workload.nodes.size(), workload.sends(), receives,
      workload.bytes(), computations, busy / kPsPerUs);
  constexpr std::size_t most = 16;
  std::size_t shown = 0;
  for (const auto& [bytes, count] : sizes) {
    if (shown++ < most) text += fmt::format("    {:>14} B  x {}\n", bytes, count);
  }
  if (sizes.size() > most) text += fmt::format("    and {} other sizes\n", sizes.size() - most);
  return text;
}

}  // namespace mrc
