#include "parameters/unused_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "parameters/transport.h"

namespace mrc {
namespace {

/// What a light endpoint reads of nic.… and pcie.…; an entry that ends in a dot means all keys below it.
constexpr std::array<std::string_view, 11> kReadByLightEndpoints{"nic.ports",
                                                                 "nic.port_gbps",
                                                                 "nic.port.",
                                                                 "nic.core_clock_ghz",
                                                                 "nic.probe_engine.outstanding_probes",
                                                                 "nic.psn_tracker.bitmap_banks",
                                                                 "nic.qp_scheduler.quantum_bytes",
                                                                 "nic.wqe_fetch.inline_bytes",
                                                                 "nic.completion.cq_entries",
                                                                 "pcie.read_latency_mean_ns",
                                                                 "pcie.write_latency_ns"};
/// What the ideal transport reads of nic.…, pcie.…, fabric.…, protocol.…, cc.… and host.….
constexpr std::array<std::string_view, 23> kReadByIdeal{"nic.ports",
                                                        "nic.port_gbps",
                                                        "nic.port.mac_fec_latency_ns",
                                                        "nic.doorbell.carries_wqe",
                                                        "nic.wqe_fetch.inline_bytes",
                                                        "pcie.",
                                                        "host.payload",
                                                        "host.post_ns",
                                                        "host.doorbell_ns",
                                                        "host.wqe_in_doorbell_ns",
                                                        "host.poll_ns",
                                                        "host.residual_ns",
                                                        "fabric.nics",
                                                        "fabric.nics_per_t0",
                                                        "fabric.cable_delay_ns",
                                                        "fabric.cable_delays_ns",
                                                        "fabric.switch_latency_ns",
                                                        "fabric.macsec",
                                                        "fabric.macsec_latency_ns",
                                                        "fabric.fec",
                                                        "fabric.fec_latency_ns",
                                                        "protocol.mtu_bytes",
                                                        "protocol.encapsulation"};

/// What no box has a time for yet: its work takes effect in the cycle in which it begins, or as fast as it comes.
constexpr std::array<std::string_view, 2> kReadByNobody{"nic.sack_processor.latency_cycles",
                                                        "nic.probe_engine.initiation_interval_cycles"};

bool is_below(std::string_view key, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
    return prefix.ends_with('.') ? key.starts_with(prefix) : key == prefix;
  });
}

bool is_of(std::string_view key, std::initializer_list<std::string_view> sections) {
  return std::any_of(sections.begin(), sections.end(),
                     [&](std::string_view section) { return key.starts_with(section); });
}

/// The node of "node.nic3.pcie.read_tags", which is cut off; all nodes without.
bool take_node(std::string_view& key, NodeId& node) {
  constexpr std::string_view prefix = "node.nic";
  if (!key.starts_with(prefix)) return false;
  const auto parsed = std::from_chars(key.data() + prefix.size(), key.data() + key.size(), node);
  key.remove_prefix(static_cast<std::size_t>(parsed.ptr - key.data()) + 1);
  return true;
}

bool any_detailed(const ScenarioConfig& scenario) {
  for (NodeId node = 0; node < scenario.fabric.nics; ++node) {
    if (is_detailed(scenario, node)) return true;
  }
  return false;
}

/// `setting` of srv6_encap is true on some node.
bool any_encap(const ScenarioConfig& scenario, bool Srv6EncapConfig::*setting) {
  const auto has = [setting](const NodeConfig& node) { return node.nic.srv6_encap.*setting; };
  return has(scenario.node_default) ||
         std::ranges::any_of(scenario.node_override, [&](const auto& node) { return has(node.second); });
}

/// What only engines for packets read, and what goes with encryption of links.
constexpr std::array<std::string_view, 6> kReadByEngines{"nic.encrypt.",
                                                         "nic.decrypt.",
                                                         "nic.port.encrypt_fifo_entries",
                                                         "nic.memory.encrypt_keys.",
                                                         "nic.memory.decrypt_keys.",
                                                         "nic.memory.replay_window."};

std::string reason_of_encryption(const ScenarioConfig& scenario, std::string_view key, bool detailed) {
  if (is_of_encryption(key) && !scenario.protocol.encryption.on()) return "protocol.encryption.framing = \"none\"";
  if (key == "nic.port.encrypt_fifo_entries" && !detailed)
    return "light endpoints (fidelity = \"endpoint\") do not read it";
  const bool of_icrc = key == "nic.srv6_encap.icrc_cycles" || key == "nic.srv6_encap.appends_icrc_to_control";
  if (of_icrc && !any_encap(scenario, &Srv6EncapConfig::appends_icrc)) return "nic.srv6_encap.appends_icrc = false";
  if (key == "nic.port.encap_fifo_entries" && !any_encap(scenario, &Srv6EncapConfig::control_packets))
    return "nic.srv6_encap.control_packets = false";
  if (key == "protocol.srh_share" && scenario.protocol.encapsulation != Encapsulation::srv6_srh)
    return "protocol.encapsulation is not \"srv6_srh\"";
  if (key == "fabric.macsec_latency_ns" && scenario.fabric.macsec == Macsec::off) return "fabric.macsec = \"off\"";
  return "";
}

std::string reason_of_links(const FabricConfig& fabric, std::string_view key) {
  if (key == "fabric.fec_latency_ns" && fabric.fec == Fec::none) return "fabric.fec = \"none\"";
  if (key.starts_with("fabric.link_retry_") && !fabric.link_retry) return "fabric.link_retry = false";
  if (key.starts_with("fabric.link_retry") && !has_bit_errors(fabric)) return "no link has bit errors";
  return "";
}

std::string reason_of_classes(const ScenarioConfig& scenario, std::string_view key, bool detailed) {
  const Transport& transport = transport_of(scenario);
  if (!transport.simulated && (is_of(key, {"traffic.classes."}) || key == "traffic.tenants.rate_limits_gbps"))
    return fmt::format("transport = \"{}\" does not read it", transport.name);
  const bool of_shares = is_of(key, {"traffic.classes.scheduling", "traffic.classes.weights"});
  if ((of_shares || key == "protocol.dscp_class_step") && !scenario.traffic.classes.on())
    return "traffic.classes.count = 1";
  if (key == "traffic.classes.weights" && scenario.traffic.classes.strict())
    return "traffic.classes.scheduling = \"strict\"";
  if (key == "traffic.tenants.context_entries" && !detailed)
    return "light endpoints (fidelity = \"endpoint\") do not read it";
  return "";
}

std::string reason_of_ev_layout(const ScenarioConfig& scenario, const Transport& transport, std::string_view key) {
  if (!is_of(key, {"protocol.ev_layout."})) return "";
  if (transport.simulated && !transport.source_routed)
    return fmt::format("transport = \"{}\" does not read it", transport.name);
  const bool modulo = scenario.protocol.ev_layout.kind == EvLayoutKind::modulo;
  return modulo && key != "protocol.ev_layout.kind" ? "protocol.ev_layout.kind = \"modulo\"" : "";
}

std::string reason_of_reduction(const ScenarioConfig& scenario, std::string_view key) {
  const bool unread =
      is_of(key, {"fabric.reduction."}) && scenario.traffic.collective.all_reduce != AllReduceAlgorithm::in_network;
  return unread ? "traffic.collective.all_reduce is not \"in_network\"" : "";
}

/// Empty where the key is read.
std::string reason(const ScenarioConfig& scenario, const Transport& transport, std::string_view key, bool detailed) {
  if (is_below(key, kReadByNobody)) return "the box does not model it yet";
  if (std::string why = reason_of_classes(scenario, key, detailed); !why.empty()) return why;
  if (std::string why = reason_of_ev_layout(scenario, transport, key); !why.empty()) return why;
  if (std::string why = reason_of_encryption(scenario, key, detailed); !why.empty()) return why;
  if (std::string why = reason_of_links(scenario.fabric, key); !why.empty()) return why;
  if (std::string why = reason_of_reduction(scenario, key); !why.empty()) return why;
  if (!transport.simulated) {
    const bool unread = is_of(key, {"nic.", "pcie.", "fabric.", "protocol.", "cc.", "host.", "run.stop_within"}) &&
                        !is_below(key, kReadByIdeal);
    return unread ? fmt::format("transport = \"{}\" does not read it", transport.name) : "";
  }
  if (is_of(key, {"rocev2."}) && transport.name != "rocev2")
    return fmt::format("transport = \"{}\" does not read it", transport.name);
  if (is_of(key, {"uet."}) && transport.name != "uet")
    return fmt::format("transport = \"{}\" does not read it", transport.name);
  if (is_of(key, {"protocol.encryption."}) && !transport.encrypts)
    return fmt::format("transport = \"{}\" does not read it", transport.name);
  if (is_of(key, {"cc."}) && key != "cc.base_rtt_ns" && transport.name == "rocev2")
    return "transport = \"rocev2\" does not read it";
  if (detailed ||
      !is_of(key,
             {"nic.", "pcie.", "host.root_complex.", "host.iommu.", "host.cache.", "host.memory.", "host.numa."}) ||
      is_below(key, kReadByLightEndpoints))
    return "";
  return transport.has_detailed_nic
             ? "light endpoints (fidelity = \"endpoint\") do not read it"
             : fmt::format("light endpoints, which all nodes are with transport = \"{}\", do not read it",
                           transport.name);
}

}  // namespace

bool is_of_encryption(std::string_view parameter) {
  return is_below(parameter, kReadByEngines) ||
         (is_of(parameter, {"protocol.encryption."}) && parameter != "protocol.encryption.framing");
}

std::vector<std::string> unused_settings(const ScenarioConfig& scenario, const std::vector<std::string>& keys) {
  const bool detailed_somewhere = any_detailed(scenario);
  const std::vector<const Transport*> used = transports_in(scenario);
  std::vector<std::string> unused;
  for (const std::string& name : keys) {
    std::string_view key = name;
    NodeId node = 0;
    const bool of_node = take_node(key, node);
    // With several transports a key is read where one of them reads it.
    std::string why;
    for (const Transport* transport : used) {
      if (of_node && transport != &transport_of(scenario, node)) continue;
      why = reason(scenario, *transport, key, of_node ? is_detailed(scenario, node) : detailed_somewhere);
      if (why.empty()) break;
    }
    if (!why.empty()) unused.push_back(fmt::format("{} has no effect: {}", name, why));
  }
  std::sort(unused.begin(), unused.end());
  unused.erase(std::unique(unused.begin(), unused.end()), unused.end());
  return unused;
}

}  // namespace mrc
