// The operations of a GOAL schedule, rank by rank, as its readers find them in text or binary.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "traffic/message_matcher.h"
#include "traffic/read_options.h"
#include "traffic/workload_builder.h"

namespace mrc {

class GoalGraph {
 public:
  static constexpr std::uint64_t kMostCpu = 254;

  /// `place` names where an operation with that origin was found.
  GoalGraph(const ReadOptions& options, std::function<std::string(std::uint32_t rank, std::uint64_t origin)> place)
      : place_(std::move(place)), builder_(options.totals) {}

  bool counts_only() const { return builder_.counts_only(); }
  void begin_rank(std::uint32_t rank) { rank_ = rank; }
  /// `node` of the current rank; a message of 0 bytes becomes one of 1 byte. Returns its number within the rank.
  /// Throws TraceError for more operations than a workload holds.
  std::uint32_t add(WorkNode node);
  std::uint64_t origin(std::uint32_t operation) const { return operations_[operation].origin; }
  /// `operation` starts when `on` has ended, or with `on_start` when it has started. Both are of the current rank.
  void wait(std::uint32_t operation, std::uint32_t on, bool on_start);
  /// Throws TraceError where operations wait for one another in a loop.
  void end_rank();
  /// Matches sends and receives; throws TraceError where one is left over. `warnings` hears of messages of 0 bytes.
  Workload finish(std::uint32_t ranks, const std::string& name, Warnings& warnings);

 private:
  /// An operation of the current rank.
  struct Operation {
    std::uint32_t node = kNoWork;
    std::uint64_t origin = 0;
    bool has_followers = false;  ///< something may start when this one starts
  };
  struct Wait {
    std::uint32_t operation = 0;
    std::uint32_t on = 0;
    bool on_start = false;
  };

  void refuse_loops() const;

  std::function<std::string(std::uint32_t, std::uint64_t)> place_;
  WorkloadBuilder builder_;
  MessageMatcher matcher_;
  std::uint32_t rank_ = 0;
  std::uint64_t empty_messages_ = 0;
  std::vector<Operation> operations_;
  std::vector<Wait> waits_;
};

}  // namespace mrc
