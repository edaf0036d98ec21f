#include "nic/tx/segmenter_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_segmenter_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.segmenter, assumption);
  MRC_NODE(nic.segmenter.queue_entries, "entries", 1, 65'536, "packets between segmenter and payload_fetch",
           assumption);
}

}  // namespace mrc
