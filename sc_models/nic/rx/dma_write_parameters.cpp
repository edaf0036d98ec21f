#include "nic/rx/dma_write_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_dma_write_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.dma_write, assumption);
  MRC_NODE(nic.dma_write.queue_entries, "entries", 1, k1M,
           "descriptors of packets in rx_staging; if none is free, a packet is refused with NO_RESOURCE", assumption);
}

}  // namespace mrc
