// A node that lives on the fabric's own events, as the rest of the model sees it.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/network.h"
#include "host/work_player.h"
#include "nic/control/port_status_agent.h"

namespace mrc {

class LightNode : public NetworkNode, public WorkDevice {
 public:
  virtual WorkPlayer& player() = 0;
  /// Schedules the first work.
  virtual void start() = 0;
  /// Payload sent for the first time, by plane.
  virtual const std::vector<std::uint64_t>& first_payload_bytes() const = 0;
  /// When its ports go dark; told before start(). A node without an agent does nothing about it.
  virtual void set_darkness(const std::vector<PortDarkness>&) {}
  virtual const PortStatusAgent* port_status() const { return nullptr; }
};

}  // namespace mrc
