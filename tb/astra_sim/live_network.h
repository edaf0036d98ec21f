// What ASTRA-sim's systems do on the modelled NICs: messages that both ends name, and calls at a time. Knows neither
// side's headers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "host/live_work.h"
#include "host/workload.h"

namespace mrc {

/// ASTRA-sim's handler with its argument.
struct Handler {
  void (*function)(void*) = nullptr;
  void* argument = nullptr;
};

class LiveNetwork : public LiveSoftware {
 public:
  /// A system a rank of `workload`, which gets the messages; `nics` of the ranks.
  LiveNetwork(Workload& workload, std::vector<NodeId> nics, double gigabytes_per_second);

  LiveWork& work() { return work_; }

  /// Of the event that is being handled.
  std::uint64_t now_ns() const { return now_ / kPsPerNs; }
  double gigabytes_per_second() const { return gigabytes_per_second_; }
  void schedule(std::uint32_t rank, double delta_ns, Handler handler);
  /// The handler is called when the message is acknowledged.
  void send(const LiveMessage& message, Handler handler);
  /// The handler is called when the message is in memory.
  void receive(const LiveMessage& message, Handler handler);
  /// The rank's trace is done.
  void finish(std::uint32_t rank);

  /// By rank; kNever for those that have not finished.
  const std::vector<TimePs>& finished_at() const { return finished_at_; }

  void called(TimePs now, std::uint32_t token) override;
  void done(TimePs now, std::uint32_t work) override;

 private:
  static constexpr std::uint32_t kNobody = 0xFFFF'FFFF;

  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>;  ///< from, to, tag, bytes
  /// Messages of a key that one end has named so far: sends, in their order.
  struct Waiting {
    std::deque<std::uint32_t> sent;
    std::deque<std::uint32_t> asked_for;
  };
  struct Scheduled {
    std::uint32_t rank = 0;
    Handler handler;
  };

  /// The message's send: one that the other end has named, or a new one.
  std::uint32_t match(const LiveMessage& message, bool is_send);
  void act(TimePs now, std::uint32_t rank, const Handler& handler);
  void check(std::uint32_t rank) const;

  Workload& workload_;
  LiveWork work_;
  std::vector<NodeId> nics_;
  double gigabytes_per_second_;
  TimePs now_ = 0;
  std::uint32_t acting_ = kNobody;
  std::uint32_t next_token_ = 0;
  std::unordered_map<std::uint32_t, Scheduled> scheduled_;  ///< by token
  std::vector<Handler> handlers_;                           ///< by work
  std::map<Key, Waiting> waiting_;
  std::vector<TimePs> finished_at_;
};

}  // namespace mrc
