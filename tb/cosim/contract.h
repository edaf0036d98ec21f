// What the RTL of a block promises beside its values: the contract.toml beside its sources (docs/rtl.md).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace mrc {

/// A number of cycles with its bounds, and the line of the contract that gives it; line 0: none does.
struct CycleRange {
  std::uint64_t at_least = 0;
  std::uint64_t at_most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t line = 0;

  bool bounded() const { return at_most != std::numeric_limits<std::uint64_t>::max(); }
};

struct RtlContract {
  /// Of an input stream.
  struct Ready {
    std::string port;
    std::vector<std::string> depends_on;  ///< "PORT.valid", "PORT.ready", "PORT.fields", or a level
    std::uint64_t line = 0;
  };
  /// From an input stream to an output stream.
  struct Way {
    std::string from;
    std::string to;
    CycleRange latency;        ///< from the acceptance to the answer
    CycleRange interval;       ///< from one acceptance to the next
    std::uint64_t places = 0;  ///< most transfers that are accepted and not answered; 0: not said
    std::uint64_t places_line = 0;
    std::uint64_t order_line = 0;
    std::uint64_t line = 0;
  };

  std::string file;  ///< as it is named in messages
  /// Each cycle is that of the data sheet; otherwise only what is below is promised.
  bool data_sheet = true;
  std::uint64_t cycles_line = 0;
  bool asynchronous_reset = true;
  std::uint64_t reset_kind_line = 0;
  std::uint64_t reset_cycles = 2;       ///< for which the reset has to be active
  std::uint64_t reset_cycles_line = 0;  ///< of the key, or of the table without it; 0: the contract has no [reset]
  CycleRange initialization;            ///< from the end of the reset until each input of a way is ready
  std::vector<Ready> ready;
  std::vector<Way> ways;

  /// "FILE:LINE"; the file alone where no line says it.
  std::string place(std::uint64_t line) const { return line == 0 ? file : file + ":" + std::to_string(line); }
  /// Null where the contract has no such way.
  const Way* way(const std::string& from, const std::string& to) const {
    for (const Way& known : ways) {
      if (known.from == from && known.to == to) return &known;
    }
    return nullptr;
  }
  /// Most cycles from a transfer to its answer, and the least; `fallback` where the contract does not say.
  std::uint64_t most_latency(const std::string& from, const std::string& to, std::uint64_t fallback) const {
    const Way* found = way(from, to);
    return found != nullptr && found->latency.bounded() ? found->latency.at_most : fallback;
  }
  std::uint64_t least_latency(const std::string& from, const std::string& to, std::uint64_t fallback) const {
    const Way* found = way(from, to);
    return found != nullptr && found->latency.line != 0 ? found->latency.at_least : fallback;
  }
};

/// The longest reset that a contract may ask for. RTL in a run is reset for as long.
inline constexpr std::uint64_t kMostResetCycles = 16;

/// Throws ParameterError for what is not TOML and std::invalid_argument for what is not a contract, both with file and
/// line. `file` is for messages.
RtlContract parse_contract(const std::string& text, const std::string& file);

}  // namespace mrc
