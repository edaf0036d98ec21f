#pragma once

#include <cstdint>

namespace mrc {

class ParameterTable;

struct RxStagingConfig {
  std::uint64_t bytes = 512ULL << 10;
};

void add_rx_staging_parameters(ParameterTable& table);

}  // namespace mrc
