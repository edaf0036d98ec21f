#include "pcie/pcie_dma_rtl_path.h"

#include <algorithm>

#include <fmt/format.h>

namespace mrc {
namespace {

std::string name_of(const ReadRequestTlp& request) {
  return fmt::format("read request of {} B at {:#x}", request.bytes, request.address);
}

}  // namespace

std::optional<ReadRequestTlp> PcieDmaRtlPath::request(TimePs now, const ReadRequestTlp& expected) {
  if (!asks()) return expected;
  const std::uint64_t begin = engine_->cycles();
  std::optional<ReadRequestTlp> given = engine_->request();
  count_from(begin);
  if (!given) {
    note_absent(now, name_of(expected), "request");
    return drives() ? given : expected;
  }
  if (*given == expected) return given;
  const std::string transaction = name_of(expected);
  note(now, transaction, "request.address", expected.address, given->address);
  note(now, transaction, "request.bytes", expected.bytes, given->bytes);
  note(now, transaction, "request.tag", expected.tag, given->tag);
  note(now, transaction, "request.again", expected.again, given->again);
  note(now, transaction, "request.job", expected.job, given->job);
  if (!drives()) return expected;
  // A read that the box does not know, or more than is left of one, cannot be followed.
  given->job = expected.job;
  given->again = expected.again;
  given->bytes = std::max(given->bytes, 1U);
  return given;
}

ReadTags::Verdict PcieDmaRtlPath::completion(TimePs now, const CompletionTlp& completion, ReadTags::Verdict expected) {
  if (!asks()) return expected;
  const std::uint64_t begin = engine_->cycles();
  const ReadTags::Verdict given = engine_->completion(completion);
  count_from(begin);
  if (given == expected) return given;
  note(now, fmt::format("completion of {} B under tag {}", completion.bytes, completion.tag), "verdict",
       static_cast<std::uint64_t>(expected), static_cast<std::uint64_t>(given));
  return drives() ? given : expected;
}

bool PcieDmaRtlPath::report(TimePs now, std::uint32_t job, bool in_order) {
  if (!asks()) return true;
  return in_order ? report_in_order(now, job) : report_loose(now, job);
}

bool PcieDmaRtlPath::report_in_order(TimePs now, std::uint32_t job) {
  const std::optional<std::uint32_t> given = engine_->ordered_done();
  if (given == job) return true;
  const std::string transaction = fmt::format("report of read {}", job);
  if (given) {
    note(now, transaction, "ordered.job", job, *given);
  } else {
    note_absent(now, transaction, "ordered report");
  }
  return !drives();
}

bool PcieDmaRtlPath::report_loose(TimePs now, std::uint32_t job) {
  while (const auto given = engine_->loose_done()) loose_.push_back(*given);
  const auto it = std::find(loose_.begin(), loose_.end(), job);
  if (it != loose_.end()) {
    loose_.erase(it);
    return true;
  }
  note_absent(now, fmt::format("report of read {}", job), "loose report");
  return !drives();
}

WriteTlp PcieDmaRtlPath::write_tlp(TimePs now, const WriteTlp& expected) {
  if (!asks()) return expected;
  const std::uint64_t begin = engine_->cycles();
  std::optional<WriteTlp> given = engine_->write_tlp();
  count_from(begin);
  const std::string transaction =
      given == expected ? std::string() : fmt::format("write TLP of {} B at {:#x}", expected.bytes, expected.address);
  if (!given) {
    note_absent(now, transaction, "tlp");
    return expected;
  }
  note(now, transaction, "tlp.address", expected.address, given->address);
  note(now, transaction, "tlp.bytes", expected.bytes, given->bytes);
  note(now, transaction, "tlp.last", expected.last, given->last);
  given->bytes = std::max(given->bytes, 1U);
  return drives() ? *given : expected;
}

void PcieDmaRtlPath::count_from(std::uint64_t begin) {
  const std::uint64_t spent = engine_->cycles() - begin;
  count({spent, spent}, {1, 1});
}

void PcieDmaRtlPath::note(TimePs now, const std::string& transaction, std::string_view field, std::uint64_t expected,
                          std::uint64_t actual) {
  if (expected == actual) return;
  mismatch(
      node_, now / clock_period_ps_, [&] { return transaction; },
      fmt::format("{}: expected {:#x}, RTL gave {:#x}", field, expected, actual));
}

void PcieDmaRtlPath::note_absent(TimePs now, const std::string& transaction, std::string_view what) {
  mismatch(
      node_, now / clock_period_ps_, [&] { return transaction; }, fmt::format("{}: expected one, RTL gave none", what));
}

}  // namespace mrc
