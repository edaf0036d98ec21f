// A run as a timeline for ui.perfetto.dev, in the Chrome JSON trace event format: one process per node, one track per
// box, slices for messages (post to completion) and for packets in each box, flows that link a packet through boxes and
// nodes to its acknowledgement, slices of the time in which a box is blocked and by what, counters of levels and
// windows, instants of drops, trims, NACKs, retransmissions and EV states.
#pragma once

#include <array>
#include <compare>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/output_file.h"
#include "results/recording.h"

namespace mrc {

struct PerfettoOptions {
  std::string path;      ///< empty: no timeline
  std::string scenario;  ///< name of the run, with its seed
  std::uint64_t seed = 0;
  std::uint32_t packets_one_in = 1;  ///< packets of one PSN in this many are shown
};

/// "1/N" or "N"; throws OutputError that says what is allowed.
std::uint32_t parse_packet_sampling(const std::string& text);

class PerfettoTimeline final : public RecordSink {
 public:
  /// Throws OutputError where the file cannot be written beside `options.path`.
  PerfettoTimeline(const PerfettoOptions& options, const Recording& recording);
  ~PerfettoTimeline() override;

  void take(const Record& record, std::uint32_t wheel) override;
  void close() override;

 private:
  /// Rows of a track from top to bottom. The number is that of its first row among the rows of a box.
  enum class Band : std::uint32_t { packets = 0, blocked = 9'998, events = 9'999, end = 10'000 };
  /// Rows of one name; slices of one row never overlap, so a busy box has several.
  struct Track {
    std::uint32_t pid = 0;
    std::string name;
    std::uint32_t first_row = 0;  ///< among all rows of the process
    struct Lane {
      std::uint32_t tid;
      std::uint64_t end_ns;
    };
    std::vector<Lane> lanes;
  };
  struct Place {
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    std::uint64_t ns = 0;
  };
  struct PacketKey {
    NodeId source;
    NodeId destination;
    QpNumber destination_qp;
    Psn psn;
    Opcode opcode;  ///< write_only for all data
    std::uint16_t salt;
    auto operator<=>(const PacketKey&) const = default;
  };
  /// Where a packet is, and the flow through the boxes that it has seen.
  struct Life {
    PacketTag packet;
    std::uint32_t wheel = 0;
    std::string box;
    TimePs arrived = 0;
    TimePs end = 0;  ///< of its service, as far as known
    bool in_box = false;
    bool taken = false;    ///< out of the box's queue
    bool on_wire = false;  ///< since `arrived`
    std::uint64_t flow = 0;
    std::uint32_t steps = 0;
    Place last_step;
    std::uint32_t sender_qp = Record::kNoQp;
  };
  struct Counter {
    std::uint64_t value = 0;
    TimePs changed = 0;
    TimePs shown = 0;
    bool pending = false;
    bool any = false;
  };
  /// What a slot does, since when; only the time in which it is blocked is shown.
  struct SlotShown {
    std::uint64_t state = kSlotEmpty;
    TimePs since = 0;
  };
  struct Message {
    TimePs posted = 0;
    std::uint64_t bytes = 0;
    std::uint32_t qp = 0;
    NodeId peer = 0;
  };
  using Lives = std::map<PacketKey, Life>;

  static PacketKey key_of(const PacketTag& packet);
  static std::string name_of(const PacketTag& packet);
  bool shown(const PacketTag& packet) const { return packet.psn % options_.packets_one_in == 0; }

  void pushed(const Record& record, std::uint32_t wheel);
  void popped(const Record& record, std::uint32_t wheel);
  void served(const Record& record, std::uint32_t wheel);
  void slot_changed(const Record& record);
  void show_blocked(std::uint32_t object, TimePs until);
  void acknowledge(const Record& record, std::uint32_t wheel);
  void finish_service(std::uint32_t wheel, const std::string& box);
  void dropped(const Record& record);
  void leave_box(Life& life, TimePs end);
  void leave_wire(Life& life, TimePs end, std::string_view how);
  void end_life(Lives::iterator it);
  void count(const Record& record);
  void show_counter(std::uint32_t object, TimePs time);
  void path_changed(const Record& record, std::uint32_t wheel);
  void completed(const Record& record, std::uint32_t wheel);

  /// Of a row on the screen.
  std::uint32_t order_of(const std::string& track) const;
  Track& track(std::uint32_t pid, const std::string& name, Band band);
  std::uint32_t add_row(Track& track);
  Place slice(std::uint32_t pid, const std::string& track_name, TimePs begin, TimePs end, const std::string& name,
              const std::string& args, Band band = Band::packets);
  void step(Life& life, const Place& place);
  void flow_event(char phase, const Life& life);
  void instant(std::uint32_t pid, const std::string& track_name, TimePs time, const std::string& name);
  void metadata(const char* what, std::uint32_t pid, std::uint32_t tid, const std::string& args);
  void put(const std::string& event);
  std::uint32_t fabric_pid() const { return fabric_pid_; }
  static std::uint32_t pid_of(std::uint32_t wheel) { return wheel + 1; }
  /// Of the row that names the run.
  std::uint32_t run_pid() const { return pid_of(static_cast<std::uint32_t>(recording_.wheels().size())); }

  PerfettoOptions options_;
  const Recording& recording_;
  OutputFile output_;
  std::ofstream& file_;
  bool first_event_ = true;
  std::uint32_t fabric_pid_ = 0;
  std::uint32_t next_tid_ = 1;
  std::uint64_t next_flow_ = 1;
  TimePs last_ = 0;
  std::set<NodeId> recorded_nodes_;
  std::vector<std::uint32_t> pid_of_object_;
  std::map<std::pair<std::uint32_t, std::string>, Track> tracks_;
  std::vector<std::string> rows_;       ///< beginnings of the names of tracks, from top to bottom
  std::set<std::string> ends_packets_;  ///< boxes that hand on, or let go, what they took before they take the next
  std::string maker_without_queue_;     ///< of packets that appear first in a queue to which others hand packets on
  std::vector<Counter> counters_;
  std::vector<SlotShown> slots_;  ///< by object
  Lives lives_;
  /// The packet that a slot took last and has not told the service of.
  std::map<std::pair<std::uint32_t, std::string>, PacketKey> in_service_;
  /// By node and QP of the sender: packets without an acknowledgement.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<PacketKey>> outstanding_;
  struct Acknowledging {
    TimePs arrived = 0;
    std::string name;
    std::vector<PacketKey> packets;
    bool open = false;
  };
  std::map<std::uint32_t, Acknowledging> acknowledging_;  ///< by wheel
  std::map<std::pair<std::uint32_t, std::uint64_t>, Message> messages_;
};

}  // namespace mrc
