// The processes that carry one run together, as the model sees them; tb/mpi has them over MPI. All of them call the
// same functions in the same order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/byte_stream.h"
#include "mrc/types.h"

namespace mrc {

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t size() const = 0;

  /// Gives out[r] to rank r and has in[r] from it; both have size() entries, `out` is empty afterwards. Returns the
  /// least `earliest` of all ranks.
  virtual TimePs exchange(std::vector<Bytes>& out, std::vector<Bytes>& in, TimePs earliest) = 0;
  /// Each value becomes its sum over all ranks.
  virtual void sum(std::span<std::uint64_t> values) = 0;
  /// At rank 0 what each rank gave, by rank; nothing elsewhere.
  virtual std::vector<Bytes> gather(const Bytes& mine) = 0;
};

}  // namespace mrc
