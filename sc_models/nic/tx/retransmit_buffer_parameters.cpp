#include "nic/tx/retransmit_buffer_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<RetransmitStore>() {
  return {"descriptor", "payload"};
}

template <>
std::vector<std::string> words_of<RecordTaken>() {
  return {"at_request", "at_arrival"};
}

void add_retransmit_buffer_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.retransmit_buffer, measured);
  MRC_NODE(nic.retransmit_buffer.store, "", 0, 0,
           "descriptor: a retransmission re-reads its payload over PCIe; payload: it is stored in SRAM", assumption);
  MRC_NODE(nic.retransmit_buffer.taken, "", 0, 0,
           "a packet takes its record at_request: when its payload is asked for, so that the latency of host memory "
           "needs records; at_arrival: when the payload has come; bytes of stored payload are always taken then",
           assumption);
  MRC_NODE(nic.retransmit_buffer.entries, "entries", 1, k1M, "packets sent and not acknowledged, all QPs", assumption);
  MRC_NODE(nic.retransmit_buffer.bytes, "bytes", 16'384, 1024 * k1M, "payload stored with store = payload", assumption);
  MRC_NODE(nic.retransmit_buffer.queue_entries, "entries", 1, 65'536,
           "packets between retransmit_buffer and srv6_encap", assumption);
}

}  // namespace mrc
