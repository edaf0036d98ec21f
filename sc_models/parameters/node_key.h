// Keys that hold for one node.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "mrc/types.h"

namespace mrc {

struct NodeKey {
  NodeId node = 0;
  std::string key;  ///< of the parameter
};

/// "node.nic3.pcie.mps_bytes" → node 3 and "pcie.mps_bytes"; nothing for any other text.
inline std::optional<NodeKey> parse_node_key(std::string_view text) {
  constexpr std::string_view prefix = "node.nic";
  if (!text.starts_with(prefix)) return {};
  const char* const end = text.data() + text.size();
  NodeId node = 0;
  const auto [dot, error] = std::from_chars(text.data() + prefix.size(), end, node);
  if (error != std::errc() || dot == end || *dot != '.') return {};
  return NodeKey{node, std::string(dot + 1, end)};
}

}  // namespace mrc
