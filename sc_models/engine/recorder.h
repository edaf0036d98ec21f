// What one wheel tells of its run while somebody records: levels, queues' traffic, slots' states, events. A tap in each
// buffer, slot and work clock points to it; where nobody records the tap is empty and costs one look at a pointer.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "mrc/packet.h"
#include "mrc/types.h"

namespace mrc {

/// What a record keeps of a packet, which lives on and changes.
struct PacketTag {
  NodeId source = 0;
  NodeId destination = 0;
  QpNumber destination_qp = 0;
  Psn psn = 0;
  Ev ev = 0;
  std::uint32_t payload_bytes = 0;
  std::uint64_t sack_bitmap = 0;
  std::int16_t sack_offset = 0;
  std::uint16_t salt = 0;  ///< tells control packets with one PSN apart
  Opcode opcode = Opcode::write_only;
  NackReason nack = NackReason::none;
  std::uint8_t plane = 0;
  std::uint8_t loss_cause = 0;
  Damage damage = Damage::none;
  bool retransmission = false;

  static PacketTag of(const Packet& packet);
};

struct Record {
  enum class Kind : std::uint8_t {
    level,      ///< `value` is added to the level (two's complement)
    value,      ///< `value` holds from now on
    push,       ///< into a queue; can be taken from `until` on
    pop,        ///< out of a queue
    slot,       ///< of a slot: `value` is its SlotState; busy until `until`
    work,       ///< work clock: `value` is added to the number of pieces of work in hand
    posted,     ///< a message of `until` bytes to node `object`, known as `value`, on `qp`
    completed,  ///< the message known as `value`; `until` is 0 for success
    dropped,    ///< a packet, at `object`
    path        ///< EV at index `value` of `qp`'s path table is in state `until` from now on, on plane packet.plane
  };
  static constexpr std::uint32_t kNoQp = 0xFFFF'FFFF;

  TimePs time = 0;
  TimePs until = 0;
  std::uint64_t value = 0;
  std::uint32_t object = 0;
  std::uint32_t qp = kNoQp;  ///< index at its NIC
  Kind kind = Kind::level;
  bool has_packet = false;
  PacketTag packet;
};

/// States of an issue slot as records number them: causes of its NIC, then these.
inline constexpr std::uint64_t kSlotBusy = 0xFE;
inline constexpr std::uint64_t kSlotEmpty = 0xFF;

class Recorder {
 public:
  /// Called after each step of a box, for what no tap sees.
  using Poll = std::function<void(TimePs now)>;
  void add_poll(Poll poll) { polls_.push_back(std::move(poll)); }

  // Out of line and cold: the boxes' fast path keeps nothing of them but a call.
  [[gnu::cold]] void add(const Record& record);
  [[gnu::cold]] void level(std::uint32_t object, TimePs time, std::uint64_t change);
  [[gnu::cold]] void value(std::uint32_t object, TimePs time, std::uint64_t now_holds);
  [[gnu::cold]] void stepped(TimePs now);

  /// In the order in which they were told, which is not that of time: a wheel knows some things late, some early.
  std::vector<Record>& records() { return records_; }

 private:
  std::vector<Poll> polls_;
  std::vector<Record> records_;
};

/// Where a buffer, slot or work clock tells its changes. Watching changes nothing of what is measured.
struct RecorderTap {
  static constexpr std::uint32_t kNoObject = 0xFFFF'FFFF;
  Recorder* recorder = nullptr;
  std::uint32_t object = 0;
};

/// An item of a queue that is a packet or has one.
template <typename Item>
inline constexpr bool has_packet = std::same_as<Item, Packet*> || requires(const Item& item) {
  { item.packet } -> std::convertible_to<const Packet*>;
};

/// Null for an item without a packet.
template <typename Item>
const Packet* packet_of(const Item& item) {
  if constexpr (std::same_as<Item, Packet*>) {
    return item;
  } else if constexpr (has_packet<Item>) {
    return item.packet;
  } else {
    return nullptr;
  }
}

/// The record of an item that moves through a queue, with what the item says of its packet, QP and message.
template <typename Item>
Record record_of(Record::Kind kind, std::uint32_t object, TimePs time, TimePs until, const Item& item) {
  Record record{.time = time, .until = until, .object = object, .kind = kind, .packet = {}};
  const Packet* packet = packet_of(item);
  if constexpr (requires {
                  { item.qp } -> std::convertible_to<std::uint32_t>;
                })
    record.qp = item.qp;
  if (packet != nullptr) {
    record.has_packet = true;
    record.packet = PacketTag::of(*packet);
  }
  return record;
}

}  // namespace mrc
