#include "results/recording.h"

#include <algorithm>

namespace mrc {

Recorder& Recording::add_wheel(std::string name) {
  wheels_.push_back(std::move(name));
  return recorders_.emplace_back();
}

std::uint32_t Recording::add_object(RecordedObject object) {
  objects_.push_back(std::move(object));
  return static_cast<std::uint32_t>(objects_.size() - 1);
}

void Recording::flush(TimePs now) {
  if (now > kHoldBackPs) flush_before(now - kHoldBackPs);
}

void Recording::flush_before(TimePs time) {
  due_.clear();
  for (std::uint32_t wheel = 0; wheel < recorders_.size(); ++wheel) {
    std::vector<Record>& records = recorders_[wheel].records();
    const auto kept = std::stable_partition(records.begin(), records.end(),
                                            [time](const Record& record) { return record.time >= time; });
    for (auto it = kept; it != records.end(); ++it) {
      if (it->time < flushed_before_) {
        it->time = flushed_before_;
        ++late_;
      }
      due_.push_back({*it, wheel});
    }
    records.erase(kept, records.end());
  }
  // Stable: records of one time stay in the order of their wheels and of what each wheel did.
  std::stable_sort(due_.begin(), due_.end(), [](const Due& a, const Due& b) { return a.record.time < b.record.time; });
  for (const Due& due : due_) {
    for (const auto& sink : sinks_) sink->take(due.record, due.wheel);
  }
  flushed_before_ = time;
}

void Recording::close() {
  flush_before(kNever);
  for (const auto& sink : sinks_) sink->close();
}

}  // namespace mrc
