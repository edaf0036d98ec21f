#include "mrcsim/experiment.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>
#include <nlohmann/json.hpp>

#include "parameters/registry.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

/// What may differ between experiments: all else is the base scenario's.
constexpr std::array kTopologyAndTraffic{"transport",
                                         "fidelity",
                                         "fabric.nics",
                                         "fabric.nics_per_t0",
                                         "fabric.t0s_per_plane",
                                         "fabric.t1s_per_plane",
                                         "fabric.pods",
                                         "fabric.routing",
                                         "fabric.t1_link_gbps",
                                         "fabric.loss_rate",
                                         "nic.ports",
                                         "nic.port_gbps",
                                         "protocol.ev_count",
                                         "protocol.ev_active",
                                         "protocol.path_feedback",
                                         "protocol.timeout_exponent",  // plots of rows that are open
                                         "rocev2.rc.timeout_exponent",
                                         "protocol.always_skip_threshold",  // E10: without it no mark moves an EV
                                         "rocev2.dcqcn",
                                         "rocev2.pfc",
                                         "traffic.collective.all_to_all",
                                         "traffic.collective.window",
                                         "traffic.outstanding_messages",  // E12, a plot of a row that is open
                                         "traffic.placement",
                                         "traffic.qps_per_peer",
                                         "traffic.ranks",
                                         "run.max_time_us",
                                         "run.node_under_test"};

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  [[noreturn]] void refuse(const toml::node& node, const std::string& what) const {
    throw ParameterError(fmt::format("{}:{}", path_, node.source().begin.line), what);
  }
  void only(const toml::table& table, const std::set<std::string>& keys) const {
    for (const auto& [key, node] : table) {
      if (keys.contains(std::string(key.str()))) continue;
      refuse(node, fmt::format("unknown key {}; nearest: {}", std::string(key.str()),
                               nearest(key.str(), {keys.begin(), keys.end()})));
    }
  }
  template <typename Value>
  Value get(const toml::table& table, const char* key, std::optional<Value> otherwise = std::nullopt) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) {
      if (!otherwise) refuse(table, fmt::format("{} is missing", key));
      return *otherwise;
    }
    const auto value = node->value<Value>();
    if (!value) refuse(*node, fmt::format("{} has the wrong type", key));
    return *value;
  }
  template <typename Body>
  void each(const toml::table& table, const char* key, Body body) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return;
    if (!node->is_array()) refuse(*node, fmt::format("{}: expected [[{}]] tables", key, key));
    for (const toml::node& entry : *node->as_array()) {
      if (!entry.is_table()) refuse(entry, fmt::format("{}: expected [[{}]] tables", key, key));
      body(*entry.as_table());
    }
  }

 private:
  std::string path_;
};

std::string text_of(const toml::table& table) {
  std::ostringstream text;
  text << table;
  return text.str();
}

ExperimentFlow flow_of(const Reader& read, const toml::table& table) {
  read.only(table, {"src", "dst", "bytes", "count", "start_us", "interval_us"});
  ExperimentFlow flow;
  const toml::node* source = table.get("src");
  if (source == nullptr) read.refuse(table, "src is missing; expected a rank, or [first, last]");
  if (const toml::array* range = source->as_array()) {
    if (range->size() != 2) read.refuse(*source, "src: expected a rank, or [first, last]");
    flow.first_source = range->get(0)->value<std::uint32_t>().value_or(0);
    flow.last_source = range->get(1)->value<std::uint32_t>().value_or(0);
  } else {
    flow.first_source = flow.last_source = read.get<std::uint32_t>(table, "src");
  }
  const std::string to = table["dst"].value<std::string>().value_or("");
  if (to.starts_with("+")) {
    if (!std::regex_match(to, std::regex(R"(\+\d{1,6})"))) read.refuse(table, "dst: expected +N, N below 1,000,000");
    flow.shift = static_cast<std::uint32_t>(std::stoul(to.substr(1)));
  } else {
    flow.destination = to == "others" ? ExperimentFlow::kOthers : read.get<std::int64_t>(table, "dst");
  }
  flow.bytes = read.get<std::uint64_t>(table, "bytes");
  flow.count = read.get<std::uint32_t>(table, "count", 1U);
  flow.start_us = read.get<double>(table, "start_us", 0.0);
  flow.interval_us = read.get<double>(table, "interval_us", 0.0);
  return flow;
}

ExperimentCase case_of(const Reader& read, const toml::table& table, bool any_setting) {
  read.only(table, {"name", "set", "fault", "flow", "generate", "trace"});
  ExperimentCase run;
  run.trace = read.get<std::string>(table, "trace", std::string());
  run.name = read.get<std::string>(table, "name");
  if (const toml::table* set = table["set"].as_table()) {
    for (const auto& [key, value] : *set) {
      const bool allowed = any_setting || std::any_of(kTopologyAndTraffic.begin(), kTopologyAndTraffic.end(),
                                                      [&](const char* name) { return key.str() == name; });
      if (!allowed) {
        read.refuse(value, fmt::format("{} belongs in the base scenario: experiments differ in topology, traffic and "
                                       "faults only",
                                       std::string(key.str())));
      }
      std::ostringstream text;
      text << key.str() << " = " << toml::node_view<const toml::node>(value) << "\n";
      run.set += text.str();
    }
  }
  read.each(table, "fault", [&](const toml::table& fault) { run.faults += "[[fault]]\n" + text_of(fault) + "\n"; });
  read.each(table, "flow", [&](const toml::table& flow) { run.flows.push_back(flow_of(read, flow)); });
  if (const toml::array* generate = table["generate"].as_array()) {
    for (const toml::node& word : *generate) run.generate.push_back(word.value<std::string>().value_or(""));
  }
  return run;
}

void check_metric(const Reader& read, const toml::table& table, const std::string& metric) {
  static const std::regex allowed(R"(/.*|series|series:/.*|event:.+|(senders|jain|slowest):\d{1,6}-\d{1,6})");
  if (std::regex_match(metric, allowed)) return;
  read.refuse(table,
              fmt::format("metric = \"{}\"; allowed: series, series:/POINTER, /POINTER, event:WHAT, senders:A-B, "
                          "jain:A-B, slowest:A-B",
                          metric));
}

/// `metric`: of all measures of a line; empty: its own.
Measure measure_of(const Reader& read, const toml::table& table, const std::string& metric = {}) {
  Measure measure;
  measure.of_case = read.get<std::string>(table, "case");
  measure.metric = metric.empty() ? read.get<std::string>(table, "metric") : metric;
  check_metric(read, table, measure.metric);
  measure.from_us = read.get<double>(table, "from_us", 0.0);
  measure.to_us = read.get<double>(table, "to_us", 1e12);
  measure.window_us = read.get<double>(table, "window_us", 0.0);
  const std::string reduce = read.get<std::string>(table, "reduce", std::string("mean"));
  if (reduce != "mean" && reduce != "least" && reduce != "most") {
    read.refuse(table, fmt::format("reduce = \"{}\"; allowed: mean, least, most", reduce));
  }
  measure.reduce = reduce == "least"  ? Measure::Reduce::least
                   : reduce == "most" ? Measure::Reduce::most
                                      : Measure::Reduce::mean;
  return measure;
}

ExperimentCheck check_of(const Reader& read, const toml::table& table) {
  read.only(table, {"what", "unit", "case", "metric", "from_us", "to_us", "window_us", "reduce", "over", "published",
                    "within", "draw", "at_least", "at_most", "factor", "capacity"});
  ExperimentCheck check;
  check.what = read.get<std::string>(table, "what");
  check.unit = read.get<std::string>(table, "unit", std::string());
  check.measure = measure_of(read, table);
  if (const toml::table* over = table["over"].as_table()) check.over = measure_of(read, *over);
  if (table.contains("published")) check.published = read.get<double>(table, "published");
  check.within = read.get<double>(table, "within", 0.10);
  check.draw = read.get<bool>(table, "draw", false);
  check.factor = read.get<double>(table, "factor", 1.0);
  if (table.contains("capacity")) check.capacity = read.get<double>(table, "capacity");
  if (table.contains("at_least")) check.at_least = read.get<double>(table, "at_least");
  if (table.contains("at_most")) check.at_most = read.get<double>(table, "at_most");
  if (check.draw && (!check.published || check.at_least || check.at_most)) {
    read.refuse(table, "draw = true compares published alone");
  }
  return check;
}

PlotLine::Point point_of(const Reader& read, const toml::table& table, const std::string& metric) {
  read.only(table, {"x", "y", "case", "over"});
  PlotLine::Point point;
  point.x = read.get<double>(table, "x");
  if (table.contains("y")) {
    point.y = read.get<double>(table, "y");
  } else {
    point.measure = measure_of(read, table, metric);
    if (table.contains("over")) {
      point.over = point.measure;
      point.over->of_case = read.get<std::string>(table, "over");
    }
  }
  return point;
}

PlotLine line_of(const Reader& read, const toml::table& table) {
  read.only(table, {"name", "case", "metric", "from_us", "to_us", "window_us", "rate", "point"});
  PlotLine line;
  line.name = read.get<std::string>(table, "name");
  line.rate = read.get<bool>(table, "rate", false);
  const std::string metric = read.get<std::string>(table, "metric", std::string("series"));
  if (table.contains("case")) line.series = measure_of(read, table, metric);
  read.each(table, "point", [&](const toml::table& point) { line.points.push_back(point_of(read, point, metric)); });
  return line;
}

ExperimentPlot plot_of(const Reader& read, const toml::table& table) {
  read.only(table, {"title", "x", "y", "sizes", "line"});
  ExperimentPlot plot;
  plot.title = read.get<std::string>(table, "title");
  plot.x = read.get<std::string>(table, "x");
  plot.y = read.get<std::string>(table, "y");
  plot.sizes = read.get<bool>(table, "sizes", false);
  read.each(table, "line", [&](const toml::table& line) { plot.lines.push_back(line_of(read, line)); });
  return plot;
}

void require_case(const Reader& read, const toml::table& at, const Experiment& experiment, const std::string& name) {
  const auto known = [&](const ExperimentCase& run) { return run.name == name; };
  if (std::none_of(experiment.cases.begin(), experiment.cases.end(), known)) {
    read.refuse(at, fmt::format("unknown case {}", name));
  }
}

void add_plot(const Reader& read, const toml::table& table, Experiment& experiment) {
  experiment.plots.push_back(plot_of(read, table));
  for (const PlotLine& line : experiment.plots.back().lines) {
    if (line.series) require_case(read, table, experiment, line.series->of_case);
    for (const PlotLine::Point& point : line.points) {
      const std::string& name = point.measure.of_case;
      if (!name.empty()) require_case(read, table, experiment, name);
      if (point.over) require_case(read, table, experiment, point.over->of_case);
    }
  }
}

Experiment experiment_of(const fs::path& path) {
  toml::table table;
  try {
    table = toml::parse_file(path.string());
  } catch (const toml::parse_error& error) {
    throw ParameterError(fmt::format("{}:{}", path.string(), error.source().begin.line),
                         std::string(error.description()));
  }
  const Reader read(path.string());
  read.only(table, {"title", "source", "published", "scaled", "depends_on", "not_run", "open", "calibrated", "quick",
                    "any_setting", "seeds", "case", "check", "plot"});
  Experiment experiment;
  experiment.id = path.stem().string();
  experiment.title = read.get<std::string>(table, "title");
  experiment.source = read.get<std::string>(table, "source");
  experiment.published = read.get<std::string>(table, "published");
  experiment.scaled = read.get<std::string>(table, "scaled", std::string());
  experiment.depends_on = read.get<std::string>(table, "depends_on");
  experiment.not_run = read.get<std::string>(table, "not_run", std::string());
  experiment.open = read.get<std::string>(table, "open", std::string());
  experiment.calibrated = read.get<bool>(table, "calibrated", false);
  experiment.quick = read.get<bool>(table, "quick", false);
  experiment.seeds = read.get<std::uint32_t>(table, "seeds", 1U);
  if (experiment.seeds < 1 || experiment.seeds > 100) read.refuse(table, "seeds: allowed: 1 … 100");
  const bool any_setting = read.get<bool>(table, "any_setting", false);
  read.each(table, "case",
            [&](const toml::table& run) { experiment.cases.push_back(case_of(read, run, any_setting)); });
  read.each(table, "check", [&](const toml::table& check) {
    experiment.checks.push_back(check_of(read, check));
    const ExperimentCheck& last = experiment.checks.back();
    require_case(read, check, experiment, last.measure.of_case);
    if (last.over) require_case(read, check, experiment, last.over->of_case);
  });
  read.each(table, "plot", [&](const toml::table& plot) { add_plot(read, plot, experiment); });
  if (experiment.not_run.empty() && (experiment.cases.empty() || experiment.checks.empty())) {
    read.refuse(table, "an experiment needs [[case]] and [[check]] tables, or a not_run text with the reason");
  }
  const auto has_limit = [](const ExperimentCheck& check) {
    return check.published || check.at_least || check.at_most;
  };
  if (experiment.not_run.empty() && std::none_of(experiment.checks.begin(), experiment.checks.end(), has_limit)) {
    read.refuse(table, "an experiment needs a check with published, at_least or at_most");
  }
  return experiment;
}

void write_flows(const ExperimentCase& run, const fs::path& path) {
  std::ofstream out(path);
  out << "start_us,src,dst,bytes,tag\n";
  for (const ExperimentFlow& flow : run.flows) {
    for (std::uint32_t i = 0; i < flow.count; ++i) {
      const double start_us = flow.start_us + i * flow.interval_us;
      // Each rank begins with the next one, so that not all send to the same at once.
      const std::uint32_t ranks = flow.last_source - flow.first_source + 1;
      for (std::uint32_t distance = 1; distance < (flow.destination == ExperimentFlow::kOthers ? ranks : 2);
           ++distance) {
        for (std::uint32_t s = 0; s < ranks; ++s) {
          const std::uint32_t step = flow.shift != 0 ? flow.shift : distance;
          const bool around = flow.shift != 0 || flow.destination == ExperimentFlow::kOthers;
          const std::int64_t to = around ? std::int64_t{flow.first_source} + (s + step) % ranks : flow.destination;
          out << fmt::format("{},{},{},{},{}\n", start_us, flow.first_source + s, to, flow.bytes, i);
        }
      }
    }
  }
}

nlohmann::json read_results(const fs::path& path) {
  std::ifstream in(path);
  nlohmann::json json = nlohmann::json::parse(in, nullptr, false);
  if (json.is_discarded()) throw ParameterError(path.string(), "is missing or is not a result");
  return json;
}

double reduced(const std::vector<double>& values, Measure::Reduce how) {
  if (how == Measure::Reduce::least) return *std::min_element(values.begin(), values.end());
  if (how == Measure::Reduce::most) return *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Values of windows of a series, by the time at which each begins.
std::vector<std::pair<double, double>> windows_of(const Measure& measure, const fs::path& folder) {
  const nlohmann::json series = read_results(folder / "series.json");
  const double step = series.at("step_us").get<double>();
  std::vector<double> total;
  nlohmann::json rows = series.at("plane_goodput_gbps");
  if (measure.metric != "series") {
    const nlohmann::json::json_pointer pointer(measure.metric.substr(std::string("series:").size()));
    if (!series.contains(pointer)) throw ParameterError((folder / "series.json").string(), "has no " + measure.metric);
    rows = nlohmann::json::array({series.at(pointer)});
  }
  for (const auto& plane : rows) {
    total.resize(std::max(total.size(), plane.size()));
    for (std::size_t i = 0; i < plane.size(); ++i) total[i] += plane[i].get<double>();
  }
  const auto steps = std::max<std::size_t>(1, static_cast<std::size_t>(measure.window_us / step + 0.5));
  std::vector<std::pair<double, double>> chosen;
  for (std::size_t i = 0; i + steps <= total.size(); ++i) {
    const double begin = static_cast<double>(i) * step;
    if (begin < measure.from_us) continue;
    if (begin + step * static_cast<double>(steps) > measure.to_us + 1e-9) break;
    double sum = 0;
    for (std::size_t k = 0; k < steps; ++k) sum += total[i + k];
    chosen.emplace_back(begin, sum / static_cast<double>(steps));
    i += steps - 1;
  }
  if (chosen.empty()) {
    throw ParameterError(folder.string(),
                         fmt::format("the series has nothing between {} and {} us", measure.from_us, measure.to_us));
  }
  return chosen;
}

double series_value(const Measure& measure, const fs::path& folder) {
  std::vector<double> values;
  for (const auto& [time, value] : windows_of(measure, folder)) values.push_back(value);
  return reduced(values, measure.reduce);
}

/// A and B of "<what>:A-B".
std::pair<std::size_t, std::size_t> nodes_in(const std::string& metric) {
  const std::string range = metric.substr(metric.find(':') + 1);
  return {std::stoul(range), std::stoul(range.substr(range.find('-') + 1))};
}

struct CompletedMessage {
  double time_us = 0;
  std::size_t from = 0;
  double bytes = 0;
};

std::vector<CompletedMessage> completed_messages(const fs::path& folder) {
  std::vector<CompletedMessage> messages;
  std::ifstream in(folder / "messages.csv");
  std::string row;
  for (std::getline(in, row); std::getline(in, row);) {
    std::array<double, 6> fields{};  // from, to, tag, bytes, posted_us, completed_us
    std::istringstream words(row);
    std::string word;
    for (double& field : fields) field = std::getline(words, word, ',') ? std::strtod(word.c_str(), nullptr) : 0;
    messages.push_back({fields[5], static_cast<std::size_t>(fields[0]), fields[3]});
  }
  std::stable_sort(messages.begin(), messages.end(),
                   [](const auto& a, const auto& b) { return a.time_us < b.time_us; });
  return messages;
}

/// Bytes that each of the nodes has sent in each window: those of a message since the one before it.
std::vector<std::vector<double>> bytes_in_windows(const Measure& measure, const fs::path& folder) {
  const auto [first, last] = nodes_in(measure.metric);
  const auto windows = static_cast<std::size_t>((measure.to_us - measure.from_us) / measure.window_us + 1e-6);
  std::vector<std::vector<double>> bytes(windows, std::vector<double>(last - first + 1));
  std::vector<double> before(last - first + 1);
  for (const CompletedMessage& message : completed_messages(folder)) {
    if (message.from < first || message.from > last) continue;
    const std::size_t node = message.from - first;
    const double begin = std::exchange(before[node], message.time_us);
    for (std::size_t i = 0; i < windows && message.time_us > begin; ++i) {
      const double from = measure.from_us + static_cast<double>(i) * measure.window_us;
      const double overlap = std::min(message.time_us, from + measure.window_us) - std::max(begin, from);
      if (overlap > 0) bytes[i][node] += message.bytes * overlap / (message.time_us - begin);
    }
  }
  return bytes;
}

/// Of the least fair window.
double fairness_value(const Measure& measure, const fs::path& folder) {
  if (measure.window_us <= 0) throw ParameterError(folder.string(), measure.metric + " needs window_us");
  double worst = 1;
  for (const std::vector<double>& bytes : bytes_in_windows(measure, folder)) {
    double sum = 0;
    double squares = 0;
    for (const double of_node : bytes) {
      sum += of_node;
      squares += of_node * of_node;
    }
    if (sum == 0) return 0;
    const double jain = sum * sum / (static_cast<double>(bytes.size()) * squares);
    const auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
    worst = std::min(worst, measure.metric.starts_with("jain") ? jain : *least / *most);
  }
  return worst;
}

double senders_value(const Measure& measure, const fs::path& folder) {
  const nlohmann::json result = read_results(folder / "result.json");
  const auto [first, last] = nodes_in(measure.metric);
  std::vector<double> rates;
  for (std::size_t node = first; node <= last && node < result.at("nodes").size(); ++node) {
    rates.push_back(result.at("nodes").at(node).at("tx_gbps").get<double>());
  }
  if (rates.empty()) throw ParameterError(folder.string(), fmt::format("has no {}", measure.metric));
  return reduced(rates, measure.reduce);
}

double event_value(const Measure& measure, const fs::path& folder) {
  const nlohmann::json result = read_results(folder / "result.json");
  const std::string what = measure.metric.substr(std::string("event:").size());
  for (const auto& event : result.at("events")) {
    if (event.at("what") == what) return event.at("time_us").get<double>() - measure.from_us;
  }
  throw ParameterError((folder / "result.json").string(), fmt::format("has no event {}", what));
}

double measured(const Measure& measure, const fs::path& results) {
  if (measure.metric.starts_with("series")) return series_value(measure, results);
  if (measure.metric.starts_with("event:")) return event_value(measure, results);
  if (measure.metric.starts_with("senders:")) return senders_value(measure, results);
  if (measure.metric.starts_with("jain:") || measure.metric.starts_with("slowest:")) {
    return fairness_value(measure, results);
  }
  const nlohmann::json result = read_results(results / "result.json");
  const nlohmann::json::json_pointer pointer(measure.metric);
  if (!result.contains(pointer) || !result.at(pointer).is_number()) {
    throw ParameterError((results / "result.json").string(), fmt::format("has no number at {}", measure.metric));
  }
  return result.at(pointer).get<double>();
}

}  // namespace

std::vector<Experiment> load_experiments(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw ParameterError(folder.string(),
                         "is not a folder; --experiments needs the folder with base.toml and E1.toml …");
  }
  std::vector<Experiment> all;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("E") && name.ends_with(".toml")) all.push_back(experiment_of(entry.path()));
  }
  const auto order = [](const Experiment& e) { return std::pair(std::stoi("0" + e.id.substr(1)), e.id); };
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return all;
}

/// The lines of the base scenario without those whose key the case sets.
std::string rest_of_base(std::istream& base, const std::string& set) {
  std::string rest;
  std::string line;
  while (std::getline(base, line)) {
    const std::size_t end = line.find(" = ");
    const bool is_set =
        end != std::string::npos && ("\n" + set).find("\n" + line.substr(0, end + 3)) != std::string::npos;
    if (!is_set) rest += line + "\n";
  }
  return rest;
}

fs::path write_case(const Experiment& experiment, const ExperimentCase& run, const fs::path& base,
                    const fs::path& folder, const std::string& trace) {
  const std::string name = fmt::format("{}.{}", experiment.id, run.name);
  std::string source = trace;
  if (!run.flows.empty()) {
    write_flows(run, folder / (name + ".csv"));
    source = name + ".csv";
  } else if (!run.trace.empty()) {
    source = name + ".txt";
    std::ofstream(folder / source) << run.trace;
  }
  std::ifstream in(base);
  if (!in) throw ParameterError(base.string(), "cannot be read");
  std::ostringstream text;
  // Dotted keys come first: in TOML what follows a table's header belongs to the table.
  text << run.set;
  if (!source.empty()) text << fmt::format("traffic.trace = \"{}\"\n", source);
  text << rest_of_base(in, run.set) << "\n" << run.faults;
  const fs::path scenario = folder / (name + ".toml");
  std::ofstream(scenario) << text.str();
  return scenario;
}

std::string run_name(const Experiment& experiment, const std::string& case_name, std::uint32_t seed) {
  const std::string name = fmt::format("{}.{}", experiment.id, case_name);
  return seed == 1 ? name : fmt::format("{}.seed{}", name, seed);
}

CheckValue value_of(const ExperimentCheck& check, const Experiment& experiment, const fs::path& folder) {
  CheckValue all{.least = 1e300, .most = -1e300, .seeds = {}};
  for (std::uint32_t seed = 1; seed <= experiment.seeds; ++seed) {
    const auto of = [&](const Measure& measure) {
      return measured(measure, folder / run_name(experiment, measure.of_case, seed));
    };
    const double value = check.factor * (check.over ? of(check.measure) / of(*check.over) : of(check.measure));
    all.mean += value / experiment.seeds;
    all.least = std::min(all.least, value);
    all.most = std::max(all.most, value);
    all.seeds.push_back(value);
  }
  return all;
}

std::vector<std::pair<double, double>> points_of(const PlotLine& line, const Experiment& experiment,
                                                 const fs::path& folder) {
  if (line.series) return windows_of(*line.series, folder / run_name(experiment, line.series->of_case, 1));
  std::vector<std::pair<double, double>> points;
  for (const PlotLine::Point& point : line.points) {
    double y = point.y;
    if (!point.measure.of_case.empty()) {
      ExperimentCheck check;
      check.measure = point.measure;
      check.over = point.over;
      y = value_of(check, experiment, folder).mean;
      if (line.rate) y = point.x * 8 / 1000 / y;
    }
    points.emplace_back(point.x, y);
  }
  return points;
}

std::pair<double, double> middle_half(const CheckValue& value) {
  std::vector<double> seeds = value.seeds;
  std::sort(seeds.begin(), seeds.end());
  const auto quantile = [&](double share) {
    const double at = share * static_cast<double>(seeds.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, seeds.size() - 1);
    return seeds[below] + (at - static_cast<double>(below)) * (seeds[above] - seeds[below]);
  };
  return {quantile(0.25), quantile(0.75)};
}

bool agrees(const ExperimentCheck& check, const CheckValue& value) {
  if (!check.draw) return agrees(check, value.mean);
  const auto [low, high] = middle_half(value);
  return low <= *check.published && *check.published <= high;
}

bool agrees(const ExperimentCheck& check, double value) {
  if (check.published && std::abs(value - *check.published) > check.within * std::abs(*check.published)) return false;
  if (check.at_least && value < *check.at_least) return false;
  return !check.at_most || value <= *check.at_most;
}

}  // namespace mrc
