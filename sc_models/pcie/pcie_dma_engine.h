// Interface that replaces the splitter, tag and reorder part of pcie_dma, transaction by transaction or clocked by its
// pins. The Verilated RTL implements it; links, credits and latencies stay with the SystemC box.
#pragma once

#include <cstdint>
#include <optional>

#include "pcie/read_tags.h"

namespace mrc {

/// What a block is built for. A scenario with other sizes is refused.
struct PcieDmaSizes {
  std::uint32_t tags = 0;
  std::uint32_t jobs = 0;  ///< reads under way; numbers of jobs are below it
  std::uint64_t completion_buffer_bytes = 0;
};

struct ReadRequestTlp {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;  ///< 1 … MRRS
  std::uint32_t job = 0;
  std::uint16_t tag = 0;
  bool again = false;  ///< was asked for before: its completion was lost or poisoned
  friend bool operator==(const ReadRequestTlp&, const ReadRequestTlp&) = default;
};

struct CompletionTlp {
  std::uint16_t tag = 0;
  std::uint32_t bytes = 0;
  std::uint32_t byte_count = 0;  ///< still owed by its request, with these bytes
  bool poisoned = false;
};

struct WriteTlp {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;  ///< 1 … MPS
  bool last = false;        ///< of its write
  friend bool operator==(const WriteTlp&, const WriteTlp&) = default;
};

struct PcieReadJob {
  std::uint32_t job = 0;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;  ///< at least 1
  bool in_order = false;
};

struct PcieWriteJob {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;  ///< at least 1
};

/// By pins: what is offered in a cycle. Reads, writes and expired tags are offered until they are taken; completions
/// always are taken, and so are requests and reports.
struct PcieDmaInputs {
  std::optional<PcieReadJob> read;
  std::optional<PcieWriteJob> write;
  std::optional<CompletionTlp> completion;
  std::optional<std::uint16_t> expired;
  std::uint32_t released_bytes = 0;  ///< that left the completion buffer since the cycle before
  bool credit = false;               ///< a read request may be formed
  bool takes_tlp = false;            ///< there is room for a write TLP
};

/// By pins: what happened in a cycle.
struct PcieDmaOutputs {
  // Of what was offered, this was taken.
  bool read_taken = false;
  bool write_taken = false;
  bool expired_taken = false;

  // What came out.
  std::optional<ReadRequestTlp> request;
  std::optional<ReadTags::Verdict> verdict;
  std::uint16_t verdict_tag = 0;
  std::optional<std::uint32_t> ordered;
  std::optional<std::uint32_t> loose;
  std::optional<WriteTlp> tlp;

  bool ready_for_read = false;
  bool ready_for_write = false;
  bool lacks_tag = false;          ///< a request waits for a tag
  bool lacks_buffer = false;       ///< a request waits for room in the completion buffer
  std::uint64_t buffer_bytes = 0;  ///< in use in the completion buffer
};

class PcieDmaEngine {
 public:
  virtual ~PcieDmaEngine() = default;

  /// A read of at least 1 byte; `job` is not the number of an outstanding read.
  virtual void read(std::uint32_t job, std::uint64_t address, std::uint32_t bytes, bool in_order) = 0;
  /// There is a credit for a read request: the next one, if there is anything to ask for, a tag and room.
  virtual std::optional<ReadRequestTlp> request() = 0;
  virtual ReadTags::Verdict completion(const CompletionTlp& completion) = 0;
  /// The request with this tag has timed out: it is retried.
  virtual void expire(std::uint16_t tag) = 0;
  /// Bytes that left the completion buffer.
  virtual void release(std::uint32_t bytes) = 0;
  /// The next read that is done, of those in order and of the others.
  virtual std::optional<std::uint32_t> ordered_done() = 0;
  virtual std::optional<std::uint32_t> loose_done() = 0;

  /// A posted write of at least 1 byte, and its next TLP.
  virtual void write(std::uint64_t address, std::uint32_t bytes) = 0;
  virtual std::optional<WriteTlp> write_tlp() = 0;

  /// A cycle of the clock. By pins only: no operation above is used beside it.
  virtual PcieDmaOutputs clock(const PcieDmaInputs& inputs) = 0;

  /// Clock cycles that it was evaluated for.
  virtual std::uint64_t cycles() const = 0;
};

}  // namespace mrc
