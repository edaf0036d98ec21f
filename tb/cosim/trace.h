// What a block was asked in a run, as transfers of its bench: recorded where an engine drives its RTL, and played by
// `mrcsim cosim --vectors`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cosim/bench/ports.h"

namespace mrc::cosim {

/// A transfer offered no earlier than this cycle after the reset.
struct Offer {
  std::size_t port = 0;
  std::uint64_t cycle = 0;
  Transaction values{};
  /// Not before all such transfers in front of it have been taken.
  bool in_turn = false;
};

/// Transfers, and settings by name.
struct Trace {
  std::vector<Offer> offers;
  std::map<std::string, std::uint64_t> settings;
};

/// Keeps transfers until there are enough. Without a trace it keeps none.
class TraceRecorder {
 public:
  TraceRecorder() = default;
  /// `trace` outlives the recorder and its copies, of which one is used.
  TraceRecorder(Trace& trace, std::uint64_t most) : trace_(&trace), most_(most) {}

  /// To be looked at before a transfer is made only to be recorded.
  bool records() const { return trace_ != nullptr && trace_->offers.size() < most_; }
  void set(const char* name, std::uint64_t value) {
    if (trace_ != nullptr) trace_->settings[name] = value;
  }
  void add(std::size_t port, Transaction values) { keep({port, 0, std::move(values), false}); }
  /// In the order of the run among all transfers that are added so.
  void add_in_turn(std::size_t port, Transaction values) { keep({port, 0, std::move(values), true}); }
  template <typename Stream>
  void add(const Stream& stream) {
    if (records()) add(Stream::kPort, stream.transfer());
  }
  template <typename Stream>
  void add_in_turn(const Stream& stream) {
    if (records()) add_in_turn(Stream::kPort, stream.transfer());
  }

 private:
  void keep(Offer offer) {
    if (records()) trace_->offers.push_back(std::move(offer));
  }

  Trace* trace_ = nullptr;
  std::uint64_t most_ = 0;
};

}  // namespace mrc::cosim
