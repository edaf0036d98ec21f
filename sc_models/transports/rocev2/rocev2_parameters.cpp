#include "transports/rocev2/rocev2_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_rocev2_parameters(ParameterTable& table) {
  MRC_SCENARIO(rocev2.rc.window_packets, "packets", 1, 1 << 22, "packets sent and not acknowledged, per QP",
               assumption);
  MRC_SCENARIO(rocev2.rc.window_bytes, "bytes", 0, k1G, "payload sent and not acknowledged, per QP; 0: no limit",
               assumption);
  MRC_SCENARIO(rocev2.rc.ack_every_packets, "packets", 1, 65'536, "the responder acknowledges every n-th packet",
               assumption);
  MRC_SCENARIO(
      rocev2.rc.reorder_packets, "packets", 0, 1 << 20,
      "the responder places packets that are at most this far ahead, as NICs do where switches spray; a gap is a "
      "loss when one is further ahead; 0: in order only",
      assumption);
  MRC_SCENARIO(rocev2.rc.timeout_exponent, "", 0, 31, "t: local ACK timeout is 4.096 us * 2^t", assumption);
  MRC_SCENARIO(rocev2.rc.retry_count, "retries", 0, 7, "timeouts and sequence errors in a row before the QP fails",
               spec);
  MRC_SCENARIO(rocev2.dcqcn, "", 0, 0, "DCQCN (Zhu et al., SIGCOMM 2015); false: every flow sends at line rate", paper);
  MRC_SCENARIO(rocev2.rate.g, "", 1e-6, 1,
               "DCQCN: weight of a CNP in alpha; SIGCOMM 2015: 1/256 (NVIDIA's default: 5/1,024 each 1 us)", paper);
  const auto us = [&table](const char* name, auto field, std::string_view meaning) {
    table.scenario_ns(name, field, {100, 1e12}, meaning, paper);
  };
  us(
      "rocev2.rate.alpha_period_ns", [](ScenarioConfig & c) -> auto& { return c.rocev2.rate.alpha_period_ps; },
      "DCQCN: alpha decays once in this time without a CNP; SIGCOMM 2015: 55 us (NVIDIA's default: 1 us)");
  us(
      "rocev2.rate.increase_period_ns", [](ScenarioConfig & c) -> auto& { return c.rocev2.rate.increase_period_ps; },
      "DCQCN: period of the rate timer; SIGCOMM 2015: 55 us (NVIDIA's default: 300 us)");
  us(
      "rocev2.rate.cnp_interval_ns", [](ScenarioConfig & c) -> auto& { return c.rocev2.rate.cnp_interval_ps; },
      "DCQCN: minimum time between two CNPs of a flow; SIGCOMM 2015: 50 us (NVIDIA's default: 4 us)");
  MRC_SCENARIO(rocev2.rate.increase_bytes, "bytes", 1, 1e12,
               "DCQCN: period of the byte counter; SIGCOMM 2015: 10 MB (NVIDIA's default: 32,767 B)", paper);
  MRC_SCENARIO(rocev2.rate.fast_recovery_steps, "steps", 1, 1'000,
               "DCQCN: F, steps of fast recovery; SIGCOMM 2015: 5 (NVIDIA's default: 1)", paper);
  MRC_SCENARIO(rocev2.rate.additive_gbps, "Gb/s", 0, 1'600,
               "DCQCN: additive increase per step; SIGCOMM 2015: 40 Mb/s (NVIDIA's default: 5 Mb/s)", paper);
  MRC_SCENARIO(rocev2.rate.hyper_gbps, "Gb/s", 0, 1'600,
               "DCQCN: hyper increase per step; ten times the additive increase, as in NVIDIA's defaults", assumption);
  MRC_SCENARIO(rocev2.rate.least_rate_gbps, "Gb/s", 1e-6, 1'600,
               "DCQCN: minimum rate of a flow (NVIDIA's default: 1 Mb/s)", assumption);
  MRC_SCENARIO(rocev2.ecn_min_bytes, "bytes", 0, k1G,
               "queue above which switches mark, including the last hop; 0: 5 KB at 40 Gb/s, scaled by link rate",
               paper);
  MRC_SCENARIO(rocev2.ecn_max_bytes, "bytes", 0, k1G,
               "queue above which switches mark all packets; 0: 200 KB at 40 Gb/s, scaled by link rate", paper);
  MRC_SCENARIO(rocev2.ecn_max_probability, "", 0, 1, "share of packets marked just below ecn_max_bytes", paper);
  MRC_SCENARIO(rocev2.pfc, "", 0, 0, "switches pause the senders of data instead of dropping it", paper);
  MRC_SCENARIO(rocev2.pfc_xoff_bytes, "bytes", 4'096, k1G,
               "queued data from one input port above which the sender on that port is paused", assumption);
  MRC_SCENARIO(rocev2.pfc_xon_bytes, "bytes", 0, k1G,
               "queued data from one input port below which the sender is resumed", assumption);
}

}  // namespace mrc
