// Rate limits of tenants at one node: each sends at its rate at most, a quantum ahead. What waits for its tenant's turn
// is the caller's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mrc/ring.h"
#include "mrc/types.h"
#include "parameters/traffic_classes.h"

namespace mrc {

class TenantLimits {
 public:
  explicit TenantLimits(const Tenants& tenants) {
    for (const double gbps : tenant_rates_gbps(tenants, "scenario")) {
      ps_per_byte_.push_back(gbps > 0 ? 8000.0 / gbps : 0);
      any_ = any_ || gbps > 0;
    }
    free_at_.resize(ps_per_byte_.size(), 0);
    waiting_.resize(ps_per_byte_.size());
  }

  bool any() const { return any_; }
  /// When the tenant may send next; in the past where it may now.
  TimePs free_at(std::uint32_t tenant) const {
    return is_limited(tenant) ? static_cast<TimePs>(std::max(free_at_[tenant], 0.0)) : 0;
  }
  /// The tenant sends this much from `now` on.
  void charge(TimePs now, std::uint32_t tenant, std::uint64_t bytes) {
    if (!is_limited(tenant)) return;
    double& free = free_at_[tenant];
    free = std::max(free, static_cast<double>(now)) + static_cast<double>(bytes) * ps_per_byte_[tenant];
  }
  /// It has sent so much less than it was charged.
  void give_back(std::uint32_t tenant, std::uint64_t bytes) {
    if (is_limited(tenant)) free_at_[tenant] -= static_cast<double>(bytes) * ps_per_byte_[tenant];
  }

  /// A QP (index) that could send but for its tenant's limit.
  void wait(std::uint32_t tenant, std::uint32_t qp) { waiting_[tenant].push(qp); }
  /// The earliest time at which one of those that wait may send; kNever without one.
  TimePs next() const {
    TimePs next = kNever;
    for (std::uint32_t tenant = 0; tenant < waiting_.size(); ++tenant) {
      if (!waiting_[tenant].empty()) next = std::min(next, free_at(tenant));
    }
    return next;
  }
  /// Calls `wake(qp)` for the first that waits of each tenant that may send at `now`.
  template <typename Wake>
  void due(TimePs now, const Wake& wake) {
    for (std::uint32_t tenant = 0; tenant < waiting_.size(); ++tenant) {
      if (waiting_[tenant].empty() || free_at(tenant) > now) continue;
      const std::uint32_t qp = waiting_[tenant].front();
      waiting_[tenant].pop();
      wake(qp);
    }
  }

 private:
  bool is_limited(std::uint32_t tenant) const { return tenant < ps_per_byte_.size() && ps_per_byte_[tenant] > 0; }

  bool any_ = false;
  std::vector<double> ps_per_byte_;  ///< by tenant; 0: no limit
  std::vector<double> free_at_;
  std::vector<Ring<std::uint32_t>> waiting_;
};

}  // namespace mrc
