#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct QpSchedulerConfig {
  PipelineConfig pipeline{4, 1};
  std::uint32_t quantum_bytes = 16384;
  bool ack_request_at_turn_end = true;
  std::uint32_t context_cache_entries = 1024;
  std::uint32_t contexts_at_start = 0;
  std::uint32_t context_bytes = 256;
  double read_ahead_share = 0.125;
  std::uint32_t write_back_entries = 8;
};

void add_qp_scheduler_parameters(ParameterTable& table);

}  // namespace mrc
