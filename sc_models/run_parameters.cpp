#include "run_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<KernelMode>() {
  return {"wheel", "methods"};
}

void add_run_parameters(ParameterTable& table) {
  MRC_SCENARIO(run.max_time_us, "us", 1, 1e9, "simulated time after which the run ends as partial", assumption);
  MRC_SCENARIO(run.stall_us, "us", 10, 1e9,
               "simulated time without progress of any message after which the run ends as stalled", assumption);
  MRC_SCENARIO(run.stop_within_percent, "%", 0, 50,
               "half of the 95 % interval of the steady goodput at which the run ends, with status known; 0: never",
               assumption);
  MRC_SCENARIO(
      run.fast_forward_percent, "%", 0, 10,
      "time is skipped where the payload rate of each message that is sent is known to so much (95 % interval); "
      "0: never",
      assumption);
  MRC_SCENARIO(run.node_under_test, "", 0, 0, "node that goodput, limits and message times refer to", assumption);
  MRC_SCENARIO(
      run.message_causes, "", 0, 0,
      "result.json says what the slowest percent of the messages waited for (message_causes); needs memory: 16 "
      "bytes for each start of a packet in a box",
      assumption);
  MRC_SCENARIO(run.kernel, "", 0, 0,
               "wheel: one event wheel per NIC, with lookahead; methods: one process per box (slow, for checking)",
               assumption);
  MRC_SCENARIO(run.quantum_ns, "ns", 0, 1e6,
               "time by which a wheel runs ahead of the kernel; 0: as far as the delays of cables and switches let it",
               assumption);
}

}  // namespace mrc
