// Why the ports of a light endpoint were idle: each picosecond of each idle port has one cause, what the node waited
// for after it last did anything. Kept for the node under test only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mrc/control/congestion.h"
#include "mrc/types.h"

namespace mrc {

/// Parameters that relieve a cause which only nodes without boxes have.
std::vector<std::string> light_relief(std::string_view cause);

class LightIdle {
 public:
  /// What a node without boxes can wait for; a window by what last made it small, as kWindow + CutCause.
  enum Cause : std::uint8_t {
    no_work,
    host,
    outstanding_messages,
    acknowledgement,
    path,
    mpr,
    write_imm,
    rate,
    pause,
    one_path,
    credit,
    rate_limit,
    reduction_slots,
    reduction_adder,
    window
  };
  static constexpr std::size_t kCauses = window + kCutCauses;

  explicit LightIdle(std::uint32_t ports) : busy_until_(ports) {}

  /// Idle time is counted from here on.
  void start(TimePs now);
  bool started() const { return started_; }
  bool counting() const { return counting_; }
  /// Closes the account; later calls change nothing.
  void finish(TimePs now);
  bool finished() const { return started_ && !counting_; }

  /// Something happens at `now`: what was waited for until now, was so for its cause.
  void account(TimePs now) {
    if (now > quiet_until_) account_idle(now);
  }
  /// From now on, where a port is idle.
  void waits_for(std::uint8_t cause) { cause_ = cause; }
  /// Nothing has to be told from now on, because no port is idle: each has its next packet when the one before has
  /// left. Until may_be_idle(), before which port_busy() is told for all ports.
  void never_idle();
  void may_be_idle(TimePs now);
  /// After account(now).
  void port_busy(std::uint32_t port, TimePs until) { busy_until_[port] = std::max(busy_until_[port], until); }
  /// After account(now): what is queued at the port leaves earlier or later than was told.
  void change_busy(std::uint32_t port, TimePs until) {
    busy_until_[port] = until;
    if (counting_) quiet_until_ = std::min(quiet_until_, until);
  }
  /// All is sent but for this, after account(now): what was waited for was a retransmission.
  void retransmits(std::uint8_t loss_cause);
  void first_transmission() { answers_awaited_ps_ = 0; }

  /// Sum over ports, in picoseconds of one port, by the name that detailed NICs have for the cause.
  std::map<std::string, double> idle_ps() const;
  const std::array<TimePs, kCutCauses>& retransmission_ps() const { return retransmission_ps_; }

 private:
  void account_idle(TimePs now);

  std::vector<TimePs> busy_until_;
  std::array<TimePs, kCauses> idle_ps_{};
  std::array<TimePs, kCutCauses> retransmission_ps_{};
  TimePs answers_awaited_ps_ = 0;  ///< of acknowledgement, since the last first transmission
  TimePs quiet_until_ = kNever;    ///< no port is idle before; found anew when it is over
  TimePs last_ = 0;
  std::uint8_t cause_ = no_work;
  bool started_ = false;
  bool counting_ = false;  ///< started and not finished
};

}  // namespace mrc
