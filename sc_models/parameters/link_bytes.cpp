#include "parameters/link_bytes.h"

#include "parameters/config.h"

namespace mrc {

LinkBytes::LinkBytes(const ScenarioConfig& scenario, const Transport& transport)
    : transport_(transport), scenario_(scenario), macsec_bytes_(macsec_bytes(scenario.fabric)) {
  for (std::size_t opcode = 0; opcode < header_bytes_[0].size(); ++opcode) {
    Packet empty;
    empty.opcode = static_cast<Opcode>(opcode);
    for (const bool has_timestamp : {false, true}) {
      empty.has_timestamp = has_timestamp;
      header_bytes_[has_timestamp ? 1 : 0][opcode] = static_cast<std::uint16_t>(transport_.link_bytes(empty, scenario));
    }
  }
}

}  // namespace mrc
