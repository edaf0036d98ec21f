#include "transports/uet/uet_parameters.h"

#include "mrc/control/path_policy_registry.h"
#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<UetCongestion>() {
  return {"nscc", "rccc", "both"};
}

void add_uet_parameters(ParameterTable& table) {
  MRC_SCENARIO(uet.congestion, "", 0, 0,
               "nscc: a window of the sender (cc.*); rccc: credits of the receiver; both: whichever is less", spec);
  MRC_SCENARIO(
      uet.path_policy, "", 0, 0,
      "which entropy value is next, as protocol.path_policy; rotation: all in turn, in an order drawn anew for "
      "each round, whatever happens to their packets",
      assumption);
  table.only(path_policy_names());
  MRC_SCENARIO(uet.entropies, "values", 1, 4'096, "entropy values of a PDC, over all ports", assumption);
  MRC_SCENARIO(uet.timeout_exponent, "", 0, 31, "t: a packet without an answer is lost after 1.024 us * 2^t",
               assumption);
  MRC_SCENARIO(uet.credit_packets, "packets", 1, 256, "with credits: protocol.mtu_bytes in one grant", assumption);
  MRC_SCENARIO(
      uet.credit_request_floor_packets, "packets", 0, 16,
      "with credits: a flow asks for no less than lets it send that many; 0: for its part of the NIC's line alone",
      assumption);
  MRC_SCENARIO(uet.answer_ends_unasked_credit, "", 0, 0,
               "with credits: each ACK, NACK or grant ends the credit that a PDC begins with; false: a NACK alone",
               assumption);
  MRC_SCENARIO(
      uet.idle_credit, "", 0, 0,
      "with credits: a receiver that nobody asks grants its senders a window more than they asked for, in turn",
      assumption);
  MRC_SCENARIO(uet.credit_rate, "", 0.01, 1, "with credits: what a receiver grants, of its line rate", assumption);
  MRC_SCENARIO(uet.gap_inference, "", 0, 0,
               "a packet that many others overtook is lost, by protocol.gap_*; false: by timeout alone", assumption);
  MRC_SCENARIO(uet.ecn_last_hop, "", 0, 0, "switches mark at the ports to the NICs too; not with rccc alone",
               assumption);
}

}  // namespace mrc
