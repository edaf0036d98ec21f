// Notification point of DCQCN: when a receiver answers CE marks of a flow by a congestion notification packet.
#pragma once

#include "mrc/packet.h"
#include "mrc/rocev2/rc_config.h"
#include "mrc/types.h"

namespace mrc {

class CnpGenerator {
 public:
  explicit CnpGenerator(const DcqcnConfig& config) : interval_(config.cnp_interval_ps) {}

  /// True if a CNP is due for a packet that arrived with `ecn`: CE-marked, and none was sent in the last interval.
  bool on_packet(Ecn ecn, TimePs now) {
    if (ecn != Ecn::ce || now < next_) return false;
    next_ = now + interval_;
    return true;
  }

 private:
  TimePs interval_;
  TimePs next_ = 0;
};

}  // namespace mrc
