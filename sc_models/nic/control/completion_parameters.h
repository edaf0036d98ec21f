#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct CompletionConfig {
  PipelineConfig pipeline{4, 1};
  std::uint32_t queue_entries = 256;
  std::uint32_t cqe_bytes = 64;
  std::uint32_t cq_entries = 4096;     ///< of the completion queue in host memory
  std::uint32_t moderation_count = 1;  ///< CQEs written at once
  double moderation_us = 0;            ///< the oldest waits no longer than this
};

void add_completion_parameters(ParameterTable& table);

}  // namespace mrc
