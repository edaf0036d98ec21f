// The two parts of a setting's key: node.nicN.parameter, or the parameter alone.
#pragma once

#include <string_view>

namespace mrc {

inline constexpr std::string_view kNodeKey = "node.";

/// "pcie.read_tags" of "node.nic1.pcie.read_tags" and of "pcie.read_tags".
inline std::string_view parameter_part(std::string_view key) {
  return key.starts_with(kNodeKey) ? key.substr(key.find('.', kNodeKey.size()) + 1) : key;
}
/// "nic1" of "node.nic1.pcie.read_tags"; empty for all nodes.
inline std::string_view node_part(std::string_view key) {
  return key.starts_with(kNodeKey) ? key.substr(kNodeKey.size(), key.find('.', kNodeKey.size()) - kNodeKey.size()) : "";
}

}  // namespace mrc
