// The NIC's sockets, access by access: response statuses, when writes take effect, base protocol, what refused and
// spoilt accesses lead to. Each case has a process of its own, as the SystemC kernel can be elaborated once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "fabric/fabric.h"
#include "platform/memory.h"
#include "platform/platform_nic.h"
#include "platform/queue_entries.h"

namespace mrc {
namespace {

using sc_core::SC_NS;
using sc_core::sc_time;
using sc_core::sc_time_stamp;
using sc_core::SC_US;

constexpr std::uint64_t kQueue = 0x1000;
constexpr std::uint64_t kCq = 0x8000;
constexpr std::uint64_t kSource = 0x10'0000;
constexpr std::uint64_t kDestination = 0x20'0000;
constexpr std::uint32_t kRkey = 77;

/// Memory that speaks four phases itself: it takes one request at a time and answers out of order.
class FourPhaseMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<FourPhaseMemory> socket;
  explicit FourPhaseMemory(const sc_core::sc_module_name& name) : sc_module(name), socket("socket"), bytes(8 << 20) {
    socket.register_nb_transport_fw(this, &FourPhaseMemory::nb_transport_fw);
    sc_core::sc_spawn([this] { answer(); }, "answer");
  }
  std::vector<unsigned char> bytes;
  std::uint64_t requests = 0;
  std::uint64_t overtaken = 0;  ///< responses that left before that of an earlier request
  std::vector<std::string> violations;

 private:
  struct Pending {
    tlm::tlm_generic_payload* payload;
    sc_time due;
    std::uint64_t number;
  };

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
    if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
    if (phase != tlm::BEGIN_REQ) violations.push_back("a phase other than BEGIN_REQ and END_RESP came forward");
    if (request_open_) violations.push_back("BEGIN_REQ before the END_REQ of the request before");
    if (!payload.has_mm()) violations.push_back("a non-blocking transaction has no memory manager");
    if (payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) violations.push_back("status was set before");
    request_open_ = true;
    payload.acquire();
    const std::uint64_t address = payload.get_address();
    if (address + payload.get_data_length() > bytes.size()) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    } else {
      if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &bytes[address], payload.get_data_length());
      if (payload.is_write()) std::memcpy(&bytes[address], payload.get_data_ptr(), payload.get_data_length());
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    // Reads take 60 or 400 ns, so that later ones overtake earlier ones.
    const bool slow = payload.is_read() && requests % 3 == 0;
    pending_.push_back({&payload, sc_time_stamp() + delay + sc_time(slow ? 400 : 60, SC_NS), requests++});
    end_request_.notify(delay + sc_time(2, SC_NS));
    wake_.notify(sc_core::SC_ZERO_TIME);
    opened_ = &payload;
    return tlm::TLM_ACCEPTED;
  }

  void answer() {
    sc_core::sc_spawn(
        [this] {
          while (true) {
            sc_core::wait(end_request_);
            request_open_ = false;
            tlm::tlm_phase phase = tlm::END_REQ;
            sc_time delay;
            socket->nb_transport_bw(*opened_, phase, delay);
          }
        },
        "end_requests");
    while (true) {
      auto first = pending_.end();
      for (auto it = pending_.begin(); it != pending_.end(); ++it) {
        if (first == pending_.end() || it->due < first->due) first = it;
      }
      if (first == pending_.end() || first->due > sc_time_stamp()) {
        if (first == pending_.end()) {
          sc_core::wait(wake_);
        } else {
          sc_core::wait(first->due - sc_time_stamp(), wake_);
        }
        continue;
      }
      for (const Pending& other : pending_) overtaken += other.number < first->number ? 1 : 0;
      tlm::tlm_generic_payload* payload = first->payload;
      pending_.erase(first);
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_time delay;
      const auto status = socket->nb_transport_bw(*payload, phase, delay);
      if (status == tlm::TLM_ACCEPTED) violations.push_back("BEGIN_RESP was neither completed nor ended");
      payload->release();
    }
  }

  bool request_open_ = false;
  tlm::tlm_generic_payload* opened_ = nullptr;
  std::vector<Pending> pending_;
  sc_core::sc_event end_request_;
  sc_core::sc_event wake_;
};

/// What is bound to a socket that nobody uses.
class Idle : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Idle> socket;
  explicit Idle(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {}
};

/// Software of one node, as a few verbs.
class Software : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Software> registers;
  tlm_utils::simple_initiator_socket<Software> memory;
  explicit Software(const sc_core::sc_module_name& name) : sc_module(name), registers("registers"), memory("memory") {
    registers.register_nb_transport_bw(this, &Software::nb_transport_bw);
  }

  template <typename Socket>
  tlm::tlm_response_status access(Socket& socket, tlm::tlm_command command, std::uint64_t address, void* data,
                                  std::uint32_t bytes, sc_time& delay) {
    tlm::tlm_generic_payload payload;
    set(payload, command, address, data, bytes);
    socket->b_transport(payload, delay);
    return payload.get_response_status();
  }
  static void set(tlm::tlm_generic_payload& payload, tlm::tlm_command command, std::uint64_t address, void* data,
                  std::uint32_t bytes) {
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
  }
  tlm::tlm_response_status write(std::uint32_t offset, std::uint32_t value, sc_time delay = {}) {
    return access(registers, tlm::TLM_WRITE_COMMAND, offset, &value, 4, delay);
  }
  std::uint32_t read(std::uint32_t offset) {
    std::uint32_t value = 0;
    sc_time delay;
    EXPECT_EQ(access(registers, tlm::TLM_READ_COMMAND, offset, &value, 4, delay), tlm::TLM_OK_RESPONSE) << offset;
    sc_core::wait(delay);
    return value;
  }
  std::uint32_t peek(std::uint32_t offset) {
    std::uint32_t value = 0;
    tlm::tlm_generic_payload payload;
    set(payload, tlm::TLM_READ_COMMAND, offset, &value, 4);
    EXPECT_EQ(registers->transport_dbg(payload), 4U);
    return value;
  }
  void to_memory(std::uint64_t address, const void* data, std::uint32_t bytes) {
    sc_time delay;
    access(memory, tlm::TLM_WRITE_COMMAND, address, const_cast<void*>(data), bytes, delay);
  }
  std::vector<std::byte> from_memory(std::uint64_t address, std::uint32_t bytes) {
    std::vector<std::byte> data(bytes);
    sc_time delay;
    EXPECT_EQ(access(memory, tlm::TLM_READ_COMMAND, address, data.data(), bytes, delay), tlm::TLM_OK_RESPONSE);
    return data;
  }

  void connect(std::uint32_t peer) {
    write(reg::cq_base_lo, kCq);
    write(region_register(0, reg::region::va_lo), kDestination);
    write(region_register(0, reg::region::bytes_lo), 0x10'0000);
    write(region_register(0, reg::region::rkey), kRkey);
    write(region_register(0, reg::region::control), 3);
    write(qp_register(0, reg::qp::sq_base_lo), kQueue);
    write(qp_register(0, reg::qp::sq_log2), 4);
    write(qp_register(0, reg::qp::peer_node), peer);
    write(qp_register(0, reg::qp::peer_qp), kFirstQpNumber);
    write(qp_register(0, reg::qp::send_psn), 5 + peer);
    write(qp_register(0, reg::qp::receive_psn), 5 + 1 - peer);
    write(qp_register(0, reg::qp::control), kQpConnect);
    write(qp_register(0, reg::qp::receive_doorbell), 16);
    EXPECT_EQ(read(qp_register(0, reg::qp::state)), 3U);
  }
  void post(const WorkRequest& request) {
    std::vector<std::byte> wqe(64);
    encode_wqe(request, wqe.data());
    to_memory(kQueue + (posted & 15) * 64, wqe.data(), 64);
    write(qp_register(0, reg::qp::sq_doorbell), ++posted);
  }
  /// Waits for the next CQE, takes it; fails the test after a millisecond.
  CompletionEntry next_completion(std::uint32_t entries, bool take = true) {
    for (int i = 0; i < 10'000; ++i) {
      const std::vector<std::byte> bytes = from_memory(kCq + std::uint64_t{taken % entries} * 64, 64);
      const CompletionEntry entry = decode_cqe(bytes.data());
      if (entry.phase == cqe_phase(taken, entries)) {
        ++taken;
        if (take) write(reg::cq_tail, taken);
        return entry;
      }
      sc_core::wait(100, SC_NS);
    }
    ADD_FAILURE() << "no completion";
    return {};
  }

  std::function<tlm::tlm_sync_enum(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_time&)> on_backward;
  std::uint32_t posted = 0;
  std::uint32_t taken = 0;

 private:
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
    return on_backward ? on_backward(payload, phase, delay) : tlm::TLM_ACCEPTED;
  }
};

struct Bench {
  explicit Bench(const std::vector<std::string>& assignments = {}, PlatformOptions options = {},
                 platform::MemoryOptions memory_options = {})
      : scenario(default_platform_scenario(assignments)), fabric("fabric", scenario, Fabric::quantum_ps(scenario)) {
    memory_options.bytes = 8 << 20;
    for (NodeId node : {0U, 1U}) {
      memories.push_back(std::make_unique<platform::Memory>(fmt::format("memory{}", node).c_str(), memory_options));
      nics.push_back(
          std::make_unique<PlatformNic>(fmt::format("nic{}", node).c_str(), scenario, node, fabric, options));
      software.push_back(std::make_unique<Software>(fmt::format("software{}", node).c_str()));
      nics[node]->dma_socket.bind(memories[node]->nic_socket);
      software[node]->memory.bind(memories[node]->cpu_socket);
      software[node]->registers.bind(nics[node]->csr_socket);
    }
  }
  /// Runs `test` as software of node 0, to its end.
  void run(const std::function<void(Software&, Software&)>& test) {
    bool ended = false;
    sc_core::sc_spawn(
        [&] {
          test(*software[0], *software[1]);
          ended = true;
          sc_core::sc_stop();
        },
        "test");
    sc_core::sc_start(sc_time(100, sc_core::SC_MS));
    EXPECT_TRUE(ended);
  }

  ScenarioConfig scenario;
  Fabric fabric;
  std::vector<std::unique_ptr<platform::Memory>> memories;
  std::vector<std::unique_ptr<PlatformNic>> nics;
  std::vector<std::unique_ptr<Software>> software;
};

std::vector<std::byte> noise(std::uint32_t bytes, std::uint64_t seed) {
  std::vector<std::byte> data(bytes);
  KeyedRandom random(seed, "noise");
  for (std::byte& byte : data) byte = static_cast<std::byte>(random.next());
  return data;
}

WorkRequest request(std::uint64_t id, std::uint32_t bytes) {
  return {.id = id,
          .local_address = kSource + 5,
          .remote_address = kDestination + 9,
          .rkey = kRkey,
          .bytes = bytes,
          .immediate = 4711,
          .write_imm = true};
}

TEST(PlatformRegisters, WrongAccessesGetTheirResponseStatus) {
  Bench bench;
  bench.run([&](Software& cpu, Software&) {
    std::uint64_t data = 0;
    sc_time delay;
    const auto status = [&](tlm::tlm_command command, std::uint64_t address, std::uint32_t bytes) {
      return cpu.access(cpu.registers, command, address, &data, bytes, delay);
    };
    EXPECT_EQ(status(tlm::TLM_READ_COMMAND, reg::device_id, 4), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(static_cast<std::uint32_t>(data), kDeviceId);
    EXPECT_EQ(status(tlm::TLM_READ_COMMAND, reg::device_id, 8), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(data, std::uint64_t{kRegisterMapVersion} << 32 | kDeviceId);
    EXPECT_EQ(status(tlm::TLM_READ_COMMAND, 0x030, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(status(tlm::TLM_READ_COMMAND, bench.nics[0]->register_bytes(), 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(status(tlm::TLM_READ_COMMAND, ~std::uint64_t{3}, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(status(tlm::TLM_READ_COMMAND, region_register(64, 0), 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(status(tlm::TLM_READ_COMMAND, 2, 4), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(status(tlm::TLM_READ_COMMAND, 0, 2), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(status(tlm::TLM_READ_COMMAND, 4, 8), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(status(tlm::TLM_WRITE_COMMAND, reg::device_id, 4), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(status(tlm::TLM_READ_COMMAND, qp_register(3, reg::qp::sq_doorbell), 4), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(status(tlm::TLM_IGNORE_COMMAND, reg::device_id, 4), tlm::TLM_OK_RESPONSE);

    tlm::tlm_generic_payload payload;
    Software::set(payload, tlm::TLM_READ_COMMAND, reg::cq_base_lo, &data, 4);
    unsigned char enable[4] = {0xFF, 0, 0, 0};
    payload.set_byte_enable_ptr(enable);
    payload.set_byte_enable_length(4);
    cpu.registers->b_transport(payload, delay);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    Software::set(payload, tlm::TLM_WRITE_COMMAND, reg::cq_base_lo, &data, 8);
    payload.set_byte_enable_ptr(nullptr);
    payload.set_streaming_width(4);
    cpu.registers->b_transport(payload, delay);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_BURST_ERROR_RESPONSE);

    tlm::tlm_dmi dmi;
    EXPECT_FALSE(cpu.registers->get_direct_mem_ptr(payload, dmi));
    EXPECT_EQ(dmi.get_start_address(), 0U);  // refused for all addresses
    EXPECT_EQ(dmi.get_end_address(), ~sc_dt::uint64{0});
  });
}

TEST(PlatformRegisters, ReadsComeBehindWritesAndDebugReadsDisturbNothing) {
  Bench bench;
  bench.run([&](Software& cpu, Software&) {
    cpu.write(reg::cq_base_hi, 0x1234'5678);
    EXPECT_EQ(cpu.peek(reg::cq_base_hi), 0x1234'5678U);
    EXPECT_EQ(cpu.read(reg::cq_base_hi), 0x1234'5678U);
    const sc_time before = sc_time_stamp();
    EXPECT_EQ(cpu.peek(reg::mtu_bytes), bench.scenario.protocol.mtu_bytes);
    EXPECT_EQ(sc_time_stamp(), before);
    std::uint32_t value = 1;
    tlm::tlm_generic_payload payload;
    Software::set(payload, tlm::TLM_WRITE_COMMAND, reg::cq_base_lo, &value, 4);
    EXPECT_EQ(cpu.registers->transport_dbg(payload), 0U);
    EXPECT_EQ(cpu.peek(reg::cq_base_lo), 0U);
    const sc_time start = sc_time_stamp();
    cpu.read(reg::device_id);
    EXPECT_EQ(sc_time_stamp() - start, 2 * bench.nics[0]->mmio_latency());
  });
}

/// Time from the access to its effect, for a latency of doorbell writes and a delay that the initiator annotates.
struct EffectCase {
  double doorbell_ns;
  double annotated_ns;
  double effect_ns;
};
void PrintTo(const EffectCase& c, std::ostream* out) {
  *out << c.doorbell_ns << " ns, annotated " << c.annotated_ns << " ns";
}
class PlatformTiming : public ::testing::TestWithParam<EffectCase> {};

TEST_P(PlatformTiming, AWriteTakesEffectAfterItsLatencyAndNeverBehindTheNic) {
  const EffectCase& c = GetParam();
  Bench bench({fmt::format("host.doorbell_ns={}", c.doorbell_ns)});
  bench.run([&](Software& cpu, Software&) {
    sc_core::wait(10, SC_US);
    EXPECT_EQ(bench.nics[0]->mmio_latency() + sc_time(c.annotated_ns, SC_NS), sc_time(c.effect_ns, SC_NS));
    cpu.write(qp_register(7, reg::qp::sq_doorbell), 1, sc_time(c.annotated_ns, SC_NS));
    // The wheel may run ahead of the kernel by a quantum, and its state with it, but not by more.
    sc_core::wait(sc_time(c.effect_ns - 151, SC_NS));
    EXPECT_EQ(cpu.peek(reg::error_count), 0U);
    sc_core::wait(sc_time(152, SC_NS));
    EXPECT_EQ(cpu.peek(reg::error_count), 1U);
    EXPECT_EQ(cpu.peek(reg::error_status), 1U << static_cast<int>(DeviceError::doorbell_not_connected));
    EXPECT_EQ(cpu.peek(reg::error_qp), 7U);
    cpu.write(reg::error_status, ~0U);
    EXPECT_EQ(cpu.read(reg::error_status), 0U);
  });
}
INSTANTIATE_TEST_SUITE_P(Latencies, PlatformTiming,
                         ::testing::Values(EffectCase{300, 0, 300}, EffectCase{300, 1000, 1300},
                                           EffectCase{155, 0, 155}, EffectCase{0, 20, 170}));

TEST(PlatformRegisters, NonBlockingAccessesPassThroughFourPhases) {
  Bench bench;
  std::vector<std::string> phases;
  TransactionPool pool;
  sc_core::sc_event ended;
  std::uint32_t value = 0;
  bench.run([&](Software& cpu, Software&) {
    cpu.on_backward = [&](tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_time&) {
      phases.push_back(phase.get_name());
      if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
      EXPECT_TRUE(payload.is_response_ok());
      ended.notify(sc_core::SC_ZERO_TIME);
      return tlm::TLM_ACCEPTED;
    };
    DmaTransaction* payload = pool.acquire();
    Software::set(*payload, tlm::TLM_READ_COMMAND, reg::device_id, &value, 4);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_time delay;
    ASSERT_NE(cpu.registers->nb_transport_fw(*payload, phase, delay), tlm::TLM_COMPLETED);
    sc_core::wait(ended);
    phase = tlm::END_RESP;
    delay = sc_core::SC_ZERO_TIME;
    cpu.registers->nb_transport_fw(*payload, phase, delay);
    sc_core::wait(1, SC_NS);
    payload->release();
    EXPECT_EQ(value, kDeviceId);
    EXPECT_EQ(phases.back(), "BEGIN_RESP");
  });
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(PlatformDma, AMessageLandsByteForByteAndCompletesAtBothEnds) {
  Bench bench;
  bench.run([&](Software& a, Software& b) {
    a.connect(1);
    b.connect(0);
    const std::vector<std::byte> sent = noise(20'000, 1);
    a.to_memory(kSource + 5, sent.data(), 20'000);
    a.post(request(99, 20'000));
    const CompletionEntry received = b.next_completion(1024);
    EXPECT_TRUE(received.receive);
    EXPECT_EQ(received.immediate, 4711U);
    // The data is there when its completion is.
    EXPECT_EQ(b.from_memory(kDestination + 9, 20'000), sent);
    EXPECT_EQ(b.from_memory(kDestination, 9), std::vector<std::byte>(9));
    EXPECT_EQ(b.from_memory(kDestination + 9 + 20'000, 64), std::vector<std::byte>(64));
    const CompletionEntry done = a.next_completion(1024);
    EXPECT_EQ(done.id, 99U);
    EXPECT_EQ(done.status, CompletionStatus::success);
    EXPECT_EQ(a.read(reg::cq_head), 1U);
    EXPECT_EQ(a.read(qp_register(0, reg::qp::sq_head)), 1U);
    EXPECT_EQ(b.read(qp_register(0, reg::qp::receives_posted)), 15U);
    sc_core::wait(100, SC_US);
  });
  for (const auto& nic : bench.nics) EXPECT_EQ(nic->dma_pool().in_use(), 0U);
  EXPECT_LT(bench.nics[0]->dma_pool().made(), 64U);
}

TEST(PlatformDma, BytesAreReadWhenTheNicReadsThem) {
  Bench bench;
  bench.run([&](Software& a, Software& b) {
    a.connect(1);
    b.connect(0);
    const std::vector<std::byte> early = noise(4096, 1);
    const std::vector<std::byte> late = noise(4096, 2);
    a.to_memory(kSource + 5, early.data(), 4096);
    a.post(request(1, 4096));
    // 300 ns to the doorbell, a microsecond for the WQE: the payload is read after that.
    sc_core::wait(600, SC_NS);
    a.to_memory(kSource + 5, late.data(), 4096);
    b.next_completion(1024);
    EXPECT_EQ(b.from_memory(kDestination + 9, 4096), late);
    // From the completion on, what software does to its buffer changes nothing at the peer.
    a.next_completion(1024);
    a.to_memory(kSource + 5, early.data(), 4096);
    sc_core::wait(20, SC_US);
    EXPECT_EQ(b.from_memory(kDestination + 9, 4096), late);
  });
}

TEST(PlatformDma, ARefusedPayloadReadEndsTheQpAndReachesNobody) {
  Bench bench;
  bench.run([&](Software& a, Software& b) {
    a.connect(1);
    b.connect(0);
    WorkRequest bad = request(7, 9000);
    bad.local_address = (8 << 20) - 6000;  // runs out of memory in its second packet
    a.post(bad);
    const CompletionEntry done = a.next_completion(1024);
    EXPECT_EQ(done.id, 7U);
    EXPECT_EQ(done.status, CompletionStatus::flushed);
    EXPECT_EQ(a.read(reg::error_status), 1U << static_cast<int>(DeviceError::dma_read));
    EXPECT_EQ(a.read(reg::error_qp), 0U);
    EXPECT_GE(a.read(reg::error_address_lo), static_cast<std::uint32_t>((8 << 20) - 512));
    EXPECT_EQ(a.read(qp_register(0, reg::qp::state)), 4U);
    sc_core::wait(50, SC_US);
    EXPECT_EQ(b.from_memory(kDestination + 9 + 4096, 4096), std::vector<std::byte>(4096));
    EXPECT_EQ(b.read(reg::cq_head), 0U);
  });
}

TEST(PlatformDma, ARefusedOrWrongWqeEndsTheQpWithTheReason) {
  Bench bench;
  bench.run([&](Software& a, Software& b) {
    a.connect(1);
    b.connect(0);
    a.post(request(12, 0));
    const CompletionEntry done = a.next_completion(1024);
    EXPECT_EQ(done.id, 12U);
    EXPECT_EQ(done.status, CompletionStatus::flushed);
    EXPECT_EQ(a.read(reg::error_status), 1U << static_cast<int>(DeviceError::bad_wqe));
    EXPECT_EQ(a.read(reg::error_address_lo), kQueue);
    EXPECT_EQ(a.read(reg::status) & 4, 4U);
    // More is flushed too, and more than fits is refused.
    a.post(request(13, 100));
    EXPECT_EQ(a.next_completion(1024).status, CompletionStatus::flushed);
    a.write(qp_register(0, reg::qp::sq_doorbell), a.posted + 17);
    EXPECT_NE(a.read(reg::error_status) & 1U << static_cast<int>(DeviceError::doorbell_overrun), 0U);
  });
}

TEST(PlatformDma, AWriteOutsideTheRegionIsTheRequestorsFault) {
  Bench bench;
  bench.run([&](Software& a, Software& b) {
    a.connect(1);
    b.connect(0);
    WorkRequest bad = request(3, 4096);
    bad.remote_address = kDestination + 0x10'0000 - 100;
    a.post(bad);
    EXPECT_EQ(a.next_completion(1024).status, CompletionStatus::remote_operation_error);
    EXPECT_EQ(b.from_memory(kDestination + 0x10'0000 - 100, 4096), std::vector<std::byte>(4096));
  });
}

TEST(PlatformDma, AFullCompletionQueueStopsTheNicUntilSoftwareTakesAnEntry) {
  PlatformOptions options;
  options.completion_queue_entries = 4;
  Bench bench({}, options);
  bench.run([&](Software& a, Software& b) {
    a.connect(1);
    b.connect(0);
    for (std::uint64_t i = 0; i < 12; ++i) a.post(request(i, 64));
    sc_core::wait(100, SC_US);
    EXPECT_EQ(a.read(reg::cq_head), 4U);
    EXPECT_EQ(a.read(reg::status) & 2, 2U);
    for (std::uint64_t i = 0; i < 12; ++i) EXPECT_EQ(a.next_completion(4).id, i);
    for (std::uint64_t i = 0; i < 12; ++i) EXPECT_TRUE(b.next_completion(4).receive);
    EXPECT_EQ(a.read(reg::cq_head), 12U);
    a.write(reg::cq_tail, 13);
    EXPECT_NE(a.read(reg::error_status) & 1U << static_cast<int>(DeviceError::cq_tail), 0U);
  });
}

TEST(PlatformDma, InvalidatedDmiIsNotUsedAnyMore) {
  Bench bench;
  bench.run([&](Software& a, Software& b) {
    a.connect(1);
    b.connect(0);
    const std::vector<std::byte> sent = noise(8192, 3);
    a.to_memory(kSource + 5, sent.data(), 8192);
    a.post(request(1, 8192));
    a.next_completion(1024);
    const DmaCounters& dma = bench.nics[0]->dma_counters();
    EXPECT_EQ(dma.dmi_grants, 1U);
    EXPECT_GT(dma.by_dmi, 10U);
    const std::uint64_t before = bench.memories[0]->transactions_of_nic();
    bench.memories[0]->invalidate();
    EXPECT_EQ(dma.dmi_invalidations, 1U);
    a.post(request(2, 8192));
    a.next_completion(1024);
    EXPECT_GT(bench.memories[0]->transactions_of_nic(), before);
    EXPECT_EQ(dma.dmi_grants, 2U);
    b.next_completion(1024);
    b.next_completion(1024);
    EXPECT_EQ(b.from_memory(kDestination + 9, 8192), sent);
  });
}

TEST(PlatformDma, AnInterruptComesBehindItsCompletionAndOncePerArming) {
  Bench bench;
  bench.run([&](Software& a, Software& b) {
    a.connect(1);
    b.connect(0);
    a.write(reg::msi_address_hi, 1 << 8);
    a.write(reg::msi_data, 42);
    a.write(reg::msi_control, 1);
    a.write(reg::cq_arm, 0);
    for (std::uint64_t i = 0; i < 3; ++i) a.post(request(i, 2000));
    sc_core::wait(bench.memories[0]->interrupt());
    EXPECT_EQ(decode_cqe(a.from_memory(kCq, 64).data()).phase, 1U);
    sc_core::wait(50, SC_US);
    EXPECT_EQ(bench.memories[0]->interrupts(), 1U);
    // Armed for what has come already: at once.
    a.write(reg::cq_arm, 1);
    sc_core::wait(2, SC_US);
    EXPECT_EQ(bench.memories[0]->interrupts(), 2U);
  });
}

TEST(PlatformDma, NonBlockingDmaKeepsTheBaseProtocolWithResponsesOutOfOrder) {
  const ScenarioConfig scenario = default_platform_scenario();
  Fabric fabric("fabric", scenario, Fabric::quantum_ps(scenario));
  PlatformOptions options;
  options.dma.protocol = DmaProtocol::nb_transport;
  FourPhaseMemory memory_a("memory_a");
  FourPhaseMemory memory_b("memory_b");
  PlatformNic nic_a("nic_a", scenario, 0, fabric, options);
  PlatformNic nic_b("nic_b", scenario, 1, fabric, options);
  Software a("a");
  Software b("b");
  platform::Memory unused_a("unused_a", {.bytes = 4096});
  platform::Memory unused_b("unused_b", {.bytes = 4096});
  nic_a.dma_socket.bind(memory_a.socket);
  nic_b.dma_socket.bind(memory_b.socket);
  a.registers.bind(nic_a.csr_socket);
  b.registers.bind(nic_b.csr_socket);
  a.memory.bind(unused_a.cpu_socket);
  b.memory.bind(unused_b.cpu_socket);
  Idle idle_a("idle_a");
  Idle idle_b("idle_b");
  idle_a.socket.bind(unused_a.nic_socket);
  idle_b.socket.bind(unused_b.nic_socket);

  const std::vector<std::byte> sent = noise(300'000, 5);
  std::memcpy(&memory_a.bytes[kSource + 5], sent.data(), sent.size());
  bool ended = false;
  sc_core::sc_spawn(
      [&] {
        a.connect(1);
        b.connect(0);
        std::vector<std::byte> wqe(64);
        encode_wqe(request(8, 300'000), wqe.data());
        std::memcpy(&memory_a.bytes[kQueue], wqe.data(), 64);
        a.write(qp_register(0, reg::qp::sq_doorbell), 1);
        for (int i = 0; i < 1000 && b.peek(reg::cq_head) == 0; ++i) sc_core::wait(1, SC_US);
        EXPECT_EQ(b.peek(reg::cq_head), 1U);
        EXPECT_EQ(std::memcmp(&memory_b.bytes[kDestination + 9], sent.data(), sent.size()), 0);
        sc_core::wait(50, SC_US);
        EXPECT_EQ(a.peek(reg::cq_head), 1U);
        ended = true;
        sc_core::sc_stop();
      },
      "test");
  sc_core::sc_start(sc_time(10, sc_core::SC_MS));
  EXPECT_TRUE(ended);
  for (const FourPhaseMemory* memory : {&memory_a, &memory_b}) {
    EXPECT_TRUE(memory->violations.empty()) << memory->violations.front();
    EXPECT_GT(memory->requests, 70U);
  }
  EXPECT_GT(memory_a.overtaken, 100U);
  EXPECT_EQ(nic_a.dma_pool().in_use(), 0U);
  EXPECT_EQ(nic_b.dma_pool().in_use(), 0U);
}

TEST(PlatformOptionsTest, WhatCannotWorkIsRefusedWithTheReason) {
  const ScenarioConfig scenario = default_platform_scenario();
  Fabric fabric("fabric", scenario, Fabric::quantum_ps(scenario));
  const auto why = [&](const PlatformOptions& options, NodeId node = 0) -> std::string {
    try {
      PlatformNic nic(sc_core::sc_gen_unique_name("nic"), scenario, node, fabric, options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  PlatformOptions options;
  options.qps = 0;
  EXPECT_EQ(why(options), "PlatformNic: qps = 0; 1 … 16384");
  options = {};
  options.completion_queue_entries = 3;
  EXPECT_EQ(why(options), "PlatformNic: completion_queue_entries = 3; a power of two, 2 … 65536");
  EXPECT_THROW(default_platform_scenario({"nic.port=8"}), ParameterError);
}

}  // namespace
}  // namespace mrc
