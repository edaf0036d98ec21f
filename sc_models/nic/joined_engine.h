// Engines of neighbors that are joined in RTL: each drives its part of one model.
#pragma once

#include <memory>

#include "nic/control/ack_coalescer_engine.h"
#include "nic/rx/psn_tracker_engine.h"
#include "nic/tx/retransmit_buffer_engine.h"
#include "nic/tx/spray_scheduler_engine.h"
#include "nic/tx/srv6_encap_engine.h"

namespace mrc {

struct NicRxEngines {
  std::unique_ptr<PsnTrackerEngine> psn_tracker;
  std::unique_ptr<AckCoalescerEngine> ack_coalescer;
};
struct NicTxEngines {
  std::unique_ptr<SpraySchedulerEngine> spray_scheduler;
  std::unique_ptr<RetransmitBufferEngine> retransmit_buffer;
  std::unique_ptr<Srv6EncapEngine> srv6_encap;
};

}  // namespace mrc
