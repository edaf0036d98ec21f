#include "report/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/svg_text.h"

namespace mrc {
namespace {

using PictureJson = nlohmann::ordered_json;

/// The two rows of docs/architecture.md. A box that is not here, such as one of the user's own, follows at the end of
/// its row.
constexpr std::array<std::string_view, 8> kTransmitRow{"doorbell",          "qp_scheduler",  "wqe_fetch",
                                                       "segmenter",         "payload_fetch", "spray_scheduler",
                                                       "retransmit_buffer", "srv6_encap"};
constexpr std::array<std::string_view, 8> kReceiveRow{"parser",         "psn_tracker",   "dma_write",
                                                      "completion",     "ack_coalescer", "control_queue",
                                                      "sack_processor", "probe_engine"};

/// Boxes of the second row whose input is not the box before them.
constexpr std::array<std::string_view, 3> kNotAfterTheBoxBefore{"ack_coalescer", "sack_processor", "probe_engine"};

constexpr int kWidth = 1240;
constexpr int kPanelHeight = 326;
constexpr int kBoxHeight = 64;
constexpr int kRowHeight = 122;
constexpr int kFabricHeight = 96;
constexpr int kHeadHeight = 104;
constexpr int kGap = 8;
constexpr int kPcieWidth = 150;

constexpr std::string_view kStyle = R"css(
.nic text{font:12px system-ui,"DejaVu Sans",sans-serif;fill:#17171a}
.nic .small{font-size:10.5px;fill:#5b5b60}.nic .big{font-size:17px;font-weight:650}.nic .name{font-weight:600;font-size:10.4px}
.nic .cause{fill:#b42318;font-weight:650}.nic .paper{fill:#ffffff}
.nic .panel{fill:#f7f7f5;stroke:#dcdcd8}.nic .box{fill:#ffffff;stroke:#8f9299}.nic .limits{stroke:#b42318;stroke-width:2.5}
.nic .track{fill:#e4e5e9}.nic .busy{fill:#2a78d6}.nic .blocked{fill:#e34948}.nic .fill{fill:#1baf7a}.nic .refused{fill:#eda100}
.nic .mark{stroke:#17171a;stroke-width:1.5}.nic .way{stroke:#8f9299;stroke-width:1.5;fill:none}
.nic .down{stroke:#b42318;stroke-dasharray:4 3}
@media (prefers-color-scheme:dark){
.nic text{fill:#ececee}.nic .small{fill:#a5a7ad}.nic .cause{fill:#f2857c}.nic .paper{fill:#17181b}
.nic .panel{fill:#1f2125;stroke:#383b41}.nic .box{fill:#17181b;stroke:#6d7078}.nic .limits{stroke:#f2857c}
.nic .track{fill:#3a3d44}.nic .busy{fill:#3987e5}.nic .blocked{fill:#e66767}.nic .fill{fill:#199e70}.nic .refused{fill:#c98500}
.nic .mark{stroke:#ececee}.nic .way{stroke:#6d7078}.nic .down{stroke:#f2857c}}
)css";

std::string percent(double share) {
  const double value = 100 * share;
  if (value > 0 && value < 0.1) return "<0.1 %";
  return fmt::format("{:.{}f} %", value, value < 10 && value > 0 ? 1 : 0);
}

std::string gbps(double value) {
  return fmt::format("{:.{}f} Gb/s", value, value < 10 ? 2 : 1);
}

/// 262144 → "256 Ki", 4000 → "4,000"-like short forms for gauges.
std::string short_number(double value) {
  constexpr double kilo = 1024;
  if (value >= kilo * kilo) return fmt::format("{:.3g} Mi", value / kilo / kilo);
  if (value >= 16 * kilo) return fmt::format("{:.3g} Ki", value / kilo);
  return fmt::format("{:.4g}", value);
}

/// A name of at most `most` characters: its end says more than its beginning.
std::string shortened(const std::string& name, std::size_t most) {
  return name.size() <= most ? name : "…" + name.substr(name.size() - most + 1);
}

struct PictureSlot {
  double busy = 0;
  double blocked = 0;
  std::string blocked_by;  ///< the largest
  double blocked_by_share = 0;
};

struct PictureBuffer {
  std::string name;
  std::string unit;
  double capacity = 1;
  double mean = 0;
  double p99 = 0;
  double full = 0;
  std::uint64_t refusals = 0;
};

/// What a result says of one node, by box.
struct PictureNode {
  std::string name;
  std::map<std::string, PictureSlot> slots;
  std::vector<std::string> order;  ///< of the slots
  std::vector<PictureBuffer> buffers;
  std::map<std::string, double> lost;  ///< Gb/s by cause, without "receiver."
};

bool is_port(std::string_view name) {
  return name.starts_with("port") && name.size() > 4 && name[4] >= '0' && name[4] <= '9';
}

bool is_below(std::string_view name, std::string_view box) {
  return name == box || (name.starts_with(box) && name.size() > box.size() && name[box.size()] == '.');
}

/// The box at which something of this name is drawn: staging at dma_write, software's queue at completion, windows and
/// the host's limit at the scheduler that they hold up.
std::string_view drawn_at(std::string_view name) {
  for (const std::string_view held_up : {"cwnd", "mpr", "write_imm_limit", "host.outstanding_messages"}) {
    if (is_below(name, held_up)) return "qp_scheduler";
  }
  if (name == "rx_staging" || name.starts_with("sram.rx_staging")) return "dma_write";
  if (name == "host.completion_queue") return "completion";
  if (name == "sack_threshold") return "ack_coalescer";
  if (name.starts_with("sram.")) name.remove_prefix(5);
  return name.substr(0, name.find('.'));
}

PictureNode node_of(const PictureJson& result, const std::string& name, bool under_test) {
  PictureNode node{name, {}, {}, {}, {}};
  for (const PictureJson& row : result.at("ledger")) {
    if (row.at("node") != name) continue;
    PictureSlot slot{row.at("busy").get<double>(), 0, "", 0};
    for (const auto& [cause, value] : row.at("blocked").items()) {
      const double share = value.get<double>();
      slot.blocked += share;
      if (share > slot.blocked_by_share) slot.blocked_by = cause;
      slot.blocked_by_share = std::max(slot.blocked_by_share, share);
    }
    node.order.push_back(row.at("box").get<std::string>());
    node.slots[node.order.back()] = slot;
  }
  for (const PictureJson& row : result.at("buffers")) {
    if (row.at("node") != name) continue;
    node.buffers.push_back({row.at("name").get<std::string>(), row.at("unit").get<std::string>(),
                            std::max(1.0, row.at("capacity").get<double>()), row.at("mean").get<double>(),
                            row.at("p99").get<double>(), row.at("time_full_share").get<double>(),
                            row.value("refusals", std::uint64_t{0})});
  }
  constexpr std::string_view receiver = "receiver.";
  for (const PictureJson& row : result.at("limits")) {
    const std::string cause = row.at("cause").get<std::string>();
    const bool other = cause.starts_with(receiver);
    if (other != under_test) node.lost[other ? cause.substr(receiver.size()) : cause] = row.at("gbps").get<double>();
  }
  return node;
}

/// The node, other than the one under test, that received most: the peer, as far as a result alone tells.
std::string receiver_of(const PictureJson& result) {
  const std::string under_test = result.at("node_under_test").get<std::string>();
  std::string best;
  double most = -1;
  for (const PictureJson& row : result.at("nodes")) {
    if (row.at("node") == under_test || row.at("rx_gbps").get<double>() <= most) continue;
    most = row.at("rx_gbps").get<double>();
    best = row.at("node").get<std::string>();
  }
  return best;
}

/// Places whose links were down at some time, by plane. A NIC's port is on the plane of its number.
std::map<std::size_t, std::vector<std::string>> down_places(const PictureJson& result) {
  constexpr std::array<std::string_view, 5> kinds{"fault.link_down", "fault.link_flap", "fault.nic_port_loss",
                                                  "fault.switch_reboot", "fault.plane_loss"};
  std::map<std::size_t, std::vector<std::string>> down;
  for (const PictureJson& event : result.at("events")) {
    const std::string what = event.at("what").get<std::string>();
    const std::string where = event.at("where").get<std::string>();
    if (std::find(kinds.begin(), kinds.end(), what) == kinds.end()) continue;
    const std::string_view mark = where.starts_with("plane") ? "plane" : ".port";
    const std::size_t at = where.find(mark);
    if (at == std::string::npos) continue;
    std::vector<std::string>& places = down[static_cast<std::size_t>(std::atoi(where.c_str() + at + mark.size()))];
    if (std::find(places.begin(), places.end(), where) == places.end()) places.push_back(where);
  }
  return down;
}

class NicPicture {
 public:
  NicPicture(const PictureJson& result, bool linked) : result_(result), linked_(linked), down_(down_places(result)) {
    const std::string under_test = result.at("node_under_test").get<std::string>();
    sender_ = node_of(result, under_test, true);
    const std::string peer = result.value("peer", "");
    receiver_ = node_of(result, peer.empty() ? receiver_of(result) : peer, false);
    receives_ = result.at("nodes").size() > 2 && !peer.empty() ? ", receives most of " + under_test : ", receives";
    smallest_gbps_ = 0.005 * std::max(1.0, result.at("line_rate_gbps").get<double>());
  }

  std::string draw() {
    if (sender_.slots.empty()) return "";
    const bool both = !receiver_.slots.empty();
    const int height = kHeadHeight + kPanelHeight + fabric_height() + (both ? kPanelHeight : 0) + 28;
    head();
    panel(sender_, kHeadHeight, true);
    fabric(kHeadHeight + kPanelHeight, both);
    if (both) panel(receiver_, kHeadHeight + kPanelHeight + fabric_height(), false);
    legend(height - 12);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"nic\" role=\"img\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" aria-label=\"{2}\"><style>{3}</style>\n<rect class=\"paper\" width=\"{0}\" "
        "height=\"{1}\"/>\n{4}</svg>\n",
        kWidth, height, svg_text(summary_), kStyle, svg_);
  }

 private:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    svg_ += fmt::format(format, std::forward<Args>(args)...);
    svg_ += '\n';
  }
  void text(double x, double y, std::string_view what, std::string_view style = "", std::string_view anchor = "start") {
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>", x, y, style, anchor,
        svg_text(what));
  }
  /// `follows`: attributes by which the report replays it; such a bar is there without a width too.
  void bar(double x, double y, double width, double height, std::string_view style, const std::string& follows = "") {
    if (width > 0.05 || !follows.empty()) {
      add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"{}/>", x, y, width, height,
          style, follows);
    }
  }
  /// A bar of `width` that replays a series: its name, and the value at which the bar is full.
  static std::string follows(std::string_view kind, std::string_view name, double full, double width) {
    return fmt::format(" data-{}=\"{}\" data-full=\"{}\" data-width=\"{:.1f}\"", kind, svg_text(name), full, width);
  }
  /// Everything until close() leads to a section of the report and has a text for who points at it.
  void open(std::string_view section, std::string_view tip) {
    svg_ += linked_ ? fmt::format("<a href=\"#{}\">", section) : "<g>";
    svg_ += fmt::format("<title>{}</title>\n", svg_text(tip));
  }
  void close() { svg_ += linked_ ? "</a>\n" : "</g>\n"; }

  void head() {
    const double goodput = result_.at("goodput_gbps").get<double>();
    const double line = result_.at("line_rate_gbps").get<double>();
    summary_ = fmt::format("{}, seed {}: {}, {} from {} of {} line rate", result_.at("scenario").get<std::string>(),
                           result_.at("seed").get<std::uint64_t>(), result_.at("status").get<std::string>(),
                           gbps(goodput), sender_.name, gbps(line));
    text(16, 28, summary_, "big");
    std::vector<std::pair<double, std::string>> causes;
    for (const PictureJson& row : result_.at("limits")) {
      const double lost = row.at("gbps").get<double>();
      if (lost >= smallest_gbps_) causes.emplace_back(lost, row.at("cause").get<std::string>());
    }
    std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    open("limits", "lost line rate by cause");
    // The line rate as one bar: goodput, then what each cause takes of it.
    const double scale = (kWidth - 32) / std::max(line, 1e-9);
    bar(16, 40, kWidth - 32, 14, "track");
    bar(16, 40, std::min(goodput, line) * scale, 14, "busy");
    double x = 16 + goodput * scale;
    for (const auto& [lost, cause] : causes) {
      bar(x + 0.5, 40, std::min(lost * scale - 1, kWidth - 16 - x), 14, cause == "framing" ? "refused" : "blocked");
      x += lost * scale;
    }
    std::string list("lost: ");
    for (std::size_t i = 0; i < std::min<std::size_t>(causes.size(), 5); ++i) {
      list += fmt::format("{}{} {}", i == 0 ? "" : "   ·   ", causes[i].second, gbps(causes[i].first));
    }
    text(16, 74, causes.empty() ? "nothing is lost" : list, "cause");
    close();
    const PictureJson& packets = result_.at("packets");
    text(16, 93,
         fmt::format("{:.1f} us simulated; {} packets, {} retransmitted, {} dropped, {} trimmed, {} marked",
                     result_.at("simulated_time_us").get<double>(), packets.at("sent").get<std::uint64_t>(),
                     packets.at("retransmitted").get<std::uint64_t>(), packets.at("dropped").get<std::uint64_t>(),
                     packets.at("trimmed").get<std::uint64_t>(), packets.at("ce_marked").get<std::uint64_t>()),
         "small");
  }

  /// What the node lost at `box`, Gb/s.
  static double lost_at(const PictureNode& node, std::string_view box) {
    double sum = 0;
    for (const auto& [cause, value] : node.lost) {
      if (drawn_at(cause) == box) sum += value;
    }
    return sum;
  }

  void gauge(const PictureNode& node, const PictureBuffer& buffer, double x, double y, double width,
             std::string_view box) {
    const std::string own = buffer.name == box           ? "queue"
                            : is_below(buffer.name, box) ? buffer.name.substr(box.size() + 1)
                                                         : buffer.name;
    const std::string capacity = short_number(buffer.capacity);
    const double room = (width - 6.0 * static_cast<double>(capacity.size()) - 4) / 5.6;
    open("buffers",
         fmt::format("{}: mean {:.1f}, p99 {:.0f} of {:.0f} {}; full {} of the time; {} refusals", buffer.name,
                     buffer.mean, buffer.p99, buffer.capacity, buffer.unit, percent(buffer.full), buffer.refusals));
    text(x, y, shortened(own, static_cast<std::size_t>(std::max(4.0, room))), "small");
    text(x + width, y, capacity, "small", "end");
    bar(x, y + 3, width, 7, "track");
    const double share = std::min(1.0, buffer.mean / buffer.capacity);
    bar(x, y + 3, share * width, 7, buffer.refusals > 0 && buffer.full > 0.01 ? "refused" : "fill",
        follows("level", node.name + "." + buffer.name, buffer.capacity, width));
    const double p99 = x + std::min(1.0, buffer.p99 / buffer.capacity) * width;
    add("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" class=\"mark whole\"/>", p99, y + 2, y + 11);
    close();
  }

  /// The buffers of a box, the fullest first.
  static std::vector<PictureBuffer> buffers_of(const PictureNode& node, std::string_view box) {
    std::vector<PictureBuffer> own;
    for (const PictureBuffer& buffer : node.buffers) {
      if (drawn_at(buffer.name) == box && !is_port(buffer.name)) own.push_back(buffer);
    }
    const auto fullness = [](const PictureBuffer& b) { return 2 * b.full + b.p99 / b.capacity + b.mean / b.capacity; };
    std::stable_sort(own.begin(), own.end(),
                     [&](const PictureBuffer& a, const PictureBuffer& b) { return fullness(a) > fullness(b); });
    return own;
  }

  void busy_bar(const PictureSlot& slot, double x, double y, double width) {
    bar(x, y, width, 8, "track");
    bar(x, y, slot.busy * width, 8, "busy whole");
    bar(x + slot.busy * width, y, std::min(slot.blocked, 1 - slot.busy) * width, 8, "blocked whole");
  }

  void box(const PictureNode& node, const std::string& name, double x, double y, double width) {
    const auto slot = node.slots.find(name);
    const double lost = lost_at(node, name);
    const bool limits = lost >= smallest_gbps_;
    open("ledger",
         slot == node.slots.end()
             ? name
             : fmt::format("{}: busy {}, blocked {}{}", name, percent(slot->second.busy), percent(slot->second.blocked),
                           slot->second.blocked_by.empty() ? "" : " by " + slot->second.blocked_by));
    add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"5\" class=\"box{}\"/>", x, y, width,
        kBoxHeight, limits ? " limits" : "");
    text(x + 6, y + 16, name, "name");
    if (slot != node.slots.end()) {
      busy_bar(slot->second, x + 6, y + 22, width - 12);
      const bool blocked = slot->second.blocked > std::max(0.05, slot->second.busy);
      text(x + 6, y + 43, blocked ? percent(slot->second.blocked) + " blocked" : percent(slot->second.busy) + " busy",
           "small");
      if (blocked) text(x + 6, y + 57, shortened("by " + slot->second.blocked_by, 19), "small whole");
    }
    close();
    if (limits) text(x + width - 2, y - 4, "lost " + gbps(lost), "cause", "end");
    const std::vector<PictureBuffer> own = buffers_of(node, name);
    for (std::size_t i = 0; i < std::min<std::size_t>(own.size(), 2); ++i) {
      gauge(node, own[i], x + 2, y + kBoxHeight + 14 + 22 * static_cast<double>(i), width - 4, name);
    }
  }

  void row(const PictureNode& node, const std::vector<std::string>& names, double y) {
    const double first = 16 + kPcieWidth + 2 * kGap;
    const double step = (kWidth - 16 - first) / static_cast<double>(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const double x = first + static_cast<double>(i) * step;
      if (i > 0 && std::find(kNotAfterTheBoxBefore.begin(), kNotAfterTheBoxBefore.end(), names[i]) ==
                       kNotAfterTheBoxBefore.end()) {
        add("<path class=\"way\" d=\"M{:.1f} {:.1f}h{}l-4 -3m4 3l-4 3\"/>", x - 2 * kGap, y + kBoxHeight / 2,
            2 * kGap - 1);
      }
      box(node, names[i], x, y, step - 2 * kGap);
    }
  }

  /// Where an inline engine is in its row; other boxes that are not known are at its end.
  static std::vector<std::string>::iterator place_of(std::vector<std::string>& row, const std::string& name) {
    if (name == "encrypt") return std::find(row.begin(), row.end(), "srv6_encap");
    if (name == "decrypt") return std::find(row.begin(), row.end(), "psn_tracker");
    return row.end();
  }

  /// Known boxes in their order, then those of the ledger that are not known, by the side of the parser that they are
  /// on.
  static std::vector<std::string> row_of(const PictureNode& node, bool transmit) {
    const auto& known = transmit ? kTransmitRow : kReceiveRow;
    std::vector<std::string> names(known.begin(), known.end());
    bool before_parser = true;
    for (const std::string& name : node.order) {
      before_parser = before_parser && name != "parser";
      const auto is_known = [&](const auto& of) { return std::find(of.begin(), of.end(), name) != of.end(); };
      if (before_parser != transmit || is_port(name) || name.starts_with("pcie_dma")) continue;
      if (!is_known(kTransmitRow) && !is_known(kReceiveRow)) names.insert(place_of(names, name), name);
    }
    return names;
  }

  std::string parameter(const std::string& name, const std::string& node) const {
    const PictureJson& all = result_.at("parameters");
    const std::string own = "node." + node + "." + name;
    const PictureJson& value = all.contains(own) ? all.at(own) : all.at(name);
    return value.is_string() ? value.get<std::string>() : value.dump();
  }
  double number(const std::string& name) const { return result_.at("parameters").at(name).get<double>(); }

  void pcie(const PictureNode& node, double y, double height) {
    const double lost = lost_at(node, "pcie");
    const double x = 16 + kGap;
    add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" rx=\"5\" class=\"box{}\"/>", x, y, kPcieWidth,
        height, lost >= smallest_gbps_ ? " limits" : "");
    text(x + 6, y + 16,
         fmt::format("PCIe gen{} x{}", parameter("pcie.generation", node.name), parameter("pcie.lanes", node.name)),
         "name");
    if (lost >= smallest_gbps_) text(x + kPcieWidth, y - 4, "lost " + gbps(lost), "cause", "end");
    double at = y + 34;
    for (const auto& [slot, label] : {std::pair("pcie_dma.read_data", "reads"), {"pcie_dma.write", "writes"}}) {
      const auto found = node.slots.find(slot);
      if (found == node.slots.end()) continue;
      open("ledger", fmt::format("{}: busy {}", slot, percent(found->second.busy)));
      text(x + 6, at, label, "small");
      text(x + kPcieWidth - 6, at, percent(found->second.busy), "small whole", "end");
      busy_bar(found->second, x + 6, at + 3, kPcieWidth - 12);
      close();
      at += 27;
    }
    const std::vector<PictureBuffer> own = buffers_of(node, "pcie");
    for (std::size_t i = 0; i < std::min<std::size_t>(own.size(), 3); ++i, at += 25) {
      gauge(node, own[i], x + 6, at + 4, kPcieWidth - 12, "pcie");
    }
  }

  /// Ports side by side; those of both nodes are above each other, with their plane in between.
  double port_step() const { return (kWidth - 32.0) / std::max<std::size_t>(1, ports(sender_)); }
  static std::size_t ports(const PictureNode& node) {
    return static_cast<std::size_t>(std::count_if(node.order.begin(), node.order.end(), is_port));
  }

  void port_row(const PictureNode& node, double y) {
    const std::size_t count = ports(node);
    const double step = (kWidth - 32.0) / static_cast<double>(std::max<std::size_t>(1, count));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = fmt::format("port{}", i);
      const PictureSlot slot = node.slots.count(name) != 0 ? node.slots.at(name) : PictureSlot{};
      const double x = 16 + static_cast<double>(i) * step + kGap / 2.0;
      const double width = step - kGap;
      double lost = 0;
      for (const auto& [cause, value] : node.lost) {
        lost += is_below(cause, name) || cause == fmt::format("fabric.{}.{}", node.name, name) ? value : 0;
      }
      open("ledger", fmt::format("{}: sends {} of the time", name, percent(slot.busy)));
      add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"40\" rx=\"4\" class=\"box{}\"/>", x, y, width,
          lost >= smallest_gbps_ ? " limits" : "");
      text(x + 5, y + 14, name, "small");
      text(x + width - 5, y + 14, "sends " + percent(slot.busy), "small whole", "end");
      busy_bar(slot, x + 5, y + 18, width - 10);
      close();
      for (const PictureBuffer& buffer : node.buffers) {
        if (buffer.name != name + ".tx_fifo") continue;
        bar(x + 5, y + 29, width - 10, 6, "track");
        bar(x + 5, y + 29, std::min(1.0, buffer.mean / buffer.capacity) * (width - 10), 6,
            buffer.refusals > 0 && buffer.full > 0.01 ? "refused" : "fill",
            follows("level", node.name + "." + buffer.name, buffer.capacity, width - 10));
      }
    }
  }

  void panel(const PictureNode& node, double y, bool ports_below) {
    add("<rect x=\"16\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" rx=\"8\" class=\"panel\"/>", y, kWidth - 32,
        kPanelHeight - 4);
    const double ports_y = ports_below ? y + kPanelHeight - 50 : y + 6;
    const double rows_y = ports_below ? y + 38 : y + 84;
    text(16 + kGap, ports_below ? y + 16 : y + 62, node.name + (ports_below ? ", under test" : receives_), "name");
    const double ports = lost_at(node, "port");
    if (ports >= smallest_gbps_) {
      text(kWidth - 24, ports_below ? ports_y - 6 : y + 64, "ports: lost " + gbps(ports), "cause", "end");
    }
    pcie(node, rows_y, kRowHeight + kBoxHeight + 36);
    row(node, row_of(node, true), rows_y);
    row(node, row_of(node, false), rows_y + kRowHeight);
    port_row(node, ports_y);
  }

  struct Plane {
    double busiest = 0;
    std::string port;
    std::uint64_t dropped = 0;
    std::uint64_t trimmed = 0;
    std::uint64_t marked = 0;
    double lost = 0;
  };

  std::map<std::size_t, Plane> planes() const {
    std::map<std::size_t, Plane> all;
    const double time_us = std::max(1e-9, result_.at("simulated_time_us").get<double>());
    const double port_rate = number("nic.port_gbps");
    const double upper_rate = number("fabric.t1_link_gbps") > 0 ? number("fabric.t1_link_gbps") : port_rate;
    for (const PictureJson& row : result_.at("switch_ports")) {
      const std::string name = row.at("port").get<std::string>();
      if (!name.starts_with("plane")) continue;
      Plane& plane = all[static_cast<std::size_t>(std::atoi(name.c_str() + 5))];
      const bool to_nic = name.find(".t0.") != std::string::npos && name.find(".down") != std::string::npos;
      const double use = row.at("bytes").get<double>() * 8e-3 / time_us / (to_nic ? port_rate : upper_rate);
      if (use > plane.busiest) plane.port = name.substr(name.find('.') + 1);
      plane.busiest = std::max(plane.busiest, use);
      plane.dropped += row.at("dropped").get<std::uint64_t>();
      plane.trimmed += row.at("trimmed").get<std::uint64_t>();
      plane.marked += row.at("ce_marked").get<std::uint64_t>();
    }
    for (const auto& [cause, value] : sender_.lost) {
      constexpr std::string_view prefix = "fabric.plane";
      if (cause.starts_with(prefix))
        all[static_cast<std::size_t>(std::atoi(cause.c_str() + prefix.size()))].lost += value;
    }
    return all;
  }

  /// A line more for the names of links that were down.
  int fabric_height() const { return kFabricHeight + (down_.empty() ? 0 : 16); }

  /// Links that were down on a plane, as its row names them.
  static std::string down_names(const std::vector<std::string>& places, std::size_t index) {
    const std::string plane = fmt::format("plane{}", index);
    std::string names;
    for (const std::string& place : places) {
      const bool within = place.starts_with(plane + ".");
      names += fmt::format("{}{}", names.empty() ? "" : ", ", within ? place.substr(plane.size() + 1) : place);
    }
    return names;
  }

  /// Whether the cable between this node's port and its plane was down at some time.
  bool was_down(const PictureNode& node, std::size_t port) const {
    const auto places = down_.find(port);
    if (places == down_.end()) return false;
    return std::any_of(places->second.begin(), places->second.end(), [&](const std::string& place) {
      return place == fmt::format("{}.port{}", node.name, port) || place == fmt::format("plane{}", port);
    });
  }

  void cable(const PictureNode& node, std::size_t port, double x, double y, int length) {
    add("<path class=\"way{}\" d=\"M{:.1f} {:.1f}v{}\"/>", was_down(node, port) ? " down" : "", x, y, length);
  }

  void fabric(double y, bool both) {
    const double step = port_step();
    for (const auto& [index, plane] : planes()) {
      if (index >= ports(sender_)) continue;
      const double x = 16 + static_cast<double>(index) * step + kGap / 2.0;
      const double width = step - kGap;
      const double middle = x + width / 2;
      const auto places = down_.find(index);
      const std::string down = places == down_.end() ? "" : down_names(places->second, index);
      cable(sender_, index, middle, y - 6, 14);
      if (both) cable(receiver_, index, middle, y + fabric_height() - 14, 20);
      open("switches", fmt::format("plane {}: busiest port {}, used {}{}{}", index, plane.port, percent(plane.busiest),
                                   down.empty() ? "" : "; down at some time: ", down));
      add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"5\" class=\"box{}{}\"/>", x, y + 8,
          width, fabric_height() - 22, plane.lost >= smallest_gbps_ ? " limits" : "", down.empty() ? "" : " down");
      text(x + 5, y + 23, fmt::format("plane {}", index), "name");
      text(x + width - 5, y + 23, percent(plane.busiest), "small whole", "end");
      bar(x + 5, y + 28, width - 10, 8, "track");
      bar(x + 5, y + 28, std::min(1.0, plane.busiest) * (width - 10), 8, "busy",
          follows("plane", std::to_string(index), number("nic.port_gbps"), width - 10));
      text(x + 5, y + 48, shortened(plane.port, 16), "small");
      const std::uint64_t eventful = plane.dropped + plane.trimmed + plane.marked;
      if (eventful > 0) {
        text(x + 5, y + 61, fmt::format("{} drop {} trim {} mark", plane.dropped, plane.trimmed, plane.marked),
             "small");
      }
      if (plane.lost >= smallest_gbps_) text(x + 5, y + 76, "lost " + gbps(plane.lost), "cause");
      if (!down.empty()) down_text(x + 5, y + 91, width - 10, down, places->second.size());
      close();
    }
  }

  void down_text(double x, double y, double width, const std::string& names, std::size_t count) {
    const std::string whole = "down: " + names;
    const bool fits = static_cast<double>(whole.size()) * 6.6 <= width;
    const std::string first = "down: " + names.substr(0, names.find(','));
    text(x, y, fits || count == 1 ? whole : fmt::format("{} +{}", first, count - 1), "small cause");
  }

  void legend(double y) {
    double x = 16;
    const auto item = [&](std::string_view style, std::string_view what) {
      bar(x, y - 9, 18, 9, style);
      text(x + 23, y, what, "small");
      x += 23 + 6.3 * static_cast<double>(what.size()) + 18;
    };
    item("busy", "busy, in use");
    item("blocked", "blocked; lost to a cause");
    item("fill", "mean level of a buffer (line: p99)");
    item("refused", "the same, full more than 1 % of the time with refusals; lost to framing");
    if (down_.empty()) return;
    add("<path class=\"way down\" d=\"M{:.1f} {:.1f}h18\"/>", x, y - 4);
    text(x + 23, y, "was down at some time", "small");
  }

  const PictureJson& result_;
  bool linked_;
  std::map<std::size_t, std::vector<std::string>> down_;  ///< by plane
  PictureNode sender_;
  PictureNode receiver_;
  std::string receives_;      ///< what the receiver's panel says behind its name
  double smallest_gbps_ = 0;  ///< smaller losses are not written
  std::string summary_;
  std::string svg_;
};

}  // namespace

std::string nic_picture(const PictureJson& result, bool linked) {
  return NicPicture(result, linked).draw();
}

}  // namespace mrc
