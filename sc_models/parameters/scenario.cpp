#include "parameters/scenario.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "fabric/fabric_parameters.h"
#include "fabric/fault_parameters.h"
#include "mrc/srv6_usid.h"
#include "parameters/node_key.h"
#include "parameters/toml_file.h"
#include "parameters/transport.h"
#include "parameters/unused_settings.h"

namespace mrc {
namespace {

/// One key of the file or of the command line, not yet looked up.
struct Assignment {
  std::string key;
  ParameterValue value;
  bool as_text = false;  ///< from the command line: the parameter's type says how to read it
  std::string place;
};

class Collector {
 public:
  explicit Collector(std::string path) : path_(std::move(path)) {}

  void table(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string name = prefix.empty() ? std::string(key.str()) : prefix + "." + std::string(key.str());
      const std::string place = place_of(path_, key.source());
      if (name == "fault" && !node.is_array()) {
        throw ParameterError(place, "fault: expected [[fault]] tables, one per fault (docs/faults.md)");
      }
      if (const toml::table* inner = node.as_table()) {
        this->table(*inner, name);
      } else if (const toml::array* entries = node.as_array(); name == "fault" && entries != nullptr) {
        read_faults(*entries);
      } else {
        assignments.push_back({name, scalar_of(node, name, place), false, place});
      }
    }
  }

  /// A fault of the command line; of two with the same key the later one counts.
  void assign_fault(const Assignment& assignment) {
    const toml::table text = parse_toml("fault = " + std::get<std::string>(assignment.value), assignment.place);
    const toml::table* table = text["fault"].as_table();
    if (text.size() != 1 || table == nullptr) {
      throw ParameterError(
          assignment.place,
          "expected {kind = \"…\", where = \"…\", at_us = …}, the keys of a [[fault]] (docs/faults.md)");
    }
    const FaultConfig fault = read_fault(entry_of(*table, [&](const toml::node&) { return assignment.place; }));
    const auto known = std::find(assigned_.begin(), assigned_.end(), assignment.key);
    const auto at = static_cast<std::size_t>(known - assigned_.begin());
    if (known == assigned_.end()) {
      assigned_.push_back(assignment.key);
      faults.push_back(fault);
    } else {
      faults[faults.size() - assigned_.size() + at] = fault;
    }
  }

  std::vector<Assignment> assignments;
  std::vector<FaultConfig> faults;

 private:
  void read_faults(const toml::array& entries) {
    const auto place = [&](const toml::node& node) { return place_of(path_, node.source()); };
    for (const toml::node& node : entries) {
      const toml::table* table = node.as_table();
      if (table == nullptr) throw ParameterError(place(node), "fault: expected [[fault]] tables");
      faults.push_back(read_fault(entry_of(*table, place)));
    }
  }

  static FaultEntry entry_of(const toml::table& table, const auto& place) {
    FaultEntry entry{place(table), {}};
    for (const auto& [key, value] : table) {
      const std::string name(key.str());
      entry.keys.push_back({name, scalar_of(value, "fault." + name, place(value)), place(value)});
    }
    return entry;
  }

  std::vector<std::string> assigned_;  ///< keys of the last of `faults`
  std::string path_;
};

Assignment parse_assignment(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string place = "--set " + text;
  if (equals == std::string::npos || equals == 0) throw ParameterError(place, "expected key=value");
  return {text.substr(0, equals), text.substr(equals + 1), true, place};
}

NodeKey node_key_of(const Assignment& assignment) {
  if (std::optional<NodeKey> key = parse_node_key(assignment.key)) return *std::move(key);
  throw ParameterError(assignment.place, fmt::format("{}: expected node.nic<number>.<parameter>", assignment.key));
}

/// "node.nic0-63.KEY" is one assignment for each of these nodes.
std::vector<Assignment> each_node(const std::vector<Assignment>& assignments, std::uint32_t nics) {
  constexpr std::string_view prefix = "node.nic";
  std::vector<Assignment> all;
  for (const Assignment& assignment : assignments) {
    const std::string_view key = assignment.key;
    const std::size_t dash = key.find('-');
    if (!key.starts_with(prefix) || dash == std::string_view::npos || dash > key.find('.', prefix.size())) {
      all.push_back(assignment);
      continue;
    }
    const std::size_t dot = key.find('.', dash);
    NodeId first = 0;
    NodeId last = 0;
    const auto read = [](std::string_view text, NodeId& id) {
      const auto parsed = std::from_chars(text.data(), text.data() + text.size(), id);
      return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
    };
    const bool is_range = dot != std::string_view::npos &&
                          read(key.substr(prefix.size(), dash - prefix.size()), first) &&
                          read(key.substr(dash + 1, dot - dash - 1), last) && first <= last && last < nics;
    if (!is_range) {
      throw ParameterError(
          assignment.place,
          fmt::format("{}: expected node.nic<first>-<last>.<parameter>, of nic0 … nic{}", assignment.key, nics - 1));
    }
    for (NodeId node = first; node <= last; ++node) {
      all.push_back(assignment);
      all.back().key = fmt::format("{}{}{}", prefix, node, key.substr(dot));
    }
  }
  return all;
}

const Parameter& lookup(const std::string& key, const std::string& place, bool for_node) {
  const Parameter* parameter = find_parameter(key);
  if (parameter == nullptr) {
    throw ParameterError(place, fmt::format("unknown key {}; nearest: {}", key, nearest_parameter(key)));
  }
  if (for_node && !parameter->per_node) {
    throw ParameterError(
        place, fmt::format("{} is the same for all nodes; [node.…] takes fidelity, nic, pcie and host keys", key));
  }
  return *parameter;
}

ParameterValue value_for(const Parameter& parameter, const Assignment& assignment) {
  return assignment.as_text ? parse_value(parameter, std::get<std::string>(assignment.value), assignment.place)
                            : checked_value(parameter, assignment.value, assignment.place);
}

/// First what holds for all nodes, then what differs: a key of a node wins, wherever it is.
void apply_assignments(ScenarioConfig& scenario, const std::vector<Assignment>& assignments) {
  for (const Assignment& assignment : assignments) {
    if (assignment.key.starts_with("node.")) continue;
    const Parameter& parameter = lookup(assignment.key, assignment.place, false);
    parameter.set(scenario, scenario.node_default, value_for(parameter, assignment));
  }
  for (const Assignment& assignment : each_node(assignments, scenario.fabric.nics)) {
    if (!assignment.key.starts_with("node.")) continue;
    const auto [node, key] = node_key_of(assignment);
    if (node >= scenario.fabric.nics) {
      throw ParameterError(assignment.place, fmt::format("there is no nic{}: fabric.nics = {}, nic0 … nic{}", node,
                                                         scenario.fabric.nics, scenario.fabric.nics - 1));
    }
    const Parameter& parameter = lookup(key, assignment.place, true);
    const auto [config, added] = scenario.node_override.try_emplace(node, scenario.node_default);
    parameter.set(scenario, config->second, value_for(parameter, assignment));
  }
}

std::string resolve(const std::string& scenario_path, const std::string& path) {
  if (path.empty() || std::filesystem::path(path).is_absolute()) return path;
  return (std::filesystem::path(scenario_path).parent_path() / path).lexically_normal().string();
}

void read_latencies(const std::string& scenario_path, NodeConfig& node) {
  node.pcie.read_latency_histogram = resolve(scenario_path, node.pcie.read_latency_histogram);
  read_latency_times(node.pcie);
}

void check_node(const ScenarioConfig& s, const NodeConfig& node, const std::string& name, const std::string& place) {
  const auto require = [&](bool holds, const std::string& message) {
    if (!holds) throw ParameterError(place, name.empty() ? message : fmt::format("{}: {}", name, message));
  };
  const ProtocolConfig& protocol = s.protocol;
  Packet full;
  full.payload_bytes = protocol.mtu_bytes;
  full.opcode = Opcode::write_only_imm;
  const std::uint32_t frame = wire_bytes(full, protocol);
  require(node.nic.ports == s.node_default.nic.ports, "nic.ports must be the same on all nodes: each port is a plane");
  require(protocol.ev_active % node.nic.ports == 0 && protocol.ev_count % node.nic.ports == 0,
          fmt::format("protocol.ev_active = {} and protocol.ev_count = {} must be multiples of nic.ports = {}, so that "
                      "all planes have the same number",
                      protocol.ev_active, protocol.ev_count, node.nic.ports));
  require(
      node.nic.port.tx_fifo_bytes >= frame,
      fmt::format("nic.port.tx_fifo_bytes = {} does not hold one packet of {} B", node.nic.port.tx_fifo_bytes, frame));
  require(node.nic.rx_staging.bytes >= protocol.mtu_bytes,
          fmt::format("nic.rx_staging.bytes = {} does not hold one packet of protocol.mtu_bytes = {}",
                      node.nic.rx_staging.bytes, protocol.mtu_bytes));
  require(node.nic.retransmit_buffer.store == RetransmitStore::descriptor ||
              node.nic.retransmit_buffer.bytes >= protocol.mtu_bytes,
          fmt::format("nic.retransmit_buffer.bytes = {} does not hold one packet of protocol.mtu_bytes = {}",
                      node.nic.retransmit_buffer.bytes, protocol.mtu_bytes));
  // Packets that wait for a record must leave room for the retransmission that frees one.
  const bool at_arrival = takes_at_arrival(node.nic.retransmit_buffer);
  constexpr const char* kAtArrival =
      "with nic.retransmit_buffer.reserve_record = \"at_arrival\" or store = \"payload\", since a retransmission "
      "passes packets that wait for records";
  require(!at_arrival || node.nic.payload_fetch.queue_entries >= 2,
          fmt::format("nic.payload_fetch.queue_entries = {}: allowed is 2 or more {}",
                      node.nic.payload_fetch.queue_entries, kAtArrival));
  const std::uint64_t two_packets = 2 * std::uint64_t{protocol.mtu_bytes} + node.pcie.mrrs_bytes;
  require(!at_arrival || node.pcie.completion_buffer_bytes >= two_packets,
          fmt::format("pcie.completion_buffer_bytes = {}: allowed is {} or more (two packets of protocol.mtu_bytes and "
                      "one request of pcie.mrrs_bytes) {}",
                      node.pcie.completion_buffer_bytes, two_packets, kAtArrival));
  require(
      node.nic.parser.queue_entries >= node.nic.ports,
      fmt::format("nic.parser.queue_entries = {} is less than nic.ports = {}: a packet may arrive on each port at once",
                  node.nic.parser.queue_entries, node.nic.ports));
  // Payload keeps its room until the packet leaves, so a buffer that one packet fills can never be refilled beside it.
  require(node.pcie.completion_buffer_bytes >= protocol.mtu_bytes + node.pcie.mrrs_bytes,
          fmt::format("pcie.completion_buffer_bytes = {} does not hold one packet of protocol.mtu_bytes = {} and "
                      "another read of pcie.mrrs_bytes = {}",
                      node.pcie.completion_buffer_bytes, protocol.mtu_bytes, node.pcie.mrrs_bytes));
  require(!node.nic.srv6_encap.appends_icrc || !protocol.encryption.on(),
          "nic.srv6_encap.appends_icrc = true: with protocol.encryption.framing the ICRC is encrypted in front of "
          "srv6_encap, and must be there");
  if (const std::string wrong = contradiction(node.pcie); !wrong.empty()) require(false, wrong);
  if (const std::string wrong = contradiction(node.host); !wrong.empty()) require(false, wrong);
  require(protocol.penalty_full_share == 0 || protocol.penalty_start_share <= protocol.penalty_full_share,
          fmt::format("protocol.penalty_start_share = {} is above protocol.penalty_full_share = {}",
                      protocol.penalty_start_share, protocol.penalty_full_share));
  require(node.nic.wqe_fetch.inline_bytes == 0 ||
              node.nic.wqe_fetch.inline_bytes + kWqeHeaderBytes <= node.nic.wqe_fetch.wqe_bytes,
          fmt::format("nic.wqe_fetch.inline_bytes = {} does not fit a WQE of nic.wqe_fetch.wqe_bytes = {} behind its "
                      "{} B of control, address and length",
                      node.nic.wqe_fetch.inline_bytes, node.nic.wqe_fetch.wqe_bytes, kWqeHeaderBytes));
  require(node.nic.wqe_fetch.batch <= node.nic.wqe_fetch.prefetch_depth,
          fmt::format("nic.wqe_fetch.batch = {} is more than nic.wqe_fetch.prefetch_depth = {}",
                      node.nic.wqe_fetch.batch, node.nic.wqe_fetch.prefetch_depth));
  const CompletionConfig& completion = node.nic.completion;
  require(
      completion.moderation_count <= completion.queue_entries && completion.moderation_count <= completion.cq_entries,
      fmt::format("nic.completion.moderation_count = {} is more than nic.completion.queue_entries = {} or "
                  "nic.completion.cq_entries = {} hold",
                  completion.moderation_count, completion.queue_entries, completion.cq_entries));
  require(completion.moderation_count == 1 || completion.moderation_us > 0,
          fmt::format("nic.completion.moderation_count = {} needs a nic.completion.moderation_us above 0: the last "
                      "CQEs would wait forever",
                      completion.moderation_count));
}

/// Throws where fields of the EV are too narrow, overlap, or are not read by the switches. `uplinks`: of a T0; 1 with
/// one T0 in a plane.
void check_ev_layout(const ScenarioConfig& s, std::uint32_t uplinks, const std::string& place) {
  const EvLayout& layout = s.protocol.ev_layout;
  if (layout.kind == EvLayoutKind::modulo) return;
  const auto require = [&](bool holds, const std::string& message) {
    if (!holds) throw ParameterError(place, message);
  };
  const std::uint32_t ports = s.node_default.nic.ports;
  require(s.fabric.routing == FabricRouting::usid,
          "protocol.ev_layout.kind = \"fields\" needs fabric.routing = \"usid\": other routing does not read fields of "
          "an EV");
  const auto require_width = [&](const char* field, std::uint32_t bits, std::uint32_t needed, const char* of_what) {
    require(std::uint64_t{1} << bits >= needed,
            fmt::format("protocol.ev_layout.{} = {} names {} of {} {}; allowed: {} or more", field, bits,
                        std::uint64_t{1} << bits, needed, of_what, std::bit_width(needed - 1)));
  };
  require_width("port_bits", layout.port_bits, ports, "ports (nic.ports)");
  require_width("plane_bits", layout.plane_bits, ports, "planes (nic.ports)");
  require_width("uplink_bits", layout.uplink_bits, uplinks, "uplinks of a T0 (fabric.t1s_per_plane)");
  const std::array<std::pair<const char*, EvBits>, 5> fields{{{"port_bit", layout.port()},
                                                              {"destination_plane_bit", layout.destination_plane()},
                                                              {"uplink_bit", layout.uplink()},
                                                              {"t1_plane_bit", layout.t1_plane()},
                                                              {"source_plane_bit", layout.source_plane()}}};
  std::uint32_t taken = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& [name, bits] = fields[i];
    require(bits.first + bits.count <= 32,
            fmt::format("protocol.ev_layout.{} = {} and {} bits end beyond bit 31", name, bits.first, bits.count));
    for (std::size_t other = 0; other < i; ++other) {
      require((bits.mask() & fields[other].second.mask()) == 0,
              fmt::format("protocol.ev_layout.{} = {} with {} bits overlaps {} = {} with {}", name, bits.first,
                          bits.count, fields[other].first, fields[other].second.first, fields[other].second.count));
    }
    taken |= bits.mask();
  }
  // EVs on one path differ in the bits that are left.
  const std::uint64_t on_one_path = (s.protocol.ev_count / ports + uplinks - 1) / uplinks;
  const auto left = static_cast<std::uint32_t>(32 - std::popcount(taken));
  require(std::uint64_t{1} << left >= on_one_path,
          fmt::format(
              "protocol.ev_layout leaves {} free bits, which distinguish {} EVs on one path; protocol.ev_count = {} "
              "needs {}",
              left, std::uint64_t{1} << left, s.protocol.ev_count, on_one_path));
}

void check_fabric(const ScenarioConfig& s, const std::string& place) {
  const auto require = [&](bool holds, const std::string& message) {
    if (!holds) throw ParameterError(place, message);
  };
  const FabricConfig& f = s.fabric;
  const std::uint32_t needed = (f.nics - 1) / f.nics_per_t0 + 1;
  const std::uint32_t t0s = f.t0s_per_plane != 0 ? f.t0s_per_plane : needed;
  require(t0s >= needed, fmt::format("fabric.t0s_per_plane = {} with fabric.nics_per_t0 = {} has room for {} NICs, not "
                                     "for fabric.nics = {}",
                                     t0s, f.nics_per_t0, std::uint64_t{t0s} * f.nics_per_t0, f.nics));
  require(t0s <= kMostUsidIndex,
          fmt::format("{} T0s per plane (fabric.nics / fabric.nics_per_t0) are more than {}", t0s, kMostUsidIndex));
  require(t0s % f.pods == 0 && t0s >= f.pods,
          fmt::format("fabric.pods = {} does not divide the {} T0s of a plane", f.pods, t0s));
  require(f.t1s_per_plane % f.pods == 0,
          fmt::format("fabric.pods = {} does not divide fabric.t1s_per_plane = {}", f.pods, f.t1s_per_plane));
  require(
      f.pods == 1 || f.routing != FabricRouting::usid,
      fmt::format("fabric.pods = {} makes three tiers, which need fabric.routing = \"ecmp\" or \"adaptive\"", f.pods));
  const std::uint32_t t1s = f.t1s_per_plane != 0 ? f.t1s_per_plane / f.pods : f.nics_per_t0;
  require(t1s * f.pods <= kMostUsidIndex,
          fmt::format("{} T1s per plane are more than {}", t1s * f.pods, kMostUsidIndex));
  const std::uint64_t planes = s.node_default.nic.ports;
  const std::uint64_t t2s_per_t1 = f.pods == 1 ? 0 : f.t2s_per_plane != 0 ? f.t2s_per_plane / t1s : t0s / f.pods;
  const std::uint64_t cables = f.nics + (t0s == 1 ? 0 : t0s + t2s_per_t1 * f.pods) * t1s;
  require(2 * planes * cables <= kMostLinks,
          fmt::format("{} NICs, {} T0s and {} T1s per plane in {} planes (nic.ports) have {} links, more than {}",
                      f.nics, t0s, t0s == 1 ? 0 : t1s * f.pods, planes, 2 * planes * cables, kMostLinks));
  check_ev_layout(s, t0s == 1 ? 1 : t1s, place);
  require(f.pods == 1 || f.t2s_per_plane % t1s == 0,
          fmt::format("fabric.t2s_per_plane = {} is not a multiple of the {} T1s of a pod", f.t2s_per_plane, t1s));
  require(
      f.ecn_max_bytes == 0 || f.ecn_min_bytes <= f.ecn_max_bytes,
      fmt::format("fabric.ecn_min_bytes = {} is above fabric.ecn_max_bytes = {}", f.ecn_min_bytes, f.ecn_max_bytes));
}

/// Round trip over the longest path without queues, in ns.
double fabric_round_trip_ns(const FabricConfig& f) {
  const bool one_tier = f.nics <= f.nics_per_t0 && f.t0s_per_plane <= 1;
  const double steps = one_tier ? 0 : f.pods > 1 ? 2 : 1;  // of a T1 or T2 with the cables up and down
  const double t0s = one_tier ? 1 : 2;
  const double upper = steps == 0 ? 0 : 2 * steps - 1;
  return 2 * (2 * f.cable_delay_ns + t0s * f.switch_latency_ns + upper * f.t1_switch_latency_ns +
              2 * steps * f.t1_cable_delay_ns + 2 * (t0s + upper) * mac_added_ns(f));
}

/// All data is in one class of the switches, and what pauses or answers one transport would do so with the others.
void check_mixed_transports(const ScenarioConfig& s, const std::string& place) {
  const std::vector<const Transport*> used = transports_in(s);
  if (used.size() == 1) return;
  for (const Transport* transport : used) {
    if (!transport->simulated) {
      throw ParameterError(place,
                           fmt::format("transport = \"{}\" is computed for all nodes together; it cannot be mixed "
                                       "with others",
                                       transport->name));
    }
    if (transport->pause_law != nullptr && transport->pause_law(s).on) {
      throw ParameterError(place,
                           "several transports on one fabric need rocev2.pfc = false: all data is in one class, and "
                           "a pause would stop that of the others");
    }
  }
}

/// NICs of one rank are driven by one piece of software, so they are simulated together: all with boxes, or none.
void check_accelerators(const ScenarioConfig& s, const std::string& place) {
  const TrafficConfig& t = s.traffic;
  const auto require = [&](bool holds, const std::string& message) {
    if (!holds) throw ParameterError(place, message);
  };
  require(t.ranks_per_nic == 1 || t.nics_per_rank == 1,
          fmt::format("traffic.ranks_per_nic = {} and traffic.nics_per_rank = {}: one of them must be 1",
                      t.ranks_per_nic, t.nics_per_rank));
  require(t.nics_per_rank <= s.fabric.nics,
          fmt::format("traffic.nics_per_rank = {} is more than fabric.nics = {}", t.nics_per_rank, s.fabric.nics));
}

/// The parameter that makes something happen at random to few packets; empty: none does.
std::string_view rare_events(const ScenarioConfig& s) {
  const FabricConfig& fabric = s.fabric;
  if (fabric.loss_rate > 0) return "fabric.loss_rate";
  if (fabric.trim_rate > 0) return "fabric.trim_rate";
  if (fabric.corrupt_rate > 0) return "fabric.corrupt_rate";
  if (fabric.duplicate_rate > 0) return "fabric.duplicate_rate";
  if (has_bit_errors(fabric)) return "fabric.bit_error_rate";
  for (NodeId id = 0; id < fabric.nics; ++id) {
    const PcieConfig& pcie = s.node(id).pcie;
    if (pcie.duplicate_completion_rate > 0) return "pcie.duplicate_completion_rate";
    if (pcie.poisoned_completion_rate > 0) return "pcie.poisoned_completion_rate";
    if (pcie.lost_completion_rate > 0) return "pcie.lost_completion_rate";
  }
  return {};
}

void check_fast_forward(const ScenarioConfig& s, const std::string& place) {
  if (s.run.fast_forward_percent == 0) return;
  const auto refuse = [&](std::string_view other, const char* why) {
    throw ParameterError(place, fmt::format("run.fast_forward_percent and {}: {}", other, why));
  };
  if (s.run.stop_within_percent > 0) refuse("run.stop_within_percent", "a run that ends early skips nothing");
  if (s.run.message_causes)
    refuse("run.message_causes", "what a message waited for is followed through all of its time");
  if (s.traffic.split_over_qps)
    refuse("traffic.split_over_qps",
           "each piece of such a message is a message of its QP, and the receiver counts them");
  if (const std::string_view rare = rare_events(s); !rare.empty())
    refuse(rare, "what happens to few packets need not happen in the windows from which a skipped time is concluded");
}

void check_classes(const ScenarioConfig& s, const std::string& place) {
  const auto require = [&](bool holds, const std::string& message) {
    if (!holds) throw ParameterError(place, message);
  };
  const TrafficClasses& classes = s.traffic.classes;
  const Tenants& tenants = s.traffic.tenants;
  const std::vector<const Transport*> used = transports_in(s);
  const auto without = std::find_if(used.begin(), used.end(), [](const Transport* transport) {
    return transport->simulated && transport->name != "mrc";
  });
  const bool has_classes = without == used.end();
  const std::string_view other = has_classes ? "" : (*without)->name;
  require(!classes.on() || has_classes,
          fmt::format("traffic.classes.count = {} needs transport = \"mrc\": transport = \"{}\" has no classes",
                      classes.count, other));
  require(classes.on() || classes.rules.empty(),
          fmt::format("traffic.classes.rules = \"{}\" needs a traffic.classes.count of 2 or more", classes.rules));
  class_weights(classes, place);
  played_jobs(tenants, place);
  const std::vector<double> rates = tenant_rates_gbps(tenants, place);
  const bool limits = std::any_of(rates.begin(), rates.end(), [](double gbps) { return gbps > 0; });
  const bool shares = !tenant_contexts(tenants, place).empty();
  require(tenants.separate || !(limits || shares || tenants.intruder != 0),
          "traffic.tenants.rate_limits_gbps, context_entries and intruder need traffic.tenants.separate = true");
  require(
      !limits || has_classes,
      fmt::format("traffic.tenants.rate_limits_gbps needs transport = \"mrc\": transport = \"{}\" has none", other));
  std::vector<std::uint8_t> taken;
  for (std::uint32_t c = 0; classes.on() && c < classes.count; ++c) {
    for (std::size_t role = 0; role < kTrafficRoles; ++role) {
      const auto of_role = static_cast<TrafficRole>(role);
      if (c > 0 && !has_traffic_class(of_role)) continue;
      const std::uint8_t dscp = s.protocol.dscp_of(of_role, c);
      require(std::find(taken.begin(), taken.end(), dscp) == taken.end(),
              fmt::format("protocol.dscp_class_step = {} gives DSCP {} to two of the roles and classes",
                          s.protocol.dscp_class_step, dscp));
      taken.push_back(dscp);
    }
  }
}

}  // namespace

bool names_fault(std::string_view key) {
  return key == "fault" || key.starts_with("fault.");
}

void check_scenario(const ScenarioConfig& s, const std::string& place) {
  const auto require = [&](bool holds, const std::string& message) {
    if (!holds) throw ParameterError(place, message);
  };
  require(!s.traffic.trace.empty(), "traffic.trace is missing: a scenario needs a trace");
  require(s.protocol.ev_active <= s.protocol.ev_count,
          fmt::format("protocol.ev_active = {} is more than protocol.ev_count = {}", s.protocol.ev_active,
                      s.protocol.ev_count));
  require(s.protocol.ev_min_active <= s.protocol.ev_active,
          fmt::format("protocol.ev_min_active = {} is more than protocol.ev_active = {}", s.protocol.ev_min_active,
                      s.protocol.ev_active));
  cable_delays_of(s.fabric, place);
  bit_error_rates_of(s.fabric, place);
  const double shortest = shortest_cable_ns(s.fabric);
  require(
      s.run.quantum_ns <= shortest,
      fmt::format("run.quantum_ns = {} is more than the shortest link delay, {} = {}", s.run.quantum_ns,
                  shortest < s.fabric.cable_delay_ns ? "fabric.cable_delays_ns" : "fabric.cable_delay_ns", shortest));
  const EncryptionConfig& encryption = s.protocol.encryption;
  const std::uint32_t up_to_bth = kEthernetHeaderBytes + encapsulation_bytes(s.protocol.encapsulation) +
                                  kIpv6HeaderBytes + crypto_header_bytes(encryption.framing) + kUdpHeaderBytes +
                                  kBthBytes;
  require(
      s.fabric.trim_bytes >= up_to_bth,
      fmt::format("fabric.trim_bytes = {} cuts inside BTH, which ends at byte {} with this protocol.encapsulation{}",
                  s.fabric.trim_bytes, up_to_bth, encryption.on() ? " and protocol.encryption.framing" : ""));
  require(encryption.replay_window % 64 == 0,
          fmt::format("protocol.encryption.replay_window = {}: allowed is 0 (off) or a multiple of 64",
                      encryption.replay_window));
  check_fabric(s, place);
  check_accelerators(s, place);
  check_mixed_transports(s, place);
  check_classes(s, place);
  const double round_trip_ns = static_cast<double>(fabric_round_trip_ns(s.fabric));
  require(
      s.cc.algorithm == "none" || static_cast<double>(s.cc.base_rtt_ps) / 1000.0 >= round_trip_ns,
      fmt::format("cc.base_rtt_ns = {} is below the round trip of the fabric, {} ns: every packet would appear delayed",
                  static_cast<double>(s.cc.base_rtt_ps) / 1000.0, round_trip_ns));
  require(s.run.stop_within_percent == 0 || s.faults.empty(),
          "run.stop_within_percent and [[fault]]: what is left of a run with faults is not like what it was so far");
  check_fast_forward(s, place);
  std::vector<std::string> nodes;
  for (NodeId id = 0; id < s.fabric.nics; ++id) nodes.push_back(fmt::format("nic{}", id));
  require(std::find(nodes.begin(), nodes.end(), s.run.node_under_test) != nodes.end(),
          fmt::format("run.node_under_test = \"{}\" is not a node; allowed: nic0 … nic{}", s.run.node_under_test,
                      s.fabric.nics - 1));
  check_node(s, s.node_default, "", place);
  for (const auto& [id, node] : s.node_override) check_node(s, node, nodes[id], place);
}

ScenarioConfig make_scenario(const ScenarioOverrides& overrides) {
  std::vector<Assignment> assignments;
  for (const std::string& text : overrides.assignments) assignments.push_back(parse_assignment(text));
  ScenarioConfig scenario;
  scenario.name = "defaults";
  apply_assignments(scenario, assignments);
  if (overrides.seed) scenario.seed = *overrides.seed;
  check_scenario(scenario, "parameters");
  return scenario;
}

ScenarioConfig load_scenario(const std::string& path, const ScenarioOverrides& overrides,
                             std::vector<std::string>* unused) {
  Collector collector(path);
  collector.table(read_toml(path), "");
  for (const std::string& text : overrides.assignments) {
    const Assignment assignment = parse_assignment(text);
    if (names_fault(assignment.key)) {
      collector.assign_fault(assignment);
    } else {
      collector.assignments.push_back(assignment);
    }
  }
  ScenarioConfig scenario;
  scenario.name = std::filesystem::path(path).stem().string();
  apply_assignments(scenario, collector.assignments);
  scenario.faults = std::move(collector.faults);
  if (overrides.seed) scenario.seed = *overrides.seed;
  scenario.traffic.trace = resolve(path, scenario.traffic.trace);
  read_latencies(path, scenario.node_default);
  for (auto& [id, node] : scenario.node_override) read_latencies(path, node);
  check_scenario(scenario, path);
  std::vector<std::string> keys;
  for (const Assignment& assignment : each_node(collector.assignments, scenario.fabric.nics)) {
    keys.push_back(assignment.key);
  }
  if (unused != nullptr) *unused = unused_settings(scenario, keys);
  if (unused != nullptr && !transport_of(scenario).simulated && !scenario.faults.empty()) {
    unused->push_back(
        fmt::format("[[fault]] has no effect: transport = \"{}\" does not read it", scenario.node_default.transport));
  }
  return scenario;
}

}  // namespace mrc
