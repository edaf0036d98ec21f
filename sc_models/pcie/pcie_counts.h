// What passed a NIC's PCIe link, and what went wrong there.
#pragma once

#include <cstdint>

namespace mrc {

struct PcieCounts {
  std::uint64_t read_requests = 0;  ///< retries included
  std::uint64_t write_tlps = 0;
  std::uint64_t duplicated_completions = 0;  ///< sent twice by fault injection
  std::uint64_t poisoned_completions = 0;    ///< likewise sent with the poison bit
  std::uint64_t lost_completions = 0;        ///< likewise lost
  std::uint64_t unexpected_completions = 0;  ///< dropped by the NIC: no request waits for them
  std::uint64_t completion_timeouts = 0;
  std::uint64_t retried_requests = 0;     ///< after poison or a timeout
  std::uint64_t translation_lookups = 0;  ///< pages
  std::uint64_t translation_misses = 0;
  std::uint64_t table_lookups = 0;  ///< keys and pages
  std::uint64_t table_misses = 0;
};

}  // namespace mrc
