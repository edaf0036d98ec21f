#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct ProbeEngineConfig {
  PipelineConfig pipeline{4, 1};
  std::uint32_t outstanding_probes = 256;
};

void add_probe_engine_parameters(ParameterTable& table);

}  // namespace mrc
