// A box of the NIC: a SystemC module in name and hierarchy whose behaviour is one function, step(), that does all it
// can at a time and then says what it waits for: a time (wake_at), a buffer's condition (Fifo::wait_…), or both. A box
// declares what it has (slots, buffers, servers, tokens); whoever lists the boxes of a NIC asks them.
#pragma once

#include <span>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "engine/declaration.h"
#include "engine/wheel_module.h"
#include "mrc/types.h"

namespace mrc {

class IssueSlot;
class LatencyAccount;

class Box : public sc_core::sc_module {
 public:
  /// A box belongs to one wheel for life; the wheel's owner outlives it.
  Box(const sc_core::sc_module_name& name, WheelModule& owner, BoxPlace place = {});

  /// A box that a small write passes on its way declares its term instead.
  static void declare_latency(LatencyAccount&) {}

  /// All the work that is possible at `now`. Spurious calls are allowed and change nothing.
  virtual void step(TimePs now) = 0;

  /// Asks for a step at `time` or earlier. The earliest request since the last step counts.
  void wake_at(TimePs time) { owner_.arm(position_, time); }

  WheelModule& owner() { return owner_; }

  const BoxPlace& place() const { return place_; }
  /// In the order of declaration, which is that of the box's members.
  std::span<IssueSlot* const> slots() const { return slots_; }
  std::span<const DeclaredBuffer> buffers() const { return buffers_; }
  std::span<const DeclaredServer> servers() const { return servers_; }
  std::span<const DeclaredTokens> tokens() const { return tokens_; }

  /// Called by the constructors of slots, buffers and queues.
  void declare(IssueSlot& slot) { slots_.push_back(&slot); }
  void declare(DeclaredBuffer buffer) { buffers_.push_back(std::move(buffer)); }
  void declare(DeclaredServer server) { servers_.push_back(server); }
  void declare(DeclaredTokens tokens) { tokens_.push_back(std::move(tokens)); }
  /// The slot of `other` serves this box's packets and is listed with this box.
  void adopt(IssueSlot& slot, Box& other);

  /// Buffers that are emptied when somebody looks are looked at: what has left by `end` is accounted for.
  virtual void settle(TimePs) {}
  /// `visit` sees each packet that the box holds outside its queues.
  virtual void for_each_packet_held(const PacketVisitor&) const {}

 private:
  WheelModule& owner_;
  std::uint32_t position_;
  BoxPlace place_;
  std::vector<IssueSlot*> slots_;
  std::vector<DeclaredBuffer> buffers_;
  std::vector<DeclaredServer> servers_;
  std::vector<DeclaredTokens> tokens_;
};

}  // namespace mrc
