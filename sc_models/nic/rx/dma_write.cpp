#include "nic/rx/dma_write.h"

#include "host/host_memory.h"
#include "nic/control/completion.h"

namespace mrc::timing {

DmaWrite::DmaWrite(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie,
                   HostMemory& memory, AckCoalescer& ack_coalescer, Completion& completion)
    : Box(name, owner),
      nic_(nic),
      pcie_(pcie),
      memory_(memory),
      ack_coalescer_(ack_coalescer),
      completion_(completion),
      in_("dma_write.queue", nic.config.nic.dma_write.queue_entries),
      staging_("rx_staging", "bytes", nic.config.nic.rx_staging.bytes) {}

void DmaWrite::free_staging(TimePs now) {
  while (!leaving_.empty() && leaving_.front().at <= now) {
    staging_.remove(leaving_.front().at, leaving_.front().bytes);
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

void DmaWrite::close_messages(TimePs now, TimePs issued, const WriteJob& job) {
  Qp& qp = nic_.qps[job.qp];
  if (const auto ack = qp.responder->writes_issued(job.closes_messages)) {
    AckJob answer{.qp = job.qp, .kind = AckJob::Kind::transport_ack, .trigger = {}, .nack = {}, .transport_ack = *ack};
    ack_coalescer_.transport_acks().push(now, answer, issued);
  }
  ReceiveCompletion received;
  while (qp.responder->pop_receive(received)) {
    completion_.in().push(now, {Cqe::Kind::receive, job.qp, 0, received.immediate, CompletionStatus::success}, now);
  }
}

void DmaWrite::write(TimePs now, const WriteJob& job) {
  Packet* packet = job.packet;
  const TimePs start = now + nic_.clock.cycles(nic_.config.nic.dma_write.pipeline.latency_cycles);
  const PcieDma::WriteTimes times = pcie_.write(start, packet->va, packet->payload_bytes);
  if (nic_.host_port != nullptr) {
    nic_.host_port->write(times.last_end + pcie_.write_latency(), packet->va, packet->payload, packet->payload_bytes);
  } else {
    memory_.write(packet->va, packet->payload, packet->payload_bytes);
  }
  next_start_ = times.last_end - (start - now);
  leaving_.push({times.last_end, packet->payload_bytes});
  ++nic_.counters.delivered;
  nic_.counters.delivered_bytes += packet->payload_bytes;
  if (job.closes_messages > 0) close_messages(now, times.last_end, job);
  nic_.packets.release(packet);
  nic_.rx_work.end(now);
}

bool DmaWrite::has_room_for_answers(TimePs now) {
  if (ack_coalescer_.transport_acks().full()) {
    slot().blocked(now, BlockedBy::ack_queue);
    ack_coalescer_.transport_acks().wait_room(now, *this);
    return false;
  }
  if (!completion_.in().has_room_for(in_.front().closes_messages)) {
    slot().blocked(now, BlockedBy::completion_queue);
    completion_.in().wait_room(now, *this);
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
  if (!in_.ready(now)) {
    slot().empty(now);
    in_.wait_ready(now);
    return;
  }
  if (in_.front().closes_messages > 0 && !has_room_for_answers(now)) return;
  write(now, in_.pop(now));
  in_.wait_ready(next_start_);
}

}  // namespace mrc::timing
