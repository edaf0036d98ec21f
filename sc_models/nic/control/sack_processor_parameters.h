#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct SackProcessorConfig {
  PipelineConfig pipeline{8, 17};  ///< interval: as measured at retransmit_buffer; each PSN and bit is one more
  std::uint32_t queue_entries = 256;
  std::uint32_t context_wait_entries = 32;  ///< as of psn_tracker
};

void add_sack_processor_parameters(ParameterTable& table);

}  // namespace mrc
