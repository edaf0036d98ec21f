// Settings of a scenario that nothing reads: who changes one and sees the same result would conclude that it does not
// matter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parameters/config.h"

namespace mrc {

/// One sentence for each of `keys` (as a scenario names them, node.nicN.… included) that has no effect because of the
/// scenario's transport or because all nodes that it is for are light endpoints.
std::vector<std::string> unused_settings(const ScenarioConfig& scenario, const std::vector<std::string>& keys);

/// Only engines for packets, or what goes with them, read this parameter; without protocol.encryption.framing nobody
/// does.
bool is_of_encryption(std::string_view parameter);

}  // namespace mrc
