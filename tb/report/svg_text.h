// Text in SVG and HTML.
#pragma once

#include <string>
#include <string_view>

namespace mrc {

/// `text` as content or quoted attribute of XML; control characters become question marks.
std::string svg_text(std::string_view text);

}  // namespace mrc
