// Negative control: with one uSID shifted in the RTL, the comparison with ring 1 fails in just that field.
#include <gtest/gtest.h>

#include "cosim/srv6_encap_rtl.h"
#include "random_packets.h"

namespace mrc {
namespace {

TEST(Srv6EncapBug, ShiftedUsidIsSeenInItsBytesOnly) {
  const auto engine = make_srv6_encap_rtl(1024);
  KeyedRandom random(3, "bug");
  std::uint64_t seen = 0;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    const Srv6EncapInput input = random_encap_input(random);
    const OuterHeaderBytes expected = outer_ipv6_header(input);
    const EncapReply reply = engine->encapsulate(input, random_inner_packet(random, 128), 0);
    EXPECT_TRUE(reply.inner_intact);
    for (std::size_t at = 0; at < expected.size(); ++at) {
      if (reply.header[at] == expected[at]) continue;
      ++seen;
      EXPECT_TRUE(at == 30 || at == 31) << "byte " << at << " is not of usid[1]";
    }
  }
  EXPECT_GT(seen, 500U);
}

}  // namespace
}  // namespace mrc
