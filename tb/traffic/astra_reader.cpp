#include "traffic/astra_reader.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "traffic/line_reader.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"
#include "traffic/workload_builder.h"

namespace mrc {
namespace {

constexpr std::uint64_t kMostRows = 10'000'000;
constexpr std::size_t kFields = 12;

enum class Pass : std::uint8_t { forward, input_gradient, weight_gradient };
constexpr std::array<const char*, 3> kPassNames{"forward", "input gradient", "weight gradient"};

/// Whom a collective without a suffix of its own concerns.
enum class Scope : std::uint8_t { nobody, all, tensor, data, inner, outer };

/// How the input gradient's collective and what follows it overlap.
enum class InputGradient : std::uint8_t {
  blocks,    ///< the weight gradient waits for it
  overlaps,  ///< it runs beside the row's weight gradient; the next row waits for it. Row 0 has none
  none
};

/// A kind of parallelism of line 1: what ASTRA-sim's training loop of that name does with a row.
struct Policy {
  std::string_view name;
  std::array<Scope, 3> scopes;  ///< by Pass
  InputGradient input_gradient = InputGradient::blocks;
  bool weight_gradient_first = false;
};

constexpr std::array<Policy, 11> kPolicies{{
    {"DATA", {Scope::nobody, Scope::nobody, Scope::all}, InputGradient::none, true},
    {"MODEL", {Scope::all, Scope::all, Scope::nobody}, InputGradient::overlaps},
    {"HYBRID_TRANSFORMER", {Scope::tensor, Scope::tensor, Scope::data}},
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", {Scope::tensor, Scope::tensor, Scope::data}},
    {"HYBRID_DATA_MODEL", {Scope::inner, Scope::inner, Scope::outer}, InputGradient::overlaps},
    {"HYBRID_MODEL_DATA", {Scope::outer, Scope::outer, Scope::inner}, InputGradient::overlaps},
    {"HYBRID_DLRM", {Scope::nobody, Scope::nobody, Scope::all}, InputGradient::none, true},
    {"HYBRID_DLRM_ENHANCED", {Scope::nobody, Scope::nobody, Scope::all}, InputGradient::none, true},
    {"HYBRID_CUSTOMIZED", {Scope::nobody, Scope::nobody, Scope::nobody}, InputGradient::overlaps},
    {"MICRO", {Scope::nobody, Scope::nobody, Scope::all}, InputGradient::none},
    {"DISTRIBUTED_INFERENCE", {Scope::all, Scope::nobody, Scope::nobody}, InputGradient::none},
}};
constexpr std::array<Scope, 3> kWholeWorld{Scope::all, Scope::all, Scope::all};

const Policy* find_policy(std::string_view name) {
  const auto* found = std::find_if(kPolicies.begin(), kPolicies.end(), [&](const Policy& p) { return p.name == name; });
  return found == kPolicies.end() ? nullptr : found;
}

std::string policy_names() {
  std::string names;
  for (const Policy& policy : kPolicies) names += fmt::format("{}{}", names.empty() ? "" : ", ", policy.name);
  return names;
}

struct Part {
  TimePs compute = 0;
  std::optional<std::uint32_t> collective;  ///< in the builder
};

struct Row {
  std::uint64_t line = 0;
  std::uint64_t index = 0;
  std::array<Part, 3> parts;
  TimePs update = 0;
};

/// Sizes of the ways a step is spread over ranks; each at least 1.
struct Parallelism {
  std::uint32_t tensor = 1;
  std::uint32_t expert = 1;
  std::uint32_t pipeline = 1;
  std::uint32_t inner = 1;  ///< ranks of the innermost dimension
  std::uint32_t ranks = 0;
  std::uint32_t data() const { return ranks / (tensor * pipeline); }
};

/// Rows from `from` up to `until` run forward once more before the input gradient of row `until`.
struct Recomputation {
  std::uint64_t from = 0;
  std::uint64_t until = 0;
};

class AstraReader {
 public:
  AstraReader(std::istream& in, const std::string& name, const ReadOptions& options, Warnings& warnings)
      : lines_(in, name), options_(options), warnings_(warnings), builder_(options.totals) {}

  Workload run() {
    take_head();
    const std::uint64_t rows = take_count();
    std::vector<Row> taken;
    rows_played_ = options_.rows == 0 ? rows : std::min(rows, options_.rows);
    std::uint64_t read = 0;
    while (lines_.next()) {
      const std::vector<std::string_view> words = words_of(lines_.text());
      if (words.empty()) continue;
      if (++read > rows) throw TraceError(lines_.place(), fmt::format("line 2 says {} rows, but there are more", rows));
      if (read > rows_played_) continue;
      taken.push_back(take_row(words, read - 1));
      if (!builder_.counts_only()) continue;
      count(taken.back());
      taken.clear();
      builder_.drop_collectives();
    }
    if (read < rows) throw TraceError(lines_.name(), fmt::format("line 2 says {} rows, but there are {}", rows, read));
    if (pipeline_bytes_ > 0) {
      warnings_.push_back(
          fmt::format("{}: {} B between pipeline stages have no place among the rows; they are not played",
                      lines_.name(), pipeline_bytes_));
    }
    if (silent_collectives_ > 0) {
      warnings_.push_back(
          fmt::format("{}: {} collectives are in passes in which {} does not communicate; they are not "
                      "played",
                      lines_.name(), silent_collectives_, policy_->name));
    }
    if (!builder_.counts_only()) play(taken);
    Workload workload = builder_.finish(shape_.ranks);
    workload.same_on_all_ranks = true;
    return workload;
  }

 private:
  void take_head() {
    if (!lines_.next()) throw TraceError(lines_.name(), "is empty; expected the kind of parallelism");
    head_ = words_of(lines_.text());
    if (head_.empty()) throw TraceError(lines_.place(), "expected the kind of parallelism");
    policy_ = find_policy(head_[0]);
    if (policy_ == nullptr) {
      throw TraceError(lines_.place(), fmt::format("parallelism is \"{}\"; allowed: {}", head_[0], policy_names()));
    }
    if (is_dlrm() && head_.size() == 2) {
      last_bottom_row_ = parse_integer(head_[1], lines_, "the last bottom layer", 0, kMostRows);
      has_last_bottom_row_ = true;
      head_.pop_back();
    }
    std::size_t at = 1;
    while (at < head_.size()) take_option(at);
    if (is_dlrm() && !has_last_bottom_row_) {
      throw TraceError(lines_.place(), fmt::format("{} needs the last bottom layer: a number behind it, or "
                                                   "DLRM_LAST_BOTTOM_LAYER: and a number",
                                                   policy_->name));
    }
    pair_checkpoints();
    fit_to(world_);
  }
  bool is_dlrm() const { return policy_->name.starts_with("HYBRID_DLRM"); }
  std::uint64_t head_value(std::size_t& at, std::string_view key, std::uint64_t minimum, std::uint64_t maximum) {
    if (at >= head_.size()) throw TraceError(lines_.place(), fmt::format("option {} has no value", key));
    return parse_integer(head_[at++], lines_, key, minimum, maximum);
  }
  /// A number of rows and their positions.
  std::vector<std::uint64_t> head_rows(std::size_t& at, std::string_view key) {
    std::vector<std::uint64_t> rows(head_value(at, key, 0, head_.size()));
    for (std::uint64_t& row : rows) row = head_value(at, key, 0, kMostRows);
    return rows;
  }
  void take_option(std::size_t& at) {
    std::string_view key = head_[at++];
    if (key.ends_with(':')) key.remove_suffix(1);
    const auto ranks = [&] { return static_cast<std::uint32_t>(head_value(at, key, 1, kMostRank + 1)); };
    if (key == "model_parallel_NPU_group") {
      shape_.tensor = ranks();
    } else if (key == "ep") {
      shape_.expert = ranks();
    } else if (key == "pp") {
      shape_.pipeline = ranks();
    } else if (key == "all_gpus") {
      world_ = ranks();
    } else if (key == "pp_comm") {
      pipeline_bytes_ = head_value(at, key, 0, kMostMessageBytes);
    } else if (key == "vpp" || key == "ga") {
      head_value(at, key, 0, kMostRows);
    } else if (key == "checkpoints") {
      checkpoints_ = head_rows(at, key);
    } else if (key == "checkpoint_initiates") {
      recomputed_before_ = head_rows(at, key);
    } else if (key == "DLRM_LAST_BOTTOM_LAYER") {
      last_bottom_row_ = head_value(at, key, 0, kMostRows);
      has_last_bottom_row_ = true;
    } else if (options_.strict) {
      throw TraceError(lines_.place(), fmt::format("option {} is not known", key));
    } else {
      warnings_.push_back(fmt::format("{}: option {} is not known and has no effect", lines_.place(), key));
      if (at < head_.size()) ++at;
    }
  }
  /// Each row of checkpoint_initiates recomputes from the last checkpoint at or before it.
  void pair_checkpoints() {
    std::sort(checkpoints_.begin(), checkpoints_.end());
    for (const std::uint64_t until : recomputed_before_) {
      const auto behind = std::upper_bound(checkpoints_.begin(), checkpoints_.end(), until);
      if (behind == checkpoints_.begin()) {
        throw TraceError(
            lines_.place(),
            fmt::format("checkpoint_initiates names row {}, but checkpoints has none at or before it", until));
      }
      recomputations_.push_back({*std::prev(behind), until});
    }
  }
  void fit_to(std::uint32_t world) {
    if (world == 0 && options_.ranks == 0) {
      throw TraceError(lines_.place(), "has no all_gpus; traffic.ranks says how many ranks there are");
    }
    const Parallelism whole = shape_;
    shape_.ranks = options_.ranks == 0 ? world : options_.ranks;
    const bool cut = world != 0 && shape_.ranks != world;
    if (shape_.ranks > kMostRank + 1)
      throw TraceError(lines_.place(), fmt::format("{} ranks; allowed: 1 … {}", shape_.ranks, kMostRank + 1));
    if (shape_.ranks % shape_.tensor != 0) {
      throw TraceError(lines_.place(), fmt::format("{} ranks; allowed: multiples of the {} of a tensor parallel group",
                                                   shape_.ranks, shape_.tensor));
    }
    if (cut) {
      shape_.pipeline = 1;
      shape_.expert = std::gcd(shape_.expert, shape_.ranks / shape_.tensor);
      warnings_.push_back(
          fmt::format("{}: cut to {} of {} ranks: tensor parallel {}, expert parallel {} (of {}), pipeline "
                      "1 (of {}), data parallel {}",
                      lines_.name(), shape_.ranks, world, shape_.tensor, shape_.expert, whole.expert, whole.pipeline,
                      shape_.data()));
    }
    fit_inner();
    const std::uint64_t model = std::uint64_t{shape_.tensor} * shape_.pipeline;
    if (shape_.ranks % model != 0 || shape_.data() % shape_.expert != 0) {
      throw TraceError(lines_.place(),
                       fmt::format("{} ranks are not a multiple of tensor {} x pipeline {} x expert {} parallel ranks",
                                   shape_.ranks, shape_.tensor, shape_.pipeline, shape_.expert));
    }
  }
  /// The file does not say how the world is divided into dimensions: a host is the inner one.
  void fit_inner() {
    shape_.inner = std::gcd(options_.ranks_per_host, shape_.ranks);
    const bool has_dimensions = policy_->name == "HYBRID_DATA_MODEL" || policy_->name == "HYBRID_MODEL_DATA" ||
                                policy_->name == "HYBRID_CUSTOMIZED";
    if (!has_dimensions) return;
    warnings_.push_back(
        fmt::format("{}: inner dimension of {} ranks, outer of {} (traffic.collective.ranks_per_host; "
                    "the file does not say)",
                    lines_.name(), shape_.inner, shape_.ranks / shape_.inner));
  }
  std::uint64_t take_count() {
    if (!lines_.next()) throw TraceError(lines_.place(), "expected the number of rows");
    const std::vector<std::string_view> words = words_of(lines_.text());
    if (words.size() != 1) throw TraceError(lines_.place(), "expected the number of rows and nothing else");
    return parse_integer(words[0], lines_, "the number of rows", 1, kMostRows);
  }
  TimePs time(std::string_view word, std::string_view what) const {
    return parse_integer(word, lines_, what, 0, kMostTraceTimeUs * 1000) * kPsPerNs;
  }
  Row take_row(const std::vector<std::string_view>& words, std::uint64_t index) {
    const bool customized = policy_->name == "HYBRID_CUSTOMIZED";
    const std::size_t fields = kFields + (customized ? 1 : 0);
    if (words.size() != fields) {
      throw TraceError(lines_.place(),
                       fmt::format("expected {} fields (name, reserved, and of forward, input gradient and weight "
                                   "gradient: compute ns, kind, bytes; update ns{}), found {}",
                                   fields, customized ? "; parallelism" : "", words.size()));
    }
    const std::array<Scope, 3> scopes = scopes_of_row(words, index);
    Row row;
    row.line = lines_.number();
    row.index = index;
    for (std::size_t pass = 0; pass < row.parts.size(); ++pass) {
      const std::size_t at = 2 + 3 * pass;
      row.parts[pass].compute = time(words[at], fmt::format("{} compute (ns)", kPassNames[pass]));
      const std::uint64_t bytes =
          parse_integer(words[at + 2], lines_, fmt::format("{} bytes", kPassNames[pass]), 0, kMostMessageBytes);
      const std::optional<Collective> collective = collective_of(words[at + 1], scopes[pass], pass, bytes);
      if (collective) row.parts[pass].collective = builder_.collective(*collective);
    }
    row.update = time(words[11], "update (ns)");
    return row;
  }
  std::array<Scope, 3> scopes_of_row(const std::vector<std::string_view>& words, std::uint64_t index) const {
    // The embedding exchanges with everybody, whatever the policy says of the other rows.
    if (is_dlrm() && index == 0) return kWholeWorld;
    if (words.size() == kFields) return policy_->scopes;
    const Policy* row_policy = find_policy(words[kFields]);
    if (row_policy == nullptr) {
      throw TraceError(lines_.place(),
                       fmt::format("parallelism of the row is \"{}\"; allowed: {}", words[kFields], policy_names()));
    }
    return row_policy->scopes;
  }
  /// Nothing for NONE, for 0 bytes, and in a pass in which nobody communicates.
  std::optional<Collective> collective_of(std::string_view word, Scope scope, std::size_t pass, std::uint64_t bytes) {
    constexpr std::array<std::pair<std::string_view, CollectiveKind>, 5> kinds{
        {{"ALLREDUCE", CollectiveKind::all_reduce},
         {"ALLGATHER", CollectiveKind::all_gather},
         {"REDUCESCATTER", CollectiveKind::reduce_scatter},
         {"ALLTOALL", CollectiveKind::all_to_all},
         {"BROADCAST", CollectiveKind::broadcast}}};
    if (word == "NONE") return std::nullopt;
    for (const auto& [name, kind] : kinds) {
      if (!word.starts_with(name)) continue;
      const std::optional<RankGroup> group = group_of(word.substr(name.size()), scope);
      if (!group) break;
      if (bytes == 0) return std::nullopt;
      if (group->ranks.empty()) {
        ++silent_collectives_;
        return std::nullopt;
      }
      return Collective{kind, bytes, builder_.group(group->ranks), 0};
    }
    throw TraceError(lines_.place(), fmt::format("{} kind is \"{}\"; allowed: NONE, or ALLREDUCE, ALLGATHER, "
                                                 "REDUCESCATTER, ALLTOALL, BROADCAST, alone or with _TP, _DP, _EP, "
                                                 "_DP_EP",
                                                 kPassNames[pass], word));
  }
  /// Nothing for a suffix that is not known; no ranks where nobody communicates.
  std::optional<RankGroup> group_of(std::string_view suffix, Scope scope) const {
    if (suffix.empty()) return group_of(scope);
    if (suffix == "_TP") return group(1, shape_.tensor);
    if (suffix == "_DP") return group(shape_.tensor, shape_.data());
    if (suffix == "_EP") return group(shape_.tensor, shape_.expert);
    if (suffix == "_DP_EP") return group(shape_.tensor * shape_.expert, shape_.data() / shape_.expert);
    return std::nullopt;
  }
  RankGroup group_of(Scope scope) const {
    switch (scope) {
      case Scope::nobody:
        return {};
      case Scope::all:
        return group(1, shape_.ranks);
      case Scope::tensor:
        return group(1, shape_.tensor);
      case Scope::data:
        return group(shape_.tensor, shape_.data());
      case Scope::inner:
        return group(1, shape_.inner);
      case Scope::outer:
        return group(shape_.inner, shape_.ranks / shape_.inner);
    }
    return {};
  }
  static RankGroup group(std::uint32_t stride, std::uint32_t size) {
    RankGroup members;
    for (std::uint32_t i = 0; i < size; ++i) members.ranks.push_back(i * stride);
    return members;
  }

  void play(const std::vector<Row>& rows) {
    if (policy_->name == "MICRO") {
      for (const Row& row : rows) last_ = after_part(row, Pass::weight_gradient, last_);
      return;
    }
    for (const Row& row : rows) add_forward(row);
    if (policy_->name == "DISTRIBUTED_INFERENCE") return;
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
      for (const Recomputation& recomputed : recomputations_) {
        if (recomputed.until != row->index) continue;
        for (std::uint64_t i = recomputed.from; i < recomputed.until; ++i) add_forward(rows[i]);
      }
      policy_->weight_gradient_first ? add_weight_gradient_first(*row, &rows.front()) : add_input_gradient_first(*row);
    }
  }
  /// What play() does with one row, for the totals: `row` is the only one that is held.
  void count(const Row& row) {
    std::uint64_t forward_passes = policy_->name == "MICRO" ? 0 : 1;
    for (const Recomputation& recomputed : recomputations_) {
      const bool cut = recomputed.until >= rows_played_;
      forward_passes += !cut && recomputed.from <= row.index && row.index < recomputed.until ? 1 : 0;
    }
    for (std::uint64_t i = 0; i < forward_passes; ++i) add_forward(row);
    if (policy_->name == "MICRO") {
      after_part(row, Pass::weight_gradient, kNoWork);
    } else if (policy_->name != "DISTRIBUTED_INFERENCE") {
      policy_->weight_gradient_first ? add_weight_gradient_first(row, nullptr) : add_input_gradient_first(row);
    }
  }

  const Part& part(const Row& row, Pass pass) const { return row.parts[static_cast<std::size_t>(pass)]; }
  void add_forward(const Row& row) {
    last_ = add_compute(row, part(row, Pass::forward).compute, last_);
    const std::uint32_t collective = after_part(row, Pass::forward, last_);
    if (!is_dlrm()) {
      last_ = collective;
      return;
    }
    // The embedding's exchange runs beside the bottom layers; the first top layer waits for both.
    if (row.index == 0) embedding_exchanged_ = collective;
    if (row.index == last_bottom_row_ && embedding_exchanged_ != kNoWork)
      last_ = join(row, last_, embedding_exchanged_);
  }
  /// The pass's collective behind `after`, or `after` without one.
  std::uint32_t after_part(const Row& row, Pass pass, std::uint32_t after) {
    const std::optional<std::uint32_t>& collective = part(row, pass).collective;
    return collective ? add_collective(row, *collective, after) : after;
  }
  /// Its collective runs beside the backward pass: only the update waits for it.
  void add_weight_gradient(const Row& row) {
    last_ = add_compute(row, part(row, Pass::weight_gradient).compute, last_);
    const std::uint32_t reduced = after_part(row, Pass::weight_gradient, last_);
    if (row.update > 0) add_compute(row, row.update, reduced);
  }
  void add_input_gradient_first(const Row& row) {
    last_ = add_compute(row, part(row, Pass::input_gradient).compute, last_);
    if (policy_->input_gradient == InputGradient::blocks) {
      last_ = after_part(row, Pass::input_gradient, last_);
      add_weight_gradient(row);
      return;
    }
    const std::uint32_t exchanged = row.index == 0 ? last_ : after_part(row, Pass::input_gradient, last_);
    const bool waits = exchanged != last_;
    add_weight_gradient(row);
    if (waits) last_ = join(row, last_, exchanged);
  }
  /// `embedding`: null while rows are counted one by one.
  void add_weight_gradient_first(const Row& row, const Row* embedding) {
    add_weight_gradient(row);
    if (row.index > 0) last_ = add_compute(row, part(row, Pass::input_gradient).compute, last_);
    if (is_dlrm()) exchange_embedding_gradients(row, embedding);
  }
  /// They leave when the backward pass comes to the bottom rows, and run beside these.
  void exchange_embedding_gradients(const Row& row, const Row* embedding) {
    if (embedding == nullptr) {
      if (row.index == 0 && rows_played_ > last_bottom_row_ + 1) after_part(row, Pass::input_gradient, last_);
      return;
    }
    if (row.index == last_bottom_row_ + 1) gradients_exchanged_ = after_part(*embedding, Pass::input_gradient, last_);
    if (row.index == 0 && policy_->name == "HYBRID_DLRM" && gradients_exchanged_ != kNoWork)
      last_ = join(row, last_, gradients_exchanged_);
  }
  /// Nothing to do: what follows waits for both.
  std::uint32_t join(const Row& row, std::uint32_t one, std::uint32_t other) {
    WorkNode node;
    node.origin = row.line;
    const std::uint32_t position = add(node, one);
    if (one != other) builder_.depend(position, other);
    return position;
  }
  std::uint32_t add_compute(const Row& row, TimePs duration, std::uint32_t after) {
    WorkNode node;
    node.origin = row.line;
    node.duration = duration;
    node.stream = kComputeStream;
    return add(node, after);
  }
  std::uint32_t add_collective(const Row& row, std::uint32_t collective, std::uint32_t after) {
    WorkNode node;
    node.kind = WorkKind::collective;
    node.origin = row.line;
    node.match = collective;
    return add(node, after);
  }
  std::uint32_t add(const WorkNode& node, std::uint32_t after) {
    const std::uint32_t position = builder_.add(node);
    if (after != kNoWork) builder_.depend(position, after);
    return position;
  }

  LineReader lines_;
  const ReadOptions& options_;
  Warnings& warnings_;
  WorkloadBuilder builder_;
  std::vector<std::string_view> head_;
  const Policy* policy_ = nullptr;
  Parallelism shape_;
  std::uint32_t world_ = 0;
  std::uint64_t pipeline_bytes_ = 0;
  std::uint64_t last_bottom_row_ = 0;
  bool has_last_bottom_row_ = false;
  std::vector<std::uint64_t> checkpoints_;
  std::vector<std::uint64_t> recomputed_before_;
  std::vector<Recomputation> recomputations_;
  std::uint64_t rows_played_ = 0;
  std::uint64_t silent_collectives_ = 0;
  std::uint32_t embedding_exchanged_ = kNoWork;
  std::uint32_t gradients_exchanged_ = kNoWork;
  std::uint32_t last_ = kNoWork;
};

}  // namespace

bool is_astra_head(std::string_view word) {
  return find_policy(word) != nullptr || word.starts_with("HYBRID_");
}

Workload read_astra(std::istream& in, const std::string& name, const ReadOptions& options, Warnings& warnings) {
  return AstraReader(in, name, options, warnings).run();
}

}  // namespace mrc
