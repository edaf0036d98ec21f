// Properties of the protocol under every fault at once: exactly-once delivery, completions in order, windows kept, nothing
// leaks, every run ends.
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
  fmt::print("{} events, {} seeds, {:.0f} events/s; {} packets, {} sent again, {} of them in vain, {} messages, {} QP errors\n",
             total.events, seeds(), static_cast<double>(total.events) / took.count(), total.packets,
             total.retransmissions, total.spurious_losses, total.messages, total.qp_errors);
  EXPECT_GE(total.events, seeds() * 10'000);
}

}  // namespace
}  // namespace mrc::world
