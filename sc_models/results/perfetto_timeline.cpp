#include "results/perfetto_timeline.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "mrc/control/congestion.h"
#include "mrc/control/path_table.h"
#include "mrc/tx/work_request.h"
#include "results/output_directory.h"

namespace mrc {
namespace {

/// Counters change with every packet; one step in this time is as fine as a screen shows.
constexpr TimePs kCounterStepPs = 100 * kPsPerNs;
constexpr std::uint32_t kMostSampling = 1'000'000'000;

/// Rows from top to bottom in the order of the data path: of the boxes those that have packets.
std::vector<std::string> rows_of(const std::vector<RecordedBox>& picture) {
  std::vector<std::string> rows{"messages"};
  const auto add = [&](NicPart part, auto wanted) {
    for (const RecordedBox& box : picture) {
      if (box.place.part == part && box.place.instance <= 0 && wanted(box.place.packets))
        rows.push_back(box.place.name);
    }
  };
  const auto has_packets = [](Handling packets) { return packets != Handling::none; };
  add(NicPart::transmit, has_packets);
  add(NicPart::ports, has_packets);
  rows.emplace_back("receive");
  add(NicPart::receive, has_packets);
  add(NicPart::control, [](Handling packets) { return packets == Handling::makes; });
  add(NicPart::control, [](Handling packets) { return packets == Handling::passes || packets == Handling::ends; });
  rows.emplace_back("path_table");
  return rows;
}

const char* opcode_name(Opcode opcode) {
  switch (opcode) {
    case Opcode::sack:
      return "SACK";
    case Opcode::nack:
      return "NACK";
    case Opcode::transport_ack:
      return "ACK";
    case Opcode::probe_request:
      return "PROBE";
    case Opcode::endpoint_request:
      return "ENDPOINT_REQUEST";
    case Opcode::endpoint_response:
      return "ENDPOINT_RESPONSE";
    default:
      return "WRITE";
  }
}

std::string nack_name(NackReason reason) {
  switch (reason) {
    case NackReason::none:
      return "none";
    case NackReason::trimmed:
      return "TRIMMED";
    case NackReason::trimmed_lasthop:
      return "TRIMMED_LASTHOP";
    case NackReason::no_bitmap:
      return "NO_BITMAP";
    case NackReason::no_pkt_buffer:
      return "NO_PKT_BUFFER";
    case NackReason::no_resource:
      return "NO_RESOURCE";
    case NackReason::psn_oor_window:
      return "PSN_OOR_WINDOW";
    case NackReason::unexp_event:
      return "UNEXP_EVENT";
  }
  return fmt::format("{:#04x}", static_cast<unsigned>(reason));
}

std::string bytes_name(std::uint64_t bytes) {
  constexpr std::uint64_t kib = 1024;
  if (bytes >= kib * kib && bytes % (kib * kib) == 0) return fmt::format("{} MiB", bytes / kib / kib);
  return bytes >= kib && bytes % kib == 0 ? fmt::format("{} KiB", bytes / kib) : fmt::format("{} B", bytes);
}

std::uint64_t ns(TimePs time) {
  return time / kPsPerNs;
}

/// The format's unit is the microsecond; viewers keep nanoseconds.
std::string ts(std::uint64_t time_ns) {
  return fmt::format("{}.{:03}", time_ns / 1000, time_ns % 1000);
}

/// Text from a scenario as a JSON string.
std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// "segmenter blocked", "pcie_dma.read_issue blocked".
std::string blocked_row(const RecordedObject& slot) {
  constexpr std::string_view suffix = "_state";
  if (!slot.signal.ends_with(suffix)) return fmt::format("{} blocked", slot.box);
  return fmt::format("{}.{} blocked", slot.box, slot.signal.substr(0, slot.signal.size() - suffix.size()));
}

bool acknowledges(const PacketTag& sack, Psn psn) {
  const std::int32_t above = psn_distance(psn, sack.psn);
  if (above <= 0) return true;
  const std::int32_t bit = above - sack.sack_offset;
  return bit >= 0 && bit < 64 && (sack.sack_bitmap >> bit & 1) != 0;
}

}  // namespace

std::uint32_t parse_packet_sampling(const std::string& text) {
  const std::string digits = text.starts_with("1/") ? text.substr(2) : text;
  const bool number = !digits.empty() && digits.size() <= 9 &&
                      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  const unsigned long n = number ? std::stoul(digits) : 0;
  if (n == 0) {
    throw OutputError(fmt::format("--perfetto-packets {}: expected 1/N, one packet in N, with N from 1 to {}", text,
                                  kMostSampling - 1));
  }
  return static_cast<std::uint32_t>(n);
}

PerfettoTimeline::PerfettoTimeline(const PerfettoOptions& options, const Recording& recording)
    : options_(options),
      recording_(recording),
      output_(options.path, {"a timeline", "\"writer\":\"mrcsim\""}),
      file_(output_.stream()),
      rows_(rows_of(recording.picture())),
      counters_(recording.objects().size()),
      slots_(recording.objects().size()) {
  for (const RecordedBox& box : recording.picture()) {
    if (box.place.packets == Handling::ends) ends_packets_.insert(box.name());
    const auto has_queue = [&](const RecordedObject& object) { return object.maker == box.name(); };
    const std::vector<RecordedObject>& objects = recording.objects();
    if (box.place.packets == Handling::makes && std::none_of(objects.begin(), objects.end(), has_queue)) {
      maker_without_queue_ = box.name();
    }
  }
  file_ << fmt::format(
      R"({{"displayTimeUnit":"ns","otherData":{{"writer":"mrcsim","scenario":{},"seed":"{}","packets_one_in":"{}"}},)"
      R"("traceEvents":[)",
      json_text(options.scenario), options.seed, options.packets_one_in);
  const std::vector<std::string>& wheels = recording.wheels();
  for (std::uint32_t wheel = 0; wheel < wheels.size(); ++wheel) {
    if (wheels[wheel] == "fabric") {
      fabric_pid_ = pid_of(wheel);
    } else {
      recorded_nodes_.insert(static_cast<NodeId>(std::stoul(wheels[wheel].substr(3))));
    }
    metadata("process_name", pid_of(wheel), 0, fmt::format("\"name\":\"{}\"", wheels[wheel]));
    metadata("process_sort_index", pid_of(wheel), 0, fmt::format("\"sort_index\":{}", wheel + 1));
  }
  // First of all, so that a picture of the screen says which run it is. Viewers show nothing of otherData.
  metadata("process_name", run_pid(), 0,
           fmt::format("\"name\":{}", json_text(fmt::format("{}, seed {}", options.scenario, options.seed))));
  metadata("process_sort_index", run_pid(), 0, "\"sort_index\":0");
  for (const RecordedObject& object : recording.objects()) {
    const auto wheel = std::find(wheels.begin(), wheels.end(), object.node) - wheels.begin();
    pid_of_object_.push_back(pid_of(static_cast<std::uint32_t>(wheel)));
  }
}

PerfettoTimeline::~PerfettoTimeline() = default;

void PerfettoTimeline::put(const std::string& event) {
  file_ << (first_event_ ? "\n" : ",\n") << event;
  first_event_ = false;
}

void PerfettoTimeline::metadata(const char* what, std::uint32_t pid, std::uint32_t tid, const std::string& args) {
  put(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{{}}}}})", what, pid, tid, args));
}

std::uint32_t PerfettoTimeline::order_of(const std::string& track) const {
  const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const auto& name) { return track.starts_with(name); });
  return static_cast<std::uint32_t>(row - rows_.begin());
}

PerfettoTimeline::Track& PerfettoTimeline::track(std::uint32_t pid, const std::string& name, Band band) {
  const auto [it, fresh] = tracks_.try_emplace({pid, name});
  if (fresh) {
    const std::uint32_t of_box = order_of(name) * static_cast<std::uint32_t>(Band::end);
    it->second = {pid, name, of_box + static_cast<std::uint32_t>(band), {}};
  }
  return it->second;
}

std::uint32_t PerfettoTimeline::add_row(Track& track) {
  const auto index = static_cast<std::uint32_t>(track.lanes.size());
  // Viewers put the number of a row behind a name that several rows have.
  const std::string name = index == 0 ? track.name : fmt::format("{} ({})", track.name, index + 1);
  track.lanes.push_back({next_tid_++, 0});
  const std::uint32_t tid = track.lanes.back().tid;
  metadata("thread_name", track.pid, tid, fmt::format(R"("name":"{}")", name));
  const std::uint32_t most = static_cast<std::uint32_t>(Band::blocked) - 1;
  metadata("thread_sort_index", track.pid, tid,
           fmt::format(R"("sort_index":{})", track.first_row + std::min(index, most)));
  return tid;
}

PerfettoTimeline::Place PerfettoTimeline::slice(std::uint32_t pid, const std::string& track_name, TimePs begin,
                                                TimePs end, const std::string& name, const std::string& args,
                                                Band band) {
  Track& rows = track(pid, track_name, band);
  const std::uint64_t begin_ns = ns(begin);
  // A slice without length could carry no flow.
  const std::uint64_t end_ns = std::max(ns(end), begin_ns + 1);
  auto lane = std::find_if(rows.lanes.begin(), rows.lanes.end(),
                           [&](const Track::Lane& candidate) { return candidate.end_ns <= begin_ns; });
  if (lane == rows.lanes.end()) {
    add_row(rows);
    lane = rows.lanes.end() - 1;
  }
  lane->end_ns = end_ns;
  put(fmt::format(R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", name,
                  track_name, pid, lane->tid, ts(begin_ns), ts(end_ns - begin_ns), args));
  return {pid, lane->tid, begin_ns};
}

void PerfettoTimeline::instant(std::uint32_t pid, const std::string& track_name, TimePs time, const std::string& name) {
  // Instants have a row of their own below the slices, so that none hides a slice.
  Track& rows = track(pid, track_name + " events", Band::events);
  if (rows.lanes.empty()) add_row(rows);
  put(fmt::format(R"({{"ph":"i","s":"t","name":"{}","cat":"event","pid":{},"tid":{},"ts":{}}})", name, pid,
                  rows.lanes[0].tid, ts(ns(time))));
}

void PerfettoTimeline::flow_event(char phase, const Life& life) {
  put(fmt::format(R"({{"ph":"{}","name":"packet","cat":"packet","id":{},"pid":{},"tid":{},"ts":{}{}}})", phase,
                  life.flow, life.last_step.pid, life.last_step.tid, ts(life.last_step.ns),
                  phase == 'f' ? R"(,"bp":"e")" : ""));
}

void PerfettoTimeline::step(Life& life, const Place& place) {
  // Told one step late: only the next step shows that the last one was not the end.
  if (life.steps > 0) flow_event(life.steps == 1 ? 's' : 't', life);
  ++life.steps;
  life.last_step = place;
}

PerfettoTimeline::PacketKey PerfettoTimeline::key_of(const PacketTag& packet) {
  return {packet.source,
          packet.destination,
          packet.destination_qp,
          packet.psn,
          is_data(packet.opcode) ? Opcode::write_only : packet.opcode,
          packet.salt};
}

std::string PerfettoTimeline::name_of(const PacketTag& packet) {
  return fmt::format("{}{} {}", opcode_name(packet.opcode), packet.retransmission ? " retransmitted" : "", packet.psn);
}

void PerfettoTimeline::leave_box(Life& life, TimePs end) {
  if (!std::exchange(life.in_box, false)) return;
  const PacketTag& packet = life.packet;
  step(life, slice(pid_of(life.wheel), life.box, life.arrived, end, name_of(packet),
                   fmt::format(R"("psn":{},"destination_qp":{},"bytes":{},"ev":{},"plane":{})", packet.psn,
                               packet.destination_qp, packet.payload_bytes, packet.ev, packet.plane)));
}

void PerfettoTimeline::leave_wire(Life& life, TimePs end, std::string_view how) {
  if (!std::exchange(life.on_wire, false)) return;
  step(life, slice(fabric_pid(), fmt::format("plane {}", life.packet.plane), life.arrived, end, name_of(life.packet),
                   fmt::format(R"("from":"nic{}","to":"nic{}","ended":"{}")", life.packet.source,
                               life.packet.destination, how)));
}

void PerfettoTimeline::end_life(Lives::iterator it) {
  Life& life = it->second;
  leave_box(life, life.end);
  if (life.steps > 1) flow_event('f', life);
  lives_.erase(it);
}

void PerfettoTimeline::pushed(const Record& record, std::uint32_t wheel) {
  const PacketTag& packet = record.packet;
  const RecordedObject& queue = recording_.objects()[record.object];
  const std::uint32_t pid = pid_of(wheel);
  const bool arrival = queue.from_wire;
  if (packet.retransmission && !queue.maker.empty()) {
    instant(pid, queue.maker, record.time,
            fmt::format("retransmission of {}: {}", packet.psn, to_string(static_cast<CutCause>(packet.loss_cause))));
  }
  if (packet.opcode == Opcode::nack && !queue.maker.empty()) {
    instant(pid, queue.maker, record.time, fmt::format("NACK {} of {}", nack_name(packet.nack), packet.psn));
  }
  if (arrival && packet.damage == Damage::trimmed) {
    instant(pid, "receive", record.time, fmt::format("trimmed {}", packet.psn));
  }
  if (arrival && packet.damage == Damage::corrupted) {
    instant(pid, "receive", record.time, fmt::format("corrupted {}", packet.psn));
  }
  if (!shown(packet)) return;
  const auto [it, fresh] = lives_.try_emplace(key_of(packet));
  Life& life = it->second;
  if (fresh) life.flow = next_flow_++;
  if (fresh && is_data(packet.opcode) && !queue.maker.empty()) {
    life.sender_qp = record.qp;
    outstanding_[{wheel, record.qp}].push_back(it->first);
  }
  const bool elsewhere = life.in_box && life.wheel != wheel;
  if (elsewhere) leave_box(life, std::max(life.arrived, life.end));
  const bool known = life.in_box;
  if (arrival) leave_wire(life, record.time, packet.damage == Damage::trimmed ? "trimmed" : "arrived");
  leave_box(life, record.until);
  // On the way back over a wire that lost it, the copy that is retransmitted has begun a new journey.
  life.on_wire = false;
  life.packet = packet;
  life.wheel = wheel;
  life.box = arrival               ? fmt::format("receive port{}", packet.plane)
             : queue.maker.empty() ? maker_without_queue_
                                   : queue.maker;
  if (!known) {
    life.in_box = true;
    life.arrived = record.time;
    leave_box(life, record.until);
  }
  life.box = queue.server;
  life.arrived = record.until;
  life.end = record.until;
  life.in_box = true;
  life.taken = false;
}

void PerfettoTimeline::finish_service(std::uint32_t wheel, const std::string& box) {
  const auto served_last = in_service_.find({wheel, box});
  if (served_last == in_service_.end()) return;
  const auto it = lives_.find(served_last->second);
  in_service_.erase(served_last);
  if (it == lives_.end()) return;
  Life& life = it->second;
  const bool ends_here = life.in_box && life.taken && life.wheel == wheel && life.box == box;
  if (!ends_here) return;
  leave_box(life, life.end);
  const bool unacknowledged = is_data(life.packet.opcode) && life.sender_qp != Record::kNoQp;
  if (!unacknowledged) end_life(it);
}

void PerfettoTimeline::popped(const Record& record, std::uint32_t wheel) {
  const std::string& box = recording_.objects()[record.object].server;
  if (ends_packets_.contains(box)) finish_service(wheel, box);
  if (box == "sack_processor") acknowledge(record, wheel);
  const auto it = lives_.find(key_of(record.packet));
  if (it == lives_.end()) return;
  Life& life = it->second;
  if (!life.in_box || life.wheel != wheel || life.box != box) return;
  life.taken = true;
  life.packet = record.packet;
  life.end = std::max(life.arrived, record.time);
  if (ends_packets_.contains(box) || box.starts_with("port")) in_service_[{wheel, box}] = it->first;
}

void PerfettoTimeline::acknowledge(const Record& record, std::uint32_t wheel) {
  const PacketTag& packet = record.packet;
  if (packet.opcode == Opcode::nack) {
    instant(pid_of(wheel), "sack_processor", record.time,
            fmt::format("NACK {} of {}", nack_name(packet.nack), packet.psn));
  }
  if (packet.opcode != Opcode::sack) return;
  const auto waiting = outstanding_.find({wheel, packet.destination_qp - kFirstQpNumber});
  if (waiting == outstanding_.end()) return;
  Acknowledging acknowledging{.arrived = record.time, .name = name_of(packet), .packets = {}, .open = true};
  std::erase_if(waiting->second, [&](const PacketKey& key) {
    if (!acknowledges(packet, key.psn)) return false;
    acknowledging.packets.push_back(key);
    return true;
  });
  if (!acknowledging.packets.empty()) acknowledging_[wheel] = std::move(acknowledging);
}

void PerfettoTimeline::served(const Record& record, std::uint32_t wheel) {
  if (record.value != kSlotBusy) return;
  const std::string& box = recording_.objects()[record.object].server;
  const auto acknowledging = acknowledging_.find(wheel);
  if (box == "sack_processor" && acknowledging != acknowledging_.end()) {
    const Acknowledging& done = acknowledging->second;
    const Place place = slice(pid_of(wheel), box, done.arrived, record.until, "acknowledges",
                              fmt::format(R"("by":"{}","packets":{})", done.name, done.packets.size()));
    for (const PacketKey& key : done.packets) {
      const auto it = lives_.find(key);
      if (it == lives_.end()) continue;
      leave_box(it->second, it->second.end);
      step(it->second, place);
      end_life(it);
    }
    acknowledging_.erase(acknowledging);
  }
  const auto in_service = in_service_.find({wheel, box});
  if (in_service == in_service_.end()) return;
  const auto it = lives_.find(in_service->second);
  if (it == lives_.end()) return;
  Life& life = it->second;
  if (!life.in_box || !life.taken || life.wheel != wheel || life.box != box) return;
  life.end = std::max(life.end, record.until);
  if (!box.starts_with("port")) return;
  leave_box(life, record.until);
  life.on_wire = true;
  life.arrived = record.time;
  in_service_.erase(in_service);
  // Nobody tells of its arrival at a light endpoint.
  if (!is_data(life.packet.opcode) && !recorded_nodes_.contains(life.packet.destination)) end_life(it);
}

void PerfettoTimeline::slot_changed(const Record& record) {
  SlotShown& slot = slots_[record.object];
  if (slot.state == record.value) return;
  show_blocked(record.object, record.time);
  slot = {record.value, record.time};
}

void PerfettoTimeline::show_blocked(std::uint32_t index, TimePs until) {
  const SlotShown& slot = slots_[index];
  // What is shorter than the resolution is left out: shown as 1 ns each, the sum would be too long.
  if (slot.state >= kSlotBusy || ns(until) <= ns(slot.since)) return;
  const RecordedObject& object = recording_.objects()[index];
  const Cause cause = Cause::at(slot.state);
  slice(pid_of_object_[index], blocked_row(object), slot.since, until, "blocked by " + object.causes->name(cause),
        fmt::format(R"("relieved_by":"{}")", fmt::join(object.causes->relieved_by(cause), ", ")), Band::blocked);
}

void PerfettoTimeline::dropped(const Record& record) {
  const PacketTag& packet = record.packet;
  instant(fabric_pid(), fmt::format("plane {}", packet.plane), record.time, "dropped " + name_of(packet));
  const auto it = lives_.find(key_of(packet));
  if (it == lives_.end()) return;
  leave_wire(it->second, record.time, "dropped");
  if (!is_data(packet.opcode)) end_life(it);
}

void PerfettoTimeline::show_counter(std::uint32_t index, TimePs time) {
  Counter& counter = counters_[index];
  const RecordedObject& object = recording_.objects()[index];
  put(fmt::format(R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{"{}":{}}}}})", object.name(),
                  pid_of_object_[index], ts(ns(time)), object.unit, counter.value));
  counter.shown = time;
  counter.any = true;
  counter.pending = false;
}

void PerfettoTimeline::count(const Record& record) {
  Counter& counter = counters_[record.object];
  const bool due = !counter.any || record.time >= counter.shown + kCounterStepPs;
  if (due && counter.pending) show_counter(record.object, counter.changed);
  counter.value = record.kind == Record::Kind::value ? record.value : counter.value + record.value;
  counter.changed = record.time;
  counter.pending = true;
  if (due && (!counter.any || record.time >= counter.shown + kCounterStepPs)) show_counter(record.object, record.time);
}

void PerfettoTimeline::path_changed(const Record& record, std::uint32_t wheel) {
  constexpr std::array<std::string_view, kEvStates> names{"good", "skip", "assumed_bad", "denied"};
  instant(pid_of(wheel), "path_table", record.time,
          fmt::format("EV {} (plane {}) {}", record.value, record.packet.plane, names[record.until]));
}

void PerfettoTimeline::completed(const Record& record, std::uint32_t wheel) {
  const auto it = messages_.find({wheel, record.value});
  if (it == messages_.end()) return;
  const Message& message = it->second;
  slice(pid_of(wheel), fmt::format("messages to nic{}", message.peer), message.posted, record.time,
        "WRITE " + bytes_name(message.bytes),
        fmt::format(R"("qp":{},"bytes":{},"status":"{}")", message.qp + kFirstQpNumber, message.bytes,
                    to_string(static_cast<CompletionStatus>(record.until))));
  messages_.erase(it);
}

void PerfettoTimeline::take(const Record& record, std::uint32_t wheel) {
  last_ = std::max(last_, record.time);
  switch (record.kind) {
    case Record::Kind::level:
    case Record::Kind::value:
      return count(record);
    case Record::Kind::push:
      if (record.has_packet) pushed(record, wheel);
      return;
    case Record::Kind::pop:
      if (record.has_packet) popped(record, wheel);
      return;
    case Record::Kind::slot:
      slot_changed(record);
      return served(record, wheel);
    case Record::Kind::work:
      return;
    case Record::Kind::posted:
      messages_[{wheel, record.value}] = {record.time, record.until, record.qp, record.object};
      return;
    case Record::Kind::completed:
      return completed(record, wheel);
    case Record::Kind::dropped:
      return dropped(record);
    case Record::Kind::path:
      return path_changed(record, wheel);
  }
}

void PerfettoTimeline::close() {
  for (const auto& [place, message] : messages_) {
    slice(pid_of(place.first), fmt::format("messages to nic{}", message.peer), message.posted, last_,
          "WRITE " + bytes_name(message.bytes) + " (not completed)",
          fmt::format(R"("qp":{},"bytes":{})", message.qp + kFirstQpNumber, message.bytes));
  }
  while (!lives_.empty()) {
    leave_wire(lives_.begin()->second, std::max(last_, lives_.begin()->second.arrived), "under way");
    end_life(lives_.begin());
  }
  for (std::uint32_t i = 0; i < slots_.size(); ++i) show_blocked(i, last_);
  slice(run_pid(), "run", 0, last_, "run",
        fmt::format(R"("scenario":{},"seed":{})", json_text(options_.scenario), options_.seed));
  for (std::uint32_t i = 0; i < counters_.size(); ++i) {
    if (counters_[i].pending) show_counter(i, counters_[i].changed);
  }
  file_ << "\n]}\n";
  output_.commit();
}

}  // namespace mrc
