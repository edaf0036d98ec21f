#include "traffic/message_matcher.h"

#include <fmt/format.h>

#include "traffic/trace_error.h"

namespace mrc {

void MessageMatcher::match(WorkloadBuilder& builder, const std::function<std::string(const WorkNode&)>& place,
                           const std::string& hint) {
  for (const std::uint32_t receive : receives_) {
    const WorkNode& work = builder.at(receive);
    auto& queue = sends_[{work.peer, work.rank, work.tag}];
    if (queue.empty()) {
      throw TraceError(place(work), fmt::format("receives from rank {} with tag {}, but no send is left for it{}",
                                                work.peer, work.tag, hint));
    }
    const WorkNode& send = builder.at(queue.front());
    if (send.bytes != work.bytes) {
      throw TraceError(place(work), fmt::format("receives {} B from rank {}, whose node {} sends {} B", work.bytes,
                                                work.peer, send.origin, send.bytes));
    }
    builder.match(queue.front(), receive);
    queue.pop_front();
  }
  for (const auto& [key, queue] : sends_) {
    if (queue.empty()) continue;
    const WorkNode& send = builder.at(queue.front());
    throw TraceError(place(send), fmt::format("sends to rank {} with tag {}, but it is never received{}", send.peer,
                                              send.tag, hint));
  }
}

}  // namespace mrc
