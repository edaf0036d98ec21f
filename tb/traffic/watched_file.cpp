#include "traffic/watched_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace mrc {

WatchedFile::WatchedFile(const std::string& name, ReadProgress progress) : std::istream(nullptr) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(name, failed);
  if (!failed) buffer_.whole_bytes = std::max(1.0, static_cast<double>(size));
  buffer_.progress = std::move(progress);
  rdbuf(&buffer_);
  if (buffer_.open(name, std::ios::in | std::ios::binary) == nullptr) setstate(failbit);
}

void WatchedFile::Buffer::add(std::streamsize bytes) {
  read_bytes_ += static_cast<double>(bytes);
  if (progress) progress(std::min(1.0, read_bytes_ / whole_bytes));
}

WatchedFile::Buffer::int_type WatchedFile::Buffer::underflow() {
  const int_type first = std::filebuf::underflow();
  if (first != traits_type::eof()) add(egptr() - gptr());
  return first;
}

std::streamsize WatchedFile::Buffer::xsgetn(char* to, std::streamsize most) {
  const std::streamsize got = std::filebuf::xsgetn(to, most);
  add(got);
  return got;
}

}  // namespace mrc
