#include "simulation.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <systemc>
#include <tuple>

#include <fmt/format.h>

#include "endpoint/endpoint.h"
#include "endpoint/rocev2_endpoint.h"
#include "fabric/fabric.h"
#include "fabric/fault_log.h"
#include "fabric/fault_timeline.h"
#include "model_recording.h"
#include "mrc/rocev2/rc_packet.h"
#include "nic/packet_capture.h"
#include "results/latency_terms.h"
#include "results/limits.h"
#include "results/recording.h"
#include "results/sram_table.h"
#include "simulation_node.h"
#include "split/split.h"

namespace mrc {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
/// How far the kernel runs at first between two looks at progress, interrupts, errors and levels; it doubles with the
/// step of the series.
constexpr double kFirstSliceUs = 1.0;
/// Switch ports up to which each has its own series; of larger fabrics it is the longest queue a plane, tier and
/// direction.
constexpr std::uint32_t kMostQueueSeries = 256;
constexpr std::array<const char*, kEvStates> kEvStateNames{"good", "skip", "assumed_bad", "denied"};

double us(TimePs time) {
  return static_cast<double>(time) / static_cast<double>(kPsPerUs);
}

/// Mean and quantiles of sorted times; precondition: not empty.
RunResult::MessageTime spread_of(const std::vector<TimePs>& times) {
  double sum = 0;
  for (const TimePs time : times) sum += us(time);
  const auto quantile = [&](double q) {
    return us(times[static_cast<std::size_t>(q * static_cast<double>(times.size() - 1) + 0.5)]);
  };
  return {sum / static_cast<double>(times.size()), quantile(0.5), quantile(0.99), us(times.back())};
}

/// The distribution of sorted times in steps of 1 %, finer at its upper end; precondition: not empty.
std::vector<RunResult::Quantile> quantiles_of(const std::vector<TimePs>& times) {
  std::vector<double> shares;
  for (int percent = 0; percent < 100; ++percent) shares.push_back(percent / 100.0);
  shares.insert(shares.end(), {0.995, 0.999, 0.9999, 1.0});
  std::vector<RunResult::Quantile> quantiles;
  for (const double share : shares) {
    const auto at = static_cast<std::size_t>(share * static_cast<double>(times.size() - 1) + 0.5);
    quantiles.push_back({share, us(times[at])});
  }
  return quantiles;
}

}  // namespace

Simulation::Simulation(const ScenarioConfig& scenario, const Workload& workload,
                       const std::vector<NodeId>& nics_of_ranks, SimulationOptions options)
    : scenario_(scenario),
      workload_(workload),
      placement_(workload, nics_of_ranks, scenario.traffic.nics_per_rank, scenario.fabric.nics),
      options_(std::move(options)),
      series_(kFirstSliceUs) {
  quantum_ps_ = Fabric::quantum_ps(scenario);
  fabric_ = std::make_unique<Fabric>("fabric", scenario, quantum_ps_);
  faults_ = std::make_unique<FaultTimeline>(scenario, fabric_->topology());
  faults_->apply(fabric_->network());
  fault_log_ = std::make_unique<FaultLog>(scenario, fabric_->topology(), *faults_);
  build_split();
  build_nodes();
  build_qps();
  for (auto& node : nodes_) {
    if (scenario.is_rocev2()) {
      node->endpoint = std::make_unique<Rocev2Endpoint>(node->context, node->memory, fabric_->network(), placement_);
      continue;
    }
    if (node->is_endpoint()) {
      node->endpoint = std::make_unique<Endpoint>(node->context, node->memory, fabric_->network(), placement_);
      continue;
    }
    if (!node->here) continue;
    node->nic = std::make_unique<Nic>(node->name.c_str(), *node->wheel, node->context, node->memory,
                                      fabric_->links_of(node->id), make_rtl(node->id));
    node->host = std::make_unique<Host>(fmt::format("host{}", node->id).c_str(), *node->wheel, node->context,
                                        *node->nic, node->memory, placement_);
  }
  build_siblings();
  check_rtl_selections(scenario_, options_.rtl);
  const bool endpoints =
      std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node->is_endpoint(); });
  for (auto& node : nodes_) {
    if (endpoints) node->memory.track_placement();
  }
  for (auto& node : nodes_) {
    for (const auto& [peer, qps] : node->qps_of_peer) {
      if (longest_send(node->id, peer) > 0) build_channel(node->id, peer);
    }
  }
  if (!options_.pcap.empty()) capture_ = std::make_unique<PacketCapture>(options_.pcap, scenario_);
  for (auto& node : nodes_) {
    node->memory.skip_write(options_.skip_memory_write);
    node->context.capture = capture_.get();
  }
  for (const auto& node : nodes_) {
    if (!options_.observe_buffer) break;
    if (!node->nic) continue;
    for (const Occupancy* buffer : node->nic->buffers()) buffer->observe(options_.observe_buffer(node->name, *buffer));
  }
  for (auto& node : nodes_) {
    if (!faults_->empty() && node->here) set_faults(*node);
  }
  build_recording();
  build_series();
  join_ranks();
}

void Simulation::set_faults(Node& node) const {
  const std::vector<PortDarkness> darkness = faults_->darkness_of(node.id);
  if (node.endpoint) {
    node.endpoint->set_darkness(darkness);
    return;
  }
  node.nic->set_faults(darkness, faults_->rates_of(node.id), faults_->pcie_stalls_of(node.id));
}

void Simulation::watch_evs() {
  if (fault_log_->empty()) return;
  for (const auto& node : nodes_) {
    for (const Qp& qp : node->context.qps) {
      if (qp.paths == nullptr) continue;
      for (EvEvent event; qp.paths->pop_event(event);) {
        fault_log_->ev_changed(node->id, qp.peer, qp.paths->value(event.ev), qp.paths->plane(event.ev), event);
      }
    }
  }
}

void Simulation::note_reactions() {
  if (fault_log_->empty()) return;
  watch_evs();
  for (const auto& node : nodes_) {
    if (!node->here) continue;
    const PortStatusAgent* agent = node->nic ? &node->nic->port_status() : node->endpoint->port_status();
    if (agent != nullptr) fault_log_->port_steps(node->id, agent->steps());
  }
}

void Simulation::collect_events(RunResult& result) const {
  if (fault_log_->empty()) return;
  result.events = fault_log_->rows(sc_core::sc_time_stamp().value());
}

Simulation::~Simulation() = default;

NicRtl Simulation::make_rtl(NodeId node) const {
  NicRtl rtl;
  for (const RtlSelection& selection : options_.rtl) {
    if (selection.node == node) options_.add_rtl(selection, scenario_, rtl);
  }
  return rtl;
}

void check_rtl_selections(const ScenarioConfig& scenario, const std::vector<RtlSelection>& selections) {
  const auto has_boxes = [&](const RtlSelection& selection) {
    return !scenario.is_rocev2() && scenario.node(selection.node).fidelity == Fidelity::detailed;
  };
  if (selections.empty() || std::any_of(selections.begin(), selections.end(), has_boxes)) return;
  throw std::invalid_argument(
      fmt::format("--rtl, --shadow: nic{} is a light endpoint, which has no boxes ({})", selections.front().node,
                  scenario.is_rocev2() ? "transport = \"rocev2\" has no others" : "fidelity = \"endpoint\""));
}

void Simulation::build_nodes() {
  const std::vector<NodeId> first = first_siblings();
  const std::vector<bool> speaks = nodes_that_speak();
  node_at_.resize(scenario_.fabric.nics, nullptr);
  for (NodeId id = 0; id < scenario_.fabric.nics; ++id) {
    if (!speaks[id]) continue;
    const std::shared_ptr<WheelModule> shared = first[id] == id ? nullptr : at(first[id]).wheel;
    nodes_.push_back(std::make_unique<Node>(id, scenario_, quantum_ps_, !split_ || split_->owns(id), shared));
    node_at_[id] = nodes_.back().get();
    if (at(id).is_endpoint() == at(first[id]).is_endpoint()) continue;
    throw std::invalid_argument(
        fmt::format("nic{} and nic{} belong to one accelerator (traffic.nics_per_rank = {}) and differ in fidelity; "
                    "allowed: both detailed or both endpoint",
                    first[id], id, scenario_.traffic.nics_per_rank));
  }
}

std::vector<bool> Simulation::nodes_that_speak() const {
  std::vector<bool> speaks(scenario_.fabric.nics, false);
  for (NodeId id = 0; id < scenario_.fabric.nics; ++id) {
    speaks[id] = !placement_.of_node[id].empty() || !faults_->darkness_of(id).empty() ||
                 (scenario_.node(id).fidelity == Fidelity::detailed && !scenario_.is_rocev2()) ||
                 scenario_.run.node_under_test == fmt::format("nic{}", id);
  }
  for (const WorkNode& work : workload_.nodes) {
    if (work.kind == WorkKind::send) speaks[placement_.peer_node_of(work)] = true;
  }
  for (const RtlSelection& selection : options_.rtl) speaks[selection.node] = true;
  if (placement_.nics_per_rank > 1) {
    for (const NodeId id : placement_.nics_of_ranks) speaks[id] = true;
  }
  return speaks;
}

std::vector<NodeId> Simulation::first_siblings() const {
  std::vector<NodeId> first(scenario_.fabric.nics);
  std::iota(first.begin(), first.end(), 0U);
  const std::uint32_t each = placement_.nics_per_rank;
  const auto root = [&](NodeId id) {
    while (first[id] != id) id = first[id];
    return id;
  };
  for (std::size_t i = 0; each > 1 && i < placement_.nics_of_ranks.size(); ++i) {
    const NodeId a = root(placement_.nics_of_ranks[i]);
    const NodeId b = root(placement_.nics_of_ranks[i / each * each]);
    first[std::max(a, b)] = std::min(a, b);
  }
  for (NodeId id = 0; id < first.size(); ++id) first[id] = root(id);
  return first;
}

void Simulation::build_siblings() {
  const std::uint32_t each = placement_.nics_per_rank;
  const std::vector<NodeId>& nics = placement_.nics_of_ranks;
  for (std::size_t rank = 0; each > 1 && rank < nics.size() / each; ++rank) {
    for (std::size_t i = rank * each; i < (rank + 1) * each; ++i) {
      for (std::size_t k = rank * each; k < (rank + 1) * each; ++k) {
        if (nics[i] != nics[k] && at(nics[i]).here) at(nics[i]).player().add_sibling(nics[k], at(nics[k]).player());
      }
    }
  }
}

std::uint64_t Simulation::longest_send(NodeId from, NodeId to) const {
  const auto it = longest_sends_.find({from, to});
  return it == longest_sends_.end() ? 0 : it->second;
}

void Simulation::build_qps() {
  std::map<std::pair<NodeId, NodeId>, std::pair<bool, bool>> pairs;  // (a < b) → a sends, b sends
  for (const WorkNode& work : workload_.nodes) {
    if (work.kind != WorkKind::send) continue;
    const NodeId from = placement_.node_of(work);
    const NodeId to = placement_.peer_node_of(work);
    if (from == to) continue;  // between ranks of one node: no NIC's business
    std::uint64_t& longest = longest_sends_[{from, to}];
    longest = std::max(longest, work.bytes);
    auto& directions = pairs[{std::min(from, to), std::max(from, to)}];
    (from < to ? directions.first : directions.second) = true;
  }
  std::map<NodeId, std::set<NodeId>> peers;
  for (const auto& [pair, directions] : pairs) {
    peers[pair.first].insert(pair.second);
    peers[pair.second].insert(pair.first);
  }
  for (const auto& [id, of_node] : peers) {
    at(id).qps.reserve(of_node.size() * scenario_.traffic.qps_per_peer);
  }
  for (const auto& [pair, directions] : pairs) {
    connect_pair(pair.first, pair.second, directions.first, directions.second);
  }
}

void Simulation::connect_pair(NodeId a, NodeId b, bool a_sends, bool b_sends) {
  const auto add_qp = [&](Node& node, NodeId peer) -> Qp& {
    Qp& qp = node.qps.add_qp();
    qp.peer = peer;
    qp.route = fabric_->topology().route(node.id, peer);
    node.qps_of_peer[peer].push_back(node.context.index_of(qp));
    return qp;
  };
  const auto add_responder = [&](Node& node, Qp& qp, Psn first_psn) {
    node.qps.add_responder(qp, first_psn);
    if (qp.responder) qp.responder->post_receive(scenario_.protocol.receive_queue_depth);
  };
  for (std::uint32_t i = 0; i < scenario_.traffic.qps_per_peer; ++i) {
    Qp& at_a = add_qp(at(a), b);
    Qp& at_b = add_qp(at(b), a);
    at_a.peer_number = at_b.number;
    at_b.peer_number = at_a.number;
    KeyedRandom random(scenario_.seed, fmt::format("qp.{}.{}.{}", a, b, i));
    const Psn psn_a = static_cast<Psn>(random.next() & kPsnMask);
    const Psn psn_b = static_cast<Psn>(random.next() & kPsnMask);
    const auto add_halves = [&](NodeId id, Qp& qp, bool sends, Psn first, bool receives, Psn peers_first) {
      if (!at(id).here) return;
      qp.reverse_paths = std::make_unique<ReversePaths>(at(id).context.config.nic.ports, random);
      if (sends) at(id).qps.add_requestor(qp, first);
      if (receives) add_responder(at(id), qp, peers_first);
    };
    add_halves(a, at_a, a_sends, psn_a, b_sends, psn_b);
    add_halves(b, at_b, b_sends, psn_b, a_sends, psn_a);
  }
}

void Simulation::build_channel(NodeId from, NodeId to) {
  const TrafficConfig& traffic = scenario_.traffic;
  const std::uint64_t spare = (traffic.offset_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  const std::uint64_t longest = (longest_send(from, to) + kPageBytes - 1) / kPageBytes * kPageBytes;
  Channel channel;
  channel.peer = to;
  channel.qps = at(from).qps_of_peer[to];
  // A piece takes at most half a buffer, so that the source has another place for the next one.
  channel.slot_bytes = std::min(longest, traffic.buffer_bytes / 2 / kPageBytes * kPageBytes);
  channel.slot_stride = channel.slot_bytes + spare;
  const auto slots = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(traffic.buffer_bytes / channel.slot_stride, 1, traffic.outstanding_messages));
  for (std::uint32_t slot = slots; slot > 0; --slot) channel.free_slots.push_back(slot - 1);
  channel.source_bytes = std::min(traffic.buffer_bytes, std::max(2 * channel.slot_bytes, 64 * kPageBytes));
  if (channel.slot_bytes * slots * 2 > channel.source_bytes) channel.source_bytes = traffic.buffer_bytes;
  channel.source_base = at(from).memory.add_source_region(channel.source_bytes + spare);
  const std::uint64_t destination_bytes = slots * channel.slot_stride;
  channel.destination_base = at(to).memory.add_destination_region(destination_bytes, channel.slot_stride);
  channel.rkey = 0x1000 + from;
  at(to).context.protection.add({.va = channel.destination_base,
                                 .bytes = destination_bytes,
                                 .rkey = channel.rkey,
                                 .domain = QpAssembly::kDomain});
  if (!at(from).here) return;
  if (at(to).here) channel.peer_memory = &at(to).memory;
  at(from).player().add_channel(std::move(channel));
}

Simulation::State Simulation::state(const std::atomic<bool>& interrupted) const {
  State state;
  state.pending = sc_core::sc_pending_activity() ? 1 : 0;
  state.interrupted = interrupted.load() ? 1 : 0;
  state.wrong = split_ && !split_->misplaced.empty() ? 1 : 0;
  for (const auto& node : nodes_) {
    if (!node->here) continue;
    const WorkPlayer& player = node->player();
    state.nodes_left += player.nodes_left();
    state.progress += player.progress();
    state.acknowledged += player.statistics().acknowledged_bytes;
    state.computing += player.computing() ? 1 : 0;
    state.failed += player.statistics().first_failure.empty() ? 0 : 1;
    state.wrong += player.statistics().corrupted_bytes > 0 || node->first_rtl_mismatch() != nullptr ? 1 : 0;
  }
  if (split_) split_->ranks.sum(state.values());
  return state;
}

std::vector<std::string> Simulation::qp_waits(const Node& node) const {
  const TimePs now = sc_core::sc_time_stamp().value();
  std::vector<std::string> lines;
  for (const Qp& qp : node.context.qps) {
    if (!qp.requestor || qp.requestor->messages_pending() == 0 || lines.size() >= kMostQpWaits) continue;
    lines.push_back(
        fmt::format("{} QP {} to nic{} waits for {}", node.name, qp.number, qp.peer, qp.requestor->describe_wait(now)));
  }
  return lines;
}

std::vector<std::string> Simulation::describe_stall() const {
  std::vector<std::string> lines;
  for (const auto& node : nodes_) {
    for (std::string& line : node->here ? qp_waits(*node) : node->waits_elsewhere.qps) {
      if (lines.size() < kMostQpWaits) lines.push_back(std::move(line));
    }
    for (std::string& line : node->here ? node->player().describe_waits(kMostWaitsANode) : node->waits_elsewhere.work) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

void Simulation::report_progress(std::uint64_t done, std::uint64_t offered) const {
  if (!options_.progress) return;
  options_.progress({us(sc_core::sc_time_stamp().value()),
                     offered == 0 ? 0.0 : static_cast<double>(done) / static_cast<double>(offered)});
}

void Simulation::build_recording() {
  const bool waves = !options_.waves.path.empty();
  const bool timeline = !options_.perfetto.path.empty();
  if (!waves && !timeline) return;
  recording_ = std::make_unique<Recording>();
  const auto wanted = [&](const std::string& node) {
    const std::vector<std::string>& names = options_.waves.nodes;
    return timeline || std::find(names.begin(), names.end(), node) != names.end();
  };
  std::set<NodeId> recorded;
  for (auto& node : nodes_) {
    if (node->is_endpoint() || !wanted(node->name)) continue;
    recorded.insert(node->id);
    Recorder& recorder = recording_->add_wheel(node->name);
    node->context.recorder = &recorder;
    record_nic(*recording_, recorder, node->name, *node->nic, node->context, node->qps.path_tables());
    if (Recorder* of_sibling = node->wheel->recorder()) {
      of_sibling->add_poll([&recorder](TimePs now) { recorder.stepped(now); });
    } else {
      node->wheel->record_to(recorder);
    }
  }
  if (wanted("fabric")) {
    Recorder& recorder = recording_->add_wheel("fabric");
    record_fabric(*recording_, recorder, *fabric_, recorded);
  }
  if (waves) {
    const TimePs cycle = nodes_.front()->context.clock.period_ps();
    recording_->add_sink(std::make_unique<WaveRecorder>(options_.waves, *recording_, cycle));
  }
  if (timeline) recording_->add_sink(std::make_unique<PerfettoTimeline>(options_.perfetto, *recording_));
}

void Simulation::advance() {
  // A recording is handed on in short pieces, so that what it holds does not grow with the step.
  constexpr double piece_us = 4;
  const double to_end_us = scenario_.run.max_time_us - us(sc_core::sc_time_stamp().value());
  double left_us = std::min(series_.step_us(), to_end_us);
  for (; recording_ && left_us > piece_us; left_us -= piece_us) {
    run_until(sc_core::sc_time_stamp().value() + static_cast<TimePs>(piece_us * kPsPerUs));
    recording_->flush(sc_core::sc_time_stamp().value());
  }
  run_until(sc_core::sc_time_stamp().value() + sc_core::sc_time(left_us, sc_core::SC_US).value());
  if (recording_) recording_->flush(sc_core::sc_time_stamp().value());
}

/// Of light endpoints only the node under test has a series.
bool Simulation::counts_ev_states(const Node& node) const {
  return !node.is_endpoint() || node.name == scenario_.run.node_under_test;
}

void Simulation::build_series() {
  for (const auto& node : nodes_) {
    if (node->name != scenario_.run.node_under_test) continue;
    for (std::size_t plane = 0; plane < node->context.config.nic.ports; ++plane) {
      series_.add(Series::Group::plane_goodput_gbps, fmt::format("{}", plane));
      sampled_payload_bytes_.push_back(0);
    }
  }
  for (const auto& node : nodes_) {
    if (!node->nic) continue;
    for (const Occupancy* buffer : node->nic->buffers()) {
      series_.add(Series::Group::buffer_occupancy, fmt::format("{}.{}", node->name, buffer->name()));
      sampled_buffers_.push_back(buffer);
    }
  }
  for (const auto& node : nodes_) {
    if (!counts_ev_states(*node)) continue;
    for (const char* state : kEvStateNames) series_.add(Series::Group::ev_states, node->name, state);
  }
  build_queue_series();
}

void Simulation::build_queue_series() {
  const Topology& topology = fabric_->topology();
  std::uint32_t switch_ports = 0;
  for (const LinkInfo& link : topology.links()) switch_ports += link.first_hop() ? 0 : 1;
  std::map<std::tuple<std::uint32_t, SwitchTier, bool>, std::uint32_t> groups;
  queue_row_of_link_.resize(topology.links().size());
  for (std::uint32_t link = 0; link < topology.links().size(); ++link) {
    const LinkInfo& info = topology.links()[link];
    if (info.first_hop()) continue;
    if (switch_ports <= kMostQueueSeries) {
      series_.add(Series::Group::queue_bytes, topology.port_name(link));
      queue_row_of_link_[link] = queue_rows_++;
      continue;
    }
    const SwitchTier tier = topology.switches()[info.from].tier;
    const auto [group, added] = groups.try_emplace({info.plane, tier, info.up}, queue_rows_);
    queue_row_of_link_[link] = group->second;
    if (!added) continue;
    const char* name = std::array{"t0", "t1", "t2"}[static_cast<std::size_t>(tier)];
    series_.add(Series::Group::queue_bytes,
                fmt::format("plane{}.{}.{}.longest", info.plane, name, info.up ? "up" : "down"));
    ++queue_rows_;
  }
}

void Simulation::sample_queues(std::vector<double>& row) {
  const std::size_t first = row.size();
  row.resize(first + queue_rows_, 0.0);
  const Network& network = fabric_->network();
  for (const std::uint32_t link : network.links_with_queues()) {
    double& level = row[first + queue_row_of_link_[link]];
    level = std::max(level, static_cast<double>(network.ports()[link].queued_bytes));
  }
}

void Simulation::sample_series() {
  std::vector<double>& row = sample_;
  row.clear();
  for (const auto& node : nodes_) {
    if (node->name != scenario_.run.node_under_test) continue;
    for (std::size_t plane = 0; plane < node->context.config.nic.ports; ++plane) {
      // Of a detailed NIC elsewhere there is nothing here.
      const std::uint64_t bytes = !node->here ? 0
                                  : node->nic ? node->nic->ports()[plane]->first_payload_bytes()
                                              : node->endpoint->first_payload_bytes()[plane];
      row.push_back(static_cast<double>(bytes - sampled_payload_bytes_[plane]) * 8.0 / (series_.step_us() * 1000.0));
      sampled_payload_bytes_[plane] = bytes;
    }
  }
  for (const Occupancy* buffer : sampled_buffers_) row.push_back(static_cast<double>(buffer->level()));
  for (const auto& node : nodes_) {
    if (!counts_ev_states(*node)) continue;
    std::array<std::uint64_t, kEvStates> counts{};
    for (const PathTable* table : node->qps.path_tables()) {
      for (std::size_t state = 0; state < kEvStates; ++state)
        counts[state] += table->count(static_cast<EvState>(state));
    }
    for (const std::uint64_t count : counts) row.push_back(static_cast<double>(count));
  }
  sample_queues(row);
  series_.sample(row);
}

Simulation::End Simulation::play(const std::atomic<bool>& interrupted) {
  for (auto& node : nodes_) {
    if (!node->here) continue;
    if (node->host) {
      node->host->start();
    } else {
      node->endpoint->start();
    }
  }
  fabric_->wake();
  const std::uint64_t offered = workload_.bytes();
  std::uint64_t last_progress = 0;
  double progress_at_us = 0;
  for (State now = state(interrupted); now.nodes_left > 0;) {
    advance();
    sample_series();
    watch_evs();
    if (capture_) capture_->flush_before(sc_core::sc_time_stamp().value());
    const double now_us = us(sc_core::sc_time_stamp().value());
    now = state(interrupted);
    if (now.wrong > 0) return End::over;
    if (now.interrupted > 0) return End::interrupted;
    if (now.progress != last_progress || now.computing > 0) progress_at_us = now_us;
    last_progress = now.progress;
    const bool stuck = now.pending == 0 || now_us - progress_at_us > scenario_.run.stall_us;
    // What waits for a message that a QP error has ended waits for ever; the error is the news.
    if (now.nodes_left > 0 && stuck) return now.failed > 0 ? End::over : End::stalled;
    if (now_us >= scenario_.run.max_time_us && now.nodes_left > 0) return End::out_of_time;
    report_progress(now.acknowledged, offered);
  }
  return End::over;
}

RunResult Simulation::run(const std::atomic<bool>& interrupted) {
  const End end = play(interrupted);
  if (split_) {
    gather();
    if (!split_->is_first()) return {};
  } else {
    note_reactions();
  }
  if (end == End::interrupted) return collect(RunStatus::partial, {"interrupted"});
  if (end == End::stalled) return collect(RunStatus::stalled, describe_stall());
  if (end == End::out_of_time) return collect(RunStatus::partial, {"run.max_time_us is over"});
  std::vector<std::string> details;
  RunStatus status = RunStatus::complete;
  for (const auto& node : nodes_) {
    const HostStatistics& host = node->player().statistics();
    if (!host.first_failure.empty()) {
      status = RunStatus::failed;
      details.push_back(host.first_failure);
    }
  }
  for (const auto& node : nodes_) {
    if (node->nic) node->nic->rtl().compare_states(sc_core::sc_time_stamp().value());
    const std::string* difference = node->first_rtl_mismatch();
    const std::string& corruption = node->player().statistics().first_corruption;
    if (!corruption.empty()) details.push_back(corruption);
    if (difference != nullptr) details.push_back(node->name + ": " + *difference);
    if (!corruption.empty() || difference != nullptr) status = RunStatus::mismatch;
  }
  return collect(status, std::move(details));
}

void Simulation::collect_node(RunResult& result, const Node& node, TimePs end) const {
  const HostStatistics& host = node.player().statistics();
  const NicCounters& counters = node.context.counters;
  result.messages.completed += host.messages_completed;
  result.messages.failed += host.messages_failed;
  result.bytes.delivered += host.acknowledged_bytes + host.local_bytes;
  result.bytes.corrupted += host.corrupted_bytes;
  result.packets.sent += counters.data_packets;
  result.packets.control += counters.control_packets;
  result.packets.delivered += counters.delivered;
  result.packets.retransmitted += counters.retransmitted;
  result.packets.duplicate += counters.duplicates;
  result.packets.dropped += counters.rx_overrun;
  const double active_ns = static_cast<double>(end) / 1000.0;
  result.nodes.push_back({node.name,
                          active_ns > 0 ? 8.0 * static_cast<double>(counters.first_payload_bytes) / active_ns : 0,
                          active_ns > 0 ? 8.0 * static_cast<double>(counters.delivered_bytes) / active_ns : 0});
  if (!node.nic) return;
  node.nic->settle(end);
  for (const Occupancy* buffer : node.nic->buffers()) {
    result.buffers.push_back({node.name, buffer->name(), buffer->unit(), buffer->capacity(), buffer->mean(end),
                              buffer->p99(end), buffer->high_water(), buffer->time_full_share(end)});
    for (const Occupancy::Bin& bin : buffer->histogram(end)) {
      result.buffers.back().histogram.push_back({bin.upper, bin.share});
    }
  }
  node.nic->finish(end);
  for (const IssueSlot* slot : node.nic->slots()) {
    const double total = static_cast<double>(std::max<TimePs>(slot->accounted_ps(), 1));
    LedgerResult row{node.name,
                     slot->box(),
                     static_cast<double>(slot->busy_ps()) / total,
                     static_cast<double>(slot->starved_ps()) / total,
                     static_cast<double>(slot->idle_ps()) / total,
                     {}};
    for (std::size_t i = 0; i < kBlockedByCount; ++i) {
      const auto cause = static_cast<BlockedBy>(i);
      if (slot->blocked_ps(cause) > 0) {
        row.blocked[std::string(to_string(cause))] = static_cast<double>(slot->blocked_ps(cause)) / total;
      }
    }
    result.ledger.push_back(std::move(row));
  }
  result.pcie.push_back({node.name, node.nic->pcie().counts()});
  for (const RtlPath* rtl : node.nic->rtl().paths()) {
    result.rtl.push_back({node.name, std::string(rtl->block()), std::string(to_string(rtl->mode())),
                          rtl->transactions(), rtl->mismatches(), rtl->cycles(), rtl->rtl_cycles().occupied,
                          rtl->systemc_cycles().occupied, rtl->rtl_cycles().latency, rtl->systemc_cycles().latency});
  }
  for (const NicEvent& event : node.context.events) {
    result.events.push_back({us(event.time), event.what, node.name + "." + event.where, event.effect});
  }
  result.packets.dropped += counters.memory_dropped;
  result.completions.cqes += counters.cqes;
  result.completions.writes += counters.cqe_writes;
  if (!node.owns_wheel) return;
  result.cost.box_steps += node.wheel->steps();
  result.cost.kernel_activations += node.wheel->activations();
}

std::map<std::string, double> Simulation::receiver_write_blocked(const Node& sender) const {
  std::map<std::string, double> shares;
  TimePs total = 0;
  for (const auto& [peer, qps] : sender.qps_of_peer) {
    if (!at(peer).nic) continue;
    for (const IssueSlot* slot : at(peer).nic->slots()) {
      if (slot->box() != "pcie_dma.write") continue;
      total += slot->busy_ps();
      for (std::size_t i = 0; i < kBlockedByCount; ++i) {
        const auto cause = static_cast<BlockedBy>(i);
        if (slot->blocked_ps(cause) == 0) continue;
        total += slot->blocked_ps(cause);
        shares[std::string(to_string(cause))] += static_cast<double>(slot->blocked_ps(cause));
      }
    }
  }
  for (auto& [cause, share] : shares) share /= static_cast<double>(std::max<TimePs>(total, 1));
  return shares;
}

std::map<std::string, double> Simulation::lost_to_overruns(const Node& under_test) const {
  std::map<std::string, double> shares;
  auto lost = static_cast<double>(fabric_->packets_lost() + fabric_->network().impairments().corrupted);
  for (const auto& node : nodes_) {
    const NicCounters& counters = node->context.counters;
    lost += static_cast<double>(counters.rx_overrun);
    for (std::size_t i = 0; i < kBlockedByCount; ++i) {
      if (counters.rx_overrun_by_cause[i] == 0) continue;
      const std::string queue(to_string(static_cast<BlockedBy>(i)));
      shares[node.get() == &under_test ? queue : "receiver." + queue] +=
          static_cast<double>(counters.rx_overrun_by_cause[i]);
    }
  }
  for (auto& [queue, share] : shares) share /= lost;
  return shares;
}

void Simulation::collect_under_test(RunResult& result, const Node& node, TimePs end) const {
  const HostStatistics& host = node.player().statistics();
  const NicConfig& nic = node.context.config.nic;
  result.line_rate_gbps = nic.port_gbps * nic.ports;
  const std::uint32_t mtu = scenario_.protocol.mtu_bytes;
  Packet full;
  full.payload_bytes = mtu;
  full.opcode = Opcode::write_middle;
  result.framing_limit_gbps =
      result.line_rate_gbps * mtu /
      (scenario_.is_rocev2() ? rc_wire_bytes(full) : wire_bytes(full, scenario_.protocol.encapsulation));
  if (host.first_doorbell < end) {
    const TimePs active = end - host.first_doorbell;
    result.goodput_gbps = 8000.0 * static_cast<double>(host.acknowledged_bytes) / static_cast<double>(active);
    if (node.nic)
      result.limits = goodput_limits(node.context.counters, {.line_rate_gbps = result.line_rate_gbps,
                                                             .goodput_gbps = result.goodput_gbps,
                                                             .active_ps = active,
                                                             .ports = nic.ports,
                                                             .slow_ps = node.nic->slow_ps(),
                                                             .idle_ps = node.nic->idle_causes().idle_ps(),
                                                             .receiver_write_blocked = receiver_write_blocked(node),
                                                             .lost_to_overruns = lost_to_overruns(node)});
  }
  std::vector<TimePs> times = host.message_times;
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  result.message_time_us = spread_of(times);
  result.message_time_quantiles = quantiles_of(times);
}

void Simulation::collect_one_way(RunResult& result) const {
  std::vector<TimePs> times;
  for (std::uint32_t i = 0; i < workload_.nodes.size(); ++i) {
    const WorkNode& send = workload_.nodes[i];
    if (send.kind != WorkKind::send || send.match == kNoWork) continue;
    const NodeId from = placement_.node_of(send);
    const NodeId to = placement_.peer_node_of(send);
    if (from == to) continue;
    const WorkPlayer& sender = at(from).player();
    const WorkPlayer& receiver = at(to).player();
    const TimePs known = receiver.known_at(send.match);
    if (known != kNever) times.push_back(known - sender.posted_at(i));
  }
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  const auto spread = spread_of(times);
  result.one_way_us = {times.size(), spread.mean, spread.p50, spread.p99, spread.max};
}

Rocev2Counts Simulation::rocev2_counts() const {
  Rocev2Counts sum;
  for (const auto& node : nodes_) {
    const auto* endpoint = dynamic_cast<const Rocev2Endpoint*>(node->endpoint.get());
    if (endpoint == nullptr || !node->here) continue;
    const Rocev2Counts counts = endpoint->counts();
    sum.cnps_sent += counts.cnps_sent;
    sum.naks_sent += counts.naks_sent;
    sum.out_of_sequence += counts.out_of_sequence;
    sum.timeouts += counts.timeouts;
  }
  return sum;
}

void Simulation::collect_fabric(RunResult& result) const {
  const Network& network = fabric_->network();
  const ImpairmentCounts impairments = network.impairments();
  result.packets.dropped += impairments.dropped + network.without_route() + network.lost_on_down_links();
  result.packets.trimmed = impairments.trimmed;
  result.packets.corrupted = impairments.corrupted;
  result.packets.ce_marked = impairments.ce_marked;
  std::vector<Rocev2Counts> rocev2 = rocev2_elsewhere_;
  rocev2.push_back(rocev2_counts());
  for (const Rocev2Counts& counts : rocev2) {
    result.rocev2.cnps += counts.cnps_sent;
    result.rocev2.naks += counts.naks_sent;
    result.rocev2.out_of_sequence += counts.out_of_sequence;
    result.rocev2.timeouts += counts.timeouts;
  }
  for (const SwitchPort& port : network.ports()) {
    result.rocev2.pauses += port.counters.pauses;
    result.rocev2.paused_us += us(port.counters.paused_ps);
  }
  for (std::uint32_t link = 0; link < network.ports().size(); ++link) {
    const PortCounters& port = network.ports()[link].counters;
    if (network.topology().links()[link].first_hop()) continue;
    result.packets.dropped += port.dropped;
    result.packets.trimmed += port.trimmed;
    result.packets.ce_marked += port.ce_marked;
    if (port.packets == 0 && port.dropped == 0) continue;
    result.switch_ports.push_back({fabric_->topology().port_name(link), port.packets, port.bytes, port.dropped,
                                   port.trimmed, port.ce_marked, port.most_queued_bytes});
  }
}

void Simulation::collect_accounts(RunResult& result) const {
  const ImpairmentCounts impairments = fabric_->network().impairments();
  AccountResult fabric{"fabric", "fabric", "packets", impairments.duplicated, 0, 0, fabric_->packets_held()};
  for (const auto& node : nodes_) {
    if (node->nic) {
      for (AccountResult& account : node->nic->accounts()) result.accounts.push_back(std::move(account));
    }
    fabric.in += node->context.counters.data_packets + node->context.counters.control_packets;
    fabric.out += node->context.counters.received.packets;
  }
  fabric.lost = fabric_->packets_lost();
  result.accounts.push_back(std::move(fabric));
}

void Simulation::collect_job(RunResult& result) const {
  std::vector<WorkTimes> times;
  times.reserve(workload_.nodes.size());
  for (std::uint32_t i = 0; i < workload_.nodes.size(); ++i)
    times.push_back(at(placement_.node_of(workload_.nodes[i])).player().times(i));
  result.job = make_job_result(workload_, times, scenario_.traffic.collective);
}

RunResult Simulation::collect(RunStatus status, std::vector<std::string> details) {
  if (capture_) capture_->close();
  if (recording_) {
    recording_->close();
    if (recording_->late() > 0) {
      SC_REPORT_WARNING("waves", fmt::format("{} changes are shown later than they were", recording_->late()).c_str());
    }
  }
  RunResult result;
  result.scenario = scenario_.name;
  result.seed = scenario_.seed;
  result.status = status;
  result.details = std::move(details);
  TimePs end = 0;
  for (const auto& node : nodes_) end = std::max(end, node->player().statistics().last_completion);
  if (status != RunStatus::complete || end == 0) end = sc_core::sc_time_stamp().value();
  result.simulated_time_us = us(end);
  result.messages.count = workload_.sends();
  result.bytes.offered = workload_.bytes();
  result.node_under_test = scenario_.run.node_under_test;
  for (NodeId id = 0; id < node_at_.size(); ++id) {
    const Node* node = node_at_[id];
    if (node == nullptr) {
      result.nodes.push_back({fmt::format("nic{}", id), 0, 0});
      continue;
    }
    collect_node(result, *node, end);
    if (node->name == scenario_.run.node_under_test) {
      const TimePs last = node->player().statistics().last_completion;
      const TimePs active_end = status == RunStatus::complete ? last : end;
      if (node->nic) node->nic->idle_causes().finish(active_end);
      collect_under_test(result, *node, active_end);
      if (!node->nic) continue;
      result.sram = node->nic->memory_table({.qps = static_cast<std::uint32_t>(node->context.qps.size()),
                                             .destinations = static_cast<std::uint32_t>(node->qps_of_peer.size())},
                                            end);
    }
  }
  collect_one_way(result);
  collect_events(result);
  collect_accounts(result);
  collect_job(result);
  result.latency_terms = latency_terms(scenario_, kSmallWriteBytes);
  std::stable_sort(result.events.begin(), result.events.end(),
                   [](const EventResult& a, const EventResult& b) { return a.time_us < b.time_us; });
  collect_fabric(result);
  result.cost.box_steps += fabric_->network().events();
  result.series = std::move(series_);
  return result;
}

}  // namespace mrc
