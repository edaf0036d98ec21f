// The latency of a small write as an account of named terms, computed from the parameters alone. Each box, the host,
// PCIe and the fabric add their own terms, in the order in which the write passes them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/latency_term.h"
#include "mrc/packet.h"
#include "parameters/config.h"

namespace mrc {

class LatencyAccount {
 public:
  /// How far a term may lie from the model's value in real systems; wide where nothing is public.
  struct Range {
    double low_ns = 0;
    double high_ns = 0;
  };

  /// A write of `bytes` (1 … protocol.mtu_bytes) between nodes that are set up like the scenario's default node, below
  /// the same T0s, with nothing else under way and the QP context on the NIC.
  LatencyAccount(const ScenarioConfig& scenario, std::uint32_t bytes);

  const ScenarioConfig& scenario() const { return scenario_; }
  const NodeConfig& node() const { return scenario_.node_default; }
  const NicConfig& nic() const { return scenario_.node_default.nic; }
  std::uint32_t bytes() const { return bytes_; }
  /// The write's packet.
  Packet packet() const;
  double cycles_ns(double cycles) const { return cycles / nic().core_clock_ghz; }
  /// Of the write's frame on a port.
  double serialization_ns() const;

  /// The plausible range of the parameter `key` in the registry, `count` times: that of a term that is made of it.
  static Range plausible(const char* key, double count = 1);

  void add(const char* term, double ns, Range range, const char* source, const char* from);
  /// A value that has no range: it follows from a specification, or was fitted.
  void add_exact(const char* term, double ns, const char* source, const char* from) {
    add(term, ns, {ns, ns}, source, from);
  }
  /// The write passes a box; boxes in a row are one term.
  void pass_box(double cycles) { box_cycles_ += cycles; }
  /// Ends the row of boxes passed since the last such term. Other NICs have other pipelines: half to twice the cycles.
  void add_boxes(const char* term, const char* from);

  std::vector<LatencyTerm> take() { return std::move(terms_); }

 private:
  const ScenarioConfig& scenario_;
  std::uint32_t bytes_;
  double box_cycles_ = 0;
  std::vector<LatencyTerm> terms_;
};

}  // namespace mrc
