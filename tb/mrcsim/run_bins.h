// `mrcsim run --shadow … --bins`: which bins of its blocks' functional coverage a run reaches. What the run asks each
// block on each node is recorded, and played to the block alone when the run is over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cosim/bench/coverage.h"
#include "cosim/trace.h"
#include "nic/nic_rtl.h"
#include "parameters/config.h"
#include "simulation/options.h"

namespace mrc {

/// What was found of one block, over all nodes on which it was selected.
struct BlockBins {
  std::string block;
  std::uint64_t transfers = 0;
  cosim::FunctionalCoverage coverage;  ///< without the points of the bench itself: handshakes, resets
  std::string mismatch;  ///< of the block alone, which has other back-pressure than in the run; empty: none
};

class RunBins {
 public:
  /// Transfers that are kept of each block and node: the first ones (chosen, so that the memory of a long run is
  /// bounded).
  static constexpr std::uint64_t kMostTransfers = 200'000;

  /// Of the selections in shadow. Throws std::invalid_argument where the bench of a block is not built, or from other
  /// sources than its RTL of runs.
  explicit RunBins(const std::vector<RtlSelection>& selections);

  /// As mrc::add_rtl(); what that RTL is asked is recorded. This object outlives the NIC.
  void add_rtl(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl);

  /// Plays all that was recorded. `stopped` is asked from time to time; throws cosim::CosimInterrupted once it is true.
  /// `progress` is told the share of the transfers that were played.
  std::vector<BlockBins> play(const std::function<bool()>& stopped, const std::function<void(double)>& progress) const;

 private:
  struct Recorded {
    std::string block;
    NodeId node = 0;
    std::unique_ptr<cosim::Trace> trace;
  };
  std::vector<Recorded> recorded_;
};

/// Contents of bins.json.
std::string bins_json(const std::vector<BlockBins>& blocks);
/// Lines of the summary.
std::string bins_text(const std::vector<BlockBins>& blocks, const std::string& file);

}  // namespace mrc
