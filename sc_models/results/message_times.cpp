#include "results/message_times.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/compile.h>
#include <fmt/format.h>

namespace mrc {
namespace {

struct Flow {
  std::uint64_t bytes = 0;
  TimePs first_posted = kNever;
  TimePs last_completed = 0;
  std::vector<TimePs> times;
};

}  // namespace

TimeSpread spread_of(const std::vector<MessageRecord>& messages) {
  std::vector<TimePs> times;
  times.reserve(messages.size());
  for (const MessageRecord& message : messages) times.push_back(message.completed - message.posted);
  std::sort(times.begin(), times.end());
  return spread_of(times);
}

std::string messages_csv(const std::vector<MessageRecord>& messages) {
  std::string text = "from,to,tag,bytes,posted_us,completed_us\n";
  for (const MessageRecord& m : messages) {
    // Microseconds with six digits are picoseconds: as whole numbers, since there may be millions of rows.
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("{},{},{},{},{}.{:06},{}.{:06}\n"), m.from, m.to, m.tag,
                   m.bytes, m.posted / kPsPerUs, m.posted % kPsPerUs, m.completed / kPsPerUs, m.completed % kPsPerUs);
  }
  return text;
}

std::string flows_csv(const std::vector<MessageRecord>& messages) {
  std::map<std::pair<NodeId, NodeId>, Flow> flows;
  for (const MessageRecord& m : messages) {
    Flow& flow = flows[{m.from, m.to}];
    flow.bytes += m.bytes;
    flow.first_posted = std::min(flow.first_posted, m.posted);
    flow.last_completed = std::max(flow.last_completed, m.completed);
    flow.times.push_back(m.completed - m.posted);
  }
  std::string text = "from,to,messages,bytes,first_posted_us,last_completed_us,mean_us,p50_us,p99_us,max_us\n";
  for (auto& [ends, flow] : flows) {
    std::sort(flow.times.begin(), flow.times.end());
    const TimeSpread spread = spread_of(flow.times);
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f}\n", ends.first,
                   ends.second, spread.count, flow.bytes, us_from_ps(flow.first_posted),
                   us_from_ps(flow.last_completed), spread.mean, spread.p50, spread.p99, spread.max);
  }
  return text;
}

}  // namespace mrc
