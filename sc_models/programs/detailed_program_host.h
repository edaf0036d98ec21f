// The host of a detailed NIC that programs drive: they post to its doorbell and take the entries of its completion
// queue.
#pragma once

#include <cstdint>
#include <vector>

#include "host/host.h"
#include "programs/program_host.h"

namespace mrc {

class DetailedProgramHost final : public Host, public ProgramHost {
 public:
  /// As Host's and ProgramHost's.
  DetailedProgramHost(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, Nic& device,
                      HostMemory& memory, const WorkPlacement& placement, NodeTransport& transport,
                      const Topology& topology);

  void step(TimePs) override {}  // completions stay until programs take them

  TimePs next_port_change() const override { return device_.port_status().next_change(); }
  bool has_room() override { return !device_.doorbell().queue().full(); }
  TimePs next_completion() const override { return completions_.empty() ? kNever : completions_.ready_at(); }
  bool has_fixed_evs() const override { return device_.has_paths_in_rtl(); }
  bool offers_probes() const override { return true; }
  bool probe(TimePs now, std::uint32_t number, NodeId node, Ev ev, std::uint8_t plane) override {
    return device_.probe_engine().probe_for_software(now, number, node, ev, plane);
  }
  std::vector<timing::ProbeEngine::SoftwareAnswer> take_probe_answers() override {
    return device_.probe_engine().take_answers();
  }
  void close(TimePs now) override { work_done(now); }

 private:
  std::uint32_t lit_ports() const override { return device_.port_status().lit(); }
  void begins_sending(TimePs now, Qp& qp) override { device_.begin_sending(now, qp); }
  void fail_sender(TimePs now, Qp& qp) override { device_.sack_processor().responder_failed(now, qp); }
  void paths_changed(TimePs now) override { device_.paths_changed(now); }
  void hand_over(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs first_doorbell) override;
  Cqe pop_completion(TimePs now) override;
};

}  // namespace mrc
