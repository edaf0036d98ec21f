// References of the two halves of a QP and of its window as a whole: what RTL of a requestor, a responder or a
// congestion control is compared with.
#include <algorithm>

#include "dpi/reference.h"
#include "mrc/control/congestion_registry.h"
#include "mrc/control/path_table.h"
#include "mrc/rx/responder.h"
#include "mrc/tx/requestor.h"

namespace mrc::reference {
namespace {

const Settings& congestion_settings() {
  static const Settings settings{
      {"base_rtt_ps", 8 * kPsPerUs}, {"line_rate_gbps", 800}, {"initial_cwnd_bytes", 0}, {"min_cwnd_bytes", 0},
      {"max_cwnd_bytes", 0},         {"mtu_bytes", 4'096},    {"trim_nack", 1}};
  return settings;
}

ProtocolConfig protocol_of(const Settings& settings) {
  ProtocolConfig config;
  config.mtu_bytes = setting32(settings, "mtu_bytes");
  config.trim_nack = setting(settings, "trim_nack") != 0;
  return config;
}

std::unique_ptr<CongestionControl> window_of(const Settings& settings, const ProtocolConfig& protocol) {
  CongestionConfig config;
  config.base_rtt_ps = setting(settings, "base_rtt_ps");
  config.line_rate_gbps = static_cast<double>(setting(settings, "line_rate_gbps"));
  config.initial_cwnd_bytes = setting(settings, "initial_cwnd_bytes");
  config.min_cwnd_bytes = setting(settings, "min_cwnd_bytes");
  config.max_cwnd_bytes = setting(settings, "max_cwnd_bytes");
  return make_congestion_control(config, protocol);
}

bool window_state(const CongestionControl& window, std::string_view name, std::uint64_t& value) {
  if (name == "cwnd_bytes") return value = window.cwnd_bytes(), true;
  if (name == "inflight_bytes") return value = window.inflight_bytes(), true;
  if (name == "last_cut") return value = static_cast<std::uint64_t>(window.last_cut()), true;
  return false;
}

/// Fields of a SACK, behind those of the port.
std::vector<std::string> sack_names(std::vector<std::string> names = {}) {
  for (const char* name : {"cack_psn", "sack_offset", "sack_bitmap", "ack_psn_offset", "entropy", "rcvd_bytes",
                           "tx_timestamp", "ooo_count", "mpr", "rcv_cwnd_pen", "mark", "probe", "restore_cwnd"}) {
    names.emplace_back(name);
  }
  return names;
}

// ---- nscc

class Window : public Reference {
 public:
  static const Description& describe() {
    static const Description description{
        {{"ack", true, {"now", "rtt_ps", "newly_received_bytes", "ecn", "receiver_penalty", "restore_cwnd"}},
         {"trim", true, {"now", "rtt_ps", "bytes", "last_hop"}},
         {"refusal", true, {"now", "bytes"}},
         {"loss", true, {"now", "bytes"}},
         {"charge", true, {"bytes"}},
         {"discharge", true, {"bytes"}},
         {"window", false, {"cwnd_bytes", "inflight_bytes", "last_cut"}}},
        congestion_settings(),
        {"cwnd_bytes", "inflight_bytes", "last_cut"}};
    return description;
  }
  explicit Window(const Settings& settings)
      : Reference(describe()), window_(window_of(settings, protocol_of(settings))) {}
  std::uint64_t state(std::string_view name, std::uint64_t) override {
    std::uint64_t value = 0;
    if (!window_state(*window_, name, value)) no_state(name);
    return value;
  }

 protected:
  /// Each transfer leads to one output: the window after it.
  void take(std::string_view port, const Transfer& transfer) override {
    const std::uint64_t now = transfer["now"];
    const std::uint32_t bytes = narrow(transfer["bytes"]);
    if (port != "charge" && port != "discharge" && now < now_) throw Error("time does not go back");
    if (port == "discharge" && bytes > window_->inflight_bytes()) throw Error("more than is in flight");
    now_ = std::max(now, now_);
    if (port == "ack") {
      window_->on_ack({.now = now,
                       .rtt_ps = transfer["rtt_ps"],
                       .newly_received_bytes = transfer["newly_received_bytes"],
                       .ecn = transfer["ecn"] != 0,
                       .receiver_penalty = static_cast<std::uint8_t>(transfer["receiver_penalty"] & 0x7F),
                       .restore_cwnd = transfer["restore_cwnd"] != 0});
    } else if (port == "trim") {
      window_->on_trim(
          {.now = now, .rtt_ps = transfer["rtt_ps"], .bytes = bytes, .last_hop = transfer["last_hop"] != 0});
    } else if (port == "refusal") {
      window_->on_refusal(bytes, now);
    } else if (port == "loss") {
      window_->on_loss(bytes, now);
    } else {
      port == "charge" ? window_->charge(bytes) : window_->discharge(bytes);
    }
    expect("window", {{"cwnd_bytes", window_->cwnd_bytes()},
                      {"inflight_bytes", window_->inflight_bytes()},
                      {"last_cut", static_cast<std::uint64_t>(window_->last_cut())}});
  }

 private:
  std::unique_ptr<CongestionControl> window_;
  TimePs now_ = 0;
};

// ---- requestor

class SendingQp : public Reference {
 public:
  static const Description& describe() {
    static const Description description = [] {
      Description made{
          {{"post", true, {"now", "id", "bytes", "local_address", "remote_address", "rkey", "write_imm", "immediate"}},
           {"take", true, {"now"}},
           {"sent", true, {"now", "psn", "ev"}},
           {"sack", true, sack_names({"now"})},
           {"nack", true, {"now", "nack_psn", "entropy", "tx_timestamp", "reason"}},
           {"transport_ack", true, {"now", "msn"}},
           {"deadline", true, {"now"}},
           {"plan",
            false,
            {"gate", "psn", "msn", "rqmsn", "opcode", "payload_bytes", "nominal_bytes", "dma_length", "local_address",
             "va", "rkey", "immediate", "retransmission", "ack_request", "lost_by"}},
           {"result", false, {"records_freed", "declared_lost", "advanced"}},
           {"completion", false, {"id", "status"}}},
          congestion_settings(),
          {"gate", "next_deadline", "unacked", "next", "window_psns", "retries", "messages_pending", "qp_state",
           "packets", "retransmissions", "cwnd_bytes", "inflight_bytes", "last_cut", "ev_state"}};
      made.settings.insert({{"first_psn", 0},
                            {"mpr_units", 8},
                            {"dynamic_mpr", 0},
                            {"max_write_imm", 128},
                            {"timeout_exponent", 5},
                            {"planes", 8},
                            {"ev_count", 256},
                            {"ev_active", 128},
                            {"seed", 1}});
      return made;
    }();
    return description;
  }
  explicit SendingQp(const Settings& settings)
      : Reference(describe()),
        config_(config_of(settings)),
        paths_(profile_of(settings, config_), config_, setting32(settings, "planes"),
               KeyedRandom(setting(settings, "seed"), "table")),
        window_(window_of(settings, config_)),
        requestor_(config_, paths_, *window_, setting32(settings, "first_psn") & kPsnMask) {
    bring_up(requestor_);
  }
  /// `index`: of gate, the time; of ev_state, the EV.
  std::uint64_t state(std::string_view name, std::uint64_t index) override {
    std::uint64_t value = 0;
    if (window_state(*window_, name, value)) return value;
    if (name == "gate") return static_cast<std::uint64_t>(requestor_.gate(index));
    if (name == "next_deadline") return requestor_.next_deadline();
    if (name == "unacked") return requestor_.unacked_psn();
    if (name == "next") return requestor_.next_psn();
    if (name == "window_psns") return requestor_.window_psns();
    if (name == "retries") return requestor_.retries();
    if (name == "messages_pending") return requestor_.messages_pending();
    if (name == "qp_state") return static_cast<std::uint64_t>(requestor_.state());
    if (name == "packets") return requestor_.counters().packets;
    if (name == "retransmissions") return requestor_.counters().retransmissions;
    if (name == "ev_state")
      return static_cast<std::uint64_t>(paths_.state(static_cast<EvIndex>(below(index, paths_.size(), "EV"))));
    no_state(name);
  }

 protected:
  void take(std::string_view port, const Transfer& transfer) override {
    const TimePs now = transfer["now"];
    if (now < now_) throw Error("time does not go back");
    if (port == "sent" && !requestor_.records().contains(narrow(transfer["psn"])))
      throw Error("the packet is not in flight");
    if (port == "sent") below(transfer["ev"], paths_.size(), "EV");
    // What is refused changes nothing, the time included.
    if (port == "post") post(transfer, now);
    const SackFields sack = port == "sack" ? sack_of(transfer) : SackFields{};
    now_ = now;
    if (port == "take") plan();
    if (port == "sent") requestor_.transmitted(narrow(transfer["psn"]), static_cast<EvIndex>(transfer["ev"]), now);
    if (port == "sack") result(requestor_.on_sack(sack, now));
    if (port == "nack") result(requestor_.on_nack(nack_of(transfer), now));
    if (port == "transport_ack") result(requestor_.on_transport_ack({.msn = narrow(transfer["msn"]) & 0xFF'FFFF}, now));
    if (port == "deadline") result(requestor_.on_deadline(now));
    for (Completion completion; requestor_.pop_completion(completion);) {
      expect("completion", {{"id", completion.id}, {"status", static_cast<std::uint64_t>(completion.status)}});
    }
  }

 private:
  static ProtocolConfig config_of(const Settings& settings) {
    ProtocolConfig config = protocol_of(settings);
    config.mpr_units = setting32(settings, "mpr_units");
    config.dynamic_mpr = setting(settings, "dynamic_mpr") != 0;
    config.max_write_imm = setting32(settings, "max_write_imm");
    config.timeout_exponent = setting32(settings, "timeout_exponent");
    config.ev_count = setting32(settings, "ev_count");
    config.ev_active = setting32(settings, "ev_active");
    return config;
  }
  static EvProfile profile_of(const Settings& settings, const ProtocolConfig& config) {
    return make_auto_profile(config, setting32(settings, "planes"), KeyedRandom(setting(settings, "seed"), "profile"));
  }
  static SackFields sack_of(const Transfer& t) {
    SackFields sack;
    sack.sack_bitmap = t["sack_bitmap"];
    sack.cack_psn = narrow(t["cack_psn"]) & kPsnMask;
    sack.entropy = narrow(t["entropy"]);
    sack.rcvd_bytes = narrow(t["rcvd_bytes"]) & 0xFF'FFFF;
    sack.sack_offset = static_cast<std::int16_t>(t["sack_offset"]);
    sack.ack_psn_offset = static_cast<std::int16_t>(t["ack_psn_offset"]);
    sack.tx_timestamp = static_cast<std::uint16_t>(t["tx_timestamp"]);
    sack.ooo_count = static_cast<std::uint16_t>(t["ooo_count"]);
    sack.mpr = static_cast<std::uint8_t>(t["mpr"]);
    sack.rcv_cwnd_pen = static_cast<std::uint8_t>(t["rcv_cwnd_pen"] & 0x7F);
    sack.mark = static_cast<PathMark>(below(t["mark"], 3, "mark"));
    sack.probe = t["probe"] != 0;
    sack.restore_cwnd = t["restore_cwnd"] != 0;
    return sack;
  }
  static NackFields nack_of(const Transfer& t) {
    return {.nack_psn = narrow(t["nack_psn"]) & kPsnMask,
            .entropy = narrow(t["entropy"]),
            .tx_timestamp = static_cast<std::uint16_t>(t["tx_timestamp"]),
            .reason = static_cast<NackReason>(t["reason"])};
  }
  void post(const Transfer& t, TimePs now) {
    const WorkRequest request{.id = t["id"],
                              .local_address = t["local_address"],
                              .remote_address = t["remote_address"],
                              .rkey = narrow(t["rkey"]),
                              .bytes = narrow(t["bytes"]),
                              .immediate = narrow(t["immediate"]),
                              .write_imm = t["write_imm"] != 0};
    if (requestor_.post(request, now) != PostStatus::posted) throw Error("post: bytes 1 to 2^32 - 1");
  }
  /// The next packet, or why there is none.
  void plan() {
    const SendGate gate = requestor_.gate(now_);
    if (gate != SendGate::ready) return expect("plan", {{"gate", static_cast<std::uint64_t>(gate)}});
    const SendPlan p = requestor_.take(now_);
    expect("plan", {{"psn", p.psn},
                    {"msn", p.msn},
                    {"rqmsn", p.rqmsn},
                    {"opcode", static_cast<std::uint64_t>(p.opcode)},
                    {"payload_bytes", p.payload_bytes},
                    {"nominal_bytes", p.nominal_bytes},
                    {"dma_length", p.dma_length},
                    {"local_address", p.local_address},
                    {"va", p.va},
                    {"rkey", p.rkey},
                    {"immediate", p.immediate},
                    {"retransmission", p.retransmission},
                    {"ack_request", p.ack_request},
                    {"lost_by", static_cast<std::uint64_t>(p.lost_by)}});
  }
  void result(const AckResult& r) {
    expect("result",
           {{"records_freed", r.records_freed}, {"declared_lost", r.declared_lost}, {"advanced", r.advanced}});
  }

  ProtocolConfig config_;
  PathTable paths_;
  std::unique_ptr<CongestionControl> window_;
  Requestor requestor_;
  TimePs now_ = 0;
};

// ---- responder

class ReceivingQp : public Reference {
 public:
  static const Description& describe() {
    static const Description description{
        {{"packet",
          true,
          {"opcode",
           "psn",
           "msn",
           "rqmsn",
           "ev",
           "ecn",
           "payload_bytes",
           "dma_length",
           "va",
           "rkey",
           "immediate",
           "pkey",
           "source_node",
           "tx_timestamp",
           "ack_request",
           "retransmission",
           "trimmed",
           "trimmed_at_last_hop",
           "probe_id",
           "packet_buffer",
           "other_resource"}},
         {"written", true, {"messages"}},
         {"receives", true, {"count"}},
         {"penalty", true, {"penalty"}},
         {"decision",
          false,
          {"admitted", "outcome", "nack", "place", "sack", "repeat_transport_ack", "closes_messages", "sack_causes",
           "sack_counter_bytes"}},
         {"sack", false, sack_names()},
         {"transport_ack", false, {"msn"}},
         {"receive", false, {"immediate", "msn"}}},
        {{"first_psn", 0},
         {"mpr_units", 8},
         {"banks", 4'096},
         {"dynamic_mpr", 0},
         {"nack_out_of_window", 1},
         {"threshold_bytes", 16'384},
         {"min_add_bytes", 1'024},
         {"always_skip_threshold", 0},
         {"va", 0},
         {"region_bytes", 1ULL << 40},
         {"rkey", 1},
         {"pkey", 0xFFFF},
         {"source_node", 0}},
        {"cack", "highest", "ooo_count", "rcvd_bytes", "receives_posted", "banks_in_use", "qp_state"}};
    return description;
  }
  explicit ReceivingQp(const Settings& settings)
      : Reference(describe()),
        config_(config_of(settings)),
        pool_(setting32(settings, "banks")),
        protection_(protection_of(settings)),
        responder_(config_, setting32(settings, "first_psn") & kPsnMask, pool_, protection_, kDomain,
                   {setting32(settings, "source_node"), static_cast<std::uint16_t>(setting(settings, "pkey"))}) {
    bring_up(responder_);
  }
  std::uint64_t state(std::string_view name, std::uint64_t) override {
    if (name == "cack") return responder_.cack_psn();
    if (name == "highest") return responder_.tracker().highest_psn();
    if (name == "ooo_count") return responder_.tracker().ooo_count();
    if (name == "rcvd_bytes") return responder_.rcvd_bytes();
    if (name == "receives_posted") return responder_.receives_posted();
    if (name == "banks_in_use") return pool_.in_use();
    if (name == "qp_state") return static_cast<std::uint64_t>(responder_.state());
    no_state(name);
  }

 protected:
  void take(std::string_view port, const Transfer& transfer) override {
    if (port == "packet") return receive(transfer);
    if (port == "written") return written(transfer["messages"]);
    if (port == "penalty")
      return responder_.set_penalty(static_cast<std::uint8_t>(below(transfer["penalty"], 128, "penalty")));
    if (!responder_.post_receive(narrow(transfer["count"]))) throw Error("more receives than the queue has places");
  }

 private:
  static constexpr ProtectionDomain kDomain = 1;

  static ProtocolConfig config_of(const Settings& settings) {
    ProtocolConfig config;
    config.mpr_units = setting32(settings, "mpr_units");
    config.dynamic_mpr = setting(settings, "dynamic_mpr") != 0;
    config.out_of_window = setting(settings, "nack_out_of_window") != 0 ? OutOfWindow::nack : OutOfWindow::drop;
    config.sack_threshold_bytes = setting32(settings, "threshold_bytes");
    config.sack_min_add_bytes = setting32(settings, "min_add_bytes");
    config.always_skip_threshold = setting32(settings, "always_skip_threshold");
    return config;
  }
  static ProtectionTable protection_of(const Settings& settings) {
    ProtectionTable table;
    table.add({.va = setting(settings, "va"),
               .bytes = setting(settings, "region_bytes"),
               .rkey = setting32(settings, "rkey"),
               .domain = kDomain,
               .remote_write = true});
    return table;
  }
  static Packet packet_of(const Transfer& t) {
    Packet packet;
    packet.opcode = static_cast<Opcode>(t["opcode"]);
    if (!is_data(packet.opcode) && packet.opcode != Opcode::probe_request) throw Error("opcode: of a WRITE, or 0xDE");
    packet.psn = narrow(t["psn"]) & kPsnMask;
    packet.msn = static_cast<std::uint16_t>(t["msn"]);
    packet.rqmsn = static_cast<std::uint16_t>(t["rqmsn"]);
    packet.ev = narrow(t["ev"]);
    packet.ecn = static_cast<Ecn>(t["ecn"] & 3);
    packet.payload_bytes = narrow(t["payload_bytes"]);
    packet.dma_length = narrow(t["dma_length"]);
    packet.va = t["va"];
    packet.rkey = narrow(t["rkey"]);
    packet.immediate = narrow(t["immediate"]);
    packet.pkey = static_cast<std::uint16_t>(t["pkey"]);
    packet.source_node = narrow(t["source_node"]);
    packet.tx_timestamp = static_cast<std::uint16_t>(t["tx_timestamp"]);
    packet.ack_request = t["ack_request"] != 0;
    packet.retransmission = t["retransmission"] != 0;
    packet.trimmed_at_last_hop = t["trimmed_at_last_hop"] != 0;
    if (packet.opcode == Opcode::probe_request) packet.probe = {static_cast<std::uint16_t>(t["probe_id"])};
    return packet;
  }
  RxDecision decide(const Packet& packet, const Transfer& t) {
    if (packet.opcode == Opcode::probe_request) return responder_.on_probe(packet, 0);
    if (t["trimmed"] != 0) return responder_.on_trimmed(packet, 0);
    return responder_.accept(packet, {t["packet_buffer"] != 0, t["other_resource"] != 0}, 0);
  }
  void receive(const Transfer& t) {
    const Packet packet = packet_of(t);
    const RxDecision d = decide(packet, t);
    expect("decision", {{"admitted", d.admitted},
                        {"outcome", static_cast<std::uint64_t>(d.outcome)},
                        {"nack", static_cast<std::uint64_t>(d.nack)},
                        {"place", d.place},
                        {"sack", d.sack},
                        {"repeat_transport_ack", d.repeat_transport_ack},
                        {"closes_messages", d.closes_messages},
                        {"sack_causes", d.sack_causes},
                        {"sack_counter_bytes", d.sack_counter_bytes}});
    if (d.repeat_transport_ack) expect("transport_ack", {{"msn", responder_.repeat_transport_ack().msn}});
    if (!d.sack) return;
    const SackFields s = responder_.build_sack(d.trigger, 0);
    expect("sack", {{"cack_psn", s.cack_psn},
                    {"sack_offset", static_cast<std::uint16_t>(s.sack_offset)},
                    {"sack_bitmap", s.sack_bitmap},
                    {"ack_psn_offset", static_cast<std::uint16_t>(s.ack_psn_offset)},
                    {"entropy", s.entropy},
                    {"rcvd_bytes", s.rcvd_bytes},
                    {"tx_timestamp", s.tx_timestamp},
                    {"ooo_count", s.ooo_count},
                    {"mpr", s.mpr},
                    {"rcv_cwnd_pen", s.rcv_cwnd_pen},
                    {"mark", static_cast<std::uint64_t>(s.mark)},
                    {"probe", s.probe},
                    {"restore_cwnd", s.restore_cwnd}});
  }
  void written(std::uint64_t messages) {
    if (const auto ack = responder_.writes_issued(narrow(messages))) expect("transport_ack", {{"msn", ack->msn}});
    for (ReceiveCompletion completion; responder_.pop_receive(completion);) {
      expect("receive", {{"immediate", completion.immediate}, {"msn", completion.msn}});
    }
  }

  ProtocolConfig config_;
  BitmapPool pool_;
  ProtectionTable protection_;
  Responder responder_;
};

}  // namespace

Kind requestor_kind() {
  return kind_of<SendingQp>("requestor");
}
Kind responder_kind() {
  return kind_of<ReceivingQp>("responder");
}
Kind nscc_kind() {
  return kind_of<Window>("nscc");
}

}  // namespace mrc::reference
