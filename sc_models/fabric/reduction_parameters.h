// Switches that add: traffic.collective.all_reduce = "in_network".
#pragma once

#include <cstdint>

namespace mrc {

class ParameterTable;

struct ReductionConfig {
  std::uint32_t slots = 256;  ///< of a switch, shared by the trees through it
  std::uint32_t slot_bytes = 4096;
  double adder_gbps = 0;  ///< of a switch, payload that comes in; 0: as fast as its ports
  double adder_latency_ns = 50;
  double timeout_us = 100;
};

void add_reduction_parameters(ParameterTable& table);

}  // namespace mrc
