#include "fabric/fabric_latency.h"

namespace mrc {

void declare_fabric_latency(LatencyAccount& account) {
  const FabricConfig& fabric = account.scenario().fabric;
  account.add("cables", 2 * fabric.cable_delay_ns, LatencyAccount::plausible("fabric.cable_delay_ns", 2), "assumption",
              "fabric.cable_delay_ns, to the T0 and from it");
  const bool whole = fabric.forwarding == SwitchForwarding::store_and_forward;
  account.add("switch", fabric.switch_latency_ns + (whole ? account.serialization_ns() : 0), {250, 900}, "calibrated",
              "fabric.switch_latency_ns");
  if (fabric.macsec == Macsec::off) return;
  constexpr double macs = 4;  // at both ends of two links
  account.add("macsec", macs * fabric.macsec_latency_ns, {macs * 20, macs * 500}, "assumption",
              "fabric.macsec_latency_ns, in the MACs at both ends of two links");
}

}  // namespace mrc
