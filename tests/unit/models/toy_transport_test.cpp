// All boxes of two NICs with a transport that is not MRC behind them: what include/mrc/halves/qp_halves.h asks for is
// enough.
#include <gtest/gtest.h>

#include <memory>
#include <systemc>

#include "fabric/fabric.h"
#include "host/host.h"
#include "nic/nic.h"
#include "pcie/host_memory.h"
#include "toy_transport.h"
#include "two_nics.h"

namespace mrc {
namespace {

constexpr Psn kFirstPsn = 0xFF'FFF0;  // wraps soon
constexpr std::uint32_t kSlotBytes = 1 << 16;
constexpr std::uint32_t kSlots = 8;

/// One path, so that packets stay in order.
ScenarioConfig one_path() {
  ScenarioConfig scenario = pair();
  scenario.node_default.nic.ports = 1;
  scenario.protocol.ev_count = 1;
  scenario.protocol.ev_active = 1;
  return scenario;
}

struct ToyNode {
  ToyNode(NodeId id, const ScenarioConfig& scenario, Fabric& fabric, const WorkPlacement& placement)
      : wheel(fmt::format("node{}", id).c_str(), scenario.run.kernel, Fabric::quantum_ps(scenario)),
        context(id, scenario),
        memory(PayloadMode::bytes, KeyedRandom(scenario.seed, fmt::format("nic{}", id))),
        paths(std::make_shared<const EvDirectory>(ev_profile_of(scenario, id)), scenario.protocol, 1,
              KeyedRandom(scenario.seed, "paths")) {
    add_qp(1 - id, fabric.topology().route(id, 1 - id));
    nic =
        std::make_unique<Nic>(fmt::format("nic{}", id).c_str(), wheel, context, memory, fabric.links_of(id), NicRtl());
    host = std::make_unique<Host>(fmt::format("host{}", id).c_str(), wheel, context, *nic, memory, placement);
  }

  void add_qp(NodeId peer, const UsidTemplate& route) {
    context.congestion.push_back({std::make_unique<NoCongestionControl>(), {}});
    Qp& qp = context.qps.emplace_back();
    qp.number = qp.peer_number = kFirstQpNumber;
    qp.peer = peer;
    qp.route = route;
    qp.paths = &paths;
    qp.congestion = &context.congestion.back();
    qp.reverse_paths = std::make_unique<ReversePaths>(1, KeyedRandom(1, "reverse"));
    auto half = std::make_unique<ToySender>(context.scenario.protocol.mtu_bytes, 256, 100 * kPsPerUs, kFirstPsn);
    sender = half.get();
    qp.sender = std::move(half);
    qp.receiver = std::make_unique<ToyReceiver>(kFirstPsn);
  }

  void add_channel(ToyNode& to) {
    Channel channel;
    channel.flow.peer = to.context.node;
    channel.qps = {0};
    channel.slot_bytes = channel.slot_stride = kSlotBytes;
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) channel.free_slots.push_back(slot);
    channel.source_bytes = 2 * kSlots * kSlotBytes;
    channel.source_base = memory.add_source_region(channel.source_bytes);
    channel.destination_base = to.memory.add_destination_region(kSlots * kSlotBytes, kSlotBytes);
    channel.peer_memory = &to.memory;
    host->player().add_channel(std::move(channel));
  }

  WheelModule wheel;
  NicContext context;
  HostMemory memory;
  NicPathTable paths;
  ToySender* sender = nullptr;
  std::unique_ptr<Nic> nic;
  std::unique_ptr<Host> host;
};

class ToyPair {
 public:
  ToyPair(const ScenarioConfig& scenario, const Workload& workload)
      : placement_(workload, {0, 1}, 1, 2),
        fabric_("fabric", scenario, Fabric::quantum_ps(scenario)),
        a(0, scenario, fabric_, placement_),
        b(1, scenario, fabric_, placement_) {
    a.add_channel(b);
    b.add_channel(a);
  }

  /// True when all work is done.
  bool run(double us) {
    const TimePs end = static_cast<TimePs>(us * kPsPerUs);
    fabric_.set_limit(end);
    a.host->start();
    b.host->start();
    fabric_.wake();
    sc_core::sc_start(sc_core::sc_time::from_value(end));
    return a.host->player().nodes_left() == 0 && b.host->player().nodes_left() == 0;
  }

 private:
  WorkPlacement placement_;
  Fabric fabric_;

 public:
  ToyNode a;
  ToyNode b;
};

std::uint64_t records_held(const timing::Nic& nic) {
  for (const Occupancy* buffer : nic.buffers()) {
    if (buffer->name() == "retransmit_buffer.entries") return buffer->level();
  }
  ADD_FAILURE() << "no buffer retransmit_buffer.entries";
  return 0;
}

/// Every second message goes the other way.
Workload both_ways(std::uint32_t count) {
  Workload workload = writes(count, 60'000);
  for (std::uint32_t i = 0; i < count; i += 2) std::swap(workload.nodes[i].rank, workload.nodes[i].peer);
  return workload;
}

TEST(ToyTransport, MovesMessagesBetweenTwoDetailedNics) {
  const ScenarioConfig scenario = one_path();
  const Workload workload = both_ways(64);
  ToyPair pair(scenario, workload);
  ASSERT_TRUE(pair.run(2'000));
  for (const ToyNode* node : {&pair.a, &pair.b}) {
    const HostStatistics& host = node->host->player().statistics();
    EXPECT_EQ(host.messages_completed, 32U);
    EXPECT_EQ(host.acknowledged_bytes, 32U * 60'000);
    EXPECT_EQ(host.corrupted_bytes, 0U) << host.first_corruption;
    EXPECT_EQ(node->sender->counts().sent, 32U * 15);
    EXPECT_EQ(node->sender->counts().retransmitted, 0U);
    EXPECT_EQ(records_held(*node->nic), 0U);
  }
}

TEST(ToyTransport, GoesBackOverLosses) {
  ScenarioConfig scenario = one_path();
  scenario.fabric.loss_rate = 0.01;
  const Workload workload = both_ways(64);
  ToyPair pair(scenario, workload);
  ASSERT_TRUE(pair.run(20'000));
  for (const ToyNode* node : {&pair.a, &pair.b}) {
    const HostStatistics& host = node->host->player().statistics();
    EXPECT_EQ(host.messages_completed, 32U);
    EXPECT_EQ(host.corrupted_bytes, 0U) << host.first_corruption;
    EXPECT_GT(node->sender->counts().retransmitted, 0U);
    EXPECT_GT(node->sender->counts().nacks, 0U);
  }
}

}  // namespace
}  // namespace mrc
