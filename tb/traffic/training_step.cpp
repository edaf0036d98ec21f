#include "traffic/training_step.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "traffic/message_matcher.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"
#include "traffic/workload_builder.h"

namespace mrc {
namespace {

constexpr const char* kPlace = "training_step";
/// A backward pass computes gradients of inputs and of weights.
constexpr double kBackwardFactor = 2.0;

class Step {
 public:
  explicit Step(const TrainingOptions& options) : o_(options), m_(options.model) {}

  Workload run() {
    check();
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) play(rank);
    matcher_.match(builder_, [](const WorkNode& node) { return fmt::format("{}: node {}", kPlace, node.origin); });
    Workload workload = builder_.finish(ranks());
    workload.source = kPlace;
    return workload;
  }

 private:
  std::uint32_t ranks() const { return o_.tensor_parallel * o_.data_parallel * o_.pipeline_parallel; }
  std::uint32_t tensor(std::uint32_t rank) const { return rank % o_.tensor_parallel; }
  std::uint32_t data(std::uint32_t rank) const { return rank / o_.tensor_parallel % o_.data_parallel; }
  std::uint32_t stage(std::uint32_t rank) const { return rank / o_.tensor_parallel / o_.data_parallel; }
  std::uint32_t rank_of(std::uint32_t s, std::uint32_t d, std::uint32_t t) const {
    return (s * o_.data_parallel + d) * o_.tensor_parallel + t;
  }
  bool moe() const { return m_.experts > 0; }

  void check() const {
    const auto require = [](bool holds, const std::string& text) {
      if (!holds) throw TraceError(kPlace, text);
    };
    require(o_.tensor_parallel > 0 && o_.pipeline_parallel > 0 && o_.data_parallel > 0 && o_.expert_parallel > 0 &&
                o_.micro_batches > 0 && o_.micro_batch_sequences > 0 && o_.bytes_per_number > 0,
            "parallelism, batch and bytes a number are at least 1");
    const double world = static_cast<double>(o_.tensor_parallel) * o_.data_parallel * o_.pipeline_parallel;
    require(world >= 2 && world <= kMostRank, fmt::format("{:.0f} ranks; allowed: 2 … {}", world, kMostRank));
    require(m_.layers % o_.pipeline_parallel == 0,
            fmt::format("{} layers are not a multiple of {} pipeline stages", m_.layers, o_.pipeline_parallel));
    require(m_.hidden % o_.tensor_parallel == 0,
            fmt::format("hidden size {} is not a multiple of {} tensor parallel ranks", m_.hidden, o_.tensor_parallel));
    require(o_.data_parallel % o_.expert_parallel == 0,
            fmt::format("{} data parallel ranks are not a multiple of {} expert parallel ones", o_.data_parallel,
                        o_.expert_parallel));
    require(o_.expert_parallel == 1 || moe(), "expert parallelism needs a model with experts");
    require(!moe() || m_.experts % o_.expert_parallel == 0,
            fmt::format("{} experts are not a multiple of {} expert parallel ranks", m_.experts, o_.expert_parallel));
    require(o_.accelerator_tflops > 0 && o_.efficiency > 0 && o_.efficiency <= 1,
            "the accelerator's speed is above 0, its efficiency above 0 and at most 1");
    const double nodes = world * o_.micro_batches * (m_.layers / o_.pipeline_parallel) * 16.0;
    require(nodes <= static_cast<double>(kMostWorkNodes),
            fmt::format("makes about {:.0f} nodes of work; allowed: at most {}", nodes, kMostWorkNodes));
  }

  // Sizes
  double tokens() const { return static_cast<double>(o_.micro_batch_sequences) * m_.sequence_tokens; }
  double attention_weights() const { return 2.0 * m_.hidden * m_.hidden * (1.0 + m_.key_value_share); }
  double expert_weights() const { return 3.0 * m_.hidden * m_.feed_forward; }
  std::uint64_t bytes(double numbers) const {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(numbers * o_.bytes_per_number)));
  }
  TimePs time(double flops) const {
    const double seconds = flops / o_.tensor_parallel / (o_.accelerator_tflops * 1e12 * o_.efficiency);
    // The trace formats know whole microseconds.
    return std::max<TimePs>(1, static_cast<TimePs>(std::llround(seconds * 1e6))) * kPsPerUs;
  }
  double attention_flops() const {
    return 2.0 * tokens() * attention_weights() + 2.0 * tokens() * m_.sequence_tokens * m_.hidden;
  }
  double feed_forward_flops() const {
    const double experts = moe() ? m_.experts_a_token + m_.shared_experts : 1.0;
    return 2.0 * tokens() * expert_weights() * experts;
  }

  // Groups
  std::vector<std::uint32_t> tensor_group(std::uint32_t rank) const {
    std::vector<std::uint32_t> group;
    for (std::uint32_t t = 0; t < o_.tensor_parallel; ++t) group.push_back(rank_of(stage(rank), data(rank), t));
    return group;
  }
  /// Data parallel ranks `first`, first + stride, …
  std::vector<std::uint32_t> data_group(std::uint32_t rank, std::uint32_t first, std::uint32_t stride,
                                        std::uint32_t count) const {
    std::vector<std::uint32_t> group;
    for (std::uint32_t i = 0; i < count; ++i) group.push_back(rank_of(stage(rank), first + i * stride, tensor(rank)));
    return group;
  }
  std::vector<std::uint32_t> expert_group(std::uint32_t rank) const {
    return data_group(rank, data(rank) / o_.expert_parallel * o_.expert_parallel, 1, o_.expert_parallel);
  }
  std::vector<std::uint32_t> whole_data_group(std::uint32_t rank) const {
    return data_group(rank, 0, 1, o_.data_parallel);
  }
  /// Ranks that hold the same experts.
  std::vector<std::uint32_t> same_experts(std::uint32_t rank) const {
    return data_group(rank, data(rank) % o_.expert_parallel, o_.expert_parallel, o_.data_parallel / o_.expert_parallel);
  }

  // Nodes
  std::uint32_t add(WorkNode node, std::optional<std::uint32_t> after) {
    node.rank = rank_;
    node.origin = builder_.size();
    const std::uint32_t position = builder_.add(node);
    if (after) builder_.depend(position, *after);
    return position;
  }
  void compute(double flops) {
    WorkNode node;
    node.duration = time(flops);
    node.stream = kComputeStream;
    last_ = add(node, last_);
  }
  /// The k-th collective that a rank has of a group is the k-th of the others. Returns nothing for a group of one.
  std::optional<std::uint32_t> collective(CollectiveKind kind, std::uint64_t size,
                                          const std::vector<std::uint32_t>& ranks, std::optional<std::uint32_t> after) {
    if (ranks.size() < 2) return std::nullopt;
    const std::uint32_t group = builder_.group(ranks);
    if (numbers_.size() <= group) numbers_.resize(group + 1);
    if (turn_.size() <= group) turn_.resize(group + 1, 0);
    const std::uint32_t turn = turn_[group]++;
    if (turn == numbers_[group].size()) numbers_[group].push_back(builder_.collective({kind, size, group, 0}));
    WorkNode node;
    node.kind = WorkKind::collective;
    node.match = numbers_[group][turn];
    return add(node, after);
  }
  void wait_for(CollectiveKind kind, std::uint64_t size, const std::vector<std::uint32_t>& ranks) {
    if (const auto node = collective(kind, size, ranks, last_)) last_ = node;
  }
  void send(std::uint32_t to_stage, std::uint32_t tag) {
    WorkNode node;
    node.kind = WorkKind::send;
    node.peer = rank_of(to_stage, data(rank_), tensor(rank_));
    node.bytes = bytes(tokens() * m_.hidden / o_.tensor_parallel);
    node.tag = tag;
    matcher_.add_send(with_rank(node), add(node, last_));
  }
  void receive(std::uint32_t from_stage, std::uint32_t tag) {
    WorkNode node;
    node.kind = WorkKind::receive;
    node.peer = rank_of(from_stage, data(rank_), tensor(rank_));
    node.bytes = bytes(tokens() * m_.hidden / o_.tensor_parallel);
    node.tag = tag;
    last_ = add(node, last_);
    matcher_.add_receive(*last_);
  }
  WorkNode with_rank(WorkNode node) const {
    node.rank = rank_;
    return node;
  }

  // The step
  void layer(double factor) {
    const std::uint64_t activations = bytes(tokens() * m_.hidden);
    compute(factor * attention_flops());
    wait_for(CollectiveKind::all_reduce, activations, tensor_group(rank_));
    if (moe()) {
      // Tokens to their experts and back; tensor parallel ranks hold a part of the sequence each.
      const std::uint64_t routed = bytes(tokens() * m_.hidden * m_.experts_a_token / o_.tensor_parallel);
      wait_for(CollectiveKind::all_to_all, routed, expert_group(rank_));
      compute(factor * feed_forward_flops());
      wait_for(CollectiveKind::all_to_all, routed, expert_group(rank_));
    } else {
      compute(factor * feed_forward_flops());
    }
    wait_for(CollectiveKind::all_reduce, activations, tensor_group(rank_));
  }
  void forward(std::uint32_t batch) {
    const std::uint32_t s = stage(rank_);
    if (s > 0) receive(s - 1, 2 * batch);
    for (std::uint32_t l = 0; l < m_.layers / o_.pipeline_parallel; ++l) layer(1.0);
    if (s + 1 < o_.pipeline_parallel) {
      send(s + 1, 2 * batch);
    } else {
      compute(2.0 * tokens() * m_.hidden * m_.vocabulary);
    }
  }
  void backward(std::uint32_t batch, bool last_batch) {
    const std::uint32_t s = stage(rank_);
    if (s + 1 < o_.pipeline_parallel) {
      receive(s + 1, 2 * batch + 1);
    } else {
      compute(kBackwardFactor * 2.0 * tokens() * m_.hidden * m_.vocabulary);
    }
    for (std::uint32_t l = 0; l < m_.layers / o_.pipeline_parallel; ++l) {
      layer(kBackwardFactor);
      if (last_batch) reduce_gradients();
    }
    if (s > 0) send(s - 1, 2 * batch + 1);
  }
  /// Beside what follows.
  void reduce_gradients() {
    const double share = 1.0 / o_.tensor_parallel;
    const double dense =
        moe() ? attention_weights() + m_.shared_experts * expert_weights() : attention_weights() + expert_weights();
    const auto whole = collective(CollectiveKind::reduce_scatter, bytes(dense * share), whole_data_group(rank_), last_);
    if (whole) reduced_.push_back(*whole);
    if (!moe()) return;
    const double own = expert_weights() * m_.experts / o_.expert_parallel * share;
    const auto experts = collective(CollectiveKind::reduce_scatter, bytes(own), same_experts(rank_), last_);
    if (experts) reduced_.push_back(*experts);
  }
  void gather_weights() {
    const std::uint32_t layers = m_.layers / o_.pipeline_parallel;
    const double share = 1.0 / o_.tensor_parallel;
    const double dense =
        moe() ? attention_weights() + m_.shared_experts * expert_weights() : attention_weights() + expert_weights();
    // Reads and writes of weights and moments: far below the step's other work, so of the least duration.
    WorkNode optimizer;
    optimizer.duration = kPsPerUs;
    optimizer.stream = kComputeStream;
    const std::uint32_t update = add(optimizer, last_);
    for (const std::uint32_t node : reduced_) builder_.depend(update, node);
    collective(CollectiveKind::all_gather, bytes(dense * share * layers), whole_data_group(rank_), update);
    if (!moe()) return;
    const double own = expert_weights() * m_.experts / o_.expert_parallel * share * layers;
    collective(CollectiveKind::all_gather, bytes(own), same_experts(rank_), update);
  }
  void play(std::uint32_t rank) {
    rank_ = rank;
    last_.reset();
    reduced_.clear();
    std::fill(turn_.begin(), turn_.end(), 0);
    const std::uint32_t ahead = std::min(o_.micro_batches, o_.pipeline_parallel - stage(rank) - 1);
    for (std::uint32_t b = 0; b < ahead; ++b) forward(b);
    for (std::uint32_t b = 0; b < o_.micro_batches; ++b) {
      if (b + ahead < o_.micro_batches) forward(b + ahead);
      backward(b, b + 1 == o_.micro_batches);
    }
    gather_weights();
  }

  const TrainingOptions& o_;
  const ModelShape& m_;
  WorkloadBuilder builder_;
  MessageMatcher matcher_;
  std::uint32_t rank_ = 0;
  std::optional<std::uint32_t> last_;                ///< what the rank's next work waits for
  std::vector<std::uint32_t> reduced_;               ///< gradients that the optimizer waits for
  std::vector<std::vector<std::uint32_t>> numbers_;  ///< by group: its collectives
  std::vector<std::uint32_t> turn_;                  ///< by group: how many of them the rank has had
};

}  // namespace

const std::vector<ModelShape>& model_presets() {
  static const std::vector<ModelShape> presets{
      {"dense_8b", 32, 4096, 14'336, 0.25, 128'256, 8192, 0, 0, 0},
      {"dense_70b", 80, 8192, 28'672, 0.125, 128'256, 8192, 0, 0, 0},
      {"dense_405b", 126, 16'384, 53'248, 0.0625, 128'256, 8192, 0, 0, 0},
      {"moe_47b", 32, 4096, 14'336, 0.25, 32'000, 8192, 8, 2, 0},
      {"moe_671b", 61, 7168, 2048, 1.0, 129'280, 4096, 256, 8, 1},
  };
  return presets;
}

Workload make_training_step(const TrainingOptions& options) {
  return Step(options).run();
}

}  // namespace mrc
