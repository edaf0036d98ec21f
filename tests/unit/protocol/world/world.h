// Two nodes, some connections between them, and a network that does everything to packets that a network can. Events in
// order of time, no clock; every property is checked at every event.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "endpoint.h"
#include "world_config.h"

namespace mrc::world {

struct WorldResult {
  std::uint64_t events = 0;
  std::uint64_t packets = 0;
  std::uint64_t retransmissions = 0;
  std::uint64_t messages = 0;
  std::uint64_t spurious_losses = 0;
  std::uint64_t qp_errors = 0;
  std::uint64_t most_received_units = 0;  ///< of a QP, 256 B
};

class World {
 public:
  explicit World(const WorldConfig& config);

  /// Runs until all that was posted is complete or in error. Throws Violation with the seed and the last events.
  WorldResult run();

 private:
  enum class Kind : std::uint8_t { send, transmit, arrive, write, answer, timer, probe, probe_timeout, heal };
  struct Event {
    TimePs at;
    std::uint64_t sequence;
    std::uint32_t subject;  ///< endpoint, or path table, or index of what heals
    Kind kind;
    Flight* flight;
    bool operator>(const Event& other) const { return at != other.at ? at > other.at : sequence > other.sequence; }
  };
  struct Past {
    TimePs at = 0;
    Kind kind = Kind::send;
    std::uint32_t subject = 0;
    Opcode opcode = Opcode::write_only;
    Damage damage = Damage::none;
    std::uint64_t number = 0;
    bool has_flight = false;
  };
  struct Node {
    explicit Node(std::uint32_t banks) : bitmaps(banks) {}
    BitmapPool bitmaps;
    ProtectionTable protection;
    std::uint32_t staged = 0;
    TimePs written_at = 0;
  };
  struct Table {
    std::unique_ptr<PathTable> paths;
    std::uint32_t user = 0;  ///< an endpoint whose QP probes on it
    std::uint32_t reachable = 0;
    bool probe_scheduled = false;
    std::map<EvIndex, TimePs> skipped_until;
    std::map<EvIndex, std::uint32_t> probe_successes;  ///< in a row, of EVs that are ASSUMED_BAD
  };
  struct Probe {
    std::uint32_t table = 0;
    EvIndex ev = kNoEv;
  };
  struct Healing {
    enum class What : std::uint8_t { ports, denial };
    std::uint32_t table = 0;
    EvIndex ev = 0;
    std::uint32_t endpoint = 0;
    What what = What::ports;
  };

  void step();
  void schedule(TimePs at, Kind kind, std::uint32_t subject, Flight* flight = nullptr);
  bool work_pending() const;
  Flight* acquire();
  void release(Flight* flight) { free_.push_back(flight); }

  void build_endpoints();
  Table& table_of(const Endpoint& endpoint);
  WorkRequest draw_request(Endpoint& endpoint);
  void post_work(Endpoint& endpoint);
  void schedule_send(Endpoint& endpoint);
  void send(Endpoint& endpoint);
  void transmit(Endpoint& endpoint);
  void break_something(Endpoint& endpoint);
  void heal(std::uint32_t index);

  void launch_data(Flight* flight);
  void launch_control(Endpoint& endpoint, Flight* flight);
  void launch(Flight* flight, const Faults& faults);

  void arrive(Flight* flight);
  void receive_data(Endpoint& endpoint, Flight* flight);
  void receive_stray(Endpoint& endpoint, const Flight& like);
  void receive_probe(Endpoint& endpoint, const Flight& flight);
  void change_receiver(Endpoint& endpoint);
  void place(Endpoint& endpoint, Flight* flight, std::uint32_t closes_messages);
  void write(Flight* flight);
  void complete_receives(Endpoint& endpoint);
  void answer(Endpoint& endpoint, const Flight& flight, const RxDecision& decision);
  void send_sack(Flight* flight);
  void send_transport_ack(Endpoint& endpoint, const TransportAckFields& ack);
  void receive_sack(Endpoint& endpoint, const Flight& flight);
  void receive_nack(Endpoint& endpoint, const Flight& flight);
  void timer(Endpoint& endpoint);
  void follow_up(Endpoint& endpoint);

  void schedule_probe(Table& table);
  void probe(std::uint32_t position);
  void probe_timeout(std::uint32_t id);

  void note_skip(Table& table, EvIndex ev, EvState before);
  void check_probed(Table& table, EvIndex ev, EvState before, bool lost_too);
  void check_no_path(const Table& table) const;
  void check_reverse(Endpoint& endpoint, const ReversePaths::Choice& choice, std::uint32_t usable);
  void check_banks(std::uint32_t node) const;
  void check_losses(Endpoint& endpoint, std::uint64_t held_before);
  void check_table(Table& table);
  void check_inflight(const Endpoint& endpoint) const;
  void check_failure(const Endpoint& endpoint) const;
  void check_end();
  std::string history() const;

  WorldConfig config_;
  KeyedRandom random_;
  TimePs now_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t events_done_ = 0;
  std::uint64_t last_progress_ = 0;
  std::uint64_t live_events_ = 0;  ///< scheduled, other than probes and what heals
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::array<Node, 2> nodes_;
  std::vector<Table> tables_;
  std::vector<std::unique_ptr<WatchedCongestion>> congestions_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::vector<std::unique_ptr<Flight>> flights_;
  std::vector<Flight*> free_;
  std::vector<Healing> healings_;
  std::map<Ev, TimePs> blackholes_;
  std::map<std::uint16_t, Probe> probes_;
  std::uint16_t next_probe_ = 0;
  std::array<Past, 32> past_{};
  WorldResult result_;
};

}  // namespace mrc::world
