#include "report/svg_text.h"

#include <map>

namespace mrc {

std::string svg_text(std::string_view text) {
  static const std::map<char, std::string_view> names{{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
  std::string safe;
  for (const char c : text) {
    const auto name = names.find(c);
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    if (name != names.end()) {
      safe += name->second;
    } else {
      safe += control ? '?' : c;
    }
  }
  return safe;
}

}  // namespace mrc
