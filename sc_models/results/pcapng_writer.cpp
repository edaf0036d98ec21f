#include "results/pcapng_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "mrc/types.h"

namespace mrc {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0A0D'0D0A;
constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrderMagic = 0x1A2B'3C4D;
constexpr std::uint16_t kLinkTypeEthernet = 1;
constexpr std::uint16_t kOptionEnd = 0;
constexpr std::uint16_t kOptionUserApplication = 4;
constexpr std::uint16_t kOptionIfName = 2;
constexpr std::uint16_t kOptionIfTsresol = 9;
constexpr std::byte kNanoseconds{9};
constexpr std::string_view kWriter = "mrcsim";
/// The option as it is in the file: code and length in front, which no text has.
constexpr std::string_view kMark("\x04\x00\x06\x00mrcsim", 10);

using Bytes = std::vector<std::byte>;

/// pcapng takes the writer's byte order; little-endian on every machine makes the same file everywhere.
template <typename Integer>
void put(Bytes& out, Integer value) {
  for (unsigned shift = 0; shift < 8 * sizeof value; shift += 8) out.push_back(static_cast<std::byte>(value >> shift));
}

void put_padded(Bytes& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
  out.resize((out.size() + 3) / 4 * 4);
}

void put_option(Bytes& out, std::uint16_t code, std::span<const std::byte> value) {
  put(out, code);
  put(out, static_cast<std::uint16_t>(value.size()));
  put_padded(out, value);
}

}  // namespace

PcapngWriter::PcapngWriter(const std::string& path) : output_(path, {"a capture", kMark}) {
  Bytes body;
  put(body, kByteOrderMagic);
  put(body, std::uint16_t{1});
  put(body, std::uint16_t{0});
  put(body, std::numeric_limits<std::uint64_t>::max());  // section length: not known
  put_option(body, kOptionUserApplication, std::as_bytes(std::span(kWriter)));
  put_option(body, kOptionEnd, {});
  put_block(kSectionHeader, body);
}

std::uint32_t PcapngWriter::add_interface(std::string_view name) {
  Bytes body;
  put(body, kLinkTypeEthernet);
  put(body, std::uint16_t{0});
  put(body, std::uint32_t{0});  // no snapshot length: frames are whole
  put_option(body, kOptionIfName, std::as_bytes(std::span(name)));
  put_option(body, kOptionIfTsresol, std::span(&kNanoseconds, 1));
  put_option(body, kOptionEnd, {});
  put_block(kInterfaceDescription, body);
  return interfaces_++;
}

void PcapngWriter::write(std::uint32_t interface, std::uint64_t time_ps, std::span<const std::byte> frame,
                         std::size_t sent_bytes) {
  if (interface >= interfaces_) throw std::invalid_argument(fmt::format("no capture interface {}", interface));
  if (time_ps < flushed_before_ps_) {
    throw std::invalid_argument(
        fmt::format("a frame of {} ps was captured after {} ps were written", time_ps, flushed_before_ps_));
  }
  held_.emplace(HeldKey{time_ps, interface}, HeldFrame{Bytes(frame.begin(), frame.end()), sent_bytes});
}

void PcapngWriter::flush_before(std::uint64_t time_ps) {
  const auto end = held_.lower_bound({time_ps, 0});
  for (auto packet = held_.begin(); packet != end; ++packet) put_packet(packet->first, packet->second);
  held_.erase(held_.begin(), end);
  flushed_before_ps_ = std::max(flushed_before_ps_, time_ps);
  if (!output_.stream()) output_.commit();  // throws
}

void PcapngWriter::close() {
  for (const auto& [key, frame] : held_) put_packet(key, frame);
  held_.clear();
  output_.commit();
}

void PcapngWriter::put_block(std::uint32_t type, std::span<const std::byte> body) {
  constexpr std::size_t frame_bytes = 12;  // type, length, and the length again behind the body
  const auto length = static_cast<std::uint32_t>(frame_bytes + body.size());
  Bytes block;
  put(block, type);
  put(block, length);
  put_padded(block, body);
  put(block, length);
  output_.stream().write(reinterpret_cast<const char*>(block.data()), static_cast<std::streamsize>(block.size()));
}

void PcapngWriter::put_packet(const HeldKey& key, const HeldFrame& frame) {
  const std::uint64_t time_ns = key.first / kPsPerNs;
  Bytes body;
  put(body, key.second);
  put(body, static_cast<std::uint32_t>(time_ns >> 32));
  put(body, static_cast<std::uint32_t>(time_ns));
  put(body, static_cast<std::uint32_t>(frame.bytes.size()));
  put(body, static_cast<std::uint32_t>(frame.sent_bytes));
  put_padded(body, frame.bytes);
  put_block(kEnhancedPacket, body);
}

}  // namespace mrc
