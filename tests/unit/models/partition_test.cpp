// Who owns what in a run on several ranks, and how values travel between them.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/byte_stream.h"
#include "fabric/partition.h"

namespace mrc {
namespace {

ScenarioConfig clos(std::uint32_t nics, std::uint32_t nics_per_t0, std::uint32_t t1s) {
  ScenarioConfig scenario;
  scenario.node_default.nic.ports = 8;
  scenario.fabric.nics = nics;
  scenario.fabric.nics_per_t0 = nics_per_t0;
  scenario.fabric.t1s_per_plane = t1s;
  return scenario;
}

PartitionNeeds all_light(std::uint32_t nics) {
  PartitionNeeds needs;
  needs.detailed.assign(nics, false);
  needs.first.assign(nics, false);
  needs.siblings.resize(nics);
  std::iota(needs.siblings.begin(), needs.siblings.end(), 0U);
  return needs;
}

TEST(Partition, ByT0GroupsANicAndAllItsT0sAreTogether) {
  const ScenarioConfig scenario = clos(64, 8, 8);
  const Topology topology(scenario);
  PartitionNeeds needs = all_light(64);
  // Neighbours below one T0 talk: planes would be crossed twice.
  for (NodeId node = 0; node < 64; node += 2) needs.bytes[{node, node + 1}] = 1'000;
  const Partition partition = make_partition(topology, needs, 4);
  EXPECT_EQ(partition.cut, Partition::Cut::t0_groups);
  EXPECT_EQ(partition.crossings, 0);
  for (const LinkInfo& link : topology.links()) {
    if (link.first_hop() || link.last_hop()) {
      EXPECT_EQ(partition.from(link), partition.to(link));
    }
  }
  std::vector<int> nics(4, 0);
  std::vector<int> t1s(4, 0);
  for (const std::uint32_t rank : partition.of_node) ++nics.at(rank);
  for (std::size_t at = 0; at < topology.switches().size(); ++at) {
    if (topology.switches()[at].tier == SwitchTier::t1) ++t1s.at(partition.of_switch[at]);
  }
  EXPECT_EQ(nics, (std::vector<int>{16, 16, 16, 16}));
  EXPECT_EQ(t1s, (std::vector<int>{16, 16, 16, 16}));
}

TEST(Partition, ASingleT0IsCutByPlanesWithEqualShares) {
  const ScenarioConfig scenario = clos(8, 8, 8);
  const Topology topology(scenario);
  PartitionNeeds needs = all_light(8);
  for (NodeId node = 0; node < 8; ++node) needs.bytes[{node, (node + 4) % 8}] = 1'000;
  const Partition partition = make_partition(topology, needs, 2);
  EXPECT_EQ(partition.cut, Partition::Cut::planes);
  // The NIC's cable or the one down is cut in each plane, since source and destination are on different ranks.
  EXPECT_DOUBLE_EQ(partition.crossings, 1);
}

TEST(Partition, SomeNicsAreOnRankZeroAndSiblingsTogether) {
  const ScenarioConfig scenario = clos(32, 4, 4);
  const Topology topology(scenario);
  PartitionNeeds needs = all_light(32);
  needs.first[30] = true;
  needs.first[9] = true;
  needs.siblings[12] = 11;
  for (NodeId node = 0; node < 32; ++node) needs.bytes[{node, (node + 13) % 32}] = 1'000;
  const Partition partition = make_partition(topology, needs, 3);
  EXPECT_EQ(partition.of_node[30], 0U);
  EXPECT_EQ(partition.of_node[9], 0U);
  EXPECT_EQ(partition.of_node[12], partition.of_node[11]);
  EXPECT_EQ(std::set<std::uint32_t>(partition.of_node.begin(), partition.of_node.end()).size(), 3U);
}

TEST(Partition, DetailedNicsAreSpreadWithTheirT0s) {
  const ScenarioConfig scenario = clos(8, 1, 4);
  const Topology topology(scenario);
  PartitionNeeds needs = all_light(8);
  needs.detailed.assign(8, true);
  needs.first[0] = true;
  for (NodeId node = 0; node < 8; ++node) needs.bytes[{node, (node + 4) % 8}] = 1'000;
  const Partition partition = make_partition(topology, needs, 2);
  EXPECT_EQ(partition.cut, Partition::Cut::t0_groups);
  EXPECT_EQ(partition.of_node, (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  for (const LinkInfo& link : topology.links()) {
    if (link.first_hop() || link.last_hop()) {
      EXPECT_EQ(partition.from(link), partition.to(link));
    }
  }
}

TEST(Partition, BlocksGoByBytesAndNoRankIsLeftOut) {
  const ScenarioConfig scenario = clos(32, 4, 4);
  const Topology topology(scenario);
  PartitionNeeds needs = all_light(32);
  // All the work is below the first T0.
  needs.bytes[{0, 1}] = 1'000'000'000;
  const Partition partition = make_partition(topology, needs, 8);
  EXPECT_EQ(std::set<std::uint32_t>(partition.of_node.begin(), partition.of_node.end()).size(), 8U);
}

TEST(Partition, MoreRanksThanPartsAreRefused) {
  const ScenarioConfig scenario = clos(16, 8, 8);
  const Topology topology(scenario);
  PartitionNeeds needs = all_light(16);
  EXPECT_THROW(make_partition(topology, needs, 9), std::invalid_argument);
  needs.first.assign(16, true);
  EXPECT_THROW(make_partition(topology, needs, 2), std::invalid_argument);
}

TEST(ByteStream, WhatIsPutComesOutInOrderAndNothingMore) {
  Bytes bytes;
  ByteWriter to(bytes);
  to.put(7U);
  to.put(std::vector<double>{1.5, 2.5});
  to.put(std::string("seven"));
  to.put(std::vector<std::string>{"", "a"});
  to.put(std::vector<std::uint64_t>{});
  to.put(std::map<std::string, double>{{"a", 0.5}, {"b", 2}});
  ByteReader from(bytes);
  EXPECT_EQ(from.get<unsigned>(), 7U);
  std::vector<double> numbers;
  from.get(numbers);
  EXPECT_EQ(numbers, (std::vector<double>{1.5, 2.5}));
  std::string text;
  from.get(text);
  EXPECT_EQ(text, "seven");
  std::vector<std::string> texts;
  from.get(texts);
  EXPECT_EQ(texts, (std::vector<std::string>{"", "a"}));
  std::vector<std::uint64_t> none{1};
  from.get(none);
  EXPECT_TRUE(none.empty());
  std::map<std::string, double> by_name{{"old", 1}};
  from.get(by_name);
  EXPECT_EQ(by_name, (std::map<std::string, double>{{"a", 0.5}, {"b", 2}}));
  EXPECT_TRUE(from.empty());
  EXPECT_THROW(from.get<char>(), std::logic_error);
}

}  // namespace
}  // namespace mrc
