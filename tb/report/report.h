// A run or a database of studies as one HTML page.
#pragma once

#include <string>

namespace mrc {

/// `place`: result.json, a folder with one (series.json is read if it is in the same folder), or a database of studies.
/// The page needs no network and no file. Throws StudyError for anything else.
std::string report_html(const std::string& place);

/// The NIC of a run as an SVG (picture.h). Throws StudyError; `place` is a result.json or its folder.
std::string report_picture(const std::string& place);

}  // namespace mrc
