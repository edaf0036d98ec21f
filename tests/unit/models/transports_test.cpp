// The registry of transports: every row is complete, and what asks for a transport gets the row's answer.
#include "parameters/transport.h"

#include <gtest/gtest.h>

#include <set>

#include "endpoint/light_node.h"
#include "parameters/link_bytes.h"
#include "parameters/scenario.h"
#include "transports/node_transport.h"

namespace mrc {
namespace {

ScenarioConfig with_transport(std::string_view name) {
  return make_scenario({{"traffic.trace=none", fmt::format("transport={}", name)}, std::nullopt});
}

TEST(Transports, HaveDifferentNamesAndAreFoundByThem) {
  std::set<std::string_view> names;
  for (const Transport* transport : transports()) {
    EXPECT_TRUE(names.insert(transport->name).second) << transport->name;
    EXPECT_EQ(&transport_of(with_transport(transport->name)), transport);
  }
  EXPECT_EQ(names, (std::set<std::string_view>{"mrc", "rocev2", "uet", "ideal"}));
}

TEST(Transports, ThatAreSimulatedSayWhatTheFabricAsksAndMakeNodes) {
  for (const Transport* transport : transports()) {
    if (!transport->simulated) continue;
    const ScenarioConfig scenario = with_transport(transport->name);
    Packet full;
    full.opcode = Opcode::write_middle;
    full.payload_bytes = scenario.protocol.mtu_bytes;
    EXPECT_GT(transport->link_bytes(full, scenario), full.payload_bytes) << transport->name;
    EXPECT_GT(transport->queue_law(scenario, 100, false).ecn_max_bytes, 0U) << transport->name;
    NodeContext context(0, scenario);
    const std::unique_ptr<NodeTransport> node = make_node_transport(context);
    node->reserve(1);
    Qp& qp = node->add_qp();
    qp.peer = 1;
    node->add_requestor(qp, 0);
    node->add_responder(qp, 0);
    EXPECT_EQ(qp.number, kFirstQpNumber);
    EXPECT_EQ(qp.sender != nullptr && qp.receiver != nullptr, transport->has_detailed_nic) << transport->name;
  }
}

TEST(Transports, OfBytesOnALink) {
  Packet full;
  full.opcode = Opcode::write_middle;
  full.payload_bytes = 4096;
  const ScenarioConfig rocev2 = with_transport("rocev2");
  EXPECT_EQ(transport_of(rocev2).link_bytes(full, rocev2), 4198U);
  ScenarioConfig mrc = with_transport("mrc");
  EXPECT_EQ(transport_of(mrc).link_bytes(full, mrc), wire_bytes(full, mrc.protocol.encapsulation));
}

TEST(Transports, LookedUpBytesOfEveryPacketAreWhatTheTransportSays) {
  for (const char* name : {"mrc", "rocev2", "uet"}) {
    ScenarioConfig scenario = with_transport(name);
    for (const Macsec macsec : {Macsec::off, Macsec::short_tag}) {
      scenario.fabric.macsec = macsec;
      const LinkBytes bytes(scenario, transport_of(scenario));
      const std::uint32_t macsec_per_frame = macsec_bytes(scenario.fabric);
      for (std::uint32_t opcode = 0; opcode < 256; ++opcode) {
        for (const std::uint32_t payload : {0U, 1U, 4096U}) {
          Packet packet;
          packet.opcode = static_cast<Opcode>(opcode);
          packet.payload_bytes = payload;
          packet.has_timestamp = payload == 1;
          const std::uint32_t whole = transport_of(scenario).link_bytes(packet, scenario);
          EXPECT_EQ(bytes.on_link(packet), whole) << name << " opcode " << opcode;
          EXPECT_EQ(bytes.in_nic(packet), whole - macsec_per_frame) << name << " opcode " << opcode;
          packet.damage = Damage::trimmed;
          EXPECT_EQ(bytes.on_link(packet), transport_of(scenario).link_bytes(packet, scenario)) << name;
          EXPECT_EQ(bytes.untrimmed(packet), whole - macsec_per_frame) << name << " opcode " << opcode;
        }
      }
    }
  }
}

TEST(Transports, WithoutADetailedNicHaveLightEndpointsOnly) {
  EXPECT_TRUE(is_detailed(with_transport("mrc"), 0));
  EXPECT_FALSE(is_detailed(with_transport("rocev2"), 0));
}

TEST(Transports, UnknownNameIsRefusedWithTheNearest) {
  try {
    with_transport("rocev3");
    FAIL();
  } catch (const ParameterError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("rocev3"), std::string::npos) << text;
    EXPECT_NE(text.find("rocev2"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace mrc
