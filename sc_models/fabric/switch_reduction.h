// What switches do with packets of a reduction: each adds what comes from its children, one packet of each, sends the
// sum to its parent, and the result of the root back to all children. Adding takes the switch's one adder, in the order
// in which packets have come in whole. Lost packets are found by the NICs' timers: a child that sends its packet once
// more gets the result if the switch has it, or makes the switch ask its parent (mrc/reduction/reduction_slots.h).
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "fabric/reduction_tree.h"
#include "fabric/topology.h"
#include "fabric/transit.h"
#include "mrc/reduction/reduction_slots.h"
#include "mrc/types.h"
#include "parameters/config.h"

namespace mrc {

/// The network, as switches that add see it.
class ReductionPorts {
 public:
  virtual ~ReductionPorts() = default;
  /// A packet that the switch has made leaves on this link of its; its last bit not before `last_bit`.
  virtual void send_from_switch(TimePs now, std::uint32_t link, const Packet& packet, TimePs last_bit) = 0;
  /// SwitchReduction::wake() is due.
  virtual void wake_switches_at(TimePs at) = 0;
};

struct ReductionCounts {
  std::uint64_t taken_in = 0;  ///< packets that ended in a switch
  std::uint64_t made = 0;      ///< packets that switches sent
  std::uint64_t added = 0;     ///< packets of children that were counted
  std::uint64_t repeated = 0;  ///< packets of children that were counted before
  std::uint64_t asked = 0;     ///< sums that went to a parent once more
  std::uint64_t answered = 0;  ///< results that went to one child once more
  std::uint64_t damaged = 0;   ///< packets that were dropped for it
};

class SwitchReduction {
 public:
  /// A tree in each plane for each of `groups`; that of group g in plane p is number g * planes + p. All arguments
  /// outlive it. Throws std::invalid_argument where a switch has fewer slots than trees.
  SwitchReduction(const ScenarioConfig& scenario, const Topology& topology,
                  const std::vector<std::vector<NodeId>>& groups, ReductionPorts& ports);

  /// Slots of the trees of a group: the least that one of their switches has for them.
  std::uint32_t window(std::uint32_t group) const { return windows_[group]; }
  /// Packets of a tree's switch wait for its adder, for longer than one packet of each child takes.
  bool waits_for_adder(TimePs now, std::uint32_t tree) const;

  /// A packet of a reduction has come to the switch at the far end of `link`.
  void arrive(TimePs now, std::uint32_t link, const Transit& transit);
  void wake(TimePs now);

  const ReductionCounts& counts() const { return counts_; }
  std::uint32_t trees() const { return static_cast<std::uint32_t>(trees_.size()); }
  std::uint32_t switches() const { return static_cast<std::uint32_t>(adders_.size()); }
  /// Of the switch that has most: slots of its trees, and those that were adding at one time.
  std::uint64_t most_slots() const;
  std::uint64_t most_slots_adding() const;
  /// Share of the time until `end` that the busiest adder worked.
  double busiest_adder(TimePs end) const;

 private:
  struct Member {
    ReductionTreeSwitch place;
    ReductionSlots slots;
  };
  struct Tree {
    std::uint8_t plane = 0;
    NodeId first_nic = 0;
    std::vector<Member> members;
  };
  struct Adder {
    TimePs free_at = 0;
    TimePs busy_ps = 0;
    std::uint64_t adding = 0;  ///< slots, of all trees
    std::uint64_t most_adding = 0;
    std::uint64_t slots = 0;
  };
  /// A packet that has come in whole, or a sum that is complete.
  struct Pending {
    TimePs at = 0;
    std::uint64_t order = 0;
    bool sum = false;
    std::uint32_t tree = 0;
    std::uint32_t member = 0;
    std::uint32_t child = 0;
    std::uint32_t payload_bytes = 0;
    std::uint8_t traffic_class = 0;
    ReductionFields value;
    friend bool operator>(const Pending& a, const Pending& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }
  };

  void share_slots(const std::vector<std::vector<NodeId>>& groups);
  void wait_until(TimePs at, Pending pending);
  void add(TimePs now, const Pending& packet);
  void finish_sum(TimePs now, const Pending& sum);
  void send_up(TimePs now, const Pending& of, const ReductionFields& value, bool retransmission);
  void send_down(TimePs now, const Pending& of, std::uint32_t child, const ReductionFields& value, TimePs last_bit,
                 bool retransmission);
  void send_to_all(TimePs now, const Pending& of, const ReductionFields& value, TimePs last_bit);
  Packet packet_of(const Pending& of, const ReductionFields& value, bool retransmission) const;
  Member& member_of(const Pending& of) { return trees_[of.tree].members[of.member]; }
  /// Which child, or the parent where it has none, of the tree's switch sends over `link`.
  struct Sender {
    std::uint32_t member = 0;
    std::uint32_t child = 0;
  };
  TimePs adding_ps(std::uint64_t payload_bytes) const;

  const ReductionConfig& config_;
  const Topology& topology_;
  ReductionPorts& ports_;
  std::vector<Tree> trees_;
  std::vector<std::uint32_t> windows_;                              ///< by group
  std::vector<std::unordered_map<std::uint32_t, Sender>> senders_;  ///< by tree, by link
  std::unordered_map<std::uint32_t, Adder> adders_;                 ///< by switch
  std::priority_queue<Pending, std::vector<Pending>, std::greater<>> pending_;
  std::uint64_t order_ = 0;
  TimePs woken_at_ = kNever;
  ReductionCounts counts_;
};

}  // namespace mrc
