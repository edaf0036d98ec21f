// Any bytes are a result.json, or a StudyError.
#include "memory_file.h"
#include "study_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const mrc::fuzz::MemoryFile file(data, size);
  mrc::fuzz::report_and_compare(file.path(), file.path());
  return 0;
}
