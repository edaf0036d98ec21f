#include "traffic/goal_reader.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "traffic/line_reader.h"
#include "traffic/message_matcher.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"
#include "traffic/workload_builder.h"

namespace mrc {
namespace {

constexpr std::uint64_t kMostCpu = 254;
constexpr std::uint64_t kMostNic = 65'535;

/// An operation of the rank whose block is being read.
struct Operation {
  std::uint32_t node = kNoWork;
  std::uint64_t line = 0;
  bool has_followers = false;  ///< something may start when this one starts
};

struct Wait {
  std::uint32_t operation = 0;
  std::uint32_t on = 0;
  bool on_start = false;
};

class GoalReader {
 public:
  GoalReader(std::istream& in, const std::string& name, const ReadOptions& options, Warnings& warnings)
      : lines_(in, name), options_(options), warnings_(warnings), builder_(options.totals) {}

  Workload run() {
    while (lines_.next()) take(without_comments(lines_.text()));
    if (in_comment_) throw TraceError(lines_.name(), fmt::format("the comment of line {} has no end", comment_line_));
    if (in_block_) throw TraceError(lines_.name(), fmt::format("the block of rank {} has no end; expected }}", rank_));
    if (ranks_ == 0) throw TraceError(lines_.name(), "is empty; expected num_ranks and blocks of ranks");
    if (blocks_ == 0) throw TraceError(lines_.name(), "holds no block of a rank");
    if (!builder_.counts_only()) {
      matcher_.match(builder_, [&](const WorkNode& work) { return fmt::format("{}:{}", lines_.name(), work.origin); });
    }
    if (empty_messages_ > 0) {
      warnings_.push_back(
          fmt::format("{}: {} messages of 0 bytes are played as messages of 1 byte", lines_.name(), empty_messages_));
    }
    return builder_.finish(ranks_);
  }

 private:
  std::string without_comments(std::string_view line) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool pair = i + 1 < line.size();
      if (in_comment_) {
        if (pair && line[i] == '*' && line[i + 1] == '/') {
          in_comment_ = false;
          ++i;
        }
      } else if (pair && line[i] == '/' && line[i + 1] == '*') {
        in_comment_ = true;
        comment_line_ = lines_.number();
        ++i;
        text.push_back(' ');
      } else if (pair && line[i] == '/' && line[i + 1] == '/') {
        break;
      } else if (line[i] == '{' || line[i] == '}' || line[i] == ':') {
        // Always words of their own.
        text.push_back(' ');
        text.push_back(line[i]);
        text.push_back(' ');
      } else {
        text.push_back(line[i]);
      }
    }
    return text;
  }

  void take(const std::string& text) {
    words_ = words_of(text);
    at_ = 0;
    while (at_ < words_.size()) {
      if (ranks_ == 0) {
        take_header();
      } else if (!in_block_) {
        open_block();
      } else if (words_[at_] == "}") {
        ++at_;
        close_block();
      } else {
        take_statement();
      }
    }
  }
  [[noreturn]] void expected(std::string_view what) const {
    throw TraceError(lines_.place(), fmt::format("expected {}, found {}", what,
                                                 at_ < words_.size() ? fmt::format("\"{}\"", words_[at_])
                                                                     : std::string("the line's end")));
  }
  void keyword(std::string_view word) {
    if (at_ >= words_.size() || words_[at_] != word) expected(word);
    ++at_;
  }
  bool optional_keyword(std::string_view word) {
    if (at_ >= words_.size() || words_[at_] != word) return false;
    ++at_;
    return true;
  }
  std::uint64_t integer(std::string_view what, std::uint64_t minimum, std::uint64_t maximum) {
    if (at_ >= words_.size()) expected(what);
    return parse_integer(words_[at_++], lines_, what, minimum, maximum);
  }
  std::uint64_t message_size() {
    if (at_ >= words_.size() || !words_[at_].ends_with('b')) expected("a size such as 8b");
    std::string_view digits = words_[at_++];
    digits.remove_suffix(1);
    const std::uint64_t bytes = parse_integer(digits, lines_, "the size in bytes", 0, kMostMessageBytes);
    empty_messages_ += bytes == 0 ? 1 : 0;
    return std::max<std::uint64_t>(bytes, 1);
  }

  void take_header() {
    keyword("num_ranks");
    ranks_ = static_cast<std::uint32_t>(integer("num_ranks", 1, kMostRank + 1));
    seen_.resize(ranks_);
  }
  void open_block() {
    keyword("rank");
    rank_ = static_cast<std::uint32_t>(integer("the rank", 0, ranks_ - 1));
    if (seen_[rank_]) throw TraceError(lines_.place(), fmt::format("a second block of rank {}", rank_));
    keyword("{");
    seen_[rank_] = true;
    in_block_ = true;
    ++blocks_;
  }
  void take_statement() {
    std::string label(words_[at_++]);
    if (optional_keyword(":")) return take_operation(label);
    if (optional_keyword("requires")) return take_wait(label, false);
    if (optional_keyword("irequires")) return take_wait(label, true);
    --at_;
    take_operation({});
  }
  void take_operation(const std::string& label) {
    WorkNode node;
    node.rank = rank_;
    node.origin = lines_.number();
    if (optional_keyword("send")) {
      node.kind = WorkKind::send;
      take_message(node, "to");
    } else if (optional_keyword("recv")) {
      node.kind = WorkKind::receive;
      take_message(node, "from");
    } else if (optional_keyword("calc")) {
      node.duration = integer("calc", 0, kMostTraceTimeUs * 1000) * kPsPerNs;
      node.stream = kComputeStream;
    } else {
      expected("send, recv or calc");
    }
    while (at_ < words_.size()) {
      if (optional_keyword("cpu")) {
        const auto cpu = static_cast<std::uint8_t>(integer("cpu", 0, kMostCpu));
        if (node.kind == WorkKind::compute) node.stream = static_cast<std::uint8_t>(kComputeStream + cpu);
      } else if (optional_keyword("nic")) {
        integer("nic", 0, kMostNic);
      } else {
        break;
      }
    }
    if (builder_.size() >= kMostWorkNodes)
      throw TraceError(lines_.place(), fmt::format("more than {} operations", kMostWorkNodes));
    const std::uint32_t position = builder_.add(node);
    if (builder_.counts_only()) return;
    if (node.kind == WorkKind::send) matcher_.add_send(node, position);
    if (node.kind == WorkKind::receive) matcher_.add_receive(position);
    operations_.push_back({position, lines_.number()});
    if (label.empty()) return;
    const auto [other, added] = labels_.emplace(label, static_cast<std::uint32_t>(operations_.size() - 1));
    if (!added) {
      throw TraceError(lines_.place(),
                       fmt::format("label {} appears twice, first in line {}", label, operations_[other->second].line));
    }
  }
  void take_message(WorkNode& node, std::string_view direction) {
    node.bytes = message_size();
    keyword(direction);
    node.peer = static_cast<std::uint32_t>(integer("the other rank", 0, ranks_ - 1));
    if (node.peer == rank_)
      throw TraceError(lines_.place(), fmt::format("rank {} names itself; a message needs two ranks", rank_));
    if (optional_keyword("tag")) node.tag = static_cast<std::uint32_t>(integer("tag", 0, 0xFFFF'FFFF));
  }
  std::uint32_t label_at(std::string_view label) const {
    const auto it = labels_.find(std::string(label));
    if (it != labels_.end()) return it->second;
    throw TraceError(lines_.place(), fmt::format("label {} is not known in the block of rank {}", label, rank_));
  }
  void take_wait(const std::string& label, bool on_start) {
    if (at_ >= words_.size()) expected("a label");
    if (builder_.counts_only()) {
      ++at_;
      return;
    }
    const std::uint32_t operation = label_at(label);
    const std::uint32_t on = label_at(words_[at_++]);
    if (label == words_[at_ - 1]) throw TraceError(lines_.place(), fmt::format("{} waits for itself", label));
    operations_[on].has_followers |= on_start;
    waits_.push_back({operation, on, on_start});
  }

  /// What waits for an operation's start waits for a node before it, which waits for what the operation waits for.
  void close_block() {
    std::vector<std::uint32_t> start(operations_.size());
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      start[i] = operations_[i].node;
      if (!operations_[i].has_followers) continue;
      WorkNode marker;
      marker.rank = rank_;
      marker.origin = operations_[i].line;
      start[i] = builder_.add(marker);
      builder_.depend(operations_[i].node, start[i]);
    }
    refuse_loops();
    for (const Wait& wait : waits_)
      builder_.depend(start[wait.operation], wait.on_start ? start[wait.on] : operations_[wait.on].node);
    operations_.clear();
    waits_.clear();
    labels_.clear();
    in_block_ = false;
  }
  void refuse_loops() const {
    std::vector<std::uint32_t> count(operations_.size());
    std::vector<std::vector<std::uint32_t>> followers(operations_.size());
    for (const Wait& wait : waits_) {
      ++count[wait.operation];
      followers[wait.on].push_back(wait.operation);
    }
    std::vector<std::uint32_t> ready;
    for (std::uint32_t i = 0; i < count.size(); ++i) {
      if (count[i] == 0) ready.push_back(i);
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      for (const std::uint32_t next : followers[ready[i]]) {
        if (--count[next] == 0) ready.push_back(next);
      }
    }
    if (ready.size() == operations_.size()) return;
    const auto stuck = std::find_if(count.begin(), count.end(), [](std::uint32_t n) { return n > 0; }) - count.begin();
    throw TraceError(fmt::format("{}:{}", lines_.name(), operations_[static_cast<std::size_t>(stuck)].line),
                     fmt::format("the operation is in or behind a loop of requires in the block of rank {}", rank_));
  }

  LineReader lines_;
  const ReadOptions& options_;
  Warnings& warnings_;
  WorkloadBuilder builder_;
  MessageMatcher matcher_;
  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
  bool in_comment_ = false;
  std::uint64_t comment_line_ = 0;
  std::uint32_t ranks_ = 0;
  std::uint32_t rank_ = 0;
  std::uint32_t blocks_ = 0;
  bool in_block_ = false;
  std::uint64_t empty_messages_ = 0;
  std::vector<bool> seen_;
  std::vector<Operation> operations_;
  std::vector<Wait> waits_;
  std::unordered_map<std::string, std::uint32_t> labels_;
};

}  // namespace

Workload read_goal(std::istream& in, const std::string& name, const ReadOptions& options, Warnings& warnings) {
  return GoalReader(in, name, options, warnings).run();
}

}  // namespace mrc
