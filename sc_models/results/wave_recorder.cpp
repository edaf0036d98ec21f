#include "results/wave_recorder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "engine/cause.h"
#include "results/output_directory.h"
#include "results/wave_view.h"

namespace mrc {
namespace {

constexpr std::uint32_t kPsnBits = 24;
constexpr std::uint32_t kQpBits = 24;
constexpr std::uint64_t kStarved = 0x100;
constexpr std::uint64_t kIdle = 0x101;

std::string state_name(std::uint64_t state, const CauseTable* causes) {
  if (state == kSlotBusy) return "busy";
  if (state == kStarved) return "starved";
  if (state == kIdle) return "idle";
  return fmt::format("blocked_by_{}", causes->name(Cause::at(state)));
}

std::uint32_t wave_bits(std::uint64_t largest) {
  return largest == 0 ? 64 : std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::bit_width(largest)));
}

/// Boxes within boxes, in the order in which they were named.
struct Scope {
  std::string name;
  std::vector<std::uint32_t> signals;
  std::vector<Scope> inner;

  Scope& child(const std::string& child_name) {
    for (Scope& scope : inner) {
      if (scope.name == child_name) return scope;
    }
    inner.push_back({child_name, {}, {}});
    return inner.back();
  }
  Scope& find(const std::string& path) {
    const std::size_t dot = path.find('.');
    Scope& first = child(path.substr(0, dot));
    return dot == std::string::npos ? first : first.find(path.substr(dot + 1));
  }
};

TimePs parse_us(const std::string& text, TimePs otherwise, const std::string& window) {
  if (text.empty()) return otherwise;
  char* end = nullptr;
  const double us = std::strtod(text.c_str(), &end);
  constexpr double most_us = 1e9;
  if (end != text.c_str() + text.size() || !(us >= 0 && us <= most_us)) {
    throw OutputError(
        fmt::format("--wave-window {}: \"{}\" is not a time in us; allowed is FROM..TO with 0 to 1e9 us, as "
                    "10..25.5, either may be left out",
                    window, text));
  }
  return static_cast<TimePs>(std::llround(us * static_cast<double>(kPsPerUs)));
}

}  // namespace

std::pair<TimePs, TimePs> parse_wave_window(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    throw OutputError(fmt::format("--wave-window {}: takes FROM..TO in us, as 10..25.5", text));
  }
  const TimePs from = parse_us(text.substr(0, dots), 0, text);
  const TimePs to = parse_us(text.substr(dots + 2), kNever, text);
  if (from >= to) throw OutputError(fmt::format("--wave-window {}: ends before it begins", text));
  return {from, to};
}

WaveRecorder::WaveRecorder(const WaveOptions& options, const Recording& recording, TimePs strobe_ps)
    : options_(options),
      recording_(recording),
      strobe_ps_(strobe_ps),
      writer_(make_wave_writer(options.path)),
      shown_(recording.objects().size()),
      raw_(recording.objects().size(), 0) {
  for (std::uint32_t object = 0; object < shown_.size(); ++object) {
    const std::string& node = recording.objects()[object].node;
    if (std::find(options_.nodes.begin(), options_.nodes.end(), node) != options_.nodes.end()) declare(object);
  }
  write_header();
}

std::uint32_t WaveRecorder::add_signal(const std::string& box, std::string name, std::uint32_t width) {
  signals_.push_back({.box = box, .name = std::move(name), .width = width});
  return static_cast<std::uint32_t>(signals_.size() - 1);
}

std::uint32_t WaveRecorder::add_strobe(const std::string& box, const std::string& name, bool packets) {
  const std::uint32_t first = add_signal(box, name, 1);
  if (packets) {
    add_signal(box, name + "_psn", kPsnBits);
    add_signal(box, name + "_dest_qp", kQpBits);
  }
  return first;
}

void WaveRecorder::declare(std::uint32_t index) {
  const RecordedObject& object = recording_.objects()[index];
  Shown& shown = shown_[index];
  const std::string box = object.box.empty() ? object.node : object.node + "." + object.box;
  switch (object.kind) {
    case RecordedObject::Kind::slot:
      raw_[index] = kSlotEmpty;
      shown.level = add_signal(box, object.signal, 0);
      signals_[shown.level].value = kIdle;
      signals_[shown.level].causes = object.causes;
      if (object.work != RecordedObject::kNone) shown_[object.work].slots.push_back(index);
      return;
    case RecordedObject::Kind::work:
      shown.level = add_signal(box, object.signal, 1);
      return;
    case RecordedObject::Kind::level:
    case RecordedObject::Kind::value:
      shown.level = add_signal(box, object.signal, wave_bits(object.capacity));
      break;
  }
  if (object.moves == RecordedObject::Moves::none) return;
  const bool packets = object.moves == RecordedObject::Moves::packets;
  shown.push = add_strobe(box, object.signal + "_push", packets);
  shown.pop = add_strobe(box, object.signal + "_pop", packets);
  if (object.from_wire) declare_receive(object, shown);
}

void WaveRecorder::declare_receive(const RecordedObject& queue, Shown& shown) {
  for (const RecordedBox& box : recording_.picture()) {
    if (box.place.part != NicPart::ports) continue;
    const auto there = [&](const RecordedObject& object) {
      return object.node == queue.node && object.box == box.name();
    };
    if (std::none_of(recording_.objects().begin(), recording_.objects().end(), there)) return;
    const std::uint32_t first = add_strobe(queue.node + "." + box.name(), "receive", true);
    if (shown.first_port_strobe == kNone) shown.first_port_strobe = first;
  }
}

void WaveRecorder::write_header() {
  Scope root;
  for (std::uint32_t i = 0; i < signals_.size(); ++i) root.find(signals_[i].box).signals.push_back(i);
  const auto write_scope = [this](const auto& self, const Scope& scope) -> void {
    writer_->open_scope(scope.name);
    for (const std::uint32_t i : scope.signals) {
      Signal& signal = signals_[i];
      signal.handle =
          signal.width == 0 ? writer_->add_string(signal.name) : writer_->add_bits(signal.name, signal.width);
    }
    for (const Scope& inner : scope.inner) self(self, inner);
    writer_->close_scope();
  };
  for (const Scope& scope : root.inner) write_scope(write_scope, scope);
  writer_->begin();
}

void WaveRecorder::write_signal(Signal& signal) {
  signal.written = signal.value;
  if (signal.width == 0) {
    writer_->change_string(signal.handle, state_name(signal.value, signal.causes));
  } else {
    writer_->change_bits(signal.handle, signal.value);
  }
}

void WaveRecorder::write_all() {
  begun_ = true;
  writer_->set_time(options_.from_ps);
  for (Signal& signal : signals_) write_signal(signal);
}

void WaveRecorder::write_changes() {
  const bool write = begun_ && inside();
  bool first = true;
  for (const std::uint32_t i : dirty_) {
    Signal& signal = signals_[i];
    signal.dirty = false;
    if (!write || signal.value == signal.written) continue;
    if (std::exchange(first, false)) writer_->set_time(current_);
    write_signal(signal);
  }
  dirty_.clear();
}

void WaveRecorder::move_to(TimePs time) {
  while (time > current_) {
    if (begun_ || current_ < options_.from_ps) write_changes();
    const TimePs next = falls_.empty() ? time : std::min(time, falls_.top().first);
    if (!begun_ && next > options_.from_ps) {
      write_all();
      write_changes();
    }
    current_ = next;
    for (; !falls_.empty() && falls_.top().first <= next; falls_.pop()) {
      if (signals_[falls_.top().second].falls_at == falls_.top().first) set(falls_.top().second, 0);
    }
  }
}

void WaveRecorder::set(std::uint32_t index, std::uint64_t value) {
  Signal& signal = signals_[index];
  signal.value = signal.width == 0 || signal.width == 64 ? value : value & ((std::uint64_t{1} << signal.width) - 1);
  if (signal.dirty) return;
  signal.dirty = true;
  dirty_.push_back(index);
}

void WaveRecorder::strobe(std::uint32_t first, const Record& record) {
  set(first, 1);
  signals_[first].falls_at = record.time + strobe_ps_;
  falls_.push({signals_[first].falls_at, first});
  if (!record.has_packet) return;
  set(first + 1, record.packet.psn);
  set(first + 2, record.packet.destination_qp);
}

void WaveRecorder::show_slot(std::uint32_t index) {
  const RecordedObject& object = recording_.objects()[index];
  std::uint64_t state = raw_[index];
  if (state == kSlotEmpty) state = object.work != RecordedObject::kNone && raw_[object.work] > 0 ? kStarved : kIdle;
  set(shown_[index].level, state);
}

void WaveRecorder::take(const Record& record, std::uint32_t) {
  const bool of_object = record.kind <= Record::Kind::work;
  if (!of_object) return;
  if (record.time > options_.to_ps) return move_to(options_.to_ps);
  const Shown& shown = shown_[record.object];
  if (shown.level == kNone) return;
  move_to(record.time);
  switch (record.kind) {
    case Record::Kind::level:
      set(shown.level, raw_[record.object] += record.value);
      break;
    case Record::Kind::value:
      set(shown.level, record.value);
      break;
    case Record::Kind::push:
      if (shown.push != kNone) strobe(shown.push, record);
      if (shown.first_port_strobe != kNone) strobe(shown.first_port_strobe + 3 * record.packet.plane, record);
      break;
    case Record::Kind::pop:
      if (shown.pop != kNone) strobe(shown.pop, record);
      break;
    case Record::Kind::slot:
      raw_[record.object] = record.value;
      show_slot(record.object);
      break;
    case Record::Kind::work:
      raw_[record.object] += record.value;
      set(shown.level, raw_[record.object] > 0 ? 1 : 0);
      for (const std::uint32_t slot : shown.slots) show_slot(slot);
      break;
    default:
      break;
  }
}

void WaveRecorder::close() {
  const TimePs last = falls_.empty() ? current_ : std::max(current_, falls_.top().first);
  move_to(std::max(options_.from_ps, last) + 1);
  // So that the view reaches as far as the run or the window.
  writer_->set_time(std::min(options_.to_ps, current_));
  writer_->close();
  std::vector<ViewSignal> view;
  for (const Signal& signal : signals_) view.push_back({signal.box, signal.name, signal.width});
  write_wave_view(options_.path, options_.nodes, recording_.picture(), view, options_.from_ps);
}

}  // namespace mrc
