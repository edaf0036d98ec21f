// Reads a pcapng file as its specification has it, independently of what wrote it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mrc {

struct PcapngFile {
  struct Packet {
    std::uint32_t interface = 0;
    std::uint64_t time_ns = 0;
    std::uint32_t sent_bytes = 0;
    std::vector<std::byte> bytes;
  };
  std::vector<std::string> interfaces;  ///< their names
  std::vector<Packet> packets;
};

/// Little-endian files with a resolution of 10^-9 s; throws std::runtime_error for anything else.
PcapngFile read_pcapng(const std::filesystem::path& path);

}  // namespace mrc
