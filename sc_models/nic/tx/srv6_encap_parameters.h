#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

struct Srv6EncapConfig {
  PipelineConfig pipeline{2, 1};  ///< as measured at the RTL
  std::uint32_t queue_entries = 8;
  bool control_packets = true;
  bool appends_icrc = false;
  bool appends_icrc_to_control = true;
  std::uint32_t icrc_cycles = 5;  ///< as measured at the RTL
};

void add_srv6_encap_parameters(ParameterTable& table);

}  // namespace mrc
