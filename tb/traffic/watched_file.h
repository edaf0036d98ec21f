// A file that reports how much of it has been read.
#pragma once

#include <fstream>
#include <istream>
#include <string>

#include "traffic/read_options.h"

namespace mrc {

class WatchedFile : public std::istream {
 public:
  /// Fails like std::ifstream where the file cannot be read. `progress` may be empty.
  WatchedFile(const std::string& name, ReadProgress progress);

 private:
  class Buffer : public std::filebuf {
   public:
    ReadProgress progress;
    double whole_bytes = 1;

   protected:
    int_type underflow() override;
    std::streamsize xsgetn(char* to, std::streamsize most) override;

   private:
    void add(std::streamsize bytes);
    double read_bytes_ = 0;
  };
  Buffer buffer_;
};

}  // namespace mrc
