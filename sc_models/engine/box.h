// A box of the NIC: a SystemC module in name and hierarchy whose behaviour is one function, step(), that does all it
// can at a time and then says what it waits for: a time (wake_at), a buffer's condition (Fifo::wait_…), or both.
#pragma once

#include <systemc>

#include "engine/wheel_module.h"
#include "mrc/types.h"

namespace mrc {

class Box : public sc_core::sc_module {
 public:
  /// A box belongs to one wheel for life; the wheel's owner outlives it.
  Box(const sc_core::sc_module_name& name, WheelModule& owner);

  /// All the work that is possible at `now`. Spurious calls are allowed and change nothing.
  virtual void step(TimePs now) = 0;

  /// Asks for a step at `time` or earlier. The earliest request since the last step counts.
  void wake_at(TimePs time) { owner_.arm(position_, time); }

  WheelModule& owner() { return owner_; }

 private:
  WheelModule& owner_;
  std::uint32_t position_;
};

}  // namespace mrc
