// Verilated srv6_encap as an engine of the SystemC box.
#pragma once

#include <cstdint>
#include <memory>

#include "cosim/trace.h"
#include "nic/tx/srv6_encap_engine.h"

namespace mrc {

/// The RTL with this datapath width; throws std::invalid_argument, naming the widths that are built, for any other.
std::unique_ptr<Srv6EncapEngine> make_srv6_encap_rtl(std::uint32_t datapath_bits,
                                                     const cosim::TraceRecorder& recorder = {});

}  // namespace mrc
