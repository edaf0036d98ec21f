#include "nic/tx/spray_scheduler.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/latency_account.h"
#include "nic/control/retransmit_timer.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"
#include "nic/tx/retransmit_buffer.h"

namespace mrc::timing {

SprayScheduler::SprayScheduler(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic,
                               ClassQueues<TxPacket> in, std::vector<Port*> ports, RetransmitTimer& timer,
                               SpraySchedulerRtlPath* rtl)
    : Box(name, owner,
          {.name = "spray_scheduler", .part = NicPart::transmit, .behind = "pcie_dma", .packets = Handling::passes}),
      slot(*this, nic.tx_work),
      nic_(nic),
      path_memory_(nic.memories[kPathTable]),
      record_memory_(nic.memories[RetransmitBuffer::kRecords]),
      in_(std::move(in)),
      ports_(std::move(ports)),
      timer_(timer),
      out_(*this, "spray_scheduler.queue", nic.config.nic.spray_scheduler.queue_entries),
      out_full_(nic.causes.declare_full("spray_scheduler.queue", out_.taker(), {"nic.spray_scheduler.queue_entries"})),
      no_good_ev_(nic.causes.declare("spray_scheduler.no_good_ev")),
      no_port_room_(nic.causes.declare("port.tx_fifo", {"nic.port.tx_fifo_bytes"})),
      rtl_(rtl),
      fill_(nic.config.nic.spray_scheduler.order_buffers),
      starts_(nic.trace, server_cause(nic, "spray_scheduler"), nic.causes.declare("payload_fetch.queue")) {
  in_.connect(this);
  if (by_pins()) rtl_->wake(*this);
  declare(pipeline_server(nic, "spray_scheduler", "spray_scheduler", nic.config.nic.spray_scheduler.pipeline));
  nic.memories.count(kQueue, out_.occupancy());
}

void SprayScheduler::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const ProtocolConfig& protocol = nic.protocol;
  const MemoryConfig& config = nic.node.nic.memory.path_table;
  const MemoryField ev_index{"EV index", bits_for(protocol.ev_count - 1)};
  const std::uint64_t tables = protocol.path_table_scope == PathTableScope::qp            ? nic.scale.qps
                               : protocol.path_table_scope == PathTableScope::destination ? nic.scale.destinations
                                                                                          : 1;
  out.add(kPathTable, tables * protocol.ev_count, config,
          {kEvField,
           kPlaneField,
           {"state", 2},
           {"active", 1},
           {"losses", 4},
           {"probe successes", 8},
           {"scan position", ev_index.bits}});
  out.add_beside(kPathTable, "path_table.scan", {.depth = tables * protocol.ev_count, .banks = config.banks},
                 {ev_index, {"eligible", 1}});
  out.add(kQueue, {.depth = nic.node.nic.spray_scheduler.queue_entries},
          transmit_descriptor({kBufferPointerField, kEvField, kPlaneField}));
}

void SprayScheduler::declare_latency(LatencyAccount& account) {
  account.pass_box(account.nic().spray_scheduler.pipeline.latency_cycles);
}

std::uint32_t SprayScheduler::free_ports(TimePs now, std::uint32_t bytes, std::uint32_t traffic_class) {
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if (ports_[i]->has_data_room(now, bytes, traffic_class)) mask |= 1U << i;
  }
  return mask & nic_.ports_up;
}

void SprayScheduler::retry(TimePs now, StartId because) {
  if (!waits_for_path_) return;
  nic_.trace.give(no_port_room_, because);
  nic_.trace.give(no_good_ev_, because);
  waits_for_path_ = false;
  retry_at_ = kNever;
  wake_at(now);
}

SprayScheduler::Choice SprayScheduler::choose(TimePs now, Qp& qp, const Packet& packet, std::uint32_t bytes) {
  const PipelineConfig& pipeline = nic_.config.nic.spray_scheduler.pipeline;
  const std::uint32_t free = free_ports(now, bytes, packet.traffic_class);
  NicPathTable& paths = *qp.paths;
  const std::uint64_t rotations = paths.rotations();
  const std::uint64_t reshuffles = paths.reshuffles();
  SpraySelection selection;
  if (rtl_ != nullptr) {
    for (std::size_t i = 0; i < ports_.size(); ++i) room_[i] = ports_[i]->data_room(now);
    selection = rtl_->select(qp, packet, bytes, room_, free, now);
  } else {
    selection.ev = free == 0 ? kNoEv : paths.select(free, now);
  }
  const EvIndex ev = selection.ev;
  const ScanOrderFill::Waits waits = fill_.packet({.table = &paths,
                                                   .cycle = nic_.clock.edge_index(now),
                                                   .interval = pipeline.initiation_interval_cycles,
                                                   .rotations = paths.rotations() - rotations,
                                                   .new_orders = paths.reshuffles() - reshuffles,
                                                   .evs = paths.size()});
  Choice choice{.ev = ev,
                .latency_cycles = pipeline.latency_cycles + waits.before + waits.within,
                .occupied_cycles = pipeline.initiation_interval_cycles + waits.before};
  if (rtl_ != nullptr) {
    rtl_->count_selection(selection, {choice.occupied_cycles, choice.latency_cycles});
    if (rtl_->drives()) {
      return {.ev = ev,
              .no_good_ev = selection.no_good,
              .skip_end = selection.skip_end,
              .latency_cycles = selection.latency_cycles,
              .occupied_cycles = selection.occupied_cycles};
    }
  }
  if (ev == kNoEv) {
    choice.no_good_ev = !paths.has_good(~0U);
    choice.skip_end = paths.next_skip_end();
  }
  return choice;
}

void SprayScheduler::for_each_packet_held(const PacketVisitor& visit) const {
  passing_.for_each_packet(visit);
}

void SprayScheduler::step(TimePs now) {
  if (by_pins()) {
    step_by_pins(now);
  } else {
    take_packet(now);
  }
}

void SprayScheduler::begin_by_pins(TimePs now) {
  PassingPackets::Passing& passing = passing_.begin();
  Packet& packet = *passing.tx.packet;
  starts_.start(now, slot, packet.last_start, passing.ready_at);
  starts_.stall(passing.delay, slot);
  nic_.qps[passing.tx.qp].starts.sent = packet.last_start;
  slot.busy(now, next_start_);
}

void SprayScheduler::pass_by_pins(TimePs now) {
  const PassingPackets::Passing passing = passing_.leave();
  out_.push(now, passing.tx, now + passing.delay);
}

/// A cycle of the RTL's clock at each edge of the core clock, until it is empty.
void SprayScheduler::step_by_pins(TimePs now) {
  const TimePs edge = std::max(nic_.clock.edge(now), next_start_);
  if (now < edge) {
    wake_at(edge);
    return;
  }
  const bool waits = waits_for_path_ && now < retry_at_;
  if (rtl_->is_free() && !waits) take_packet(now);
  if (rtl_->is_idle()) {
    if (waits) wake_at(retry_at_);
    return;
  }
  next_start_ = now + nic_.clock.period_ps();
  const std::uint64_t cycle = nic_.clock.edge_index(now);
  const PinCycle pins = rtl_->clock(cycle);
  if (pins.begun && rtl_->begins_packet()) {
    begin_by_pins(now);
  } else if (rtl_->was_occupied()) {
    // An answer without a path leaves the packet as it waits.
    if (!slot.is_blocked()) slot.busy(now, next_start_);
  } else if (!slot.is_blocked()) {
    slot.empty(now);
  }
  if (pins.last_out && rtl_->conclude(cycle)) pass_by_pins(now);
  wake_at(next_start_);
}

void SprayScheduler::take_packet(TimePs now) {
  if (now < next_start_) {
    wake_at(next_start_);
    return;
  }
  Fifo<TxPacket>& in = in_.next(now);
  if (!in.ready(now)) {
    slot.empty(now);
    in_.wait_ready(now);
    return;
  }
  if (!out_.has_room_for(passing_.count() + 1)) {
    slot.blocked(now, out_full_);
    out_.wait_room(now, *this);
    return;
  }
  Packet& packet = *in.front().packet;
  Qp& qp = nic_.qps[in.front().qp];
  const std::uint32_t bytes = nic_.link_bytes.in_nic(packet);
  const Choice choice = choose(now, qp, packet, bytes);
  const EvIndex ev = choice.ev;
  if (ev == kNoEv) {
    slot.blocked(now, choice.no_good_ev ? no_good_ev_ : no_port_room_);
    waits_for_path_ = true;
    retry_at_ = choice.skip_end > now ? choice.skip_end : kNever;
    // One whose time is over waits for a port like the rest.
    if (choice.skip_end != kNever && choice.skip_end > now) wake_at(choice.skip_end);
    in_.wait_more_urgent(in, now);
    return;
  }
  const MemoryAccess path = path_memory_.read(now, packet.destination_qp);
  if (path.failed()) {
    nic_.memory_failed(now, path_memory_,
                       fmt::format("EV {:#x} of QP {} is rebuilt from the profile and probed before it is used again",
                                   qp.paths->value(ev), qp.number));
    qp.paths->report(ev, PathEvent::always_skip, now);
    wake_at(now + nic_.clock.period_ps());
    return;
  }
  const MemoryAccess record = record_memory_.write(now, packet.psn);
  const TimePs delay = std::max(path.delay_ps, record.delay_ps);
  slot.stalled(now, delay, (path.delay_ps >= record.delay_ps ? path_memory_ : record_memory_).cause());
  packet.ev = qp.paths->value(ev);
  packet.plane = qp.paths->plane(ev);
  ports_[packet.plane]->reserve_data(now, bytes, packet.traffic_class);
  if (marks_sent_) {
    qp.sender->transmitted(packet.psn, ev, now);
    timer_.update(nic_.index_of(qp), now);
  }
  if (by_pins()) {
    waits_for_path_ = false;
    rtl_->let_go();
    const TimePs ready_at = in.ready_at();
    passing_.give({.tx = in.pop(now), .ready_at = ready_at, .delay = delay});
    return;
  }
  next_start_ = now + delay + nic_.clock.cycles(choice.occupied_cycles);
  starts_.start(now, slot, packet.last_start, in.ready_at());
  starts_.stall(delay, slot);
  qp.starts.sent = packet.last_start;
  slot.busy(now, next_start_);
  out_.push(now, in.pop(now), now + delay + nic_.clock.cycles(choice.latency_cycles));
  in_.wait_ready(next_start_);
}

}  // namespace mrc::timing
