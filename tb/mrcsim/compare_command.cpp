#include "mrcsim/compare_command.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "study/comparison.h"

namespace mrc {
namespace {

struct CompareOptions {
  std::vector<std::string> places;
  std::string format = "table";
  std::size_t rows = 15;
};

std::string number(double value) {
  if (value == std::round(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}", value, std::abs(value) < 1 ? 4 : 2);
}

std::string letter(std::size_t group) {
  return group < 26 ? std::string(1, static_cast<char>('A' + group)) : fmt::format("#{}", group + 1);
}

/// "+1.5 (+0.2 %)*" of each group but the first.
std::string difference(const Comparison& c, const ComparedMetric& metric, std::size_t group) {
  const double change = metric.mean[group] - metric.mean.front();
  if (change == 0) return "=";
  const std::string share =
      metric.mean.front() != 0 ? fmt::format(" ({:+.1f} %)", 100 * change / metric.mean.front()) : "";
  const char* noise = !c.noise_known ? "" : metric.beyond_noise[group] ? " *" : " ~";
  return fmt::format("{}{}{}{}", change > 0 ? "+" : "", number(change), share, noise);
}

void print_metrics(const Comparison& c, const std::vector<ComparedMetric>& metrics, const char* title,
                   std::size_t most) {
  if (metrics.empty()) return;
  fmt::print("\n{:<44} {:>14}", title, "A");
  for (std::size_t group = 1; group < c.names.size(); ++group)
    fmt::print(" {:>14} {:>24}", letter(group), letter(group) + " - A");
  fmt::print("\n");
  for (std::size_t i = 0; i < std::min(most, metrics.size()); ++i) {
    fmt::print("{:<44} {:>14}", metrics[i].name, number(metrics[i].mean.front()));
    for (std::size_t group = 1; group < c.names.size(); ++group)
      fmt::print(" {:>14} {:>24}", number(metrics[i].mean[group]), difference(c, metrics[i], group));
    fmt::print("\n");
  }
  if (metrics.size() > most) fmt::print("… {} smaller differences (--rows)\n", metrics.size() - most);
}

void print_table(const Comparison& c, std::size_t rows) {
  for (std::size_t group = 0; group < c.names.size(); ++group)
    fmt::print("{} = {} ({} seed{})\n", letter(group), c.names[group], c.seeds[group], c.seeds[group] == 1 ? "" : "s");
  fmt::print("{}\n", c.noise_known ? "* significant (Welch's t-test, 5 %), ~ within the noise of the seeds"
                                   : "one seed each: differences cannot be separated from noise");
  fmt::print("\n{:<44}", "parameters that differ");
  for (std::size_t group = 0; group < c.names.size(); ++group) fmt::print(" {:>14}", letter(group));
  fmt::print("\n");
  if (c.parameters.empty()) fmt::print("none\n");
  for (const auto& [name, values] : c.parameters) {
    fmt::print("{:<44}", name);
    for (const std::string& value : values) fmt::print(" {:>14}", value);
    fmt::print("\n");
  }
  print_metrics(c, c.metrics, "metric", c.metrics.size());
  print_metrics(c, c.limits, "lost line rate by cause, Gb/s", rows);
  print_metrics(c, c.ledger, "ledger, share of time", rows);
  print_metrics(c, c.sram, "SRAM, bits", c.sram.size());
}

void print_json(const Comparison& c) {
  nlohmann::ordered_json json{
      {"groups", nlohmann::ordered_json::array()}, {"noise_known", c.noise_known}, {"parameters", c.parameters}};
  for (std::size_t group = 0; group < c.names.size(); ++group)
    json["groups"].push_back({{"name", c.names[group]}, {"seeds", c.seeds[group]}});
  const auto add = [&](const char* key, const std::vector<ComparedMetric>& metrics) {
    json[key] = nlohmann::ordered_json::array();
    for (const ComparedMetric& metric : metrics)
      json[key].push_back({{"name", metric.name}, {"mean", metric.mean}, {"beyond_noise", metric.beyond_noise}});
  };
  add("metrics", c.metrics);
  add("limits", c.limits);
  add("ledger", c.ledger);
  add("sram", c.sram);
  fmt::print("{}\n", json.dump(2));
}

void run(const CompareOptions& options) {
  std::vector<ResultGroup> groups;
  for (const std::string& place : options.places) groups.push_back(load_results(place));
  const Comparison comparison = compare(groups);
  if (options.format == "json") {
    print_json(comparison);
  } else {
    print_table(comparison, options.rows);
  }
}

}  // namespace

void add_compare_command(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand("compare", "Compare results: parameters, metrics, ledger");
  command
      ->add_option("RESULT", options->places,
                   "result.json, folder with one, folder of such folders (seeds), or DATABASE:STUDY.POINT; two or more")
      ->required()
      ->expected(2, -1);
  command->add_option("--format", options->format, "table or json")->check(CLI::IsMember({"table", "json"}));
  command->add_option("--rows", options->rows, "rows of limits and ledger, largest differences first; default: 15");
  command->callback([options] { run(*options); });
}

}  // namespace mrc
