#include "host/traffic_parameters.h"

#include <string_view>

#include "parameters/comma_list.h"
#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<NicChoice>() {
  return {"channel", "stripe"};
}
template <>
std::vector<std::string> words_of<AllReduceAlgorithm>() {
  return {"ring", "halving_doubling", "double_binary_tree", "hierarchical", "in_network"};
}
template <>
std::vector<std::string> words_of<AllToAllAlgorithm>() {
  return {"direct", "paced"};
}

template <>
std::vector<std::string> words_of<ClassScheduling>() {
  return {"strict", "weighted"};
}

std::vector<std::string> background_traces(const TrafficConfig& traffic) {
  const std::vector<std::string_view> traces = comma_list(traffic.background);
  return {traces.begin(), traces.end()};
}

void add_traffic_parameters(ParameterTable& table) {
  MRC_SCENARIO(traffic.trace, "", 0, 0, "trace file, or a pattern with {rank}; relative to the scenario file",
               assumption);
  MRC_SCENARIO(traffic.format, "", 0, 0, "format of the trace; auto: detected by content", assumption);
  table.only({"auto", "chakra", "goal", "goal_binary", "astra_text", "htsim_cm", "flow_csv"});
  MRC_SCENARIO(
      traffic.placement, "", 0, 0,
      "linear: rank i is on nic<i / ranks_per_nic>, or on nics_per_rank NICs from nic<i nics_per_rank> on; rails: the "
      "i-th NICs of all hosts are adjacent; or a list of the NICs of each rank, such as \"3,0,2,1\"",
      assumption);
  MRC_SCENARIO(traffic.ranks_per_nic, "ranks", 1, 64, "ranks per NIC; they exchange data over the scale-up fabric",
               assumption);
  MRC_SCENARIO(traffic.nics_per_rank, "NICs", 1, 16, "NICs of each accelerator, driven by the same software",
               assumption);
  MRC_SCENARIO(traffic.nic_choice, "", 0, 0,
               "with several NICs per rank; channel: channel c of a collective, or the c-th other message of a rank, "
               "uses NIC c modulo their number at both ends; stripe: each message is divided into one piece per NIC",
               assumption);
  MRC_SCENARIO(traffic.buffer_bytes, "bytes", 65'536, 16 * k1M,
               "registered memory per side and peer, reused by messages", assumption);
  MRC_SCENARIO(traffic.outstanding_messages, "messages", 1, 65'536, "work requests posted and not completed, per peer",
               assumption);
  MRC_SCENARIO(traffic.qps_per_peer, "QPs", 1, 16'384, "QPs between two nodes, used in turn", assumption);
  MRC_SCENARIO(
      traffic.qp_reset_us, "us", 1, 1e6,
      "[[fault]] kind = \"qp_reset\": time from when nothing of a QP is under way until software has torn it down "
      "at both ends and connected it anew; at least 16 delays of a cable",
      assumption);
  MRC_SCENARIO(traffic.split_over_qps, "", 0, 0,
               "software splits each message over the QPs of a pair (flow scaling); false: a message keeps to one QP",
               assumption);
  MRC_SCENARIO(traffic.offset_bytes, "bytes", 0, 4'096, "added to the 4 KiB aligned addresses of all buffers",
               assumption);
  MRC_SCENARIO(traffic.ranks, "ranks", 0, 131'072,
               "ranks, for a trace in which one file represents all; 0: the number in the trace", assumption);
  MRC_SCENARIO(traffic.rows, "rows", 0, 1e9,
               "only the given number of first flows, connections, layers, or nodes of one Chakra file; 0: all",
               assumption);
  MRC_SCENARIO(traffic.background, "", 0, 0,
               "traces of other jobs, played from the start on their own ranks, separated by commas; their ranks "
               "follow those of the job, or share its NICs from nic0 on if a name ends in @0",
               assumption);
  MRC_SCENARIO(traffic.byte_scale, "", 1e-6, 1e6, "factor on the bytes of each message and collective", assumption);
  MRC_SCENARIO(traffic.late_ranks, "ranks", 0, 1'024,
               "ranks in job.late_ranks of the result: those whose messages or computations took longest; 0: none",
               assumption);
  MRC_SCENARIO(traffic.collective.all_reduce, "", 0, 0,
               "algorithm of all-reduces; in_network: the switches of a tree add (fabric.reduction)", assumption);
  MRC_SCENARIO(traffic.collective.all_to_all, "", 0, 0,
               "direct: all messages at once; paced: traffic.collective.window of them", assumption);
  MRC_SCENARIO(traffic.collective.channels, "channels", 1, 64, "parts of a buffer that are sent in parallel",
               assumption);
  MRC_SCENARIO(traffic.collective.chunk_bytes, "bytes", 0, 16 * k1G,
               "longest message of rings, trees and chains; 0: a whole share", assumption);
  MRC_SCENARIO(traffic.collective.ranks_per_host, "ranks", 1, 1'024, "inner group of the hierarchical all-reduce",
               assumption);
  MRC_SCENARIO(traffic.collective.window, "messages", 1, 65'536, "messages in flight per rank of a paced all-to-all",
               assumption);
  MRC_SCENARIO(traffic.collective.skew, "", 0, 4,
               "the k-th most popular rank receives bytes of an all-to-all in proportion to 1/k^skew; 0: all the same",
               assumption);
  MRC_SCENARIO(traffic.classes.count, "classes", 1, kMostTrafficClasses,
               "traffic classes of data; each has QPs of its own, and queues where it can wait; 1: none", assumption);
  MRC_SCENARIO(
      traffic.classes.rules, "", 0, 0,
      "classes of messages and collectives, as \"kind=all_reduce bytes<=1MiB -> 1, job=1 -> 0\"; the first rule that "
      "fits counts, then the priority in the trace",
      assumption);
  MRC_SCENARIO(traffic.classes.scheduling, "", 0, 0,
               "order among data of several classes in NICs and switch ports: the highest class first, or by weights",
               assumption);
  MRC_SCENARIO(traffic.classes.weights, "", 0, 0,
               "with weighted scheduling: weights of the classes from 0 on, as \"1,3\"; empty: all the same",
               assumption);
  MRC_SCENARIO(traffic.tenants.separate, "", 0, 0,
               "the job and each trace of traffic.background are tenants: QPs, protection domain and keys of their own",
               assumption);
  MRC_SCENARIO(traffic.tenants.play, "", 0, 0,
               "numbers of the jobs that are played, as \"0,2\" (0: the job itself); the others leave their NICs idle; "
               "empty: all",
               assumption);
  MRC_SCENARIO(traffic.tenants.rate_limits_gbps, "", 0, 0,
               "payload that each NIC sends for job 0, 1 … at most, as \"0,200\"; 0 or not named: no limit",
               assumption);
  MRC_SCENARIO(traffic.tenants.context_entries, "", 0, 0,
               "QP contexts that job 0, 1 … may hold in a NIC's context cache, as \"0,256\"; 0 or not named: all",
               assumption);
  MRC_SCENARIO(traffic.tenants.intruder, "job", 0, kMostJobs,
               "job of traffic.background whose messages name the memory and the keys of another tenant; 0: none",
               assumption);
}

}  // namespace mrc
