#include "engine/wheel_module.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "engine/box.h"
#include "engine/recorder.h"

namespace mrc {
namespace {

sc_core::sc_time delay_until(TimePs time) {
  const TimePs now = kernel_now();
  return sc_core::sc_time::from_value(time > now ? time - now : 0);
}

std::exception_ptr& thrown_in_process() {
  static std::exception_ptr thrown;
  return thrown;
}

/// A process of the kernel; what it throws is kept for run_kernel_to().
template <typename Work>
void as_process(Work work) {
  try {
    work();
  } catch (...) {
    thrown_in_process() = std::current_exception();
    throw;
  }
}

}  // namespace

void run_kernel_to(TimePs end) {
  const TimePs now = kernel_now();
  if (end <= now) return;
  try {
    sc_core::sc_start(sc_core::sc_time::from_value(end - now));
  } catch (const sc_core::sc_report&) {
    if (thrown_in_process()) std::rethrow_exception(std::exchange(thrown_in_process(), nullptr));
    throw;
  }
}

/// One box run as a separate SC_METHOD.
struct WheelModule::Method {
  Box* box = nullptr;
  sc_core::sc_event event;
  TimePs due = kNever;
};

WheelModule::WheelModule(const sc_core::sc_module_name& name, KernelMode mode, TimePs quantum_ps)
    : sc_module(name), mode_(mode), quantum_ps_(quantum_ps) {
  if (mode_ == KernelMode::methods) return;
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&wake_);
  sc_core::sc_spawn([this] { run(); }, "run", &options);
}

WheelModule::~WheelModule() = default;

std::uint32_t WheelModule::add(Box& box) {
  if (mode_ == KernelMode::wheel) return wheel_.add(box);
  methods_.push_back(std::make_unique<Method>());
  Method* method = methods_.back().get();
  method->box = &box;
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&method->event);
  const auto position = static_cast<std::uint32_t>(methods_.size() - 1);
  const auto activate = [this, method, position] { as_process([&] { run_method(*method, position); }); };
  sc_core::sc_spawn(activate, ("step_" + std::to_string(position)).c_str(), &options);
  return position;
}

void WheelModule::run_method(Method& method, std::uint32_t position) {
  const TimePs now = kernel_now();
  if (SameTimeBound::is_due(++activations_) && same_time_.exceeded(now)) throw EndlessError(method.box->name(), now);
  const std::pair due(now, position);
  if (*due_.begin() < due) {
    // Ties go by position, as on the wheel: another box is first, this one tries again in the next delta cycle.
    method.event.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  due_.erase(due);
  method.due = kNever;
  ++steps_;
  horizon_ = now + 1;
  method.box->step(now);
  if (recorder_ != nullptr) recorder_->stepped(now);
}

void WheelModule::run() {
  as_process([this] { run_wheel(); });
}

void WheelModule::run_wheel() {
  const TimePs now = kernel_now();
  if (SameTimeBound::is_due(++activations_) && same_time_.exceeded(now)) throw EndlessError(name(), now);
  if (source_ == nullptr) {
    run_to(now + quantum_ps_);
    return;
  }
  wanted_before_ = 0;  // what the source sends needs no other call
  run_to(source_->go_ahead() + delay_from_source_ps_);
}

TimePs WheelModule::go_ahead() {
  const TimePs horizon = std::min(kernel_now() + quantum_ps_, limit_);
  if (horizon <= horizon_) return horizon_;
  wake_.cancel();
  run_to(horizon);
  return horizon_;
}

void WheelModule::run_to(TimePs horizon) {
  wanted_before_ = 0;
  horizon_ = std::min(horizon, limit_);
  steps_ += wheel_.run_before(horizon_);
  wanted_before_ = kNever;
  const TimePs next = wheel_.next_time();
  if (next < kNever) notify_wheel(next);
}

void WheelModule::notify_wheel(TimePs time) {
  wanted_before_ = time;
  wake_.notify(delay_until(time));
}

void WheelModule::notify_method(std::uint32_t position, TimePs time) {
  Method& method = *methods_[position];
  if (time >= method.due) return;
  due_.erase({method.due, position});
  due_.insert({time, position});
  method.due = time;
  method.event.notify(delay_until(time));
}

}  // namespace mrc
