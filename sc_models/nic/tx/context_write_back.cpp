#include "nic/tx/context_write_back.h"

#include <algorithm>

#include <fmt/format.h>

#include "nic/tx/context_address.h"

namespace mrc::timing {

ContextWriteBack::ContextWriteBack(Box& box, NicContext& nic, PcieDma& pcie, MemoryStructure& contexts)
    : box_(box),
      nic_(nic),
      pcie_(pcie),
      contexts_(contexts),
      entries_(box, "qp_scheduler.write_back", "contexts", nic.config.nic.qp_scheduler.write_back_entries),
      content_(nic.config.nic.qp_scheduler.context_bytes) {
  nic.memories.count(kBuffer, entries_);
}

bool ContextWriteBack::holds(std::uint32_t qp) const {
  return std::any_of(leaving_.begin(), leaving_.end(),
                     [&](const Leaving& leaving) { return leaving.qp == qp && leaving.left_at == kNever; });
}

void ContextWriteBack::add(TimePs now, std::uint32_t qp) {
  ++nic_.box_counters.contexts_evicted;
  const MemoryAccess read = contexts_.read(now, qp);
  if (read.failed()) {
    nic_.memory_failed(now, contexts_,
                       fmt::format("context of QP {} is evicted and not written back", nic_.qps[qp].number));
    return;
  }
  leaving_.push_back({.qp = qp, .read_at = now + read.delay_ps});
  entries_.add(now, 1);
  box_.wake_at(now + read.delay_ps);
}

void ContextWriteBack::begin_write(TimePs now) {
  leaving_.front().is_written = true;
  // It needs no order with other writes; a read of the context pushes it.
  pcie_.write(now, now, context_address(nic_, leaving_.front().qp), nic_.config.nic.qp_scheduler.context_bytes, *this,
              0, WriteOrder::relaxed);
}

void ContextWriteBack::write_left(std::uint64_t, TimePs now, TimePs last_end) {
  Leaving& left = leaving_.front();
  left.left_at = last_end;
  ++nic_.box_counters.contexts_written;
  if (nic_.host_port != nullptr) {
    nic_.host_port->write(pcie_.visible_at(last_end), context_address(nic_, left.qp), content_.data(),
                          static_cast<std::uint32_t>(content_.size()));
  }
  box_.wake_at(std::max(now, last_end));
}

bool ContextWriteBack::step(TimePs now) {
  const std::size_t before = leaving_.size();
  while (!leaving_.empty()) {
    const Leaving& first = leaving_.front();
    if (first.left_at <= now) {
      entries_.remove(first.left_at, 1);
      leaving_.pop_front();
    } else if (first.is_written || first.read_at > now) {
      if (!first.is_written) box_.wake_at(first.read_at);
      if (first.left_at != kNever) box_.wake_at(first.left_at);
      break;
    } else {
      begin_write(now);
    }
  }
  return leaving_.size() < before;
}

}  // namespace mrc::timing
