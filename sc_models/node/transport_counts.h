// What transports count besides what every node does: sums over nodes, which ranks send to each other as they are.
#pragma once

#include <cstdint>

namespace mrc {

struct TransportCounts {
  struct Rocev2 {
    std::uint64_t cnps_sent = 0;
    std::uint64_t naks_sent = 0;
    std::uint64_t out_of_sequence = 0;  ///< data dropped after a gap
    std::uint64_t timeouts = 0;
  } rocev2;
  struct Uet {
    std::uint64_t timeouts = 0;
    std::uint64_t grants = 0;           ///< of credit
    std::uint64_t credit_requests = 0;  ///< in packets of their own
  } uet;
};

inline void add(TransportCounts& sum, const TransportCounts& more) {
  sum.rocev2.cnps_sent += more.rocev2.cnps_sent;
  sum.rocev2.naks_sent += more.rocev2.naks_sent;
  sum.rocev2.out_of_sequence += more.rocev2.out_of_sequence;
  sum.rocev2.timeouts += more.rocev2.timeouts;
  sum.uet.timeouts += more.uet.timeouts;
  sum.uet.grants += more.uet.grants;
  sum.uet.credit_requests += more.uet.credit_requests;
}

}  // namespace mrc
