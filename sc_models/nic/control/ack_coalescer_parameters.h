#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct AckCoalescerConfig {
  PipelineConfig pipeline{8, 1};  ///< as measured: 2 for the trigger, 6 to read the SACK out of psn_tracker
  std::uint32_t queue_entries = 64;
};

void add_ack_coalescer_parameters(ParameterTable& table);

}  // namespace mrc
