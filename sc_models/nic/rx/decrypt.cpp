#include "nic/rx/decrypt.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/latency_account.h"
#include "nic/engine_rate.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"

namespace mrc::timing {
namespace {

constexpr std::uint64_t kKeysToReceive = (1ULL << 44) + (1ULL << 40);
constexpr std::uint64_t kBitsPerByte = 8;

/// An encrypted packet that waits for the engine: where it lies, and which association it belongs to.
std::vector<MemoryField> encrypted_descriptor() {
  return {kBufferPointerField, {"length", 15}, kPlaneField, {"SPI", 32}, {"packet number", 64}};
}

}  // namespace

Decrypt::Decrypt(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie,
                 Parser& parser)
    : Box(name, owner, {.name = "decrypt", .part = NicPart::receive, .behind = "parser", .packets = Handling::passes}),
      slot(*this, nic.rx_work),
      nic_(nic),
      key_memory_(nic.memories[kKeys]),
      replay_memory_(nic.scenario.protocol.encryption.replay_window > 0 ? &nic.memories[kReplay] : nullptr),
      packet_memory_(nic.memories[Parser::kPacketBuffer]),
      to_psn_tracker_(parser.to_psn_tracker()),
      to_sack_processor_(parser.to_sack_processor()),
      in_(*this, "decrypt.queue", nic.config.nic.decrypt.queue_entries),
      keys_(*this, nic, pcie,
            {.name = "decrypt",
             .entries = nic.config.nic.decrypt.key_cache_entries,
             .bytes = nic.config.nic.decrypt.key_bytes +
                      static_cast<std::uint32_t>(nic.scenario.protocol.encryption.replay_window / kBitsPerByte),
             .wait_entries = nic.config.nic.decrypt.key_wait_entries,
             .table = kKeysToReceive,
             .misses = &nic.box_counters.decrypt_key_misses}),
      psn_tracker_full_(nic.causes.declare("psn_tracker.queue")),
      sack_processor_full_(nic.causes.declare("sack_processor.queue")),
      starts_(nic.trace, server_cause(nic, "decrypt"), nic.causes.declare("decrypt.queue")) {
  in_.connect(this);
  parser.connect(in_, nic.causes.declare_full("decrypt.queue", in_.taker(), {"nic.decrypt.queue_entries"}));
  nic.causes.declare("decrypt.replay_window", {"protocol.encryption.replay_window"});
  declare(engine_server(nic, "decrypt", nic.config.nic.decrypt));
  nic.memories.count(kQueue, in_.occupancy());
  nic.memories.count(kKeyWait, keys_.wait_room());
}

void Decrypt::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const EncryptionConfig& encryption = nic.protocol.encryption;
  if (!encryption.on()) return;
  const DecryptConfig& config = nic.node.nic.decrypt;
  const NicMemoryConfig& memory = nic.node.nic.memory;
  out.add(kQueue, {.depth = config.queue_entries}, encrypted_descriptor());
  out.add(kKeyWait, {.depth = config.key_wait_entries}, encrypted_descriptor());
  out.add(kKeys, config.key_cache_entries, memory.decrypt_keys, {{"key, salt", config.key_bytes * kBitsPerByte}});
  out.add_beside(kKeys, "decrypt.key_tags", {.depth = config.key_cache_entries, .banks = memory.decrypt_keys.banks},
                 {{"SPI", 32}, {"LRU links", 2 * bits_for(config.key_cache_entries)}, {"valid, loading", 2}});
  if (encryption.replay_window == 0) return;
  out.add(kReplay, config.key_cache_entries, memory.replay_window,
          {{"highest number", 64}, {"accepted", encryption.replay_window}});
}

void Decrypt::declare_latency(LatencyAccount& account) {
  if (!account.scenario().protocol.encryption.on()) return;
  const DecryptConfig& config = account.nic().decrypt;
  account.pass_box(static_cast<double>(config.pipeline.latency_cycles +
                                       beats(plaintext_bytes(account.packet()), config.width_bits)));
}

void Decrypt::for_each_packet_held(const PacketVisitor& visit) const {
  keys_.for_each([&](const Packet* packet) { visit(*packet); });
}

Fifo<Packet*>& Decrypt::next_of(const Packet& packet) {
  return Parser::goes_to_psn_tracker(packet) ? to_psn_tracker_ : to_sack_processor_;
}

Cause Decrypt::full_of(const Packet& packet) const {
  return Parser::goes_to_psn_tracker(packet) ? psn_tracker_full_ : sack_processor_full_;
}

bool Decrypt::has_key(TimePs now, std::uint32_t association) {
  using Lookup = AssociationKeys<Packet*>::Lookup;
  // What has no association needs no key to be dropped.
  if (association == Associations::kNone) return true;
  switch (keys_.look_up(now, association, in_.front()->last_start)) {
    case Lookup::held:
      return true;
    case Lookup::no_read_room:
      slot.blocked(now, keys_.read_queue_full());
      return false;
    case Lookup::being_read:
      break;
  }
  if (!keys_.has_wait_room()) {
    slot.blocked(now, keys_.wait_full());
    keys_.refuse_wait(now);
    return false;
  }
  slot.blocked(now, keys_.miss());
  keys_.set_aside(now, in_.pop(now), association);
  next_start_ = now + nic_.clock.cycles(nic_.config.nic.decrypt.pipeline.initiation_interval_cycles);
  return false;
}

TimePs Decrypt::read_state(TimePs now, std::uint32_t association) {
  if (association == Associations::kNone) return 0;
  MemoryAccess key = key_memory_.read(now, association);
  if (key.failed()) {
    nic_.memory_failed(now, key_memory_, fmt::format("key of association {} is re-read over PCIe", association));
    key.delay_ps += ps_from_ns(nic_.config.pcie.read_latency_mean_ns);
  }
  MemoryAccess window;
  if (replay_memory_ != nullptr) window = replay_memory_->update(now, association);
  if (window.failed()) {
    nic_.memory_failed(now, *replay_memory_,
                       fmt::format("replay window of association {} is re-read over PCIe", association));
    window.delay_ps += ps_from_ns(nic_.config.pcie.read_latency_mean_ns);
  }
  const bool by_key = key.delay_ps >= window.delay_ps;
  const TimePs delay = by_key ? key.delay_ps : window.delay_ps;
  slot.stalled(now, delay, by_key ? key_memory_.cause() : replay_memory_->cause());
  return delay;
}

bool Decrypt::is_accepted(const Packet& packet, std::uint32_t association) {
  EncryptionCounters& counted = nic_.counters.encryption;
  if (packet.damage == Damage::corrupted) {
    ++counted.tag_failures;
    return false;
  }
  return counted.admit(nic_.associations->admit(association, packet));
}

void Decrypt::drop(TimePs now, Packet* packet) {
  nic_.box_counters.damaged.add(*packet);
  if (Parser::goes_to_psn_tracker(*packet)) nic_.rx_work.end(now);
  nic_.packets.release(packet);
}

void Decrypt::decrypt(TimePs now, Packet* packet, std::uint32_t association) {
  const DecryptConfig& config = nic_.config.nic.decrypt;
  const std::uint32_t frame_bytes = nic_.link_bytes.in_nic(*packet) - kEthernetOverheadBytes;
  const std::uint32_t whole_frame = nic_.link_bytes.untrimmed(*packet) - kEthernetOverheadBytes;
  // Of a trimmed packet only what the switch left comes in.
  const std::uint32_t cut = whole_frame - frame_bytes;
  const std::uint32_t text = plaintext_bytes(*packet);
  const std::uint32_t text_and_tag = text + crypto_trailer_bytes(nic_.scenario.protocol.encryption.framing);
  const std::uint32_t here = text_and_tag > cut ? std::min(text, text_and_tag - cut) : 0;
  const std::uint64_t through = beats(here, config.width_bits);
  TimePs delay = read_state(now, association);
  // The plaintext takes the place of what was read.
  const MemoryAccess written = packet_memory_.write_stream(now, 0, frame_bytes);
  if (written.delay_ps > delay) {
    delay = written.delay_ps;
    slot.stalled(now, delay, packet_memory_.cause());
  }
  starts_.stall(delay, slot);
  next_start_ =
      now + delay + nic_.clock.cycles(std::max<std::uint64_t>(through, config.pipeline.initiation_interval_cycles));
  slot.busy(now, next_start_);
  if (!is_accepted(*packet, association)) return drop(now, packet);
  next_of(*packet).push(now, packet, now + delay + nic_.clock.cycles(config.pipeline.latency_cycles + through));
}

bool Decrypt::serve_waiting(TimePs now) {
  const auto* waiting = keys_.first_ready(now, [this](const Packet* packet) { return !next_of(*packet).full(); });
  if (waiting == nullptr) {
    keys_.for_each_ready(now, [&](const Packet* packet) {
      slot.blocked(now, full_of(*packet));
      next_of(*packet).wait_room(now, *this);
    });
    return false;
  }
  const auto taken = keys_.take(now, waiting);
  if (starts_.on()) taken.item->last_start = starts_.start_after(now, taken.because, keys_.miss());
  decrypt(now, taken.item, taken.association);
  return true;
}

void Decrypt::serve_first(TimePs now) {
  if (!in_.ready(now)) {
    if (!keys_.any_waits()) {
      slot.empty(now);
    } else if (!keys_.any_ready(now)) {
      slot.blocked(now, keys_.miss());
    }
    return;
  }
  const Packet& head = *in_.front();
  if (next_of(head).full()) {
    slot.blocked(now, full_of(head));
    next_of(head).wait_room(now, *this);
    return;
  }
  const std::uint32_t association = nic_.associations->incoming(head);
  if (!has_key(now, association)) return;
  starts_.start(now, slot, in_.front()->last_start, in_.ready_at());
  decrypt(now, in_.pop(now), association);
}

void Decrypt::arm(TimePs now) {
  const bool busy = next_start_ > now;
  const TimePs at = std::max(now, next_start_);
  // What is ready and was not taken waits for room or a key, and the box is woken by that.
  if (busy || !in_.ready(now)) in_.wait_ready(at);
  if (!keys_.any_waits()) return;
  if (busy) wake_at(at);
  if (const TimePs next = keys_.next_ready(now); next != kNever) wake_at(std::max(next, at));
}

void Decrypt::step(TimePs now) {
  if (now < next_start_) {
    wake_at(next_start_);
    return;
  }
  if (!serve_waiting(now)) serve_first(now);
  arm(now);
}

}  // namespace mrc::timing
