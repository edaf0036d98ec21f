// Receiver credits of UET (RCCC). A sender asks for credit in every packet, a receiver grants it to its senders in
// turn, at a little less than its line rate, so that the queue in front of it stays short. Before the first grant a
// sender may send a window unasked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mrc/ring.h"
#include "mrc/types.h"
#include "mrc/uet/uet_packet.h"

namespace mrc {

constexpr std::uint64_t whole_credit_units(std::uint64_t bytes) {
  return (bytes + kCreditUnitBytes - 1) / kCreditUnitBytes * kCreditUnitBytes;
}

/// Of a sending PDC.
class CreditAccount {
 public:
  /// `most_bytes`: it never holds more credit, and begins with as much.
  explicit CreditAccount(std::uint64_t most_bytes) : most_bytes_(static_cast<std::int64_t>(most_bytes)) {}

  /// Work for a PDC that had none: as a new one, it sends a window before it has heard of the receiver.
  void begin() { unasked_bytes_ = most_bytes_ - std::max<std::int64_t>(credit_bytes_, 0); }
  /// Any credit is enough for a packet.
  bool may_send() const { return unasked_bytes_ > 0 || credit_bytes_ > 0; }
  void spend(std::uint32_t bytes) {
    if (unasked_bytes_ <= 0) {
      credit_bytes_ -= bytes;
      return;
    }
    unasked_bytes_ -= bytes;
    credit_bytes_ += std::min<std::int64_t>(unasked_bytes_, 0);
  }

  /// What the receiver has granted since the PDC began.
  void granted(std::uint64_t bytes) {
    if (bytes <= granted_bytes_) return;
    credit_bytes_ = std::min(credit_bytes_ + static_cast<std::int64_t>(bytes - granted_bytes_), most_bytes_);
    granted_bytes_ = bytes;
  }
  /// The receiver is known to be busy: of what it was not asked for, no more is sent.
  void stop_speculating() { unasked_bytes_ = 0; }
  /// How far grants should go, for `wanted_bytes` of this PDC that are not sent and `flows` of the node that wait for
  /// its line: each asks for its part, but for no less than lets it send `floor_packets`.
  std::uint64_t target(std::uint64_t wanted_bytes, std::uint32_t flows, std::uint32_t mtu_bytes,
                       std::uint32_t floor_packets) const {
    const auto wanted = static_cast<std::int64_t>(wanted_bytes);
    const std::int64_t unasked = std::max<std::int64_t>(unasked_bytes_, 0);
    std::int64_t want = std::min(wanted, most_bytes_) - unasked - credit_bytes_;
    // While it sends unasked, a packet's worth is asked for in case that the receiver is busy.
    if (unasked > 0) want = std::max(want, std::min<std::int64_t>(wanted, mtu_bytes));
    const std::int64_t part = std::max<std::int64_t>(want, 0) / std::max(flows, 1U);
    const std::int64_t least = floor_packets == 0 ? 0 : least_request(wanted, std::int64_t{floor_packets} * mtu_bytes);
    return granted_bytes_ + whole_credit_units(static_cast<std::uint64_t>(std::max(part, least)));
  }

  std::int64_t credit_bytes() const { return credit_bytes_; }
  std::int64_t unasked_bytes() const { return unasked_bytes_; }
  std::uint64_t granted_bytes() const { return granted_bytes_; }

 private:
  std::int64_t least_request(std::int64_t wanted, std::int64_t floor_bytes) const {
    const std::int64_t floor = std::min(wanted, floor_bytes);
    return floor - (unasked_bytes_ > 0 ? 0 : std::min(credit_bytes_, floor));
  }

  std::int64_t most_bytes_;
  std::int64_t credit_bytes_ = 0;   ///< granted and not spent; below 0 by a part of a packet
  std::int64_t unasked_bytes_ = 0;  ///< that may be sent without a grant
  std::uint64_t granted_bytes_ = 0;
};

/// Of a receiving node: its senders in turn.
class CreditPacer {
 public:
  struct Grant {
    std::uint32_t flow = 0;
    std::uint64_t granted_bytes = 0;  ///< since the PDC began
  };

  /// Grants of at most `grant_bytes`, in all at `gbps`. While nobody asks, the senders that have asked before get
  /// credit in turn, until they have `idle_bytes` more than they asked for. As in UEC's reference simulator, a sender
  /// takes a place in that turn each time that it has got all that it asked for, so that it may have several.
  CreditPacer(std::size_t flows, std::uint32_t grant_bytes, double gbps, std::uint64_t idle_bytes = 0)
      : flows_(flows),
        grant_bytes_(whole_credit_units(grant_bytes)),
        idle_bytes_(idle_bytes),
        ps_per_byte_(8000.0 / gbps) {}

  /// A sender has asked.
  void ask(std::uint32_t flow, std::uint64_t target_bytes, TimePs now) {
    Flow& of = flows_[flow];
    if (target_bytes <= of.target_bytes) return;
    of.target_bytes = target_bytes;
    list(flow, now);
  }
  /// The receiver has refused a packet, so its sender will need the credit once more.
  void refused(std::uint32_t flow, std::uint32_t bytes, TimePs now) {
    Flow& of = flows_[flow];
    of.target_bytes = std::max(of.target_bytes, of.granted_bytes) + whole_credit_units(bytes);
    list(flow, now);
  }
  std::uint64_t granted_bytes(std::uint32_t flow) const { return flows_[flow].granted_bytes; }
  std::uint64_t target_bytes(std::uint32_t flow) const { return flows_[flow].target_bytes; }

  /// When the next grant is due; kNever without a sender to give it to.
  TimePs next() const { return turns_.empty() && idle_.empty() ? kNever : next_at_; }
  /// The grant that is due. Precondition: next() <= now.
  Grant take(TimePs now) {
    const bool is_asked = !turns_.empty();
    Ring<std::uint32_t>& from = is_asked ? turns_ : idle_;
    const std::uint32_t flow = from.front();
    from.pop();
    Flow& of = flows_[flow];
    const std::uint64_t bytes = is_asked ? std::min(grant_bytes_, of.asked_bytes()) : grant_bytes_;
    if (is_asked) of.listed = false;
    of.granted_bytes += bytes;
    // A grant that is shorter than a packet still answers a request.
    next_at_ =
        now + static_cast<TimePs>(static_cast<double>(std::max<std::uint64_t>(bytes, kLeastBytes)) * ps_per_byte_);
    if (of.asked_bytes() > 0) {
      list(flow, now);
    } else {
      list_idle(flow);
    }
    return {flow, of.granted_bytes};
  }

 private:
  static constexpr std::uint64_t kLeastBytes = 1024;
  struct Flow {
    std::uint64_t target_bytes = 0;
    std::uint64_t granted_bytes = 0;
    bool listed = false;
    std::uint64_t asked_bytes() const { return target_bytes - std::min(target_bytes, granted_bytes); }
  };

  void list(std::uint32_t flow, TimePs now) {
    if (flows_[flow].listed) return;
    if (next() == kNever) next_at_ = std::max(next_at_, now);
    flows_[flow].listed = true;
    turns_.push(flow);
  }
  void list_idle(std::uint32_t flow) {
    const Flow& of = flows_[flow];
    if (of.granted_bytes < of.target_bytes + idle_bytes_) idle_.push(flow);
  }

  std::vector<Flow> flows_;
  Ring<std::uint32_t> turns_;  ///< that ask for more than they have
  Ring<std::uint32_t> idle_;   ///< that may have more than they asked for
  std::uint64_t grant_bytes_;
  std::uint64_t idle_bytes_;
  double ps_per_byte_;
  TimePs next_at_ = 0;
};

}  // namespace mrc
