#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct PayloadFetchConfig {
  PipelineConfig pipeline{4, 1};
  std::uint32_t queue_entries = 64;  ///< packets between read issue and spray scheduler
};

void add_payload_fetch_parameters(ParameterTable& table);

}  // namespace mrc
