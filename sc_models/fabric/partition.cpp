#include "fabric/partition.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "mrc/random.h"

namespace mrc {
namespace {

/// Pairs and EVs of each from which the crossings of a packet are estimated.
constexpr std::size_t kMostPairs = 1024;
constexpr std::uint32_t kEvsAPlane = 2;

/// Things in a row (T0s or NICs) that are given to ranks in blocks.
struct Row {
  explicit Row(std::size_t size) : weight(size, 1), unit(size), first_rank(size, false) {
    std::iota(unit.begin(), unit.end(), std::size_t{0});
  }
  /// Both go to one rank.
  void join(std::size_t a, std::size_t b) {
    const std::size_t low = std::min(root(a), root(b));
    const std::size_t high = std::max(root(a), root(b));
    unit[high] = low;
  }
  std::size_t root(std::size_t i) const {
    while (unit[i] != i) i = unit[i];
    return i;
  }

  std::vector<std::uint64_t> weight;
  std::vector<std::size_t> unit;
  std::vector<bool> first_rank;  ///< has to be on rank 0
};

/// Owners by position: blocks of about equal weight, nothing where a rank would be left without any.
std::optional<std::vector<std::uint32_t>> in_blocks(const Row& row, std::uint32_t ranks) {
  const std::size_t size = row.weight.size();
  std::vector<std::uint64_t> weight(size, 0);
  std::vector<bool> first(size, false);
  for (std::size_t i = 0; i < size; ++i) {
    weight[row.root(i)] += row.weight[i];
    if (row.first_rank[i]) first[row.root(i)] = true;
  }
  std::vector<std::size_t> order;
  for (const bool wanted : {true, false}) {
    for (std::size_t i = 0; i < size; ++i) {
      if (row.root(i) == i && first[i] == wanted) order.push_back(i);
    }
  }
  const double total = static_cast<double>(std::accumulate(weight.begin(), weight.end(), std::uint64_t{0}));
  std::vector<std::uint32_t> of_root(size, 0);
  std::vector<bool> used(ranks, false);
  double before = 0;
  std::uint32_t least = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t i = order[k];
    const double middle = before + static_cast<double>(weight[i]) / 2;
    before += static_cast<double>(weight[i]);
    auto owner = std::min(static_cast<std::uint32_t>(middle / total * ranks), ranks - 1);
    // No rank is left out: the next one at most, and as many left as ranks still without.
    owner = std::clamp(owner, least, least + (k > 0 && used[least] ? 1U : 0U));
    const std::size_t left = order.size() - k;
    if (left < std::size_t{ranks} - owner) owner = std::min(owner + 1, ranks - static_cast<std::uint32_t>(left));
    if (first[i]) owner = 0;
    least = owner;
    of_root[i] = owner;
    used[owner] = true;
  }
  if (!std::all_of(used.begin(), used.end(), [](bool u) { return u; })) return std::nullopt;
  std::vector<std::uint32_t> owners(size);
  for (std::size_t i = 0; i < size; ++i) owners[i] = of_root[row.root(i)];
  return owners;
}

/// Mean number of cut links on a packet's way, over pairs of the traffic weighted by their bytes.
double crossings_of(const Partition& partition, const Topology& topology, const PartitionNeeds& needs) {
  const std::size_t step = needs.bytes.size() / kMostPairs + 1;
  double crossings = 0;
  double weight = 0;
  std::size_t i = 0;
  for (const auto& [pair, bytes] : needs.bytes) {
    if (i++ % step != 0) continue;
    std::uint64_t cut = 0;
    std::uint64_t walks = 0;
    KeyedRandom random(i, pair.first);
    for (std::uint32_t plane = 0; plane < topology.planes(); ++plane) {
      for (std::uint32_t k = 0; k < kEvsAPlane; ++k) {
        ++walks;
        const Ev ev = topology.ev_through(plane, static_cast<Ev>(random.next()));
        for (const std::uint32_t link : topology.walk(pair.first, pair.second, plane, ev)) {
          const LinkInfo& info = topology.links()[link];
          if (partition.from(info) != partition.to(info)) ++cut;
        }
      }
    }
    crossings += static_cast<double>(bytes) * static_cast<double>(cut) / static_cast<double>(walks);
    weight += static_cast<double>(bytes);
  }
  return weight > 0 ? crossings / weight : 0;
}

std::vector<std::uint64_t> bytes_of_nodes(const PartitionNeeds& needs, std::uint32_t nics) {
  std::vector<std::uint64_t> bytes(nics, 1);
  for (const auto& [pair, sent] : needs.bytes) {
    bytes[pair.first] += sent;
    bytes[pair.second] += sent;
  }
  return bytes;
}

std::optional<Partition> by_t0_groups(const Topology& topology, const PartitionNeeds& needs, std::uint32_t ranks) {
  const std::uint32_t t0s = topology.t0s();
  if (t0s < ranks) return std::nullopt;
  Row row(t0s);
  const auto bytes = bytes_of_nodes(needs, topology.nics());
  for (NodeId node = 0; node < topology.nics(); ++node) {
    const std::uint32_t t0 = topology.t0_of(node);
    row.weight[t0] += bytes[node];
    if (needs.first[node]) row.first_rank[t0] = true;
    row.join(t0, topology.t0_of(needs.siblings[node]));
  }
  const auto of_t0 = in_blocks(row, ranks);
  if (!of_t0) return std::nullopt;
  Partition partition{.cut = Partition::Cut::t0_groups, .of_node = {}, .of_switch = {}};
  for (NodeId node = 0; node < topology.nics(); ++node) partition.of_node.push_back((*of_t0)[topology.t0_of(node)]);
  const std::uint32_t t0s_a_pod = t0s / topology.pods();
  for (const SwitchInfo& info : topology.switches()) {
    // A switch above lives with one of the T0s below it, as evenly as its tier allows.
    std::uint32_t t0 = info.index;
    if (info.tier == SwitchTier::t1) {
      t0 = info.pod * t0s_a_pod + info.index % topology.t1s() * t0s_a_pod / topology.t1s();
    } else if (info.tier == SwitchTier::t2) {
      t0 = static_cast<std::uint32_t>(std::uint64_t{info.index} * t0s / topology.t2s());
    }
    partition.of_switch.push_back((*of_t0)[t0]);
  }
  return partition;
}

std::optional<Partition> by_planes(const Topology& topology, const PartitionNeeds& needs, std::uint32_t ranks) {
  const bool detailed = std::any_of(needs.detailed.begin(), needs.detailed.end(), [](bool d) { return d; });
  if (detailed || topology.planes() < ranks || topology.nics() < ranks) return std::nullopt;
  Row row(topology.nics());
  row.weight = bytes_of_nodes(needs, topology.nics());
  row.first_rank = needs.first;
  for (NodeId node = 0; node < topology.nics(); ++node) row.join(node, needs.siblings[node]);
  const auto of_node = in_blocks(row, ranks);
  if (!of_node) return std::nullopt;
  Partition partition{.cut = Partition::Cut::planes, .of_node = *of_node, .of_switch = {}};
  for (const SwitchInfo& info : topology.switches()) {
    partition.of_switch.push_back(info.plane * ranks / topology.planes());
  }
  return partition;
}

}  // namespace

Partition make_partition(const Topology& topology, const PartitionNeeds& needs, std::uint32_t ranks) {
  std::optional<Partition> best;
  for (std::optional<Partition> cut : {by_t0_groups(topology, needs, ranks), by_planes(topology, needs, ranks)}) {
    if (!cut) continue;
    cut->crossings = crossings_of(*cut, topology, needs);
    if (!best || cut->crossings < best->crossings) best = std::move(cut);
  }
  if (best) return *std::move(best);
  const std::string refused = fmt::format("{} ranks: the fabric cannot be divided into this many parts", ranks);
  const auto stay = std::count(needs.first.begin(), needs.first.end(), true);
  if (topology.t0s() < ranks || stay == 0) {
    throw std::invalid_argument(
        fmt::format("{}; allowed: up to {} (T0s per plane; fabric.nics_per_t0 makes more) or, with light "
                    "endpoints only, {} (planes)",
                    refused, topology.t0s(), topology.planes()));
  }
  throw std::invalid_argument(
      fmt::format("{}: {} detailed NICs stay on rank 0 with all below their T0s (payload by bytes, RTL, the node under "
                  "test); allowed: host.payload = \"reference\" below the other T0s, without RTL there",
                  refused, stay));
}

}  // namespace mrc
