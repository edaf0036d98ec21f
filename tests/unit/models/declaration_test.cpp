// What boxes declare of themselves: that a NIC can be listed from it, and that it holds together.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/picture.h"
#include "nic/nic.h"
#include "parameters/registry.h"

namespace mrc {
namespace {

class Stub : public Box {
 public:
  Stub(const char* name, WheelModule& owner, BoxPlace place) : Box(name, owner, std::move(place)) {}
  void step(TimePs) override {}
};

/// A module with boxes at these places.
class Stubs : public sc_core::sc_module {
 public:
  Stubs(const sc_core::sc_module_name& name, const std::vector<BoxPlace>& places)
      : sc_module(name), wheel_("wheel", KernelMode::wheel, 1000) {
    for (const BoxPlace& place : places) {
      boxes_.push_back(std::make_unique<Stub>(sc_core::sc_gen_unique_name("stub"), wheel_, place));
    }
  }

 private:
  WheelModule wheel_;
  std::vector<std::unique_ptr<Stub>> boxes_;
};

std::string refusal(const char* name, const std::vector<BoxPlace>& places) {
  const Stubs stubs(name, places);
  try {
    boxes_in_picture(stubs);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

TEST(Picture, FollowsWhatEachBoxIsBehind) {
  const Stubs stubs("stubs", {{.name = "port", .part = NicPart::ports, .behind = "second", .instance = 0},
                              {.name = "second", .part = NicPart::transmit, .behind = "first"},
                              {.name = "first", .part = NicPart::transmit},
                              {.name = "port", .part = NicPart::ports, .behind = "port0", .instance = 1}});
  std::string names;
  for (const Box* box : boxes_in_picture(stubs)) names += box->place().full_name() + " ";
  EXPECT_EQ(names, "first second port0 port1 ");
}

TEST(Picture, RefusesABoxWithoutPlaceAndTwoAtOnePlace) {
  EXPECT_EQ(refusal("none", {{.name = "lost"}}), "none.stub_0: declares no place");
  EXPECT_EQ(refusal("twice", {{.name = "a", .part = NicPart::transmit},
                              {.name = "b", .part = NicPart::transmit, .behind = "a"},
                              {.name = "c", .part = NicPart::transmit, .behind = "a"}}),
            "c and b: both are behind \"a\"");
  EXPECT_EQ(refusal("behind", {{.name = "a", .part = NicPart::transmit},
                               {.name = "b", .part = NicPart::transmit, .behind = "x"}}),
            "b: is behind \"x\", which is not in the picture");
}

TEST(CauseTable, ANameIsOneCauseAndItsRemediesAddUp) {
  CauseTable causes;
  const Cause line = causes.declare("line", {"pcie.lanes"});
  const Cause other = causes.declare("other");
  EXPECT_EQ(causes.declare("line", {"pcie.lanes", "pcie.links"}), line);
  EXPECT_NE(other, line);
  EXPECT_EQ(causes.name(line), "line");
  EXPECT_EQ(causes.relieved_by(line), (CauseTable::Keys{"pcie.lanes", "pcie.links"}));
  EXPECT_EQ(causes.box_behind(line), nullptr);
}

TEST(CauseTable, OfAFullQueueTheBoxBehindIsKnownOnceItIsConnected) {
  const Stubs stubs("stubs", {});
  WheelModule wheel("wheel", KernelMode::wheel, 1000);
  Stub taker("taker", wheel, {});
  Fifo<int> queue(kUnlisted, "queue", 4);
  CauseTable causes;
  const Cause full = causes.declare_full("queue", queue.taker());
  EXPECT_EQ(causes.box_behind(full), nullptr);
  queue.connect(&taker);
  EXPECT_EQ(causes.box_behind(full), &taker);
  EXPECT_EQ(causes.in_front_of(taker), full);
}

/// The NIC of the default scenario, or of one with encryption, with nothing at the other end of its cables.
class LoneNic {
 public:
  explicit LoneNic(CryptoFraming framing)
      : scenario_(with(framing)),
        context_(0, scenario_),
        wheel_("wheel", KernelMode::wheel, 1000),
        memory_(PayloadMode::reference, KeyedRandom(1, "memory")),
        completions_(kUnlisted, "host.completion_queue", 16) {
    for (std::uint32_t port = 0; port < context_.config.nic.ports; ++port) {
      for (int i = 0; i < 2; ++i) cables_.push_back(std::make_unique<Link>(1000, Link::DueAt::last_bit));
      links_.push_back({cables_[2 * port].get(), cables_[2 * port + 1].get()});
    }
    context_.associations = std::make_unique<Associations>(scenario_.protocol.encryption, context_.qps);
    nic_ = std::make_unique<Nic>("nic", wheel_, context_, memory_, links_, NicRtl());
    nic_->completion().connect(completions_);
  }
  const Nic& nic() const { return *nic_; }

 private:
  static ScenarioConfig with(CryptoFraming framing) {
    ScenarioConfig scenario;
    scenario.protocol.encryption.framing = framing;
    return scenario;
  }

  ScenarioConfig scenario_;
  NicContext context_;
  WheelModule wheel_;
  HostMemory memory_;
  Fifo<Cqe> completions_;
  std::vector<std::unique_ptr<Link>> cables_;
  std::vector<PortLinks> links_;
  std::unique_ptr<Nic> nic_;
};

class NicBoxes : public ::testing::TestWithParam<CryptoFraming> {};
INSTANTIATE_TEST_SUITE_P(Of, NicBoxes, ::testing::Values(CryptoFraming::none, CryptoFraming::psp));

TEST_P(NicBoxes, EachThatTakesPacketsHasASlotAServerAndAQueueInFrontOfIt) {
  const LoneNic lone(GetParam());
  std::set<const Box*> takers;
  for (const Box* box : lone.nic().boxes()) {
    for (const DeclaredBuffer& buffer : box->buffers()) {
      if (buffer.moves != DeclaredBuffer::Moves::packets) continue;
      ASSERT_NE(*buffer.taker, nullptr) << buffer.occupancy->name() << ": no box takes from it";
      takers.insert(*buffer.taker);
    }
  }
  for (const Box* box : lone.nic().boxes()) {
    const BoxPlace& place = box->place();
    if (place.packets != Handling::passes && place.packets != Handling::ends) continue;
    EXPECT_FALSE(box->slots().empty()) << place.full_name() << " has no issue slot";
    EXPECT_FALSE(box->servers().empty()) << place.full_name() << " declares no server";
    EXPECT_TRUE(takers.contains(box)) << place.full_name() << " takes from no declared queue";
  }
}

TEST_P(NicBoxes, ServersTakeTime) {
  const LoneNic lone(GetParam());
  for (const Box* box : lone.nic().boxes()) {
    for (const DeclaredServer& server : box->servers()) {
      EXPECT_TRUE(server.interval_ps > 0 || server.gbps > 0) << lone.nic().causes().name(server.cause);
      EXPECT_FALSE(lone.nic().causes().relieved_by(server.cause).empty()) << lone.nic().causes().name(server.cause);
    }
  }
}

TEST_P(NicBoxes, TokensAreTakenAndReturnedByBoxesOfThePicture) {
  const LoneNic lone(GetParam());
  std::set<std::string> names{"host"};
  for (const Box* box : lone.nic().boxes()) names.insert(box->place().full_name());
  std::size_t pools = 0;
  for (const Box* box : lone.nic().boxes()) {
    for (const DeclaredTokens& tokens : box->tokens()) {
      const std::string& cause = lone.nic().causes().name(tokens.cause);
      // The largest window follows the line rate unless the scenario sets it.
      EXPECT_TRUE(tokens.capacity > 0 || cause == "cwnd") << cause;
      EXPECT_TRUE(names.contains(tokens.taken_by)) << cause << ": " << tokens.taken_by;
      EXPECT_TRUE(names.contains(tokens.returned_by)) << cause << ": " << tokens.returned_by;
      EXPECT_FALSE(lone.nic().causes().relieved_by(tokens.cause).empty()) << cause;
      ++pools;
    }
  }
  EXPECT_GT(pools, 10U);
}

TEST_P(NicBoxes, CausesAreRelievedByParametersThatThereAre) {
  const LoneNic lone(GetParam());
  const CauseTable& causes = lone.nic().causes();
  for (std::size_t i = 0; i < causes.size(); ++i) {
    for (const std::string& key : causes.relieved_by(Cause::at(i))) {
      EXPECT_NE(find_parameter(key), nullptr) << causes.name(Cause::at(i)) << ": " << key;
    }
  }
}

}  // namespace
}  // namespace mrc
