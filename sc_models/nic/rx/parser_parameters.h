#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct ParserConfig {
  PipelineConfig pipeline{8, 1};
  std::uint32_t queue_entries = 64;
};

void add_parser_parameters(ParameterTable& table);

}  // namespace mrc
