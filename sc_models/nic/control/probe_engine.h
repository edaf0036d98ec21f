// Probes: a RELIABILITY_PROBE_REQ on each ASSUMED_BAD EV in turn, so that a path that works again is used again, and an
// EV probe (ENDPOINT_REQUEST) a round trip for QPs that receive and do not send, so that their control packets know an
// EV a plane that works. EV probes that software asks for, to any node. Answers the EV probes of others.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/occupancy.h"
#include "mrc/control/probes.h"
#include "mrc/ring.h"
#include "nic/nic_context.h"
#include "node/path_drain.h"
#include "node/port_status_agent.h"

namespace mrc::timing {

class SackProcessor;

class ProbeEngine : public Box {
 public:
  static constexpr QueueMemory kOutstanding{"probe_engine.outstanding"};
  static constexpr CountedTable kTurns{"probe_engine.turns"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);

  ProbeEngine(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic,
              std::vector<Fifo<Packet*>*> ports);
  void connect(SackProcessor& sack_processor) { sack_processor_ = &sack_processor; }

  /// The QP's path table may have an EV to probe.
  void update(std::uint32_t qp, TimePs now);
  /// A SACK with pr = 1 answers the probe of this number.
  void answered(std::uint16_t probe_id);
  /// The QP has received data: its reverse EVs are probed once a round trip while it sends none itself.
  void data_received(TimePs now, Qp& qp, const Packet& data, bool duplicate);
  /// ENDPOINT_REQUEST or ENDPOINT_RESPONSE.
  void endpoint_packet(TimePs now, const Packet& packet);
  void step(TimePs now) override;

  /// Sends an EV probe that software asked for. `number`, which is not 0, identifies its answer; `plane` is the port to
  /// send it on. Returns false if all places for outstanding probes are taken, or the port has no room.
  bool probe_for_software(TimePs now, std::uint32_t number, NodeId node, Ev ev, std::uint8_t plane);
  /// An answer to such a probe. A late answer is accepted until the probe's place is used by another one.
  struct SoftwareAnswer {
    std::uint32_t number = 0;
    std::uint8_t plane = 0;
    TimePs round_trip_ps = 0;
    TimePs at = 0;
  };
  /// Answers since the last call, in the order of arrival.
  std::vector<SoftwareAnswer> take_answers() { return std::exchange(answers_, {}); }
  /// `route_to` gives the path to any node, so that software can probe nodes to which the NIC has no QP.
  void use_routes(std::function<UsidTemplate(NodeId)> route_to) { route_to_ = std::move(route_to); }

  PortStatusAgent& port_status() { return port_status_; }
  const PortStatusAgent& port_status() const { return port_status_; }
  PathDrain& path_drain() { return path_drain_; }

 private:
  struct Probe {
    TimePs due = 0;  ///< lost when not answered by then
    std::uint32_t qp = 0;
    Ev value = 0;
    EvIndex ev = kNoEv;  ///< of a reliability probe; kNoEv for an EV probe
    std::uint8_t plane = 0;
    bool waiting = false;
    std::uint32_t of_software = 0;  ///< software's number of it; 0: the NIC's own
    std::uint16_t id = 0;           ///< of software's
    TimePs sent_at = 0;             ///< of software's
  };
  struct Turn {
    TimePs at;
    std::uint32_t qp;
    friend bool operator>(const Turn& a, const Turn& b) { return a.at != b.at ? a.at > b.at : a.qp > b.qp; }
  };

  Probe& slot_of(std::uint16_t id) { return probes_[id % probes_.size()]; }
  bool room(std::uint8_t plane) const;
  /// The probe of next_id_. Precondition: room().
  /// On an EV that is drawn, unless there is no room.
  void send_ev_probe(TimePs now, const Qp& qp, StartId because);
  /// `because`: start of the packet that brought it about; 0 of a timer.
  void send(TimePs now, const Packet& packet, const Probe& probe, StartId because);
  void push(TimePs now, const Packet& packet, StartId because);
  void probe_bad_ev(TimePs now, std::uint32_t qp);
  void expire(TimePs now);
  void arm();
  ProbePath path(const Qp& qp, Ev ev, std::uint8_t plane) const;

  NicContext& nic_;
  AccessCounter& turn_memory_;
  std::vector<Fifo<Packet*>*> ports_;  ///< control FIFOs
  SackProcessor* sack_processor_ = nullptr;
  std::vector<Turn> turns_;    ///< heap: when QPs want to probe
  std::vector<Probe> probes_;  ///< by number
  Ring<std::uint16_t> sent_;   ///< numbers in the order of sending, which is that of their due times
  std::uint16_t next_id_ = 0;
  std::uint32_t reverse_plane_ = 0;
  PortStatusAgent port_status_;
  PathDrain path_drain_;
  KeyedRandom random_;
  Occupancy outstanding_;
  std::function<UsidTemplate(NodeId)> route_to_;  ///< empty: without software that probes
  std::vector<SoftwareAnswer> answers_;
};

}  // namespace mrc::timing
