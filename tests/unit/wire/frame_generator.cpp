#include "frame_generator.h"

#include <cctype>
#include <string_view>

namespace mrc::wire {
namespace {

/// Fills every field with random bits.
class FieldRandomizer {
 public:
  explicit FieldRandomizer(KeyedRandom& random) : random_(random) {}

  template <typename Value>
  void operator()(std::string_view, unsigned bits, Value& value) {
    if constexpr (std::is_same_v<Value, Ipv6Address>) {
      value = {random_.next(), random_.next()};
    } else {
      value = static_cast<Value>(random_.next() >> (64 - bits));
    }
  }

 private:
  KeyedRandom& random_;
};

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

template <typename Header>
void FrameGenerator::randomize(Header& header) {
  Header::fields(header, FieldRandomizer(random_));
}

void FrameGenerator::draw_payload(std::size_t bytes) {
  payload_.resize(bytes);
  for (std::byte& b : payload_) b = static_cast<std::byte>(random_.next());
}

Frame FrameGenerator::frame(const FrameShape& shape) {
  Frame frame;
  randomize(frame.ethernet);
  if (shape.encapsulation != Encapsulation::none) randomize(frame.outer.emplace());
  if (shape.encapsulation == Encapsulation::srv6_srh) randomize(frame.srh.emplace());
  if (shape.inner_ipv4) {
    randomize(frame.ipv4.emplace());
  } else {
    randomize(frame.ipv6);
  }
  randomize(frame.udp);
  randomize(frame.bth);
  frame.bth.opcode = static_cast<std::uint8_t>(shape.opcode);
  frame.bth.ts = shape.timestamp ? 1 : 0;
  visit_extensions(frame, [&](auto& header) {
    randomize(header);
    return true;
  });
  draw_payload(is_data(shape.opcode) ? shape.payload_bytes : 0);
  frame.payload = payload_;
  make_legal(frame, shape);
  complete(frame);
  return frame;
}

void FrameGenerator::make_legal(Frame& frame, const FrameShape& shape) {
  if (frame.outer) frame.outer->version = 6;
  if (frame.srh) {
    frame.srh->length_8_bytes = 2;
    frame.srh->routing_type = kRoutingTypeSegment;
    frame.srh->segments_left &= 1;
    frame.srh->last_entry = 0;
  }
  if (frame.ipv4) {
    frame.ipv4->version = 4;
    frame.ipv4->ihl = 5;
    frame.ipv4->flags &= 6;
    frame.ipv4->fragment_offset = 0;
  }
  frame.ipv6.version = 6;
  // A source is never a group address.
  frame.ethernet.src &= ~(1ULL << 40);
  constexpr std::uint64_t multicast = 0xFFULL << 56;
  if ((frame.ipv6.src.high & multicast) == multicast) frame.ipv6.src.high ^= 1ULL << 63;
  if (frame.outer && (frame.outer->src.high & multicast) == multicast) frame.outer->src.high ^= 1ULL << 63;
  frame.udp.dst_port = 4791;
  frame.bth.tver = 0;
  frame.tseth.ftype = Tseth::kFtype;
  frame.peth.ftype = Tseth::kFtype;
  frame.erth.ftype = Tseth::kFtype;
  frame.erth.op &= 1;
  frame.eeth.first_half &= static_cast<std::uint16_t>(~0x08U);  // op is 0 or 1
  if (frame.reth.dma_length == 0) frame.reth.dma_length = 1;
  if (frame.seth.m == 3) frame.seth.m = 0;
  if (shape.opcode == Opcode::nack) {
    frame.neth.nack_reason = static_cast<std::uint8_t>(kNackReasons[random_.below(kNackReasons.size())]);
  }
}

FrameShape FrameGenerator::shape(Opcode opcode, std::size_t most_payload_bytes) {
  return {.opcode = opcode,
          .encapsulation = kEncapsulations[random_.below(kEncapsulations.size())],
          .inner_ipv4 = random_.below(4) == 0,
          .timestamp = random_.below(2) == 0,
          .payload_bytes = random_.below(most_payload_bytes + 1)};
}

Packet FrameGenerator::packet(Opcode opcode, std::size_t payload_bytes) {
  Packet p;
  p.opcode = opcode;
  p.source_node = static_cast<NodeId>(random_.below(1 << 24));
  p.destination_node = static_cast<NodeId>(random_.below(1 << 24));
  p.plane = static_cast<std::uint8_t>(random_.below(8));
  p.outer_dst = {random_.next(), random_.next()};
  p.hop_limit = static_cast<std::uint8_t>(random_.next());
  p.ecn = static_cast<Ecn>(random_.below(4));
  p.ev = static_cast<Ev>(random_.next());
  p.destination_qp = static_cast<QpNumber>(random_.below(1 << 24));
  p.psn = static_cast<Psn>(random_.below(1 << 24));
  p.pkey = static_cast<std::uint16_t>(random_.next());
  p.ack_request = random_.below(2) == 1;
  p.retransmission = random_.below(2) == 1;
  p.has_timestamp = is_data(opcode) && random_.below(4) != 0;
  const auto timestamp = static_cast<std::uint16_t>(random_.next());
  const bool in_us = random_.below(2) == 1;
  p.role = is_data(opcode) ? (p.retransmission ? TrafficRole::trimmable_retx : TrafficRole::trimmable)
                           : TrafficRole::control;
  switch (opcode) {
    case Opcode::sack:
      p.sack = SackFields{.sack_bitmap = random_.next(),
                          .cack_psn = static_cast<Psn>(random_.below(1 << 24)),
                          .entropy = static_cast<Ev>(random_.next()),
                          .rcvd_bytes = static_cast<std::uint32_t>(random_.below(1 << 24)),
                          .sack_offset = static_cast<std::int16_t>(random_.next()),
                          .ack_psn_offset = static_cast<std::int16_t>(random_.next()),
                          .tx_timestamp = timestamp,
                          .ooo_count = static_cast<std::uint16_t>(random_.below(1 << 15)),
                          .mpr = static_cast<std::uint8_t>(random_.next()),
                          .rcv_cwnd_pen = static_cast<std::uint8_t>(random_.below(128)),
                          .mark = static_cast<PathMark>(random_.below(3)),
                          .probe = random_.below(2) == 1,
                          .restore_cwnd = random_.below(2) == 1};
      return p;
    case Opcode::nack:
      p.nack = NackFields{.nack_psn = static_cast<Psn>(random_.below(1 << 24)),
                          .entropy = static_cast<Ev>(random_.next()),
                          .tx_timestamp = timestamp,
                          .reason = kNackReasons[random_.below(kNackReasons.size())],
                          .vendor_info = static_cast<std::uint8_t>(random_.next())};
      return p;
    case Opcode::probe_request:
      p.probe = {static_cast<std::uint16_t>(random_.next())};
      p.tx_timestamp = timestamp;
      p.timestamp_in_us = in_us;
      return p;
    case Opcode::endpoint_request:
    case Opcode::endpoint_response:
      p.endpoint = {
          .port_status_mask = opcode == Opcode::endpoint_request ? static_cast<std::uint32_t>(random_.next()) : 0,
          .request_id = static_cast<std::uint16_t>(random_.next()),
          .op = static_cast<EndpointOp>(random_.below(2))};
      p.psn = p.endpoint.request_id;
      p.tx_timestamp = timestamp;
      p.timestamp_in_us = in_us && opcode == Opcode::endpoint_request;
      return p;
    case Opcode::transport_ack:
      p.transport_ack = {static_cast<std::uint32_t>(random_.below(1 << 24)), 0x1F};
      return p;
    default:
      break;
  }
  if (p.has_timestamp) {
    p.tx_timestamp = timestamp;
    p.timestamp_in_us = in_us;
  }
  draw_payload(payload_bytes);
  p.payload = payload_.data();
  p.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  p.va = random_.next();
  p.rkey = static_cast<std::uint32_t>(random_.next());
  p.dma_length = static_cast<std::uint32_t>(random_.below(0xFFFF'FFFF) + 1);
  p.msn = static_cast<std::uint16_t>(random_.next());
  p.rqmsn = static_cast<std::uint16_t>(random_.next());
  if (has_immediate(opcode)) p.immediate = static_cast<std::uint32_t>(random_.next());
  return p;
}

std::vector<std::pair<std::string, std::uint64_t>> mrc_fields(const Frame& frame) {
  std::vector<std::pair<std::string, std::uint64_t>> fields;
  const auto add = [&]<typename Header>(const Header& header) {
    const std::string prefix = "mrc." + lower_case(Header::kName) + ".";
    Header::fields(header, [&](std::string_view name, unsigned, auto value) {
      fields.emplace_back(prefix + std::string(name), value);
    });
  };
  add(frame.bth);
  unsigned extensions = 0;
  visit_extensions(frame, [&](const auto& header) {
    if (frame.trimmed && extensions++ == frame.whole_extensions) return false;
    add(header);
    return true;
  });
  return fields;
}

}  // namespace mrc::wire
