#include "engine/wheel_module.h"

#include <algorithm>
#include <string>

#include "engine/box.h"
#include "engine/recorder.h"

namespace mrc {
namespace {

sc_core::sc_time delay_until(TimePs time) {
  const TimePs now = kernel_now();
  return sc_core::sc_time::from_value(time > now ? time - now : 0);
}

}  // namespace

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
  const auto activate = [this, method, position] {
    ++activations_;
    const std::pair due(kernel_now(), position);
    if (*due_.begin() < due) {
      // Ties go by position, as on the wheel: another box is first, this one tries again in the next delta cycle.
      method->event.notify(sc_core::SC_ZERO_TIME);
      return;
    }
    due_.erase(due);
    method->due = kNever;
    ++steps_;
    horizon_ = kernel_now() + 1;
    method->box->step(kernel_now());
    if (recorder_ != nullptr) recorder_->stepped(kernel_now());
  };
  sc_core::sc_spawn(activate, ("step_" + std::to_string(position)).c_str(), &options);
  return position;
}

void WheelModule::run() {
  const TimePs now = kernel_now();
  kernel_wake_ = kNever;
  ++activations_;
  running_ = true;
  horizon_ = std::min(now + quantum_ps_, limit_);
  steps_ += wheel_.run_before(horizon_);
  running_ = false;
  const TimePs next = wheel_.next_time();
  if (next < kernel_wake_) notify_wheel(next);
}

void WheelModule::notify_wheel(TimePs time) {
  kernel_wake_ = time;
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
