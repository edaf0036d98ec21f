// Any bytes decode to a frame or to a named error; a frame encodes to the same bytes, and to a packet and back.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "mrc/wire/packet_codec.h"

namespace {

using mrc::wire::Frame;

void check(std::span<const std::byte> bytes, const mrc::wire::DecodeOptions& options) {
  Frame frame;
  if (const auto error = mrc::wire::decode_frame(bytes, options, frame)) {
    if (error->header.empty() || error->reason.empty() || error->offset > bytes.size()) std::abort();
    return;
  }
  std::vector<std::byte> again;
  mrc::wire::encode_frame(frame, again);
  if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) std::abort();
  if (frame.ipv4) return;
  const mrc::ProtocolConfig config;
  const mrc::Packet packet = mrc::wire::from_frame(frame, config);
  if (static_cast<std::uint8_t>(packet.opcode) != frame.bth.opcode) std::abort();
  if (frame.trimmed != (packet.damage == mrc::Damage::trimmed)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check(bytes, {});
  check(bytes, {.eeth_op_position = mrc::wire::EethOpPosition::bits_3_2});
  return 0;
}
