#include "study/attack.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fabric/fault_timeline.h"
#include "fabric/topology.h"
#include "parameters/registry.h"
#include "study/axis.h"
#include "study/buffers.h"
#include "study/study_error.h"

namespace mrc {
namespace {

using Json = nlohmann::json;

/// Loss of a run that does not complete; as a number, so that it can be halved and compared.
constexpr double kEndless = 1000;
/// Of the budget; the rest is for the next smaller sizes.
constexpr double kSearchShare = 0.8;
/// A reduced case keeps this share of the loss beyond what the objective allows, so that it does not fail by a hair.
constexpr double kKeptExcess = 0.5;
/// How much full buffers, and what `limits` attributes to them, count beside the loss: they lead the search where
/// nothing is lost yet.
constexpr double kOccupancyWeight = 0.5;
constexpr double kChargedWeight = 0.5;
constexpr double kStalledHint = 2;
/// Of the cases that were looked at, every third is compared with unlimited buffers, every second where they look
/// dangerous.
constexpr std::size_t kComparedAtLeast = 3;
constexpr std::size_t kComparedInDanger = 2;
/// Of those that were only looked at, when there are no further ones.
constexpr std::size_t kComparedAtOnce = 16;
/// Loss allowed by an objective that names no share.
constexpr double kUsualAllowance = 0.01;
/// A size is found to this share of it.
constexpr std::int64_t kResolution = 16;
constexpr std::size_t kRemembered = 8;
constexpr int kMostIdle = 5;
/// Cases that are tried against each next smaller size.
constexpr std::size_t kSmallerCases = 6;

std::int64_t next_smaller(std::int64_t size) {
  return size - std::max<std::int64_t>(1, size / kResolution);
}

Settings settings_of(const BufferSizes& sizes) {
  Settings settings;
  for (const auto& [key, value] : sizes) settings.emplace_back(key, fmt::format("{}", value));
  return settings;
}

double mean_score(const Objective& objective, const std::vector<RunRecord>& runs,
                  const std::vector<RunRecord>& references) {
  double sum = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) sum += objective.score(runs[i], references[i]);
  return sum / static_cast<double>(runs.size());
}

bool relieves(const std::string& relief, const std::string& key) {
  return relief == key || (node_part(key).empty() && parameter_part(relief) == key);
}

/// Half of the 99th percentile and half of the mean, so that a buffer that is always full for a moment still shows how
/// often.
double filled_share(const Json& result, const std::string& key) {
  double share = 0;
  for (const Json& buffer : result.at("buffers")) {
    const auto capacity = buffer.at("capacity").get<double>();
    const auto node = buffer.at("node").get<std::string>();
    if (capacity <= 0 || !sizes_buffer(key, node, buffer.at("name").get<std::string>())) continue;
    const double filled = (buffer.at("p99").get<double>() + buffer.at("mean").get<double>()) / 2;
    share = std::max(share, std::min(1.0, filled / capacity));
  }
  return share;
}

/// Share of the goodput that `limits` attributes to the sized buffers.
double charged_share(const Json& result, const BufferSizes& sizes) {
  double gbps = 0;
  for (const Json& row : result.at("limits")) {
    const auto reliefs = row.at("relieved_by").get<std::vector<std::string>>();
    const bool is_sized = std::any_of(sizes.begin(), sizes.end(), [&](const auto& size) {
      return std::any_of(reliefs.begin(), reliefs.end(),
                         [&](const std::string& relief) { return relieves(relief, size.first); });
    });
    if (is_sized) gbps += row.at("gbps").get<double>();
  }
  return gbps / std::max(result.at("goodput_gbps").get<double>(), 1.0);
}

bool all_complete(const std::vector<RunRecord>& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const RunRecord& run) { return run.complete(); });
}

}  // namespace

AttackBudget parse_budget(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string unit(rest, end);
  if (error == std::errc() && std::isfinite(number) && number > 0) {
    if (unit == "s") return {.seconds = number};
    if (unit == "m") return {.seconds = 60 * number};
    if (unit == "h") return {.seconds = 3600 * number};
    if (unit == "runs" && number >= 1 && number <= kMostRunsOfAStudy) return {.runs = static_cast<std::size_t>(number)};
  }
  throw StudyError(fmt::format(
      "--budget {}: expected a time such as 90s, 30m or 2h, or a number of runs such as 400runs, at most {}", text,
      kMostRunsOfAStudy));
}

Attacker::Attacker(Campaign& campaign, const RunPlanner& planner, StudyDatabase& database, const Envelope& envelope,
                   AttackRequest request)
    : campaign_(campaign),
      planner_(planner),
      database_(database),
      envelope_(envelope),
      request_(std::move(request)),
      sizes_(request_.sizes),
      search_(envelope, planner.first_seed(), request_.guided,
              [this](const AttackPoint& point) { return allowed(point); }) {
  find_unlimited();
}

/// All at once; where the rules refuse that, one after the other as far as they allow beside the rest.
void Attacker::find_unlimited() {
  const auto accepted = [&](const BufferSizes& sizes) {
    try {
      planner_.scenario(settings_of(sizes));
      return true;
    } catch (const ParameterError&) {
      return false;
    }
  };
  planner_.scenario(settings_of(sizes_));
  unlimited_ = sizes_;
  for (auto& [key, value] : unlimited_) value = static_cast<std::int64_t>(find_parameter(parameter_part(key))->maximum);
  if (accepted(unlimited_)) return;
  const BufferSizes wanted = unlimited_;
  unlimited_ = sizes_;
  for (std::size_t i = 0; i < unlimited_.size(); ++i) {
    std::int64_t good = unlimited_[i].second;
    std::int64_t bad = wanted[i].second + 1;
    while (bad - good > 1) {
      unlimited_[i].second = good + (bad - good) / 2;
      (accepted(unlimited_) ? good : bad) = unlimited_[i].second;
    }
    unlimited_[i].second = good;
  }
}

RunSpec Attacker::spec(const AttackPoint& point, const BufferSizes& sizes, std::uint32_t nth_seed) const {
  AttackCase drawn = envelope_.draw(point);
  if (!drawn.flows.empty()) drawn.settings.emplace_back("traffic.trace", campaign_.keep_trace(drawn.flows));
  for (auto& size : settings_of(sizes)) drawn.settings.push_back(std::move(size));
  return planner_.spec(drawn.settings, drawn.seed + nth_seed);
}

bool Attacker::allowed(const AttackPoint& point) const {
  try {
    Settings settings = envelope_.draw(point).settings;
    for (auto& size : settings_of(sizes_)) settings.push_back(std::move(size));
    const ScenarioConfig scenario = planner_.scenario(settings);
    FaultTimeline(scenario, Topology(scenario));
    return true;
  } catch (const ParameterError&) {
    return false;
  }
}

std::vector<TriedCase> Attacker::evaluate(const std::vector<AttackPoint>& points, const BufferSizes& sizes) {
  std::vector<Wanted> wanted;
  for (const AttackPoint& point : points) wanted.push_back({point, sizes});
  return evaluate(wanted);
}

std::vector<TriedCase> Attacker::evaluate(const std::vector<Wanted>& wanted) {
  std::vector<RunSpec> specs;
  for (const Wanted& one : wanted) {
    for (const BufferSizes* sizes : {&one.sizes, static_cast<const BufferSizes*>(&unlimited_)}) {
      for (std::uint32_t seed = 0; seed < request_.seeds; ++seed) specs.push_back(spec(one.at, *sizes, seed));
    }
  }
  const std::vector<RunRecord> records = campaign_.run(specs);
  std::vector<TriedCase> tried;
  const std::size_t each = 2 * request_.seeds;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    for (std::size_t k = i * each; k < (i + 1) * each; ++k) count(specs[k], records[k]);
    const auto begin = records.begin() + static_cast<std::ptrdiff_t>(i * each);
    tried.push_back(judge(wanted[i], {begin, begin + static_cast<std::ptrdiff_t>(each)}));
    tried.back().after_runs = digests_.size();
  }
  return tried;
}

void Attacker::count(const RunSpec& spec, const RunRecord& record) {
  if (digests_.insert(spec.digest).second) all_runs_.emplace_back(spec.settings, record.id);
}

TriedCase Attacker::judge(const Wanted& wanted, const std::vector<RunRecord>& runs) const {
  const Objective& objective = request_.objective;
  const auto half = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  const std::vector<RunRecord> sized(runs.begin(), half);
  const std::vector<RunRecord> unlimited(half, runs.end());
  CaseHint hint = hint_of(sized.front());
  TriedCase tried{.at = wanted.at,
                  .hint = hint.danger(usual_),
                  .occupancy = std::move(hint.occupancy),
                  .sram_bits = sized.front().sram_bits};
  if (!all_complete(unlimited)) return tried;
  tried.score = mean_score(objective, sized, unlimited);
  tried.reference_score = mean_score(objective, unlimited, unlimited);
  // A run without a result was refused or crashed: the sizes have no part in it.
  const bool has_results =
      std::all_of(sized.begin(), sized.end(), [](const RunRecord& run) { return run.state == "done"; });
  tried.judged = has_results && objective.holds(tried.reference_score);
  if (!tried.judged) return tried;
  tried.broken = !all_complete(sized) || !objective.holds(tried.score);
  const double allowed = tried.reference_score - objective.threshold;
  const double lost = tried.reference_score - tried.score;
  tried.loss = !all_complete(sized) ? kEndless
               : allowed == 0       ? (tried.broken ? 2 : 0)
                                    : std::min(lost / allowed, kEndless);
  return tried;
}

double CaseHint::danger(const CaseHint& usual) const {
  if (!complete) return kStalledHint;
  double fuller = 0;
  for (std::size_t i = 0; i < std::min(occupancy.size(), usual.occupancy.size()); ++i)
    fuller = std::max(fuller, occupancy[i] - usual.occupancy[i]);
  return kOccupancyWeight * fuller + kChargedWeight * std::clamp(charged - usual.charged, 0.0, 1.0);
}

CaseHint Attacker::hint_of(const RunRecord& run) const {
  CaseHint hint{.occupancy = std::vector<double>(request_.sizes.size(), 0), .complete = run.complete()};
  const Json result = Json::parse(database_.result_json(run.id), nullptr, false);
  if (!result.is_object()) return hint;
  for (std::size_t i = 0; i < hint.occupancy.size(); ++i)
    hint.occupancy[i] = filled_share(result, request_.sizes[i].first);
  const Objective& objective = request_.objective;
  const double allowed = objective.relative ? std::abs(1 - objective.threshold) : kUsualAllowance;
  hint.charged = charged_share(result, request_.sizes) / std::max(allowed, kUsualAllowance / 10);
  return hint;
}

std::vector<KnownPoint> Attacker::known(const std::vector<TriedCase>& tried) {
  std::vector<KnownPoint> points;
  for (const TriedCase& one : tried) {
    if (one.judged) points.push_back({one.at, std::max(one.loss, 0.0) + one.hint, one.occupancy});
  }
  return points;
}

/// The runs with the sizes alone.
std::vector<CaseHint> Attacker::look_at(const std::vector<AttackPoint>& points) {
  std::vector<RunSpec> specs;
  for (const AttackPoint& point : points) specs.push_back(spec(point, sizes_, 0));
  const std::vector<RunRecord> records = campaign_.run(specs);
  std::vector<CaseHint> hints;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    count(specs[i], records[i]);
    hints.push_back(hint_of(records[i]));
  }
  return hints;
}

/// Looks at all points, and compares those that look worst with unlimited buffers. The search learns of all.
std::vector<TriedCase> Attacker::compare_most_dangerous(const std::vector<AttackPoint>& points) {
  const std::vector<CaseHint> hints = look_at(points);
  if (usual_.occupancy.empty()) usual_ = hints.front();
  std::vector<double> danger;
  for (const CaseHint& hint : hints) danger.push_back(hint.danger(usual_));
  std::vector<std::size_t> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return danger[a] > danger[b]; });
  const auto dangerous = static_cast<std::size_t>(
      std::count_if(danger.begin(), danger.end(), [](double one) { return one > CaseSearch::kSignal; }));
  const auto share = [&](std::size_t of) { return (points.size() + of - 1) / of; };
  const std::size_t most = std::clamp(dangerous, share(kComparedAtLeast), share(kComparedInDanger));
  std::vector<AttackPoint> compared;
  std::vector<KnownPoint> looked_at;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t i = order[k];
    if (k < most || !hints[i].complete) {
      compared.push_back(points[i]);
      continue;
    }
    not_compared_.push_back(points[i]);
    looked_at.push_back({points[i], danger[i], hints[i].occupancy});
  }
  search_.note(looked_at);
  return evaluate(compared, sizes_);
}

/// Cases with their runs; empty where the envelope has no further ones.
std::vector<TriedCase> Attacker::next_cases() {
  const std::vector<AttackPoint> points = search_.propose();
  if (points.empty()) {
    const std::size_t count = std::min(kComparedAtOnce, not_compared_.size());
    const auto end = not_compared_.begin() + static_cast<std::ptrdiff_t>(count);
    const std::vector<AttackPoint> left(not_compared_.begin(), end);
    not_compared_.erase(not_compared_.begin(), end);
    return evaluate(left, sizes_);
  }
  return request_.guided ? compare_most_dangerous(points) : evaluate(points, sizes_);
}

AttackResult Attacker::attack(const Earlier& earlier, const OnBatch& on_batch) {
  earlier_ = earlier;
  done_ = {.batches = 0, .seconds = earlier.seconds};
  start_ = std::chrono::steady_clock::now();
  int idle = 0;  // batches without a new run: points may differ and draw the same case
  while (!spent() && !enough_found()) {
    const std::size_t known_runs = digests_.size();
    const std::vector<TriedCase> tried = next_cases();
    result_.exhausted = tried.empty() || idle >= kMostIdle;
    if (result_.exhausted) break;
    result_.cases += tried.size();
    search_.learn(known(tried));
    remember(tried);
    idle = digests_.size() == known_runs ? idle + 1 : 0;
    for (std::vector<TriedCase> now = tried; !runs_spent() && !enough_found();) {
      const auto worst = std::max_element(now.begin(), now.end(), [](const auto& a, const auto& b) {
        return a.broken != b.broken ? b.broken : a.loss < b.loss;
      });
      if (!worst->broken) break;
      defend(*worst, first_known(now));
      // What is known was of the old sizes.
      now = evaluate(worth_another_run(now), sizes_);
      search_.restart();
      search_.learn(known(now));
      result_.closest.reset();
      result_.held_since_growth = 0;
      remember(now);
    }
    ++done_.batches;
    // What the database repeats takes no time of the budget.
    if (done_.batches == earlier_.batches) start_ = std::chrono::steady_clock::now();
    done_.seconds = seconds();
    if (done_.batches > earlier_.batches) on_batch(done_);
  }
  try_smaller_sizes();
  result_.sizes = sizes_;
  result_.runs = digests_.size();
  return result_;
}

/// Runs until the first broken case.
std::size_t Attacker::first_known(const std::vector<TriedCase>& tried) {
  std::size_t runs = SIZE_MAX;
  for (const TriedCase& one : tried) {
    if (one.broken) runs = std::min(runs, one.after_runs);
  }
  return runs;
}

/// The other broken cases, and the worst of all known ones.
std::vector<AttackPoint> Attacker::worth_another_run(const std::vector<TriedCase>& tried) const {
  std::vector<AttackPoint> points;
  for (const TriedCase& one : tried) {
    if (one.broken) points.push_back(one.at);
  }
  for (const KnownPoint& point : search_.worst(kRemembered)) {
    if (std::find(points.begin(), points.end(), point.at) == points.end()) points.push_back(point.at);
  }
  return points;
}

void Attacker::remember(const std::vector<TriedCase>& tried) {
  for (const TriedCase& one : tried) {
    result_.not_judged += one.judged ? 0U : 1U;
    if (!one.judged || one.broken) continue;
    ++result_.held_since_growth;
    if (!result_.closest || one.loss > result_.closest->loss) result_.closest = one;
  }
}

void Attacker::defend(const TriedCase& found, std::size_t after_runs) {
  Counterexample example{.found = found, .reduced = found, .sizes = sizes_, .grown = {}, .after_runs = after_runs};
  example.reduced = reduced(found);
  example.grown = grow({found.at, example.reduced.at});
  example.healed_score = evaluate({example.reduced.at}, sizes_).front().score;
  result_.counterexamples.push_back(std::move(example));
}

/// The case with every factor at its usual value where it is still broken clearly, and the others closer to it.
TriedCase Attacker::reduced(const TriedCase& found) {
  const double enough = 1 + kKeptExcess * (found.loss - 1);
  TriedCase tried = found;
  while (back_to_usual(tried, enough)) {
  }
  half_way(tried, enough);
  return tried;
}

bool Attacker::back_to_usual(TriedCase& tried, double enough) {
  const auto clear = [&](const TriedCase& one) { return one.broken && one.loss >= enough; };
  std::vector<std::size_t> factors;
  std::vector<AttackPoint> points;
  for (std::size_t i = 0; i < tried.at.size(); ++i) {
    if (tried.at[i] == kUsual) continue;
    AttackPoint point = tried.at;
    point[i] = kUsual;
    point = envelope_.tidy(point);
    if (!allowed(point)) continue;
    factors.push_back(i);
    points.push_back(std::move(point));
  }
  if (points.empty()) return false;
  const std::vector<TriedCase> singly = evaluate(points, sizes_);
  AttackPoint together = tried.at;
  std::vector<std::size_t> idle;
  for (std::size_t i = 0; i < singly.size(); ++i) {
    if (!clear(singly[i])) continue;
    idle.push_back(factors[i]);
    together[factors[i]] = kUsual;
  }
  if (idle.empty()) return false;
  together = envelope_.tidy(together);
  if (allowed(together)) {
    TriedCase all = evaluate({together}, sizes_).front();
    if (clear(all)) {
      tried = std::move(all);
      return true;
    }
  }
  for (const std::size_t factor : idle) {
    AttackPoint point = tried.at;
    point[factor] = kUsual;
    point = envelope_.tidy(point);
    if (!allowed(point)) continue;
    TriedCase one = evaluate({point}, sizes_).front();
    if (clear(one)) tried = std::move(one);
  }
  return true;
}

void Attacker::half_way(TriedCase& tried, double enough) {
  constexpr int halvings = 3;
  for (std::size_t i = 0; i < tried.at.size(); ++i) {
    const FactorRange& range = envelope_.factors()[i].range;
    for (int step = 0; step < halvings && tried.at[i] != kUsual && range.values.empty(); ++step) {
      AttackPoint point = tried.at;
      point[i] = (point[i] + range.usual) / 2;
      point = envelope_.tidy(point);
      if (point == tried.at || !allowed(point)) break;
      TriedCase one = evaluate({point}, sizes_).front();
      if (!one.broken || one.loss < enough) break;
      tried = std::move(one);
    }
  }
}

double Attacker::worst_loss(const std::vector<TriedCase>& tried) const {
  double loss = 0;
  for (const TriedCase& one : tried) loss = std::max(loss, one.broken ? std::max(one.loss, 1.0) : 0.0);
  return loss;
}

bool Attacker::holds(const std::vector<AttackPoint>& points, const BufferSizes& sizes) {
  return worst_loss(evaluate(points, sizes)) == 0;
}

/// Which buffer, unlimited beside those that are, heals the points with the least SRAM, or else leaves the least loss.
std::size_t Attacker::best_relief(const std::vector<AttackPoint>& points, const BufferSizes& sizes,
                                  const std::vector<std::size_t>& grown) {
  std::vector<std::size_t> buffers;
  std::vector<Wanted> wanted;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (std::find(grown.begin(), grown.end(), i) != grown.end() || sizes[i].second >= unlimited_[i].second) continue;
    buffers.push_back(i);
    BufferSizes larger = sizes;
    larger[i].second = unlimited_[i].second;
    for (const AttackPoint& point : points) wanted.push_back({point, larger});
  }
  if (buffers.empty()) return sizes.size();
  const std::vector<TriedCase> tried = evaluate(wanted);
  std::vector<std::pair<double, std::size_t>> losses;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto begin = tried.begin() + static_cast<std::ptrdiff_t>(i * points.size());
    losses.emplace_back(worst_loss({begin, begin + static_cast<std::ptrdiff_t>(points.size())}), buffers[i]);
  }
  std::sort(losses.begin(), losses.end());
  std::size_t best = losses.front().second;
  std::int64_t least_bits = INT64_MAX;
  constexpr std::size_t compared = 4;
  for (std::size_t i = 0; i < std::min(compared, losses.size()) && losses[i].first == 0; ++i) {
    BufferSizes larger = sizes;
    larger[losses[i].second].second = unlimited_[losses[i].second].second;
    minimize(points, larger, losses[i].second);
    const std::int64_t bits = evaluate({points.back()}, larger).front().sram_bits;
    if (bits >= least_bits) continue;
    least_bits = bits;
    best = losses[i].second;
  }
  return best;
}

/// The smallest size of a buffer with which the points hold, beside the other sizes; it holds as it is.
void Attacker::minimize(const std::vector<AttackPoint>& points, BufferSizes& sizes, std::size_t buffer) {
  std::int64_t bad = sizes_[buffer].second;
  std::int64_t good = sizes[buffer].second;
  constexpr std::array<double, 5> factors{1.25, 2, 4, 16, 64};
  for (const double factor : factors) {
    const std::int64_t size =
        std::max<std::int64_t>(bad + 1, std::llround(static_cast<double>(sizes_[buffer].second) * factor));
    if (size >= good) break;
    sizes[buffer].second = size;
    if (holds(points, sizes)) {
      good = size;
      break;
    }
    bad = size;
  }
  while (good - bad > std::max<std::int64_t>(1, bad / kResolution)) {
    sizes[buffer].second = bad + (good - bad) / 2;
    (holds(points, sizes) ? good : bad) = sizes[buffer].second;
  }
  sizes[buffer].second = good;
}

/// Makes buffers unlimited, the best first, until the points hold, and then each as small as they allow.
std::vector<GrownBuffer> Attacker::grow(const std::vector<AttackPoint>& points) {
  BufferSizes sizes = sizes_;
  std::vector<std::size_t> grown;
  while (!holds(points, sizes)) {
    const std::size_t buffer = best_relief(points, sizes, grown);
    if (buffer == sizes.size()) break;
    sizes[buffer].second = unlimited_[buffer].second;
    grown.push_back(buffer);
  }
  for (const std::size_t buffer : grown) minimize(points, sizes, buffer);
  std::vector<GrownBuffer> changes;
  for (const std::size_t buffer : grown) {
    if (sizes[buffer].second != sizes_[buffer].second)
      changes.push_back({sizes[buffer].first, sizes_[buffer].second, sizes[buffer].second});
  }
  sizes_ = sizes;
  return changes;
}

/// Each buffer one step smaller, against the cases that broke earlier sizes and those that came closest.
void Attacker::try_smaller_sizes() {
  std::vector<Wanted> wanted;
  std::vector<std::size_t> buffer_of;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    SmallerSize smaller{
        .key = sizes_[i].first, .size = sizes_[i].second, .smaller = next_smaller(sizes_[i].second), .breaker = {}};
    BufferSizes sizes = sizes_;
    sizes[i].second = smaller.smaller;
    try {
      planner_.scenario(settings_of(sizes));
    } catch (const ParameterError&) {
      smaller.smaller = 0;
    }
    result_.smaller.push_back(smaller);
    if (smaller.smaller == 0) continue;
    std::vector<AttackPoint> points;
    const auto add = [&](const AttackPoint& point) {
      if (points.size() < kSmallerCases && std::find(points.begin(), points.end(), point) == points.end())
        points.push_back(point);
    };
    // Those that this buffer healed first, the latest first.
    for (const bool own : {true, false}) {
      for (auto it = result_.counterexamples.rbegin(); it != result_.counterexamples.rend(); ++it) {
        const bool healed =
            std::any_of(it->grown.begin(), it->grown.end(), [&](const GrownBuffer& g) { return g.key == smaller.key; });
        if (healed != own) continue;
        if (own) add(it->reduced.at);
        add(it->found.at);
      }
      const std::vector<KnownPoint> worst = search_.worst(2);
      const auto fullest = std::max_element(
          worst.begin(), worst.end(), [&](const auto& a, const auto& b) { return a.occupancy[i] < b.occupancy[i]; });
      if (own && fullest != worst.end()) add(fullest->at);
      for (const KnownPoint& point : worst) add(point.at);
    }
    for (const AttackPoint& point : points) {
      wanted.push_back({point, sizes});
      buffer_of.push_back(i);
    }
  }
  const std::vector<TriedCase> tried = evaluate(wanted);
  for (std::size_t i = 0; i < tried.size(); ++i) {
    SmallerSize& smaller = result_.smaller[buffer_of[i]];
    if (!tried[i].broken) continue;
    if (!smaller.breaker || tried[i].loss > smaller.breaker->loss) smaller.breaker = tried[i];
  }
}

double Attacker::seconds() const {
  if (done_.batches < earlier_.batches) return earlier_.seconds;
  return earlier_.seconds + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Attacker::enough_found() const {
  return request_.most > 0 && result_.counterexamples.size() >= request_.most;
}

bool Attacker::runs_spent() const {
  const auto budget = static_cast<double>(request_.budget.runs);
  return budget > 0 && static_cast<double>(digests_.size()) >= kSearchShare * budget;
}

bool Attacker::spent() const {
  if (request_.budget.runs > 0) return runs_spent();
  return done_.batches >= earlier_.batches && seconds() >= kSearchShare * request_.budget.seconds;
}

double Attacker::progress() const {
  const AttackBudget& budget = request_.budget;
  return budget.runs > 0 ? static_cast<double>(digests_.size()) / static_cast<double>(budget.runs)
                         : seconds() / budget.seconds;
}

}  // namespace mrc
