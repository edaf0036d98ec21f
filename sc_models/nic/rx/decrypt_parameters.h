#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct DecryptConfig {
  PipelineConfig pipeline{20, 1};
  std::uint32_t width_bits = 1024;  ///< per cycle
  std::uint32_t queue_entries = 64;
  std::uint32_t key_cache_entries = 1024;
  std::uint32_t key_bytes = 64;
  std::uint32_t key_wait_entries = 64;
};

void add_decrypt_parameters(ParameterTable& table);

}  // namespace mrc
