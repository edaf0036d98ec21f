// Software of a node: sets up the NIC through its registers, sends messages to the peer and checks received messages,
// using only transactions on two sockets.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>

#include "platform/queue_entries.h"

namespace platform {

/// Values on which both drivers agree in advance; in a real system a connection manager does this.
struct Plan {
  std::uint32_t qps = 2;
  std::uint32_t messages = 64;   ///< per direction
  std::uint32_t bytes = 65'536;  ///< longest message; others are shorter and not aligned
  std::uint32_t outstanding = 8;
  bool interrupts = true;  ///< wait for interrupts, otherwise poll memory
  std::uint64_t interrupt_page = 1ULL << 40;
};

class Driver : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Driver> registers;
  tlm_utils::simple_initiator_socket<Driver> memory;

  /// `interrupt` is notified by the platform's interrupt controller.
  Driver(const sc_core::sc_module_name& name, std::uint32_t node, std::uint32_t peer, const Plan& plan,
         const sc_core::sc_event& interrupt);

  bool done() const { return sent_ == plan_.messages && received_ == plan_.messages; }
  std::uint32_t sent() const { return sent_; }
  std::uint32_t received() const { return received_; }
  std::uint64_t bytes_received() const { return bytes_received_; }
  std::uint64_t wrong_bytes() const { return wrong_bytes_; }
  std::uint32_t failed() const { return failed_; }
  const std::string& first_fault() const { return first_fault_; }
  sc_core::sc_time first_post() const { return first_post_; }
  sc_core::sc_time last_arrival() const { return last_arrival_; }
  std::uint64_t register_value64(std::uint32_t offset);  ///< by debug transport

 private:
  /// Number of messages done in sequence from the first; later ones may be done earlier.
  struct Prefix {
    std::uint32_t length = 0;
    std::set<std::uint32_t> ahead;
    void add(std::uint32_t message);
  };

  void run();
  void set_up();
  void connect(std::uint32_t qp);
  void post(std::uint32_t message);
  void fill(std::uint64_t address, std::uint32_t message);
  void check(std::uint32_t message);
  void take(const mrc::CompletionEntry& entry);
  bool poll();

  std::uint32_t length(std::uint32_t message) const;
  std::uint64_t slot_bytes() const { return (std::uint64_t{plan_.bytes} + 8191) / 4096 * 4096; }
  std::uint64_t source_of(std::uint32_t message) const;
  std::uint64_t destination_of(std::uint32_t message) const;
  void access(tlm_utils::simple_initiator_socket<Driver>& socket, tlm::tlm_command command, std::uint64_t address,
              void* data, std::uint32_t length);
  void write_register(std::uint32_t offset, std::uint32_t value);
  void write_register64(std::uint32_t offset, std::uint64_t value);
  std::uint32_t read_register(std::uint32_t offset);

  std::uint32_t node_;
  std::uint32_t peer_;
  Plan plan_;
  const sc_core::sc_event& interrupt_;
  std::uint32_t wqe_bytes_ = 0;
  std::uint32_t cqe_bytes_ = 0;
  std::uint32_t cq_entries_ = 0;
  std::uint32_t cq_index_ = 0;
  std::uint32_t first_qp_ = 0;
  std::vector<std::uint32_t> posted_;  ///< WQEs, by QP
  std::uint32_t next_ = 0;             ///< message to be posted
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
  Prefix sent_prefix_;
  Prefix received_prefix_;
  std::uint32_t failed_ = 0;
  std::uint64_t bytes_received_ = 0;
  std::uint64_t wrong_bytes_ = 0;
  std::string first_fault_;
  sc_core::sc_time first_post_;
  sc_core::sc_time last_arrival_;
  std::vector<unsigned char> buffer_;
};

}  // namespace platform
