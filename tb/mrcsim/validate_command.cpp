#include "mrcsim/validate_command.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "mrcsim/command_line.h"
#include "mrcsim/exit_code.h"
#include "mrcsim/experiment.h"
#include "mrcsim/experiment_plot.h"
#include "mrcsim/progress.h"
#include "parameters/registry.h"
#include "results/output_directory.h"
#include "results/output_file.h"
#include "study/interruption.h"
#include "study/local_pool.h"
#include "study/study_error.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

struct ValidateOptions {
  std::string experiments = "tb/validation";
  std::string only;
  std::string out;  ///< empty: validation.md in `work`
  std::string work = "out/validation";
  std::uint32_t jobs = 0;
  bool quick = false;
  bool strict = false;
  bool quiet = false;
};

constexpr int kExitDisagrees = 1;
constexpr const char* kHeader =
    "| # | experiment | source | published | capacity alone | simulated | difference | verdict | most sensitive to |\n"
    "|---|---|---|---|---|---|---|---|---|\n";
/// Begins the header of every table that this command writes, whatever its further columns.
constexpr const char* kTableMark = "| # |";
/// What follows the table is written with it.
constexpr const char* kWrittenMark = "<!-- written by mrcsim validate, up to the end mark -->";
constexpr const char* kEndMark = "<!-- end -->";
constexpr const char* kAgrees = "agrees";
constexpr const char* kCapacityAgrees = "agrees, as capacity alone does";
constexpr const char* kDisagrees = "disagrees";
constexpr const char* kOpen = "open";
constexpr const char* kIntroduction =
    "# Published experiments\n\n"
    "`mrcsim validate --out docs/validation.md` writes the rows of the table and keeps the rest of this file. All runs "
    "share "
    "`tb/validation/base.toml` and differ in topology, traffic and faults; no parameter is fitted to a single "
    "experiment. A row marked `calibrated` was used to set a parameter; all others are predictions. A result agrees if "
    "it is within 10 % of the published number, or has the published direction. A published number that a hash decides "
    "is one draw: it agrees if it lies in the middle half of the seeds. If the publication has only words "
    "(such as: almost no effect), the limit that represents them is in the file of the experiment. A row for which a "
    "public fact is missing is `open` instead of `disagrees`.\n\n"
    "The column `capacity alone` is what arithmetic with the rates of links predicts: links that are left times their "
    "rate. Where it is already right, agreement says nothing about the model; where it is wrong or says nothing (-), "
    "the model has predicted the result.\n\n";

struct Row {
  std::string text;  ///< of the table
  bool ran = true;
  bool agrees = true;
  bool open = false;  ///< it does not agree, for want of a public fact
};

std::vector<Experiment> chosen(const std::vector<Experiment>& all, const ValidateOptions& options) {
  std::set<std::string> wanted;
  std::vector<std::string> ids;
  for (const Experiment& e : all) ids.push_back(e.id);
  std::istringstream names(options.only);
  for (std::string name; std::getline(names, name, ',');) {
    if (std::find(ids.begin(), ids.end(), name) == ids.end()) {
      throw ParameterError("--only " + options.only,
                           fmt::format("unknown experiment {}; nearest: {}", name, nearest(name, ids)));
    }
    wanted.insert(name);
  }
  std::vector<Experiment> list;
  for (const Experiment& e : all) {
    if (wanted.empty() ? !options.quick || e.quick : wanted.contains(e.id)) list.push_back(e);
  }
  return list;
}

/// Runs jobs as processes; the error of each, empty where it went well.
std::vector<std::string> execute(const std::vector<RunJob>& jobs, const ValidateOptions& options,
                                 ProgressLine& progress) {
  std::vector<std::string> errors(jobs.size());
  std::size_t done = 0;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  LocalPool pool(options.jobs > 0 ? options.jobs : cores, run_command_line);
  pool.execute(jobs, {.done =
                          [&](std::size_t job, RunOutcome&& outcome) {
                            ++done;
                            if (outcome.exit_code != 0) {
                              errors[job] = outcome.error.empty() ? fmt::format("exit code {}", outcome.exit_code)
                                                                  : outcome.error;
                            }
                          },
                      .tick =
                          [&](std::size_t running) {
                            progress.update(static_cast<double>(done) / static_cast<double>(jobs.size()),
                                            fmt::format("{} of {} runs done, {} running", done, jobs.size(), running));
                          }});
  check_interruption();
  return errors;
}

/// Traces that a case of this name left earlier, which `mrcsim trace generate` would not replace.
void remove_traces(const fs::path& work, const std::string& name) {
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(work)) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with(name + ".") && file.ends_with(".et")) old.push_back(entry.path());
  }
  for (const fs::path& path : old) fs::remove(path);
}

/// Errors by run_name().
std::map<std::string, std::string> run_cases(const std::vector<Experiment>& list, const ValidateOptions& options) {
  const fs::path work = fs::absolute(options.work);
  ProgressLine progress(!options.quiet);
  std::vector<RunJob> traces;
  std::vector<RunJob> runs;
  for (const Experiment& e : list) {
    for (const ExperimentCase& run : e.cases) {
      const std::string name = fmt::format("{}.{}", e.id, run.name);
      std::string trace;
      if (!run.generate.empty()) {
        trace = (work / (name + ".{rank}.et")).string();
        remove_traces(work, name);
        RunJob job{.digest = {}, .arguments = {"trace", "generate"}, .folder = work / (name + ".trace")};
        job.arguments.insert(job.arguments.end(), run.generate.begin(), run.generate.end());
        job.arguments.insert(job.arguments.end(), {"--out", trace});
        traces.push_back(std::move(job));
      }
      const fs::path scenario = write_case(e, run, fs::path(options.experiments) / "base.toml", work, trace);
      for (std::uint32_t seed = 1; seed <= e.seeds; ++seed) {
        const fs::path results = work / run_name(e, run.name, seed);
        RunJob job{.digest = {}, .arguments = {"run", scenario.string(), "--quiet", "--yes"}, .folder = results};
        job.arguments.insert(job.arguments.end(), {"--out", results.string()});
        if (seed > 1) job.arguments.insert(job.arguments.end(), {"--set", fmt::format("seed={}", seed)});
        runs.push_back(std::move(job));
      }
    }
  }
  catch_interruption();
  std::vector<std::string> without_trace = execute(traces, options, progress);
  std::erase(without_trace, "");
  if (!without_trace.empty()) throw ParameterError("mrcsim trace generate", without_trace.front());
  const std::vector<std::string> errors = execute(runs, options, progress);
  progress.finish();
  std::map<std::string, std::string> failed;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!errors[i].empty()) failed[runs[i].folder.filename().string()] = errors[i];
  }
  return failed;
}

std::string number(double value) {
  return std::abs(value) < 10 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value);
}

/// The mean, and the range over the seeds where there are several.
std::string value_text(const Experiment& e, const CheckValue& value) {
  if (e.seeds == 1) return number(value.mean);
  return fmt::format("{} ({} … {})", number(value.mean), number(value.least), number(value.most));
}

std::string difference_text(const ExperimentCheck& check, const CheckValue& value, const std::string& wanted) {
  if (check.draw) {
    const auto [low, high] = middle_half(value);
    return fmt::format("{} is {} the middle half of the seeds, {} … {}", number(*check.published),
                       agrees(check, value) ? "in" : "outside", number(low), number(high));
  }
  if (check.published) return fmt::format("{:+.1f} %", 100.0 * (value.mean / *check.published - 1.0));
  if (wanted.empty()) return "no limit";
  return fmt::format("{}: {}", agrees(check, value) ? "holds" : "does not hold", wanted);
}

std::string wanted_text(const ExperimentCheck& check) {
  std::vector<std::string> parts;
  if (check.published) parts.push_back(number(*check.published));
  if (check.at_least) parts.push_back("at least " + number(*check.at_least));
  if (check.at_most) parts.push_back("at most " + number(*check.at_most));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string cells(const Experiment& e, const std::string& capacity, const std::string& ours,
                  const std::string& difference, const std::string& verdict) {
  std::string title = e.scaled.empty() ? e.title : fmt::format("{}<br>*scaled: {}*", e.title, e.scaled);
  if (e.seeds > 1) title += fmt::format("<br>{} seeds: mean (least … most)", e.seeds);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |", e.id, title, e.source, e.published, capacity,
                     ours, difference, verdict, e.depends_on);
}

/// Arithmetic with the links' rates gives all that is published.
bool capacity_agrees(const Experiment& e) {
  return std::all_of(e.checks.begin(), e.checks.end(),
                     [](const ExperimentCheck& check) { return check.capacity && agrees(check, *check.capacity); });
}

std::string capacity_text(const Experiment& e) {
  std::vector<std::string> parts;
  for (const ExperimentCheck& check : e.checks) {
    parts.push_back(check.capacity ? number(*check.capacity) + (agrees(check, *check.capacity) ? "" : " (no)") : "-");
  }
  return fmt::format("{}", fmt::join(parts, "<br>"));
}

std::string verdict_of(const Experiment& e, bool good) {
  if (e.calibrated) return good ? "calibrated" : "calibrated, disagrees";
  if (good) return capacity_agrees(e) ? kCapacityAgrees : kAgrees;
  return e.open.empty() ? kDisagrees : fmt::format("{}: {}", kOpen, e.open);
}

Row row_of(const Experiment& e, const std::map<std::string, std::string>& failed, const fs::path& work) {
  if (!e.not_run.empty()) return {cells(e, "", e.not_run, "", "not run")};
  for (const ExperimentCase& run : e.cases) {
    for (std::uint32_t seed = 1; seed <= e.seeds; ++seed) {
      const auto error = failed.find(run_name(e, run.name, seed));
      if (error == failed.end()) continue;
      return {cells(e, "", fmt::format("{}: {}", error->first, error->second), "", "did not run"), false, false};
    }
  }
  Row row;
  std::vector<std::string> ours;
  std::vector<std::string> differences;
  for (const ExperimentCheck& check : e.checks) {
    const CheckValue value = value_of(check, e, work);
    const bool good = agrees(check, value);
    row.agrees = row.agrees && good;
    ours.push_back(fmt::format("{}: {}{}{}{}", check.what, value_text(e, value), check.unit.empty() ? "" : " ",
                               check.unit, good ? "" : " **(no)**"));
    differences.push_back(difference_text(check, value, wanted_text(check)));
  }
  row.text = cells(e, capacity_text(e), fmt::format("{}", fmt::join(ours, "<br>")),
                   fmt::format("{}", fmt::join(differences, "<br>")), verdict_of(e, row.agrees));
  row.open = !row.agrees && !e.open.empty();
  return row;
}

/// The rows of `path`, and the text before and after its table.
struct Document {
  std::string before = kIntroduction;
  std::string after;
  std::map<std::string, std::string> rows;
};

Document read_document(const fs::path& path) {
  Document document;
  std::ifstream in(path);
  if (!in) return document;
  document.before.clear();
  bool after = false;
  bool written = false;
  for (std::string line; std::getline(in, line);) {
    if (line == kWrittenMark) written = true;
    if (written) {
      written = line != kEndMark;
      continue;
    }
    const bool row = line.starts_with("| ") && line.find(" | ") != std::string::npos;
    if (row || line.starts_with("|---")) {
      after = true;
      if (row) document.rows[line.substr(2, line.find(" | ") - 2)] = line;
      continue;
    }
    (after ? document.after : document.before) += line + "\n";
  }
  return document;
}

void make_work_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw OutputError(fmt::format("--work {}: {}", path, error.message()));
}

/// A document that is there must have a table of ours: its other text is kept, its rows are replaced.
void require_own_document(const fs::path& path) {
  check_writable(path.string(), kInOwnFolder);
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.empty() || text.find(kTableMark) != std::string::npos) return;
  throw OutputError(path.string() + ": exists and has no table that mrcsim validate wrote; choose another name");
}

/// Pictures are in a folder beside the document that has its name.
fs::path plot_path(const fs::path& document, const Experiment& e, std::size_t plot) {
  const std::string name = plot == 0 ? e.id + ".svg" : fmt::format("{}-{}.svg", e.id, plot + 1);
  return document.parent_path() / document.stem() / name;
}

void write_plots(const fs::path& document, const Experiment& e, const fs::path& work) {
  for (std::size_t i = 0; i < e.plots.size(); ++i) {
    const ExperimentPlot& plot = e.plots[i];
    PlotPicture picture{.title = plot.title, .x = plot.x, .y = plot.y, .sizes = plot.sizes, .lines = {}};
    for (const PlotLine& line : plot.lines) {
      const bool runs = !line.points.empty() && !line.points[0].measure.of_case.empty();
      picture.lines.push_back({.name = line.name,
                               .points = points_of(line, e, work),
                               .dashed = !line.series && !runs,
                               .marks = !line.series && runs});
    }
    const fs::path path = plot_path(document, e, i);
    fs::create_directories(path.parent_path());
    write_whole_file(path.string(), plot_svg(picture), kInOwnFolder);
  }
}

/// The count of rows, and the pictures that there are.
std::string after_table(const fs::path& path, const std::vector<Experiment>& all,
                        const std::vector<std::string>& rows) {
  const auto count = [&](const std::string& verdict) {
    return std::count_if(rows.begin(), rows.end(), [&](const std::string& row) {
      return row.find(" | " + verdict + " | ") != std::string::npos || row.find(" | " + verdict + ": ") != row.npos;
    });
  };
  std::string text = fmt::format(
      "{}\n\n{} rows agree and are predicted by the model, {} agree as capacity alone does, "
      "{} disagree, {} are open.\n",
      kWrittenMark, count(kAgrees), count(kCapacityAgrees), count(kDisagrees), count(kOpen));
  for (const Experiment& e : all) {
    for (std::size_t i = 0; i < e.plots.size(); ++i) {
      const fs::path plot = plot_path(path, e, i);
      if (!fs::exists(plot)) continue;
      text += fmt::format("\n**{}** {}. Published: {}.\n\n![{}]({}/{})\n", e.id, e.title, e.published, e.plots[i].title,
                          plot.parent_path().filename().string(), plot.filename().string());
    }
  }
  return text + "\n" + kEndMark + "\n";
}

void write_document(const fs::path& path, const std::vector<Experiment>& all, const Document& document) {
  std::string text = document.before + kHeader;
  std::vector<std::string> rows;
  for (const Experiment& e : all) {
    const auto row = document.rows.find(e.id);
    rows.push_back(row == document.rows.end() ? cells(e, "", "not yet run", "", "not run") : row->second);
    text += rows.back() + "\n";
  }
  text += "\n" + after_table(path, all, rows);
  const std::size_t kept = document.after.find_first_not_of('\n');
  if (kept != std::string::npos) text += "\n" + document.after.substr(kept);
  write_whole_file(path.string(), text, kInOwnFolder);
}

nlohmann::ordered_json checks_json(const Experiment& e, const fs::path& work) {
  nlohmann::ordered_json checks = nlohmann::ordered_json::array();
  for (const ExperimentCheck& check : e.checks) {
    const CheckValue value = value_of(check, e, work);
    checks.push_back(
        {{"what", check.what}, {"unit", check.unit}, {"values", value.seeds}, {"agrees", agrees(check, value)}});
  }
  return {{"id", e.id}, {"title", e.title}, {"checks", checks}};
}

int validate(const ValidateOptions& options) {
  const std::vector<Experiment> all = load_experiments(options.experiments);
  const std::vector<Experiment> list = chosen(all, options);
  make_work_folder(options.work);
  require_own_document(options.out);
  const std::map<std::string, std::string> failed = run_cases(list, options);
  Document document = read_document(options.out);
  std::size_t agreeing = 0;
  std::size_t compared = 0;
  int code = kExitOk;
  nlohmann::ordered_json values = nlohmann::ordered_json::array();
  for (const Experiment& e : list) {
    const Row row = row_of(e, failed, options.work);
    document.rows[e.id] = row.text;
    if (row.ran && e.not_run.empty()) write_plots(options.out, e, options.work);
    if (!row.ran) code = kExitBug;
    if (!e.not_run.empty() || !row.ran) {
      if (!options.quiet)
        fmt::print("{:<4} {}\n", e.id, row.ran ? "not run: " + e.not_run : "did not run: " + row.text);
      continue;
    }
    ++compared;
    values.push_back(checks_json(e, options.work));
    if (row.agrees) ++agreeing;
    if (!row.agrees && !row.open && options.strict && code == kExitOk) code = kExitDisagrees;
    if (!options.quiet)
      fmt::print("{:<4} {:<9} {}\n", e.id, row.agrees ? "agrees" : row.open ? "open" : "disagrees", e.title);
    for (const ExperimentCheck& check : e.checks) {
      if (options.quiet) break;
      const CheckValue value = value_of(check, e, options.work);
      const std::string wanted = wanted_text(check);
      fmt::print("       {:<52} {:>9} {:<5} {}{}\n", check.what, value_text(e, value), check.unit,
                 wanted.empty() ? "no limit" : "published " + wanted, agrees(check, value) ? "" : "  (no)");
    }
  }
  write_document(options.out, all, document);
  write_whole_file((fs::path(options.work) / "values.json").string(), values.dump(2) + "\n", kInOwnFolder);
  if (!options.quiet) fmt::print("{} of {} agree; {}\n", agreeing, compared, options.out);
  return code;
}

}  // namespace

void add_validate_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* command = app.add_subcommand("validate", "Run published experiments and compare the results");
  command->add_flag("--quick", options->quick, "only experiments that take seconds");
  command->add_option("--only", options->only, "selected experiments, such as E2,E9");
  command->add_flag("--strict", options->strict, "exit code 1 if an experiment disagrees");
  command->add_option("--out", options->out,
                      "document with the table; its rows are replaced; default: validation.md in --work");
  command->add_option("--experiments", options->experiments, "folder with the experiments; default: tb/validation");
  command->add_option(
      "--work", options->work,
      "folder for scenarios, results, and values.json with the numbers of each seed; default: out/validation");
  command->add_option("-j,--jobs", options->jobs, "runs at a time; default: one per core")->check(CLI::Range(1, 1000));
  command->add_flag("--quiet", options->quiet, "no table, no progress");
  command->callback([options, &exit_code] {
    if (options->out.empty()) options->out = options->work + "/validation.md";
    try {
      exit_code = validate(*options);
    } catch (const StudyInterrupted&) {
      fmt::print(stderr, "\nmrcsim: interrupted; {} is as it was\n", options->out);
      exit_code = kExitInterrupted;
    }
  });
}

}  // namespace mrc
