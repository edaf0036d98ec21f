#include "simulation/model_recording.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <span>

#include <fmt/format.h>

namespace mrc {
namespace {

using Kind = RecordedObject::Kind;

/// "segmenter.queue" is the queue of the segmenter; a name without a dot is a box that is one buffer.
void name_object(RecordedObject& object, const std::string& name, const char* only_signal) {
  const std::size_t dot = name.rfind('.');
  object.box = name.substr(0, dot);
  object.signal = dot == std::string::npos ? only_signal : name.substr(dot + 1);
}

void record_buffer(Recording& recording, Recorder& recorder, const std::string& node, const DeclaredBuffer& declared) {
  const Occupancy& buffer = *declared.occupancy;
  const Box* taker = declared.taker == nullptr ? nullptr : *declared.taker;
  RecordedObject object{.kind = Kind::level,
                        .node = node,
                        .box = {},
                        .signal = {},
                        .unit = buffer.unit(),
                        .capacity = buffer.capacity(),
                        .moves = declared.moves,
                        .from_wire = declared.from_wire,
                        .maker = declared.maker,
                        .server = taker == nullptr ? "" : taker->place().full_name()};
  name_object(object, buffer.name(), "occupancy");
  buffer.record_to(recorder, recording.add_object(std::move(object)));
}

/// A scope that another box has its name from is that box's.
std::vector<RecordedBox> picture_of(const Nic& nic) {
  std::set<std::string> names;
  for (const Box* box : nic.boxes()) names.insert(box->place().full_name());
  std::vector<RecordedBox> picture;
  for (const Box* box : nic.boxes()) {
    RecordedBox& recorded = picture.emplace_back(RecordedBox{box->place(), {}});
    for (const DeclaredBuffer& buffer : box->buffers()) {
      RecordedObject object;
      name_object(object, buffer.occupancy->name(), "");
      const bool is_known =
          std::find(recorded.scopes.begin(), recorded.scopes.end(), object.box) != recorded.scopes.end();
      if (!is_known && !names.contains(object.box)) recorded.scopes.push_back(object.box);
    }
    recorded.scopes.push_back(box->place().name);
  }
  return picture;
}

std::uint32_t record_work(Recording& recording, Recorder& recorder, const std::string& node, const WorkClock& work,
                          const char* signal) {
  const std::uint32_t object =
      recording.add_object({.kind = Kind::work, .node = node, .box = "", .signal = signal, .unit = {}, .capacity = 1});
  work.record_to(recorder, object);
  return object;
}

/// Tells a quantity when it has changed.
class Watched {
 public:
  Watched(Recorder& recorder, std::uint32_t object) : recorder_(recorder), object_(object) {}
  void look(TimePs now, std::uint64_t value) {
    if (value == last_ && any_) return;
    any_ = true;
    last_ = value;
    recorder_.value(object_, now, value);
  }

 private:
  Recorder& recorder_;
  std::uint32_t object_;
  std::uint64_t last_ = 0;
  bool any_ = false;
};

void record_windows(Recording& recording, Recorder& recorder, const std::string& node, const NicContext& context) {
  struct Window {
    const CongestionControl* control;
    Watched cwnd;
    Watched inflight;
  };
  auto windows = std::make_shared<std::vector<Window>>();
  std::set<const CongestionDomain*> seen;
  const bool by_qp = context.scenario.protocol.congestion_scope == CongestionScope::qp;
  for (const Qp& qp : context.qps) {
    if (qp.congestion == nullptr || windows->size() >= kMostWatchedDomains || !seen.insert(qp.congestion).second)
      continue;
    const std::string box = by_qp ? fmt::format("congestion.to_nic{}_qp{}", qp.peer, qp.number)
                                  : fmt::format("congestion.to_nic{}", qp.peer);
    // Wide enough for the bandwidth-delay product of any fabric; "none" has no window and shows all ones.
    constexpr std::uint64_t widest = (std::uint64_t{1} << 40) - 1;
    const auto add = [&](const char* signal) {
      return Watched(
          recorder,
          recording.add_object(
              {.kind = Kind::value, .node = node, .box = box, .signal = signal, .unit = "bytes", .capacity = widest}));
    };
    windows->push_back({qp.congestion->control.get(), add("cwnd_bytes"), add("inflight_bytes")});
  }
  recorder.add_poll([windows](TimePs now) {
    for (Window& window : *windows) {
      window.cwnd.look(now, window.control->cwnd_bytes());
      window.inflight.look(now, window.control->inflight_bytes());
    }
  });
}

/// EVs of all tables of a node by state, and with few tables each EV that changes its state.
class WatchedPaths {
 public:
  WatchedPaths(Recording& recording, Recorder& recorder, const std::string& node,
               std::span<const PathTable* const> tables)
      : recorder_(recorder), tables_(tables) {
    constexpr std::array<const char*, kEvStates> names{"ev_good", "ev_skip", "ev_assumed_bad", "ev_denied"};
    std::uint64_t evs = 1;
    for (const PathTable* table : tables) evs += table->size();
    for (std::size_t state = 0; state < kEvStates; ++state) {
      counts_.emplace_back(recorder, recording.add_object({.kind = Kind::value,
                                                           .node = node,
                                                           .box = "path_table",
                                                           .signal = names[state],
                                                           .unit = "EVs",
                                                           .capacity = evs}));
    }
    if (!few()) return;
    for (const PathTable* table : tables) {
      states_.emplace_back(table->size(), EvState::good);
      last_.push_back(counts(*table));
    }
  }

  void look(TimePs now) {
    // With many tables one look a microsecond is what a run can afford.
    if (!few() && now < next_look_) return;
    next_look_ = now + kPsPerUs;
    std::array<std::uint64_t, kEvStates> sum{};
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      const auto of_table = counts(*tables_[i]);
      for (std::size_t state = 0; state < kEvStates; ++state) sum[state] += of_table[state];
      if (!few() || of_table == last_[i]) continue;
      last_[i] = of_table;
      tell_changes(now, static_cast<std::uint32_t>(i));
    }
    for (std::size_t state = 0; state < kEvStates; ++state) counts_[state].look(now, sum[state]);
  }

 private:
  using Counts = std::array<std::uint32_t, kEvStates>;
  static Counts counts(const PathTable& table) {
    Counts of_table{};
    for (std::size_t state = 0; state < kEvStates; ++state) of_table[state] = table.count(static_cast<EvState>(state));
    return of_table;
  }
  bool few() const { return tables_.size() <= kMostWatchedDomains; }
  void tell_changes(TimePs now, std::uint32_t table) {
    for (EvIndex ev = 0; ev < tables_[table]->size(); ++ev) {
      const EvState state = tables_[table]->state(ev);
      if (std::exchange(states_[table][ev], state) == state) continue;
      Record record{.time = now,
                    .until = static_cast<TimePs>(state),
                    .value = ev,
                    .qp = table,
                    .kind = Record::Kind::path,
                    .packet = {}};
      record.packet.plane = tables_[table]->plane(ev);
      recorder_.add(record);
    }
  }

  Recorder& recorder_;
  std::span<const PathTable* const> tables_;
  std::vector<Watched> counts_;
  std::vector<std::vector<EvState>> states_;
  std::vector<Counts> last_;
  TimePs next_look_ = 0;
};

}  // namespace

void record_nic(Recording& recording, Recorder& recorder, const std::string& node, const Nic& nic,
                const NicContext& context, std::span<const PathTable* const> path_tables) {
  const std::uint32_t tx_work = record_work(recording, recorder, node, context.tx_work, "tx_work");
  const std::uint32_t rx_work = record_work(recording, recorder, node, context.rx_work, "rx_work");
  recording.add_picture(picture_of(nic));
  for (const Box* box : nic.boxes()) {
    for (const IssueSlot* slot : box->slots()) {
      RecordedObject object{.kind = Kind::slot, .node = node, .box = {}, .signal = {}, .unit = {}};
      name_object(object, slot->box(), "");
      object.signal = object.signal.empty() ? "state" : object.signal + "_state";
      object.work = &slot->work() == &context.rx_work ? rx_work : tx_work;
      object.server = box->place().full_name();
      object.causes = &context.causes;
      slot->record_to(recorder, recording.add_object(std::move(object)));
    }
  }
  for (const bool is_sized : {true, false}) {
    for (const Box* box : nic.boxes()) {
      for (const DeclaredBuffer& buffer : box->buffers()) {
        if (buffer.is_sized == is_sized) record_buffer(recording, recorder, node, buffer);
      }
    }
  }
  record_windows(recording, recorder, node, context);
  auto paths = std::make_shared<WatchedPaths>(recording, recorder, node, path_tables);
  recorder.add_poll([paths](TimePs now) { paths->look(now); });
}

void record_fabric(Recording& recording, Recorder& recorder, Fabric& fabric, const std::set<NodeId>& nodes) {
  const Topology& topology = fabric.topology();
  const auto from_switch = [](const LinkInfo& link) { return !link.first_hop(); };
  const bool all = std::count_if(topology.links().begin(), topology.links().end(), from_switch) <= kMostWatchedPorts;
  std::vector<std::uint32_t> object_of_link(topology.links().size(), RecorderTap::kNoObject);
  for (std::uint32_t link = 0; link < topology.links().size(); ++link) {
    const LinkInfo& info = topology.links()[link];
    const bool watched = from_switch(info) && (all || (info.last_hop() && nodes.contains(info.node)));
    if (!watched) continue;
    object_of_link[link] = recording.add_object({.kind = Kind::level,
                                                 .node = "fabric",
                                                 .box = topology.port_name(link),
                                                 .signal = "queue_bytes",
                                                 .unit = "bytes",
                                                 .capacity = fabric.queue_bytes()});
  }
  fabric.record_to(recorder);
  fabric.network().record_to(recorder, std::move(object_of_link));
}

namespace {

/// Nodes whose NICs are recorded.
template <typename Wanted>
std::set<NodeId> record_nodes(Model& model, const Wanted& wanted) {
  std::set<NodeId> recorded;
  for (auto& node : model.nodes) {
    if (node->is_endpoint() || !wanted(node->name)) continue;
    recorded.insert(node->id);
    Recorder& recorder = model.recording->add_wheel(node->name);
    node->boxes->recorder = &recorder;
    record_nic(*model.recording, recorder, node->name, *node->nic, *node->boxes, node->transport->path_tables());
    if (Recorder* of_sibling = node->wheel->recorder()) {
      of_sibling->add_poll([&recorder](TimePs now) { recorder.stepped(now); });
    } else {
      node->wheel->record_to(recorder);
    }
  }
  return recorded;
}

}  // namespace

void build_recording(Model& model) {
  const WaveOptions& waves = model.options.waves;
  PerfettoOptions perfetto = model.options.perfetto;
  perfetto.scenario = model.scenario.name;
  perfetto.seed = model.scenario.seed;
  const bool timeline = !perfetto.path.empty();
  if (waves.path.empty() && !timeline) return;
  model.recording = std::make_unique<Recording>();
  Recording& recording = *model.recording;
  const auto wanted = [&](const std::string& node) {
    return timeline || std::find(waves.nodes.begin(), waves.nodes.end(), node) != waves.nodes.end();
  };
  const std::set<NodeId> recorded = record_nodes(model, wanted);
  if (wanted("fabric")) record_fabric(recording, recording.add_wheel("fabric"), *model.fabric, recorded);
  if (!waves.path.empty()) {
    const TimePs cycle = model.nodes.front()->context.clock.period_ps();
    recording.add_sink(std::make_unique<WaveRecorder>(waves, recording, cycle));
  }
  if (timeline) recording.add_sink(std::make_unique<PerfettoTimeline>(perfetto, recording));
}

}  // namespace mrc
