#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct DmaWriteConfig {
  PipelineConfig pipeline{4, 1};
  std::uint32_t queue_entries = 512;  ///< descriptors of staged packets
};

void add_dma_write_parameters(ParameterTable& table);

}  // namespace mrc
