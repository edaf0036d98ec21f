#include "traffic/htsim_reader.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "traffic/line_reader.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"
#include "traffic/workload_builder.h"

namespace mrc {
namespace {

constexpr std::uint64_t kMostId = 0xFFFF'FFFF;

/// A connection of several messages: each has its own size and start, and a line of its own with the word msg.
struct Connection {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint64_t line = 0;
  bool has_messages = false;
};

struct Trigger {
  std::uint64_t line = 0;       ///< of its definition; 0: none yet
  std::uint64_t first_use = 0;  ///< line of the first connection that names it
  std::uint64_t count = 1;      ///< activations that it takes
  bool barrier = false;
  std::vector<std::uint32_t> activated_by;  ///< nodes
  std::vector<std::uint32_t> starts;        ///< sends
};

class HtsimReader {
 public:
  HtsimReader(std::istream& in, const std::string& name, const ReadOptions& options)
      : lines_(in, name), options_(options), builder_(options.totals) {}

  Workload run() {
    while (lines_.next()) {
      words_ = words_of(lines_.text());
      at_ = 1;
      if (words_.empty() || words_[0].starts_with('#')) continue;
      take_line();
    }
    if (nodes_ == 0) throw TraceError(lines_.name(), "is empty; expected Nodes, Connections and connections");
    const std::uint64_t read = connections_ + left_out_;
    if (read != expected_connections_) {
      throw TraceError(lines_.name(),
                       fmt::format("Connections says {}, but there are {}", expected_connections_, read));
    }
    if (connections_ == 0) throw TraceError(lines_.name(), "holds no connection");
    if (!builder_.counts_only()) pull_triggers();
    return builder_.finish(nodes_);
  }

 private:
  [[noreturn]] void expected(std::string_view what) const {
    throw TraceError(lines_.place(), fmt::format("expected {}, found {}", what,
                                                 at_ < words_.size() ? fmt::format("\"{}\"", words_[at_])
                                                                     : std::string("the line's end")));
  }
  std::uint64_t integer(std::string_view what, std::uint64_t minimum, std::uint64_t maximum) {
    if (at_ >= words_.size()) expected(what);
    return parse_integer(words_[at_++], lines_, what, minimum, maximum);
  }
  void end_of_line(std::string_view allowed) const {
    if (at_ < words_.size()) expected(allowed);
  }

  void take_line() {
    const std::string_view first = words_[0];
    if (first == "Nodes") {
      if (nodes_ != 0) throw TraceError(lines_.place(), "a second line Nodes");
      nodes_ = static_cast<std::uint32_t>(integer("Nodes", 2, kMostRank + 1));
      end_of_line("the line's end");
    } else if (nodes_ == 0) {
      at_ = 0;
      expected("Nodes");
    } else if (first == "Connections") {
      expected_connections_ = integer("Connections", 1, kMostWorkNodes / 2);
      has_connections_ = true;
      end_of_line("the line's end");
    } else if (first == "Triggers") {
      integer("Triggers", 0, kMostWorkNodes);
      end_of_line("the line's end");
    } else if (first == "trigger") {
      take_trigger();
    } else if (first.find("->") != std::string_view::npos) {
      take_connection();
    } else {
      at_ = 0;
      expected("Nodes, Connections, Triggers, trigger, or a connection SRC->DST");
    }
  }
  void take_trigger() {
    if (at_ >= words_.size() || words_[at_] != "id") expected("id");
    ++at_;
    const std::uint64_t id = integer("the trigger's id", 0, kMostId);
    Trigger& trigger = triggers_[id];
    if (trigger.line != 0)
      throw TraceError(lines_.place(), fmt::format("trigger {} is defined twice, first in line {}", id, trigger.line));
    trigger.line = lines_.number();
    if (at_ >= words_.size()) expected("oneshot or barrier");
    const std::string_view kind = words_[at_++];
    if (kind == "barrier") {
      if (at_ >= words_.size() || words_[at_] != "count") expected("count");
      ++at_;
      trigger.barrier = true;
      trigger.count = integer("count", 1, kMostWorkNodes);
    } else if (kind != "oneshot") {
      --at_;
      expected("oneshot or barrier");
    }
    end_of_line("the line's end");
  }
  void take_connection() {
    if (!has_connections_) throw TraceError(lines_.place(), "a connection before the line Connections");
    const std::string_view pair = words_[0];
    const std::size_t arrow = pair.find("->");
    WorkNode work;
    work.kind = WorkKind::send;
    work.origin = lines_.number();
    work.rank = static_cast<std::uint32_t>(parse_integer(pair.substr(0, arrow), lines_, "SRC", 0, nodes_ - 1));
    work.peer = static_cast<std::uint32_t>(parse_integer(pair.substr(arrow + 2), lines_, "DST", 0, nodes_ - 1));
    if (work.rank == work.peer)
      throw TraceError(lines_.place(), fmt::format("{} sends to itself; a connection needs two nodes", work.rank));
    constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t started_by = none;
    std::uint64_t send_done = none;
    std::uint64_t receive_done = none;
    std::uint64_t id = none;
    bool has_start = false;
    bool is_message = false;
    while (at_ < words_.size()) {
      const std::string_view key = words_[at_++];
      if (key == "id") {
        id = integer("id", 0, kMostId);
      } else if (key == "start") {
        work.earliest = integer("start (ps)", 0, kMostTraceTimeUs * kPsPerUs);
        has_start = true;
      } else if (key == "trigger") {
        started_by = integer("trigger", 0, kMostId);
      } else if (key == "size") {
        work.bytes = integer("size (bytes)", 1, kMostMessageBytes);
      } else if (key == "send_done_trigger") {
        send_done = integer("send_done_trigger", 0, kMostId);
      } else if (key == "recv_done_trigger") {
        receive_done = integer("recv_done_trigger", 0, kMostId);
      } else if (key == "msg") {
        // The message's own id is optional; messages of one connection share the connection's.
        is_message = true;
        const bool numbered = at_ < words_.size() && words_[at_].find_first_not_of("0123456789") == words_[at_].npos;
        if (numbered) integer("msg", 1, kMostId);
      } else if (key == "prio") {
        work.traffic_class = class_of_priority(integer("prio", 0, kMostId));
      } else {
        --at_;
        expected("id, start, trigger, size, send_done_trigger, recv_done_trigger, msg or prio");
      }
    }
    if (work.bytes == 0) expected("size");
    if (has_start == (started_by != none)) {
      throw TraceError(lines_.place(),
                       has_start ? "start and trigger exclude one another" : "expected start or trigger");
    }
    if (options_.rows != 0 && connections_ >= options_.rows) {
      ++left_out_;
      return;
    }
    ++connections_;
    if (builder_.counts_only()) {
      builder_.add(work);
      return;
    }
    if (id != none) require_own_id(id, work, is_message);
    work.tag = id == none ? 0 : static_cast<std::uint32_t>(id);
    const std::uint32_t send = builder_.add(work);
    if (started_by != none) use(started_by).starts.push_back(send);
    if (send_done != none) use(send_done).activated_by.push_back(send);
    if (receive_done == none) return;
    work.kind = WorkKind::receive;
    work.earliest = 0;
    std::swap(work.rank, work.peer);
    const std::uint32_t receive = builder_.add(work);
    builder_.match(send, receive);
    use(receive_done).activated_by.push_back(receive);
  }
  /// An id names one connection; only the messages of one connection have it in common.
  void require_own_id(std::uint64_t id, const WorkNode& work, bool is_message) {
    const auto [it, added] = connections_by_id_.emplace(id, Connection{work.rank, work.peer, work.origin, is_message});
    const Connection& first = it->second;
    const bool same = first.source == work.rank && first.destination == work.peer;
    if (added || (same && is_message && first.has_messages)) return;
    throw TraceError(lines_.place(),
                     fmt::format("id {} appears twice, first in line {}; allowed: once, or messages (msg) of one "
                                 "connection",
                                 id, first.line));
  }
  Trigger& use(std::uint64_t id) {
    Trigger& trigger = triggers_[id];
    if (trigger.first_use == 0) trigger.first_use = lines_.number();
    return trigger;
  }

  void pull_triggers() {
    for (const auto& [id, trigger] : triggers_) pull(id, trigger);
    refuse_loops();
  }
  void pull(std::uint64_t id, const Trigger& trigger) {
    const std::string used = fmt::format("{}:{}", lines_.name(), trigger.first_use);
    if (trigger.line == 0) throw TraceError(used, fmt::format("trigger {} is not defined", id));
    if (trigger.starts.empty()) return;
    const bool cut = left_out_ > 0 && trigger.activated_by.size() < trigger.count;
    if (cut && trigger.activated_by.empty()) return;
    if (!cut && trigger.activated_by.size() < trigger.count) {
      throw TraceError(used, fmt::format("trigger {} takes {} activations, but {} connections activate it: what it "
                                         "starts never starts",
                                         id, trigger.count, trigger.activated_by.size()));
    }
    if (trigger.activated_by.size() > trigger.count) {
      throw TraceError(used, fmt::format("trigger {} takes {} activations, but {} connections activate it; allowed: as "
                                         "many as it takes",
                                         id, trigger.count, trigger.activated_by.size()));
    }
    // Through one node, so that a barrier of n before m connections takes n + m waits and not n times m.
    std::uint32_t before = trigger.activated_by.front();
    if (trigger.activated_by.size() > 1) {
      WorkNode barrier;
      barrier.rank = builder_.at(trigger.starts.front()).rank;
      barrier.origin = trigger.line;
      before = builder_.add(barrier);
      for (const std::uint32_t node : trigger.activated_by) builder_.depend(before, node);
    }
    for (const std::uint32_t send : trigger.starts) {
      builder_.depend(send, before);
      waits_.emplace_back(before, send);
    }
    for (const std::uint32_t node : trigger.activated_by) {
      if (node != before) waits_.emplace_back(node, before);
    }
  }
  void refuse_loops() {
    const auto nodes = static_cast<std::uint32_t>(builder_.size());
    std::vector<std::uint32_t> count(nodes);
    std::sort(waits_.begin(), waits_.end());
    for (const auto& [before, after] : waits_) ++count[after];
    // A receive ends after its send.
    for (std::uint32_t i = 0; i < nodes; ++i) count[i] += builder_.at(i).kind == WorkKind::receive ? 1 : 0;
    std::vector<std::uint32_t> ready;
    for (std::uint32_t i = 0; i < nodes; ++i) {
      if (count[i] == 0) ready.push_back(i);
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      const auto release = [&](std::uint32_t node) {
        if (--count[node] == 0) ready.push_back(node);
      };
      const WorkNode& node = builder_.at(ready[i]);
      if (node.kind == WorkKind::send && node.match != kNoWork) release(node.match);
      auto it = std::lower_bound(waits_.begin(), waits_.end(), std::make_pair(ready[i], 0U));
      for (; it != waits_.end() && it->first == ready[i]; ++it) release(it->second);
    }
    if (ready.size() == nodes) return;
    const auto stuck = std::find_if(count.begin(), count.end(), [](std::uint32_t n) { return n > 0; }) - count.begin();
    throw TraceError(fmt::format("{}:{}", lines_.name(), builder_.at(static_cast<std::uint32_t>(stuck)).origin),
                     "the triggers form a loop: this never starts");
  }

  LineReader lines_;
  const ReadOptions& options_;
  WorkloadBuilder builder_;
  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
  std::uint32_t nodes_ = 0;
  bool has_connections_ = false;
  std::uint64_t expected_connections_ = 0;
  std::uint64_t connections_ = 0;
  std::uint64_t left_out_ = 0;
  std::map<std::uint64_t, Trigger> triggers_;
  std::unordered_map<std::uint64_t, Connection> connections_by_id_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> waits_;
};

}  // namespace

Workload read_htsim(std::istream& in, const std::string& name, const ReadOptions& options) {
  return HtsimReader(in, name, options).run();
}

}  // namespace mrc
