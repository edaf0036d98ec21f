// What is played: the trace, where its ranks sit, and how messages are posted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parameters/collective_options.h"
#include "parameters/traffic_classes.h"

namespace mrc {

class ParameterTable;

/// How the messages of a rank with several NICs are shared among these.
enum class NicChoice : std::uint8_t { channel, stripe };

struct TrafficConfig {
  std::string trace;            ///< path, or path pattern with {rank}
  std::string format = "auto";  ///< auto, chakra, goal, astra_text, htsim_cm, flow_csv
  std::string placement = "linear";
  std::uint32_t ranks_per_nic = 1;
  std::uint32_t nics_per_rank = 1;  ///< one of the two is 1
  NicChoice nic_choice = NicChoice::channel;
  std::uint64_t buffer_bytes = 16ULL << 20;  ///< registered a side and peer
  std::uint32_t outstanding_messages = 16;   ///< posted and not completed, a peer
  std::uint32_t qps_per_peer = 1;
  double qp_reset_us = 50;         ///< from a quiet QP until it is connected anew
  bool split_over_qps = false;     ///< each message in a part for each QP
  std::uint64_t offset_bytes = 0;  ///< added to the 4 KiB aligned buffer addresses
  std::uint32_t ranks = 0;         ///< 0 = as many as the trace has
  std::uint64_t rows = 0;          ///< 0 = all
  std::string background;          ///< traces that are played beside, separated by commas; empty: none
  double byte_scale = 1.0;
  std::uint32_t late_ranks = 0;  ///< listed in the result
  CollectiveOptions collective;  ///< its seed is that of the scenario
  TrafficClasses classes;
  Tenants tenants;
};

/// The traces that `background` names, each with its @N.
std::vector<std::string> background_traces(const TrafficConfig& traffic);

void add_traffic_parameters(ParameterTable& table);

}  // namespace mrc
