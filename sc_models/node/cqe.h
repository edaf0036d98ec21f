// A completion queue entry, as software reads it.
#pragma once

#include <cstdint>

#include "engine/causal_trace.h"
#include "mrc/tx/work_request.h"

namespace mrc {

struct Cqe {
  enum class Kind : std::uint8_t { send, receive };
  Kind kind = Kind::send;
  std::uint32_t qp = 0;
  std::uint64_t id = 0;  ///< WorkRequest.id of a send
  std::uint32_t immediate = 0;
  CompletionStatus status = CompletionStatus::success;
  StartId because = 0;  ///< start that completed it
};

}  // namespace mrc
