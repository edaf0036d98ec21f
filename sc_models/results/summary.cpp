#include "results/summary.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace mrc {
namespace {

/// 1234567 → "1,234,567".
std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string bytes(std::uint64_t value) {
  constexpr std::array<std::pair<const char*, double>, 3> units{{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}};
  for (const auto& [name, size] : units) {
    if (static_cast<double>(value) >= size) return fmt::format("{:.4g} {}", static_cast<double>(value) / size, name);
  }
  return fmt::format("{} B", value);
}

class Writer {
 public:
  explicit Writer(bool colour) : colour_(colour) {}

  template <typename... Args>
  void line(const char* label, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), "  {:<10} {}\n", label, fmt::format(format, std::forward<Args>(args)...));
  }
  void raw(const std::string& text) { text_ += text + "\n"; }
  std::string bold(const std::string& text) const { return colour_ ? "\033[1m" + text + "\033[0m" : text; }
  std::string status(RunStatus status) const {
    const std::string word = to_string(status);
    if (!colour_) return word;
    const bool good = status == RunStatus::complete || status == RunStatus::known;
    return (good ? "\033[32m" : "\033[31m") + word + "\033[0m";
  }
  std::string take() { return std::move(text_); }

 private:
  bool colour_;
  std::string text_;
};

void write_limits(Writer& out, const RunResult& r) {
  constexpr double smallest_gbps = 0.05;
  out.raw(fmt::format("  lost line rate of {}, by cause", r.node_under_test));
  for (const LimitResult& limit : r.limits) {
    if (limit.gbps < smallest_gbps) continue;
    const int bar = static_cast<int>(std::min(40.0, 40.0 * limit.gbps / std::max(r.limits.front().gbps, 1e-9)) + 0.5);
    out.raw(fmt::format("    {:>8.2f} Gb/s  {:<28} {}", limit.gbps, limit.cause,
                        std::string(static_cast<std::size_t>(bar), '#')));
  }
}

/// What transports beside MRC count.
void write_transports(Writer& out, const RunResult& r) {
  if (r.uet.on) {
    out.line("uet", "{} timeouts; credit: {} grants, {} requests", grouped(r.uet.timeouts), grouped(r.uet.grants),
             grouped(r.uet.credit_requests));
  }
  const RunResult::Rocev2& roce = r.rocev2;
  if (roce.cnps + roce.naks + roce.out_of_sequence + roce.timeouts + roce.pauses == 0) return;
  out.line("rocev2", "{} CNPs; {} NAKs, {} packets behind a gap, {} timeouts; {} pauses, {:.1f} us together",
           grouped(roce.cnps), grouped(roce.naks), grouped(roce.out_of_sequence), grouped(roce.timeouts),
           grouped(roce.pauses), roce.paused_us);
}

void write_job(Writer& out, const JobResult& job) {
  if (job.ranks == 0) return;
  for (const std::string& cut : job.cut) out.line("cut", "{}", cut);
  out.line("job", "{} ranks{}: step {:.2f} us, computing {:.2f}, exposed communication {:.2f} (mean), {:.2f} (max)",
           job.ranks, job.ranks_played < job.ranks ? " (one played for all, because they are identical)" : "",
           job.step_time_us, job.compute_us.mean, job.exposed_communication_us.mean, job.exposed_communication_us.max);
  if (job.ranks_played > 1) {
    out.line("", "last: rank {}, {:.2f} us after the median rank", job.straggler_rank, job.straggler_behind_us);
  }
  for (const JobResult::LateRank& row : job.late_ranks) {
    out.line("late",
             "rank {} by its {}: sends {:+.2f} us, receives {:+.2f} us against the mean of their size, "
             "computation {:+.2f} us; exposed communication {:.2f} us",
             row.rank, row.late_by, row.sends_late_us, row.receives_late_us, row.computation_late_us,
             row.exposed_communication_us);
  }
  if (job.collectives.empty()) return;
  constexpr double gigabytes = 1.0 / 8.0;
  constexpr std::size_t most = 16;
  out.raw("  collectives                        ranks          bytes  count    mean us  algbw GB/s  busbw GB/s");
  for (std::size_t i = 0; i < std::min(most, job.collectives.size()); ++i) {
    const JobResult::CollectiveRow& row = job.collectives[i];
    out.raw(fmt::format("    {:<30} {:>5} {:>14} {:>6} {:>10.2f} {:>11.2f} {:>11.2f}", row.kind + ", " + row.algorithm,
                        row.ranks, grouped(row.bytes), row.count, row.time_us.mean,
                        row.algorithm_bandwidth_gbps * gigabytes, row.bus_bandwidth_gbps * gigabytes));
  }
  if (job.collectives.size() > most) out.raw(fmt::format("    and {} other sizes", job.collectives.size() - most));
}

/// Ports are alike: one row represents all ports of its node.
std::string without_number(const std::string& name) {
  if (!name.starts_with("port")) return name;
  const std::size_t end = name.find_first_not_of("0123456789", 4);
  return "port" + (end == std::string::npos ? "" : name.substr(end));
}

/// A box that was busy for less of the time is not shown.
constexpr double kLeastBusyShown = 0.005;

/// Of each box of the node under test and its peer, the busiest first.
void write_busy(Writer& out, const RunResult& r) {
  constexpr std::size_t most_nodes = 2;
  std::vector<std::pair<std::string, std::map<std::string, double>>> nodes;
  for (const LedgerResult& row : r.ledger) {
    if (nodes.empty() || nodes.back().first != row.node) nodes.push_back({row.node, {}});
    double& busy = nodes.back().second[without_number(row.box)];
    busy = std::max(busy, row.busy);
  }
  std::stable_partition(nodes.begin(), nodes.end(), [&](const auto& node) { return node.first == r.node_under_test; });
  if (!r.peer.empty())
    std::erase_if(nodes, [&](const auto& node) { return node.first != r.node_under_test && node.first != r.peer; });
  nodes.resize(std::min(nodes.size(), most_nodes));
  if (nodes.empty()) return;
  const bool named = !r.peer.empty() && r.nodes.size() > most_nodes;
  out.raw(fmt::format("  share of the time that boxes were busy, %{}",
                      named ? fmt::format(" ({} gets most of {})", r.peer, r.node_under_test) : ""));
  for (const auto& [node, boxes] : nodes) {
    std::vector<std::pair<std::string, double>> rows(boxes.begin(), boxes.end());
    std::erase_if(rows, [](const auto& row) { return row.second < kLeastBusyShown; });
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string line = "    " + node + " ";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string word =
          fmt::format(" {} {:.0f}{}", rows[i].first, 100 * rows[i].second, i + 1 < rows.size() ? "," : "");
      constexpr std::size_t width = 118;
      if (line.size() + word.size() > width) {
        out.raw(line);
        line = "         ";
      }
      line += word;
    }
    out.raw(line);
  }
}

/// Those that were ever short: a producer found no room.
void write_buffers(Writer& out, const RunResult& r) {
  constexpr std::size_t most = 8;
  std::map<std::string, const BufferResult*> of_name;
  for (const BufferResult& b : r.buffers) {
    if (b.refusals == 0 || b.capacity <= 1) continue;
    const BufferResult*& row = of_name[b.node + "." + without_number(b.name)];
    if (row == nullptr || b.refusals > row->refusals) row = &b;
  }
  if (of_name.empty()) {
    out.raw("  no buffer was ever short");
    return;
  }
  std::vector<std::pair<std::string, const BufferResult*>> rows(of_name.begin(), of_name.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second->refusals > b.second->refusals; });
  rows.resize(std::min(rows.size(), most));
  out.raw("  buffers that were short               no room        mean       p99  high water   capacity");
  for (const auto& [name, b] : rows) {
    out.raw(fmt::format("    {:<30} {:>7} times {:>9.1f} {:>9} {:>11} {:>10}  {}", name, grouped(b->refusals), b->mean,
                        grouped(b->p99), grouped(b->high_water), grouped(b->capacity), b->unit));
  }
}

/// Switch output ports at which packets were dropped, trimmed or marked: queues of the fabric that were too long.
void write_switch_ports(Writer& out, const RunResult& r) {
  constexpr std::size_t most = 6;
  std::vector<const SwitchPortResult*> rows;
  for (const SwitchPortResult& port : r.switch_ports) {
    if (port.dropped + port.trimmed + port.ce_marked > 0) rows.push_back(&port);
  }
  if (rows.empty()) return;
  const auto lost = [](const SwitchPortResult* p) { return p->dropped + p->trimmed; };
  std::stable_sort(rows.begin(), rows.end(), [&](const SwitchPortResult* a, const SwitchPortResult* b) {
    return std::pair(lost(a), a->ce_marked) > std::pair(lost(b), b->ce_marked);
  });
  out.raw("  switch queues that were too long      dropped   trimmed  CE-marked  longest queue");
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const SwitchPortResult& p = *rows[i];
    out.raw(fmt::format("    {:<30} {:>10} {:>9} {:>10} {:>14}  bytes", p.port, grouped(p.dropped), grouped(p.trimmed),
                        grouped(p.ce_marked), grouped(p.most_queued_bytes)));
  }
  if (rows.size() > most)
    out.raw(fmt::format("    and {} others in switch_ports[] of result.json", rows.size() - most));
}

/// The floorplan in short: the sum, the largest memories, and those with uncorrectable errors.
void write_memories(Writer& out, const RunResult& r) {
  constexpr std::size_t most = 4;
  if (r.sram.empty()) return;
  std::vector<const SramResult*> rows;
  double bits = 0;
  double ecc_bits = 0;
  double area_mm2 = 0;
  for (const SramResult& s : r.sram) {
    rows.push_back(&s);
    bits += static_cast<double>(s.bits);
    ecc_bits += static_cast<double>(s.ecc_bits);
    area_mm2 += s.area_mm2;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const SramResult* a, const SramResult* b) { return a->bits > b->bits; });
  out.line("memory", "{:.2f} Mbit + {:.2f} Mbit of check bits, about {:.2f} mm2 (mrcsim floorplan)", bits / 1e6,
           ecc_bits / 1e6, area_mm2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SramResult& s = *rows[i];
    if (i >= most && s.uncorrected_errors == 0) continue;
    out.raw(fmt::format("    {:<30} {:>8.3f} Mbit  {:>5.2f} accesses per cycle, at most {}; {} stalls, {} errors",
                        s.structure, static_cast<double>(s.bits) / 1e6, s.mean_accesses_per_cycle,
                        s.peak_accesses_per_cycle, grouped(s.conflict_stalls),
                        grouped(s.corrected_errors + s.uncorrected_errors)));
  }
}

/// Begins of faults and what the NICs did; the rest is in result.json.
void write_events(Writer& out, const RunResult& r) {
  constexpr std::size_t most = 24;
  if (r.events.empty()) return;
  out.raw("  faults and reactions");
  for (std::size_t i = 0; i < std::min(most, r.events.size()); ++i) {
    const EventResult& e = r.events[i];
    out.raw(fmt::format("    {:>12.3f} us  {:<26} {:<18} {}", e.time_us, e.what, e.where, e.effect));
  }
  if (r.events.size() > most)
    out.raw(fmt::format("    and {} more in events[] of result.json", r.events.size() - most));
}

void write_rtl(Writer& out, const RunResult& r) {
  for (const RtlResult& row : r.rtl) {
    const auto n = static_cast<double>(row.transactions);
    out.line("rtl", "{} of {} ({}{}): {} operations, {} mismatches, {} clock cycles", row.block, row.node, row.mode,
             row.timing == "pins" ? ", by pins" : "", grouped(row.transactions), grouped(row.mismatches),
             grouped(row.cycles));
    if (row.transactions == 0) continue;
    out.line("", "cycles per operation: RTL {:.2f} occupied, {:.2f} latency; SystemC {:.2f} occupied, {:.2f} latency",
             static_cast<double>(row.occupied_cycles) / n, static_cast<double>(row.latency_cycles) / n,
             static_cast<double>(row.systemc_occupied_cycles) / n, static_cast<double>(row.systemc_latency_cycles) / n);
  }
}

}  // namespace

std::string summary(const RunResult& r, bool colour) {
  Writer out(colour);
  out.raw(fmt::format("{}  {}  seed {}, {:.1f} us simulated", out.bold(r.scenario), out.status(r.status), r.seed,
                      r.simulated_time_us));
  for (const std::string& detail : r.details) out.raw("  ! " + detail);
  for (const std::string& note : r.notes) out.line("note", "{}", note);
  out.line("messages", "{} of {} complete, {} failed; {} of {} delivered, {} bytes differ",
           grouped(r.messages.completed), grouped(r.messages.count), grouped(r.messages.failed),
           bytes(r.bytes.delivered), bytes(r.bytes.offered), grouped(r.bytes.corrupted));
  out.line("goodput", "{} Gb/s from {} (line rate {:.1f}, after framing {:.1f})",
           out.bold(fmt::format("{:.1f}", r.goodput_gbps)), r.node_under_test, r.line_rate_gbps, r.framing_limit_gbps);
  if (r.early_stop.goodput_gbps > 0) {
    out.line("", "steady {} Gb/s (95 % interval {:.1f} … {:.1f}), from {:.0f} % of its bytes",
             out.bold(fmt::format("{:.1f}", r.early_stop.goodput_gbps)), r.early_stop.low_gbps, r.early_stop.high_gbps,
             100 * r.early_stop.bytes_share);
  }
  if (const FastForwardResult& f = r.fast_forward; f.within_percent > 0 && f.skips == 0) {
    out.line("", "no time was skipped: no phase was long and steady enough for {:g} %", f.within_percent);
  } else if (f.within_percent > 0) {
    out.line("", "{:.1f} of {:.1f} us were skipped in {} steps; rates in it known to {:g} %", f.skipped_us,
             r.simulated_time_us, grouped(f.skips), f.within_percent);
  }
  out.line("message", "mean {:.2f} us, p50 {:.2f}, p99 {:.2f}, max {:.2f}", r.message_time_us.mean,
           r.message_time_us.p50, r.message_time_us.p99, r.message_time_us.max);
  const TimeSpread& all = r.all_message_time_us;
  out.line("all nodes", "{} messages: mean {:.2f} us, p50 {:.2f}, p99 {:.2f}, max {:.2f}", grouped(all.count), all.mean,
           all.p50, all.p99, all.max);
  out.line("packets", "{} sent, {} retransmitted; {} control", grouped(r.packets.sent),
           grouped(r.packets.retransmitted), grouped(r.packets.control));
  out.line("", "{} dropped, {} trimmed, {} corrupted, {} duplicate, {} CE-marked", grouped(r.packets.dropped),
           grouped(r.packets.trimmed), grouped(r.packets.corrupted), grouped(r.packets.duplicate),
           grouped(r.packets.ce_marked));
  if (const RunResult::Reduction& n = r.reduction; n.trees > 0) {
    out.line("reduction", "{} trees, {} switches that add; at most {} slots in a switch ({}), {} adding at one time",
             grouped(n.trees), grouped(n.switches), grouped(n.slots), bytes(n.memory_bytes),
             grouped(n.most_slots_adding));
    out.line("", "packets: {} added, {} duplicates, {} results retransmitted; {} timeouts of NICs", grouped(n.added),
             grouped(n.duplicates), grouped(n.retransmitted_results), grouped(n.timeouts));
  }
  if (const RunResult::Encryption& e = r.encryption; e.on) {
    out.line("encryption", "{} encrypted, {} decrypted; keys read: {} to send, {} to receive", grouped(e.encrypted),
             grouped(e.decrypted), grouped(e.encrypt_key_misses), grouped(e.decrypt_key_misses));
    out.line("", "dropped: {} wrong tag, {} replayed, {} below the replay window, {} trimmed, {} unknown SPI",
             grouped(e.tag_failures), grouped(e.replayed), grouped(e.too_old), grouped(e.unverified),
             grouped(e.unknown));
  }
  if (const RunResult::Contexts& c = r.contexts; c.evicted > 0) {
    out.line("contexts", "{} read, {} evicted, {} written back", grouped(c.read), grouped(c.evicted),
             grouped(c.written));
  }
  write_transports(out, r);
  write_job(out, r.job);
  if (!r.limits.empty()) write_limits(out, r);
  if (!r.limits.empty()) write_busy(out, r);
  if (!r.buffers.empty()) write_buffers(out, r);
  write_switch_ports(out, r);
  write_memories(out, r);
  write_rtl(out, r);
  write_events(out, r);
  const double seconds = r.cost.wall_seconds;
  if (seconds > 0 && r.packets.sent > 0) {
    const double sent = static_cast<double>(r.packets.sent);
    out.line("speed",
             "{} data packets/s of wall time ({:.2f} s); per packet: {:.1f} box steps, {:.2f} kernel activations",
             grouped(static_cast<std::uint64_t>(sent / seconds)), seconds, static_cast<double>(r.cost.box_steps) / sent,
             static_cast<double>(r.cost.kernel_activations) / sent);
  }
  return out.take();
}

}  // namespace mrc
