// What may be changed in a scenario to make it faster: each parameter that is a size, a rate or a latency, with the
// value that relieves it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parameters/config.h"

namespace mrc {

/// Of whom a change is asked. `environment`: cables, host, traffic.
enum class ReliefKind : unsigned char { design, protocol, environment };
std::string_view to_string(ReliefKind kind);

struct Relief {
  std::string key;    ///< a parameter, or node.nicN.parameter
  std::string value;  ///< as --set takes it
  ReliefKind kind = ReliefKind::design;
};

/// How much larger a buffer becomes so that it is no longer short.
inline constexpr int kBufferRelief = 16;

/// Of all parameters that can be relieved, in the registry's order: a buffer kBufferRelief times as large, the
/// default generation of PCIe (the last one, or twice the links, where it has that), twice the clock or width, an
/// interval or latency that is longer than its default at its default, and so on. Those of a node once for the node
/// under test and once for each of its peers where there are two nodes, and for all nodes where there are more. Values
/// that the scenario's rules refuse are left out.
std::vector<Relief> reliefs(const ScenarioConfig& scenario);

}  // namespace mrc
