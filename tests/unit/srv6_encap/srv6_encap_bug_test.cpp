// Negative controls: the scoreboard finds each kept bug and names the header's field.
#include <gtest/gtest.h>

#include "Vsrv6_encap_icrc_of_packet_before.h"
#include "Vsrv6_encap_icrc_over_hop_limit.h"
#include "Vsrv6_encap_srh_length_in_bytes.h"
#include "Vsrv6_encap_usid_shifted.h"
#include "cosim/srv6_encap/adapter.h"
#include "cosim/srv6_encap/model.h"
#include "kept_bug.h"
#include "mrc/wire/icrc.h"

namespace mrc::cosim {
namespace {

template <typename Model>
void expect_found(const std::string& field, std::uint64_t most_replay_transfers) {
  const Mismatch found = find_kept_bug(
      [] { return StreamBench("srv6_encap", std::make_unique<Srv6EncapModel>(64, make_srv6_encap_dut<Model>)); },
      {.count = 100'000}, most_replay_transfers);
  EXPECT_NE(found.field.find(field), std::string::npos) << found.line();
}

TEST(Srv6EncapBug, UsidShifted) {
  expect_found<Vsrv6_encap_usid_shifted>("(IPv6.dst)", 2);
}
TEST(Srv6EncapBug, SrhLengthInBytes) {
  expect_found<Vsrv6_encap_srh_length_in_bytes>("(SRH.hdr_ext_len)", 2);
}
TEST(Srv6EncapBug, IcrcOverTheHopLimit) {
  expect_found<Vsrv6_encap_icrc_over_hop_limit>("(ICRC)", 8);
}
TEST(Srv6EncapBug, IcrcGoesOnFromThePacketBefore) {
  expect_found<Vsrv6_encap_icrc_of_packet_before>("(ICRC)", 8);
}
TEST(Srv6EncapBug, TheEngineOfARunGivesTheWrongIcrcOn) {
  Srv6EncapAdapter<Vsrv6_encap_icrc_of_packet_before, 64> engine;
  const std::vector<std::byte> inner(200, std::byte{0x60});
  Srv6EncapInput input;
  input.path.count = 1;
  input.icrc = true;
  engine.encapsulate(input, inner, 0);
  const EncapReply second = engine.encapsulate(input, inner, 100);
  EXPECT_TRUE(second.inner_intact);
  EXPECT_NE(second.icrc, wire::icrc(inner, false));
}

}  // namespace
}  // namespace mrc::cosim
