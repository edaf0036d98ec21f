// How long a run lasts and how it is executed.
#pragma once

#include <cstdint>
#include <string>

namespace mrc {

class ParameterTable;

/// How boxes are executed: on one event wheel a NIC, or as one SC_METHOD each (the oracle of the tests).
enum class KernelMode : std::uint8_t { wheel, methods };

struct RunConfig {
  double max_time_us = 10'000'000;
  double stall_us = 20'000;  ///< no progress of any message for so long ends the run as stalled
  std::string node_under_test = "nic0";
  KernelMode kernel = KernelMode::wheel;
  double stop_within_percent = 0;   ///< ends the run when steady goodput is known to so much; 0: never
  double fast_forward_percent = 0;  ///< skips time where payload rates are known to so much; 0: never
  bool message_causes = false;      ///< records what the slowest messages waited for
  double quantum_ns = 0;            ///< how far a wheel runs ahead; 0 = as far as delays let it
};

void add_run_parameters(ParameterTable& table);

}  // namespace mrc
