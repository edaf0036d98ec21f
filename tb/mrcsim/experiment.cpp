#include "mrcsim/experiment.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>

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
                                         "fabric.loss_rate",
                                         "nic.ports",
                                         "nic.port_gbps",
                                         "protocol.ev_count",
                                         "protocol.ev_active",
                                         "protocol.path_feedback",
                                         "rocev2.dcqcn",
                                         "rocev2.pfc",
                                         "traffic.qps_per_peer",
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
    flow.shift = static_cast<std::uint32_t>(std::stoul("0" + to.substr(1)));
  } else {
    flow.destination = to == "others" ? ExperimentFlow::kOthers : read.get<std::int64_t>(table, "dst");
  }
  flow.bytes = read.get<std::uint64_t>(table, "bytes");
  flow.count = read.get<std::uint32_t>(table, "count", 1U);
  flow.start_us = read.get<double>(table, "start_us", 0.0);
  flow.interval_us = read.get<double>(table, "interval_us", 0.0);
  return flow;
}

ExperimentCase case_of(const Reader& read, const toml::table& table) {
  read.only(table, {"name", "set", "fault", "flow", "generate"});
  ExperimentCase run;
  run.name = read.get<std::string>(table, "name");
  if (const toml::table* set = table["set"].as_table()) {
    for (const auto& [key, value] : *set) {
      const bool allowed = std::any_of(kTopologyAndTraffic.begin(), kTopologyAndTraffic.end(),
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

Measure measure_of(const Reader& read, const toml::table& table) {
  Measure measure;
  measure.of_case = read.get<std::string>(table, "case");
  measure.metric = read.get<std::string>(table, "metric");
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
                    "within", "at_least", "at_most"});
  ExperimentCheck check;
  check.what = read.get<std::string>(table, "what");
  check.unit = read.get<std::string>(table, "unit", std::string());
  check.measure = measure_of(read, table);
  if (const toml::table* over = table["over"].as_table()) check.over = measure_of(read, *over);
  if (table.contains("published")) check.published = read.get<double>(table, "published");
  check.within = read.get<double>(table, "within", 0.10);
  if (table.contains("at_least")) check.at_least = read.get<double>(table, "at_least");
  if (table.contains("at_most")) check.at_most = read.get<double>(table, "at_most");
  if (!check.published && !check.at_least && !check.at_most) {
    read.refuse(table, "a check needs published, at_least or at_most");
  }
  return check;
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
  read.only(table, {"title", "source", "published", "scaled", "depends_on", "not_run", "calibrated", "quick", "seeds",
                    "case", "check"});
  Experiment experiment;
  experiment.id = path.stem().string();
  experiment.title = read.get<std::string>(table, "title");
  experiment.source = read.get<std::string>(table, "source");
  experiment.published = read.get<std::string>(table, "published");
  experiment.scaled = read.get<std::string>(table, "scaled", std::string());
  experiment.depends_on = read.get<std::string>(table, "depends_on");
  experiment.not_run = read.get<std::string>(table, "not_run", std::string());
  experiment.calibrated = read.get<bool>(table, "calibrated", false);
  experiment.quick = read.get<bool>(table, "quick", false);
  experiment.seeds = read.get<std::uint32_t>(table, "seeds", 1U);
  if (experiment.seeds < 1 || experiment.seeds > 100) read.refuse(table, "seeds: allowed: 1 … 100");
  read.each(table, "case", [&](const toml::table& run) { experiment.cases.push_back(case_of(read, run)); });
  read.each(table, "check", [&](const toml::table& check) {
    experiment.checks.push_back(check_of(read, check));
    const ExperimentCheck& last = experiment.checks.back();
    for (const std::string& name : {last.measure.of_case, last.over ? last.over->of_case : last.measure.of_case}) {
      const auto known = [&](const ExperimentCase& run) { return run.name == name; };
      if (std::none_of(experiment.cases.begin(), experiment.cases.end(), known)) {
        read.refuse(check, fmt::format("unknown case {}", name));
      }
    }
  });
  if (experiment.not_run.empty() && (experiment.cases.empty() || experiment.checks.empty())) {
    read.refuse(table, "an experiment needs [[case]] and [[check]] tables, or a not_run text with the reason");
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

double series_value(const Measure& measure, const fs::path& folder) {
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
  std::vector<double> chosen;
  for (std::size_t i = 0; i + steps <= total.size(); ++i) {
    const double begin = static_cast<double>(i) * step;
    if (begin < measure.from_us) continue;
    if (begin + step * static_cast<double>(steps) > measure.to_us + 1e-9) break;
    double sum = 0;
    for (std::size_t k = 0; k < steps; ++k) sum += total[i + k];
    chosen.push_back(sum / static_cast<double>(steps));
    i += steps - 1;
  }
  if (chosen.empty()) {
    throw ParameterError(folder.string(),
                         fmt::format("the series has nothing between {} and {} us", measure.from_us, measure.to_us));
  }
  return reduced(chosen, measure.reduce);
}

double senders_value(const Measure& measure, const fs::path& folder) {
  const nlohmann::json result = read_results(folder / "result.json");
  const std::string range = measure.metric.substr(std::string("senders:").size());
  const std::size_t first = std::stoul("0" + range);
  const std::size_t last = std::stoul("0" + range.substr(std::min(range.find('-') + 1, range.size())));
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
  const auto number = [](const Experiment& e) { return std::stoi("0" + e.id.substr(1)); };
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return number(a) < number(b); });
  return all;
}

fs::path write_case(const Experiment& experiment, const ExperimentCase& run, const fs::path& base,
                    const fs::path& folder, const std::string& trace) {
  const std::string name = fmt::format("{}.{}", experiment.id, run.name);
  std::string source = trace;
  if (!run.flows.empty()) {
    write_flows(run, folder / (name + ".csv"));
    source = name + ".csv";
  }
  std::ifstream in(base);
  if (!in) throw ParameterError(base.string(), "cannot be read");
  std::ostringstream text;
  // Dotted keys come first: in TOML what follows a table's header belongs to the table.
  text << run.set;
  if (!source.empty()) text << fmt::format("traffic.trace = \"{}\"\n", source);
  text << in.rdbuf() << "\n" << run.faults;
  const fs::path scenario = folder / (name + ".toml");
  std::ofstream(scenario) << text.str();
  return scenario;
}

std::string run_name(const Experiment& experiment, const std::string& case_name, std::uint32_t seed) {
  const std::string name = fmt::format("{}.{}", experiment.id, case_name);
  return seed == 1 ? name : fmt::format("{}.seed{}", name, seed);
}

CheckValue value_of(const ExperimentCheck& check, const Experiment& experiment, const fs::path& folder) {
  CheckValue all{.least = 1e300, .most = -1e300};
  for (std::uint32_t seed = 1; seed <= experiment.seeds; ++seed) {
    const auto of = [&](const Measure& measure) {
      return measured(measure, folder / run_name(experiment, measure.of_case, seed));
    };
    const double value = check.over ? of(check.measure) / of(*check.over) : of(check.measure);
    all.mean += value / experiment.seeds;
    all.least = std::min(all.least, value);
    all.most = std::max(all.most, value);
  }
  return all;
}

bool agrees(const ExperimentCheck& check, double value) {
  if (check.published && std::abs(value - *check.published) > check.within * std::abs(*check.published)) return false;
  if (check.at_least && value < *check.at_least) return false;
  return !check.at_most || value <= *check.at_most;
}

}  // namespace mrc
