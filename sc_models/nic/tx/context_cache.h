// QP contexts held on the NIC: least recently used, looked up by QP index. A miss costs a read over PCIe. What has been
// read is used once, even if others have taken its place since.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace mrc {

class ContextCache {
 public:
  /// `qps` in all, of which `entries` (at least 1) fit.
  ContextCache(std::uint32_t qps, std::uint32_t entries) : entries_(entries), nodes_(qps) {}

  /// A tenant holds at most the given number (0: all), and gets room by giving up a context of its own. Before the
  /// first insert.
  void limit(std::vector<std::uint32_t> most_of_tenant, std::vector<std::uint8_t> tenant_of_qp) {
    most_of_tenant_ = std::move(most_of_tenant);
    tenant_of_qp_ = std::move(tenant_of_qp);
    held_by_tenant_.resize(most_of_tenant_.size(), 0);
  }

  /// Some context may have to make room for another.
  bool can_evict() const {
    if (nodes_.size() > entries_) return true;
    std::vector<std::uint32_t> qps(most_of_tenant_.size());
    for (std::uint32_t qp = 0; qp < tenant_of_qp_.size(); ++qp) {
      if (has_limit(qp) && ++qps[tenant_of_qp_[qp]] > most_of_tenant_[tenant_of_qp_[qp]]) return true;
    }
    return false;
  }

  /// True if the context is on the NIC; makes it the most recently used.
  bool touch(std::uint32_t qp) {
    if (!nodes_[qp].resident) {
      const bool unused = nodes_[qp].unused;
      if (unused) used(qp);
      return unused;
    }
    used(qp);
    if (head_ == qp) return true;
    unlink(qp);
    push_front(qp);
    return true;
  }
  /// What waited for the context has used it: it need not be kept for another.
  void used(std::uint32_t qp) {
    nodes_[qp].unused = false;
    if (nodes_[qp].ahead) --ahead_;
    nodes_[qp].ahead = false;
  }
  bool resident(std::uint32_t qp) const { return nodes_[qp].resident; }
  bool loading(std::uint32_t qp) const { return nodes_[qp].loading; }
  /// `ahead`: for its QP's next turn.
  void begin_load(std::uint32_t qp, bool ahead = false) {
    nodes_[qp].loading = true;
    if (ahead && !nodes_[qp].ahead) ++ahead_;
    nodes_[qp].ahead = nodes_[qp].ahead || ahead;
  }
  /// Contexts that are read or have been read for turns, and not used.
  std::uint32_t ahead() const { return ahead_; }
  /// The context has arrived; the least recently used one makes room, and its QP is returned.
  std::optional<std::uint32_t> insert(std::uint32_t qp) {
    nodes_[qp].loading = false;
    nodes_[qp].unused = true;
    if (nodes_[qp].resident) return std::nullopt;
    std::optional<std::uint32_t> evicted;
    if (is_at_limit(qp)) {
      evicted = oldest_of_tenant(qp);
    } else if (resident_ == entries_) {
      evicted = tail_;
    }
    if (evicted) evict(*evicted);
    nodes_[qp].resident = true;
    ++resident_;
    count(qp, 1);
    push_front(qp);
    return evicted;
  }
  /// What is held is unusable: the next touch() misses.
  void invalidate(std::uint32_t qp) {
    used(qp);
    if (nodes_[qp].resident) evict(qp);
  }
  std::uint32_t resident() const { return resident_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  struct Node {
    std::uint32_t previous = kNone;
    std::uint32_t next = kNone;
    bool resident = false;
    bool loading = false;
    bool unused = false;  ///< read, and not touched since
    bool ahead = false;   ///< read for a turn, or being read, and not touched since
  };

  void unlink(std::uint32_t qp) {
    Node& node = nodes_[qp];
    (node.previous == kNone ? head_ : nodes_[node.previous].next) = node.next;
    (node.next == kNone ? tail_ : nodes_[node.next].previous) = node.previous;
  }
  void push_front(std::uint32_t qp) {
    nodes_[qp].previous = kNone;
    nodes_[qp].next = head_;
    (head_ == kNone ? tail_ : nodes_[head_].previous) = qp;
    head_ = qp;
  }
  void evict(std::uint32_t qp) {
    unlink(qp);
    nodes_[qp].resident = false;
    --resident_;
    count(qp, -1);
  }
  bool has_limit(std::uint32_t qp) const {
    return !tenant_of_qp_.empty() && tenant_of_qp_[qp] < most_of_tenant_.size() &&
           most_of_tenant_[tenant_of_qp_[qp]] > 0;
  }
  bool is_at_limit(std::uint32_t qp) const {
    return has_limit(qp) && held_by_tenant_[tenant_of_qp_[qp]] >= most_of_tenant_[tenant_of_qp_[qp]];
  }
  void count(std::uint32_t qp, std::int32_t more) {
    if (has_limit(qp)) held_by_tenant_[tenant_of_qp_[qp]] += static_cast<std::uint32_t>(more);
  }
  /// Precondition: its tenant holds one.
  std::uint32_t oldest_of_tenant(std::uint32_t qp) const {
    std::uint32_t oldest = tail_;
    while (tenant_of_qp_[oldest] != tenant_of_qp_[qp]) oldest = nodes_[oldest].previous;
    return oldest;
  }

  std::uint32_t entries_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> most_of_tenant_;  ///< 0: all
  std::vector<std::uint8_t> tenant_of_qp_;     ///< empty: nobody has a limit
  std::vector<std::uint32_t> held_by_tenant_;
  std::uint32_t head_ = kNone;
  std::uint32_t tail_ = kNone;
  std::uint32_t resident_ = 0;
  std::uint32_t ahead_ = 0;
};

}  // namespace mrc
