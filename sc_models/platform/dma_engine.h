// The NIC's DMA on the platform's side of the PCIe link: sends each access as a generic payload at its own time, by
// DMI where the platform grants it, else blocking or non-blocking. Reads may overtake each other; writes keep their
// order.
#pragma once

#ifndef SC_INCLUDE_DYNAMIC_PROCESSES
#define SC_INCLUDE_DYNAMIC_PROCESSES
#endif
#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>

#include "mrc/types.h"
#include "pcie/host_port.h"
#include "platform/transaction_pool.h"

namespace mrc {

/// How accesses go out that DMI does not serve.
enum class DmaProtocol : std::uint8_t {
  b_transport,   ///< loosely timed; a target that waits is called by up to `blocking_reads` threads at once
  nb_transport,  ///< approximately timed, four phases
};

struct DmaEngineOptions {
  DmaProtocol protocol = DmaProtocol::b_transport;
  bool use_dmi = true;                ///< take DMI where a response offers it
  std::uint32_t blocking_reads = 32;  ///< b_transport calls for reads at once, at least 1
};

/// Hears how accesses end, at kernel time; `at` is now or, by an annotated delay, later.
class DmaListener {
 public:
  virtual ~DmaListener() = default;
  virtual void read_ended(const HostRead& request, TimePs at, bool ok) = 0;
  virtual void write_ended(const DmaTransaction& write, TimePs at, bool ok) = 0;
};

struct DmaCounters {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t by_dmi = 0;  ///< of both
  std::uint64_t dmi_grants = 0;
  std::uint64_t dmi_invalidations = 0;
};

class DmaEngine : public sc_core::sc_module {
 public:
  using Socket = tlm_utils::simple_initiator_socket<DmaEngine>;

  /// `socket` and `listener` outlive the engine.
  DmaEngine(const sc_core::sc_module_name& name, Socket& socket, DmaListener& listener,
            const DmaEngineOptions& options);
  ~DmaEngine() override;

  /// Sends a read at `at`, now or later.
  void read(TimePs at, const HostRead& request);
  enum class WriteKind : std::uint8_t { payload, completion, interrupt };
  /// Sends a write at `at` or behind the write before it. Completions and interrupts wait for the end of all before.
  void write(TimePs at, std::uint64_t address, const std::byte* source, std::uint32_t bytes, WriteKind kind);

  const DmaCounters& counters() const { return counters_; }
  const TransactionPool& pool() const { return pool_; }

 private:
  struct Later {
    bool operator()(const DmaTransaction* a, const DmaTransaction* b) const {
      return a->due != b->due ? a->due > b->due : a->read.sequence > b->read.sequence;
    }
  };
  struct Worker;

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void invalidate_dmi(sc_dt::uint64 first, sc_dt::uint64 last);

  void take_due_reads();
  void write_loop();
  void work(Worker& worker);
  void wake_worker();
  void read_blocking(DmaTransaction& transaction);
  bool by_dmi(DmaTransaction& transaction, TimePs& at);
  void ask_for_dmi(DmaTransaction& transaction);

  void send_requests();
  DmaTransaction* next_request();
  void send_request(DmaTransaction& transaction);
  void request_accepted();
  void response(DmaTransaction& transaction, const sc_core::sc_time& delay);
  void end(DmaTransaction& transaction, TimePs at);

  Socket& socket_;
  DmaListener& listener_;
  DmaEngineOptions options_;
  TransactionPool pool_;
  DmaCounters counters_;
  std::vector<tlm::tlm_dmi> regions_;
  TimePs last_write_ = 0;  ///< due time of the last write
  TimePs last_write_end_ = 0;
  TimePs settled_at_ = kNever;     ///< instant at which all who woke with the writes have had their turn
  std::uint64_t writes_open_ = 0;  ///< sent non-blocking and not answered

  std::priority_queue<DmaTransaction*, std::vector<DmaTransaction*>, Later> reads_;
  std::deque<DmaTransaction*> due_reads_;
  std::deque<DmaTransaction*> writes_;
  sc_core::sc_event read_due_;
  sc_core::sc_event write_due_;
  std::vector<std::unique_ptr<Worker>> workers_;

  DmaTransaction* request_open_ = nullptr;  ///< BEGIN_REQ without END_REQ
  std::vector<DmaTransaction*> retired_;    ///< answered, released after the call that answered them
  sc_core::sc_event requests_due_;
};

}  // namespace mrc
