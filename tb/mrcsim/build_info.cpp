#include "mrcsim/build_info.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <systemc>

#include "cosim/rtl_blocks.h"
#include "cosim/rtl_modules.h"
#include "mpi/mpi_ranks.h"
#include "mrcsim/commit.h"

namespace mrc {
namespace {

constexpr std::string_view kCompiler =
#if defined(__clang__)
    "Clang " __clang_version__;
#else
    "GCC " __VERSION__;
#endif

/// Features that depend on a package, and whether this build has them.
std::array<std::pair<std::string_view, bool>, 3> features() {
  return {{{"Chakra traces", MRCSIM_WITH_CHAKRA != 0},
           {"charts of reports", MRCSIM_WITH_CHARTS != 0},
           {"runs on several processes (MPI)", has_mpi()}}};
}

std::string feature_names(bool present) {
  std::vector<std::string_view> names;
  for (const auto& [name, has] : features()) {
    if (has == present) names.push_back(name);
  }
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

std::string built_blocks(RtlModuleKind kind) {
  std::vector<std::string> names;
  for (const std::string& block : rtl_block_names()) {
    if (has_rtl_module(kind, block)) names.push_back(block);
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string version_text() {
  const std::string commit = source_commit();
  return fmt::format("mrcsim " MRCSIM_VERSION
                     " ({})\n"
                     "  built      {}, {}, SystemC {}\n"
                     "  with       {}\n"
                     "  without    {}\n"
                     "  RTL        {}\n"
                     "  benches    {}",
                     commit.empty() ? "not built in a clone" : "commit " + commit, MRCSIM_BUILD_TYPE, kCompiler,
                     sc_core::sc_version_string, feature_names(true), feature_names(false),
                     built_blocks(RtlModuleKind::rtl), built_blocks(RtlModuleKind::bench_small));
}

}  // namespace mrc
