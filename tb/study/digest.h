// Names for content: 128 bits as 32 hexadecimal digits. Not for secrets.
#pragma once

#include <string>
#include <string_view>

namespace mrc {

class Digest {
 public:
  /// Adds `text` and its length, so that adjacent texts cannot be confused.
  Digest& add(std::string_view text);
  /// Adds a file's bytes; throws StudyError if it cannot be read.
  Digest& add_file(const std::string& path);
  std::string hex() const;

 private:
  void mix(std::string_view bytes);

  unsigned long long a_ = 0xCBF2'9CE4'8422'2325ULL;
  unsigned long long b_ = 0x9AE1'6A3B'2F90'404FULL;
};

}  // namespace mrc
