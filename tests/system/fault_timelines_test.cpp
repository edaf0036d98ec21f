// Random timelines: whatever happens to the network, every message is complete and intact, or its QP is in error for
// the reason that the protocol asks for; a run never hangs. Each case is a seed.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "mrc/random.h"
#include "mrcsim_process.h"

namespace mrc {
namespace {

constexpr std::uint32_t kPlanes = 4;
constexpr std::uint32_t kNics = 4;
constexpr std::uint32_t kT1s = 3;

class Timeline {
 public:
  explicit Timeline(std::uint64_t seed) : random_(seed, "fault_timelines_test") {}

  bool finite_retries() const { return finite_retries_; }

  std::string scenario(std::uint64_t seed) {
    finite_retries_ = random_.chance(0.5);
    const char* fidelity = random_.chance(0.5) ? "detailed" : "endpoint";
    std::string text = fmt::format(
        "seed = {}\nfidelity = \"{}\"\n[traffic]\ntrace = \"flows.csv\"\nqps_per_peer = {}\n[nic]\nports = "
        "{}\nport_gbps "
        "= 200\n[fabric]\nnics = {}\nnics_per_t0 = 2\nt1s_per_plane = {}\n[protocol]\nev_count = 64\nev_active = "
        "32\npath_table_scope = \"{}\"\ntimeout_backoff = \"{}\"\n",
        seed, fidelity, 1 + random_.below(3), kPlanes, kNics, kT1s,
        std::array{"qp", "destination", "profile"}[random_.below(3)], random_.chance(0.5) ? "qp" : "packet");
    if (finite_retries_) {
      text += fmt::format("linear_retries = {}\nexponential_retries = {}\n", random_.below(4), random_.below(4));
    }
    text += fmt::format("[nic.port]\ndown_detect_us = {}\nremap_time_us = {}\nup_detect_us = {}\n",
                        1 + random_.below(20), random_.below(50), 1 + random_.below(50));
    if (random_.chance(0.3)) text += "[node.nic1]\nfidelity = \"detailed\"\n";
    const std::uint64_t faults = 1 + random_.below(7);
    for (std::uint64_t i = 0; i < faults; ++i) text += fault();
    return text;
  }

  std::string flows() {
    std::string text = "start_us,src,dst,bytes,tag\n";
    const std::uint64_t count = 4 + random_.below(12);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t from = random_.below(kNics);
      const std::uint64_t to = (from + 1 + random_.below(kNics - 1)) % kNics;
      text += fmt::format("{},{},{},{},{}\n", random_.below(200), from, to, 1 + random_.below(1 << 21), i);
    }
    return text;
  }

 private:
  std::string link() {
    const std::uint64_t plane = random_.below(kPlanes);
    switch (random_.below(3)) {
      case 0:
        return fmt::format("nic{}.port{}", random_.below(kNics), plane);
      case 1:
        return fmt::format("plane{}.t0.{}.up{}", plane, random_.below(2), random_.below(kT1s));
      default:
        return fmt::format("plane{}.t0.{}.down{}", plane, random_.below(2), random_.below(2));
    }
  }
  std::string fault() {
    const double for_us = 1.0 + static_cast<double>(random_.below(400));
    const auto entry = [&](const std::string& kind, const std::string& where, const std::string& more = "") {
      return fmt::format("[[fault]]\nat_us = {}\nkind = \"{}\"\nwhere = \"{}\"\nfor_us = {}\n{}\n", random_.below(250),
                         kind, where, for_us, more);
    };
    static constexpr std::array packets{"all", "data", "control", "retransmission"};
    // A line has one rate at a time: one such fault a timeline.
    const std::uint64_t kind = random_.below(9);
    switch (kind == 2 && std::exchange(rated_, true) ? 0 : kind) {
      case 0:
        return entry("link_down", link());
      case 1:
        return entry("link_flap", link(),
                     fmt::format("period_us = {}\njitter = {}\ncount = {}", for_us * 1.5, random_.uniform(),
                                 1 + random_.below(8)));
      case 2:
        return entry("link_rate", link(), fmt::format("share = {}", 0.05 + 0.9 * random_.uniform()));
      case 3:
        return entry("loss", link(),
                     fmt::format("probability = {}\npackets = \"{}\"", random_.uniform(), packets[random_.below(4)]));
      case 4:
        return entry("corruption", fmt::format("nic{}", random_.below(kNics)),
                     fmt::format("probability = {}\nev_index = {}", random_.uniform(), random_.below(64)));
      case 5:
        return entry("switch_reboot",
                     fmt::format("plane{}.t{}.{}", random_.below(kPlanes), random_.below(2), random_.below(2)),
                     random_.chance(0.5) ? "light = true" : "");
      case 6:
        return entry("plane_loss", fmt::format("plane{}", random_.below(kPlanes)));
      case 7:
        return entry("nic_port_loss", fmt::format("nic{}.port{}", random_.below(kNics), random_.below(kPlanes)));
      default:
        return fmt::format("[[fault]]\nat_us = {}\nkind = \"link_down\"\nwhere = \"plane{}.t0.{}.up0\"\n",
                           random_.below(250), random_.below(kPlanes), random_.below(2));
    }
  }

  KeyedRandom random_;
  bool finite_retries_ = false;
  bool rated_ = false;
};

class FaultTimelines : public ::testing::TestWithParam<int> {};

TEST_P(FaultTimelines, CompleteAndIntactOrInErrorForTheRightReason) {
  for (int i = 0; i < MRCSIM_TIMELINES_A_CASE; ++i) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * MRCSIM_TIMELINES_A_CASE + i);
    SCOPED_TRACE(fmt::format("timeline {}", seed));
    Timeline timeline(seed);
    const std::filesystem::path folder = test_folder();
    const std::string scenario = timeline.scenario(seed);
    std::ofstream(folder / "case.toml") << scenario;
    std::ofstream(folder / "flows.csv") << timeline.flows();
    const ProcessResult run =
        run_process(fmt::format("mrcsim run {} --quiet --out %D/out", (folder / "case.toml").string()));
    const auto r = read_json(folder / "out" / "result.json");
    ASSERT_FALSE(r.is_discarded()) << run.err << scenario;
    EXPECT_EQ(r["bytes"]["corrupted"], 0) << scenario;
    for (const auto& a : r["accounts"]) {
      EXPECT_EQ(a["in"].get<std::uint64_t>(),
                a["out"].get<std::uint64_t>() + a["lost"].get<std::uint64_t>() + a["held"].get<std::uint64_t>())
          << a << scenario;
    }
    if (run.exit_code == 5 && timeline.finite_retries()) {
      // A QP whose counter is exceeded answers its peer with UNEXP_EVENT, which ends the other direction.
      const std::string details = r["details"].dump();
      EXPECT_NE(details.find("retry counter exceeded"), std::string::npos) << details << scenario;
      for (const auto& detail : r["details"]) {
        const auto text = detail.get<std::string>();
        EXPECT_TRUE(text.ends_with("retry counter exceeded") || text.ends_with("remote operation error") ||
                    text.ends_with("flushed"))
            << text;
      }
      continue;
    }
    ASSERT_EQ(run.exit_code, 0) << run.err << scenario;
    EXPECT_EQ(r["messages"]["completed"], r["messages"]["count"]);
    EXPECT_EQ(r["bytes"]["delivered"], r["bytes"]["offered"]);
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, FaultTimelines, ::testing::Range(MRCSIM_FIRST_TIMELINE, MRCSIM_LAST_TIMELINE));

}  // namespace
}  // namespace mrc
