// Flow control credits of one kind of TLP as a train spends them: each TLP starts when its header and data credits are
// there, and they come back by themselves at a time that is known when they are spent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "engine/occupancy.h"
#include "mrc/ring.h"
#include "mrc/types.h"

namespace mrc {

inline constexpr std::uint32_t kCreditUnitBytes = 16;

/// Data credits of a TLP with `bytes` of data.
constexpr std::uint32_t data_credits(std::uint32_t bytes) {
  return (bytes + kCreditUnitBytes - 1) / kCreditUnitBytes;
}

class CreditPool {
 public:
  /// 0 headers or 0 data: infinite.
  CreditPool(std::string name, std::uint32_t headers, std::uint32_t data)
      : headers_(headers > 0 ? headers : std::numeric_limits<std::uint32_t>::max()),
        data_(kUnlisted, std::move(name), "credits", data > 0 ? data : std::numeric_limits<std::uint32_t>::max()) {}

  /// First time from `time` on at which a TLP has its header credit and `data` credits (at most all there are).
  TimePs available(TimePs time, std::uint32_t data) {
    give_back(time);
    while (out_.size() >= headers_ || !data_.fits(data)) {
      time = std::max(time, out_.front().at);
      give_back(time);
    }
    return time;
  }
  /// Spent at `time`, there again at `back`, which never lies before that of an earlier TLP.
  void spend(TimePs time, std::uint32_t data, TimePs back) {
    data_.add(time, data);
    data_.announce_remove(back, data);
    out_.push({back, data});
  }
  /// True if `headers` TLPs with `data` credits in all find theirs at `time` without waiting for any to come back.
  bool available_at_once(TimePs time, std::uint32_t headers, std::uint64_t data) {
    give_back(time);
    return out_.size() + headers <= headers_ && data_.fits(data);
  }
  /// The credits of several TLPs are spent at `time`; `back_of_next()` returns for each of them how many data credits
  /// come back, and when. Preconditions: available_at_once() for all of them, and nobody records.
  template <typename BackOfNext>
  void spend_together(TimePs time, std::uint32_t tlps, BackOfNext back_of_next) {
    std::uint64_t data = 0;
    out_.push_all(tlps, [&] {
      const Occupancy::Removal back = back_of_next();
      data += back.amount;
      return back;
    });
    data_.add(time, data);
  }
  /// What has come back by `end` is accounted for, looked at or not.
  void settle(TimePs end) { give_back(end); }
  const Occupancy& data() const { return data_; }

 private:
  void give_back(TimePs time) { data_.remove_announced_until(time, out_); }

  std::uint32_t headers_;
  Occupancy data_;
  Ring<Occupancy::Removal> out_;
};

}  // namespace mrc
