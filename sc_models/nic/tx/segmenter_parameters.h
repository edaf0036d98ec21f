#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct SegmenterConfig {
  PipelineConfig pipeline{4, 1};
  std::uint32_t queue_entries = 16;
};

void add_segmenter_parameters(ParameterTable& table);

}  // namespace mrc
