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

enum class Scheme : std::uint8_t { data, model, hybrid };

struct Part {
  TimePs compute = 0;
  std::optional<std::uint32_t> collective;  ///< in the builder
};

struct Row {
  std::uint64_t line = 0;
  std::array<Part, 3> parts;
  TimePs update = 0;
};

/// Sizes of the ways a step is spread over ranks; each at least 1.
struct Parallelism {
  std::uint32_t tensor = 1;
  std::uint32_t expert = 1;
  std::uint32_t pipeline = 1;
  std::uint32_t ranks = 0;
  std::uint32_t data() const { return ranks / (tensor * pipeline); }
};

class AstraReader {
 public:
  AstraReader(std::istream& in, const std::string& name, const ReadOptions& options, Warnings& warnings)
      : lines_(in, name), options_(options), warnings_(warnings), builder_(options.totals) {}

  Workload run() {
    take_head();
    const std::uint64_t rows = take_count();
    std::vector<Row> taken;
    const std::uint64_t most = options_.rows == 0 ? rows : std::min(rows, options_.rows);
    std::uint64_t read = 0;
    while (lines_.next()) {
      const std::vector<std::string_view> words = words_of(lines_.text());
      if (words.empty()) continue;
      if (++read > rows) throw TraceError(lines_.place(), fmt::format("line 2 says {} rows, but there are more", rows));
      if (read > most) continue;
      taken.push_back(take_row(words));
      if (!builder_.counts_only()) continue;
      play(taken);
      taken.clear();
      builder_.drop_collectives();
    }
    if (read < rows) throw TraceError(lines_.name(), fmt::format("line 2 says {} rows, but there are {}", rows, read));
    if (pipeline_bytes_ > 0) {
      warnings_.push_back(
          fmt::format("{}: {} B between pipeline stages have no place among the rows; they are not played",
                      lines_.name(), pipeline_bytes_));
    }
    play(taken);
    Workload workload = builder_.finish(shape_.ranks);
    workload.same_on_all_ranks = true;
    return workload;
  }

 private:
  void take_head() {
    if (!lines_.next()) throw TraceError(lines_.name(), "is empty; expected the kind of parallelism");
    const std::vector<std::string_view> words = words_of(lines_.text());
    if (words.empty()) throw TraceError(lines_.place(), "expected the kind of parallelism");
    const std::string_view kind = words[0];
    if (kind == "DATA") {
      scheme_ = Scheme::data;
    } else if (kind == "MODEL") {
      scheme_ = Scheme::model;
    } else if (kind == "HYBRID_TRANSFORMER" || kind == "HYBRID_TRANSFORMER_FWD_IN_BCKWD") {
      scheme_ = Scheme::hybrid;
    } else {
      throw TraceError(lines_.place(), fmt::format("parallelism is \"{}\"; allowed: DATA, MODEL, HYBRID_TRANSFORMER, "
                                                   "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                                                   kind));
    }
    std::uint64_t world = 0;
    std::uint64_t checkpoints = 0;
    for (std::size_t i = 1; i < words.size(); i += 2) {
      std::string_view key = words[i];
      if (key.ends_with(':')) key.remove_suffix(1);
      if (i + 1 >= words.size()) throw TraceError(lines_.place(), fmt::format("option {} has no value", key));
      const auto value = [&](std::uint64_t minimum, std::uint64_t maximum) {
        return parse_integer(words[i + 1], lines_, key, minimum, maximum);
      };
      if (key == "model_parallel_NPU_group") {
        shape_.tensor = static_cast<std::uint32_t>(value(1, kMostRank + 1));
      } else if (key == "ep") {
        shape_.expert = static_cast<std::uint32_t>(value(1, kMostRank + 1));
      } else if (key == "pp") {
        shape_.pipeline = static_cast<std::uint32_t>(value(1, kMostRank + 1));
      } else if (key == "all_gpus") {
        world = value(1, kMostRank + 1);
      } else if (key == "pp_comm") {
        pipeline_bytes_ = value(0, kMostMessageBytes);
      } else if (key == "vpp" || key == "ga" || key == "checkpoint_initiates") {
        value(0, kMostRows);
      } else if (key == "checkpoints") {
        // Each is followed by the layers at which forward work is done again.
        checkpoints = value(0, kMostRows);
        if (checkpoints > 0) {
          throw TraceError(lines_.place(),
                           "checkpoints are not played; allowed: checkpoints: 0 (rows that already hold "
                           "what is done again)");
        }
      } else if (options_.strict) {
        throw TraceError(lines_.place(), fmt::format("option {} is not known", key));
      } else {
        warnings_.push_back(fmt::format("{}: option {} is not known and has no effect", lines_.place(), key));
      }
    }
    fit_to(static_cast<std::uint32_t>(world));
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
    const std::uint64_t model = std::uint64_t{shape_.tensor} * shape_.pipeline;
    if (shape_.ranks % model != 0 || shape_.data() % shape_.expert != 0) {
      throw TraceError(lines_.place(),
                       fmt::format("{} ranks are not a multiple of tensor {} x pipeline {} x expert {} parallel ranks",
                                   shape_.ranks, shape_.tensor, shape_.pipeline, shape_.expert));
    }
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
  Row take_row(const std::vector<std::string_view>& words) {
    if (words.size() != kFields) {
      throw TraceError(lines_.place(),
                       fmt::format("expected {} fields (name, reserved, and of forward, input gradient and weight "
                                   "gradient: compute ns, kind, bytes; update ns), found {}",
                                   kFields, words.size()));
    }
    Row row;
    row.line = lines_.number();
    for (std::size_t pass = 0; pass < row.parts.size(); ++pass) {
      const std::size_t at = 2 + 3 * pass;
      row.parts[pass].compute = time(words[at], fmt::format("{} compute (ns)", kPassNames[pass]));
      const std::uint64_t bytes =
          parse_integer(words[at + 2], lines_, fmt::format("{} bytes", kPassNames[pass]), 0, kMostMessageBytes);
      const std::optional<Collective> collective = collective_of(words[at + 1], static_cast<Pass>(pass), bytes);
      if (collective) row.parts[pass].collective = builder_.collective(*collective);
    }
    row.update = time(words[11], "update (ns)");
    return row;
  }
  /// Nothing for NONE, and for a kind of 0 bytes.
  std::optional<Collective> collective_of(std::string_view word, Pass pass, std::uint64_t bytes) {
    constexpr std::array<std::pair<std::string_view, CollectiveKind>, 4> kinds{
        {{"ALLREDUCE", CollectiveKind::all_reduce},
         {"ALLGATHER", CollectiveKind::all_gather},
         {"REDUCESCATTER", CollectiveKind::reduce_scatter},
         {"ALLTOALL", CollectiveKind::all_to_all}}};
    if (word == "NONE") return std::nullopt;
    for (const auto& [name, kind] : kinds) {
      if (!word.starts_with(name)) continue;
      const std::optional<RankGroup> group = group_of(word.substr(name.size()), pass);
      if (!group) break;
      if (bytes == 0) return std::nullopt;
      return Collective{kind, bytes, builder_.group(group->ranks), 0};
    }
    throw TraceError(lines_.place(), fmt::format("{} kind is \"{}\"; allowed: NONE, or ALLREDUCE, ALLGATHER, "
                                                 "REDUCESCATTER, ALLTOALL, alone or with _TP, _DP, _EP, _DP_EP",
                                                 kPassNames[static_cast<std::size_t>(pass)], word));
  }
  std::optional<RankGroup> group_of(std::string_view suffix, Pass pass) const {
    if (suffix.empty()) {
      if (scheme_ != Scheme::hybrid) return group(1, shape_.ranks);
      return pass == Pass::weight_gradient ? group(shape_.tensor, shape_.data()) : group(1, shape_.tensor);
    }
    if (suffix == "_TP") return group(1, shape_.tensor);
    if (suffix == "_DP") return group(shape_.tensor, shape_.data());
    if (suffix == "_EP") return group(shape_.tensor, shape_.expert);
    if (suffix == "_DP_EP") return group(shape_.tensor * shape_.expert, shape_.data() / shape_.expert);
    return std::nullopt;
  }
  static RankGroup group(std::uint32_t stride, std::uint32_t size) {
    RankGroup members;
    for (std::uint32_t i = 0; i < size; ++i) members.ranks.push_back(i * stride);
    return members;
  }

  void play(const std::vector<Row>& rows) {
    for (const Row& row : rows) add_part(row, row.parts[0]);
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
      const std::uint32_t gradient = add_compute(*row, row->parts[2].compute, last_);
      last_ = gradient;
      if (row->parts[2].collective) {
        // Beside the backward pass: only the update waits for it.
        const std::uint32_t reduced = add_collective(*row, *row->parts[2].collective, gradient);
        if (row->update > 0) add_compute(*row, row->update, reduced);
      } else if (row->update > 0) {
        add_compute(*row, row->update, gradient);
      }
      add_part(*row, row->parts[1]);
    }
  }
  void add_part(const Row& row, const Part& part) {
    last_ = add_compute(row, part.compute, last_);
    if (part.collective) last_ = add_collective(row, *part.collective, last_);
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
  Scheme scheme_ = Scheme::hybrid;
  Parallelism shape_;
  std::uint64_t pipeline_bytes_ = 0;
  std::uint32_t last_ = kNoWork;
};

}  // namespace

Workload read_astra(std::istream& in, const std::string& name, const ReadOptions& options, Warnings& warnings) {
  return AstraReader(in, name, options, warnings).run();
}

}  // namespace mrc
