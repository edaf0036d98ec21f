// The template of a report: page.html with style, script and chart library included.
#pragma once

#include <string_view>

namespace mrc {

/// Whole HTML except "@DATA@", which is replaced by the JSON of the report.
std::string_view report_page();

}  // namespace mrc
