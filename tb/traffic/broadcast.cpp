#include "traffic/broadcast.h"

namespace mrc {

void add_broadcast_in_place(WorkloadBuilder& builder, const std::vector<std::uint32_t>& at, std::uint64_t bytes) {
  const auto ranks = static_cast<std::uint32_t>(at.size());
  std::uint32_t received = kNoWork;
  for (std::uint32_t rank = 0; rank + 1 < ranks; ++rank) {
    WorkNode work;
    work.bytes = bytes;
    work.kind = WorkKind::send;
    work.rank = rank;
    work.origin = builder.at(at[rank]).origin;
    work.peer = rank + 1;
    const std::uint32_t send = builder.add(work);
    work.kind = WorkKind::receive;
    work.rank = rank + 1;
    work.origin = builder.at(at[rank + 1]).origin;
    work.peer = rank;
    const std::uint32_t receive = builder.add(work);
    builder.match(send, receive);
    builder.depend_on_start(send, at[rank]);
    if (received != kNoWork) builder.depend(send, received);
    builder.depend_on_start(receive, at[rank + 1]);
    builder.end_later(at[rank + 1], receive);
    received = receive;
  }
}

}  // namespace mrc
