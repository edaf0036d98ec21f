#include "nic/tx/srv6_encap_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_srv6_encap_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.srv6_encap, measured);
  MRC_NODE(nic.srv6_encap.control_packets, "", 0, 0,
           "control packets pass srv6_encap, before data; false: their header costs nothing", assumption);
  MRC_NODE(nic.srv6_encap.appends_icrc, "", 0, 0,
           "the ICRC is computed while the packet passes, and appended; false: the packet comes with it, at no cost",
           assumption);
  MRC_NODE(
      nic.srv6_encap.appends_icrc_to_control, "", 0, 0,
      "with nic.srv6_encap.appends_icrc: that of control packets too; false: they come with it from where they are "
      "built",
      assumption);
  MRC_NODE(nic.srv6_encap.icrc_cycles, "cycles", 0, 10'000,
           "with nic.srv6_encap.appends_icrc: cycles that the result comes later", measured);
}

}  // namespace mrc
