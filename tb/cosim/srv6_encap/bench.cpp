#include "cosim/srv6_encap/bench.h"

#ifdef MRCSIM_BENCH_DEFAULT
#include "Vsrv6_encap_bench.h"
#else
#include "Vsrv6_encap_bench_small.h"
#endif
#include "cosim/srv6_encap/model.h"

namespace mrc::cosim {

std::unique_ptr<BlockModel> make_srv6_encap_bench_model() {
#ifdef MRCSIM_BENCH_DEFAULT
  return std::make_unique<Srv6EncapModel>(128, make_srv6_encap_dut<Vsrv6_encap_bench>);
#else
  return std::make_unique<Srv6EncapModel>(64, make_srv6_encap_dut<Vsrv6_encap_bench_small>);
#endif
}

}  // namespace mrc::cosim
