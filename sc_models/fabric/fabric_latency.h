// What the fabric adds to the latency of a small write below one T0.
#pragma once

#include "engine/latency_account.h"

namespace mrc {

void declare_fabric_latency(LatencyAccount& account);

}  // namespace mrc
