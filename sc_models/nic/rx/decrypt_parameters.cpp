#include "nic/rx/decrypt_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_decrypt_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.decrypt, assumption);
  MRC_NODE(nic.decrypt.width_bits, "bit", 64, 4'096,
           "ciphertext that is decrypted per cycle; a packet goes on when all of it has passed and its tag is right",
           assumption);
  MRC_NODE(nic.decrypt.queue_entries, "entries", 1, 65'536, "encrypted packets between parser and decrypt", assumption);
  MRC_NODE(
      nic.decrypt.key_cache_entries, "entries", 1, k1M,
      "keys and replay windows held for receiving; the first associations have theirs there from the start, a miss "
      "is a PCIe read",
      assumption);
  MRC_NODE(nic.decrypt.key_bytes, "bytes", 16, 4'096,
           "key and salt as read on a miss, beside the bits of the replay window", assumption);
  MRC_NODE(nic.decrypt.key_wait_entries, "entries", 1, 65'536,
           "packets that wait beside decrypt for their key while others pass", assumption);
}

}  // namespace mrc
