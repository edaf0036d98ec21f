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
      time = std::max(time, out_.front().back);
      give_back(time);
    }
    return time;
  }
  /// Spent at `time`, there again at `back`, which never lies before that of an earlier TLP.
  void spend(TimePs time, std::uint32_t data, TimePs back) {
    data_.add(time, data);
    comes_back(data, back);
  }
  /// True if `headers` TLPs with `data` credits in all find theirs at `time` without waiting for any to come back.
  bool available_at_once(TimePs time, std::uint32_t headers, std::uint64_t data) {
    give_back(time);
    return out_.size() + headers <= headers_ && data_.fits(data);
  }
  /// The data credits of several TLPs are taken at `time`, each of which says when its own come back.
  void spend_ahead(TimePs time, std::uint64_t data) { data_.add(time, data); }
  void comes_back(std::uint32_t data, TimePs back) {
    data_.announce_remove(back, data);
    out_.push({back, data});
  }
  /// What has come back by `end` is accounted for, looked at or not.
  void settle(TimePs end) { give_back(end); }
  const Occupancy& data() const { return data_; }

 private:
  struct Spent {
    TimePs back = 0;
    std::uint32_t data = 0;
  };
  void give_back(TimePs time) {
    data_.remove_all_announced([&](TimePs& at, std::uint64_t& amount) {
      if (out_.empty() || out_.front().back > time) return false;
      at = out_.front().back;
      amount = out_.front().data;
      out_.pop();
      return true;
    });
  }

  std::uint32_t headers_;
  Occupancy data_;
  Ring<Spent> out_;
};

}  // namespace mrc
