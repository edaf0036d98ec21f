#include "host/collective_schedule.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "mrc/random.h"

namespace mrc {
namespace {

/// A workload has a send and a receive for each, and no more than twice this number of nodes.
constexpr std::uint64_t kMostTransfers = 1ULL << 25;
constexpr std::uint32_t kNone = 0xFFFF'FFFF;

[[noreturn]] void too_many(std::uint32_t ranks) {
  throw std::invalid_argument(
      fmt::format("a collective of {} ranks takes more than {} messages", ranks, kMostTransfers));
}

/// Bytes of a buffer.
struct Range {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Part `i` of `n`; parts differ by at most one byte.
Range part_of(const Range& whole, std::uint32_t i, std::uint32_t n) {
  const auto at = [&](std::uint64_t k) { return whole.bytes / n * k + whole.bytes % n * k / n; };
  return {whole.offset + at(i), at(std::uint64_t{i} + 1) - at(i)};
}

class Scheduler {
 public:
  Scheduler(std::uint32_t ranks, bool folded, const CollectiveOptions& options)
      : ranks_(ranks), positions_(folded ? 1 : ranks), folded_(folded), options_(options) {
    schedule_.ranks = ranks;
    schedule_.folded = folded;
  }

  void all_reduce(const Range& whole) {
    for_each_channel(whole, [&](const Range& part) {
      switch (options_.all_reduce) {
        case AllReduceAlgorithm::ring:
          return for_each_chunk(part.bytes, ranks_, [&](const auto& cut) { ring_all_reduce(part, cut); });
        case AllReduceAlgorithm::halving_doubling:
          return halving_doubling(part);
        case AllReduceAlgorithm::double_binary_tree:
          channel_ *= 2;
          tree(part_of(part, 0, 2), 0);
          ++channel_;
          return tree(part_of(part, 1, 2), 1);
        case AllReduceAlgorithm::hierarchical:
          return for_each_chunk(part.bytes, std::min(ranks_, std::max(1U, options_.ranks_per_host)),
                                [&](const auto& cut) { hierarchical(part, cut); });
        case AllReduceAlgorithm::in_network:
          throw std::invalid_argument("an all-reduce in switches (in_network) has no messages between ranks");
      }
    });
  }
  void all_gather(const Range& whole) {
    for_each_channel(whole, [&](const Range& part) {
      for_each_chunk(part.bytes, ranks_, [&](const auto& cut) {
        Steps steps(*this, 1, ranks_);
        for (std::uint32_t k = 0; k + 1 < ranks_; ++k) steps.add(false, [&](auto p) { return share(part, p, k, cut); });
      });
    });
  }
  void reduce_scatter(const Range& whole) {
    for_each_channel(whole, [&](const Range& part) {
      for_each_chunk(part.bytes, ranks_, [&](const auto& cut) {
        Steps steps(*this, 1, ranks_);
        for (std::uint32_t k = 0; k + 1 < ranks_; ++k)
          steps.add(true, [&](auto p) { return share(part, p, k + 1, cut); });
      });
    });
  }
  void all_to_all(const Range& whole) {
    const std::vector<std::uint64_t> start = block_starts(whole.bytes);
    const bool paced = options_.all_to_all == AllToAllAlgorithm::paced;
    std::vector<std::vector<std::uint32_t>> sent(positions_);
    for (std::uint32_t k = 1; k < ranks_; ++k) {
      channel_ = k - 1;
      for (std::uint32_t p = 0; p < positions_; ++p) {
        const std::uint32_t to = (p + k) % ranks_;
        const Range block{start[to], start[to + 1] - start[to]};
        const bool waits = paced && sent[p].size() >= options_.window;
        const std::uint32_t before = waits ? sent[p][sent[p].size() - options_.window] : kNone;
        sent[p].push_back(add(p, to, folded_ ? longest(whole, ranks_) : block, false, {before}));
        schedule_.transfers.back().paced = waits;
      }
    }
  }
  /// From the root along the ring of ranks, one chunk at a time.
  void broadcast(const Range& whole, std::uint32_t root) {
    for_each_channel(whole, [&](const Range& part) {
      for_each_chunk(part.bytes, 1, [&](const auto& cut) {
        std::uint32_t before = kNone;
        for (std::uint32_t i = 0; i + 1 < ranks_; ++i)
          before = add((root + i) % ranks_, (root + i + 1) % ranks_, cut(part), false, {before});
      });
    });
  }
  void reduce(const Range& whole, std::uint32_t root) {
    for_each_channel(whole, [&](const Range& part) {
      for_each_chunk(part.bytes, 1, [&](const auto& cut) {
        std::uint32_t before = kNone;
        for (std::uint32_t i = 1; i < ranks_; ++i)
          before = add((root + i) % ranks_, (root + i + 1) % ranks_, cut(part), true, {before});
      });
    });
  }
  void gather(const Range& whole, std::uint32_t root, bool towards_root) {
    for (std::uint32_t i = 1; i < ranks_; ++i) {
      const std::uint32_t other = (root + i) % ranks_;
      channel_ = i - 1;
      const Range block = part_of(whole, other, ranks_);
      add(towards_root ? other : root, towards_root ? root : other, block, false, {});
    }
  }
  /// Dissemination: in step k each rank notifies the rank 2^k further on.
  void barrier() {
    Waits arrived(positions_);
    for (std::uint32_t distance = 1; distance < ranks_; distance *= 2) {
      Waits arriving = arrived;
      for (std::uint32_t p = 0; p < positions_; ++p) {
        const std::uint32_t to = (p + distance) % ranks_;
        arriving[folded_ ? 0 : to].push_back(add(p, to, {}, false, arrived[p]));
      }
      arrived = std::move(arriving);
      ++channel_;
    }
  }

  CollectiveSchedule finish() {
    std::sort(edges_.begin(), edges_.end());
    std::uint32_t position = 0;
    for (std::uint32_t i = 0; i < schedule_.transfers.size(); ++i) {
      Transfer& transfer = schedule_.transfers[i];
      transfer.first_dependent = position;
      for (; position < edges_.size() && edges_[position].first == i; ++position)
        schedule_.dependents.push_back(edges_[position].second);
      transfer.dependents = position - transfer.first_dependent;
    }
    return std::move(schedule_);
  }

 private:
  using Waits = std::vector<std::vector<std::uint32_t>>;  ///< by position

  /// Steps of a ring over the positions first, first + stride, … of each of the groups that `size` and `stride` make:
  /// in each step every rank forwards what it received in the previous one.
  class Steps {
   public:
    Steps(Scheduler& scheduler, std::uint32_t stride, std::uint32_t size)
        : scheduler_(scheduler),
          stride_(stride),
          size_(size),
          before_(scheduler.positions_),
          last_(scheduler.positions_),
          arrived_(scheduler.positions_) {}
    /// What has arrived at a rank before its first step; also before later ones, since the ring may be ahead of it.
    void follow(const Waits& arrived) {
      for (std::size_t p = 0; p < before_.size(); ++p)
        before_[p].insert(before_[p].end(), arrived[p].begin(), arrived[p].end());
    }
    /// All that has arrived in all steps: the last message may overtake earlier ones.
    const Waits& arrived() const { return arrived_; }

    template <typename RangeOf>
    void add(bool reduces, RangeOf range_of) {
      Waits arriving(last_.size());
      for (std::uint32_t p = 0; p < scheduler_.positions_; ++p) {
        const std::uint32_t position = p / stride_ % size_;
        const std::uint32_t next = p - position * stride_ + (position + 1) % size_ * stride_;
        const std::uint32_t at = scheduler_.folded_ ? 0 : next;
        std::vector<std::uint32_t> waits = before_[p];
        waits.insert(waits.end(), last_[p].begin(), last_[p].end());
        arriving[at] = {scheduler_.add(p, next, range_of(p), reduces, waits)};
        arrived_[at].push_back(arriving[at].front());
      }
      last_ = std::move(arriving);
    }

   private:
    Scheduler& scheduler_;
    std::uint32_t stride_;
    std::uint32_t size_;
    Waits before_;
    Waits last_;
    Waits arrived_;
  };

  Range longest(const Range& whole, std::uint32_t n) const { return {0, (whole.bytes + n - 1) / n}; }

  /// The share that position `p` sends in step `k`: k places before its own.
  template <typename Cut>
  Range share(const Range& part, std::uint32_t p, std::uint32_t k, Cut cut) const {
    if (folded_) return cut(longest(part, ranks_));
    return cut(part_of(part, (p + 2 * ranks_ - k % ranks_) % ranks_, ranks_));
  }

  template <typename Body>
  void for_each_channel(const Range& whole, Body body) {
    for (std::uint32_t c = 0; c < options_.channels; ++c) {
      channel_ = c;
      body(part_of(whole, c, options_.channels));
    }
    channel_ = 0;
  }
  /// Calls body(cut) for each chunk of the shares of `bytes`; cut(share) is the chunk's piece of a share.
  template <typename Body>
  void for_each_chunk(std::uint64_t bytes, std::uint32_t shares, Body body) {
    const std::uint64_t share = (bytes + shares - 1) / shares;
    const std::uint64_t chunks =
        options_.chunk_bytes == 0
            ? 1
            : std::max<std::uint64_t>(1, (share + options_.chunk_bytes - 1) / options_.chunk_bytes);
    if (chunks > kMostTransfers) too_many(ranks_);
    for (std::uint32_t i = 0; i < chunks; ++i)
      body([i, n = static_cast<std::uint32_t>(chunks)](const Range& of) { return part_of(of, i, n); });
  }

  template <typename Cut>
  void ring_all_reduce(const Range& part, Cut cut) {
    Steps steps(*this, 1, ranks_);
    for (std::uint32_t k = 0; k + 2 < 2 * ranks_; ++k)
      steps.add(k + 1 < ranks_, [&](auto p) { return share(part, p, k, cut); });
  }

  /// Rings within hosts scatter what is reduced, rings across hosts reduce it, rings within hosts gather it.
  template <typename Cut>
  void hierarchical(const Range& part, Cut cut) {
    const std::uint32_t local = std::min(options_.ranks_per_host, ranks_);
    if (local == 0 || ranks_ % local != 0) {
      throw std::invalid_argument(
          fmt::format("a hierarchical all-reduce of {} ranks needs a multiple of {} ranks per host", ranks_, local));
    }
    const std::uint32_t hosts = ranks_ / local;
    const auto inner = [&](std::uint32_t p, std::uint32_t k) {
      if (folded_) return cut(longest(part, local));
      return cut(part_of(part, (p % local + 2 * local - k % local) % local, local));
    };
    const auto outer = [&](std::uint32_t p, std::uint32_t k) {
      const Range own = inner(p, local - 1);
      if (folded_) return longest(own, hosts);
      return part_of(own, (p / local + 2 * hosts - k % hosts) % hosts, hosts);
    };
    Steps scatter(*this, 1, local);
    for (std::uint32_t k = 0; k + 1 < local; ++k) scatter.add(true, [&](auto p) { return inner(p, k); });
    Steps across(*this, local, hosts);
    across.follow(scatter.arrived());
    for (std::uint32_t k = 0; k + 2 < 2 * hosts; ++k) across.add(k + 1 < hosts, [&](auto p) { return outer(p, k); });
    Steps gathering(*this, 1, local);
    gathering.follow(scatter.arrived());
    gathering.follow(across.arrived());
    for (std::uint32_t k = 0; k + 1 < local; ++k) gathering.add(false, [&](auto p) { return inner(p, k + local - 1); });
  }

  /// Ranks beyond a power of two hand their data to a neighbour at the start and get the result at the end.
  void halving_doubling(const Range& part) {
    const std::uint32_t core = std::bit_floor(ranks_);
    const std::uint32_t extra = ranks_ - core;
    std::vector<std::uint32_t> rank_of;  // in the core
    Waits arrived(positions_);
    for (std::uint32_t p = 0; p < ranks_; ++p) {
      if (p >= 2 * extra || p % 2 == 0) rank_of.push_back(p);
    }
    for (std::uint32_t i = 0; i < extra; ++i) arrived[2 * i] = {add(2 * i + 1, 2 * i, part, true, {})};
    std::vector<Range> has(core, part);
    for (std::uint32_t distance = core / 2; distance > 0; distance /= 2) {
      exchange(rank_of, arrived, distance, true,
               [&](std::uint32_t i) { return part_of(has[i], (i & distance) == 0 ? 1 : 0, 2); });
      for (std::uint32_t i = 0; i < core; ++i) has[i] = part_of(has[i], (i & distance) == 0 ? 0 : 1, 2);
    }
    for (std::uint32_t distance = 1; distance < core; distance *= 2) {
      exchange(rank_of, arrived, distance, false, [&](std::uint32_t i) { return has[i]; });
      const std::vector<Range> before = has;
      for (std::uint32_t i = 0; i < core; ++i) {
        const Range& other = before[i ^ distance];
        has[i] = {std::min(before[i].offset, other.offset), before[i].bytes + other.bytes};
      }
    }
    for (std::uint32_t i = 0; i < extra; ++i) add(2 * i, 2 * i + 1, part, false, arrived[2 * i]);
  }
  /// Waits for all that has arrived: messages of one step may overtake those of another partner.
  template <typename RangeOf>
  void exchange(const std::vector<std::uint32_t>& rank_of, Waits& arrived, std::uint32_t distance, bool reduces,
                RangeOf range_of) {
    Waits arriving = arrived;
    const auto count = folded_ ? 1 : static_cast<std::uint32_t>(rank_of.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t from = rank_of[i];
      const std::uint32_t to = rank_of[i ^ distance];
      arriving[folded_ ? 0 : to].push_back(add(from, to, range_of(i), reduces, arrived[from]));
    }
    arrived = std::move(arriving);
  }

  /// A binary tree in which the ranks at odd places (counted from 1) are leaves; `shift` 1 makes the other ones leaves.
  void tree(const Range& half, std::uint32_t shift) {
    std::vector<std::uint32_t> parent(ranks_ + 1, 0);
    const std::uint32_t root = std::bit_floor(ranks_);
    adopt(parent, root, root / 2);
    const auto rank = [&](std::uint32_t place) { return (place - 1 + shift) % ranks_; };
    std::vector<std::uint32_t> from_root = places_from_root(parent, root);
    for_each_chunk(half.bytes, 1, [&](const auto& cut) {
      std::vector<std::vector<std::uint32_t>> arrived(ranks_ + 1);
      for (auto place = from_root.rbegin(); place != from_root.rend(); ++place) {
        if (*place == root) continue;
        const std::uint32_t up = add(rank(*place), rank(parent[*place]), cut(half), true, arrived[*place]);
        arrived[parent[*place]].push_back(up);
      }
      std::vector<std::uint32_t> down(ranks_ + 1, kNone);
      for (const std::uint32_t place : from_root) {
        if (place == root) continue;
        const std::uint32_t above = parent[place];
        const std::vector<std::uint32_t> waits = above == root ? arrived[root] : std::vector{down[above]};
        down[place] = add(rank(above), rank(place), cut(half), false, waits);
      }
    });
  }
  void adopt(std::vector<std::uint32_t>& parent, std::uint32_t place, std::uint32_t distance) const {
    if (distance == 0) return;
    parent[place - distance] = place;
    adopt(parent, place - distance, distance / 2);
    std::uint32_t right = distance;
    while (right > 0 && place + right > ranks_) right /= 2;
    if (right == 0) return;
    parent[place + right] = place;
    adopt(parent, place + right, right / 2);
  }
  std::vector<std::uint32_t> places_from_root(const std::vector<std::uint32_t>& parent, std::uint32_t root) const {
    std::vector<std::vector<std::uint32_t>> children(ranks_ + 1);
    for (std::uint32_t place = 1; place <= ranks_; ++place) {
      if (place != root) children[parent[place]].push_back(place);
    }
    std::vector<std::uint32_t> order{root};
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const std::uint32_t child : children[order[i]]) order.push_back(child);
    }
    return order;
  }

  /// Where each rank's block of an all-to-all starts in a sender's buffer, and its end.
  std::vector<std::uint64_t> block_starts(std::uint64_t bytes) const {
    std::vector<std::uint64_t> start(ranks_ + 1, 0);
    std::vector<double> weight(ranks_, 1.0);
    if (options_.skew > 0) {
      std::vector<std::uint32_t> popularity(ranks_);
      std::iota(popularity.begin(), popularity.end(), 0U);
      KeyedRandom random(options_.seed, "collective.all_to_all.popularity");
      for (std::uint32_t i = ranks_ - 1; i > 0; --i)
        std::swap(popularity[i], popularity[random.below(std::uint64_t{i} + 1)]);
      for (std::uint32_t k = 0; k < ranks_; ++k) weight[popularity[k]] = std::pow(k + 1.0, -options_.skew);
    }
    const double sum = std::accumulate(weight.begin(), weight.end(), 0.0);
    double before = 0;
    for (std::uint32_t i = 0; i < ranks_; ++i) {
      before += weight[i];
      start[i + 1] = options_.skew > 0
                         ? std::min(bytes, static_cast<std::uint64_t>(before / sum * static_cast<double>(bytes) + 0.5))
                         : part_of({0, bytes}, i, ranks_).offset + part_of({0, bytes}, i, ranks_).bytes;
    }
    start[ranks_] = bytes;
    return start;
  }

  std::uint32_t add(std::uint32_t source, std::uint32_t destination, const Range& range, bool reduces,
                    const std::vector<std::uint32_t>& waits) {
    const auto index = static_cast<std::uint32_t>(schedule_.transfers.size());
    if (index >= kMostTransfers) too_many(ranks_);
    Transfer transfer;
    transfer.source = source;
    transfer.destination = folded_ ? 0 : destination;
    transfer.offset = range.offset;
    transfer.bytes = range.bytes;
    transfer.channel = channel_;
    transfer.reduces = reduces;
    for (const std::uint32_t before : waits) {
      if (before == kNone) continue;
      edges_.emplace_back(before, index);
      ++transfer.waits;
    }
    schedule_.transfers.push_back(transfer);
    return index;
  }
  std::uint32_t ranks_;
  std::uint32_t positions_;  ///< whose transfers are made
  bool folded_;
  const CollectiveOptions& options_;
  std::uint32_t channel_ = 0;
  CollectiveSchedule schedule_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
};

/// Messages of a rank, at least; known before any is made.
std::uint32_t least_steps(CollectiveKind kind, std::uint32_t ranks, const CollectiveOptions& options) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      if (options.all_reduce == AllReduceAlgorithm::ring) return 2 * (ranks - 1);
      if (options.all_reduce == AllReduceAlgorithm::hierarchical) return ranks / std::max(1U, options.ranks_per_host);
      return 1;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
      return ranks - 1;
    default:
      return 1;
  }
}

CollectiveSchedule make(CollectiveKind kind, std::uint64_t bytes, std::uint32_t ranks, std::uint32_t root, bool folded,
                        const CollectiveOptions& options) {
  if (options.channels == 0 || options.window == 0) throw std::invalid_argument("channels and window are at least 1");
  Scheduler scheduler(ranks, folded, options);
  const Range whole{0, bytes};
  if (ranks < 2) return scheduler.finish();
  if (std::uint64_t{folded ? 1 : ranks} * least_steps(kind, ranks, options) > kMostTransfers) too_many(ranks);
  switch (kind) {
    case CollectiveKind::all_reduce:
      scheduler.all_reduce(whole);
      break;
    case CollectiveKind::all_gather:
      scheduler.all_gather(whole);
      break;
    case CollectiveKind::reduce_scatter:
      scheduler.reduce_scatter(whole);
      break;
    case CollectiveKind::all_to_all:
      scheduler.all_to_all(whole);
      break;
    case CollectiveKind::broadcast:
      scheduler.broadcast(whole, root);
      break;
    case CollectiveKind::reduce:
      scheduler.reduce(whole, root);
      break;
    case CollectiveKind::gather:
      scheduler.gather(whole, root, true);
      break;
    case CollectiveKind::scatter:
      scheduler.gather(whole, root, false);
      break;
    case CollectiveKind::barrier:
      scheduler.barrier();
      break;
  }
  return scheduler.finish();
}

}  // namespace

bool is_symmetric(CollectiveKind kind, std::uint32_t ranks, const CollectiveOptions& options) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      if (options.all_reduce == AllReduceAlgorithm::halving_doubling) return std::has_single_bit(ranks);
      return options.all_reduce != AllReduceAlgorithm::double_binary_tree;
    case CollectiveKind::all_to_all:
      return options.skew == 0;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::barrier:
      return true;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return false;
  }
  return false;
}

CollectiveSchedule make_schedule(CollectiveKind kind, std::uint64_t bytes, std::uint32_t ranks, std::uint32_t root,
                                 const CollectiveOptions& options) {
  return make(kind, bytes, ranks, root, false, options);
}

CollectiveSchedule make_folded_schedule(CollectiveKind kind, std::uint64_t bytes, std::uint32_t ranks,
                                        const CollectiveOptions& options) {
  if (!is_symmetric(kind, ranks, options)) throw std::invalid_argument("the ranks of this collective differ");
  return make(kind, bytes, ranks, 0, true, options);
}

const char* algorithm_name(CollectiveKind kind, const CollectiveOptions& options) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      switch (options.all_reduce) {
        case AllReduceAlgorithm::ring:
          return "ring";
        case AllReduceAlgorithm::halving_doubling:
          return "halving_doubling";
        case AllReduceAlgorithm::double_binary_tree:
          return "double_binary_tree";
        case AllReduceAlgorithm::hierarchical:
          return "hierarchical";
        case AllReduceAlgorithm::in_network:
          return "in_network";
      }
      return "";
    case CollectiveKind::all_to_all:
      return options.all_to_all == AllToAllAlgorithm::direct ? "direct" : "paced";
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return "ring";
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return "chain";
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return "direct";
    case CollectiveKind::barrier:
      return "dissemination";
  }
  return "";
}

double bus_bandwidth_factor(CollectiveKind kind, std::uint32_t ranks) {
  const double n = ranks;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2.0 * (n - 1.0) / n;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return (n - 1.0) / n;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return 1.0;
    case CollectiveKind::barrier:
      return 0.0;
  }
  return 0.0;
}

}  // namespace mrc
