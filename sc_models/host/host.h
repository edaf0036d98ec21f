// The host of a detailed NIC: a work player behind the NIC's doorbell and completion queue.
#pragma once

#include "engine/box.h"
#include "engine/fifo.h"
#include "host/work_player.h"
#include "nic/nic.h"

namespace mrc {

class Host : public Box, public WorkDevice {
 public:
  /// Until the doorbell reaches the NIC; from the CQE in memory until software acts on the message.
  static void declare_post_latency(LatencyAccount& account);
  static void declare_delivery_latency(LatencyAccount& account);

  Host(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, Nic& device, HostMemory& memory,
       const WorkPlacement& placement);

  WorkPlayer& player() { return player_; }
  const WorkPlayer& player() const { return player_; }
  /// Starts everything that waits for nothing.
  void start();
  void step(TimePs now) override;

  bool can_post(TimePs now) override;
  void post(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs first_doorbell) override;
  void message_begun(TimePs now) override { nic_.tx_work.begin(now); }
  void message_completed(TimePs now) override { nic_.tx_work.end(now); }
  void work_done(TimePs now) override;
  void work_arrived(TimePs now) override { wake_at(now); }

 protected:
  /// Software has seen a completion.
  void note_completion(TimePs now, const Cqe& cqe);

  NicContext& nic_;
  Nic& device_;
  Fifo<Cqe> completions_;

 private:
  /// Why a work request is posted now: as they were at the end of the last step, room was short or work was.
  StartId trace_post(TimePs now) const;

  StartId because_ = 0;  ///< of the latest completion that software has seen
  std::uint32_t place_ = 0;
  Cause outstanding_;
  Cause doorbells_;
  Cause cq_full_;
  WorkPlayer player_;
};

}  // namespace mrc
