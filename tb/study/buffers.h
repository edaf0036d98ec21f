// The parameters that are sizes of on-chip memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parameters/config.h"
#include "study/setting_key.h"

namespace mrc {

/// Keys of the capacities that change the SRAM of the scenario's node under test, in the registry's order.
std::vector<std::string> buffer_keys(const ScenarioConfig& scenario);

/// Whether the parameter is the size of this row of a result's buffers[]; false for a parameter of another node.
bool sizes_buffer(std::string_view key, std::string_view node, std::string_view buffer);

/// Bits of each structure of the key's node, the one under test where it names none.
std::map<std::string, std::uint64_t> structure_bits(const ScenarioConfig& scenario, std::string_view key);

}  // namespace mrc
