#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct PsnTrackerConfig {
  PipelineConfig pipeline{6, 1};  ///< and kPsnTrackerCyclesPerBank more for each further bank that the edge runs into
  std::uint32_t bitmap_banks = 4096;  ///< shared pool of 128-bit banks
  std::uint32_t queue_entries = 64;
  std::uint32_t context_wait_entries =
      32;  ///< packets of 4 KiB that arrive at line rate during one read of host memory
};

void add_psn_tracker_parameters(ParameterTable& table);

}  // namespace mrc
