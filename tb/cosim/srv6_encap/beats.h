// Packets of srv6_encap as beats: transfers of its stream `in`, whose data is bytes in 32-bit words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cosim/srv6_encap/ports.h"
#include "mrc/tx/srv6_encap.h"

namespace mrc {

inline constexpr std::uint64_t kSrv6NoUplinkPosition = 7;

/// Without beat and bytes.
inline srv6_encap_ports::In srv6_encap_in(const Srv6EncapInput& input) {
  srv6_encap_ports::In in;
  in.locator = input.path.locator;
  for (std::size_t word = 0; word < in.usid.size(); ++word) {
    in.usid[word] = input.path.usid[2 * word] | std::uint32_t{input.path.usid[2 * word + 1]} << 16;
  }
  in.usid_count = input.path.count;
  in.uplink_position =
      input.path.uplink_position == UsidTemplate::kNoUplink ? kSrv6NoUplinkPosition : input.path.uplink_position;
  in.source = {static_cast<std::uint32_t>(input.source.low), static_cast<std::uint32_t>(input.source.low >> 32),
               static_cast<std::uint32_t>(input.source.high), static_cast<std::uint32_t>(input.source.high >> 32)};
  in.flow_label = input.flow_label;
  in.uplink = input.uplink;
  in.payload_length = input.payload_length;
  in.plane = input.plane;
  in.hop_limit = input.hop_limit;
  in.dscp = input.dscp;
  in.ecn = static_cast<std::uint64_t>(input.ecn);
  in.srh = input.srh ? 1 : 0;
  in.icrc = input.icrc ? 1 : 0;
  return in;
}

inline Srv6EncapInput srv6_encap_input(const srv6_encap_ports::In& in) {
  Srv6EncapInput input;
  input.path.locator = static_cast<std::uint32_t>(in.locator);
  for (std::size_t i = 0; i < kMostUsids; ++i) {
    input.path.usid[i] = static_cast<Usid>(in.usid[i / 2] >> (16 * (i % 2)) & 0xFFFF);
  }
  input.path.count = static_cast<std::uint8_t>(in.usid_count);
  input.path.uplink_position = in.uplink_position == kSrv6NoUplinkPosition
                                   ? UsidTemplate::kNoUplink
                                   : static_cast<std::uint8_t>(in.uplink_position);
  input.source = {std::uint64_t{in.source[3]} << 32 | in.source[2], std::uint64_t{in.source[1]} << 32 | in.source[0]};
  input.flow_label = static_cast<std::uint32_t>(in.flow_label);
  input.uplink = static_cast<std::uint32_t>(in.uplink);
  input.payload_length = static_cast<std::uint16_t>(in.payload_length);
  input.plane = static_cast<std::uint8_t>(in.plane);
  input.hop_limit = static_cast<std::uint8_t>(in.hop_limit);
  input.dscp = static_cast<std::uint8_t>(in.dscp);
  input.ecn = static_cast<Ecn>(in.ecn);
  input.srh = in.srh != 0;
  input.icrc = in.icrc != 0;
  return input;
}

/// Puts a byte of data into a transfer whose data begins with field `at`.
inline void put_data(cosim::Transaction& values, std::size_t at, std::size_t byte, std::byte value) {
  values[at + byte / 4] |= std::uint64_t{std::to_integer<std::uint8_t>(value)} << (8 * (byte % 4));
}
inline std::byte data_of(const cosim::Transaction& values, std::size_t at, std::size_t byte) {
  return static_cast<std::byte>(values[at + byte / 4] >> (8 * (byte % 4)) & 0xFF);
}

/// The beat with the packet's bytes from `at` on; `in` has its settings.
inline cosim::Transaction srv6_encap_beat(srv6_encap_ports::In in, std::span<const std::byte> packet, std::size_t at,
                                          std::uint32_t beat_bytes) {
  const std::size_t count = std::min<std::size_t>(beat_bytes, packet.size() - at);
  in.bytes = count;
  in.sop = at == 0 ? 1 : 0;
  in.eop = at + count == packet.size() ? 1 : 0;
  cosim::Transaction values = in.transfer();
  values.resize(srv6_encap_ports::In::kData + beat_bytes / 4, 0);
  for (std::size_t i = 0; i < count; ++i) put_data(values, srv6_encap_ports::In::kData, i, packet[at + i]);
  return values;
}

/// All beats of a packet.
inline std::vector<cosim::Transaction> srv6_encap_beats(const Srv6EncapInput& input, std::span<const std::byte> packet,
                                                        std::uint32_t beat_bytes) {
  std::vector<cosim::Transaction> beats;
  for (std::size_t at = 0; at < packet.size(); at += beat_bytes) {
    beats.push_back(srv6_encap_beat(srv6_encap_in(input), packet, at, beat_bytes));
  }
  return beats;
}

}  // namespace mrc
