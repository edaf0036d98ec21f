#include "results/wave_view.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "results/output_file.h"

namespace mrc {
namespace {

// Row flags of GTKWave's save files.
constexpr unsigned kDecimal = 0x4;
constexpr unsigned kBinary = 0x8;
constexpr unsigned kRightJustified = 0x20;
constexpr unsigned kBlank = 0x200;
constexpr unsigned kAscii = 0x400;
constexpr unsigned kAnalogStep = 0x8000;
constexpr unsigned kAnalogExtension = 0x20000;
constexpr unsigned kGroupBegin = 0x800000;
constexpr unsigned kGroupEnd = 0x1000000;
constexpr unsigned kClosed = 0x400000;

struct Group {
  const char* title;
  bool open;
  NicPart part;                          ///< whose boxes; none: `scopes` is complete
  std::vector<std::string> scopes = {};  ///< beginnings of names
};

/// In the order of the data path.
std::vector<Group> groups_of(const std::vector<RecordedBox>& picture) {
  std::vector<Group> groups{{"transmit", true, NicPart::transmit},
                            {"PCIe", true, NicPart::pcie},
                            {"receive", true, NicPart::receive},
                            {"control", false, NicPart::control},
                            {"paths and windows", true, NicPart::none, {"path_table", "congestion"}},
                            {"ports", false, NicPart::ports},
                            {"switch queues", true, NicPart::none, {"plane", "t0", "t1"}}};
  for (Group& group : groups) {
    for (const RecordedBox& box : picture) {
      if (group.part == NicPart::none || box.place.part != group.part || box.place.instance > 0) continue;
      group.scopes.insert(group.scopes.end(), box.scopes.begin(), box.scopes.end());
    }
  }
  return groups;
}

/// `box` is one of those named `scope` and numbered, or lies in one.
bool lies_in(std::string_view box, std::string_view scope) {
  if (!box.starts_with(scope)) return false;
  box.remove_prefix(scope.size());
  const std::size_t after_number = box.find_first_not_of("0123456789");
  return after_number == std::string_view::npos || box[after_number] == '.';
}

/// Colours of GTKWave's palette.
constexpr int kOrange = 2;
constexpr int kYellow = 3;
constexpr int kGreen = 4;

bool is_state(const ViewSignal& signal) {
  return signal.width == 0;
}
/// The file has them; in the view they would hide the rest.
bool is_detail(const ViewSignal& signal) {
  return signal.name.ends_with("_dest_qp") || signal.name.ends_with("_pop_psn") || signal.name.ends_with("_pop");
}

void add_row(std::string& out, unsigned flags, const std::string& text) {
  out += fmt::format("@{:x}\n{}\n", flags, text);
}

void add_signal(std::string& out, const std::string& node, const ViewSignal& signal) {
  const std::string range = signal.width > 1 ? fmt::format("[{}:0]", signal.width - 1) : "";
  const std::string box = signal.box.size() > node.size() ? signal.box.substr(node.size() + 1) : node;
  const std::string row = fmt::format("+{{{} {}}} {}.{}{}", box, signal.name, signal.box, signal.name, range);
  const auto add_coloured = [&](unsigned flags, int colour) {
    out += fmt::format("@{:x}\n[color] {}\n{}\n", kRightJustified | flags, colour, row);
  };
  if (is_state(signal)) return add_coloured(kAscii, kYellow);
  if (signal.width == 1) return add_coloured(kBinary, kGreen);
  if (signal.name.ends_with("_psn")) return add_coloured(kDecimal, kGreen);
  // A curve says at a glance what a level or window does.
  add_coloured(kDecimal | kAnalogStep, kOrange);
  add_row(out, kAnalogExtension, "-");
}

void add_group(std::string& out, const std::string& node, const std::string& title, bool open,
               const std::vector<const ViewSignal*>& signals) {
  if (signals.empty()) return;
  const std::string row = fmt::format("-{} {}", node, title);
  const unsigned flags = kBlank | (open ? 0 : kClosed);
  add_row(out, kGroupBegin | flags, row);
  for (const ViewSignal* signal : signals) add_signal(out, node, *signal);
  add_row(out, kGroupEnd | flags, row);
}

std::vector<const ViewSignal*> signals_of(const std::string& node, const Group& group, bool states,
                                          const std::vector<ViewSignal>& signals) {
  std::vector<const ViewSignal*> chosen;
  for (const std::string& scope : group.scopes) {
    for (const ViewSignal& signal : signals) {
      if (!lies_in(signal.box, node + "." + scope)) continue;
      if (is_state(signal) == states && !is_detail(signal)) chosen.push_back(&signal);
    }
  }
  return chosen;
}

/// First what each slot does, on one screen; then the levels and what moves.
void add_node(std::string& out, const std::string& node, const std::vector<Group>& groups,
              const std::vector<ViewSignal>& signals) {
  std::vector<const ViewSignal*> states;
  for (const Group& group : groups) {
    const auto of_group = signals_of(node, group, true, signals);
    states.insert(states.end(), of_group.begin(), of_group.end());
  }
  add_group(out, node, "states", true, states);
  for (const Group& group : groups)
    add_group(out, node, group.title, group.open, signals_of(node, group, false, signals));
}

}  // namespace

std::string wave_view_path(const std::string& wave_path) {
  return std::filesystem::path(wave_path).replace_extension(".gtkw").string();
}

void write_wave_view(const std::string& wave_path, const std::vector<std::string>& nodes,
                     const std::vector<RecordedBox>& picture, const std::vector<ViewSignal>& signals, TimePs from_ps) {
  // 2^20 ps a pixel: a window of some 1,400 pixels shows 1.5 us.
  constexpr int zoom = -20;
  std::string out =
      fmt::format("[*] written by mrcsim\n[dumpfile] \"{}\"\n[timestart] {}\n[size] 1800 1100\n*{}.0 {}\n",
                  std::filesystem::path(wave_path).filename().string(), from_ps, zoom, from_ps);
  out += "[sst_width] 220\n[signals_width] 400\n[sst_expanded] 1\n[sst_vpaned_height] 400\n";
  const std::vector<Group> groups = groups_of(picture);
  for (const std::string& node : nodes) add_node(out, node, groups, signals);
  write_whole_file(wave_view_path(wave_path), out, {"a view", "[*] written by mrcsim\n"});
}

}  // namespace mrc
