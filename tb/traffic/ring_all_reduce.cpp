#include "traffic/ring_all_reduce.h"

#include <algorithm>

#include <fmt/format.h>

#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"

namespace mrc {
namespace {

struct Chunk {
  std::uint64_t bytes = 0;
  std::uint32_t tag = 0;
};

/// One chunk's ring. `start[r]` is waited for before rank r's first send where it is a node; returns each rank's last
/// receive.
class Ring {
 public:
  Ring(WorkloadBuilder& builder, const Chunk& chunk, const std::vector<std::uint32_t>& start)
      : builder_(builder),
        chunk_(chunk),
        start_(start),
        ranks_(static_cast<std::uint32_t>(start.size())),
        received_(start),
        ready_(start) {}

  const std::vector<std::uint32_t>& add() {
    for (std::uint32_t step = 0; step < 2 * (ranks_ - 1); ++step) add_step(step < ranks_ - 1);
    return received_;
  }

 private:
  void add_step(bool reduces) {
    std::vector<std::uint32_t> sends(ranks_);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      sends[rank] = add_message(WorkKind::send, rank, (rank + 1) % ranks_);
      wait(sends[rank], ready_[rank]);
      const std::uint32_t receive = add_message(WorkKind::receive, rank, (rank + ranks_ - 1) % ranks_);
      // A rank asks for the next share when it has the one before.
      wait(receive, received_[rank]);
      received_[rank] = ready_[rank] = receive;
    }
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) builder_.match(sends[rank], received_[(rank + 1) % ranks_]);
    if (!reduces) return;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      ready_[rank] = builder_.add(node_of(rank));
      wait(ready_[rank], received_[rank]);
    }
  }
  WorkNode node_of(std::uint32_t rank) {
    WorkNode work;
    work.rank = rank;
    work.origin = start_[rank] == kNoWork ? builder_.size() : builder_.at(start_[rank]).origin;
    return work;
  }
  std::uint32_t add_message(WorkKind kind, std::uint32_t rank, std::uint32_t peer) {
    WorkNode work = node_of(rank);
    work.kind = kind;
    work.peer = peer;
    work.bytes = chunk_.bytes;
    work.tag = chunk_.tag;
    return builder_.add(work);
  }
  void wait(std::uint32_t node, std::uint32_t dependency) {
    if (dependency != kNoWork) builder_.depend_on_start(node, dependency);
  }

  WorkloadBuilder& builder_;
  Chunk chunk_;
  const std::vector<std::uint32_t>& start_;
  std::uint32_t ranks_;
  std::vector<std::uint32_t> received_;  ///< each rank's last receive
  std::vector<std::uint32_t> ready_;     ///< what each rank's next send waits for
};

std::vector<Chunk> cut(std::uint64_t share, std::uint64_t chunk_bytes) {
  std::vector<Chunk> chunks;
  const std::uint64_t most = chunk_bytes == 0 ? share : chunk_bytes;
  for (std::uint64_t done = 0; done < share; done += most) {
    chunks.push_back({std::min(most, share - done), static_cast<std::uint32_t>(chunks.size())});
  }
  return chunks;
}

/// A share of the data, rounded up: every rank's is padded to the same length.
std::uint64_t share_of(std::uint64_t bytes, std::uint32_t ranks) {
  return (bytes + ranks - 1) / ranks;
}

}  // namespace

std::uint64_t ring_all_reduce_nodes(std::uint32_t ranks, std::uint64_t chunks) {
  const std::uint64_t messages = 2ULL * (ranks - 1);
  return chunks * ranks * (2 * messages + messages / 2);
}

Workload make_ring_all_reduce(std::uint32_t ranks, std::uint64_t bytes, std::uint64_t chunk_bytes) {
  constexpr const char* place = "ring_all_reduce";
  if (ranks < 2 || ranks > kMostRank) {
    throw TraceError(place, fmt::format("{} ranks; allowed: 2 … {}", ranks, kMostRank));
  }
  if (bytes < 1 || bytes > kMostMessageBytes) {
    throw TraceError(place, fmt::format("{} bytes; allowed: 1 … {}", bytes, kMostMessageBytes));
  }
  const std::uint64_t share = share_of(bytes, ranks);
  const std::uint64_t chunks = chunk_bytes == 0 ? 1 : (share - 1) / chunk_bytes + 1;
  check_node_count(place, ring_all_reduce_nodes(ranks, chunks));
  WorkloadBuilder builder;
  const std::vector<std::uint32_t> nothing(ranks, kNoWork);
  for (const Chunk& chunk : cut(share, chunk_bytes)) Ring(builder, chunk, nothing).add();
  return builder.finish(ranks);
}

void add_ring_all_reduce_in_place(WorkloadBuilder& builder, const std::vector<std::uint32_t>& at, std::uint64_t bytes) {
  const auto ranks = static_cast<std::uint32_t>(at.size());
  Ring ring(builder, {share_of(bytes, ranks), 0}, at);
  const std::vector<std::uint32_t>& last = ring.add();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) builder.end_later(at[rank], last[rank]);
}

}  // namespace mrc
