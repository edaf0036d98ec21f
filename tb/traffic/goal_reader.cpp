#include "traffic/goal_reader.h"

#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "traffic/goal_graph.h"
#include "traffic/line_reader.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"

namespace mrc {
namespace {

constexpr std::uint64_t kMostNic = 65'535;

class GoalReader {
 public:
  GoalReader(std::istream& in, const std::string& name, const ReadOptions& options, Warnings& warnings)
      : lines_(in, name),
        warnings_(warnings),
        graph_(options, [name](std::uint32_t, std::uint64_t line) { return fmt::format("{}:{}", name, line); }) {}

  Workload run() {
    while (lines_.next()) take(without_comments(lines_.text()));
    if (in_comment_) throw TraceError(lines_.name(), fmt::format("the comment of line {} has no end", comment_line_));
    if (in_block_) throw TraceError(lines_.name(), fmt::format("the block of rank {} has no end; expected }}", rank_));
    if (ranks_ == 0) throw TraceError(lines_.name(), "is empty; expected num_ranks and blocks of ranks");
    if (blocks_ == 0) throw TraceError(lines_.name(), "holds no block of a rank");
    return graph_.finish(ranks_, lines_.name(), warnings_);
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
    return parse_integer(digits, lines_, "the size in bytes", 0, kMostMessageBytes);
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
    graph_.begin_rank(rank_);
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
        const auto cpu = static_cast<std::uint8_t>(integer("cpu", 0, GoalGraph::kMostCpu));
        if (node.kind == WorkKind::compute) node.stream = static_cast<std::uint8_t>(kComputeStream + cpu);
      } else if (optional_keyword("nic")) {
        integer("nic", 0, kMostNic);
      } else {
        break;
      }
    }
    const std::uint32_t operation = graph_.add(node);
    if (graph_.counts_only() || label.empty()) return;
    const auto [other, added] = labels_.emplace(label, operation);
    if (!added) {
      throw TraceError(lines_.place(),
                       fmt::format("label {} appears twice, first in line {}", label, graph_.origin(other->second)));
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
    if (graph_.counts_only()) {
      ++at_;
      return;
    }
    const std::uint32_t operation = label_at(label);
    const std::uint32_t on = label_at(words_[at_++]);
    if (label == words_[at_ - 1]) throw TraceError(lines_.place(), fmt::format("{} waits for itself", label));
    graph_.wait(operation, on, on_start);
  }

  void close_block() {
    graph_.end_rank();
    labels_.clear();
    in_block_ = false;
  }

  LineReader lines_;
  Warnings& warnings_;
  GoalGraph graph_;
  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
  bool in_comment_ = false;
  std::uint64_t comment_line_ = 0;
  std::uint32_t ranks_ = 0;
  std::uint32_t rank_ = 0;
  std::uint32_t blocks_ = 0;
  bool in_block_ = false;
  std::vector<bool> seen_;
  std::unordered_map<std::string, std::uint32_t> labels_;
};

}  // namespace

Workload read_goal(std::istream& in, const std::string& name, const ReadOptions& options, Warnings& warnings) {
  return GoalReader(in, name, options, warnings).run();
}

}  // namespace mrc
