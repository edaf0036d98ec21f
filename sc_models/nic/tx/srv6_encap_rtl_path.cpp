#include "nic/tx/srv6_encap_rtl_path.h"

#include <span>
#include <string_view>

#include <fmt/format.h>

#include "mrc/wire/icrc.h"
#include "mrc/wire/packet_codec.h"

namespace mrc {
namespace {

/// First field in which two headers of a kind differ, in the order of the wire; uSIDs are named one by one.
class FieldComparison {
 public:
  template <typename Header>
  FieldComparison(const Header& expected, const Header& actual) {
    Header::fields(expected, [&](std::string_view name, unsigned, const auto& value) {
      values_.push_back({name, value});
    });
    std::size_t i = 0;
    Header::fields(actual, [&](std::string_view, unsigned, const auto& value) { compare(values_[i++], value); });
  }
  const std::string& difference() const { return difference_; }

 private:
  struct Value {
    Value(std::string_view n, const Ipv6Address& a) : name(n), address(a) {}
    Value(std::string_view n, std::uint64_t v) : name(n), address{0, v} {}
    std::string_view name;
    Ipv6Address address;
  };

  void compare(const Value& expected, std::uint64_t actual) { note(expected.name, expected.address.low, actual); }
  void compare(const Value& expected, const Ipv6Address& actual) {
    if (expected.name == "src") {
      note(std::string(expected.name) + "[0:7]", expected.address.high, actual.high);
      note(std::string(expected.name) + "[8:15]", expected.address.low, actual.low);
      return;
    }
    note("locator_block", locator_block(expected.address), locator_block(actual));
    Ipv6Address left = expected.address;
    Ipv6Address right = actual;
    for (std::size_t usid = 0; usid < kMostUsids; ++usid) {
      note(fmt::format("usid[{}]", usid), active_usid(left), active_usid(right));
      left = shift_usid(left);
      right = shift_usid(right);
    }
  }
  void note(std::string_view field, std::uint64_t expected, std::uint64_t actual) {
    if (expected == actual || !difference_.empty()) return;
    difference_ = fmt::format("{}: expected {:#06x}, RTL gave {:#06x}", field, expected, actual);
  }

  std::vector<Value> values_;
  std::string difference_;
};

template <typename Header>
Header parse(std::span<const std::byte> bytes) {
  Header header;
  Header::fields(header, wire::BitReader(bytes));
  return header;
}

}  // namespace

std::uint32_t Srv6EncapRtlPath::encode(const NicContext& nic, const Packet& packet, bool without_icrc,
                                       std::vector<std::byte>& inner) {
  payload_.resize(packet.payload_bytes);
  const std::span<const std::byte> payload = packet.payload != nullptr ? std::span(packet.payload, packet.payload_bytes)
                                                                       : std::span<const std::byte>(payload_);
  inner.clear();
  wire::encode_inner(wire::to_frame(packet, nic.scenario.protocol, payload), inner);
  if (!without_icrc) return 0;
  inner.resize(inner.size() - kIcrcBytes);
  return wire::icrc(inner, false);
}

EncapReply Srv6EncapRtlPath::run(const NicContext& nic, const Packet& packet, const Srv6EncapInput& input,
                                 std::uint64_t cycle, RtlCycles systemc) {
  const std::uint32_t icrc = encode(nic, packet, input.icrc, inner_);
  const EncapReply reply = engine_->encapsulate(input, inner_, cycle);
  count({reply.next_cycle - reply.accepted_cycle, reply.first_out_cycle - reply.accepted_cycle}, systemc);
  compare(nic, PacketName(packet), input, icrc, reply, reply.first_out_cycle);
  return reply;
}

void Srv6EncapRtlPath::offer(const NicContext& nic, Packet& packet, const Srv6EncapInput& input, RtlCycles systemc) {
  PinItem item{{input, {}}, &packet, PacketName(packet), 0, systemc};
  item.icrc = encode(nic, packet, input.icrc, item.inner);
  item.takes_path = is_data(packet.opcode);
  pins_.offer(std::move(item));
}

PinCycle Srv6EncapRtlPath::clock(std::uint64_t cycle, bool held) {
  const PinCycle pins = pins_.clock(cycle, held);
  if (pins_.was_occupied()) count_occupied();
  if (pins.first_out) pins_.oldest().latency = pins_.age_of_oldest(cycle);
  return pins;
}

void Srv6EncapRtlPath::finish(const NicContext& nic, std::uint64_t cycle) {
  const PinItem& item = pins_.oldest();
  count({0, item.latency}, item.systemc);
  compare(nic, item.name, item.input, item.icrc, engine_->answer(), cycle);
  pins_.drop_oldest();
}

void Srv6EncapRtlPath::compare(const NicContext& nic, const PacketName& packet, const Srv6EncapInput& input,
                               std::uint32_t icrc, const EncapReply& reply, std::uint64_t cycle) {
  const OuterHeaderBytes header = outer_ipv6_header(input);
  const SrhBytes srh = input.srh ? segment_routing_header(input) : SrhBytes{};
  if (reply.header == header && reply.srh == srh && reply.inner_intact && reply.icrc == icrc) return;
  std::string difference = "inner packet: bytes that came out differ from those that went in";
  if (reply.header != header) {
    difference = "outer header " +
                 FieldComparison(parse<wire::Ipv6Header>(header), parse<wire::Ipv6Header>(reply.header)).difference();
  } else if (reply.srh != srh) {
    difference =
        "SRH " + FieldComparison(parse<wire::SegmentRoutingHeader>(srh), parse<wire::SegmentRoutingHeader>(reply.srh))
                     .difference();
  } else if (reply.inner_intact) {
    difference = fmt::format("ICRC: expected {:#010x}, RTL gave {:#010x}", icrc, reply.icrc);
  }
  const auto what = [&] {
    return fmt::format("packet {} (PSN {}, EV {:#010x}, plane {})", transactions(), packet.psn, packet.ev,
                       packet.plane);
  };
  mismatch(nic.node, cycle, what, difference);
}

}  // namespace mrc
