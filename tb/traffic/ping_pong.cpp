#include "traffic/ping_pong.h"

#include <fmt/format.h>

#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"
#include "traffic/workload_builder.h"

namespace mrc {

Workload make_ping_pong(std::uint32_t count, std::uint64_t bytes) {
  constexpr const char* place = "ping_pong";
  constexpr std::uint64_t nodes_each = 4;
  if (count < 1) throw TraceError(place, "0 messages; allowed: 1 or more");
  if (bytes < 1 || bytes > kMostMessageBytes) {
    throw TraceError(place, fmt::format("{} bytes; allowed: 1 … {}", bytes, kMostMessageBytes));
  }
  check_node_count(place, nodes_each * count);
  WorkloadBuilder builder;
  std::uint32_t last_receive = kNoWork;
  for (std::uint32_t turn = 0; turn < 2 * count; ++turn) {
    WorkNode work;
    work.bytes = bytes;
    work.tag = turn;
    work.origin = turn;
    work.kind = WorkKind::send;
    work.rank = turn % 2;
    work.peer = 1 - work.rank;
    const std::uint32_t send = builder.add(work);
    if (last_receive != kNoWork) builder.depend(send, last_receive);
    work.kind = WorkKind::receive;
    std::swap(work.rank, work.peer);
    last_receive = builder.add(work);
    builder.match(send, last_receive);
  }
  return builder.finish(2);
}

}  // namespace mrc
