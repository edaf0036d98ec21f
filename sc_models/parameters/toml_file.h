// TOML that a user gives, as a file or on the command line. Whoever includes this needs toml++.
#pragma once

#include <string>

#include <toml++/toml.h>

#include "parameters/parameter_value.h"

namespace mrc {

/// Throws ParameterError with file and line where the file cannot be read, is not TOML, or has keys of more than 32
/// parts.
toml::table read_toml(const std::string& path);
/// The same for text; `place` opens the messages.
toml::table parse_toml(const std::string& text, const std::string& place);

/// "file:line" of a node of a file.
std::string place_of(const std::string& path, const toml::source_region& source);
/// A number, text, true or false; throws ParameterError for anything else. `name` is for the message.
ParameterValue scalar_of(const toml::node& node, const std::string& name, const std::string& place);

}  // namespace mrc
