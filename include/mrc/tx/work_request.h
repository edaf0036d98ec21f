// What software asks for and what it gets back.
#pragma once

#include <cstdint>
#include <string_view>

namespace mrc {

/// An RDMA WRITE, with or without immediate data (OCP API: the only two operations).
struct WorkRequest {
  std::uint64_t id = 0;              ///< returned in the completion
  std::uint64_t local_address = 0;   ///< in the sender's host memory
  std::uint64_t remote_address = 0;  ///< in the receiver's
  std::uint32_t rkey = 0;
  std::uint32_t bytes = 0;      ///< 1 … 2^32 - 1 (specification 5.1)
  std::uint32_t immediate = 0;  ///< with write_imm
  bool write_imm = false;
};

enum class CompletionStatus : std::uint8_t {
  success,
  retry_exceeded,
  remote_operation_error,
  flushed,
  local_qp_operation_error
};
constexpr std::string_view to_string(CompletionStatus status) {
  constexpr std::string_view names[] = {"success", "retry counter exceeded", "remote operation error", "flushed",
                                        "local QP operation error"};
  return names[static_cast<std::size_t>(status)];
}

struct Completion {
  std::uint64_t id = 0;
  CompletionStatus status = CompletionStatus::success;
};

}  // namespace mrc
