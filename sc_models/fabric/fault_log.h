// What the NICs did about each fault, and when: made into the rows of result.json's events[]. EVs are taken from the
// path tables while the run goes on, since their queues are short; everything else is asked for at the end.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/byte_stream.h"
#include "fabric/fault_timeline.h"
#include "fabric/port_status_step.h"
#include "mrc/control/path_table.h"
#include "results/run_result.h"

namespace mrc {

class FaultLog {
 public:
  /// All arguments outlive the log.
  FaultLog(const ScenarioConfig& scenario, const Topology& topology, const FaultTimeline& timeline);

  bool empty() const { return timeline_.empty(); }
  /// An EV of a table through which `node` sends to `peer` has changed its state. Charged to the youngest fault on its
  /// path.
  void ev_changed(NodeId node, NodeId peer, Ev value, std::uint32_t plane, const EvEvent& event);
  /// Steps that `node` took when ports went dark or were lit.
  void port_steps(NodeId node, std::span<const PortStatusStep> steps);

  /// What NICs of this rank did, for add_reactions() at another.
  void put_reactions(ByteWriter& to) const;
  void add_reactions(ByteReader& from);

  /// In order of time; at most 20 rows a fault. `end` of the run: what lies after has not happened.
  std::vector<EventResult> rows(TimePs end) const;

 private:
  /// The same thing happening again and again, at several NICs.
  struct Tally {
    std::uint64_t count = 0;
    TimePs first = kNever;
    TimePs last = 0;
    NodeId first_node = 0;
    std::set<NodeId> nodes;
    void add(TimePs at, NodeId node);
  };
  struct Reaction {
    Tally left;  ///< EVs that became ASSUMED_BAD
    Tally back;  ///< EVs that became GOOD again
    Tally seen_down, seen_up, remapped_down, remapped_up, announced_down, announced_up, answered_down, answered_up;
    Tally received_down, received_up;
    Tally denied, allowed;  ///< NICs whose EVs a controller denied, and allowed again
    Tally connected;        ///< ends of QPs
    std::uint64_t qps_walked = 0;
    std::uint64_t evs_denied = 0;
    std::uint64_t evs_allowed = 0;
  };
  static constexpr Tally Reaction::*kTallies[] = {
      &Reaction::left,          &Reaction::back,        &Reaction::seen_down,      &Reaction::seen_up,
      &Reaction::remapped_down, &Reaction::remapped_up, &Reaction::announced_down, &Reaction::announced_up,
      &Reaction::answered_down, &Reaction::answered_up, &Reaction::received_down,  &Reaction::received_up,
      &Reaction::denied,        &Reaction::allowed,     &Reaction::connected};
  static constexpr std::size_t kNoFault = ~std::size_t{0};

  std::size_t fault_on_path(NodeId node, NodeId peer, Ev value, std::uint32_t plane, TimePs time) const;
  std::size_t fault_of_port(NodeId node, std::uint32_t port, TimePs time) const;
  void packet_rows(std::size_t fault, std::vector<EventResult>& rows) const;
  void port_rows(std::size_t fault, std::vector<EventResult>& rows) const;
  std::string nodes_of(const Tally& tally) const;
  std::string since(std::size_t fault, const Tally& tally, const char* what) const;

  const ScenarioConfig& scenario_;
  const Topology& topology_;
  const FaultTimeline& timeline_;
  std::vector<Reaction> reactions_;
};

}  // namespace mrc
