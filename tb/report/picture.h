// The NIC of a run as a picture: what its boxes, buffers, PCIe links, ports and planes did, and what it lost where.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace mrc {

/// An SVG of the node under test, the fabric and `peer`, from result.json. Empty where the result has no boxes (light
/// endpoints). `peer`: the node that the one under test sends most to; "": not known, the node that received most.
/// `linked`: parts lead to the sections of the report around it.
std::string nic_picture(const nlohmann::ordered_json& result, const std::string& peer, bool linked);

}  // namespace mrc
