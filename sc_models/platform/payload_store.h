// Payload between the platform's memory and the wire, by QP and PSN. A place is used again after `packets` more PSNs:
// more than a window and what the receiver may hold accepted and not written, so no packet under way loses its bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

namespace mrc {

class PayloadStore {
 public:
  /// `packets` is rounded up to a power of two; memory is taken when a QP first sends.
  PayloadStore(std::uint32_t qps, std::uint32_t packets, std::uint32_t mtu_bytes)
      : packets_(std::bit_ceil(packets)), mtu_bytes_(mtu_bytes), of_qp_(qps) {}

  std::byte* place(std::uint32_t qp, std::uint32_t psn) {
    auto& store = of_qp_[qp];
    if (!store) store = std::make_unique_for_overwrite<std::byte[]>(std::size_t{packets_} * mtu_bytes_);
    std::byte* place = store.get() + std::size_t{psn & (packets_ - 1)} * mtu_bytes_;
    if (!poisoned_.empty()) poisoned_.erase(place);
    return place;
  }

  /// The QP whose store `byte` lies in.
  std::optional<std::uint32_t> owner(const std::byte* byte) const {
    for (std::uint32_t qp = 0; qp < of_qp_.size(); ++qp) {
      const std::byte* first = of_qp_[qp].get();
      if (first != nullptr && byte >= first && byte < first + std::size_t{packets_} * mtu_bytes_) return qp;
    }
    return std::nullopt;
  }
  /// The place that `byte` lies in holds no payload.
  void poison(std::uint32_t qp, const std::byte* byte) {
    const std::byte* first = of_qp_[qp].get();
    poisoned_.insert(first + static_cast<std::size_t>(byte - first) / mtu_bytes_ * mtu_bytes_);
  }
  bool poisoned(const std::byte* place) const { return !poisoned_.empty() && poisoned_.count(place) > 0; }

 private:
  std::uint32_t packets_;
  std::uint32_t mtu_bytes_;
  std::vector<std::unique_ptr<std::byte[]>> of_qp_;
  std::unordered_set<const std::byte*> poisoned_;
};

}  // namespace mrc
