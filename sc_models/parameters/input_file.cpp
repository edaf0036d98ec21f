#include "parameters/input_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace mrc {

std::string why_unreadable(const std::string& path) {
  if (path.find('\0') != std::string::npos) return "has a NUL character in its name";
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? "does not exist" : fmt::format("cannot be read: {}", std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) return "is a folder, not a file";
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  if (access(path.c_str(), R_OK) != 0) return fmt::format("cannot be read: {}", std::strerror(errno));
  return "";
}

std::string printable(std::string_view text) {
  constexpr unsigned char kDelete = 0x7F;
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == kDelete) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  return shown;
}

std::string shell_quoted(std::string_view argument) {
  constexpr std::string_view harmless = "_-./=:,+@%";
  const bool plain = !argument.empty() && std::all_of(argument.begin(), argument.end(), [&](unsigned char c) {
    return std::isalnum(c) != 0 || harmless.find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return std::string(argument);
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace mrc
