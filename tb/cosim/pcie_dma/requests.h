// Names for read requests that do not depend on time, as tags do: a recording of a run has them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "pcie/pcie_dma_engine.h"

namespace mrc {

/// Follows the requests of one pcie_dma. A name: bits 31:0 the request, counted from 0 without those that are retried,
/// bits 47:32 how often it was retried before.
class PcieDmaRequests {
 public:
  explicit PcieDmaRequests(std::size_t tags) : of_tag_(tags, kNone) {}

  void request(const ReadRequestTlp& request) {
    const std::pair<std::uint32_t, std::uint64_t> part{request.job, request.address};
    if (!request.again) {
      number_of_[part] = tags_.size();
      tags_.emplace_back();
    }
    const std::uint64_t number = number_of_.at(part);
    of_tag_[request.tag] = number | std::uint64_t{tags_[number].size()} << 32;
    tags_[number].push_back(request.tag);
  }
  /// The request that had this tag last. A tag that none had yet is of no request.
  std::uint64_t of(std::uint16_t tag) const { return of_tag_[tag]; }
  /// Nothing where there is no such request yet.
  std::optional<std::uint16_t> tag_of(std::uint64_t name) const {
    const std::uint64_t number = name & 0xFFFF'FFFF;
    if (number >= tags_.size() || name >> 32 >= tags_[number].size()) return std::nullopt;
    return tags_[number][name >> 32];
  }

 private:
  static constexpr std::uint64_t kNone = 0xFFFF'FFFF'FFFF;

  std::vector<std::uint64_t> of_tag_;
  std::vector<std::vector<std::uint16_t>> tags_;  ///< by request
  /// By read and address. The next read with the same job replaces what has the same address.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> number_of_;
};

}  // namespace mrc
