#include "mrcsim/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "mrcsim/terminal.h"

namespace mrc {

ProgressLine::ProgressLine(bool wanted) : wanted_(wanted && redraws_lines(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() {
  finish();
}

void ProgressLine::finish() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
  drawn_ = false;
}

void ProgressLine::update(const Progress& progress) {
  if (wanted_) update(progress.share, fmt::format("{:.0f} us simulated", progress.simulated_us));
}

void ProgressLine::update(double share, const std::string& text) {
  constexpr auto interval = std::chrono::milliseconds(100);
  const auto now = Clock::now();
  if (!wanted_ || now - last_ < interval) return;
  last_ = now;
  drawn_ = true;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const int filled = static_cast<int>(30 * std::clamp(share, 0.0, 1.0));
  const std::string left = share > 0.01 ? fmt::format(", {:.0f} s left", elapsed * (1 - share) / share) : "";
  fmt::print(stderr, "\r\033[K[{:<30}] {:3.0f} %  {}{}", std::string(static_cast<std::size_t>(filled), '='),
             100 * share, text, left);
  std::fflush(stderr);
}

}  // namespace mrc
