// Checks each packet that arrived (ICRC) and sends it the right way: data and probes to the tracker, SACKs, NACKs and
// transport ACKs to the SACK processor.
#pragma once

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/nic_context.h"

namespace mrc::timing {

class Parser : public Box {
 public:
  Parser(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic);

  Fifo<Packet*>& in() { return in_; }
  Fifo<Packet*>& to_psn_tracker() { return to_psn_tracker_; }
  Fifo<Packet*>& to_sack_processor() { return to_sack_processor_; }
  void step(TimePs now) override;

  IssueSlot slot;

 private:
  NicContext& nic_;
  Fifo<Packet*> in_;
  Fifo<Packet*> to_psn_tracker_;
  Fifo<Packet*> to_sack_processor_;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
