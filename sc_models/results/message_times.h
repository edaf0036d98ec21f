// Completion times of all messages of a run: of every node, of every flow (a pair of nodes), and of all together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mrc/types.h"
#include "results/time_spread.h"

namespace mrc {

/// A message that was sent to its end.
struct MessageRecord {
  NodeId from = 0;
  NodeId to = 0;
  std::uint32_t tag = 0;
  std::uint64_t bytes = 0;
  TimePs posted = 0;     ///< its first work request
  TimePs completed = 0;  ///< software of the sender has seen its completion; at least `posted`
};

/// From the first work request to the completion.
TimeSpread spread_of(const std::vector<MessageRecord>& messages);

/// Rows `from,to,tag,bytes,posted_us,completed_us`, a line per message in the order of `messages`.
std::string messages_csv(const std::vector<MessageRecord>& messages);
/// Rows `from,to,messages,bytes,first_posted_us,last_completed_us,mean_us,p50_us,p99_us,max_us`, a line per flow in the
/// order of the nodes.
std::string flows_csv(const std::vector<MessageRecord>& messages);

}  // namespace mrc
