// References of the RTL blocks. Ports and fields have the names of tb/cosim/BLOCK/ports.toml, as far as they are
// decided without a clock.
#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "dpi/reference.h"
#include "mrc/control/path_table.h"
#include "mrc/rx/ack_coalescer.h"
#include "mrc/tx/context_slots.h"
#include "mrc/tx/ready_list.h"
#include "mrc/tx/retransmit_reference.h"
#include "mrc/tx/srv6_encap.h"
#include "mrc/wire/icrc.h"
#include "nic/rx/psn_tracker_reference.h"
#include "pcie/pcie_dma_reference.h"

namespace mrc::reference {
namespace {

/// Of a reply that has fields(visit).
template <typename Reply>
Fields fields_of(const Reply& reply) {
  Fields fields;
  reply.fields([&](const char* name, std::uint64_t value) { fields[name] = value; });
  return fields;
}

// ---- ack_coalescer

class AckCoalescer : public Reference {
 public:
  static const Description& describe() {
    static const Description description{
        {{"evt",
          true,
          {"event", "slot", "payload_bytes", "retransmission", "psn", "ev", "tx_timestamp", "probe_id", "ce",
           "ack_request", "probe", "counter_bytes"}},
         {"sack",
          false,
          {"slot", "causes", "counter_bytes", "psn", "ev", "tx_timestamp", "probe_id", "ce", "ack_request", "probe"}}},
        {{"slots", 1'024}, {"threshold_bytes", 16'384}, {"min_add_bytes", 1'024}},
        {"counter_bytes"}};
    return description;
  }
  explicit AckCoalescer(const Settings& settings) : Reference(describe()), triggers_(setting32(settings, "slots")) {
    config_.sack_threshold_bytes = setting32(settings, "threshold_bytes");
    config_.sack_min_add_bytes = setting32(settings, "min_add_bytes");
  }
  std::uint64_t state(std::string_view name, std::uint64_t index) override {
    if (name != "counter_bytes") no_state(name);
    const auto& triggers = triggers_[below(index, triggers_.size(), "slot")];
    return triggers ? triggers->counter_bytes() : 0;
  }

 protected:
  void take(std::string_view, const Transfer& evt) override {
    constexpr std::uint64_t load = 0;
    constexpr std::uint64_t store = 4;
    constexpr std::uint64_t stored = 32;
    std::optional<SackTriggers>& triggers = triggers_[below(evt["slot"], triggers_.size(), "slot")];
    const std::uint64_t event = evt["event"];
    if (event > store) throw Error("event: 0 load, 1 data, 2 duplicate, 3 probe, 4 store");
    if (event == load) {
      triggers.emplace(config_, narrow(evt["counter_bytes"]));
      return;
    }
    if (!triggers) throw Error("the slot has no QP");
    if (event == store) {
      put_out(evt, stored, triggers->counter_bytes());
      triggers.reset();
      return;
    }
    Packet packet;
    packet.payload_bytes = narrow(evt["payload_bytes"]);
    packet.ack_request = evt["ack_request"] != 0;
    packet.retransmission = evt["retransmission"] != 0;
    packet.ecn = evt["ce"] != 0 ? Ecn::ce : Ecn::ect0;
    const std::uint8_t causes = triggers->causes(static_cast<SackEvent>(event), packet);
    const std::uint32_t counter = triggers->counter_bytes();
    if (causes == 0) return;
    triggers->sent();
    put_out(evt, causes, counter);
  }

 private:
  void put_out(const Transfer& evt, std::uint64_t causes, std::uint32_t counter) {
    auto fields = evt.fields;
    fields.erase("event");
    fields.erase("payload_bytes");
    fields.erase("retransmission");
    fields["causes"] = causes;
    fields["counter_bytes"] = counter;
    expect("sack", std::move(fields));
  }

  ProtocolConfig config_;
  std::vector<std::optional<SackTriggers>> triggers_;
};

// ---- psn_tracker

class ReceiveWindows : public Reference {
 public:
  static const Description& describe() {
    static const Description description{
        {{"req",
          true,
          {"op", "slot", "psn", "ends_message", "allowed", "packet_buffer", "other_resource", "receive", "ce",
           "ack_request", "probe", "probe_id", "qp"}},
         {"rsp",
          false,
          {"outcome", "nack", "place", "duplicate", "repeat_ack", "closes", "cack", "highest", "ooo_count",
           "sack_offset", "ack_psn_offset", "sack_bitmap", "mpr"}}},
        {{"slots", 1'024}, {"banks", 4'096}, {"mpr_units", 8}, {"nack_out_of_window", 1}, {"dynamic_mpr", 0}},
        {"banks_in_use", "cack", "highest", "ooo_count"}};
    return description;
  }
  explicit ReceiveWindows(const Settings& settings)
      : Reference(describe()),
        slots_(setting32(settings, "slots")),
        windows_({slots_, setting32(settings, "banks"), setting32(settings, "mpr_units")},
                 {setting32(settings, "nack_out_of_window") != 0 ? OutOfWindow::nack : OutOfWindow::drop,
                  setting32(settings, "dynamic_mpr") != 0}) {}
  std::uint64_t state(std::string_view name, std::uint64_t index) override {
    if (name == "banks_in_use") return windows_.pool().in_use();
    const auto slot = static_cast<std::uint32_t>(below(index, slots_, "slot"));
    if (!windows_.is_set_up(slot)) throw Error("the slot has no QP");
    if (name == "cack") return windows_.tracker(slot).cack_psn();
    if (name == "highest") return windows_.tracker(slot).highest_psn();
    if (name == "ooo_count") return windows_.tracker(slot).ooo_count();
    no_state(name);
  }

 protected:
  void take(std::string_view, const Transfer& req) override {
    const auto slot = static_cast<std::uint32_t>(below(req["slot"], slots_, "slot"));
    const auto op = static_cast<PsnOp>(below(req["op"], 8, "op"));
    const bool begins = op == PsnOp::setup || op == PsnOp::load;
    if (begins == windows_.is_set_up(slot)) throw Error("a slot gets a QP by set-up or load until release or store");
    if (op == PsnOp::load) put_in(slot, narrow(req["qp"]));
    const PsnReply reply = windows_.run({.op = op,
                                         .qp = slot,
                                         .psn = narrow(req["psn"]) & kPsnMask,
                                         .ends_message = req["ends_message"] != 0,
                                         .conditions = {.allowed = req["allowed"] != 0,
                                                        .packet_buffer = req["packet_buffer"] != 0,
                                                        .other_resource = req["other_resource"] != 0,
                                                        .receive = req["receive"] != 0},
                                         .ce = req["ce"] != 0,
                                         .ack_request = req["ack_request"] != 0,
                                         .probe = req["probe"] != 0,
                                         .probe_id = static_cast<std::uint16_t>(req["probe_id"])});
    if (op == PsnOp::release) windows_.forget(slot);
    if (op == PsnOp::store) outside_.insert_or_assign(narrow(req["qp"]), windows_.take_out(slot));
    expect("rsp", fields_of(reply));
  }

 private:
  void put_in(std::uint32_t slot, std::uint32_t qp) {
    const auto outside = outside_.find(qp);
    if (outside == outside_.end()) throw Error("load: no context of this QP was stored");
    windows_.put_in(slot, std::move(outside->second));
    outside_.erase(outside);
  }

  std::uint32_t slots_;
  PsnTrackerReference windows_;
  std::map<std::uint32_t, ReceiveWindow> outside_;  ///< by the number that `qp` of store and load gives
};

// ---- retransmit_buffer

class Records : public Reference {
 public:
  static const Description& describe() {
    static const Description description{
        {{"cmd",
          true,
          {"op", "slot", "qp", "psn", "base", "bitmap", "now", "limit", "threshold", "ev", "cause", "message", "offset",
           "bytes"}},
         {"rsp",
          false,
          {"hit", "advanced", "count", "psn", "message", "offset", "bytes", "cause", "unacked", "next", "has_lost",
           "oldest_lost", "outstanding", "oldest_psn", "oldest_sent", "free"}},
         {"evt", false, {"lost", "psn", "was_lost", "bytes", "ev"}}},
        {{"records", 65'536}},
        {"free", "unacked", "next"}};
    return description;
  }
  explicit Records(const Settings& settings) : Reference(describe()), records_(setting32(settings, "records")) {}
  std::uint64_t state(std::string_view name, std::uint64_t index) override {
    if (name == "free") return records_.free();
    const RetransmitBuffer* buffer = records_.find(narrow(index));
    if (buffer == nullptr) throw Error("the QP is not open");
    if (name == "unacked") return buffer->unacked_psn();
    if (name == "next") return buffer->next_psn();
    no_state(name);
  }

 protected:
  void take(std::string_view, const Transfer& cmd) override {
    const std::uint64_t op = below(cmd["op"], kStore + 1, "op");
    if (op == kLoad || op == kStore) {
      if (records_.find(narrow(cmd["qp"])) == nullptr) throw Error("the QP is not open");
      expect("rsp", fields_of(records_.look(narrow(cmd["qp"]))));
      return;
    }
    const RetransmitCommand command{.op = static_cast<RetransmitOp>(op),
                                    .qp = narrow(cmd["qp"]),
                                    .psn = narrow(cmd["psn"]) & kPsnMask,
                                    .base = narrow(cmd["base"]) & kPsnMask,
                                    .bitmap = cmd["bitmap"],
                                    .now = cmd["now"],
                                    .limit = cmd["limit"],
                                    .threshold = narrow(cmd["threshold"]),
                                    .ev = static_cast<EvIndex>(cmd["ev"]),
                                    .cause = static_cast<CutCause>(below(cmd["cause"], kCutCauses, "cause")),
                                    .message = static_cast<std::uint16_t>(cmd["message"]),
                                    .offset = narrow(cmd["offset"]),
                                    .bytes = static_cast<std::uint16_t>(cmd["bytes"])};
    const RetransmitBuffer* buffer = records_.find(command.qp);
    if (command.op == RetransmitOp::open && buffer != nullptr && buffer->span() > 0) throw Error("the QP has packets");
    const RetransmitReply reply = records_.run(command);
    for (const RetransmitEvent& event : reply.events) {
      expect("evt", {{"lost", event.lost},
                     {"psn", event.psn},
                     {"was_lost", event.was_lost},
                     {"bytes", event.bytes},
                     {"ev", event.ev}});
    }
    expect("rsp", fields_of(reply));
  }

 private:
  static constexpr std::uint64_t kLoad = 8;
  static constexpr std::uint64_t kStore = 9;

  RetransmitReference records_;
};

// ---- srv6_encap

class Encap : public Reference {
 public:
  static const Description& describe() {
    static const Description description{
        {{"packet",
          true,
          {"locator",    "usid0",           "usid1",       "usid2",      "usid3",      "usid4",  "usid5",
           "usid_count", "uplink_position", "source_high", "source_low", "flow_label", "uplink", "payload_length",
           "plane",      "hop_limit",       "dscp",        "ecn",        "srh",        "icrc"}},
         {"out", false, {"header_bytes"}}},
        {},
        {}};
    return description;
  }
  explicit Encap(const Settings&) : Reference(describe()) {}
  std::uint64_t state(std::string_view name, std::uint64_t) override { no_state(name); }

 protected:
  void take(std::string_view, const Transfer& packet) override {
    constexpr std::size_t least_with_icrc = kIpv6HeaderBytes + kUdpHeaderBytes + kBthBytes;
    if (packet.bytes.empty()) throw Error("a packet has bytes");
    const Srv6EncapInput input = input_of(packet);
    if (input.icrc && packet.bytes.size() < least_with_icrc) throw Error("with icrc a packet has IPv6, UDP and BTH");
    const OuterHeaderBytes header = outer_ipv6_header(input);
    std::vector<std::byte> bytes;
    bytes.reserve(header.size() + kSrhBytes + packet.bytes.size() + kIcrcBytes);
    for (const std::byte byte : header) bytes.push_back(byte);
    if (input.srh) {
      for (const std::byte byte : segment_routing_header(input)) bytes.push_back(byte);
    }
    const std::size_t header_bytes = bytes.size();
    for (const std::byte byte : packet.bytes) bytes.push_back(byte);
    if (input.icrc) {
      const std::uint32_t crc = wire::icrc(packet.bytes, false);
      for (unsigned shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::byte>(crc >> shift & 0xFF));
    }
    expect("out", {{"header_bytes", header_bytes}}, std::move(bytes));
  }

 private:
  static Srv6EncapInput input_of(const Transfer& packet) {
    constexpr std::uint64_t no_uplink = 7;
    Srv6EncapInput input;
    input.path.locator = narrow(packet["locator"]);
    for (std::size_t i = 0; i < kMostUsids; ++i) {
      input.path.usid[i] = static_cast<Usid>(packet["usid" + std::to_string(i)]);
    }
    input.path.count = static_cast<std::uint8_t>(std::min<std::uint64_t>(packet["usid_count"], kMostUsids));
    input.path.uplink_position = packet["uplink_position"] >= no_uplink
                                     ? UsidTemplate::kNoUplink
                                     : static_cast<std::uint8_t>(packet["uplink_position"]);
    input.source = {packet["source_high"], packet["source_low"]};
    input.flow_label = narrow(packet["flow_label"]);
    input.uplink = narrow(packet["uplink"]);
    input.payload_length = static_cast<std::uint16_t>(packet["payload_length"]);
    input.plane = static_cast<std::uint8_t>(packet["plane"]);
    input.hop_limit = static_cast<std::uint8_t>(packet["hop_limit"]);
    input.dscp = static_cast<std::uint8_t>(packet["dscp"]);
    input.ecn = static_cast<Ecn>(packet["ecn"] & 3);
    input.srh = packet["srh"] != 0;
    input.icrc = packet["icrc"] != 0;
    return input;
  }
};

// ---- spray_scheduler

class PathTables : public Reference {
 public:
  static const Description& describe() {
    static const Description description{
        {{"sel", true, {"slot", "bytes", "ports_up", "time"}},
         {"upd", true, {"slot", "event", "by_value", "ev", "value", "time"}},
         {"csr", true, {"op", "slot", "index", "wdata"}},
         {"credit", true, {"plane", "bytes"}},
         {"rsp",
          false,
          {"free_ports", "found", "rotations", "no_good", "ev", "value", "plane", "skip_end_valid", "skip_end"}},
         {"done", false, {"found", "ev", "state", "active", "reported", "held", "replaced", "backup"}}},
        {{"slots", 1},
         {"planes", 8},
         {"ev_count", 256},
         {"ev_active", 128},
         {"ev_min_active", 0},
         {"reshuffle_rotations", 1},
         {"skip_duration", 0},
         {"skip_time_ps", 10'000'000},
         {"assumed_bad_losses", 1},
         {"probe_successes", 1},
         {"probe_marked_skips", 1},
         {"seed", 1}},
        {"room", "value", "plane", "order", "rotations", "reshuffles"}};
    return description;
  }
  explicit PathTables(const Settings& settings)
      : Reference(describe()), room_(below(setting32(settings, "planes"), PathTable::kMostPlanes + 1, "planes"), 0) {
    config_.ev_count = setting32(settings, "ev_count");
    config_.ev_active = setting32(settings, "ev_active");
    config_.ev_min_active = setting32(settings, "ev_min_active");
    config_.reshuffle_rotations = setting32(settings, "reshuffle_rotations");
    config_.skip_duration = static_cast<SkipDuration>(below(setting32(settings, "skip_duration"), 3, "skip_duration"));
    config_.skip_time_ps = setting(settings, "skip_time_ps");
    config_.assumed_bad_losses = setting32(settings, "assumed_bad_losses");
    config_.probe_successes = setting32(settings, "probe_successes");
    config_.probe_skip_state =
        setting32(settings, "probe_marked_skips") != 0 ? ProbeSkipState::skip : ProbeSkipState::good;
    const auto planes = static_cast<std::uint32_t>(room_.size());
    const std::uint64_t seed = setting(settings, "seed");
    const EvProfile profile = make_auto_profile(config_, planes, KeyedRandom(seed, "profile"));
    for (std::uint32_t slot = 0; slot < setting32(settings, "slots"); ++slot) {
      tables_.push_back(std::make_unique<PathTable>(profile, config_, planes, KeyedRandom(seed + slot, "table")));
    }
  }
  /// `index` of value, plane and order: slot << 16 | EV or place; of rotations and reshuffles: the slot.
  std::uint64_t state(std::string_view name, std::uint64_t index) override {
    if (name == "room") return room_[below(index, room_.size(), "plane")];
    if (name == "rotations") return table(index).rotations();
    if (name == "reshuffles") return table(index).reshuffles();
    PathTable& of = table(index >> 16);
    const auto ev = static_cast<EvIndex>(below(index & 0xFFFF, of.size(), "EV"));
    if (name == "value") return of.value(ev);
    if (name == "plane") return of.plane(ev);
    if (name == "order") return of.scan_order()[ev];
    no_state(name);
  }

 protected:
  void take(std::string_view port, const Transfer& transfer) override {
    if (port == "sel") return select(transfer);
    if (port == "upd") return update(transfer);
    if (port == "csr") return control(transfer);
    room_[below(transfer["plane"], room_.size(), "plane")] += transfer["bytes"];
  }

 private:
  PathTable& table(std::uint64_t slot) { return *tables_[below(slot, tables_.size(), "slot")]; }
  void select(const Transfer& sel) {
    PathTable& of = table(sel["slot"]);
    std::uint32_t free = 0;
    for (std::size_t plane = 0; plane < room_.size(); ++plane) {
      if ((sel["ports_up"] >> plane & 1) != 0 && room_[plane] >= sel["bytes"]) free |= 1U << plane;
    }
    const std::uint64_t rotations = of.rotations();
    const EvIndex ev = free == 0 ? kNoEv : of.select(free, sel["time"]);
    const bool found = ev != kNoEv;
    if (found) room_[of.plane(ev)] -= sel["bytes"];
    const bool skips = of.next_skip_end() != kNever;
    expect("rsp", {{"free_ports", free},
                   {"found", found},
                   {"rotations", of.rotations() - rotations},
                   {"no_good", !found && !of.has_good(~0U)},
                   {"ev", found ? ev : 0},
                   {"value", found ? of.value(ev) : 0},
                   {"plane", found ? of.plane(ev) : 0},
                   {"skip_end_valid", skips},
                   {"skip_end", skips ? of.next_skip_end() : 0}});
  }
  void update(const Transfer& upd) {
    PathTable& of = table(upd["slot"]);
    const auto event =
        static_cast<PathEvent>(below(upd["event"], static_cast<std::uint64_t>(PathEvent::probe_lost) + 1, "event"));
    const EvIndex ev =
        upd["by_value"] != 0 ? of.find(narrow(upd["value"])) : static_cast<EvIndex>(below(upd["ev"], of.size(), "EV"));
    if (ev == kNoEv) return expect("done", {});
    const std::uint64_t held = of.held_at_floor();
    const std::uint64_t events = of.events();
    of.report(ev, event, upd["time"]);
    const EvIndex backup = of.last_backup();
    expect("done", {{"found", 1},
                    {"ev", ev},
                    {"state", static_cast<std::uint64_t>(of.state(ev))},
                    {"active", of.active(ev)},
                    {"reported", of.events() != events},
                    {"held", of.held_at_floor() != held},
                    {"replaced", backup != kNoEv},
                    {"backup", backup != kNoEv ? backup : 0}});
  }
  /// Of the control words those that change an open table: 5 port status, 6 deny, 7 allow.
  void control(const Transfer& csr) {
    PathTable& of = table(csr["slot"]);
    const std::uint64_t op = csr["op"];
    if (op == 5) return of.set_port_status(narrow(csr["wdata"]));
    if (op != 6 && op != 7) throw Error("op: 5 port status, 6 deny, 7 allow");
    const auto ev = static_cast<EvIndex>(below(csr["index"], of.size(), "EV"));
    op == 6 ? of.deny(ev) : of.allow(ev);
  }

  ProtocolConfig config_;
  std::vector<std::uint64_t> room_;
  std::vector<std::unique_ptr<PathTable>> tables_;
};

// ---- pcie_dma

class Dma : public Reference {
 public:
  static const Description& describe() {
    static const Description description{
        {{"rd", true, {"address", "bytes", "job", "in_order"}},
         {"credit", true, {}},
         {"cpl", true, {"tag", "bytes", "byte_count", "poisoned"}},
         {"expire", true, {"tag"}},
         {"release", true, {"bytes"}},
         {"wr", true, {"address", "bytes"}},
         {"req", false, {"again", "address", "bytes", "job", "tag"}},
         {"verdict", false, {"verdict", "tag"}},
         {"ordered", false, {"job"}},
         {"loose", false, {"job"}},
         {"tlp", false, {"address", "bytes", "last"}}},
        {{"tags", 512}, {"jobs", 1'024}, {"completion_buffer_bytes", 262'144}, {"mrrs_bytes", 512}, {"mps_bytes", 256}},
        {"buffer_used", "idle"}};
    return description;
  }
  explicit Dma(const Settings& settings)
      : Reference(describe()),
        sizes_{setting32(settings, "tags"), setting32(settings, "jobs"), setting(settings, "completion_buffer_bytes")},
        dma_(sizes_, setting32(settings, "mrrs_bytes"), setting32(settings, "mps_bytes")),
        busy_(sizes_.jobs, false) {
    for (const char* name : {"mrrs_bytes", "mps_bytes"}) {
      const std::uint32_t bytes = setting32(settings, name);
      if (bytes < 128 || bytes > 4'096 || (bytes & (bytes - 1)) != 0)
        throw Error(std::string(name) + ": a power of two from 128 to 4096");
    }
  }
  std::uint64_t state(std::string_view name, std::uint64_t) override {
    if (name == "buffer_used") return dma_.buffer_used();
    if (name == "idle") return dma_.idle() ? 1 : 0;
    no_state(name);
  }

 protected:
  void take(std::string_view port, const Transfer& transfer) override {
    if (port == "rd") return read(transfer);
    if (port == "credit") return request();
    if (port == "cpl") return complete(transfer);
    if (port == "expire") return dma_.expire(tag_of(transfer));
    if (port == "wr") return write(transfer);
    if (transfer["bytes"] > dma_.buffer_used()) throw Error("more than the buffer holds");
    dma_.release(narrow(transfer["bytes"]));
  }

 private:
  std::uint16_t tag_of(const Transfer& transfer) const {
    return static_cast<std::uint16_t>(below(transfer["tag"], sizes_.tags, "tag"));
  }
  void read(const Transfer& rd) {
    const std::size_t job = below(rd["job"], sizes_.jobs, "job");
    if (busy_[job] || rd["bytes"] == 0 || rd["bytes"] > sizes_.completion_buffer_bytes)
      throw Error("a read has a free job and 1 byte to the size of the completion buffer");
    busy_[job] = true;
    dma_.read(static_cast<std::uint32_t>(job), rd["address"], narrow(rd["bytes"]), rd["in_order"] != 0);
  }
  /// A credit for one request; it is not kept where nothing can be asked for.
  void request() {
    if (!dma_.can_request()) return;
    const ReadRequestTlp r = dma_.request();
    expect("req", {{"again", r.again}, {"address", r.address}, {"bytes", r.bytes}, {"job", r.job}, {"tag", r.tag}});
  }
  void complete(const Transfer& cpl) {
    const CompletionTlp completion{tag_of(cpl), narrow(cpl["bytes"]), narrow(cpl["byte_count"]), cpl["poisoned"] != 0};
    if (completion.bytes == 0 || completion.bytes > completion.byte_count) throw Error("bytes: 1 to byte_count");
    const ReadTags::Verdict verdict = dma_.completion(completion);
    expect("verdict", {{"verdict", static_cast<std::uint64_t>(verdict)}, {"tag", completion.tag}});
    while (const auto job = dma_.ordered_done()) report("ordered", *job);
    while (const auto job = dma_.loose_done()) report("loose", *job);
  }
  void report(const char* port, std::uint32_t job) {
    busy_[job] = false;
    expect(port, {{"job", job}});
  }
  void write(const Transfer& wr) {
    if (wr["bytes"] == 0) throw Error("a write has bytes");
    dma_.write(wr["address"], narrow(wr["bytes"]));
    while (const auto tlp = dma_.write_tlp()) {
      expect("tlp", {{"address", tlp->address}, {"bytes", tlp->bytes}, {"last", tlp->last}});
    }
  }

  PcieDmaSizes sizes_;
  PcieDmaReference dma_;
  std::vector<bool> busy_;
};

// ---- qp_scheduler

class Turns : public Reference {
 public:
  static const Description& describe() {
    static const Description description{{{"act", true, {"qp"}},
                                          {"pick", true, {"read_room"}},
                                          {"back", true, {"qp", "slot", "again"}},
                                          {"look", true, {"qp", "read_room"}},
                                          {"fill", true, {"qp", "list", "used"}},
                                          {"drop", true, {"qp"}},
                                          {"turn", false, {"qp", "lookup"}},
                                          {"grant", false, {"qp", "slot", "quantum_bytes"}},
                                          {"seen", false, {"qp", "lookup", "slot"}},
                                          {"fetch", false, {"qp", "slot", "evicts", "evicted_qp"}}},
                                         {{"qps", 16'384}, {"slots", 1'024}, {"quantum_bytes", 16'384}},
                                         {"listed", "held", "here"}};
    return description;
  }
  explicit Turns(const Settings& settings)
      : Reference(describe()),
        quantum_bytes_(setting32(settings, "quantum_bytes")),
        list_(setting32(settings, "qps")),
        slots_(setting32(settings, "qps"), setting32(settings, "slots")),
        granted_(setting32(settings, "qps")),
        fetched_(setting32(settings, "qps"), false) {}
  std::uint64_t state(std::string_view name, std::uint64_t index) override {
    if (name == "listed") return list_.size();
    if (name == "held") return slots_.held();
    if (name == "here") return slots_.here(qp_of(index)) ? 1 : 0;
    no_state(name);
  }

 protected:
  void take(std::string_view port, const Transfer& transfer) override {
    if (port == "pick") return begin_turn(transfer["read_room"] != 0);
    const std::uint32_t qp = qp_of(transfer["qp"]);
    if (port == "act") list_.activate(qp, 0);
    if (port == "drop") slots_.drop(qp);
    if (port == "back") give_back(qp, transfer);
    if (port == "fill") fill(qp, transfer["list"] != 0, transfer["used"] != 0);
    if (port != "look") return;
    const ContextLookup lookup = slots_.look(qp, false, transfer["read_room"] != 0);
    const std::uint64_t slot = lookup == ContextLookup::here ? slots_.slot_of(qp) : 0;
    expect("seen", {{"qp", qp}, {"lookup", static_cast<std::uint64_t>(lookup)}, {"slot", slot}});
    if (lookup == ContextLookup::fetched) begin_fetch(qp);
  }

 private:
  std::uint32_t qp_of(std::uint64_t index) const { return narrow(below(index, granted_.size(), "QP")); }
  /// Of the QP that has waited for longest.
  void begin_turn(bool room) {
    if (list_.empty()) throw Error("no QP waits for its turn");
    const std::uint32_t qp = list_.pick().qp;
    const ContextLookup lookup = slots_.look(qp, true, room);
    expect("turn", {{"qp", qp}, {"lookup", static_cast<std::uint64_t>(lookup)}});
    if (lookup == ContextLookup::fetched) begin_fetch(qp);
    if (lookup != ContextLookup::here) {
      list_.end_turn(qp, lookup == ContextLookup::no_room, 0);
      return;
    }
    granted_[qp] = slots_.slot_of(qp);
    expect("grant", {{"qp", qp}, {"slot", slots_.slot_of(qp)}, {"quantum_bytes", quantum_bytes_}});
  }
  void begin_fetch(std::uint32_t qp) {
    const ContextSlots::Fetch fetch = slots_.begin_fetch(qp);
    fetched_[qp] = true;
    expect("fetch", {{"qp", qp},
                     {"slot", fetch.slot},
                     {"evicts", fetch.evicted.has_value()},
                     {"evicted_qp", fetch.evicted.value_or(0)}});
  }
  void give_back(std::uint32_t qp, const Transfer& back) {
    if (granted_[qp] != back["slot"]) throw Error("the QP has no grant with this slot");
    granted_[qp].reset();
    slots_.give_back(narrow(back["slot"]));
    list_.end_turn(qp, back["again"] != 0, 0);
  }
  void fill(std::uint32_t qp, bool list, bool used) {
    if (!fetched_[qp]) throw Error("the QP's context is not being fetched");
    if (!list && !used) throw Error("fill: list, used or both are 1");
    fetched_[qp] = false;
    slots_.fill(qp, used);
    if (list) list_.activate(qp, 0);
  }

  std::uint32_t quantum_bytes_;
  ReadyList list_;
  ContextSlots slots_;
  std::vector<std::optional<std::uint32_t>> granted_;  ///< slot of a grant that has not come back, by QP
  std::vector<bool> fetched_;                          ///< and not filled, by QP
};

}  // namespace

Kind ack_coalescer_kind() {
  return kind_of<AckCoalescer>("ack_coalescer");
}
Kind psn_tracker_kind() {
  return kind_of<ReceiveWindows>("psn_tracker");
}
Kind retransmit_buffer_kind() {
  return kind_of<Records>("retransmit_buffer");
}
Kind srv6_encap_kind() {
  return kind_of<Encap>("srv6_encap");
}
Kind spray_scheduler_kind() {
  return kind_of<PathTables>("spray_scheduler");
}
Kind qp_scheduler_kind() {
  return kind_of<Turns>("qp_scheduler");
}
Kind pcie_dma_kind() {
  return kind_of<Dma>("pcie_dma");
}

}  // namespace mrc::reference
