#include "parameters/ring1_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<UnmarkedDelay>() {
  return {"fair_increase", "as_marked"};
}

void add_congestion_parameters(ParameterTable& table) {
  MRC_SCENARIO(cc.algorithm, "", 0, 0, "congestion control", api);
  table.only({"uet-1.0-nscc", "none"});
  const auto ns = [&table](const char* name, auto field, std::string_view meaning, ParameterSource source) {
    table.scenario_ns(name, field, {0, 1e9}, meaning, source);
  };
  ns(
      "cc.base_rtt_ns", [](ScenarioConfig & c) -> auto& { return c.cc.base_rtt_ps; },
      "network round-trip time without queueing", assumption);
  MRC_SCENARIO(
      cc.base_rtt_is_learned, "", 0, 0,
      "delay is that above the smallest RTT seen, as in UEC 1.0; false: above cc.base_rtt_ns, so that windows which "
      "never saw an empty queue do not take its delay for the length of the path",
      assumption);
  MRC_SCENARIO(cc.disable_quick_adapt, "", 0, 0, "NSCC without quick adapt", api);
  MRC_SCENARIO(cc.adjust_bytes_threshold, "bytes", 0, k1G, "acknowledged bytes between window updates; 0: 8 MTU", api);
  ns(
      "cc.adjust_period_ns", [](ScenarioConfig & c) -> auto& { return c.cc.adjust_period_ps; },
      "time between window updates; 0: base_rtt", api);
  MRC_SCENARIO(cc.eta_bytes, "bytes", 0, k1G, "constant increase per period; 0: 0.15 MTU * BDP / 150 kB", api);
  MRC_SCENARIO(cc.fi_bytes, "bytes", 0, k1G, "fair increase; 0: 5 MTU * BDP / 150 kB", api);
  MRC_SCENARIO(cc.fi_scale, "", 0, 1e6, "fast increase; 0: 0.25 * BDP / 150 kB", api);
  MRC_SCENARIO(cc.gamma, "", 0, 10, "multiplicative decrease", api);
  MRC_SCENARIO(cc.max_md_jump, "", 0, 1, "largest decrease in one step, as a share of the window", api);
  MRC_SCENARIO(cc.max_cwnd_bytes, "bytes", 0, 1024 * k1M, "largest window; 0: 1.5 BDP", api);
  MRC_SCENARIO(cc.min_cwnd_bytes, "bytes", 0, k1G, "smallest window; 0: one MTU", assumption);
  MRC_SCENARIO(cc.initial_cwnd_bytes, "bytes", 0, 1024 * k1M, "initial window; 0: the largest", assumption);
  MRC_SCENARIO(cc.qa_gate, "", 0, 31, "quick adapt acts if less than max_cwnd / 2^gate was achieved", api);
  ns(
      "cc.qa_threshold_ns", [](ScenarioConfig & c) -> auto& { return c.cc.qa_threshold_ps; },
      "delay that triggers quick adapt; 0: 4 target delays", api);
  ns(
      "cc.target_delay_ns", [](ScenarioConfig & c) -> auto& { return c.cc.target_delay_ps; },
      "target queueing delay; 0: 0.75 base_rtt with trimming, otherwise base_rtt", api);
  MRC_SCENARIO(cc.delay_ewma_weight, "", 1e-6, 1, "weight of a sample in the average delay", assumption);
  MRC_SCENARIO(
      cc.unmarked_delay, "", 0, 0,
      "delay at or above the target without a CE mark: fair_increase, by the table of UEC 1.0; as_marked, because only "
      "the last hop, which does not mark, delays so long without a mark",
      spec);
  MRC_SCENARIO(cc.trim_cuts_cwnd, "", 0, 0, "a TRIMMED NACK reduces the window by its packet", assumption);
  MRC_SCENARIO(cc.last_hop_trim_cuts, "", 0, 0, "with trim_cuts_cwnd: TRIMMED_LASTHOP also reduces the window",
               assumption);
  MRC_SCENARIO(
      cc.last_hop_trim_holds, "", 0, 0,
      "after TRIMMED_LASTHOP the window does not grow for base_rtt + target_delay: the last hop gives no marks",
      assumption);
  MRC_SCENARIO(cc.refusal_triggers_quick_adapt, "", 0, 0,
               "quick adapt is evaluated after a NO_BITMAP, NO_PKT_BUFFER, NO_RESOURCE or PSN_OOR_WINDOW NACK",
               assumption);
  MRC_SCENARIO(cc.loss_triggers_quick_adapt, "", 0, 0,
               "quick adapt is evaluated after a packet is declared lost; false: the window is reduced by the packet",
               assumption);
  MRC_SCENARIO(
      cc.max_cwnd_follows_rtt, "", 0, 0,
      "max_cwnd shrinks with the smallest RTT seen, as in UEC 1.0; false: fixed in bytes, as in the API of MRC",
      assumption);
}

}  // namespace mrc
