#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct SpraySchedulerConfig {
  PipelineConfig pipeline{4, 2};  ///< as measured at the RTL
  std::uint32_t queue_entries = 8;
  std::uint32_t order_buffers = 2;  ///< scan orders held: with one, no packet is served while a new one comes in
};

void add_spray_scheduler_parameters(ParameterTable& table);

}  // namespace mrc
