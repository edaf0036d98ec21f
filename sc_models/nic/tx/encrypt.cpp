#include "nic/tx/encrypt.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/latency_account.h"
#include "nic/engine_rate.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"
#include "nic/tx/srv6_encap.h"

namespace mrc::timing {
namespace {

/// Keys of what is sent and of what is received are two tables in host memory.
constexpr std::uint64_t kKeysToSend = 1ULL << 44;

/// Cycles by which the last beat comes later than a datapath that sends the packet beat by beat would need it.
std::uint64_t cycles_behind(std::uint64_t engine_cycles, const Packet& packet, std::uint32_t datapath_bits) {
  const std::uint64_t needed = beats(plaintext_bytes(packet), datapath_bits);
  return engine_cycles > needed ? engine_cycles - needed : 0;
}

}  // namespace

Encrypt::Encrypt(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie,
                 Fifo<TxPacket>& in)
    : Box(name, owner,
          {.name = "encrypt",
           .part = NicPart::transmit,
           .behind = Srv6Encap::kBoxInFront,
           .packets = Handling::passes}),
      slot(*this, nic.tx_work),
      nic_(nic),
      key_memory_(nic.memories[kKeys]),
      in_(in),
      out_(*this, "encrypt.queue", nic.config.nic.encrypt.queue_entries),
      keys_(*this, nic, pcie,
            {.name = "encrypt",
             .entries = nic.config.nic.encrypt.key_cache_entries,
             .bytes = nic.config.nic.encrypt.key_bytes,
             .wait_entries = nic.config.nic.encrypt.key_wait_entries,
             .table = kKeysToSend,
             .misses = &nic.box_counters.encrypt_key_misses}),
      out_full_(nic.causes.declare_full("encrypt.queue", out_.taker(), {"nic.encrypt.queue_entries"})),
      no_port_room_(Srv6Encap::no_control_room(nic)),
      starts_(nic.trace, server_cause(nic, "encrypt"),
              nic.causes.declare(std::string(Srv6Encap::kBoxInFront) + ".queue")) {
  in_.connect(this);
  declare(engine_server(nic, "encrypt", nic.config.nic.encrypt));
  nic.memories.count(kQueue, out_.occupancy());
  nic.memories.count(kKeyWait, keys_.wait_room());
  if (!nic.scenario.protocol.encryption.control) return;
  for (std::size_t port = 0; port < nic.config.nic.ports; ++port) {
    control_.push_back(std::make_unique<Fifo<Packet*>>(*this, fmt::format("port{}.encrypt_fifo", port),
                                                       nic.config.nic.port.encrypt_fifo_entries,
                                                       QueueUse{.is_accounted = false}));
    control_.back()->connect(this);
    nic.memories.count(kControlFifo, control_.back()->occupancy());
  }
}

void Encrypt::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  if (!nic.protocol.encryption.on()) return;
  const EncryptConfig& config = nic.node.nic.encrypt;
  const MemoryConfig& keys = nic.node.nic.memory.encrypt_keys;
  out.add(kKeys, config.key_cache_entries, keys, {{"key, salt, number", config.key_bytes * 8ULL}});
  out.add_beside(kKeys, "encrypt.key_tags", {.depth = config.key_cache_entries, .banks = keys.banks},
                 {kQpField, {"LRU links", 2 * bits_for(config.key_cache_entries)}, {"valid, loading", 2}});
  out.add(kKeyWait, {.depth = config.key_wait_entries},
          transmit_descriptor({kBufferPointerField, kEvField, kPlaneField}));
  out.add(kQueue, {.depth = config.queue_entries},
          transmit_descriptor({kBufferPointerField, kEvField, kPlaneField, {"packet number", 64}}));
  if (!nic.protocol.encryption.control) return;
  out.add(kControlFifo, {.depth = nic.node.nic.port.encrypt_fifo_entries, .instances = nic.node.nic.ports},
          {kControlPacketField});
}

void Encrypt::declare_latency(LatencyAccount& account) {
  if (!account.scenario().protocol.encryption.on()) return;
  const EncryptConfig& config = account.nic().encrypt;
  const Packet packet = account.packet();
  const std::uint64_t behind =
      cycles_behind(beats(plaintext_bytes(packet), config.width_bits), packet, account.nic().datapath_bits);
  account.pass_box(static_cast<double>(config.pipeline.latency_cycles + behind));
}

std::vector<Fifo<Packet*>*> Encrypt::control() const {
  std::vector<Fifo<Packet*>*> queues;
  for (const auto& queue : control_) queues.push_back(queue.get());
  return queues;
}

void Encrypt::for_each_packet_held(const PacketVisitor& visit) const {
  keys_.for_each([&](const TxPacket& tx) {
    if (is_data(tx.packet->opcode)) visit(*tx.packet);
  });
}

// Whatever is sent goes to the peer of some QP, so there is an association.
std::uint32_t Encrypt::association_of(const TxPacket& tx) const {
  return is_data(tx.packet->opcode) ? nic_.associations->outgoing(tx.qp) : nic_.associations->outgoing(*tx.packet);
}

bool Encrypt::has_room(const TxPacket& tx) const {
  return is_data(tx.packet->opcode) ? !out_.full() : !behind_[tx.packet->plane]->full();
}

void Encrypt::wait_room(TimePs now, const TxPacket& tx) {
  const bool data = is_data(tx.packet->opcode);
  hold_up(now, data ? out_full_ : no_port_room_);
  if (data) {
    out_.wait_room(now, *this);
  } else {
    behind_[tx.packet->plane]->wait_room(now, *this);
  }
}

void Encrypt::hold_up(TimePs now, Cause cause) {
  slot.blocked(now, cause);
  held_up_ = true;
}

bool Encrypt::ask_for_key(TimePs now, const TxPacket& tx, Box& caller) {
  return keys_.ask(now, association_of(tx), tx.packet->last_start, caller);
}

bool Encrypt::has_key(TimePs now, const TxPacket& tx, bool& may_wait) {
  using Lookup = AssociationKeys<TxPacket>::Lookup;
  const std::uint32_t association = association_of(tx);
  may_wait = true;
  if (is_data(tx.packet->opcode)) return keys_.has_come(association);
  const Lookup found = keys_.look_up(now, association, tx.packet->last_start);
  may_wait = found != Lookup::no_read_room;
  return found == Lookup::held;
}

Encrypt::Key Encrypt::look_for_key(TimePs now, const TxPacket& tx) {
  bool may_wait = false;
  if (has_key(now, tx, may_wait)) return Key::here;
  if (!may_wait) {
    hold_up(now, keys_.read_queue_full());
    return Key::missing;
  }
  if (!keys_.has_wait_room()) {
    hold_up(now, keys_.wait_full());
    keys_.refuse_wait(now);
    return Key::missing;
  }
  slot.blocked(now, keys_.miss());
  keys_.set_aside(now, tx, association_of(tx));
  next_start_ = now + nic_.clock.cycles(nic_.config.nic.encrypt.pipeline.initiation_interval_cycles);
  return Key::set_aside;
}

void Encrypt::encrypt(TimePs now, const TxPacket& tx) {
  const EncryptConfig& config = nic_.config.nic.encrypt;
  Packet& packet = *tx.packet;
  const std::uint32_t association = association_of(tx);
  // The key is read, and the number of its next packet written back.
  MemoryAccess key = key_memory_.update(now, association);
  if (key.failed()) {
    nic_.memory_failed(now, key_memory_, fmt::format("key of association {} is re-read over PCIe", association));
    key.delay_ps += ps_from_ns(nic_.config.pcie.read_latency_mean_ns);
  }
  slot.stalled(now, key.delay_ps, key_memory_.cause());
  packet.packet_number = nic_.associations->number(association);
  ++nic_.counters.encryption.encrypted;
  const std::uint64_t through = beats(plaintext_bytes(packet), config.width_bits);
  next_start_ = now + key.delay_ps +
                nic_.clock.cycles(std::max<std::uint64_t>(through, config.pipeline.initiation_interval_cycles));
  starts_.stall(key.delay_ps, slot);
  slot.busy(now, next_start_);
  const std::uint64_t behind = cycles_behind(through, packet, nic_.config.nic.datapath_bits);
  const TimePs out = now + key.delay_ps + nic_.clock.cycles(config.pipeline.latency_cycles + behind);
  if (is_data(packet.opcode)) {
    keys_.served(association);
    out_.push(now, tx, out);
  } else {
    behind_[packet.plane]->push(now, tx.packet, out);
  }
}

bool Encrypt::serve_control(TimePs now) {
  for (std::size_t i = 0; i < control_.size(); ++i) {
    const std::size_t port = (turn_ + i) % control_.size();
    Fifo<Packet*>& queue = *control_[port];
    if (!queue.ready(now)) continue;
    const TxPacket tx{.packet = queue.front()};
    if (!has_room(tx)) {
      wait_room(now, tx);
      continue;
    }
    const Key key = look_for_key(now, tx);
    if (key == Key::missing) continue;
    turn_ = (port + 1) % control_.size();
    if (key == Key::here) {
      starts_.follow_packet_before(tx.packet->last_start);
      starts_.start(now, slot, tx.packet->last_start, queue.ready_at());
      encrypt(now, tx);
      nic_.trace.give(no_port_room_, starts_.last());
    }
    queue.pop(now);
    return true;
  }
  return false;
}

bool Encrypt::serve_waiting(TimePs now) {
  const auto* waiting = keys_.first_ready(now, [this](const TxPacket& tx) { return has_room(tx); });
  if (waiting == nullptr) {
    keys_.for_each_ready(now, [&](const TxPacket& tx) { wait_room(now, tx); });
    return false;
  }
  const auto taken = keys_.take(now, waiting);
  if (starts_.on()) taken.item.packet->last_start = starts_.start_after(now, taken.because, keys_.miss());
  encrypt(now, taken.item);
  return true;
}

bool Encrypt::serve_data(TimePs now) {
  if (!in_.ready(now)) {
    if (!held_up_ && keys_.any_waits()) slot.blocked(now, keys_.miss());
    if (!held_up_ && !keys_.any_waits()) slot.empty(now);
    return false;
  }
  const TxPacket tx = in_.front();
  if (!has_room(tx)) {
    wait_room(now, tx);
    return false;
  }
  const Key key = look_for_key(now, tx);
  if (key == Key::missing) return false;
  if (key == Key::here) {
    starts_.start(now, slot, tx.packet->last_start, in_.ready_at());
    encrypt(now, tx);
  }
  in_.pop(now);
  return true;
}

void Encrypt::arm(TimePs now) {
  const bool busy = next_start_ > now;
  const TimePs at = std::max(now, next_start_);
  // What is ready and was not taken waits for room or a key, and the box is woken by that.
  for (const auto& queue : control_) {
    if (busy || !queue->ready(now)) queue->wait_ready(at);
  }
  if (busy || !in_.ready(now)) in_.wait_ready(at);
  if (!keys_.any_waits()) return;
  if (busy) wake_at(at);
  if (const TimePs next = keys_.next_ready(now); next != kNever) wake_at(std::max(next, at));
}

void Encrypt::step(TimePs now) {
  if (now < next_start_) {
    wake_at(next_start_);
    return;
  }
  held_up_ = false;
  if (!serve_control(now) && !serve_waiting(now)) serve_data(now);
  arm(now);
}

}  // namespace mrc::timing
