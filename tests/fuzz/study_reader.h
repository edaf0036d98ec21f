// What reads results and databases, for their fuzzers: each gives a page and a comparison, or a StudyError.
#pragma once

#include <string>
#include <string_view>

#include "report/page.h"
#include "report/report.h"
#include "study/comparison.h"
#include "study/result_group.h"
#include "study/study_error.h"

namespace mrc {

/// The page without its style and script: they are not input.
std::string_view report_page() {
  return "@DATA@";
}

}  // namespace mrc

namespace mrc::fuzz {

template <typename Read>
void try_study(Read read) {
  try {
    read();
  } catch (const StudyError&) {
  }
}

/// `place` is a file of results, or a point of a database.
inline void report_and_compare(const std::string& file, const std::string& place) {
  try_study([&] { report_html({.place = file, .why = "", .version = "", .time = ""}); });
  try_study([&] {
    const ResultGroup group = load_results(place);
    compare({group, group});
  });
}

}  // namespace mrc::fuzz
