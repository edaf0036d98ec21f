// A collective as the messages that carry it out: who sends which bytes to whom, and what each message waits for. The
// algorithms are those that NCCL and RCCL name; a reduction takes no time of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "host/workload.h"
#include "parameters/collective_options.h"

namespace mrc {

/// One message. It may start when those it waits for have arrived, which they do at its own source; where `paced`,
/// when they have been acknowledged, and its own source sent them.
struct Transfer {
  std::uint64_t offset = 0;  ///< in the buffer; of an all-to-all in the sender's
  std::uint64_t bytes = 0;   ///< may be 0 where a share is empty: then the message only orders, and carries 1 byte
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint32_t first_dependent = 0;  ///< into CollectiveSchedule::dependents
  std::uint32_t dependents = 0;
  std::uint32_t waits = 0;
  std::uint32_t channel = 0;  ///< ranks with several NICs take the one of this number, modulo how many they have
  bool reduces = false;       ///< is added to what the destination has, else takes its place
  bool paced = false;
};

/// Bytes that a transfer's message carries.
inline std::uint64_t message_bytes(const Transfer& transfer) {
  return transfer.bytes > 0 ? transfer.bytes : 1;
}

struct CollectiveSchedule {
  std::uint32_t ranks = 0;
  /// Stands for all ranks: the transfers are those of rank 0, which gets from itself what the others' would bring it.
  bool folded = false;
  std::vector<Transfer> transfers;
  std::vector<std::uint32_t> dependents;
};

/// Every rank does the same with the same bytes, so that one rank can represent all if they do not differ otherwise.
bool is_symmetric(CollectiveKind kind, std::uint32_t ranks, const CollectiveOptions& options);

/// `ranks` at least 1 (1: no transfers); shares are cut to whole bytes and differ by at most one. Throws
/// std::invalid_argument for a hierarchical all-reduce whose ranks are not a multiple of ranks_per_host, for channels
/// of 0, and for more than 2^26 transfers.
CollectiveSchedule make_schedule(CollectiveKind kind, std::uint64_t bytes, std::uint32_t ranks, std::uint32_t root,
                                 const CollectiveOptions& options);

/// As make_schedule() of a symmetric collective, of one rank with the longest shares.
CollectiveSchedule make_folded_schedule(CollectiveKind kind, std::uint64_t bytes, std::uint32_t ranks,
                                        const CollectiveOptions& options);

/// The algorithm's name in results: "ring", "halving_doubling", …
const char* algorithm_name(CollectiveKind kind, const CollectiveOptions& options);

/// Bus bandwidth over algorithm bandwidth, as the NCCL tests define it.
double bus_bandwidth_factor(CollectiveKind kind, std::uint32_t ranks);

}  // namespace mrc
