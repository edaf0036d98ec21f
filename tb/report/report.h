// A run or a database of studies as one HTML page.
#pragma once

#include <string>

namespace mrc {

struct ReportRequest {
  std::string place;    ///< result.json, a folder with one (series.json and run.json are read too), or a database
  std::string why;      ///< of a run: a database in which `mrcsim why` has left its answer for this run; may be empty
  std::string version;  ///< of the executable, with its commit
  std::string time;     ///< at which the page is written
};

/// The page needs no network and no file. Throws StudyError for another place, and where `why` holds no answer for it.
std::string report_html(const ReportRequest& request);

/// The NIC of a run as an SVG (picture.h). Throws StudyError; `place` is a result.json or its folder.
std::string report_picture(const std::string& place);

}  // namespace mrc
