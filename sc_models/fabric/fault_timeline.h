// The scenario's [[fault]] entries laid out before the run: spans of time for cables, for the light at a NIC's ports,
// for line rates and for PCIe. Every part of the model is told its own share when it is built, so that nothing has to
// be changed across modules while they run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/byte_stream.h"
#include "fabric/link_faults.h"
#include "fabric/topology.h"
#include "mrc/types.h"
#include "parameters/config.h"

namespace mrc {

class Network;

/// [from, until)
struct TimeSpan {
  TimePs from = 0;
  TimePs until = kNever;
};

/// No light at a NIC's port.
struct PortDarkness {
  std::uint32_t port = 0;
  TimeSpan span;
  std::uint32_t fault = 0;
};

/// Rate of a NIC's port from a time on.
struct PortRate {
  std::uint32_t port = 0;
  TimePs at = 0;
  double gbps = 0;
};

class FaultTimeline {
 public:
  /// `scenario` and `topology` outlive it. Throws ParameterError, with file and line, for a place that the network does
  /// not have or that the kind does not fit.
  FaultTimeline(const ScenarioConfig& scenario, const Topology& topology);

  bool empty() const { return faults_.empty(); }
  /// Tells the network its part. The timeline outlives the network's run.
  void apply(Network& network);

  /// By port and time.
  std::vector<PortDarkness> darkness_of(NodeId node) const;
  /// In order of time.
  std::vector<PortRate> rates_of(NodeId node) const;
  std::vector<TimeSpan> pcie_stalls_of(NodeId node) const;
  /// The fault breaks nothing: a controller denies the EVs whose path crosses it.
  bool is_drain(std::size_t fault) const { return faults_[fault].kind == FaultKind::drain; }
  /// The fault breaks nothing: software resets the QPs of a NIC.
  bool is_qp_reset(std::size_t fault) const { return faults_[fault].kind == FaultKind::qp_reset; }
  /// Of a fault at a NIC.
  NodeId node_of(std::size_t fault) const { return node_named(faults_[fault]); }
  /// The path of this EV crosses one of `faults`.
  bool crosses(const std::vector<std::uint32_t>& faults, NodeId node, NodeId peer, std::uint32_t plane, Ev ev) const;

  /// By position in ScenarioConfig::faults.
  const FaultRecord& record(std::size_t fault) const { return records_[fault]; }
  /// The run has several ranks: from now on the network's part is taken down.
  void keep_journal(Network& network);
  void put_journal(ByteWriter& to) const;
  /// Writes the records from the journals of all ranks, this one's included.
  void read_journals(std::vector<ByteReader>& from);
  /// The fault takes something from packets that cross `link`.
  bool touches(std::size_t fault, std::uint32_t link) const;
  /// The NIC's port goes dark in this fault.
  bool darkens(std::size_t fault, NodeId node, std::uint32_t port) const;
  std::size_t size() const { return faults_.size(); }
  /// From then on the faults change nothing any more: what has no end has begun. 0 without faults; kNever where one
  /// goes on by chance, or where software resets QPs, which takes as long as it takes.
  TimePs last_change() const;

 private:
  struct Laid {
    std::vector<std::uint32_t> links;  ///< sorted
    std::vector<TimeSpan> spans;       ///< in order
    bool cuts = false;                 ///< nothing crosses the links
    bool dark = false;                 ///< and their ends see it
  };

  void place(std::size_t fault);
  std::vector<std::uint32_t> links_at(const FaultConfig& fault) const;
  std::vector<TimeSpan> spans_of(std::size_t fault) const;
  void end_outages();
  void refuse_overlapping_rates() const;
  LinkFaults::Damage damage_of(std::size_t fault, std::uint32_t link) const;
  NodeId node_named(const FaultConfig& fault) const;
  std::vector<std::string> places_for(FaultKind kind) const;

  const ScenarioConfig& scenario_;
  const Topology& topology_;
  const std::vector<FaultConfig>& faults_;
  std::vector<Laid> laid_;
  std::vector<FaultRecord> records_;
  FaultJournal journal_;
};

}  // namespace mrc
