#include "nic/tx/retransmit_buffer_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<RetransmitStore>() {
  return {"descriptor", "payload"};
}

template <>
std::vector<std::string> words_of<RecordReservation>() {
  return {"at_request", "at_arrival"};
}

void add_retransmit_buffer_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.retransmit_buffer, measured);
  MRC_NODE(nic.retransmit_buffer.store, "", 0, 0,
           "descriptor: a retransmission re-reads its payload over PCIe; payload: it is stored in SRAM", assumption);
  MRC_NODE(nic.retransmit_buffer.reserve_record, "", 0, 0,
           "when a packet takes its record. at_request: when its payload is requested, so that records also cover the "
           "latency of host memory; at_arrival: when its payload has arrived, as bytes of stored payload always are",
           assumption);
  MRC_NODE(nic.retransmit_buffer.entries, "entries", 1, k1M, "packets sent and not acknowledged, all QPs", assumption);
  MRC_NODE(nic.retransmit_buffer.bytes, "bytes", 16'384, 1024 * k1M, "payload stored with store = payload", assumption);
  MRC_NODE(nic.retransmit_buffer.queue_entries, "entries", 1, 65'536,
           "packets between retransmit_buffer and srv6_encap", assumption);
}

}  // namespace mrc
