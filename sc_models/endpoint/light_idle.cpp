#include "endpoint/light_idle.h"

#include <algorithm>
#include <string_view>

#include "nic/window_causes.h"

namespace mrc {

std::vector<std::string> light_relief(std::string_view cause) {
  if (cause.ends_with(".link_retry")) return {"fabric.fec"};
  if (cause == "uet.credit") return {"uet.credit_rate", "uet.credit_packets", "cc.base_rtt_ns"};
  if (cause == "reduction.slots") return {"fabric.reduction.slots", "fabric.reduction.slot_bytes"};
  if (cause == "reduction.adder") return {"fabric.reduction.adder_gbps"};
  return {};
}

void LightIdle::start(TimePs now) {
  started_ = counting_ = true;
  last_ = now;
  quiet_until_ = 0;
  for (TimePs& until : busy_until_) until = std::max(until, now);
}

void LightIdle::finish(TimePs now) {
  if (!counting_) return;
  account(now);
  counting_ = false;
  quiet_until_ = kNever;
}

void LightIdle::account_idle(TimePs now) {
  TimePs idle = 0;
  quiet_until_ = kNever;
  for (const TimePs until : busy_until_) {
    idle += now - std::min(std::max(until, last_), now);
    quiet_until_ = std::min(quiet_until_, until);
  }
  idle_ps_[cause_] += idle;
  if (cause_ == acknowledgement) answers_awaited_ps_ += idle;
  last_ = std::max(last_, now);
}

void LightIdle::never_idle() {
  answers_awaited_ps_ = 0;
  quiet_until_ = kNever;
}

void LightIdle::may_be_idle(TimePs now) {
  last_ = std::max(last_, now);
  quiet_until_ = 0;
}

void LightIdle::retransmits(std::uint8_t loss_cause) {
  idle_ps_[acknowledgement] -= answers_awaited_ps_;
  retransmission_ps_[loss_cause] += answers_awaited_ps_;
  answers_awaited_ps_ = 0;
}

std::map<std::string, double> LightIdle::idle_ps() const {
  constexpr std::array<std::string_view, window> names{"no_work",
                                                       "host.latency",
                                                       "host.outstanding_messages",
                                                       "acknowledgement",
                                                       "spray_scheduler.no_good_ev",
                                                       "mpr",
                                                       "write_imm_limit",
                                                       "rocev2.rate",
                                                       "fabric.pause",
                                                       "rocev2.one_path",
                                                       "uet.credit",
                                                       "tenant.rate_limit",
                                                       "reduction.slots",
                                                       "reduction.adder"};
  std::map<std::string, double> by_name;
  for (std::size_t i = 0; i < kCauses; ++i) {
    const std::string_view name = i < window ? names[i] : window_cause(static_cast<CutCause>(i - window));
    by_name[std::string(name)] += static_cast<double>(idle_ps_[i]);
  }
  return by_name;
}

}  // namespace mrc
