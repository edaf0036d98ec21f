#include "cosim/srv6_encap/rtl.h"

#include <fmt/format.h>

#include "Vsrv6_encap_1024.h"
#include "Vsrv6_encap_2048.h"
#include "Vsrv6_encap_512.h"
#include "cosim/srv6_encap/adapter.h"

namespace mrc {

std::unique_ptr<Srv6EncapEngine> make_srv6_encap_rtl(std::uint32_t datapath_bits,
                                                     const cosim::TraceRecorder& recorder) {
  switch (datapath_bits) {
    case 512:
      return std::make_unique<Srv6EncapAdapter<Vsrv6_encap_512, 64>>(recorder);
    case 1024:
      return std::make_unique<Srv6EncapAdapter<Vsrv6_encap_1024, 128>>(recorder);
    case 2048:
      return std::make_unique<Srv6EncapAdapter<Vsrv6_encap_2048, 256>>(recorder);
    default:
      throw std::invalid_argument(
          fmt::format("nic.datapath_bits = {}: RTL of srv6_encap is built for 512, 1024 and 2048", datapath_bits));
  }
}

}  // namespace mrc
