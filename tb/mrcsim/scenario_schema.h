// The scenario file as a JSON schema (draft 7), for editors and validators.
#pragma once

#include <string>

namespace mrc {

/// From the registry and the keys of [[fault]]. Rules between parameters are not in it.
std::string scenario_schema();

}  // namespace mrc
