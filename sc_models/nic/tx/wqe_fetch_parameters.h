#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

/// What a WQE holds besides inline payload: control and remote address segments of 16 B each, 4 B of length.
inline constexpr std::uint32_t kWqeHeaderBytes = 36;

struct WqeFetchConfig {
  PipelineConfig pipeline{2, 1};
  std::uint32_t prefetch_depth = 8;  ///< WQEs held a QP
  std::uint32_t wqe_bytes = 64;
  std::uint32_t inline_bytes = 0;  ///< messages up to this length lie in their WQE
  std::uint32_t batch = 4;         ///< WQEs a read request
};

void add_wqe_fetch_parameters(ParameterTable& table);

}  // namespace mrc
