// The page that a report is made from: page.html with style, script and chart library in it.
#pragma once

#include <string_view>

namespace mrc {

/// Whole HTML but for "@DATA@", which stands for the report's JSON.
std::string_view report_page();

}  // namespace mrc
