// The network as numbers: a folded Clos a plane, from a few counts in the scenario. Two tiers (T0 below every NIC, T1
// above), or three with pods; a single T0 a plane where all NICs fit below it. Tables are derived once and never
// change.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mrc/control/ev_profile.h"
#include "mrc/ev_layout.h"
#include "mrc/rocev2/ecmp_hash.h"
#include "mrc/srv6_usid.h"
#include "mrc/types.h"
#include "parameters/config.h"

namespace mrc {

enum class SwitchTier : std::uint8_t { t0, t1, t2 };

/// One direction of a cable, owned by the port that sends on it. Links are numbered plane by plane.
struct LinkInfo {
  static constexpr std::uint32_t kNic = 0xFFFF'FFFF;

  std::uint32_t from = kNic;  ///< switch, kNic at the NIC's end
  std::uint32_t to = kNic;
  NodeId node = 0;           ///< the NIC at one end, where there is one
  std::uint32_t number = 0;  ///< of the port at the switch that sends: up0 …, down0 …
  std::uint32_t delay_ps = 0;
  std::uint8_t plane = 0;
  bool up = false;
  double gbps = 0;

  bool last_hop() const { return to == kNic; }
  bool first_hop() const { return from == kNic; }
};
static_assert(sizeof(LinkInfo) == 32);  // there are millions in a large fabric

struct SwitchInfo {
  std::uint8_t plane = 0;
  SwitchTier tier = SwitchTier::t0;
  std::uint32_t index = 0;  ///< in its plane and tier
  std::uint32_t pod = 0;
  Usid usid = 0;
  TimePs latency_ps = 0;
  /// Next uSID by role and index → link, kNoLink where there is none. Static.
  std::array<std::vector<std::uint32_t>, 4> next;
  std::vector<std::uint32_t> up;  ///< links that ECMP chooses from
};

/// Uplinks of a T0 in a plane among which an EV chooses; 1 where none is to choose (one T0, or routed by ECMP in pods).
std::uint32_t ev_uplinks(const ScenarioConfig& scenario);
/// The EVs that a node's QPs use.
EvProfile ev_profile_of(const ScenarioConfig& scenario, NodeId node);

class Topology {
 public:
  static constexpr std::uint32_t kNoLink = 0xFFFF'FFFF;

  explicit Topology(const ScenarioConfig& scenario);

  std::uint32_t planes() const { return planes_; }
  std::uint32_t nics() const { return nics_; }
  std::uint32_t nics_per_t0() const { return nics_per_t0_; }
  std::uint32_t t0s() const { return t0s_; }  ///< a plane
  std::uint32_t t1s() const { return t1s_; }  ///< a plane and pod, 0 with one T0
  std::uint32_t t1s_per_plane() const { return t1s_ * pods_; }
  std::uint32_t t2s() const { return t2s_; }  ///< a plane, 0 with two tiers
  std::uint32_t pods() const { return pods_; }
  FabricRouting routing() const { return routing_; }
  const std::vector<SwitchInfo>& switches() const { return switches_; }
  const std::vector<LinkInfo>& links() const { return links_; }

  std::uint32_t t0_of(NodeId node) const { return node / nics_per_t0_; }
  std::uint32_t downlink_of(NodeId node) const { return node % nics_per_t0_; }
  /// Link of a NIC's port into its T0, and the one back.
  std::uint32_t uplink_of(NodeId node, std::uint32_t plane) const { return plane * links_per_plane_ + node; }
  std::uint32_t downlink_to(NodeId node, std::uint32_t plane) const { return plane * links_per_plane_ + nics_ + node; }

  /// The other direction of a link's cable.
  std::uint32_t other_way(std::uint32_t link) const;

  /// Path template from `source` to `destination`; plane and uplink are chosen by the EV.
  UsidTemplate route(NodeId source, NodeId destination) const;
  /// Hops of switches on the longest path.
  std::uint32_t longest_path() const { return t0s_ == 1 ? 1 : pods_ > 1 ? 5 : 3; }
  /// Shortest round trip of a control-sized packet over the longest path without queues: cables and switches, both
  /// ways.
  TimePs round_trip_ps() const;

  /// What a switch does with a carrier: matches the first 48 bits (locator block and its own uSID), shifts, looks up.
  /// kNoLink where nothing matches. `carrier` is shifted.
  std::uint32_t forward_usid(std::uint32_t at, Ipv6Address& carrier) const {
    const SwitchInfo& here = switches_[at];
    if (locator_block(carrier) != locator_block_ || active_usid(carrier) != here.usid) return kNoLink;
    carrier = shift_usid(carrier);
    const Usid next = active_usid(carrier);
    if (usid_plane(next) != here.plane) return kNoLink;
    const auto& table = here.next[static_cast<std::size_t>(usid_role(next))];
    return usid_index(next) < table.size() ? table[usid_index(next)] : kNoLink;
  }
  /// ECMP: down where the destination lies below, else up by a hash of the flow with the switch's own salt.
  std::uint32_t forward_ecmp(std::uint32_t at, NodeId source, NodeId destination, Ev ev) const;

  /// A random EV made one that leads through `plane`.
  Ev ev_through(std::uint32_t plane, Ev random) const { return ev_layout_.fitted(random, plane, std::max(t1s_, 1U)); }
  /// Links from `source` to `destination` through `plane` on `ev`, by the tables; empty where a table fails.
  std::vector<std::uint32_t> walk(NodeId source, NodeId destination, std::uint32_t plane, Ev ev) const;
  /// Same over uplink number `uplink` of the source's T0; two tiers.
  std::vector<std::uint32_t> walk_uplink(NodeId source, NodeId destination, std::uint32_t plane,
                                         std::uint32_t uplink) const;

  struct RouteCheck {
    std::uint64_t walked = 0;
    bool every_pair = true;  ///< false: by parts, each table entry on its own and one destination a T0
    std::string broken;      ///< the first path that does not arrive, empty where all do
  };
  /// Walks every path that an EV can choose between every two NICs; where that is more than `most_walks`, every table
  /// entry once, of which all paths are made. ECMP: `most_walks` at most, of every pair and plane as many EVs as T1s.
  RouteCheck check_routes(std::uint64_t most_walks) const;

  std::string switch_name(std::uint32_t at) const;
  /// "nic0.port3", "plane3.t0.1.down5", "plane3.t1.2.down0"
  std::string port_name(std::uint32_t link) const;
  /// Links, both ways, of the cables of a plane ("plane3"), a NIC ("nic1"), a switch ("plane0.t0.1"), of the one at a
  /// port, or of all between switches ("above_t0"). Throws ParameterError where there is none; `key` asks for them.
  std::vector<std::uint32_t> cables_named(const std::string& where, const std::string& key) const;

 private:
  void build_plane(std::uint32_t plane, const ScenarioConfig& scenario);
  void set_cable_delays(const FabricConfig& fabric);
  bool is_cable_of(std::uint32_t link, const std::string& where) const;
  std::uint32_t add_link(LinkInfo link);
  std::uint32_t t0_at(std::uint32_t plane, std::uint32_t t0) const { return plane * switches_per_plane_ + t0; }
  std::uint32_t t1_at(std::uint32_t plane, std::uint32_t t1) const { return plane * switches_per_plane_ + t0s_ + t1; }
  std::uint32_t t2_at(std::uint32_t plane, std::uint32_t t2) const {
    return plane * switches_per_plane_ + t0s_ + t1s_per_plane() + t2;
  }
  RouteCheck check_pairs(std::uint32_t step) const;
  void set_next(std::uint32_t at, Usid next, std::uint32_t link);
  std::vector<std::uint32_t> walk_carrier(NodeId source, NodeId destination, std::uint32_t plane, Ipv6Address carrier,
                                          Ev ev) const;

  std::uint32_t planes_;
  std::uint32_t nics_;
  std::uint32_t nics_per_t0_;
  std::uint32_t pods_;
  std::uint32_t t0s_;
  std::uint32_t t1s_;
  std::uint32_t t2s_per_t1_ = 0;
  std::uint32_t t2s_ = 0;
  std::uint32_t locator_block_;
  EvLayout ev_layout_;
  FabricRouting routing_;
  std::uint64_t seed_;
  std::uint32_t switches_per_plane_;
  std::uint32_t links_per_plane_ = 0;
  std::vector<SwitchInfo> switches_;
  std::vector<LinkInfo> links_;
};

}  // namespace mrc
