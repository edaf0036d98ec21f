#include "traffic/longest_path.h"

#include <algorithm>

namespace mrc {
namespace {

struct Way {
  TimePs time = 0;
  std::uint64_t communications = 0;
  friend auto operator<=>(const Way&, const Way&) = default;
};

class Walk {
 public:
  explicit Walk(const Workload& workload)
      : workload_(workload), waits_(workload.nodes.size()), at_(workload.nodes.size()) {
    members_.resize(workload.collectives.size());
    missing_.assign(workload.collectives.size(), 0);
    meeting_.resize(workload.collectives.size());
    for (std::uint32_t i = 0; i < workload.nodes.size(); ++i) {
      const WorkNode& node = workload.nodes[i];
      waits_[i] = node.dependencies + (node.kind == WorkKind::receive ? 1 : 0);
      at_[i].time = node.earliest;
      if (node.kind == WorkKind::collective) {
        members_[node.match].push_back(i);
        ++missing_[node.match];
      }
      if (waits_[i] == 0) ready_.push_back(i);
    }
  }

  LongestPath run() {
    for (std::size_t next = 0; next < ready_.size(); ++next) take(ready_[next]);
    LongestPath path;
    for (const Way& way : at_) path.starts.push_back(way.time);
    path.computing_ps = longest_.time;
    path.communications = longest_.communications;
    return path;
  }

 private:
  void take(std::uint32_t index) {
    const WorkNode& node = workload_.nodes[index];
    if (node.kind == WorkKind::collective) return meet(index);
    Way end = at_[index];
    if (node.kind == WorkKind::compute) end.time += node.duration;
    if (node.kind == WorkKind::send) ++end.communications;
    finish(index, end);
    if (node.kind == WorkKind::send && node.match != kNoWork) release(node.match, end);
  }
  void meet(std::uint32_t index) {
    const std::uint32_t number = workload_.nodes[index].match;
    meeting_[number] = std::max(meeting_[number], at_[index]);
    if (--missing_[number] > 0) return;
    Way end = meeting_[number];
    ++end.communications;
    for (const std::uint32_t member : members_[number]) {
      at_[member] = meeting_[number];
      finish(member, end);
    }
  }
  void finish(std::uint32_t index, const Way& end) {
    longest_ = std::max(longest_, end);
    const WorkNode& node = workload_.nodes[index];
    for (std::uint32_t d = 0; d < node.dependents; ++d) release(workload_.dependents[node.first_dependent + d], end);
  }
  void release(std::uint32_t index, const Way& way) {
    at_[index] = std::max(at_[index], way);
    if (--waits_[index] == 0) ready_.push_back(index);
  }

  const Workload& workload_;
  std::vector<std::uint32_t> waits_;
  std::vector<Way> at_;
  std::vector<std::vector<std::uint32_t>> members_;
  std::vector<std::size_t> missing_;
  std::vector<Way> meeting_;
  std::vector<std::uint32_t> ready_;
  Way longest_;
};

}  // namespace

LongestPath longest_path(const Workload& workload) {
  return Walk(workload).run();
}

}  // namespace mrc
