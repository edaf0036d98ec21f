// Cables that are longer or shorter than the others: fabric.cable_delays_ns.
#pragma once

#include <string>
#include <vector>

#include "fabric/fabric_parameters.h"

namespace mrc {

struct CableDelay {
  std::string where;  ///< "plane3", "nic1", or a port at either end: "nic1.port3", "plane3.t0.1.up2"
  double ns = 0;
};

/// The list of fabric.cable_delays_ns. Throws ParameterError where it is malformed or a delay is out of range.
std::vector<CableDelay> cable_delays_of(const FabricConfig& fabric, const std::string& place);

/// No cable of a NIC is shorter.
double shortest_cable_ns(const FabricConfig& fabric);

}  // namespace mrc
