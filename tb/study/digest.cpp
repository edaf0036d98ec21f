#include "study/digest.h"

#include <array>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "mrc/random.h"
#include "study/study_error.h"

namespace mrc {

void Digest::mix(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view head = bytes.substr(0, 8);
    unsigned long long word = 0;
    std::memcpy(&word, head.data(), head.size());
    a_ = mix64(a_ ^ word);
    b_ = mix64(b_ + word * 0x9E37'79B9'7F4A'7C15ULL);
    bytes.remove_prefix(head.size());
  }
}

Digest& Digest::add(std::string_view text) {
  mix(text);
  mix(fmt::format("|{:015}", text.size()));
  return *this;
}

Digest& Digest::add_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw StudyError(path + ": cannot be read");
  std::array<char, 1 << 16> block;
  unsigned long long bytes = 0;
  while (file.read(block.data(), block.size()) || file.gcount() > 0) {
    mix({block.data(), static_cast<std::size_t>(file.gcount())});
    bytes += static_cast<unsigned long long>(file.gcount());
  }
  mix(fmt::format("|{:015}", bytes));
  return *this;
}

std::string Digest::hex() const {
  return fmt::format("{:016x}{:016x}", mix64(a_ ^ b_), mix64(b_ + a_));
}

}  // namespace mrc
