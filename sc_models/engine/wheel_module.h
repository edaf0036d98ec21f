// The bridge between the SystemC kernel and a set of boxes. In wheel mode one SC_METHOD runs all boxes ahead of the
// kernel by a quantum no longer than the shortest delay of any value that comes to the module, so the results are
// exact. In methods mode every box is a separate SC_METHOD without lookahead: slow, and the reference of the tests.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <systemc>
#include <utility>
#include <vector>

#include "engine/event_wheel.h"
#include "mrc/types.h"
#include "parameters/config.h"

namespace mrc {

class Box;

/// Of the SystemC kernel.
inline TimePs kernel_now() {
  return sc_core::sc_time_stamp().value();
}

/// Runs the kernel to `end`, which is not before now. What a box throws arrives as it was thrown; the kernel alone
/// would turn it into a report of several lines.
void run_kernel_to(TimePs end);

class WheelModule : public sc_core::sc_module {
 public:
  /// `quantum_ps` at least 1 and at most the shortest delay from another module to this one.
  WheelModule(const sc_core::sc_module_name& name, KernelMode mode, TimePs quantum_ps);
  ~WheelModule() override;

  /// Called by Box's constructor.
  std::uint32_t add(Box& box);

  /// As in the constructor, between two steps of the series. Precondition: all modules are at their limits.
  void set_quantum(TimePs quantum_ps) { quantum_ps_ = quantum_ps; }
  /// Values come here from `source` alone, `delay_ps` after what sends them at the earliest. So `source` first does
  /// what it may at that time, and this wheel then goes as far as that and the delay; its own quantum does not count.
  /// Null: it follows nobody. Precondition as that of set_quantum().
  void follow(WheelModule* source, TimePs delay_ps) {
    source_ = source;
    delay_from_source_ps_ = delay_ps;
  }

  /// Asks for a step of a box; also called from another module's wheel when a link's value is due, which is never
  /// earlier than this module's horizon.
  void arm(std::uint32_t position, TimePs time) {
    if (mode_ == KernelMode::methods) [[unlikely]] {
      notify_method(position, time);
      return;
    }
    wheel_.arm(position, time);
    if (time < wanted_before_) [[unlikely]]
      notify_wheel(time);
  }

  /// Nothing at or after `limit` happens before it is moved on, which is before the kernel gets there: the end of a
  /// step of the series, so that all that is read then is of one time, or of a window in which ranks of one run do not
  /// hear of each other. In wheel mode.
  void set_limit(TimePs limit) { limit_ = limit; }
  TimePs limit() const { return limit_; }
  /// While a box is being stepped: it may do what is due before this time.
  TimePs horizon() const { return horizon_; }
  /// Is told of each step. Null: nobody records.
  void record_to(Recorder& recorder) {
    recorder_ = &recorder;
    wheel_.record_to(recorder);
  }
  Recorder* recorder() const { return recorder_; }

  std::uint64_t steps() const { return steps_; }
  std::uint64_t activations() const { return activations_; }

 private:
  struct Method;

  void run();
  void run_wheel();
  /// Does what is due before the quantum's end. Returns the horizon.
  TimePs go_ahead();
  void run_to(TimePs horizon);
  void run_method(Method& method, std::uint32_t position);
  [[gnu::noinline]] void notify_wheel(TimePs time);
  void notify_method(std::uint32_t position, TimePs time);

  KernelMode mode_;
  TimePs quantum_ps_;
  WheelModule* source_ = nullptr;  ///< null: follows nobody
  TimePs delay_from_source_ps_ = 0;
  TimePs wanted_before_ = kNever;  ///< steps before this need an earlier call of run(); 0 while it runs
  TimePs horizon_ = 0;
  TimePs limit_ = kNever;
  Recorder* recorder_ = nullptr;
  std::uint64_t steps_ = 0;
  std::uint64_t activations_ = 0;
  SameTimeBound same_time_;
  EventWheel wheel_;
  sc_core::sc_event wake_;
  std::vector<std::unique_ptr<Method>> methods_;
  std::set<std::pair<TimePs, std::uint32_t>> due_;  ///< methods mode: when each armed box is due
};

}  // namespace mrc
