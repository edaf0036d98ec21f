// Published experiments as data: one TOML file each, and a base scenario that all of them share. A file defines the
// runs (topology, traffic, faults), the numbers taken from the results, and the published values.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mrc {

/// Equal messages from every rank of first_source … last_source.
struct ExperimentFlow {
  std::uint32_t first_source = 0;
  std::uint32_t last_source = 0;
  std::int64_t destination = 0;  ///< a rank, or kOthers: each of the sources except the sender
  std::uint32_t shift = 0;       ///< if not 0, replaces the destination: distance in ranks around the ring
  std::uint64_t bytes = 0;
  std::uint32_t count = 1;
  double start_us = 0;
  double interval_us = 0;

  static constexpr std::int64_t kOthers = -1;
};

/// One run: the differences from the base scenario.
struct ExperimentCase {
  std::string name;
  std::string set;     ///< keys that differ, as TOML text
  std::string faults;  ///< [[fault]] tables, as TOML text
  std::vector<ExperimentFlow> flows;
  std::vector<std::string> generate;  ///< instead of flows: arguments of `mrcsim trace generate`
  std::string trace;                  ///< instead of flows: the text of a trace
};

/// A number from the results of a case.
struct Measure {
  enum class Reduce : std::uint8_t { mean, least, most };
  std::string of_case;
  std::string metric;  ///< JSON pointer into result.json; "series": payload rate of the node under test, Gb/s;
                       ///< "series:<JSON pointer>": an array of series.json; "event:<what>": time from from_us until
                       ///< the first such row of events[], us; "senders:A-B": tx_gbps of nicA … nicB, reduced;
                       ///< "jain:A-B", "slowest:A-B": fairness of nicA … nicB in windows, by completed messages:
                       ///< Jain's index, slowest relative to fastest; the least of all windows
  double from_us = 0;  ///< of the series, with to_us
  double to_us = 0;
  double window_us = 0;  ///< of the series: averaging window before it is reduced; 0: the step of the series
  Reduce reduce = Reduce::mean;
};

/// A comparison: the measure, divided by a second one if present, against a published number or a direction. With
/// neither it only shows the measure.
struct ExperimentCheck {
  std::string what;
  std::string unit;
  Measure measure;
  std::optional<Measure> over;
  double factor = 1;                ///< of the measure
  std::optional<double> published;  ///< agrees within `within` of it
  double within = 0.10;
  bool draw = false;  ///< `published` is one draw of what a hash decides: it agrees within the middle half of the seeds
  std::optional<double> at_least;
  std::optional<double> at_most;
  std::optional<double> capacity;  ///< by arithmetic with rates of links alone; empty: it says nothing
};

/// A line of a plot: a series over time, the numbers of several cases, or what is published.
struct PlotLine {
  struct Point {
    double x = 0;
    Measure measure;  ///< without a case: `y`
    std::optional<Measure> over;
    double y = 0;
  };
  std::string name;
  std::optional<Measure> series;  ///< over time, of the first seed
  std::vector<Point> points;
  bool rate = false;  ///< x is bytes and the measure their time in us: shown are Gb/s
};

struct ExperimentPlot {
  std::string title;
  std::string x;  ///< names of the axes
  std::string y;
  bool sizes = false;  ///< x is bytes, on a logarithmic scale
  std::vector<PlotLine> lines;
};

struct Experiment {
  std::string id;  ///< "E1"
  std::string title;
  std::string source;
  std::string published;   ///< in words
  std::string scaled;      ///< how it was reduced to minutes on two cores; empty: not reduced
  std::string depends_on;  ///< the open parameter that matters most
  std::string not_run;     ///< why it cannot be run; empty: it can
  std::string open;        ///< the public fact that is missing, where ours need not agree; empty: none
  bool calibrated = false;
  bool quick = false;
  std::uint32_t seeds = 1;  ///< runs of each case, with seeds 1 …; the mean is compared, the range shown
  std::vector<ExperimentCase> cases;
  std::vector<ExperimentCheck> checks;
  std::vector<ExperimentPlot> plots;
};

/// All E<number>[letter].toml of a folder in the order of their numbers. Throws ParameterError with file and line for
/// other content; a case sets only topology, traffic and transport, or any parameter in a file with any_setting = true,
/// which is for questions and not for published experiments.
std::vector<Experiment> load_experiments(const std::filesystem::path& folder);

/// Writes the case's traffic and its scenario into `folder` as <id>.<case>.toml, which it returns. `trace`: of a
/// generated trace, empty otherwise.
std::filesystem::path write_case(const Experiment& experiment, const ExperimentCase& run,
                                 const std::filesystem::path& base, const std::filesystem::path& folder,
                                 const std::string& trace);

/// Name of the folder with the results of one run.
std::string run_name(const Experiment& experiment, const std::string& case_name, std::uint32_t seed);

/// The number of a check, over all seeds.
struct CheckValue {
  double mean = 0;
  double least = 0;
  double most = 0;
  std::vector<double> seeds;  ///< of each
};
/// From the results in <folder>/<run_name>/. Throws ParameterError if it is missing.
CheckValue value_of(const ExperimentCheck& check, const Experiment& experiment, const std::filesystem::path& folder);
/// Of a number without seeds.
bool agrees(const ExperimentCheck& check, double value);
bool agrees(const ExperimentCheck& check, const CheckValue& value);
/// The limits of the middle half of the seeds.
std::pair<double, double> middle_half(const CheckValue& value);

/// x and y of a line's points, from the results in <folder>/<run_name>/; means over the seeds.
std::vector<std::pair<double, double>> points_of(const PlotLine& line, const Experiment& experiment,
                                                 const std::filesystem::path& folder);

}  // namespace mrc
