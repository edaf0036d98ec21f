#include "mrcsim/report_command.h"

#include <memory>
#include <string>

#include <fmt/format.h>

#include "mrcsim/provenance.h"
#include "report/report.h"
#include "results/output_directory.h"
#include "results/output_file.h"

namespace mrc {
namespace {

struct ReportOptions {
  std::string place;
  std::string out;
  std::string picture;
  std::string why;
};

void write_report(const ReportOptions& options) {
  if (!options.why.empty() && !options.picture.empty() && options.out.empty())
    throw OutputError("--why: is for the page, which --picture alone does not write; add -o FILE");
  if (!options.picture.empty()) {
    write_whole_file(options.picture, report_picture(options.place), {"a picture", R"(class="nic" role="img")"});
    fmt::print("{}\n", options.picture);
    if (options.out.empty()) return;
  }
  const std::string out = options.out.empty() ? "report.html" : options.out;
  const Provenance made = provenance();
  const ReportRequest request{.place = options.place, .why = options.why, .version = made.version, .time = made.time};
  write_whole_file(out, report_html(request), {"a report", "<title>mrcsim report</title>"});
  fmt::print("{}\n", out);
}

}  // namespace

void add_report_command(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command =
      app.add_subcommand("report", "Write one self-contained HTML page for a result or a database of studies");
  command->add_option("PLACE", options->place, "result.json, a folder with one, or a database of sweep or size")
      ->required();
  command->add_option("-o,--out", options->out, "file name of the page; default: report.html");
  command->add_option(
      "--picture", options->picture,
      "file name of an SVG: the NIC of a run with its boxes, buffers, ports and planes; no page without -o");
  command->add_option("--why", options->why,
                      "database of mrcsim why for the same scenario and settings: its remedies come first in the page");
  command->callback([options] { write_report(*options); });
}

}  // namespace mrc
