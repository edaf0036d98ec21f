// Any text is a replay of a block, or std::invalid_argument; what is read has values that its pins take.
#include <cstdlib>
#include <stdexcept>

#include "cosim/bench/replay_file.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using mrc::cosim::Direction;
  using mrc::cosim::Port;
  static std::uint8_t valid = 0, ready = 0, flags = 0;
  static std::uint32_t psn = 0;
  static std::uint64_t address = 0;
  static std::uint32_t wide[2];
  const std::vector<Port> ports{
      Port("req", Direction::in, valid, ready).field("psn", psn).field("flags", flags).wide_field("data", wide),
      Port("ack", Direction::in, valid).field("address", address),
      Port("rsp", Direction::out, valid, ready).field("psn", psn)};
  const mrc::fuzz::MemoryFile file(data, size);
  try {
    const mrc::cosim::Episode episode = mrc::cosim::read_replay(file.path(), "block", ports);
    for (const mrc::cosim::Offer& offer : episode.offers) {
      if (offer.values.size() != ports.at(offer.port).fields.size()) std::abort();
    }
    for (const double load : episode.load) {
      if (!(load >= 0 && load <= 1)) std::abort();
    }
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
