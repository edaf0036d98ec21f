// The NIC of a run as a picture: what its boxes, buffers, PCIe links, ports and planes did, and what it lost where.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace mrc {

/// An SVG of the node under test, the fabric and the node that received most, from result.json. Empty where the result
/// has no boxes (light endpoints). `linked`: parts lead to the sections of the report around it.
std::string nic_picture(const nlohmann::ordered_json& result, bool linked);

}  // namespace mrc
