// --rtl, --shadow and --rtl-timing: the blocks and nodes for which RTL decides or runs in shadow, and what sets its
// pace.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "simulation/simulation.h"

namespace mrc {

class RtlSelectionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `rtl` and `shadow` are lists "BLOCK[@NODE],…", BLOCK may be "all"; without a node a block is selected on every node
/// nic0 … nic<nodes - 1>. Throws RtlSelectionError for an unknown block or node, or one that is selected twice.
std::vector<RtlSelection> parse_rtl_selections(const std::string& rtl, const std::string& shadow, std::uint32_t nodes);

/// --rtl-timing pins: the blocks that decide are clocked with the run. Throws RtlSelectionError where there is none,
/// and for those that cannot be.
void clock_by_pins(std::vector<RtlSelection>& selections);

}  // namespace mrc
