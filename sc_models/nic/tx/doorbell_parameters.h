#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct DoorbellConfig {
  PipelineConfig pipeline{4, 1};
  std::uint32_t queue_entries = 256;
  bool carries_wqe = false;
};

void add_doorbell_parameters(ParameterTable& table);

}  // namespace mrc
