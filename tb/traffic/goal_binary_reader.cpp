#include "traffic/goal_binary_reader.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "traffic/goal_graph.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"

namespace mrc {
namespace {

constexpr std::string_view kMagic{"\x7f\x10\0\0\0\0\0\0", 8};  // 4223
constexpr std::uint64_t kHeadBytes = 6;                        // ranks, CPUs, NICs
constexpr std::uint64_t kTableBytes = 16;                      // of a rank
constexpr std::uint64_t kOperationBytes = 39;

/// Bytes of a part of the file, taken from the front.
class Bytes {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}
  template <typename Integer>
  Integer take() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Integer); ++i) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at_ + i])) << (8 * i);
    }
    at_ += sizeof(Integer);
    return static_cast<Integer>(value);
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

/// Entries of the block's list: those that wait for an operation's end or start.
struct Followers {
  std::uint32_t count = 0;
  std::uint32_t first = 0;
};

struct Operation {
  WorkNode node;
  std::uint32_t dependencies = 0;
  Followers of_end;
  Followers of_start;
};

class GoalBinaryReader {
 public:
  GoalBinaryReader(std::istream& in, const std::string& name, const ReadOptions& options, Warnings& warnings)
      : in_(in), name_(name), warnings_(warnings), graph_(options, [name](std::uint32_t rank, std::uint64_t operation) {
          return fmt::format("{}: rank {}, operation {}", name, rank, operation);
        }) {}

  Workload run() {
    in_.seekg(0, std::ios::end);
    file_bytes_ = static_cast<std::uint64_t>(in_.tellg());
    take_head();
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) take_block(rank);
    return graph_.finish(ranks_, name_, warnings_);
  }

 private:
  /// `bytes` of the file from `offset` behind the magic number.
  Bytes read(std::uint64_t offset, std::uint64_t bytes, const std::string& what) {
    const std::uint64_t available = file_bytes_ - std::min<std::uint64_t>(file_bytes_, kMagic.size());
    if (offset > available || bytes > available - offset) {
      throw TraceError(name_, fmt::format("is cut: {} needs {} B from offset {}, the file has {} B", what, bytes,
                                          offset + kMagic.size(), file_bytes_));
    }
    std::string text(bytes, '\0');
    in_.seekg(static_cast<std::streamoff>(offset + kMagic.size()));
    in_.read(text.data(), static_cast<std::streamsize>(bytes));
    if (!in_) throw TraceError(name_, fmt::format("cannot be read: {}", what));
    return Bytes(std::move(text));
  }
  void take_head() {
    Bytes head = read(0, kHeadBytes, "the header");
    ranks_ = head.take<std::uint32_t>();
    if (ranks_ == 0 || ranks_ > kMostRank + 1)
      throw TraceError(name_, fmt::format("{} ranks; allowed: 1 … {}", ranks_, kMostRank + 1));
    Bytes table = read(kHeadBytes, kTableBytes * ranks_, "the table of ranks");
    std::uint64_t end = kHeadBytes + kTableBytes * ranks_;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      const auto from = table.take<std::uint64_t>();
      const auto until = table.take<std::uint64_t>();
      if (from != end || until < from)
        throw TraceError(name_,
                         fmt::format("rank {}: its block is from {} to {}; expected from {}", rank, from, until, end));
      blocks_.push_back({from, until});
      end = until;
    }
    if (end + kMagic.size() == file_bytes_) return;
    throw TraceError(name_,
                     fmt::format("the last block ends at {}, but the file has {} B", end + kMagic.size(), file_bytes_));
  }

  [[noreturn]] void damaged(std::uint32_t rank, std::size_t operation, const std::string& what) const {
    throw TraceError(fmt::format("{}: rank {}, operation {}", name_, rank, operation), what);
  }
  void take_block(std::uint32_t rank) {
    const auto [from, until] = blocks_[rank];
    Bytes block = read(from, until - from, fmt::format("the block of rank {}", rank));
    const std::uint64_t bytes = until - from;
    if (bytes < 8)
      throw TraceError(name_, fmt::format("rank {}: its block has {} B; expected at least 8", rank, bytes));
    const auto operations = block.take<std::uint32_t>();
    const auto roots = block.take<std::uint32_t>();
    const std::uint64_t fixed = 8 + 4ULL * roots + kOperationBytes * operations;
    if (roots > operations || fixed > bytes || (bytes - fixed) % 4 != 0) {
      throw TraceError(name_, fmt::format("rank {}: {} operations, {} of them first, do not fit its block of {} B",
                                          rank, operations, roots, bytes));
    }
    std::vector<std::uint32_t> root_positions(roots);
    for (std::uint32_t& root : root_positions) root = block.take<std::uint32_t>();
    std::vector<Operation> taken(operations);
    for (std::size_t i = 0; i < operations; ++i) taken[i] = take_operation(block, rank, i);
    std::vector<std::uint32_t> list((bytes - fixed) / 4);
    for (std::uint32_t& entry : list) entry = block.take<std::uint32_t>();
    check_roots(rank, taken, root_positions);
    add(rank, taken, list);
  }
  Operation take_operation(Bytes& block, std::uint32_t rank, std::size_t position) const {
    Operation operation;
    operation.dependencies = block.take<std::uint32_t>();
    const auto type = block.take<std::uint8_t>();
    const auto peer = block.take<std::uint32_t>();
    const auto size = block.take<std::uint64_t>();
    const auto tag = block.take<std::uint32_t>();
    const auto cpu = block.take<std::uint8_t>();
    block.take<std::uint8_t>();  // NIC: traffic.nics_per_rank and the lanes decide
    operation.of_end = {block.take<std::uint32_t>(), 0};
    operation.of_end.first = block.take<std::uint32_t>();
    operation.of_start = {block.take<std::uint32_t>(), 0};
    operation.of_start.first = block.take<std::uint32_t>();
    WorkNode& node = operation.node;
    node.origin = position;
    constexpr std::array<WorkKind, 3> kinds{WorkKind::send, WorkKind::receive, WorkKind::compute};
    if (type == 0 || type > kinds.size()) damaged(rank, position, fmt::format("type is {}; allowed: 1 … 3", type));
    node.kind = kinds[type - 1U];
    const std::uint64_t most = node.kind == WorkKind::compute ? kMostTraceTimeUs * 1000 : kMostMessageBytes;
    if (size > most) damaged(rank, position, fmt::format("size is {}; allowed: 0 … {}", size, most));
    if (node.kind == WorkKind::compute) {
      if (cpu > GoalGraph::kMostCpu)
        damaged(rank, position, fmt::format("CPU is {}; allowed: 0 … {}", cpu, GoalGraph::kMostCpu));
      node.duration = size * kPsPerNs;
      node.stream = static_cast<std::uint8_t>(kComputeStream + cpu);
      return operation;
    }
    if (peer >= ranks_ || peer == rank)
      damaged(rank, position, fmt::format("peer is {}; allowed: another of the ranks 0 … {}", peer, ranks_ - 1));
    node.peer = peer;
    node.tag = tag;
    node.bytes = size;
    return operation;
  }
  void check_roots(std::uint32_t rank, const std::vector<Operation>& operations,
                   std::vector<std::uint32_t> roots) const {
    std::sort(roots.begin(), roots.end());
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (operations[i].dependencies == 0) expected.push_back(i);
    }
    if (roots == expected) return;
    throw TraceError(name_,
                     fmt::format("rank {}: {} operations are listed as first, but those without dependencies are "
                                 "{} others",
                                 rank, roots.size(), expected.size()));
  }
  void add(std::uint32_t rank, const std::vector<Operation>& operations, const std::vector<std::uint32_t>& list) {
    graph_.begin_rank(rank);
    for (const Operation& operation : operations) graph_.add(operation.node);
    std::vector<std::uint32_t> waits(operations.size());
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      add_waits(rank, i, operations[i].of_end, false, list, waits);
      add_waits(rank, i, operations[i].of_start, true, list, waits);
    }
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (waits[i] == operations[i].dependencies) continue;
      damaged(rank, i,
              fmt::format("has {} dependencies, but {} operations name it", operations[i].dependencies, waits[i]));
    }
    if (!graph_.counts_only()) graph_.end_rank();
  }
  void add_waits(std::uint32_t rank, std::uint32_t on, const Followers& followers, bool on_start,
                 const std::vector<std::uint32_t>& list, std::vector<std::uint32_t>& waits) {
    if (followers.count == 0) return;
    if (followers.first > list.size() || followers.count > list.size() - followers.first) {
      damaged(rank, on,
              fmt::format("entries {} to {} of the list of followers, which has {}", followers.first,
                          std::uint64_t{followers.first} + followers.count, list.size()));
    }
    for (std::uint32_t i = 0; i < followers.count; ++i) {
      const std::uint32_t operation = list[followers.first + i];
      if (operation >= waits.size() || operation == on)
        damaged(rank, on,
                fmt::format("operation {} waits for it; allowed: another of 0 … {}", operation, waits.size() - 1));
      ++waits[operation];
      if (!graph_.counts_only()) graph_.wait(operation, on, on_start);
    }
  }

  struct Block {
    std::uint64_t from = 0;
    std::uint64_t until = 0;
  };

  std::istream& in_;
  std::string name_;
  Warnings& warnings_;
  GoalGraph graph_;
  std::uint64_t file_bytes_ = 0;
  std::uint32_t ranks_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace

bool is_goal_binary_head(std::string_view head) {
  return head.starts_with(kMagic);
}

Workload read_goal_binary(std::istream& in, const std::string& name, const ReadOptions& options, Warnings& warnings) {
  return GoalBinaryReader(in, name, options, warnings).run();
}

}  // namespace mrc
