// The NIC as a SystemC virtual platform sees it: a target socket for registers and doorbells, an initiator socket for
// DMA and interrupts. Inside are all boxes of mrc::Nic. docs/platform.md says how its time meets the platform's.
#pragma once

#ifndef SC_INCLUDE_DYNAMIC_PROCESSES
#define SC_INCLUDE_DYNAMIC_PROCESSES
#endif
#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include <tlm_utils/simple_target_socket.h>

#include "engine/wheel_module.h"
#include "fabric/fabric.h"
#include "nic/nic.h"
#include "nic/nic_context.h"
#include "parameters/scenario.h"
#include "pcie/host_memory.h"
#include "pcie/host_port.h"
#include "platform/dma_engine.h"
#include "platform/mmio.h"
#include "platform/payload_store.h"
#include "platform/register_map.h"
#include "transports/node_transport.h"

namespace mrc {

struct PlatformOptions {
  std::uint32_t qps = 64;                         ///< QP pages, 1 … 16,384
  std::uint32_t memory_regions = 64;              ///< 1 … kMostMemoryRegions
  std::uint32_t completion_queue_entries = 1024;  ///< power of two, 2 … 65,536
  DmaEngineOptions dma;
};

/// A scenario for NICs in a platform, from a file whose [traffic] is not looked at. Throws ParameterError.
ScenarioConfig load_platform_scenario(const std::string& path, const ScenarioOverrides& overrides);
/// The defaults of all parameters with these assignments ("key=value"). Throws ParameterError.
ScenarioConfig default_platform_scenario(const std::vector<std::string>& assignments = {});

class PlatformNic : public sc_core::sc_module, private HostPort, private DmaListener, private MmioClient {
 public:
  /// Registers and doorbells: register_map.h, docs/register_map.md.
  tlm_utils::simple_target_socket<PlatformNic> csr_socket;
  /// DMA: reads of WQEs, payload and QP contexts, writes of payload, CQEs, QP contexts and interrupts.
  DmaEngine::Socket dma_socket;

  /// Node `node` of `fabric`, which was built from the same `scenario` with Fabric::quantum_ps(scenario); both outlive
  /// the NIC. Throws std::invalid_argument for options or parameters that cannot work.
  PlatformNic(const sc_core::sc_module_name& name, const ScenarioConfig& scenario, NodeId node, Fabric& fabric,
              const PlatformOptions& options = {});
  ~PlatformNic() override;

  /// Bytes of the register space.
  std::uint64_t register_bytes() const { return kQpBlock + std::uint64_t{options_.qps} * kQpStride; }
  const Nic& nic() const { return *nic_; }
  const NicContext& context() const { return context_; }
  const DmaCounters& dma_counters() const { return dma_.counters(); }
  const TransactionPool& dma_pool() const { return dma_.pool(); }
  /// From a write to the target socket until it takes effect: host.doorbell_ns, at least the quantum.
  sc_core::sc_time mmio_latency() const { return sc_core::sc_time::from_value(mmio_ps_); }
  /// What each QP waits for that has work, a line each.
  std::vector<std::string> describe_waits() const;

 private:
  struct QpPage {
    std::uint64_t sq_base = 0;
    std::uint32_t sq_mask = 0;
    std::uint32_t posted = 0;   ///< WQEs that doorbells have announced
    std::uint32_t taken = 0;    ///< WQEs read
    bool wqes_refused = false;  ///< the platform refused the read of the WQEs under way
  };
  struct Address {
    const RegisterInfo* info = nullptr;
    std::uint32_t index = 0;  ///< of the memory region or QP
  };

  // csr_socket
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload);
  tlm::tlm_response_status check(const tlm::tlm_generic_payload& payload) const;
  Address find(std::uint64_t offset) const;
  std::uint32_t value_of(std::uint32_t offset, const Address& address) const;
  std::uint32_t global_value(std::uint32_t offset) const;
  std::uint32_t qp_value(std::uint32_t offset, const Address& address) const;
  std::uint32_t* stored(std::vector<std::uint32_t>& bank, std::uint32_t offset);
  std::uint32_t effective(std::uint32_t offset) const;
  std::uint64_t effective64(std::uint32_t offset) const;

  // MmioClient
  bool apply(TimePs now, const MmioAction& action, Box& box) override;
  bool write_register(TimePs now, std::uint32_t offset, std::uint32_t value, Box& box);
  void command_qp(TimePs now, std::uint32_t index, std::uint32_t command);
  void connect_qp(std::uint32_t index);
  bool ring(TimePs now, std::uint32_t index, std::uint32_t posted, Box& box);
  void set_region(std::uint32_t index, std::uint32_t control);
  void take_completions(TimePs now, std::uint32_t tail);
  void arm_interrupt(TimePs now, std::uint32_t seen);

  // HostPort
  void read(TimePs at, const HostRead& request) override;
  void write(TimePs at, std::uint64_t address, const std::byte* source, std::uint32_t bytes) override;
  std::byte* payload_buffer(std::uint32_t qp, std::uint32_t psn) override;
  bool poisoned(const std::byte* payload) const override;
  std::uint64_t wqe_address(std::uint32_t qp) const override;
  std::uint32_t wqes_in_a_row(std::uint32_t qp) const override;
  std::byte* wqe_buffer(std::uint32_t qp) override;
  bool take_wqes(Qp& qp) override;
  std::uint64_t context_address(std::uint32_t qp) const override;
  std::uint64_t cqe_address() const override;
  void complete(TimePs at, const Cqe& cqe) override;

  // DmaListener
  void read_ended(const HostRead& request, TimePs at, bool ok) override;
  void write_ended(const DmaTransaction& write, TimePs at, bool ok) override;

  void interrupt(TimePs at);
  void error(DeviceError error, std::uint32_t qp, std::uint64_t address);
  std::uint32_t qp_of_read(const HostRead& request);

  const ScenarioConfig& scenario_;
  PlatformOptions options_;
  const Topology& topology_;
  TimePs quantum_ps_;
  TimePs mmio_ps_;
  WheelModule wheel_;
  NicContext context_;
  std::unique_ptr<NodeTransport> transport_;
  HostMemory no_memory_;  ///< the boxes' own kind of memory: empty, the platform's takes its place
  Mmio mmio_;
  std::unique_ptr<Nic> nic_;
  DmaEngine dma_;
  Fifo<Cqe> completions_;  ///< CQEs that software has not taken
  PayloadStore payload_;
  std::vector<std::byte> wqe_buffers_;
  std::vector<QpPage> pages_;

  std::vector<std::uint32_t> written_;    ///< registers as software last wrote them, what it reads back
  std::vector<std::uint32_t> effective_;  ///< the same when the writes have reached the NIC
  std::vector<std::uint32_t> region_rkey_;
  std::vector<bool> region_valid_;
  std::uint32_t cq_written_ = 0;  ///< CQEs on their way to memory or there
  std::uint32_t cq_visible_ = 0;
  std::uint32_t cq_taken_ = 0;
  std::uint32_t interrupt_seen_ = 0;
  bool interrupt_armed_ = false;
  std::uint32_t error_status_ = 0;
  std::uint32_t error_qp_ = 0xFFFF'FFFF;
  std::uint64_t error_address_ = 0;
  std::uint32_t error_count_ = 0;
  TimePs last_mmio_ = 0;
};

}  // namespace mrc
