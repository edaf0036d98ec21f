#include "cosim/srv6_encap/bench.h"

#include "Vsrv6_encap_bench.h"
#include "Vsrv6_encap_bench_small.h"
#include "cosim/srv6_encap/model.h"

namespace mrc::cosim {

std::unique_ptr<BlockModel> make_srv6_encap_bench_model(const std::string& size) {
  if (size == "default") return std::make_unique<Srv6EncapModel>(128, make_srv6_encap_dut<Vsrv6_encap_bench>);
  return std::make_unique<Srv6EncapModel>(64, make_srv6_encap_dut<Vsrv6_encap_bench_small>);
}

}  // namespace mrc::cosim
