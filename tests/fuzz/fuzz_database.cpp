// Any bytes are a database of studies, or a StudyError.
#include <unistd.h>

#include <fstream>

#include "study/study_database.h"
#include "study_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // SQLite wants a file with a name.
  static const std::string path = "/dev/shm/mrcsim_fuzz_database." + std::to_string(getpid());
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  mrc::fuzz::report_and_compare(path, path + ":1.1");
  mrc::fuzz::try_study([&] {
    mrc::StudyDatabase database(path);
    database.find("digest");
  });
  unlink(path.c_str());
  return 0;
}
