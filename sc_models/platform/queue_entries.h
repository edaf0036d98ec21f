// Send and completion queue entries as they lie in the platform's memory, little endian. A driver may use these
// functions or write the bytes itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "mrc/tx/work_request.h"

namespace mrc {

/// One field of an entry, for the documentation; offsets and sizes in bytes.
struct QueueField {
  std::string_view name;
  std::uint32_t offset;
  std::uint32_t bytes;
  std::string_view meaning;
};

/// What the fields take; nic.wqe_fetch.wqe_bytes and nic.completion.cqe_bytes are at least as much.
inline constexpr std::uint32_t kLeastWqeBytes = 40;
inline constexpr std::uint32_t kLeastCqeBytes = 32;

std::span<const QueueField> wqe_fields();
std::span<const QueueField> cqe_fields();

struct CompletionEntry {
  std::uint64_t id = 0;  ///< of the WQE; 0 for a receive
  std::uint32_t qp = 0;  ///< number
  std::uint32_t immediate = 0;
  CompletionStatus status = CompletionStatus::success;
  bool receive = false;
  std::uint32_t phase = 0;  ///< 1 on the first pass over the queue, 0 on the second, and so on
};

/// Phase of the `index`-th CQE, counted from reset, in a queue of `entries`.
constexpr std::uint32_t cqe_phase(std::uint32_t index, std::uint32_t entries) {
  return (index / entries & 1) ^ 1;
}

/// Writes kLeastWqeBytes at `to`.
void encode_wqe(const WorkRequest& request, std::byte* to);
/// Reads one; false, and `request` holds only the id, if it asks for what does not exist.
bool decode_wqe(const std::byte* from, WorkRequest& request);
/// Writes kLeastCqeBytes at `to`.
void encode_cqe(const CompletionEntry& entry, std::byte* to);
CompletionEntry decode_cqe(const std::byte* from);

}  // namespace mrc
