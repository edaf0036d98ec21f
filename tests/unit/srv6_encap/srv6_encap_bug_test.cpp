// Negative controls: the scoreboard finds each kept bug, names the header's field, and leaves a short replay that shows
// it again.
#include <gtest/gtest.h>

#include <filesystem>

#include "Vsrv6_encap_icrc_of_packet_before.h"
#include "Vsrv6_encap_icrc_over_hop_limit.h"
#include "Vsrv6_encap_srh_length_in_bytes.h"
#include "Vsrv6_encap_usid_shifted.h"
#include "cosim/bench/stream_bench.h"
#include "cosim/srv6_encap_model.h"

namespace mrc::cosim {
namespace {

template <typename Model>
CosimReport run(const CosimOptions& options) {
  StreamBench bench("srv6_encap", std::make_unique<Srv6EncapModel>(64, make_srv6_encap_dut<Model>));
  return bench.run(options);
}

template <typename Model>
void expect_found(const std::string& field, std::uint64_t most_transfers) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("srv6_encap_bug_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::create_directories(folder);
  CosimOptions options;
  options.count = 100'000;
  options.out = folder.string();
  const CosimReport found = run<Model>(options);
  ASSERT_EQ(found.mismatches, 1U);
  EXPECT_NE(found.first_mismatch->field.find(field), std::string::npos) << found.first_mismatch->line();
  EXPECT_LE(found.replay_transfers, most_transfers);
  EXPECT_GT(std::filesystem::file_size(folder / "mismatch.fst"), 0U);

  options.replay = (folder / "mismatch.replay").string();
  const CosimReport again = run<Model>(options);
  ASSERT_EQ(again.mismatches, 1U);
  EXPECT_NE(again.first_mismatch->field.find(field), std::string::npos) << again.first_mismatch->line();
  std::filesystem::remove_all(folder);
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

}  // namespace
}  // namespace mrc::cosim
