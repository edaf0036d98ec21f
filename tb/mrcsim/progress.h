// One line on stderr, redrawn during a run; nothing if stderr is not a terminal, or one that cannot redraw.
#pragma once

#include <chrono>
#include <string>

#include "results/progress.h"

namespace mrc {

class ProgressLine {
 public:
  explicit ProgressLine(bool wanted);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(const Progress& progress);
  /// `share` of the work is done, in [0, 1]; `text` follows the bar.
  void update(double share, const std::string& text);
  /// Other work begins: what is left of it is reckoned by its own time.
  void restart() { start_ = Clock::now(); }
  /// Removes the line from the terminal.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  bool wanted_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace mrc
