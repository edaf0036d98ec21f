// Generic payloads of the DMA, reused: a memory manager in the sense of TLM-2.0, so that a target may keep a
// transaction beyond the call and release it when it is done.
#pragma once

#include <memory>
#include <tlm>
#include <vector>

#include "pcie/host_port.h"

namespace mrc {

/// One DMA access with the bytes of a write and what its end means to the NIC.
class DmaTransaction : public tlm::tlm_generic_payload {
 public:
  explicit DmaTransaction(tlm::tlm_mm_interface* manager) : tlm_generic_payload(manager) {}

  HostRead read;                     ///< of a read
  std::vector<unsigned char> bytes;  ///< of a write, or where bytes of a read go that nobody looks at
  TimePs due = 0;
  bool behind_all_writes = false;  ///< a write that the platform must not see before those that came earlier
  bool completion = false;         ///< a CQE
  bool answered = false;           ///< the response phase has begun
};

class TransactionPool : public tlm::tlm_mm_interface {
 public:
  /// A payload with one reference.
  DmaTransaction* acquire() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<DmaTransaction>(this));
      free_.push_back(all_.back().get());
    }
    DmaTransaction* transaction = free_.back();
    free_.pop_back();
    transaction->acquire();
    transaction->behind_all_writes = transaction->completion = transaction->answered = false;
    // Everything that a target may have changed, or that it looks at, is as the base protocol wants it.
    transaction->set_byte_enable_ptr(nullptr);
    transaction->set_byte_enable_length(0);
    transaction->set_dmi_allowed(false);
    transaction->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return transaction;
  }
  void free(tlm::tlm_generic_payload* payload) override {
    payload->reset();
    free_.push_back(static_cast<DmaTransaction*>(payload));
  }
  std::size_t made() const { return all_.size(); }
  std::size_t in_use() const { return all_.size() - free_.size(); }

 private:
  std::vector<std::unique_ptr<DmaTransaction>> all_;
  std::vector<DmaTransaction*> free_;
};

}  // namespace mrc
