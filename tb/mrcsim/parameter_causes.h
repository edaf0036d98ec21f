// Which causes of limits a parameter relieves, as the boxes of a NIC declare it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mrc {

/// Names of causes, in the order in which the boxes of a NIC declare them. Builds a model with its defaults for it, so
/// only once per process.
std::vector<std::string> causes_relieved_by(std::string_view parameter);

}  // namespace mrc
