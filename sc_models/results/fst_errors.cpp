#include "results/fst_errors.h"

#include <sys/mman.h>
#include <sys/stat.h>

namespace {

unsigned errors = 0;

void note(bool failed) {
  if (failed) ++errors;
}

}  // namespace

size_t mrcsim_fst_fwrite(const void* data, size_t size, size_t count, FILE* file) {
  const size_t written = fwrite(data, size, count, file);
  note(written != count);
  return written;
}

int mrcsim_fst_fputc(int character, FILE* file) {
  const int written = fputc(character, file);
  note(written == EOF);
  return written;
}

int mrcsim_fst_fflush(FILE* file) {
  const int failed = fflush(file);
  note(failed != 0);
  return failed;
}

int mrcsim_fst_fclose(FILE* file) {
  const int unwritten = ferror(file);
  const int failed = fclose(file);
  note(unwritten != 0 || failed != 0);
  return failed;
}

void* mrcsim_fst_mmap(void* address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  struct stat status {};
  const bool whole = fstat(descriptor, &status) == 0 && status.st_size >= offset + static_cast<off_t>(length);
  note(!whole);
  if (whole) return mmap(address, length, protection, flags, descriptor, offset);
  return mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

unsigned mrcsim_fst_errors() {
  return errors;
}

void mrcsim_fst_clear_errors() {
  errors = 0;
}
