// A light endpoint's part in reductions that switches carry out. It sends packets up a tree in each plane, as
// mrc/reduction/reduction_window.h allows, and takes a port in turn with the QPs: one packet behind each of theirs. It
// retransmits a packet that has no result after a timeout, and checks each result.
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
#include "mrc/reduction/reduction_window.h"
#include "mrc/types.h"
#include "node/node_context.h"

namespace mrc {

/// The node, as its reductions see it.
class ReductionNode {
 public:
  virtual ~ReductionNode() = default;
  /// A packet was given to the port of `plane`, which is busy until then.
  virtual void part_sent(std::uint32_t plane, std::uint32_t bytes, bool retransmission, TimePs busy_until) = 0;
  /// A part of a node of work has arrived; `wrong` says what is wrong with it, and is empty where nothing is.
  virtual void part_reduced(TimePs now, std::uint32_t work, std::uint32_t bytes, const std::string& wrong) = 0;
  /// All parts of a node of work have arrived.
  virtual void all_reduced(TimePs now, std::uint32_t work) = 0;
};

struct ReductionSenderCounts {
  std::uint64_t timeouts = 0;
  std::uint64_t duplicate_results = 0;  ///< of packets that had their result
};

class ReductionSender {
 public:
  /// What it waits for. slots: packets wait for their slots; adder: packets on their way wait for an adder; nothing:
  /// only the last results are missing.
  enum class Waits : std::uint8_t { nothing, slots, adder };

  /// All arguments outlive it.
  ReductionSender(const NodeContext& nic, Network& network, const ReductionPlan& plan, ReductionNode& node);

  /// The NIC knows this node of work. Reductions of a stream are carried out in the order of the plan.
  void begin(TimePs now, std::uint32_t work);
  /// The port was free, and QPs have had their turn.
  void port_free(TimePs now, std::uint32_t plane);
  /// A QP has sent a packet on the port: the next one is that of a reduction.
  void follow(TimePs now, std::uint32_t plane) {
    if (has_ready(plane)) send_next(now, plane);
  }
  void receive(TimePs now, const Packet& packet);
  void serve_timers(TimePs now);
  TimePs next_timer();
  Waits waits_for(TimePs now) const;
  const ReductionSenderCounts& counts() const { return counts_; }
  /// At most `most` lines about what is not complete, with the oldest packet of each tree without a result.
  std::vector<std::string> describe_waits(std::size_t most) const;

 private:
  /// A reduction that has begun and is not complete.
  struct Active {
    std::uint32_t work = 0;
    std::uint64_t chunks_left = 0;
    std::uint32_t first_plane = 0;     ///< of chunk 0; chunks take the planes in turn
    std::vector<std::uint64_t> first;  ///< by plane: sequence number of its first chunk there
  };
  struct Stream {
    std::uint32_t number = 0;
    std::size_t begun = 0;                                       ///< of its reductions
    std::vector<std::pair<std::uint32_t, std::uint32_t>> early;  ///< reduction and work, not yet their turn
    std::deque<Active> active;
    std::vector<ReductionWindow> windows;  ///< by plane
  };
  struct Timer {
    TimePs at = 0;
    std::uint32_t stream = 0;
    std::uint32_t plane = 0;
    ReductionWindow::Transmission sent;
    auto key() const { return std::tuple(at, stream, plane, sent.sequence, sent.times_sent); }
    friend bool operator>(const Timer& a, const Timer& b) { return a.key() > b.key(); }
  };
  struct Chunk {
    Active* of = nullptr;
    std::uint32_t bytes = 0;
  };

  void activate(Stream& stream, std::uint32_t work);
  bool has_ready(std::uint32_t plane);
  /// Where a packet may be sent, port_free() will be called.
  void ask_for_port(TimePs now, std::uint32_t plane) {
    if (has_ready(plane)) network_.notify_when_free(now, nic_.node, plane);
  }
  /// Streams take a port in turn. Precondition: has_ready().
  void send_next(TimePs now, std::uint32_t plane);
  void send(TimePs now, Stream& stream, std::uint32_t plane);
  Chunk chunk_of(Stream& stream, std::uint32_t plane, std::uint64_t sequence) const;
  std::uint32_t tree_of(const Stream& stream, std::uint32_t plane) const { return stream.number * planes_ + plane; }
  /// Its packet has no result, and this was its last transmission.
  bool is_needed(const Timer& timer) const;
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
  std::vector<std::size_t> turns_;              ///< by plane: the stream that is asked first, in streams_
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  ReductionSenderCounts counts_;
};

}  // namespace mrc
