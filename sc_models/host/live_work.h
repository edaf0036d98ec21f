// Work that is not known before a run: software outside of the model gives it to ranks while the run goes on, and hears
// when it is done.
#pragma once

#include <cstdint>
#include <vector>

#include "host/workload.h"

namespace mrc {

class WorkPlayer;
struct WorkPlacement;

/// The software. It is called in the time of a rank's node, which is not that of other nodes: what it does in a call is
/// that rank's alone.
class LiveSoftware {
 public:
  virtual ~LiveSoftware() = default;
  /// The time of LiveWork::call_at() has come.
  virtual void called(TimePs now, std::uint32_t token) = 0;
  /// A send is acknowledged, or a receive that has begun is in memory and software may use it.
  virtual void done(TimePs now, std::uint32_t work) = 0;
};

struct LiveMessage {
  std::uint32_t from = 0;  ///< ranks
  std::uint32_t to = 0;
  std::uint64_t bytes = 1;
  std::uint32_t tag = 0;
};

class LiveWork {
 public:
  /// `workload` has its ranks and no work; both outlive this.
  LiveWork(Workload& workload, LiveSoftware& software) : workload_(workload), software_(software) {}

  // By the simulation that is being built.
  void attach(WorkPlacement& placement, std::vector<WorkPlayer*> player_of_rank);

  // By the software, before the run or in a call for `rank`.
  void call_at(std::uint32_t rank, TimePs at, std::uint32_t token);
  /// Either end may be the first to know of a message. Returns its send; the receive is the next number.
  std::uint32_t add(const LiveMessage& message);
  void begin(TimePs now, std::uint32_t work);
  /// The rank does nothing more; the run ends when no rank does.
  void close(TimePs now, std::uint32_t rank);

 private:
  void append(WorkNode node);

  Workload& workload_;
  LiveSoftware& software_;
  WorkPlacement* placement_ = nullptr;
  std::vector<WorkPlayer*> players_;  ///< by rank
};

}  // namespace mrc
