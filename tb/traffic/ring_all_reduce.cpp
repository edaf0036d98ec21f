#include "traffic/ring_all_reduce.h"

#include <algorithm>

namespace mrc {
namespace {

struct Chunk {
  std::uint64_t bytes;
  std::uint32_t tag;
};

/// One chunk's ring. `start[r]` is waited for before rank r's first send where it is a node; returns each rank's last
/// receive.
std::vector<std::uint32_t> add_ring(WorkloadBuilder& builder, std::uint32_t ranks, const Chunk& chunk,
                                    const std::vector<std::uint32_t>& start) {
  std::vector<std::uint32_t> received = start;
  for (std::uint32_t step = 0; step < 2 * (ranks - 1); ++step) {
    std::vector<std::uint32_t> sends(ranks);
    std::vector<std::uint32_t> receives(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const auto node = [&](WorkKind kind, std::uint32_t peer) {
        WorkNode work;
        work.kind = kind;
        work.rank = rank;
        work.peer = peer;
        work.bytes = chunk.bytes;
        work.tag = chunk.tag;
        work.origin = builder.size();
        return builder.add(work);
      };
      sends[rank] = node(WorkKind::send, (rank + 1) % ranks);
      receives[rank] = node(WorkKind::receive, (rank + ranks - 1) % ranks);
      if (received[rank] != kNoWork) builder.depend_on_start(sends[rank], received[rank]);
      // A rank asks for the next share when it has the one before.
      if (received[rank] != kNoWork) builder.depend_on_start(receives[rank], received[rank]);
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) builder.match(sends[rank], receives[(rank + 1) % ranks]);
    received = receives;
  }
  return received;
}

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

Workload make_ring_all_reduce(std::uint32_t ranks, std::uint64_t bytes, std::uint64_t chunk_bytes) {
  WorkloadBuilder builder;
  const std::vector<std::uint32_t> nothing(ranks, kNoWork);
  for (const Chunk& chunk : cut(share_of(bytes, ranks), chunk_bytes)) add_ring(builder, ranks, chunk, nothing);
  return builder.finish(ranks);
}

void add_ring_all_reduce_in_place(WorkloadBuilder& builder, const std::vector<std::uint32_t>& at, std::uint64_t bytes) {
  const auto ranks = static_cast<std::uint32_t>(at.size());
  for (const Chunk& chunk : cut(share_of(bytes, ranks), 0)) {
    const std::vector<std::uint32_t> last = add_ring(builder, ranks, chunk, at);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) builder.end_later(at[rank], last[rank]);
  }
}

}  // namespace mrc
