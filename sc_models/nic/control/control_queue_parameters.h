#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct ControlQueueConfig {
  PipelineConfig pipeline{2, 1};
  std::uint32_t entries = 256;
};

void add_control_queue_parameters(ParameterTable& table);

}  // namespace mrc
