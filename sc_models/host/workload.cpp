#include "host/workload.h"

#include <array>

namespace mrc {

const char* to_string(CollectiveKind kind) {
  constexpr std::array<const char*, kCollectiveKinds> names{"all_reduce", "all_gather", "reduce_scatter",
                                                            "all_to_all", "broadcast",  "reduce",
                                                            "gather",     "scatter",    "barrier"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace mrc
