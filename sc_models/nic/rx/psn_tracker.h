// Asks ring 1 what becomes of each data packet (place, duplicate, NACK), after room in the staging buffer is promised
// and before its bit is set, and passes on the write and the acknowledgement that follow.
#pragma once

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/control/ack_coalescer.h"
#include "nic/nic_context.h"
#include "nic/rx/dma_write.h"
#include "nic/rx/parser.h"

namespace mrc::timing {

class ProbeEngine;
class SackProcessor;

class PsnTracker : public Box {
 public:
  PsnTracker(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, Parser& parser,
             DmaWrite& dma_write, AckCoalescer& ack_coalescer);

  void connect(ProbeEngine& probe_engine, SackProcessor& sack_processor) {
    probe_engine_ = &probe_engine;
    sack_processor_ = &sack_processor;
  }
  void step(TimePs now) override;

  IssueSlot slot;

 private:
  void track(TimePs now, Packet* packet);
  void answer(TimePs now, const Packet& packet, const Qp& qp, const RxDecision& decision);
  void discard(TimePs now, Packet* packet);

  NicContext& nic_;
  Fifo<Packet*>& in_;
  DmaWrite& dma_write_;
  AckCoalescer& ack_coalescer_;
  ProbeEngine* probe_engine_ = nullptr;
  SackProcessor* sack_processor_ = nullptr;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
