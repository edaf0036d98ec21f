// Names of read requests in the recording of a run: unlike tags, they do not depend on timing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "pcie/pcie_dma_engine.h"

namespace mrc {

/// Follows the requests of one pcie_dma. Bits 31:0 of a name number the requests from 0, retries not counted; bits
/// 47:32 count the retries of that request so far.
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
  /// The name of the latest request with this tag; a name of no request if there was none.
  std::uint64_t of(std::uint16_t tag) const { return of_tag_[tag]; }
  /// The tag of the request with this name; empty until that request is made.
  std::optional<std::uint16_t> tag_of(std::uint64_t name) const {
    const std::uint64_t number = name & 0xFFFF'FFFF;
    if (number >= tags_.size() || name >> 32 >= tags_[number].size()) return std::nullopt;
    return tags_[number][name >> 32];
  }

 private:
  static constexpr std::uint64_t kNone = 0xFFFF'FFFF'FFFF;

  std::vector<std::uint64_t> of_tag_;
  std::vector<std::vector<std::uint16_t>> tags_;  ///< by request
  /// The request of a job at an address. A later read with the same job replaces the entry.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> number_of_;
};

}  // namespace mrc
