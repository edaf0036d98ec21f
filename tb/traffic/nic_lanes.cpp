#include "traffic/nic_lanes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "traffic/workload_builder.h"

namespace mrc {
namespace {

std::uint32_t pieces_of(const WorkNode& node, std::uint32_t nics) {
  const bool is_message = node.kind == WorkKind::send || node.kind == WorkKind::receive;
  return is_message ? static_cast<std::uint32_t>(std::min<std::uint64_t>(nics, node.bytes)) : 1;
}

}  // namespace

void number_lanes(Workload& workload) {
  std::vector<std::uint16_t> next(workload.ranks, 0);
  for (WorkNode& node : workload.nodes) {
    if (node.kind != WorkKind::send) continue;
    node.lane = next[node.rank]++;
    if (node.match != kNoWork) workload.nodes[node.match].lane = node.lane;
  }
}

Workload stripe(Workload in, std::uint32_t nics) {
  WorkloadBuilder builder;
  std::vector<std::uint32_t> first;  // piece of each node
  first.reserve(in.nodes.size());
  for (const WorkNode& node : in.nodes) {
    first.push_back(static_cast<std::uint32_t>(builder.size()));
    const std::uint32_t pieces = pieces_of(node, nics);
    check_node_count(in.source, builder.size() + pieces);
    for (std::uint32_t i = 0; i < pieces; ++i) {
      WorkNode piece = node;
      piece.first_dependent = piece.dependents = piece.dependencies = 0;
      if (node.kind != WorkKind::compute) {
        piece.bytes = piece_bytes(node.bytes, i, pieces);
        piece.lane = static_cast<std::uint16_t>(i);
      }
      builder.add(piece);
    }
  }
  for (std::size_t n = 0; n < in.nodes.size(); ++n) {
    const WorkNode& node = in.nodes[n];
    const std::uint32_t pieces = pieces_of(node, nics);
    for (std::uint32_t i = 0; i < pieces; ++i) {
      if (node.kind != WorkKind::compute && node.match != kNoWork)
        builder.at(first[n] + i).match = first[node.match] + i;
      for (std::uint32_t d = 0; d < node.dependents; ++d) {
        const std::uint32_t dependent = in.dependents[node.first_dependent + d];
        for (std::uint32_t k = 0; k < pieces_of(in.nodes[dependent], nics); ++k)
          builder.depend(first[dependent] + k, first[n] + i);
      }
    }
  }
  Workload out = builder.finish(in.ranks);
  out.source = std::move(in.source);
  out.format = std::move(in.format);
  out.job_ranks = in.job_ranks;
  out.groups = std::move(in.groups);
  out.collectives = std::move(in.collectives);
  for (const CollectiveSpan& span : in.spans)
    out.spans.push_back({span.collective, first[span.start], first[span.end]});
  return out;
}

}  // namespace mrc
