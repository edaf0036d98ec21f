// Writes completion queue entries to host memory and lets software see them: sends when the peer's transport ACK is in,
// receives behind the data they announce.
#pragma once

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/nic_context.h"
#include "pcie/pcie_dma.h"

namespace mrc::timing {

/// What software reads from the completion queue.
struct Cqe {
  enum class Kind : std::uint8_t { send, receive };
  Kind kind = Kind::send;
  std::uint32_t qp = 0;
  std::uint64_t id = 0;  ///< WorkRequest.id of a send
  std::uint32_t immediate = 0;
  CompletionStatus status = CompletionStatus::success;
};

class Completion : public Box, private WriteClient {
 public:
  Completion(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie);
  /// The queue from which software polls.
  void connect(Fifo<Cqe>& host_queue) { host_queue_ = &host_queue; }

  Fifo<Cqe>& in() { return in_; }
  void step(TimePs now) override;

  IssueSlot slot;

 private:
  void write_left(std::uint64_t cookie, TimePs now, TimePs last_end) override;

  NicContext& nic_;
  PcieDma& pcie_;
  Fifo<Cqe> in_;
  Fifo<Cqe>* host_queue_ = nullptr;
  TimePs next_start_ = 0;
  Cqe cqe_;  ///< being written
  TimePs issued_at_ = 0;
  bool write_under_way_ = false;
};

}  // namespace mrc::timing

namespace mrc {
using timing::Cqe;
}  // namespace mrc
