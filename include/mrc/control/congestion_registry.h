// Finds a congestion control by the algorithm string of the API. A new algorithm is a class derived from
// CongestionControl in a separate file and one call of add_congestion_control().
#pragma once

#include "mrc/control/congestion.h"
#include "mrc/control/nscc.h"

namespace mrc {

using CongestionFactory =
    std::function<std::unique_ptr<CongestionControl>(const CongestionConfig&, const ProtocolConfig&)>;

inline std::map<std::string, CongestionFactory, std::less<>>& congestion_factories() {
  static std::map<std::string, CongestionFactory, std::less<>> factories{
      {"none", [](const CongestionConfig&, const ProtocolConfig&) { return std::make_unique<NoCongestionControl>(); }},
      {"uet-1.0-nscc", [](const CongestionConfig& config, const ProtocolConfig& protocol) {
         return std::make_unique<Nscc>(derive_nscc(config, protocol), protocol);
       }}};
  return factories;
}

inline void add_congestion_control(std::string name, CongestionFactory factory) {
  congestion_factories()[std::move(name)] = std::move(factory);
}

/// Throws std::invalid_argument with the known names for an unknown `config.algorithm`.
inline std::unique_ptr<CongestionControl> make_congestion_control(const CongestionConfig& config,
                                                                  const ProtocolConfig& protocol) {
  const auto& factories = congestion_factories();
  const auto it = factories.find(config.algorithm);
  if (it != factories.end()) return it->second(config, protocol);
  std::string names;
  for (const auto& [name, factory] : factories) names += (names.empty() ? "" : ", ") + name;
  throw std::invalid_argument(
      fmt::format("congestion control \"{}\" is unknown; there are {}", config.algorithm, names));
}

}  // namespace mrc
