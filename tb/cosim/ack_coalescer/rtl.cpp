#include "cosim/ack_coalescer/rtl.h"

#include "Vack_coalescer_1024.h"
#include "cosim/ack_coalescer/adapter.h"

namespace mrc {

std::unique_ptr<AckCoalescerEngine> make_ack_coalescer_rtl(std::uint32_t threshold_bytes, std::uint32_t min_add_bytes,
                                                           const cosim::TraceRecorder& recorder,
                                                           const RtlContract& contract) {
  return std::make_unique<AckCoalescerAdapter<Vack_coalescer_1024>>(
      threshold_bytes, min_add_bytes, recorder, static_cast<std::uint32_t>(contract.most_latency("evt", "sack", 2)));
}

}  // namespace mrc
