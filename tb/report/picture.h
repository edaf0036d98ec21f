// The NIC of a run as a picture: what its boxes, buffers, PCIe links, ports and planes did, and what it lost where.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace mrc {

/// An SVG of the node under test, the fabric and its peer, or the node that received most where the result names no
/// peer, from result.json. Empty where the result has no boxes (light endpoints). `linked`: parts lead to the sections
/// of the report around it.
std::string nic_picture(const nlohmann::ordered_json& result, bool linked);

}  // namespace mrc
