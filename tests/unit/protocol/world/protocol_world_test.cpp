// Properties of the protocol under every fault at once: exactly-once delivery, completions in order, windows kept,
// nothing leaks, every run ends.
#include <chrono>
#include <cstdlib>

#include <gtest/gtest.h>

#include "violation.h"
#include "world.h"

namespace mrc::world {
namespace {

/// MRC_WORLD_SEEDS in the environment, or 1,000.
std::uint64_t seeds() {
  const char* text = std::getenv("MRC_WORLD_SEEDS");
  return text == nullptr ? 1'000 : std::strtoull(text, nullptr, 10);
}

TEST(ProtocolWorld, HoldsUnderAllFaults) {
  WorldResult total;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    try {
      const WorldResult result = World(draw_world(seed)).run();
      total.events += result.events;
      total.packets += result.packets;
      total.retransmissions += result.retransmissions;
      total.messages += result.messages;
      total.spurious_losses += result.spurious_losses;
      total.qp_errors += result.qp_errors;
    } catch (const Violation& violation) {
      FAIL() << violation.what();
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print(
      "{} events, {} seeds, {:.0f} events/s; {} packets, {} retransmitted, {} of these without need, {} messages, {} "
      "QP "
      "errors\n",
      total.events, seeds(), static_cast<double>(total.events) / took.count(), total.packets, total.retransmissions,
      total.spurious_losses, total.messages, total.qp_errors);
  EXPECT_GE(total.events, seeds() * 10'000);
}

/// One long stream: MSN (2^16 messages) and rcvd_bytes (2^24 units) wrap, under a little of each fault.
TEST(ProtocolWorld, CountersWrap) {
  WorldConfig config;
  config.seed = 1;
  config.events = 1'500'000;
  config.both_directions = false;
  config.congestion.algorithm = "none";
  config.protocol.mtu_bytes = 16'384;
  config.protocol.sack_threshold_bytes = 65'536;
  config.most_packets = 16;
  config.queue_depth = 64;
  config.first_psn = (1U << 24) - 1'000;
  config.send_gap_ps = 20 * kPsPerNs;
  config.data = {
      .loss = 0.001, .corruption = 0.001, .duplication = 0.01, .trim = 0.001, .ce = 0.001, .spread_ps = kPsPerUs};
  config.control = {.loss = 0.001, .duplication = 0.01, .spread_ps = kPsPerUs};
  try {
    const WorldResult result = World(config).run();
    EXPECT_GT(result.messages, 1U << 16);
    EXPECT_GT(result.most_received_units, 1U << 24);
  } catch (const Violation& violation) {
    FAIL() << violation.what();
  }
}

}  // namespace
}  // namespace mrc::world
