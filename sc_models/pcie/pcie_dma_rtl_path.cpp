#include "pcie/pcie_dma_rtl_path.h"

#include <algorithm>

#include <fmt/format.h>

namespace mrc {
namespace {

std::string name_of(const ReadRequestTlp& request) {
  return fmt::format("read request of {} B at {:#x}", request.bytes, request.address);
}

std::string name_of(const WriteTlp& tlp) {
  return fmt::format("write TLP of {} B at {:#x}", tlp.bytes, tlp.address);
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
  judge_request(now, expected, *given);
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
  judge_verdict(now, completion, expected, completion.tag, given);
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
  if (!given) {
    note_absent(now, name_of(expected), "tlp");
    return expected;
  }
  judge_tlp(now, expected, *given);
  given->bytes = std::max(given->bytes, 1U);
  return drives() ? *given : expected;
}

void PcieDmaRtlPath::judge_request(TimePs now, const ReadRequestTlp& expected, const ReadRequestTlp& given) {
  if (given == expected) return;
  const std::string transaction = name_of(expected);
  note(now, transaction, "request.address", expected.address, given.address);
  note(now, transaction, "request.bytes", expected.bytes, given.bytes);
  note(now, transaction, "request.tag", expected.tag, given.tag);
  note(now, transaction, "request.again", expected.again, given.again);
  note(now, transaction, "request.job", expected.job, given.job);
}

void PcieDmaRtlPath::judge_verdict(TimePs now, const CompletionTlp& completion, ReadTags::Verdict expected,
                                   std::uint16_t tag, ReadTags::Verdict given) {
  if (given == expected && tag == completion.tag) return;
  const std::string transaction = fmt::format("completion of {} B under tag {}", completion.bytes, completion.tag);
  note(now, transaction, "verdict", static_cast<std::uint64_t>(expected), static_cast<std::uint64_t>(given));
  note(now, transaction, "verdict.tag", completion.tag, tag);
}

void PcieDmaRtlPath::judge_report(TimePs now, std::string_view port, std::optional<std::uint32_t> expected,
                                  std::uint32_t given) {
  if (expected == given) return;
  const std::string transaction = fmt::format("report of read {}", expected.value_or(given));
  if (expected) {
    note(now, transaction, fmt::format("{}.job", port), *expected, given);
  } else {
    judge_unasked(now, fmt::format("{} report of read {}", port, given));
  }
}

void PcieDmaRtlPath::judge_tlp(TimePs now, const WriteTlp& expected, const WriteTlp& given) {
  if (given == expected) return;
  const std::string transaction = name_of(expected);
  note(now, transaction, "tlp.address", expected.address, given.address);
  note(now, transaction, "tlp.bytes", expected.bytes, given.bytes);
  note(now, transaction, "tlp.last", expected.last, given.last);
}

void PcieDmaRtlPath::judge_buffer(TimePs now, std::uint64_t expected_bytes, std::uint64_t given_bytes) {
  if (given_bytes == expected_bytes) return;
  note(now, fmt::format("after transaction {}", transactions()), "buffer_used", expected_bytes, given_bytes);
}

void PcieDmaRtlPath::judge_unasked(TimePs now, std::string_view what) {
  mismatch(
      node_, now / clock_period_ps_, [&] { return fmt::format("after transaction {}", transactions()); },
      fmt::format("{}: expected none, RTL gave one", what));
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
