#include "engine/latency_account.h"

#include <algorithm>

#include "parameters/registry.h"

namespace mrc {

LatencyAccount::LatencyAccount(const ScenarioConfig& scenario, std::uint32_t bytes)
    : scenario_(scenario), bytes_(bytes) {}

Packet LatencyAccount::packet() const {
  Packet packet;
  packet.payload_bytes = bytes_;
  packet.opcode = Opcode::write_only_imm;
  return packet;
}

double LatencyAccount::serialization_ns() const {
  const double frame_bytes = wire_bytes(packet(), scenario_.protocol) + macsec_bytes(scenario_.fabric);
  return frame_bytes * 8.0 / nic().port_gbps;
}

LatencyAccount::Range LatencyAccount::plausible(const char* key, double count) {
  const Parameter* parameter = find_parameter(key);
  return {count * parameter->plausible_low, count * parameter->plausible_high};
}

void LatencyAccount::add(const char* term, double ns, Range range, const char* source, const char* from) {
  terms_.push_back({term, ns, std::min(ns, range.low_ns), std::max(ns, range.high_ns), source, from});
}

void LatencyAccount::add_boxes(const char* term, const char* from) {
  const double ns = cycles_ns(std::exchange(box_cycles_, 0));
  add(term, ns, {ns / 2, ns * 2}, "assumption", from);
}

}  // namespace mrc
