// Matching of sends and receives: a receive takes the oldest unmatched send of its pair of ranks and tag.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "traffic/workload_builder.h"

namespace mrc {

class MessageMatcher {
 public:
  void add_send(const WorkNode& node, std::uint32_t position) {
    sends_[{node.rank, node.peer, node.tag}].push_back(position);
  }
  void add_receive(std::uint32_t position) { receives_.push_back(position); }

  /// Matches all; throws TraceError for a receive without a send, a send without a receive, and two lengths.
  /// `place` names a node; `hint` follows the first two errors.
  void match(WorkloadBuilder& builder, const std::function<std::string(const WorkNode&)>& place,
             const std::string& hint = "");

 private:
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::deque<std::uint32_t>> sends_;
  std::vector<std::uint32_t> receives_;
};

}  // namespace mrc
