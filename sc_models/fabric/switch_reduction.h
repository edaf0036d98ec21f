// What switches do with packets of a reduction. A switch adds one packet of each child and sends the sum to its parent.
// The root sends the result down to all children. A switch has one adder, which takes packets in the order in which
// their last bits arrive. Only NICs have timers: when a child retransmits its packet, the switch sends it the result,
// or retransmits the sum to the parent (mrc/reduction/reduction_slots.h).
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "engine/serial_line.h"
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
  /// A switch sends a packet on its `link`; the last bit leaves at `last_bit` or later.
  virtual void send_from_switch(TimePs now, std::uint32_t link, const Packet& packet, TimePs last_bit) = 0;
  /// SwitchReduction::wake() is due.
  virtual void wake_switches_at(TimePs at) = 0;
};

struct ReductionCounts {
  std::uint64_t received = 0;               ///< packets, by switches
  std::uint64_t sent = 0;                   ///< packets, by switches
  std::uint64_t added = 0;                  ///< packets of children, each once
  std::uint64_t duplicates = 0;             ///< packets of children that had been added
  std::uint64_t retransmitted_sums = 0;     ///< to a parent
  std::uint64_t retransmitted_results = 0;  ///< to one child
  std::uint64_t damaged = 0;                ///< packets dropped because of damage
};

class SwitchReduction {
 public:
  /// A tree in each plane for each of `groups`; that of group g in plane p is number g * planes + p. All arguments
  /// outlive it. Throws std::invalid_argument where a switch has fewer slots than trees.
  SwitchReduction(const ScenarioConfig& scenario, const Topology& topology,
                  const std::vector<std::vector<NodeId>>& groups, ReductionPorts& ports);

  /// Slots of each tree of a group: the smallest share that a switch of its trees has for one.
  std::uint32_t window(std::uint32_t group) const { return windows_[group]; }
  /// A switch of the tree has more packets waiting for its adder than one of each child.
  bool waits_for_adder(TimePs now, std::uint32_t tree) const;

  /// A packet of a reduction arrives at the switch at the end of `link`.
  void arrive(TimePs now, std::uint32_t link, const Transit& transit);
  void wake(TimePs now);

  const ReductionCounts& counts() const { return counts_; }
  std::uint32_t trees() const { return static_cast<std::uint32_t>(trees_.size()); }
  std::uint32_t switches() const { return static_cast<std::uint32_t>(adders_.size()); }
  /// Of the switch that has most: slots of its trees, and those that had a sum without its result at one time.
  std::uint64_t most_slots() const;
  std::uint64_t most_slots_adding() const;
  /// Share of the time until `end` that the busiest adder worked.
  double busiest_adder_share(TimePs end) const;

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
    SerialLine line;
    std::uint64_t added_bytes = 0;
    std::uint64_t adding = 0;  ///< slots, of all trees
    std::uint64_t most_adding = 0;
    std::uint64_t slots = 0;
  };
  /// A packet whose last bit has arrived, or a complete sum.
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

  Adder& adder_of(std::uint32_t at);
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
  /// Who sends over a link: a child of a switch of the tree, or its parent.
  struct Sender {
    std::uint32_t member = 0;
    std::uint32_t child = 0;
  };

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
