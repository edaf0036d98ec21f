#include "platform/queue_entries.h"

#include <array>

namespace mrc {
namespace {

constexpr QueueField kWqeId{"id", 0, 8, "returned in the CQE"};
constexpr QueueField kWqeLocal{"local_address", 8, 8, "address of the payload, in DMA address space"};
constexpr QueueField kWqeRemote{"remote_address", 16, 8, "destination address in the memory of the peer"};
constexpr QueueField kWqeRkey{"rkey", 24, 4, "key of the memory region at the peer"};
constexpr QueueField kWqeBytes{"bytes", 28, 4, "length of the message, at least 1"};
constexpr QueueField kWqeImmediate{"immediate", 32, 4, "with flags bit 0"};
constexpr QueueField kWqeFlags{"flags", 36, 4,
                               "bit 0: WRITE with immediate, which also completes at the peer; other bits are 0"};
constexpr std::array kWqeFields{kWqeId, kWqeLocal, kWqeRemote, kWqeRkey, kWqeBytes, kWqeImmediate, kWqeFlags};

constexpr QueueField kCqeId{"id", 0, 8, "id of the WQE; 0 for a receive"};
constexpr QueueField kCqeQp{"qp", 8, 4, "number of the QP"};
constexpr QueueField kCqeImmediate{"immediate", 12, 4, "immediate of a receive"};
constexpr QueueField kCqeStatus{"status", 16, 4,
                                "0 success, 1 retry counter exceeded, 2 remote operation error, 3 flushed"};
constexpr QueueField kCqeKind{"kind", 20, 4, "0 send, 1 receive"};
constexpr QueueField kCqePhase{
    "phase", 28, 4, "1 on the first pass over the queue, 0 on the second, and so on; identifies new entries"};
constexpr std::array kCqeFields{kCqeId, kCqeQp, kCqeImmediate, kCqeStatus, kCqeKind, kCqePhase};

void put(std::byte* to, const QueueField& field, std::uint64_t value) {
  for (std::uint32_t i = 0; i < field.bytes; ++i) to[field.offset + i] = static_cast<std::byte>(value >> 8 * i);
}

std::uint64_t get(const std::byte* from, const QueueField& field) {
  std::uint64_t value = 0;
  for (std::uint32_t i = 0; i < field.bytes; ++i) {
    value |= std::to_integer<std::uint64_t>(from[field.offset + i]) << 8 * i;
  }
  return value;
}

std::uint32_t get32(const std::byte* from, const QueueField& field) {
  return static_cast<std::uint32_t>(get(from, field));
}

}  // namespace

std::span<const QueueField> wqe_fields() {
  return kWqeFields;
}

std::span<const QueueField> cqe_fields() {
  return kCqeFields;
}

void encode_wqe(const WorkRequest& request, std::byte* to) {
  put(to, kWqeId, request.id);
  put(to, kWqeLocal, request.local_address);
  put(to, kWqeRemote, request.remote_address);
  put(to, kWqeRkey, request.rkey);
  put(to, kWqeBytes, request.bytes);
  put(to, kWqeImmediate, request.immediate);
  put(to, kWqeFlags, request.write_imm ? 1 : 0);
}

bool decode_wqe(const std::byte* from, WorkRequest& request) {
  request = WorkRequest{.id = get(from, kWqeId)};
  const std::uint32_t flags = get32(from, kWqeFlags);
  const std::uint32_t bytes = get32(from, kWqeBytes);
  if (bytes == 0 || flags > 1) return false;
  request.local_address = get(from, kWqeLocal);
  request.remote_address = get(from, kWqeRemote);
  request.rkey = get32(from, kWqeRkey);
  request.bytes = bytes;
  request.immediate = get32(from, kWqeImmediate);
  request.write_imm = flags == 1;
  return true;
}

void encode_cqe(const CompletionEntry& entry, std::byte* to) {
  put(to, kCqeId, entry.id);
  put(to, kCqeQp, entry.qp);
  put(to, kCqeImmediate, entry.immediate);
  put(to, kCqeStatus, static_cast<std::uint64_t>(entry.status));
  put(to, kCqeKind, entry.receive ? 1 : 0);
  put(to, kCqePhase, entry.phase);
}

CompletionEntry decode_cqe(const std::byte* from) {
  return {.id = get(from, kCqeId),
          .qp = get32(from, kCqeQp),
          .immediate = get32(from, kCqeImmediate),
          .status = static_cast<CompletionStatus>(get32(from, kCqeStatus)),
          .receive = get32(from, kCqeKind) == 1,
          .phase = get32(from, kCqePhase)};
}

}  // namespace mrc
