// Cycles of rtl/srv6_encap as its data sheet gives them: when it takes a beat and when it offers one. Follows where the
// beats are inside the block, and how many bytes of each; not what these are.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "mrc/tx/srv6_encap.h"

namespace mrc::cosim {

class Srv6EncapCycles {
 public:
  /// On the pins in one cycle.
  struct Pins {
    bool valid = false;  ///< of the input, as all but the last
    bool sop = false;
    bool eop = false;
    bool srh = false;
    bool icrc = false;
    std::size_t bytes = 0;
    bool out_ready = false;
  };

  explicit Srv6EncapCycles(std::size_t beat_bytes) : beat_bytes_(beat_bytes) {}

  void reset() { *this = Srv6EncapCycles(beat_bytes_); }
  bool out_valid() const { return out_valid_; }
  bool in_ready(const Pins& pins) const {
    return gets_icrc(pins) ? icrc_moves(pins) : stage_ready(pins) && !icrc_busy();
  }
  /// The clock edge at the end of the cycle.
  void edge(const Pins& pins) {
    const Srv6EncapCycles before = *this;
    const bool taken = pins.valid && before.in_ready(pins);
    if (taken && pins.sop) {
      icrc_ = pins.icrc;
      srh_ = pins.srh;
    }
    const Beat in{taken, pins.eop, srh_, pins.bytes};
    if (before.out_free(pins)) {
      out_valid_ = before.stage_.valid || before.flush_;
      flush_ = before.stage_moves(pins) && before.overflows();
    }
    if (before.stage_moves(pins)) stage_.valid = false;
    const Beat& last = before.icrc_stages_.back();
    if (before.stage_ready(pins) && before.icrc_busy()) {
      if (last.valid) stage_ = before.with_icrc();
    } else if (taken && !before.gets_icrc(pins)) {
      stage_ = in;
    }
    if (last.valid && before.stage_ready(pins)) spill_ = before.spills() && !before.spill_;
    if (!before.icrc_moves(pins)) return;
    std::copy_backward(before.icrc_stages_.begin(), before.icrc_stages_.end() - 1, icrc_stages_.end());
    icrc_stages_.front() = before.gets_icrc(pins) ? in : Beat{};
  }

 private:
  struct Beat {
    bool valid = false;
    bool eop = false;
    bool srh = false;
    std::size_t bytes = 0;
  };
  static constexpr std::size_t kIcrcStages = 5;

  bool gets_icrc(const Pins& pins) const { return pins.sop ? pins.icrc : icrc_; }
  bool out_free(const Pins& pins) const { return !out_valid_ || pins.out_ready; }
  /// The last beat does not fit beside what is left over: another one follows at the output.
  bool overflows() const {
    const std::size_t headers = kIpv6HeaderBytes + (stage_.srh ? kSrhBytes : 0);
    return stage_.eop && stage_.bytes > beat_bytes_ - headers;
  }
  bool stage_moves(const Pins& pins) const { return stage_.valid && out_free(pins) && !flush_; }
  bool stage_ready(const Pins& pins) const {
    return flush_ ? out_free(pins) : !stage_.valid || (stage_moves(pins) && !overflows());
  }
  bool icrc_busy() const {
    return std::any_of(icrc_stages_.begin(), icrc_stages_.end(), [](const Beat& beat) { return beat.valid; });
  }
  /// The ICRC does not fit behind the last byte: another beat follows.
  bool spills() const { return icrc_stages_.back().eop && icrc_stages_.back().bytes + kIcrcBytes > beat_bytes_; }
  bool icrc_moves(const Pins& pins) const {
    return !icrc_stages_.back().valid || (stage_ready(pins) && (!spills() || spill_));
  }
  Beat with_icrc() const {
    Beat beat = icrc_stages_.back();
    if (spill_) {
      beat.bytes = beat.bytes + kIcrcBytes - beat_bytes_;
    } else if (spills()) {
      beat.bytes = beat_bytes_;
      beat.eop = false;
    } else if (beat.eop) {
      beat.bytes += kIcrcBytes;
    }
    return beat;
  }

  std::size_t beat_bytes_;
  std::array<Beat, kIcrcStages> icrc_stages_{};
  bool spill_ = false;  ///< the beat with the rest of the ICRC is next
  Beat stage_;          ///< the first stage of all packets
  bool flush_ = false;  ///< the beat with the rest of the packet is next
  bool out_valid_ = false;
  bool icrc_ = false;  ///< of the packet that enters
  bool srh_ = false;
};

}  // namespace mrc::cosim
