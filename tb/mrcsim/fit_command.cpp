#include "mrcsim/fit_command.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "fit/curve_model.h"
#include "fit/least_squares.h"
#include "fit/measured_curves.h"
#include "latency/latency_terms.h"
#include "mrcsim/option_checks.h"
#include "mrcsim/progress.h"
#include "parameters/scenario.h"
#include "results/output_file.h"

namespace mrc {
namespace {

using Json = nlohmann::ordered_json;

/// A parameter is looked for between an eighth and eight times its start, as far as it may have these values.
constexpr double kReach = 8;
/// The 99th percentile of the read latency is fitted as its distance from the mean, which may be much shorter.
constexpr const char* kTail = "pcie.read_latency_p99_ns";
constexpr const char* kMean = "pcie.read_latency_mean_ns";
constexpr double kTailReach = 100;
/// Largest (p99 - mean) / mean of the search, just below what the distribution allows.
const double kLongestTail = 0.999 * kExponentialTail;
/// Of the scatter of a curve before it is known.
constexpr double kExpectedRate = 0.05;
constexpr double kExpectedLatency = 0.03;
constexpr double kExpectedTail = 0.10;
constexpr std::size_t kKinds = 4;
constexpr FileKind kFittedFile{"a fitted scenario", "# Fitted by mrcsim fit"};

struct FitOptions {
  std::vector<std::string> files;
  std::string scenario;
  std::vector<std::string> assignments;
  std::vector<std::string> parameters;
  std::uint32_t bytes = 64;
  std::uint32_t transfers = 4000;
  double confidence = 0.9;
  std::string out;
  std::string format = "table";
};

/// What the curves are of.
struct Seen {
  bool reads = false;
  bool read_rates = false;
  bool read_tails = false;
  bool write_times = false;
  bool write_rates = false;
  bool cold = false;
  bool remote = false;
  bool peer = false;
  bool perftest = false;
};

Seen seen_in(const MeasuredCurves& curves) {
  Seen seen;
  for (const MeasuredValue& v : curves.values) {
    if (v.kind == CurveKind::write_latency) {
      seen.perftest = true;
      continue;
    }
    const PcieTest test = v.point.test;
    seen.reads |= test != PcieTest::write_latency && test != PcieTest::write_bandwidth;
    seen.read_rates |= test == PcieTest::read_bandwidth || test == PcieTest::mixed_bandwidth;
    seen.read_tails |= test == PcieTest::read_latency && (v.kind == CurveKind::tail || v.share > 0.5);
    seen.write_times |= test == PcieTest::write_latency || test == PcieTest::write_read_latency;
    seen.write_rates |= test == PcieTest::write_bandwidth || test == PcieTest::mixed_bandwidth;
    seen.cold |= v.place.cache == CacheState::cold;
    seen.remote |= v.place.remote_share > 0.0;
    seen.peer |= v.point.peer_memory;
  }
  return seen;
}

/// What such curves may depend on, of what the scenario has switched on.
std::vector<std::string> candidates(const Seen& seen, const HostConfig& host) {
  std::vector<std::string> keys;
  const auto add = [&keys](bool wanted, std::initializer_list<const char*> names) {
    if (wanted) keys.insert(keys.end(), names.begin(), names.end());
  };
  add(seen.reads || seen.perftest, {"pcie.read_latency_mean_ns"});
  add(seen.read_tails, {"pcie.read_latency_p99_ns"});
  add(seen.write_times || seen.perftest, {"pcie.write_latency_ns"});
  add(seen.read_rates, {"pcie.read_tags", "pcie.completion_buffer_bytes"});
  add(seen.write_rates, {"pcie.posted_header_credits"});
  add(host.cache.bytes > 0 && seen.cold, {"host.cache.miss_ns"});
  add(host.memory.refresh_ns > 0 && seen.read_tails, {"host.memory.refresh_ns"});
  add(host.memory.gbps > 0, {"host.memory.gbps"});
  add(host.iommu.iotlb_entries > 0, {"host.iommu.iotlb_entries", "host.iommu.walkers", "host.iommu.walk_ns"});
  add(seen.remote || host.numa.remote_share > 0, {"host.numa.remote_ns"});
  add(host.numa.link_gbps > 0 && seen.remote, {"host.numa.link_gbps"});
  add(seen.peer, {"host.peer.read_ns"});
  add(host.root_complex.outstanding_reads > 0, {"host.root_complex.outstanding_reads"});
  add(seen.perftest, {"host.post_ns", "host.doorbell_ns", "host.poll_ns", "host.residual_ns"});
  return keys;
}

double number_in(const Parameter& parameter, const ScenarioConfig& scenario) {
  const ParameterValue value = parameter.get(scenario, scenario.node_default);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  throw ParameterError("--parameters " + parameter.name, "is not a number; allowed: parameters that are numbers");
}

FitParameter to_fit(const std::string& key, const ScenarioConfig& scenario) {
  const Parameter* parameter = find_parameter(key);
  if (parameter == nullptr) {
    throw ParameterError("--parameters " + key, "is not a parameter; nearest: " + nearest_parameter(key));
  }
  if (!parameter->words.empty()) {
    throw ParameterError("--parameters " + key, "has a list of values; allowed: parameters with a range");
  }
  FitParameter p{.name = key, .start = number_in(*parameter, scenario)};
  if (key == kTail) {
    // Between the mean and what the distribution can have.
    const double mean = scenario.node_default.pcie.read_latency_mean_ns;
    p.start = std::max(p.start - mean, 0.01 * mean);
    p.low = p.start / kTailReach;
    p.high = std::max(kLongestTail * mean, 2 * p.start);
    return p;
  }
  if (!(p.start > 0)) {
    throw ParameterError("--parameters " + key, "is 0 in the scenario, which is off; --set gives it a start above 0");
  }
  p.whole = parameter->type == ParameterType::integer;
  p.low = std::max(p.start / kReach, p.whole ? std::max(1.0, parameter->minimum) : parameter->minimum);
  p.high = std::min(p.start * kReach, parameter->maximum);
  return p;
}

/// The scenario with the parameters set.
ScenarioConfig with(const ScenarioConfig& scenario, const std::vector<FitParameter>& parameters,
                    const std::vector<double>& values) {
  ScenarioConfig changed = scenario;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = *find_parameter(parameters[i].name);
    if (p.name == kTail) continue;
    if (p.type == ParameterType::integer) {
      p.set(changed, changed.node_default, static_cast<std::int64_t>(std::llround(values[i])));
    } else {
      p.set(changed, changed.node_default, values[i]);
    }
  }
  // The tail follows the mean. Where nobody fits it, it keeps its distance.
  PcieConfig& pcie = changed.node_default.pcie;
  double tail = scenario.node_default.pcie.read_latency_p99_ns - scenario.node_default.pcie.read_latency_mean_ns;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == kTail) tail = values[i];
  }
  if (pcie.read_times == nullptr) {
    pcie.read_latency_p99_ns = pcie.read_latency_mean_ns + std::min(tail, kLongestTail * pcie.read_latency_mean_ns);
  }
  changed.node_override.clear();
  return changed;
}

bool is_possible(const ScenarioConfig& scenario) {
  try {
    check_scenario(scenario, "fit");
    return true;
  } catch (const ParameterError&) {
    return false;
  }
}

class FitRun {
 public:
  explicit FitRun(const FitOptions& options) : options_(options) {
    // Curves of a host alone need no traffic.
    ScenarioOverrides overrides{{"traffic.trace=none"}, {}};
    overrides.assignments.insert(overrides.assignments.end(), options.assignments.begin(), options.assignments.end());
    scenario_ = options.scenario.empty() ? make_scenario(overrides) : load_scenario(options.scenario, overrides);
    for (const std::string& file : options.files) read_measured(file, options.bytes, curves_);
    if (curves_.values.empty()) throw ParameterError(options.files.front(), "has no value that can be fitted");
    check_curves();
    const std::vector<std::string> keys =
        options.parameters.empty() ? candidates(seen_in(curves_), scenario_.node_default.host) : options.parameters;
    for (const std::string& key : keys) parameters_.push_back(to_fit(key, scenario_));
  }

  void run() {
    if (!options_.out.empty()) check_writable(options_.out, kFittedFile);
    std::vector<FitValue> values;
    for (const MeasuredValue& v : curves_.values) {
      const double scatter = v.kind == CurveKind::rate   ? kExpectedRate
                             : v.kind == CurveKind::tail ? kExpectedTail
                                                         : kExpectedLatency;
      values.push_back({v.value, static_cast<std::size_t>(v.kind), scatter});
    }
    {
      ProgressLine progress(options_.format == "table");
      std::size_t tried = 0;
      const FitModel model = [&](const std::vector<std::vector<double>>& settings) {
        tried += settings.size();
        progress.update(static_cast<double>(tried) / static_cast<double>(tried + 200),
                        fmt::format("{} settings tried", tried));
        return modelled(settings);
      };
      result_ = fit_parameters(parameters_, values, model, options_.confidence);
    }
    add_mean_to_tail();
    if (options_.format == "json") {
      print_json();
    } else {
      print_table();
    }
    if (!options_.out.empty()) write_scenario();
  }

 private:
  /// For each transfer of the curves.
  bool has_room(const ScenarioConfig& scenario) const {
    return std::all_of(curves_.values.begin(), curves_.values.end(), [&](const MeasuredValue& v) {
      return v.kind == CurveKind::write_latency || v.point.bytes <= scenario.node_default.pcie.completion_buffer_bytes;
    });
  }

  void check_curves() const {
    const HostConfig& host = scenario_.node_default.host;
    for (const MeasuredValue& v : curves_.values) {
      if (v.place.cache == CacheState::cold && host.cache.bytes == 0) {
        throw ParameterError("curves with a cold cache", "need a cache: host.cache.bytes is 0");
      }
      if (v.point.peer_memory && host.peer.read_ns == 0) {
        throw ParameterError("curves of an accelerator's memory", "need its latency: host.peer.read_ns is 0");
      }
      if (v.kind == CurveKind::write_latency) {
        require_latency_terms(scenario_, v.point.bytes, v.text);
      } else if (v.point.bytes > scenario_.node_default.pcie.completion_buffer_bytes) {
        throw ParameterError(v.text, "does not fit pcie.completion_buffer_bytes");
      }
    }
  }

  void add_mean_to_tail() {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].name != kTail) continue;
      const double start = scenario_.node_default.pcie.read_latency_mean_ns;
      FittedParameter mean;
      mean.value = mean.low = mean.high = start;
      for (std::size_t j = 0; j < parameters_.size(); ++j) {
        if (parameters_[j].name == kMean) mean = result_.parameters[j];
      }
      FittedParameter& tail = result_.parameters[i];
      const double below = std::hypot(tail.value - tail.low, mean.value - mean.low);
      const double above = std::hypot(tail.high - tail.value, mean.high - mean.value);
      parameters_[i].start += start;
      tail.value += mean.value;
      tail.low = std::max(mean.low, tail.value - below);
      tail.high = tail.value + above;
    }
  }

  std::vector<std::vector<double>> modelled(const std::vector<std::vector<double>>& settings) const {
    std::vector<ScenarioConfig> possible;
    std::vector<std::size_t> where;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      ScenarioConfig scenario = with(scenario_, parameters_, settings[i]);
      if (!is_possible(scenario) || !has_room(scenario)) continue;
      possible.push_back(std::move(scenario));
      where.push_back(i);
    }
    std::vector<std::vector<double>> all(settings.size());
    if (possible.empty()) return all;
    std::vector<std::vector<double>> values = values_of_model(curves_.values, possible, options_.transfers);
    for (std::size_t i = 0; i < where.size(); ++i) all[where[i]] = std::move(values[i]);
    return all;
  }

  std::string names_of(const std::vector<std::size_t>& indices) const {
    std::vector<std::string> names;
    for (const std::size_t i : indices) names.push_back(parameters_[i].name);
    return fmt::format("{}", fmt::join(names, ", "));
  }
  /// The fitted value is at a limit of its search range.
  bool is_at_end(std::size_t i) const {
    const FitParameter& searched = parameters_[i];
    const double value = result_.parameters[i].value;
    return searched.name != kTail && (value <= 1.001 * searched.low || value >= 0.999 * searched.high);
  }
  std::string determined_text(std::size_t i) const {
    const FittedParameter& p = result_.parameters[i];
    const std::string moved =
        fmt::format("a change of 10 % changes {} by {:.2g} %", curves_.values[p.most_moved].text, 100 * p.effect);
    if (p.determined && is_at_end(i)) return moved + "; at the limit of the search: choose a start beyond it";
    if (p.determined) return p.with.empty() ? moved : moved + "; together with " + names_of(p.with);
    if (100 * p.effect < 0.05) return "not determined: no value depends on it";
    if (!p.with.empty()) return "not distinguishable from " + names_of(p.with);
    return "not determined: " + moved;
  }
  static std::string number(double value) {
    return value == std::round(value) && value < 1e9 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
  }
  void print_table() const {
    fmt::print("{:<36} {:>10} {:>10} {:>22}  {}\n", "parameter", "start", "fitted",
               fmt::format("{:g} % interval", 100 * options_.confidence), "determined by");
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const FittedParameter& p = result_.parameters[i];
      fmt::print("{:<36} {:>10} {:>10} {:>22}  {}\n", parameters_[i].name, number(parameters_[i].start),
                 p.determined ? number(p.value) : "-", fmt::format("{} … {}", number(p.low), number(p.high)),
                 determined_text(i));
    }
    static constexpr const char* kinds[kKinds] = {"rates", "latencies", "tails", "write latencies"};
    fmt::print("\n{} values, {} settings tried; deviation of the fitted model:", curves_.values.size(),
               result_.settings_tried);
    for (std::size_t g = 0; g < result_.group_scatter.size(); ++g) {
      if (result_.group_scatter[g] > 0) fmt::print(" {} {:.1f} %", kinds[g], 100 * result_.group_scatter[g]);
    }
    fmt::print("\nlargest deviations:\n");
    for (const std::size_t i : by_deviation()) {
      fmt::print("  {:<60} {:>10.5g} measured {:>10.5g} fitted {:>+7.1f} %\n", curves_.values[i].text,
                 curves_.values[i].value, result_.modelled[i], 100 * deviation(i));
    }
    for (const std::string& what : curves_.left_out) fmt::print("not used: {}\n", what);
  }
  double deviation(std::size_t i) const { return result_.modelled[i] / curves_.values[i].value - 1; }
  std::vector<std::size_t> by_deviation() const {
    std::vector<std::size_t> order(curves_.values.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t a, std::size_t b) { return std::abs(deviation(a)) > std::abs(deviation(b)); });
    order.resize(std::min<std::size_t>(order.size(), 3));
    return order;
  }
  void print_json() const {
    Json all{{"scenario", options_.scenario},
             {"confidence", options_.confidence},
             {"parameters", Json::array()},
             {"values", Json::array()},
             {"not_used", curves_.left_out}};
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const FittedParameter& p = result_.parameters[i];
      Json with = Json::array();
      for (const std::size_t other : p.with) with.push_back(parameters_[other].name);
      all["parameters"].push_back({{"name", parameters_[i].name},
                                   {"start", parameters_[i].start},
                                   {"value", p.value},
                                   {"low", p.low},
                                   {"high", p.high},
                                   {"determined", p.determined},
                                   {"effect_of_10_percent", p.effect},
                                   {"most_moved", curves_.values[p.most_moved].text},
                                   {"together_with", with}});
    }
    for (std::size_t i = 0; i < curves_.values.size(); ++i) {
      all["values"].push_back(
          {{"what", curves_.values[i].text}, {"measured", curves_.values[i].value}, {"fitted", result_.modelled[i]}});
    }
    fmt::print("{}\n", all.dump(2));
  }
  /// What is determined, as a scenario; what is not, as a comment.
  void write_scenario() const {
    std::map<std::string, std::vector<std::string>> sections;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const FittedParameter& p = result_.parameters[i];
      const std::size_t dot = parameters_[i].name.rfind('.');
      const bool whole = parameters_[i].whole;
      const std::string value = whole ? fmt::format("{:.0f}", p.value) : fmt::format("{:.6g}", p.value);
      sections[parameters_[i].name.substr(0, dot)].push_back(fmt::format(
          "{}{} = {}  # {} … {}", p.determined ? "" : "# not determined: ", parameters_[i].name.substr(dot + 1),
          whole || value.find_first_of(".e") != std::string::npos ? value : value + ".0", number(p.low),
          number(p.high)));
    }
    std::string text = fmt::format("# Fitted by mrcsim fit to {}; intervals of {:g} %.\n",
                                   fmt::join(options_.files, ", "), 100 * options_.confidence);
    for (const auto& [section, lines] : sections) {
      text += fmt::format("\n[{}]\n{}\n", section, fmt::join(lines, "\n"));
    }
    write_whole_file(options_.out, text, kFittedFile);
  }

  const FitOptions& options_;
  ScenarioConfig scenario_;
  MeasuredCurves curves_;
  std::vector<FitParameter> parameters_;
  FitResult result_;
};

}  // namespace

void add_fit_command(CLI::App& app) {
  auto options = std::make_shared<FitOptions>();
  CLI::App* command = app.add_subcommand("fit", "Fit parameters of a host, with intervals, to measured curves");
  command
      ->add_option("FILE", options->files,
                   "measured curves: a table like that of mrcsim pcie --format csv, files of pcie-bench, a histogram "
                   "of read latencies (ns,count), output of ib_write_lat")
      ->required()
      ->expected(1, -1);
  command->add_option("--scenario", options->scenario,
                      "where the fit starts, and what it keeps; default: the defaults");
  command->add_option("--set", options->assignments, "key=value; wins over the file, may be repeated")
      ->take_all()
      ->expected(1, -1);
  command
      ->add_option("--parameters", options->parameters,
                   "what is fitted, separated by commas; default: what the curves may depend on")
      ->delimiter(',')
      ->expected(1, -1);
  command->add_option("--bytes", options->bytes, "size of the reads in a histogram; default: 64")
      ->check(allow_number("1 … 65535", [](double value) { return value >= 1 && value <= 65'535; }));
  command->add_option("--transfers", options->transfers, "transfers of the model per point; default: 4000")
      ->check(allow_number("100 … 1000000", [](double value) { return value >= 100 && value <= 1e6; }));
  command->add_option("--confidence", options->confidence, "of the intervals; default: 0.9")
      ->check(allow_number("0.5 … 0.999", [](double value) { return value >= 0.5 && value <= 0.999; }));
  command->add_option("--out", options->out, "writes what is determined as a scenario file");
  command->add_option("--format", options->format, "table or json")->check(CLI::IsMember({"table", "json"}));
  command->callback([options] { FitRun(*options).run(); });
}

}  // namespace mrc
