// The first field in which a reply of RTL differs from the expected one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace mrc {

class FirstDifference {
 public:
  void note(std::string_view field, std::uint64_t expected, std::uint64_t actual) {
    if (expected == actual || !text_.empty()) return;
    text_ = fmt::format("{}: expected {:#x}, RTL gave {:#x}", field, expected, actual);
  }
  /// All fields of a reply: Reply::fields(visit) calls visit(name, value) for each.
  template <typename Reply>
  void note_fields(const Reply& expected, const Reply& actual) {
    std::array<std::uint64_t, kMostFields> values{};
    std::size_t i = 0;
    expected.fields([&](std::string_view, std::uint64_t value) { values.at(i++) = value; });
    i = 0;
    actual.fields([&](std::string_view field, std::uint64_t value) { note(field, values.at(i++), value); });
  }
  /// Empty without a difference.
  const std::string& text() const { return text_; }

 private:
  static constexpr std::size_t kMostFields = 32;

  std::string text_;
};

}  // namespace mrc
