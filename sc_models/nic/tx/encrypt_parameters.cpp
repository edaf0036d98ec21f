#include "nic/tx/encrypt_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_encrypt_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.encrypt, assumption);
  MRC_NODE(nic.encrypt.width_bits, "bit", 64, 4'096, "plaintext that is encrypted per cycle", assumption);
  MRC_NODE(nic.encrypt.queue_entries, "entries", 1, 65'536, "encrypted packets between encrypt and srv6_encap",
           assumption);
  MRC_NODE(nic.encrypt.key_cache_entries, "entries", 1, k1M,
           "keys held for sending; the first associations have theirs there from the start, a miss is a PCIe read",
           assumption);
  MRC_NODE(nic.encrypt.key_bytes, "bytes", 16, 4'096, "key, salt and packet number as read on a miss", assumption);
  MRC_NODE(nic.encrypt.key_wait_entries, "entries", 1, 65'536,
           "packets that wait beside encrypt for their key while others pass", assumption);
}

}  // namespace mrc
