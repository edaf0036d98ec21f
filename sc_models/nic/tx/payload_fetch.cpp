#include "nic/tx/payload_fetch.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "engine/latency_account.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"
#include "nic/tx/encrypt.h"
#include "nic/tx/qp_scheduler.h"
#include "nic/tx/retransmit_buffer.h"
#include "pcie/host_memory.h"
#include "pcie/pcie_latency.h"

namespace mrc::timing {
namespace {

/// Of a read's cookie: the class.
constexpr std::uint32_t kLaneBits = 2;
static_assert(1U << kLaneBits >= kMostTrafficClasses);
/// Reads that may wait in front of the PCIe engine where a more urgent one may come. With two, one is there when the
/// engine takes the other.
constexpr std::uint32_t kReadsAheadOfOthers = 2;

}  // namespace

PayloadFetch::PayloadFetch(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie,
                           const HostMemory& memory, RetransmitBuffer& retransmit_buffer, ClassQueues<TxPacket> in)
    : Box(name, owner,
          {.name = "payload_fetch", .part = NicPart::transmit, .behind = "segmenter", .packets = Handling::passes}),
      slot(*this, nic.tx_work),
      nic_(nic),
      stored_payload_(RetransmitBuffer::payload_memory(nic)),
      completion_memory_(nic.memories[PcieDma::kCompletionBuffer]),
      pcie_(pcie),
      memory_(memory),
      retransmit_buffer_(retransmit_buffer),
      leaves_read_room_(QpScheduler::evicts_contexts(nic)),
      in_(std::move(in)),
      out_(*this, "payload_fetch.queue", nic.config.nic.payload_fetch.queue_entries, nic.queue_classes()),
      out_full_(nic.causes.declare_full("spray_scheduler", out().taker())),
      all_under_way_(nic.causes.declare("payload_fetch.queue", {"nic.payload_fetch.queue_entries"})),
      lanes_(nic.queue_classes(), Lane(nic.config.nic.payload_fetch.queue_entries)),
      starts_(nic.trace, server_cause(nic, "payload_fetch"), nic.causes.declare("segmenter.queue")) {
  in_.connect(this);
  retransmit_buffer.connect(*this);
  declare(pipeline_server(nic, "payload_fetch", "payload_fetch", nic.config.nic.payload_fetch.pipeline));
  declare(DeclaredTokens{.cause = all_under_way_,
                         .capacity = nic.config.nic.payload_fetch.queue_entries,
                         .unit = "entries",
                         .taken_by = "payload_fetch",
                         .returned_by = "spray_scheduler",
                         .way = TokenWay::pcie_read});
  nic.memories.count(kQueue, out().occupancy());
}

PayloadFetch::Lane::Lane(std::uint32_t places) : under_way(std::bit_ceil(places)) {}

void PayloadFetch::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  out.add(kQueue, {.depth = nic.node.nic.payload_fetch.queue_entries}, transmit_descriptor({kBufferPointerField}));
}

void PayloadFetch::declare_latency(LatencyAccount& account) {
  if (account.bytes() <= account.nic().wqe_fetch.inline_bytes) {
    account.add_exact("payload_read", 0, "assumption", "nic.wqe_fetch.inline_bytes: it is in the WQE");
  } else {
    const double ns =
        pcie_read_ns(account.node(), account.bytes()) + payload_read_extra_ns(account.scenario().accelerator);
    account.add("payload_read", ns, LatencyAccount::plausible("pcie.read_latency_mean_ns"), "assumption",
                "pcie.read_latency_mean_ns");
  }
  account.pass_box(account.nic().payload_fetch.pipeline.latency_cycles);
}

bool PayloadFetch::on_nic(const Packet& packet) const {
  // A retransmission of an inline message finds its WQE gone and takes the payload from where it lies in memory.
  // A host behind a port hands over no WQEs with payload in them.
  if (!packet.retransmission) {
    return nic_.host_port == nullptr && packet.dma_length <= nic_.config.nic.wqe_fetch.inline_bytes;
  }
  return nic_.config.nic.retransmit_buffer.store == RetransmitStore::payload;
}

bool PayloadFetch::read_sram(TimePs now, const Packet& packet, TimePs& delay) {
  const MemoryAccess access = stored_payload_->read_stream(now, 0, std::max(packet.payload_bytes, 1U));
  delay = access.delay_ps;
  slot.stalled(now, delay, stored_payload_->cause());
  if (!access.failed()) return true;
  nic_.memory_failed(now, *stored_payload_,
                     fmt::format("payload of PSN {} to QP {} is re-read over PCIe", packet.psn, packet.destination_qp));
  return false;
}

void PayloadFetch::trace_start(TimePs now, Packet& packet, TimePs ready_at) {
  // Whether a place is taken by a read or by what has been read, it is a place.
  const bool no_place = slot.is_blocked() && !(slot.blocked_by() == pcie_.read_queue_full()) &&
                        !(slot.blocked_by() == pcie_.no_completion_buffer());
  if (!no_place) return starts_.start(now, slot, packet.last_start, ready_at);
  packet.last_start = starts_.start_after(now, nic_.trace.gave(no_place_), no_place_);
}

void PayloadFetch::step(TimePs now) {
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
  const std::uint32_t number = lane_of(in.front());
  Lane& lane = lanes_[number];
  Fifo<TxPacket>& out = out_.of(number);
  if (lane.held() + out.size() >= nic_.config.nic.payload_fetch.queue_entries) {
    // With nothing to hand on, all places are taken by reads that are under way, or by packets that wait for records.
    no_place_ = lane.without_entry.empty() ? all_under_way_ : retransmit_buffer_.missing();
    slot.blocked(now, lane.without_entry.empty() && out.ready(now) ? out_full_ : no_place_);
    out.wait_room(now, *this);
    in_.wait_more_urgent(in, next_start_);
    return;
  }
  // The key's read goes first.
  const std::uint32_t lane_bit = 1U << number;
  const bool needs_key = encrypt_ != nullptr && (keys_asked_ & lane_bit) == 0;
  if (needs_key && encrypt_->ask_for_key(now, in.front(), *this)) keys_asked_ |= lane_bit;
  if (encrypt_ != nullptr && (keys_asked_ & lane_bit) == 0) {
    slot.blocked(now, pcie_.read_queue_full());
    return;
  }
  if (!can_read(number)) {
    slot.blocked(now, pcie_.read_queue_full());
    pcie_.wait_read_room(now, *this);
    in_.wait_more_urgent(in, next_start_);
    return;
  }
  if (leaves_read_room_ && !pcie_.has_payload_room(in.front().packet->payload_bytes)) {
    slot.blocked(now, pcie_.no_completion_buffer());
    pcie_.wait_payload_room(*this);
    in_.wait_more_urgent(in, next_start_);
    return;
  }
  const PipelineConfig& pipeline = nic_.config.nic.payload_fetch.pipeline;
  if (starts_.on()) trace_start(now, *in.front().packet, in.ready_at());
  TxPacket tx = in.pop(now);
  keys_asked_ &= ~lane_bit;
  TimePs delay = 0;
  tx.from_sram = on_nic(*tx.packet) && (!tx.packet->retransmission || read_sram(now, *tx.packet, delay));
  next_start_ = now + delay + nic_.clock.cycles(pipeline.initiation_interval_cycles);
  slot.busy(now, next_start_);
  std::byte* into = nullptr;
  if (nic_.host_port != nullptr) {
    tx.packet->payload = into = nic_.host_port->payload_buffer(tx.qp, tx.packet->psn);
  } else {
    tx.packet->payload = memory_.data(tx.local_address, tx.packet->payload_bytes);
  }
  if (tx.from_sram) {
    arrived(now, tx, now + delay + nic_.clock.cycles(pipeline.latency_cycles));
  } else {
    lane.under_way[lane.issued & lane.mask()] = {tx};
    ++nic_.reads_under_way;
    const std::uint64_t cookie = lane.issued++ << kLaneBits | number;
    pcie_.read(now, tx.local_address, tx.packet->payload_bytes, *this, cookie, lanes_.size() == 1, into,
               tx.packet->last_start, true);
  }
  in_.wait_ready(next_start_);
}

bool PayloadFetch::can_read(std::uint32_t lane) const {
  if (lane + 1 == lanes_.size()) return pcie_.can_read();
  return pcie_.waiting_reads() < kReadsAheadOfOthers;
}

void PayloadFetch::read_done(std::uint64_t cookie, TimePs now, TimePs done_at) {
  const TimePs latency = nic_.clock.cycles(nic_.config.nic.payload_fetch.pipeline.latency_cycles);
  --nic_.reads_under_way;
  Lane& lane = lanes_[cookie & ((1U << kLaneBits) - 1)];
  UnderWay& read = lane.under_way[cookie >> kLaneBits & lane.mask()];
  const TxPacket& tx = read.tx;
  tx.packet->last_start = pcie_.done_by();
  // A poisoned completion: the packet leaves with a wrong ICRC, so that nobody takes it.
  if (nic_.host_port != nullptr && nic_.host_port->poisoned(tx.packet->payload)) tx.packet->damage = Damage::corrupted;
  // Its completions came in at any time while it was under way; jobs are reported some at a time.
  const auto under_way = static_cast<TimePs>(nic_.config.pcie.read_latency_mean_ns * 1000.0);
  const MemoryAccess stored = completion_memory_.write_stream(now, 0, tx.packet->payload_bytes, under_way);
  read.ready_at = done_at + stored.delay_ps + latency;
  // In the order of issue in each class.
  while (lane.delivered != lane.issued && lane.under_way[lane.delivered & lane.mask()].ready_at != kNever) {
    const UnderWay& first = lane.under_way[lane.delivered++ & lane.mask()];
    arrived(now, first.tx, std::max(first.ready_at, now));
  }
}

void PayloadFetch::arrived(TimePs now, const TxPacket& tx, TimePs ready_at) {
  Lane& lane = lanes_[lane_of(tx)];
  // Those that wait are served in the order in which they came.
  const bool waits = retransmit_buffer_.takes_at_arrival() && !tx.packet->retransmission &&
                     (!lane.without_entry.empty() || !retransmit_buffer_.take_at_arrival(now, tx.packet->last_start));
  if (waits) {
    lane.without_entry.push_back({tx, ready_at, retransmit_buffer_.missing()});
  } else {
    out_.of(lane_of(tx)).push(now, tx, ready_at);
  }
}

void PayloadFetch::entries_free(TimePs now, StartId because) {
  for (std::size_t c = lanes_.size(); c-- > 0;) {
    std::deque<Arrived>& waiting = lanes_[c].without_entry;
    while (!waiting.empty()) {
      if (!retransmit_buffer_.take_at_arrival(now, because)) return;
      const auto& [tx, ready_at, waited_for] = waiting.front();
      if (starts_.on()) tx.packet->last_start = starts_.start_after(now, because, waited_for);
      out_.of(static_cast<std::uint32_t>(c)).push(now, tx, std::max(ready_at, now + nic_.clock.period_ps()));
      waiting.pop_front();
    }
  }
}

}  // namespace mrc::timing
