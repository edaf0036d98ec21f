// Two nodes, each a CPU with its driver, a memory and an MRC NIC, with the fabric between the NICs. The NICs are driven
// through their TLM-2.0 sockets only; every byte that arrives is checked. Exit codes are those of mrcsim.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <systemc>

#include "driver.h"
#include "fabric/fabric.h"
#include "memory.h"
#include "platform/platform_nic.h"

namespace {

enum ExitCode : int { kOk = 0, kBug = 1, kBadInput = 2, kStalled = 3, kMismatch = 4, kFailed = 5 };

struct Options {
  std::string scenario;
  std::vector<std::string> assignments;
  platform::Plan plan;
  bool nonblocking = false;
  bool no_dmi = false;
  bool waits = false;
  bool polling = false;
  double latency_ns = 80;
  double limit_us = 100'000;
  std::uint64_t spoil_write = 0;
};

/// One node of the platform. Sockets are bound here and nowhere else.
struct Node {
  Node(std::uint32_t id, const mrc::ScenarioConfig& scenario, mrc::Fabric& fabric,
       const platform::MemoryOptions& memory_options, const mrc::PlatformOptions& nic_options,
       const platform::Plan& plan)
      : memory(fmt::format("memory{}", id).c_str(), memory_options),
        nic(fmt::format("nic{}", id).c_str(), scenario, id, fabric, nic_options),
        driver(fmt::format("driver{}", id).c_str(), id, 1 - id, plan, memory.interrupt()) {
    nic.dma_socket.bind(memory.nic_socket);
    driver.memory.bind(memory.cpu_socket);
    driver.registers.bind(nic.csr_socket);
  }
  platform::Memory memory;
  mrc::PlatformNic nic;
  platform::Driver driver;
};

void print_node(std::uint32_t id, Node& node) {
  platform::Driver& driver = node.driver;
  const mrc::DmaCounters& dma = node.nic.dma_counters();
  const double us = (driver.last_arrival() - driver.first_post()).to_seconds() * 1e6;
  fmt::print("  node {}    {} sent, {} received, {} B checked, {} wrong; {:.1f} Gb/s into its memory\n", id,
             driver.sent(), driver.received(), driver.bytes_received(), driver.wrong_bytes(),
             us > 0 ? static_cast<double>(driver.bytes_received()) * 8.0 / us / 1000.0 : 0.0);
  fmt::print("            {} packets, {} retransmitted; DMA {} reads, {} writes, {} by DMI; {} interrupts\n",
             driver.register_value64(mrc::reg::data_packets_lo), driver.register_value64(mrc::reg::retransmitted_lo),
             dma.reads, dma.writes, dma.by_dmi, node.memory.interrupts());
}

int conclude(Node& a, Node& b) {
  for (Node* node : {&a, &b}) {
    const platform::Driver& driver = node->driver;
    if (driver.wrong_bytes() == 0) continue;
    fmt::print(stderr, "platform: {} bytes differ: {}\n", driver.wrong_bytes(), driver.first_fault());
    return kMismatch;
  }
  for (Node* node : {&a, &b}) {
    if (node->driver.failed() == 0) continue;
    fmt::print(stderr, "platform: {}\n", node->driver.first_fault());
    return kFailed;
  }
  if (a.driver.done() && b.driver.done()) return kOk;
  for (Node* node : {&a, &b}) {
    fmt::print(stderr, "platform: stalled: {} has sent {} and received {} messages\n", node->driver.name(),
               node->driver.sent(), node->driver.received());
    for (const std::string& line : node->nic.describe_waits()) fmt::print(stderr, "platform:   {}\n", line);
  }
  return kStalled;
}

int run(const Options& options) {
  const mrc::ScenarioConfig scenario = options.scenario.empty()
                                           ? mrc::default_platform_scenario(options.assignments)
                                           : mrc::load_platform_scenario(options.scenario, {options.assignments, {}});
  platform::MemoryOptions memory;
  memory.latency = sc_core::sc_time(options.latency_ns, sc_core::SC_NS);
  memory.grants_dmi = !options.no_dmi;
  memory.waits = options.waits;
  memory.spoil_write = options.spoil_write;
  mrc::PlatformOptions nic;
  nic.qps = std::max(nic.qps, options.plan.qps);
  nic.dma.protocol = options.nonblocking ? mrc::DmaProtocol::nb_transport : mrc::DmaProtocol::b_transport;
  nic.dma.use_dmi = !options.no_dmi;

  mrc::Fabric fabric("fabric", scenario, mrc::Fabric::quantum_ps(scenario));
  Node a(0, scenario, fabric, memory, nic, options.plan);
  Node b(1, scenario, fabric, memory, nic, options.plan);

  const sc_core::sc_time limit(options.limit_us, sc_core::SC_US);
  const sc_core::sc_time slice(10, sc_core::SC_US);
  while (sc_core::sc_time_stamp() < limit && !(a.driver.done() && b.driver.done())) sc_core::sc_start(slice);

  fmt::print("platform: 2 NICs of {} x {:.0f} Gb/s, {} messages of up to {} B each way on {} QPs\n",
             scenario.node(0).nic.ports, scenario.node(0).nic.port_gbps, options.plan.messages, options.plan.bytes,
             options.plan.qps);
  print_node(0, a);
  print_node(1, b);
  return conclude(a, b);
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  Options options;
  CLI::App app("Two MRC NICs in a SystemC platform, driven through their TLM-2.0 sockets");
  app.add_option("--scenario", options.scenario, "scenario file (TOML); default: the defaults of all parameters");
  app.add_option("--set", options.assignments, "key=value, a parameter of the scenario; may be repeated");
  app.add_option("--messages", options.plan.messages, "each way")->check(CLI::Range(1, 1'000'000));
  app.add_option("--bytes", options.plan.bytes, "longest message")->check(CLI::Range(1, 1 << 20));
  app.add_option("--qps", options.plan.qps, "QPs between the nodes")->check(CLI::Range(1, 8));
  app.add_flag("--nonblocking", options.nonblocking, "DMA by nb_transport in four phases instead of b_transport");
  app.add_flag("--no-dmi", options.no_dmi, "memory grants no DMI, so every access is a transaction");
  app.add_flag("--waits", options.waits, "memory waits inside b_transport instead of annotating its latency");
  app.add_flag("--polling", options.polling, "poll the completion queue in memory instead of taking interrupts");
  app.add_option("--latency-ns", options.latency_ns, "of the memories")->check(CLI::Range(0.0, 1e6));
  app.add_option("--limit-us", options.limit_us, "simulated time after which the run is stalled");
  app.add_option("--spoil-write", options.spoil_write, "negative control: the n-th payload write changes one bit");
  try {
    app.parse(argc, argv);
    options.plan.interrupts = !options.polling;
    return run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kBadInput;
  } catch (const mrc::ParameterError& error) {
    fmt::print(stderr, "platform: {}\n", error.what());
    return kBadInput;
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "platform: {}\n", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "platform: {}\n", error.what());
    return kBug;
  }
}
