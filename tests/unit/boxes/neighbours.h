// Neighbours of the box under test that it calls, or whose queues it takes.
// None of them is stepped.
#pragma once

#include <memory>
#include <vector>

#include "box_bench.h"
#include "fabric/link.h"
#include "nic/control/probe_engine.h"
#include "nic/control/retransmit_timer.h"
#include "nic/control/sack_processor.h"
#include "nic/port.h"
#include "nic/rx/overrun_causes.h"
#include "nic/tx/idle_causes.h"
#include "nic/tx/qp_scheduler.h"
#include "nic/tx/retransmit_buffer.h"
#include "nic/tx/spray_scheduler.h"
#include "pcie/pcie_dma.h"

namespace mrc::box_test {

inline std::unique_ptr<PcieDma> make_pcie(Bench& bench, WheelModule& wheel) {
  return PcieDma::create("pcie_dma", wheel, bench.nic.config.pcie, bench.nic.clock, KeyedRandom(1, "pcie"),
                         bench.nic.tx_work, bench.nic.causes);
}
/// Reads take `ns` at the host, each of them.
inline void answer_reads_after(ScenarioConfig& scenario, double ns) {
  scenario.node_default.pcie.read_latency_mean_ns = ns;
  scenario.node_default.pcie.read_latency_p99_ns = ns;
}

/// The NIC holds this many contexts and no more, from the start those of the first QPs; one is read in 1 us.
inline void hold_first_contexts(ScenarioConfig& scenario, std::uint32_t contexts) {
  QpSchedulerConfig& config = scenario.node_default.nic.qp_scheduler;
  config.context_cache_entries = contexts;
  config.contexts_at_start = contexts;
  answer_reads_after(scenario, 1000);
}

/// The bench's QPs have security associations.
struct Associated {
  explicit Associated(Bench& bench) {
    bench.nic.associations = std::make_unique<Associations>(bench.scenario.protocol.encryption, bench.nic.qps);
  }
};

/// What boxes of the transmit side call.
struct Senders {
  explicit Senders(Bench& bench)
      : pcie(make_pcie(bench, bench.parked)),
        retransmit_buffer("retransmit_buffer", bench.parked, bench.nic),
        qp_scheduler("qp_scheduler", bench.parked, bench.nic, *pcie, retransmit_buffer) {
    retransmit_buffer.connect(sprayed, qp_scheduler);
  }
  /// From when on the scheduler may serve a QP; kNever if none is listed before `latest`.
  TimePs served_from(TimePs latest) const {
    for (TimePs time = 0; time <= latest; time += kNs) {
      if (qp_scheduler.others_wait(time)) return time;
    }
    return kNever;
  }

  Fifo<timing::TxPacket> sprayed = queue<timing::TxPacket>("spray_scheduler.queue", 8);
  std::unique_ptr<PcieDma> pcie;
  timing::RetransmitBuffer retransmit_buffer;
  timing::QpScheduler qp_scheduler;
};

/// A scheduler that is stepped, for boxes that wait for the contexts of QPs.
struct ContextSource {
  ContextSource(Bench& bench, timing::RetransmitBuffer& retransmit_buffer)
      : pcie(make_pcie(bench, bench.wheel)), scheduler("scheduler", bench.wheel, bench.nic, *pcie, retransmit_buffer) {}

  std::unique_ptr<PcieDma> pcie;
  timing::QpScheduler scheduler;
};

/// The far end of a cable.
class FarEnd : public Box {
 public:
  FarEnd(const char* name, WheelModule& owner, Link& link) : Box(name, owner), link_(link) { link.set_receiver(this); }
  void step(TimePs now) override {
    for (; link_.next_due() <= now; link_.pop()) {
      first_bits.push_back(link_.front().first_bit);
      last_bits.push_back(link_.front().last_bit);
      opcodes.push_back(link_.front().packet.opcode);
    }
    if (!link_.empty()) wake_at(link_.next_due());
  }
  std::vector<TimePs> first_bits;
  std::vector<TimePs> last_bits;
  std::vector<Opcode> opcodes;

 private:
  Link& link_;
};

/// Ports whose cables lead to nobody.
struct Ports {
  Ports(Bench& bench, WheelModule& wheel) {
    for (std::uint32_t i = 0; i < bench.nic.config.nic.ports; ++i) {
      for (auto* links : {&transmit, &receive}) links->push_back(std::make_unique<Link>(kNs, Link::DueAt::last_bit));
      ports.push_back(std::make_unique<timing::Port>(fmt::format("port{}", i).c_str(), wheel, bench.nic, i,
                                                     *transmit[i], *receive[i]));
      all.push_back(ports[i].get());
      control_fifos.push_back(&ports[i]->control());
    }
  }
  std::vector<std::unique_ptr<Link>> transmit;
  std::vector<std::unique_ptr<Link>> receive;
  std::vector<std::unique_ptr<timing::Port>> ports;
  std::vector<timing::Port*> all;
  std::vector<Fifo<Packet*>*> control_fifos;
};

/// All that the SACK processor tells something; the ports are connected.
struct Everybody : Senders {
  /// The ports belong to `wheel`.
  Everybody(Bench& bench, WheelModule& wheel)
      : Senders(bench),
        ports(bench, wheel),
        timer("retransmit_timer", bench.parked, bench.nic),
        spray_scheduler("spray_scheduler", bench.parked, bench.nic, fetched, ports.all, timer, nullptr),
        probe_engine("probe_engine", bench.parked, bench.nic, ports.control_fifos),
        idle_causes(bench.nic, *pcie, bench.nic.config.nic.ports),
        overrun_causes(bench.nic.causes) {
    for (timing::Port* port : ports.all) port->connect(spray_scheduler, received, idle_causes, overrun_causes);
  }
  explicit Everybody(Bench& bench) : Everybody(bench, bench.parked) {}
  void connect(timing::SackProcessor& sack_processor) { connect(sack_processor, qp_scheduler); }
  void connect(timing::SackProcessor& sack_processor, timing::QpScheduler& scheduler) {
    sack_processor.connect(scheduler, retransmit_buffer, spray_scheduler, timer, completions, probe_engine);
  }

  Ports ports;
  Fifo<timing::TxPacket> fetched = queue<timing::TxPacket>("payload_fetch.queue", 8);
  Fifo<Cqe> completions = queue<Cqe>("completion.queue", 2);
  timing::RetransmitTimer timer;
  timing::SprayScheduler spray_scheduler;
  timing::ProbeEngine probe_engine;
  Fifo<Packet*> received = queue<Packet*>("parser.queue", 8);
  timing::IdleCauses idle_causes;
  timing::OverrunCauses overrun_causes;
};

}  // namespace mrc::box_test
