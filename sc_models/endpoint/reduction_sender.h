// A light endpoint's part in reductions that switches carry out: sends its packets up a tree in each plane, a slot's
// next one when the result of the one before is here (so that the slots of the switches are the window), sends a packet
// once more when no result comes, and checks each result.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fabric/network.h"
#include "host/reduction_plan.h"
#include "mrc/packet.h"
#include "mrc/types.h"
#include "node/node_context.h"

namespace mrc {

/// The node, as its reductions see it.
class ReductionNode {
 public:
  virtual ~ReductionNode() = default;
  /// A packet was given to the port of `plane`, which is busy until then.
  virtual void part_sent(std::uint32_t plane, std::uint32_t bytes, bool repeated, TimePs busy_until) = 0;
  /// A part of a node of work is there, with what was wrong with it; all parts are.
  virtual void part_reduced(TimePs now, std::uint32_t work, std::uint32_t bytes, const std::string& wrong) = 0;
  virtual void all_reduced(TimePs now, std::uint32_t work) = 0;
};

struct ReductionSenderCounts {
  std::uint64_t timeouts = 0;
  std::uint64_t repeated_results = 0;  ///< that were here already
};

class ReductionSender {
 public:
  /// What it waits for: the next packets for a slot, packets on their way for an adder; nothing: the last results.
  enum class Waits : std::uint8_t { nothing, slots, adder };

  /// All arguments outlive it.
  ReductionSender(const NodeContext& nic, Network& network, const ReductionPlan& plan, ReductionNode& node);

  /// The NIC knows this node of work. Reductions of a stream are carried out in the order of the plan.
  void begin(TimePs now, std::uint32_t work);
  void receive(TimePs now, const Packet& packet);
  void serve_timers(TimePs now);
  TimePs next_timer();
  Waits waits_for(TimePs now) const;
  const ReductionSenderCounts& counts() const { return counts_; }
  /// Of the oldest packets without a result, at most `most` lines.
  std::vector<std::string> describe_waits(std::size_t most) const;

 private:
  /// A reduction that has begun, of which not all is here.
  struct Active {
    std::uint32_t work = 0;
    std::uint32_t reduction = 0;
    std::uint64_t chunks = 0;
    std::uint64_t chunks_left = 0;
    std::uint32_t first_plane = 0;     ///< of chunk 0; chunks take the planes in turn
    std::vector<std::uint64_t> first;  ///< by plane: sequence number of its first chunk there
  };
  struct Slot {
    std::uint64_t next = 0;  ///< sequence number that it sends next, or that it waits for
    std::uint32_t times_sent = 0;
    bool waiting = false;
  };
  struct Tree {
    std::uint64_t end = 0;  ///< sequence numbers of reductions that have begun
    std::vector<Slot> slots;
  };
  struct Stream {
    std::uint32_t number = 0;
    std::size_t begun = 0;                                       ///< of its reductions
    std::vector<std::pair<std::uint32_t, std::uint32_t>> early;  ///< reduction and work, not yet their turn
    std::deque<Active> active;
    std::vector<Tree> trees;  ///< by plane
  };
  struct Timer {
    TimePs at = 0;
    std::uint32_t stream = 0;
    std::uint32_t plane = 0;
    std::uint32_t slot = 0;
    std::uint32_t times_sent = 0;
    std::uint64_t sequence = 0;
    auto key() const { return std::tuple(at, stream, plane, slot, sequence, times_sent); }
    friend bool operator>(const Timer& a, const Timer& b) { return a.key() > b.key(); }
  };
  struct Chunk {
    Active* of = nullptr;
    std::uint32_t bytes = 0;
  };

  void activate(Stream& stream, std::uint32_t reduction, std::uint32_t work);
  void fill_slots(TimePs now, Stream& stream, std::uint32_t plane);
  void send(TimePs now, Stream& stream, std::uint32_t plane, std::uint32_t slot);
  Chunk chunk_of(Stream& stream, std::uint32_t plane, std::uint64_t sequence) const;
  std::uint32_t tree_of(const Stream& stream, std::uint32_t plane) const { return stream.number * planes_ + plane; }
  /// The result has come since, or the packet was sent again.
  bool is_stale(const Timer& timer) const;
  std::string difference(const Stream& stream, const ReductionFields& result) const;

  const NodeContext& nic_;
  Network& network_;
  const ReductionPlan& plan_;
  ReductionNode& node_;
  std::uint32_t planes_;
  std::uint32_t slot_bytes_;
  TimePs timeout_ps_;
  std::vector<Stream> streams_;
  std::vector<std::uint32_t> index_of_stream_;  ///< by number, into streams_
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  ReductionSenderCounts counts_;
};

}  // namespace mrc
