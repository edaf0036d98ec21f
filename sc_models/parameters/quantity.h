// Numbers with the units that people write: "1%", "100Gb/s", "64MB", "1.5 us".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mrc {

/// Names of units that a number of `unit` may carry ("bytes": B, kB, MB, …, KiB, MiB, …), its own included.
std::vector<std::string> units_for(std::string_view unit);

/// A number and one of units_for(unit), in `unit`; empty where it is not one, or has no unit. MB are 10^6 bytes, MiB
/// 2^20.
std::optional<double> parse_quantity(std::string_view text, std::string_view unit);

/// As parse_quantity(text, "bytes"), or a number alone; empty also for a fraction of a byte and beyond 2^63 - 1.
std::optional<std::int64_t> parse_bytes(std::string_view text);

/// What is behind the number that `text` begins with: "" behind a number alone. Empty where it begins with none.
std::optional<std::string_view> unit_behind_number(std::string_view text);

/// As a regular expression of JSON schemas: what parse_quantity() takes.
std::string quantity_pattern(std::string_view unit);

}  // namespace mrc
