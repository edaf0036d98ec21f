#include "pcapng_file.h"

#include <span>
#include <stdexcept>
#include <string>

#include "mrcsim_process.h"

namespace mrc {
namespace {

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  std::span<const std::byte> take(std::size_t count) {
    if (count > bytes_.size()) throw std::runtime_error("pcapng: cut off");
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  std::uint64_t integer(std::size_t count) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const std::byte b : take(count)) {
      value |= std::to_integer<std::uint64_t>(b) << shift;
      shift += 8;
    }
    return value;
  }
  std::uint32_t u32() { return static_cast<std::uint32_t>(integer(4)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(integer(2)); }

 private:
  std::span<const std::byte> bytes_;
};

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(std::string("pcapng: ") + what);
}

void read_section(Reader body) {
  require(body.u32() == 0x1A2B3C4D, "byte order");
  require(body.u16() == 1 && body.u16() == 0, "version");
  require(body.integer(8) == ~std::uint64_t{0}, "section length");
}

void read_interface(Reader body, PcapngFile& file) {
  require(body.u16() == 1, "link type");
  require(body.u16() == 0 && body.u32() == 0, "reserved bytes or snapshot length");
  std::string name;
  unsigned resolution = 6;
  while (true) {
    const std::uint16_t code = body.u16();
    const std::size_t length = body.u16();
    if (code == 0) break;
    const auto value = body.take((length + 3) / 4 * 4).first(length);
    if (code == 2) name.assign(reinterpret_cast<const char*>(value.data()), length);
    if (code == 9) resolution = std::to_integer<unsigned>(value[0]);
  }
  require(body.empty(), "bytes behind the options");
  require(resolution == 9, "resolution");
  file.interfaces.push_back(name);
}

void read_packet(Reader body, PcapngFile& file) {
  PcapngFile::Packet packet;
  packet.interface = body.u32();
  require(packet.interface < file.interfaces.size(), "packet before its interface");
  const std::uint64_t high = body.u32();
  packet.time_ns = high << 32 | body.u32();
  const std::size_t captured = body.u32();
  packet.sent_bytes = body.u32();
  const auto bytes = body.take((captured + 3) / 4 * 4).first(captured);
  packet.bytes.assign(bytes.begin(), bytes.end());
  require(body.empty(), "bytes behind the packet");
  file.packets.push_back(std::move(packet));
}

}  // namespace

PcapngFile read_pcapng(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  require(!text.empty(), "no file");
  PcapngFile file;
  Reader reader(std::as_bytes(std::span(text)));
  for (std::size_t block = 0; !reader.empty(); ++block) {
    const std::uint32_t type = reader.u32();
    const std::uint32_t length = reader.u32();
    require(length >= 12 && length % 4 == 0, "block length");
    const Reader body(reader.take(length - 12));
    require(reader.u32() == length, "the lengths around a block differ");
    require((type == 0x0A0D0D0A) == (block == 0), "the section header is the first block");
    if (type == 0x0A0D0D0A) {
      read_section(body);
    } else if (type == 1) {
      read_interface(body, file);
    } else {
      require(type == 6, "block type");
      read_packet(body, file);
    }
  }
  return file;
}

}  // namespace mrc
