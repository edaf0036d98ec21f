// The bound to compare with: serialization and a fixed latency (ideal_fabric.h).
#include "parameters/transport.h"

namespace mrc {

extern const Transport ideal_transport;
const Transport ideal_transport{.name = "ideal", .simulated = false};

}  // namespace mrc
