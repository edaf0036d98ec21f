#include "results/result_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "parameters/registry.h"

namespace mrc {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;
constexpr std::size_t kResultMembers = 64;  ///< at least as many as a result has

/// An object for `members`. Without their room it copies all that it holds whenever it grows, since keys cannot move.
Json object_of(std::size_t members) {
  Json object = Json::object();
  object.get_ref<Json::object_t&>().reserve(members);
  return object;
}

Json to_json(const ParameterValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

Json parameters_json(const ScenarioConfig& scenario) {
  Json all = object_of(parameters().size());
  // Not by all[…], which looks through all that is there.
  auto& members = all.get_ref<Json::object_t&>();
  for (const Parameter& p : parameters()) members.emplace_back(p.name, to_json(p.get(scenario, scenario.node_default)));
  for (const auto& [id, node] : scenario.node_override) {
    for (const Parameter& p : parameters()) {
      if (!p.per_node || p.get(scenario, node) == p.get(scenario, scenario.node_default)) continue;
      all[fmt::format("node.nic{}.{}", id, p.name)] = to_json(p.get(scenario, node));
    }
  }
  // Where the file lies says nothing about the run.
  const std::string& trace = scenario.traffic.trace;
  all["traffic.trace"] = trace.substr(trace.find_last_of('/') + 1);
  return all;
}

Json spread_json(const TimeSpread& spread) {
  return {
      {"count", spread.count}, {"mean", spread.mean}, {"p50", spread.p50}, {"p99", spread.p99}, {"max", spread.max}};
}

Json buffers_json(const RunResult& r) {
  Json rows = Json::array();
  for (const BufferResult& b : r.buffers) {
    Json histogram = Json::array();
    for (const BufferResult::Bin& bin : b.histogram) histogram.push_back({{"upper", bin.upper}, {"share", bin.share}});
    rows.push_back({{"node", b.node},
                    {"name", b.name},
                    {"capacity", b.capacity},
                    {"unit", b.unit},
                    {"mean", b.mean},
                    {"p99", b.p99},
                    {"high_water", b.high_water},
                    {"time_full_share", b.time_full_share},
                    {"refusals", b.refusals},
                    {"histogram", std::move(histogram)}});
  }
  return rows;
}

Json ledger_json(const RunResult& r) {
  Json rows = Json::array();
  for (const LedgerResult& l : r.ledger) {
    Json blocked = object_of(l.blocked.size());
    for (const auto& [cause, share] : l.blocked) blocked[cause] = share;
    rows.push_back({{"node", l.node},
                    {"box", l.box},
                    {"busy", l.busy},
                    {"starved", l.starved},
                    {"idle", l.idle},
                    {"blocked", std::move(blocked)}});
  }
  return rows;
}

Json switch_ports_json(const RunResult& r) {
  Json rows = Json::array();
  for (const SwitchPortResult& p : r.switch_ports) {
    rows.push_back({{"port", p.port},
                    {"packets", p.packets},
                    {"bytes", p.bytes},
                    {"dropped", p.dropped},
                    {"trimmed", p.trimmed},
                    {"ce_marked", p.ce_marked},
                    {"most_queued_bytes", p.most_queued_bytes}});
  }
  return rows;
}

Json pcie_json(const RunResult& r) {
  Json array = Json::array();
  for (const PcieResult& p : r.pcie) {
    const PcieCounts& c = p.counts;
    array.push_back({{"node", p.node},
                     {"read_requests", c.read_requests},
                     {"write_tlps", c.write_tlps},
                     {"duplicated_completions", c.duplicated_completions},
                     {"poisoned_completions", c.poisoned_completions},
                     {"lost_completions", c.lost_completions},
                     {"unexpected_completions", c.unexpected_completions},
                     {"completion_timeouts", c.completion_timeouts},
                     {"retried_requests", c.retried_requests},
                     {"translation_lookups", c.translation_lookups},
                     {"translation_misses", c.translation_misses}});
    if (c.table_lookups == 0) continue;
    array.back()["table_lookups"] = c.table_lookups;
    array.back()["table_misses"] = c.table_misses;
  }
  return array;
}

Json sram_json(const RunResult& r) {
  Json rows = Json::array();
  for (const SramResult& s : r.sram) {
    rows.push_back({{"structure", s.structure},
                    {"bits", s.bits},
                    {"instances", s.instances},
                    {"depth", s.depth},
                    {"width_bits", s.width_bits},
                    {"ports", s.ports},
                    {"banks", s.banks},
                    {"ecc_bits", s.ecc_bits},
                    {"area_mm2", s.area_mm2},
                    {"kind", s.register_file ? "register_file" : "sram"},
                    {"reads", s.reads},
                    {"writes", s.writes},
                    {"mean_accesses_per_cycle", s.mean_accesses_per_cycle},
                    {"peak_accesses_per_cycle", s.peak_accesses_per_cycle},
                    {"conflict_stalls", s.conflict_stalls},
                    {"conflict_stall_cycles", s.conflict_stall_cycles},
                    {"corrected_errors", s.corrected_errors},
                    {"uncorrected_errors", s.uncorrected_errors}});
  }
  return rows;
}

Json rtl_json(const RunResult& r) {
  Json rows = Json::array();
  for (const RtlResult& row : r.rtl) {
    rows.push_back({{"node", row.node},
                    {"block", row.block},
                    {"mode", row.mode},
                    {"transactions", row.transactions},
                    {"mismatches", row.mismatches},
                    {"cycles", row.cycles},
                    {"occupied_cycles", row.occupied_cycles},
                    {"systemc_occupied_cycles", row.systemc_occupied_cycles},
                    {"latency_cycles", row.latency_cycles},
                    {"systemc_latency_cycles", row.systemc_latency_cycles}});
    if (row.timing != "transaction") rows.back()["timing"] = row.timing;
  }
  return rows;
}

Json rtl_sources_json(const RunResult& r) {
  Json rows = Json::array();
  for (const RtlSourceResult& row : r.rtl_sources) {
    rows.push_back({{"block", row.block},
                    {"top", row.top},
                    {"files", row.files},
                    {"sha256", row.sha256},
                    {"contract", row.contract}});
  }
  return rows;
}

Json encryption_json(const RunResult::Encryption& e) {
  return {{"encrypted", e.encrypted},
          {"decrypted", e.decrypted},
          {"tag_failures", e.tag_failures},
          {"replayed", e.replayed},
          {"too_old", e.too_old},
          {"unverified", e.unverified},
          {"unknown", e.unknown},
          {"encrypt_key_misses", e.encrypt_key_misses},
          {"decrypt_key_misses", e.decrypt_key_misses}};
}

Json reduction_json(const RunResult::Reduction& n) {
  return {{"trees", n.trees},
          {"switches", n.switches},
          {"least_window", n.least_window},
          {"slots", n.slots},
          {"memory_bytes", n.memory_bytes},
          {"most_slots_adding", n.most_slots_adding},
          {"busiest_adder_share", n.busiest_adder_share},
          {"added", n.added},
          {"duplicates", n.duplicates},
          {"retransmitted_sums", n.retransmitted_sums},
          {"retransmitted_results", n.retransmitted_results},
          {"damaged", n.damaged},
          {"timeouts", n.timeouts},
          {"duplicate_results", n.duplicate_results}};
}

Json shares_json(const char* number, const std::vector<ShareResult>& shares) {
  Json rows = Json::array();
  for (const ShareResult& s : shares) {
    const double time_us = s.last_done_us - s.first_posted_us;
    rows.push_back({{number, s.number},
                    {"messages", s.messages},
                    {"completed", s.completed},
                    {"failed", s.failed},
                    {"completed_bytes", s.completed_bytes},
                    {"first_posted_us", s.first_posted_us},
                    {"last_done_us", s.last_done_us},
                    {"goodput_gbps", time_us > 0 ? static_cast<double>(s.completed_bytes) * 8e-3 / time_us : 0.0},
                    {"message_time_us", spread_json(s.message_time_us)}});
  }
  return rows;
}

Json late_ranks_json(const JobResult& job) {
  Json rows = Json::array();
  for (const JobResult::LateRank& row : job.late_ranks) {
    rows.push_back({{"rank", row.rank},
                    {"late_by", row.late_by},
                    {"sends_late_us", row.sends_late_us},
                    {"receives_late_us", row.receives_late_us},
                    {"computation_late_us", row.computation_late_us},
                    {"exposed_communication_us", row.exposed_communication_us},
                    {"end_us", row.end_us}});
  }
  return rows;
}

Json job_json(const JobResult& job) {
  const auto pair = [](const JobResult::MeanAndMax& m) { return Json({{"mean", m.mean}, {"max", m.max}}); };
  Json rows = Json::array();
  for (const JobResult::CollectiveRow& row : job.collectives) {
    rows.push_back({{"kind", row.kind},
                    {"algorithm", row.algorithm},
                    {"ranks", row.ranks},
                    {"bytes", row.bytes},
                    {"count", row.count},
                    {"time_us", pair(row.time_us)},
                    {"start_skew_us", row.start_skew_us},
                    {"algorithm_bandwidth_gbps", row.algorithm_bandwidth_gbps},
                    {"bus_bandwidth_gbps", row.bus_bandwidth_gbps}});
  }
  Json json = {{"ranks", job.ranks},
               {"ranks_played", job.ranks_played},
               {"step_time_us", job.step_time_us},
               {"compute_us", pair(job.compute_us)},
               {"communication_us", pair(job.communication_us)},
               {"exposed_communication_us", pair(job.exposed_communication_us)},
               {"straggler", {{"rank", job.straggler_rank}, {"behind_us", job.straggler_behind_us}}},
               {"collectives", std::move(rows)},
               {"cut", job.cut}};
  if (!job.late_ranks.empty()) json["late_ranks"] = late_ranks_json(job);
  return json;
}

std::string text_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// As the JSON library writes it.
std::string_view text_of_whole(std::uint64_t value, std::array<char, 24>& buffer) {
  char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size() - 2, value).ptr;
  *end++ = '.';
  *end++ = '0';
  return {buffer.data(), end};
}

/// An array. A series may have hundreds of thousands of numbers, most of them whole and equal to the one before: as
/// values of the JSON library they took an eighth of a short run. None is -0.0.
void append_values(std::string& text, const std::vector<double>& values) {
  constexpr double kFirstWithExponent = 1e15;  // in the library's text
  std::array<char, 24> whole;
  std::string number;
  text += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    if (i > 0) text += ',';
    if (i == 0 || value != values[i - 1]) {
      const bool in_range = value >= 0 && value < kFirstWithExponent;
      const std::uint64_t rounded = in_range ? static_cast<std::uint64_t>(value) : 0;
      if (in_range && static_cast<double>(rounded) == value)
        number = text_of_whole(rounded, whole);
      else
        number = text_of(value);
    }
    text += number;
  }
  text += ']';
}

/// Those of `group`, by name but for planes, which go by their numbers.
void append_channels(std::string& text, const Series& series, Series::Group group) {
  bool first = true;
  for (const Series::Channel& channel : series.channels()) {
    if (channel.group != group) continue;
    if (!std::exchange(first, false)) text += ',';
    if (group != Series::Group::plane_goodput_gbps) text += text_of(channel.name) + ':';
    append_values(text, channel.values);
  }
}

/// By node, whose channels follow each other, and state.
void append_ev_states(std::string& text, const Series& series) {
  const Series::Channel* before = nullptr;
  for (const Series::Channel& channel : series.channels()) {
    if (channel.group != Series::Group::ev_states) continue;
    const bool same_node = before != nullptr && before->name == channel.name;
    if (before != nullptr) text += same_node ? "," : "},";
    if (!same_node) text += text_of(channel.name) + ":{";
    text += text_of(channel.state) + ':';
    append_values(text, channel.values);
    before = &channel;
  }
  if (before != nullptr) text += '}';
}

}  // namespace

std::string result_json(const RunResult& r, const ScenarioConfig& scenario) {
  Json j = object_of(kResultMembers);
  j["schema_version"] = kSchemaVersion;
  j["mrcsim_version"] = MRCSIM_VERSION;
  j["scenario"] = r.scenario;
  j["seed"] = r.seed;
  j["status"] = to_string(r.status);
  j["details"] = r.details;
  if (!r.notes.empty()) j["notes"] = r.notes;
  j["simulated_time_us"] = r.simulated_time_us;
  j["messages"] = {{"count", r.messages.count}, {"completed", r.messages.completed}, {"failed", r.messages.failed}};
  j["bytes"] = {{"offered", r.bytes.offered}, {"delivered", r.bytes.delivered}, {"corrupted", r.bytes.corrupted}};
  j["node_under_test"] = r.node_under_test;
  if (!r.peer.empty()) j["peer"] = r.peer;
  j["goodput_gbps"] = r.goodput_gbps;
  j["steady_goodput"] = {{"gbps", r.early_stop.goodput_gbps},
                         {"low_gbps", r.early_stop.low_gbps},
                         {"high_gbps", r.early_stop.high_gbps},
                         {"bytes_share", r.early_stop.bytes_share}};
  if (r.fast_forward.within_percent > 0) {
    j["fast_forward"] = {{"skips", r.fast_forward.skips},
                         {"skipped_us", r.fast_forward.skipped_us},
                         {"bytes", r.fast_forward.bytes},
                         {"within_percent", r.fast_forward.within_percent}};
  }
  j["line_rate_gbps"] = r.line_rate_gbps;
  j["framing_limit_gbps"] = r.framing_limit_gbps;
  j["message_time_us"] = {{"mean", r.message_time_us.mean},
                          {"p50", r.message_time_us.p50},
                          {"p99", r.message_time_us.p99},
                          {"max", r.message_time_us.max}};
  j["all_message_time_us"] = spread_json(r.all_message_time_us);
  j["one_way_us"] = spread_json(r.one_way_us);
  j["message_time_quantiles"] = Json::array();
  for (const auto& q : r.message_time_quantiles)
    j["message_time_quantiles"].push_back({{"share", q.share}, {"us", q.us}});
  const RunResult::Packets& p = r.packets;
  j["packets"] = {{"sent", p.sent},           {"control", p.control},
                  {"delivered", p.delivered}, {"retransmitted", p.retransmitted},
                  {"duplicate", p.duplicate}, {"trimmed", p.trimmed},
                  {"dropped", p.dropped},     {"corrupted", p.corrupted},
                  {"ce_marked", p.ce_marked}, {"nacks", p.nacks}};
  j["encryption"] = encryption_json(r.encryption);
  j["job"] = job_json(r.job);
  j["tenants"] = shares_json("job", r.tenants);
  j["classes"] = shares_json("class", r.classes);
  j["completions"] = {{"cqes", r.completions.cqes}, {"writes", r.completions.writes}};
  j["rocev2"] = {
      {"cnps", r.rocev2.cnps},         {"naks", r.rocev2.naks},     {"out_of_sequence", r.rocev2.out_of_sequence},
      {"timeouts", r.rocev2.timeouts}, {"pauses", r.rocev2.pauses}, {"paused_us", r.rocev2.paused_us}};
  if (r.uet.on) {
    j["uet"] = {{"timeouts", r.uet.timeouts}, {"grants", r.uet.grants}, {"credit_requests", r.uet.credit_requests}};
  }
  if (const RunResult::Contexts& c = r.contexts; c.evicted > 0)
    j["contexts"] = {{"read", c.read}, {"evicted", c.evicted}, {"written", c.written}};
  if (r.reduction.trees > 0) j["reduction"] = reduction_json(r.reduction);
  j["nodes"] = Json::array();
  for (const NodeResult& n : r.nodes)
    j["nodes"].push_back({{"node", n.node}, {"tx_gbps", n.tx_gbps}, {"rx_gbps", n.rx_gbps}});
  j["accounts"] = Json::array();
  for (const AccountResult& a : r.accounts) {
    j["accounts"].push_back({{"node", a.node},
                             {"part", a.part},
                             {"unit", a.unit},
                             {"in", a.in},
                             {"out", a.out},
                             {"lost", a.lost},
                             {"held", a.held}});
  }
  j["buffers"] = buffers_json(r);
  j["ledger"] = ledger_json(r);
  j["limits"] = Json::array();
  for (const LimitResult& l : r.limits)
    j["limits"].push_back({{"cause", l.cause}, {"gbps", l.gbps}, {"relieved_by", l.relieved_by}});
  for (const MessageCause& c : r.message_causes)
    j["message_causes"].push_back({{"cause", c.cause}, {"us", c.us}, {"relieved_by", c.relieved_by}});
  j["rtl"] = rtl_json(r);
  if (!r.rtl_sources.empty()) j["rtl_sources"] = rtl_sources_json(r);
  j["pcie"] = pcie_json(r);
  j["events"] = Json::array();
  for (const EventResult& e : r.events) {
    j["events"].push_back({{"time_us", e.time_us}, {"what", e.what}, {"where", e.where}, {"effect", e.effect}});
  }
  j["sram"] = sram_json(r);
  j["latency_terms"] = Json::array();
  for (const LatencyTerm& t : r.latency_terms) {
    j["latency_terms"].push_back(
        {{"term", t.term}, {"ns", t.ns}, {"low_ns", t.low_ns}, {"high_ns", t.high_ns}, {"source", t.source}});
  }
  j["switch_ports"] = switch_ports_json(r);
  j["cost"] = {{"box_steps", r.cost.box_steps}, {"kernel_activations", r.cost.kernel_activations}};
  j["parameters"] = parameters_json(scenario);
  // A name may have bytes that are not UTF-8.
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string series_json(const RunResult& r) {
  std::string text = "{\"step_us\":" + text_of(r.series.step_us()) + ",\"plane_goodput_gbps\":[";
  append_channels(text, r.series, Series::Group::plane_goodput_gbps);
  text += "],\"buffer_occupancy\":{";
  append_channels(text, r.series, Series::Group::buffer_occupancy);
  text += "},\"ev_states\":{";
  append_ev_states(text, r.series);
  text += "},\"queue_bytes\":{";
  append_channels(text, r.series, Series::Group::queue_bytes);
  return text + "}}\n";
}

}  // namespace mrc
