// A control packet on its way to a port, with the QP whose reverse paths it may take.
#pragma once

#include <cstdint>

#include "mrc/packet.h"

namespace mrc::timing {

struct ControlPacket {
  Packet* packet = nullptr;
  std::uint32_t qp = 0;
};

}  // namespace mrc::timing
