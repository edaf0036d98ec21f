#include "study/interruption.h"

#include <atomic>
#include <csignal>

#include "study/study_error.h"

namespace mrc {
namespace {

std::atomic<bool> flag{false};

}  // namespace

void catch_interruption() {
  std::signal(SIGINT, [](int) { flag = true; });
  std::signal(SIGTERM, [](int) { flag = true; });
  std::signal(SIGHUP, [](int) { flag = true; });
}

bool interrupted() {
  return flag.load();
}

std::atomic<bool>& interruption() {
  return flag;
}

void check_interruption() {
  if (interrupted()) throw StudyInterrupted("interrupted");
}

}  // namespace mrc
