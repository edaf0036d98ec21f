#include "nic/rx/dma_write.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/latency_account.h"
#include "nic/control/completion.h"
#include "nic/control/sack_processor.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"
#include "pcie/host_memory.h"

namespace mrc::timing {
namespace {

/// Writes handed to pcie_dma that have not left: one leaves while the next is prepared; relaxed ones may wait for their
/// translations side by side.
constexpr std::uint32_t kStrictWrites = 2;
constexpr std::uint32_t kRelaxedWrites = 16;

}  // namespace

DmaWrite::DmaWrite(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie,
                   HostMemory& memory, Fifo<AckJob>& transport_acks, Fifo<Cqe>& completions)
    : Box(name, owner,
          {.name = "dma_write", .part = NicPart::receive, .behind = "psn_tracker", .packets = Handling::ends}),
      nic_(nic),
      staging_memory_(nic.memories[kStaging]),
      completion_memory_(nic.memories[Completion::kQueue]),
      pcie_(pcie),
      memory_(memory),
      transport_acks_(transport_acks),
      completions_(completions),
      order_(nic.config.pcie.relaxed_ordering ? WriteOrder::relaxed : WriteOrder::strict),
      most_under_way_(nic.config.pcie.relaxed_ordering ? kRelaxedWrites : kStrictWrites),
      pipeline_ps_(nic.clock.cycles(nic.config.nic.dma_write.pipeline.latency_cycles)),
      in_(*this, "dma_write.queue", nic.config.nic.dma_write.queue_entries),
      staging_(*this, "rx_staging", "bytes", nic.config.nic.rx_staging.bytes),
      answers_full_(
          nic.causes.declare_full("ack_coalescer.queue", transport_acks.taker(), {"nic.ack_coalescer.queue_entries"})),
      completion_full_(
          nic.causes.declare_full("completion.queue", completions.taker(), {"nic.completion.queue_entries"})),
      own_server_(server_cause(nic, "dma_write")),
      busy_with_(own_server_),
      starts_(nic.trace, own_server_) {
  in_.connect(this);
  adopt(slot(), pcie);
  declare(pipeline_server(nic, "dma_write", "dma_write", nic.config.nic.dma_write.pipeline));
  declare(DeclaredTokens{.cause = nic.causes.declare("rx_staging", {"nic.rx_staging.bytes"}),
                         .capacity = staging_.capacity(),
                         .unit = staging_.unit(),
                         .taken_by = "psn_tracker",
                         .returned_by = "dma_write",
                         .way = TokenWay::pcie_write});
  nic.memories.count(kQueue, in_.occupancy());
}

void DmaWrite::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const NicConfig& config = nic.node.nic;
  out.add(kStaging, nic.datapath_words(config.rx_staging.bytes), config.memory.rx_staging,
          {{"payload", config.datapath_bits}});
  out.add(kQueue, {.depth = config.dma_write.queue_entries},
          {kQpField, kVaField, kLengthField, {"messages closed", 8}, {"staging pointer", kBufferPointerField.bits}});
}

void DmaWrite::declare_latency(LatencyAccount& account) {
  account.pass_box(account.nic().dma_write.pipeline.latency_cycles);
}

void DmaWrite::free_staging(TimePs now) {
  while (!leaving_.empty() && leaving_.front().at <= now) {
    staging_.remove_announced(leaving_.front().at, leaving_.front().bytes);
    leaving_.pop();
  }
}

bool DmaWrite::has_staging(TimePs now, std::uint32_t bytes) {
  free_staging(now);
  return staging_.fits(bytes);
}

void DmaWrite::reserve_staging(TimePs now, std::uint32_t bytes) {
  staging_.add(now, bytes);
}

void DmaWrite::close_messages(TimePs now, const WriteJob& job, std::uint64_t write) {
  Qp& qp = nic_.qps[job.qp];
  if (const auto ack = qp.receiver->writes_issued(job.closes_messages)) {
    acks_.push({write,
                {.qp = job.qp,
                 .kind = AckJob::Kind::transport_ack,
                 .trigger = {},
                 .nack = {},
                 .transport_ack = *ack,
                 .because = job.packet->last_start},
                job.closes_messages});
  }
  ReceiveCompletion received;
  while (qp.receiver->pop_receive(received)) {
    completions_.push(
        now, {Cqe::Kind::receive, job.qp, 0, received.immediate, CompletionStatus::success, job.packet->last_start},
        now);
    completion_memory_.write(now, 0);
  }
}

TransportAckFields DmaWrite::ack_of_left(std::uint32_t qp, TransportAckFields taken) const {
  for (std::uint64_t i = 0; i < acks_.size(); ++i) {
    const AckBehindWrite& oldest = acks_[i];
    if (oldest.answer.qp != qp) continue;
    taken.msn = (oldest.answer.transport_ack.msn - oldest.messages) & 0xFF'FFFF;
    break;
  }
  return taken;
}

void DmaWrite::lose(TimePs now, const WriteJob& job) {
  Qp& qp = nic_.qps[job.qp];
  nic_.memory_failed(now, staging_memory_,
                     fmt::format("QP {} in error: PSN {} was accepted and is lost", qp.number, job.packet->psn));
  ++nic_.box_counters.memory_dropped;
  nic_.box_counters.damaged.add(*job.packet);
  qp.data_lost = true;
  staging_.remove(now, job.packet->payload_bytes);
  nic_.packets.release(job.packet);
  nic_.rx_work.end(now);
  qp.receiver->to_error();
  sack_processor_->responder_failed(now, qp);
}

void DmaWrite::write(TimePs now, const WriteJob& job) {
  Packet* packet = job.packet;
  const MemoryAccess staged = staging_memory_.read_stream(now, 0, packet->payload_bytes);
  slot().stalled(now, staged.delay_ps, staging_memory_.cause());
  if (staged.failed()) {
    lose(now, job);
    return;
  }
  starts_.stall(staged.delay_ps, slot());
  busy_with_ = own_server_;
  const TimePs start = now + staged.delay_ps + pipeline_ps_;
  next_start_ =
      now + staged.delay_ps + nic_.clock.cycles(nic_.config.nic.dma_write.pipeline.initiation_interval_cycles);
  under_way_.push({packet, 0, false});
  if (job.closes_messages > 0 && !nic_.qps[job.qp].data_lost) close_messages(now, job, issued_);
  issuing_ = true;
  pcie_.write(now, start, packet->va, packet->payload_bytes, *this, issued_++, order_);
  issuing_ = false;
}

void DmaWrite::write_left(std::uint64_t cookie, TimePs now, TimePs last_end) {
  UnderWay& left = under_way_[cookie - retired_];
  left.left_at = last_end;
  left.left = true;
  if (last_end > next_start_ + pipeline_ps_) busy_with_ = pcie_.write_limit();
  // Relaxed writes may leave early; what they complete waits for those before them.
  while (!under_way_.empty() && under_way_.front().left) retire(now);
  if (issuing_) {
    next_start_ = last_end - pipeline_ps_;
  } else {
    next_start_ = std::max(next_start_, last_end - pipeline_ps_);
    wake_at(now);
  }
}

void DmaWrite::retire(TimePs now) {
  Packet* packet = under_way_.front().packet;
  last_left_ = std::max(last_left_, under_way_.front().left_at);
  under_way_.pop();
  if (nic_.host_port != nullptr) {
    nic_.host_port->write(pcie_.visible_at(last_left_), packet->va, packet->payload, packet->payload_bytes);
  } else {
    memory_.write_at(pcie_.visible_at(last_left_), packet->va, packet->payload, packet->payload_bytes);
  }
  leaving_.push({last_left_, packet->payload_bytes});
  staging_.announce_remove(last_left_, packet->payload_bytes);
  ++nic_.counters.delivered;
  nic_.counters.delivered_bytes += packet->payload_bytes;
  if (!acks_.empty() && acks_.front().write == retired_) {
    transport_acks_.push(now, acks_.front().answer, last_left_);
    acks_.pop();
  }
  ++retired_;
  nic_.packets.release(packet);
  nic_.rx_work.end(now);
}

bool DmaWrite::has_room_for_answers(TimePs now) {
  if (!transport_acks_.has_room_for(static_cast<std::uint32_t>(acks_.size()) + 1)) {
    slot().blocked(now, answers_full_);
    transport_acks_.wait_room(now, *this);
    return false;
  }
  if (!completions_.has_room_for(in_.front().closes_messages)) {
    slot().blocked(now, completion_full_);
    completions_.wait_room(now, *this);
    return false;
  }
  return true;
}

void DmaWrite::step(TimePs now) {
  if (now < next_start_) {
    wake_at(next_start_);
    return;
  }
  free_staging(now);
  if (under_way_.size() >= most_under_way_) return;  // write_left() comes back here
  if (!in_.ready(now)) {
    slot().empty(now);
    in_.wait_ready(now);
    return;
  }
  if (in_.front().closes_messages > 0 && !has_room_for_answers(now)) return;
  starts_.start(now, slot(), in_.front().packet->last_start, in_.ready_at(), next_start_, busy_with_);
  write(now, in_.pop(now));
  in_.wait_ready(next_start_);
}

}  // namespace mrc::timing
