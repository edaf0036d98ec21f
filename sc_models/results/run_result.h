// What a run leaves behind, as values; result_json.h writes it. Keys and meaning: docs/result.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/latency_term.h"
#include "pcie/pcie_counts.h"
#include "results/message_times.h"
#include "results/series.h"
#include "results/time_spread.h"

namespace mrc {

/// `known`: ended early, because its goodput is known as well as was asked for.
enum class RunStatus : std::uint8_t { complete, failed, stalled, partial, mismatch, known };

/// Goodput of traffic that goes on as the run did behind its start, with its 95 % interval.
struct GoodputForecast {
  double goodput_gbps = 0;
  double low_gbps = 0;
  double high_gbps = 0;
  double bytes_share = 0;  ///< of the payload bytes that the node under test has to send: sent when the run ended
};

/// Time that was not simulated, because traffic was steady in it.
struct FastForwardResult {
  std::uint64_t skips = 0;
  double skipped_us = 0;
  std::uint64_t bytes = 0;    ///< of the node under test
  double within_percent = 0;  ///< half of the 95 % interval of the rates, at most
};

struct BufferResult {
  std::string node;
  std::string name;
  std::string unit;
  std::uint64_t capacity = 0;
  double mean = 0;
  std::uint64_t p99 = 0;
  std::uint64_t high_water = 0;
  double time_full_share = 0;
  std::uint64_t refusals = 0;  ///< times that a producer found no room, and waited or gave up
  struct Bin {
    std::uint64_t upper = 0;
    double share = 0;
  };
  std::vector<Bin> histogram = {};  ///< bins that were ever filled; shares of the time, sum 1
};

/// What entered a part of the system, left it, was lost in it, and is in it at the end: in = out + lost + held.
struct AccountResult {
  std::string node;
  std::string part;
  std::string unit;
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  std::uint64_t lost = 0;
  std::uint64_t held = 0;
};

/// Shares of one issue slot's time; they sum to 1.
struct LedgerResult {
  std::string node;
  std::string box;
  double busy = 0;
  double starved = 0;
  double idle = 0;
  std::map<std::string, double> blocked;
};

struct LimitResult {
  std::string cause;
  double gbps = 0;
  std::vector<std::string> relieved_by = {};  ///< parameters; of one node alone with its prefix
};

/// What the slowest percent of the messages waited for, in the mean of them.
struct MessageCause {
  std::string cause;
  double us = 0;
  std::vector<std::string> relieved_by = {};  ///< as of limits
};

struct RtlResult {
  std::string node;
  std::string block;
  std::string mode;
  std::string timing;
  std::uint64_t transactions = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t cycles = 0;                   ///< clock edges that the RTL was evaluated for
  std::uint64_t occupied_cycles = 0;          ///< sum over packets: taken in until the next one could be
  std::uint64_t systemc_occupied_cycles = 0;  ///< the same of the SystemC box
  std::uint64_t latency_cycles = 0;           ///< sum over packets: taken in until the first beat came out
  std::uint64_t systemc_latency_cycles = 0;
};

/// What a block's RTL was built from.
struct RtlSourceResult {
  std::string block;
  std::string top;
  std::vector<std::string> files;
  std::string sha256;  ///< over the contents of the files
  std::string contract;
};

struct EventResult {
  double time_us = 0;
  std::string what;
  std::string where;
  std::string effect;
};

struct NodeResult {
  std::string node;
  double tx_gbps = 0;
  double rx_gbps = 0;
};

/// What one output port of a switch did.
struct SwitchPortResult {
  std::string port;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t ce_marked = 0;
  std::uint64_t most_queued_bytes = 0;
};

struct PcieResult {
  std::string node;
  PcieCounts counts;
};

/// A memory of the NIC: what the parameters make it, and after a run how it was used.
struct SramResult {
  std::string structure;
  std::uint64_t bits = 0;  ///< of all instances, without check bits
  std::uint32_t instances = 1;
  std::uint64_t depth = 0;  ///< words of an instance
  std::uint64_t width_bits = 0;
  std::string ports;  ///< of a bank: 1rw, 1r1w, 2rw
  std::uint32_t banks = 1;
  std::uint64_t ecc_bits = 0;  ///< of all instances
  double area_mm2 = 0;         ///< of all instances, check bits included
  bool register_file = false;
  std::string fields;  ///< what a word consists of

  bool measured = false;  ///< the following were counted in a run
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  double mean_accesses_per_cycle = 0;  ///< of an instance
  std::uint32_t peak_accesses_per_cycle = 0;
  std::uint64_t conflict_stalls = 0;  ///< accesses that waited for a port
  std::uint64_t conflict_stall_cycles = 0;
  std::uint64_t corrected_errors = 0;
  std::uint64_t uncorrected_errors = 0;
};

/// What the job's ranks saw.
struct JobResult {
  struct MeanAndMax {
    double mean = 0;
    double max = 0;
  };
  /// Collectives of one kind, size and number of ranks.
  struct CollectiveRow {
    std::string kind;
    std::string algorithm;
    std::uint32_t ranks = 0;
    std::uint64_t bytes = 0;  ///< as the NCCL tests count them
    std::uint64_t count = 0;
    MeanAndMax time_us;        ///< from the last rank's start to the last rank's end
    double start_skew_us = 0;  ///< longest time between the first rank's start and the last one's
    double algorithm_bandwidth_gbps = 0;
    double bus_bandwidth_gbps = 0;
  };
  std::uint32_t ranks = 0;
  std::uint32_t ranks_played = 0;  ///< 1 if one rank represents all
  double step_time_us = 0;
  MeanAndMax compute_us;                ///< over ranks: time with a computation of an accelerator's stream under way
  MeanAndMax communication_us;          ///< with a message or collective under way
  MeanAndMax exposed_communication_us;  ///< with communication and no computation under way
  /// A rank whose messages or computations took longest, beyond the mean over ranks.
  struct LateRank {
    std::uint32_t rank = 0;
    std::string late_by;             ///< largest of the three delays: "sends", "receives" or "computation"
    double sends_late_us = 0;        ///< mean over its messages, each against the mean of its size
    double receives_late_us = 0;     ///< likewise
    double computation_late_us = 0;  ///< its time with a computation under way
    double exposed_communication_us = 0;
    double end_us = 0;
  };
  std::uint32_t straggler_rank = 0;
  double straggler_behind_us = 0;    ///< its end after the median rank's
  std::vector<LateRank> late_ranks;  ///< the latest first; only with traffic.late_ranks
  std::vector<CollectiveRow> collectives;
  std::vector<std::string> cut;  ///< what made the trace smaller, as "traffic.ranks = 8"
};

/// Messages of one tenant, or of one traffic class, from all nodes.
struct ShareResult {
  std::uint32_t number = 0;
  std::uint64_t messages = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t completed_bytes = 0;
  double first_posted_us = 0;
  double last_done_us = 0;
  TimeSpread message_time_us;
};

struct RunResult {
  std::string scenario;
  std::uint64_t seed = 0;
  RunStatus status = RunStatus::complete;
  std::vector<std::string> details;  ///< why a run is not complete: stuck QPs, first mismatch, first failure
  std::vector<std::string> notes;    ///< what a reader may not expect, such as faults after the end of the run
  double simulated_time_us = 0;

  struct Messages {
    std::uint64_t count = 0;
    std::uint64_t completed = 0;
    std::uint64_t failed = 0;
  } messages;
  struct Bytes {
    std::uint64_t offered = 0;
    std::uint64_t delivered = 0;
    std::uint64_t corrupted = 0;
  } bytes;
  double goodput_gbps = 0;
  GoodputForecast early_stop;      ///< zeros without run.stop_within_percent
  FastForwardResult fast_forward;  ///< zeros without run.fast_forward_percent
  double line_rate_gbps = 0;
  double framing_limit_gbps = 0;                     ///< goodput that headers and framing leave at line rate
  TimeSpread message_time_us;                        ///< of the node under test
  std::vector<TimeQuantile> message_time_quantiles;  ///< the distribution, at most 104 points
  std::vector<MessageRecord> all_messages;           ///< of all nodes, those that were completed
  TimeSpread all_message_time_us;                    ///< of all_messages
  /// Messages that a rank waits for: posted until the software of the receiver acts on them.
  TimeSpread one_way_us;
  struct Packets {
    std::uint64_t sent = 0;
    std::uint64_t control = 0;
    std::uint64_t delivered = 0;
    std::uint64_t retransmitted = 0;
    std::uint64_t duplicate = 0;
    std::uint64_t trimmed = 0;
    std::uint64_t dropped = 0;
    std::uint64_t corrupted = 0;
    std::uint64_t ce_marked = 0;
    std::uint64_t nacks = 0;
  } packets;
  /// Of all nodes, where packets are encrypted.
  struct Encryption {
    bool on = false;
    std::uint64_t encrypted = 0;
    std::uint64_t decrypted = 0;
    std::uint64_t tag_failures = 0;
    std::uint64_t replayed = 0;
    std::uint64_t too_old = 0;
    std::uint64_t unverified = 0;
    std::uint64_t unknown = 0;
    std::uint64_t encrypt_key_misses = 0;
    std::uint64_t decrypt_key_misses = 0;
  } encryption;
  /// QP contexts that went over PCIe, all nodes.
  struct Contexts {
    std::uint64_t read = 0;
    std::uint64_t evicted = 0;
    std::uint64_t written = 0;
  } contexts;
  JobResult job;
  std::vector<ShareResult> tenants;  ///< where jobs are separate
  std::vector<ShareResult> classes;  ///< where there are several
  struct Completions {
    std::uint64_t cqes = 0;
    std::uint64_t writes = 0;  ///< PCIe writes that carried them
  } completions;
  /// Of the baseline transport, all nodes and switches.
  struct Rocev2 {
    std::uint64_t cnps = 0;
    std::uint64_t naks = 0;
    std::uint64_t out_of_sequence = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t pauses = 0;
    double paused_us = 0;  ///< sum over ports
  } rocev2;
  /// Of Ultra Ethernet's transport, all nodes.
  struct Uet {
    bool on = false;
    std::uint64_t timeouts = 0;
    std::uint64_t grants = 0;           ///< of credit
    std::uint64_t credit_requests = 0;  ///< in packets of their own
  } uet;
  /// Of switches that add, and of the NICs that have a part.
  struct Reduction {
    std::uint64_t trees = 0;                  ///< 0: switches reduce nothing
    std::uint64_t switches = 0;               ///< that add
    std::uint32_t least_window = 0;           ///< slots of a tree
    std::uint64_t slots = 0;                  ///< of the switch with most
    std::uint64_t memory_bytes = 0;           ///< of these slots
    std::uint64_t most_slots_adding = 0;      ///< in a switch at one time
    double busiest_adder_share = 0;           ///< of the time
    std::uint64_t added = 0;                  ///< packets, each once
    std::uint64_t duplicates = 0;             ///< packets that had been added
    std::uint64_t retransmitted_sums = 0;     ///< of switches, to a parent
    std::uint64_t retransmitted_results = 0;  ///< of switches, to one child
    std::uint64_t damaged = 0;                ///< packets dropped by switches
    std::uint64_t timeouts = 0;               ///< of NICs
    std::uint64_t duplicate_results = 0;      ///< that a NIC had
  } reduction;
  std::string node_under_test;
  std::string peer;  ///< the node that the one under test sent most bytes to; "" if it sent none
  std::vector<NodeResult> nodes;
  std::vector<AccountResult> accounts;
  std::vector<BufferResult> buffers;
  std::vector<LedgerResult> ledger;
  std::vector<LimitResult> limits;
  std::vector<MessageCause> message_causes;  ///< only with run.message_causes; the largest first
  std::vector<RtlResult> rtl;
  std::vector<RtlSourceResult> rtl_sources;  ///< of the blocks in rtl
  std::vector<PcieResult> pcie;
  std::vector<SramResult> sram;
  std::vector<LatencyTerm> latency_terms;
  std::vector<SwitchPortResult> switch_ports;  ///< that saw a packet; of very many the 256 where most happened
  std::vector<EventResult> events;
  Series series{1.0};

  /// Cost of the run; wall time stays out of result.json.
  struct Cost {
    std::uint64_t box_steps = 0;
    std::uint64_t kernel_activations = 0;
    double wall_seconds = 0;  ///< filled in by the command line
  } cost;
};

/// The word that result.json has for a status.
const char* to_string(RunStatus status);

}  // namespace mrc
