// The host behind the PCIe link where it is not the model's own: a virtual platform's memory, with the queues that its
// software keeps there. Without one, the boxes use the model's HostMemory and SendQueue.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mrc/types.h"

namespace mrc {

struct Packet;
struct Qp;
struct Cqe;

/// One read request TLP on its way to the host.
struct HostRead {
  std::uint64_t address = 0;
  std::uint64_t sequence = 0;  ///< of PcieDma, as `job`
  std::byte* into = nullptr;   ///< where the bytes go; null: nobody looks at them (a QP context)
  std::uint32_t bytes = 0;
  std::uint32_t job = 0;  ///< of PcieDma, to be handed back
  TimePs return_ps = 0;   ///< from the memory's answer until the completion is at the NIC's end of the link
};

class HostPort {
 public:
  virtual ~HostPort() = default;

  /// The memory sees `request` at `at`, now or later. PcieDma::host_answered() is called once for it.
  virtual void read(TimePs at, const HostRead& request) = 0;
  /// A posted write becomes visible at `at`; writes keep the order of the calls. The bytes are copied.
  virtual void write(TimePs at, std::uint64_t address, const std::byte* source, std::uint32_t bytes) = 0;

  /// Where a packet's payload is kept between host and wire; stays valid until the peer has written it.
  virtual std::byte* payload_buffer(std::uint32_t qp, std::uint32_t psn) = 0;
  /// The host refused a read into this buffer: what it holds must not reach anybody's memory.
  virtual bool poisoned(const std::byte* payload) const = 0;

  /// Address of a QP's next WQE, how many lie in a row from there, and where a read of them goes.
  virtual std::uint64_t wqe_address(std::uint32_t qp) const = 0;
  virtual std::uint32_t wqes_in_a_row(std::uint32_t qp) const = 0;
  virtual std::byte* wqe_buffer(std::uint32_t qp) = 0;
  /// WQEs have been read: puts what they ask for into the QP's send queue. False if one of them is not valid.
  virtual bool take_wqes(Qp& qp) = 0;

  virtual std::uint64_t context_address(std::uint32_t qp) const = 0;

  /// Address of the next CQE; it is visible at `at`, behind all writes before.
  virtual std::uint64_t cqe_address() const = 0;
  virtual void complete(TimePs at, const Cqe& cqe) = 0;
};

}  // namespace mrc
