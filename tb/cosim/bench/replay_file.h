// What a bench gives a block from one reset to the next, and the replay file that keeps it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cosim/bench/ports.h"
#include "cosim/trace.h"

namespace mrc::cosim {

/// From one reset to the next.
struct Episode {
  std::uint64_t seed = 1;
  std::uint64_t number = 0;
  std::uint64_t draw = 0;    ///< keys what the block's assertions draw in its reset, with seed and number
  std::vector<double> load;  ///< by port: chance of a cycle that offers (in) or takes (out), 0 … 1
  std::vector<Offer> offers{};
  bool of_run = false;  ///< the offers are a trace's, with these settings
  std::map<std::string, std::uint64_t> settings{};
};

/// `comment`: what differed, for people; `later`: where the file will be, for the command in it. Throws
/// std::invalid_argument where it cannot be written whole; then nothing is.
void write_replay(const std::string& path, const std::string& block, const std::vector<Port>& ports,
                  const Episode& episode, const std::string& comment, const std::string& later = {});
/// Throws std::invalid_argument with file and line where the file does not hold a replay of this block.
Episode read_replay(const std::string& path, const std::string& block, const std::vector<Port>& ports);

}  // namespace mrc::cosim
