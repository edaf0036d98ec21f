#include "parameters/link_bytes.h"

#include "parameters/config.h"

namespace mrc {

LinkBytes::LinkBytes(const ScenarioConfig& scenario, const Transport& transport)
    : transport_(transport), scenario_(scenario), macsec_bytes_(macsec_bytes(scenario.fabric)) {
  for (std::size_t opcode = 0; opcode < header_bytes_[0].size(); ++opcode) {
    Packet empty;
    empty.opcode = static_cast<Opcode>(opcode);
    for (std::size_t kind = 0; kind < header_bytes_.size(); ++kind) {
      empty.has_timestamp = (kind & 1) != 0;
      empty.without_srh = (kind & 2) != 0;
      header_bytes_[kind_of(empty)][opcode] = static_cast<std::uint16_t>(transport_.link_bytes(empty, scenario));
    }
  }
}

}  // namespace mrc
