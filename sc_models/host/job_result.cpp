#include "host/job_result.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace mrc {
namespace {

struct Interval {
  TimePs begin = 0;
  TimePs end = 0;
  friend auto operator<=>(const Interval&, const Interval&) = default;
};

/// Sorted and without overlaps.
std::vector<Interval> united(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::vector<Interval> result;
  for (const Interval& i : intervals) {
    if (!result.empty() && i.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, i.end);
    } else {
      result.push_back(i);
    }
  }
  return result;
}

TimePs length(const std::vector<Interval>& intervals) {
  TimePs sum = 0;
  for (const Interval& i : intervals) sum += i.end - i.begin;
  return sum;
}

TimePs overlap(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  TimePs sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const TimePs begin = std::max(a[i].begin, b[j].begin);
    const TimePs end = std::min(a[i].end, b[j].end);
    if (begin < end) sum += end - begin;
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return sum;
}

struct RankActivity {
  std::vector<Interval> compute;
  std::vector<Interval> communication;
  TimePs end = 0;
};

struct RankTimes {
  double compute_us = 0;
  double exposed_us = 0;
  double end_us = 0;
};

RankTimes add_rank(JobResult& job, RankActivity&& activity, std::uint32_t ranks) {
  const std::vector<Interval> compute = united(std::move(activity.compute));
  const std::vector<Interval> communication = united(std::move(activity.communication));
  const auto add = [ranks](JobResult::MeanAndMax& total, double value) {
    total.mean += value / ranks;
    total.max = std::max(total.max, value);
  };
  const RankTimes times{.compute_us = us_from_ps(length(compute)),
                        .exposed_us = us_from_ps(length(communication) - overlap(communication, compute)),
                        .end_us = us_from_ps(activity.end)};
  add(job.compute_us, times.compute_us);
  add(job.communication_us, us_from_ps(length(communication)));
  add(job.exposed_communication_us, times.exposed_us);
  return times;
}

struct Mean {
  double sum = 0;
  double count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return count > 0 ? sum / count : 0; }
};

/// How much longer than the mean of its size each message of a rank took, averaged over what the rank sends and over
/// what it receives: a slow NIC or path delays all of them.
struct MessageDelays {
  MessageDelays(const Workload& workload, const std::vector<WorkTimes>& times, std::uint32_t ranks)
      : sent(ranks), received(ranks) {
    std::map<std::uint64_t, Mean> of_size;
    const auto each = [&](auto&& use) {
      for (std::size_t i = 0; i < workload.nodes.size(); ++i) {
        const WorkNode& node = workload.nodes[i];
        if (node.kind != WorkKind::send || node.rank >= ranks || node.peer >= ranks) continue;
        if (times[i].started == kNever || times[i].done == kNever) continue;
        use(node, us_from_ps(times[i].done - times[i].started));
      }
    };
    each([&](const WorkNode& node, double us) { of_size[node.bytes].add(us); });
    each([&](const WorkNode& node, double us) {
      const double late = us - of_size[node.bytes].value();
      sent[node.rank].add(late);
      received[node.peer].add(late);
    });
  }
  std::vector<Mean> sent;
  std::vector<Mean> received;
};

JobResult::LateRank late_rank(std::uint32_t rank, const RankTimes& times, double mean_compute_us,
                              const MessageDelays& delays) {
  JobResult::LateRank row{.rank = rank,
                          .late_by = "computation",
                          .sends_late_us = delays.sent[rank].value(),
                          .receives_late_us = delays.received[rank].value(),
                          .computation_late_us = times.compute_us - mean_compute_us,
                          .exposed_communication_us = times.exposed_us,
                          .end_us = times.end_us};
  if (std::max(row.sends_late_us, row.receives_late_us) >= row.computation_late_us) {
    row.late_by = row.sends_late_us >= row.receives_late_us ? "sends" : "receives";
  }
  return row;
}

double latest_of(const JobResult::LateRank& row) {
  return std::max({row.sends_late_us, row.receives_late_us, row.computation_late_us});
}

void add_late_ranks(JobResult& job, const Workload& workload, const std::vector<WorkTimes>& times,
                    const std::vector<RankTimes>& ranks, std::uint32_t most) {
  if (most == 0 || job.ranks_played < 2) return;
  const MessageDelays delays(workload, times, job.ranks_played);
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    job.late_ranks.push_back(late_rank(rank, ranks[rank], job.compute_us.mean, delays));
  }
  std::stable_sort(job.late_ranks.begin(), job.late_ranks.end(),
                   [](const auto& a, const auto& b) { return latest_of(a) > latest_of(b); });
  job.late_ranks.resize(std::min<std::size_t>(most, job.late_ranks.size()));
}

struct Meeting {
  TimePs first_start = kNever;
  TimePs last_start = 0;
  TimePs last_end = 0;
  bool whole = true;
  void add(const WorkTimes& start, TimePs started, const WorkTimes& end) {
    whole = whole && started != kNever && start.started != kNever && end.done != kNever;
    first_start = std::min(first_start, started);
    last_start = std::max(last_start, started);
    last_end = std::max(last_end, end.done);
  }
};

std::map<std::uint32_t, Meeting> meetings_of(const Workload& workload, const std::vector<WorkTimes>& times) {
  std::map<std::uint32_t, Meeting> meetings;
  for (const CollectiveSpan& span : workload.spans)
    meetings[span.collective].add(times[span.start], times[span.start].done, times[span.end]);
  for (std::size_t i = 0; i < workload.nodes.size(); ++i) {
    const WorkNode& node = workload.nodes[i];
    if (node.kind == WorkKind::collective) meetings[node.match].add(times[i], times[i].started, times[i]);
  }
  return meetings;
}

void add_collectives(JobResult& job, const Workload& workload, const std::vector<WorkTimes>& times,
                     const CollectiveOptions& options) {
  std::map<std::tuple<CollectiveKind, std::uint64_t, std::size_t>, JobResult::CollectiveRow> rows;
  for (const auto& [number, meeting] : meetings_of(workload, times)) {
    const Collective& collective = workload.collectives[number];
    const std::size_t ranks = workload.groups[collective.group].ranks.size();
    const bool of_job = workload.same_on_all_ranks || workload.groups[collective.group].ranks.front() < job.ranks;
    if (!meeting.whole || ranks < 2 || !of_job) continue;
    JobResult::CollectiveRow& row = rows[{collective.kind, collective.bytes, ranks}];
    const double time = us_from_ps(meeting.last_end - std::min(meeting.last_start, meeting.last_end));
    ++row.count;
    row.time_us.mean += time;
    row.time_us.max = std::max(row.time_us.max, time);
    row.start_skew_us = std::max(row.start_skew_us, us_from_ps(meeting.last_start - meeting.first_start));
  }
  for (auto& [key, row] : rows) {
    const auto& [kind, bytes, ranks] = key;
    row.kind = to_string(kind);
    row.algorithm = algorithm_name(kind, options);
    row.ranks = static_cast<std::uint32_t>(ranks);
    row.bytes = bytes;
    row.time_us.mean /= static_cast<double>(row.count);
    if (row.time_us.mean > 0) row.algorithm_bandwidth_gbps = static_cast<double>(bytes) * 8e-3 / row.time_us.mean;
    row.bus_bandwidth_gbps = row.algorithm_bandwidth_gbps * bus_bandwidth_factor(kind, row.ranks);
    job.collectives.push_back(row);
  }
}

}  // namespace

JobResult make_job_result(const Workload& workload, const std::vector<WorkTimes>& times,
                          const CollectiveOptions& options, std::uint32_t late_ranks) {
  JobResult job;
  job.ranks = workload.job_ranks == 0 ? workload.ranks : workload.job_ranks;
  job.ranks_played = workload.same_on_all_ranks ? 1 : job.ranks;
  std::vector<RankActivity> ranks(job.ranks_played);
  for (std::size_t i = 0; i < workload.nodes.size(); ++i) {
    const WorkNode& node = workload.nodes[i];
    const WorkTimes& t = times[i];
    if (t.started == kNever || t.done == kNever || node.rank >= job.ranks_played) continue;
    RankActivity& rank = ranks[node.rank];
    rank.end = std::max(rank.end, t.done);
    if (node.kind != WorkKind::compute) {
      rank.communication.push_back({t.started, t.done});
    } else if (node.stream != kNoStream && node.duration > 0) {
      rank.compute.push_back({t.done - node.duration, t.done});
    }
  }
  std::vector<TimePs> ends;
  std::vector<RankTimes> rank_times;
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    ends.push_back(ranks[r].end);
    if (us_from_ps(ranks[r].end) > job.step_time_us) job.straggler_rank = r;
    job.step_time_us = std::max(job.step_time_us, us_from_ps(ranks[r].end));
    rank_times.push_back(add_rank(job, std::move(ranks[r]), job.ranks_played));
  }
  if (!ends.empty()) {
    std::nth_element(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(ends.size() / 2), ends.end());
    job.straggler_behind_us = job.step_time_us - us_from_ps(ends[ends.size() / 2]);
  }
  add_late_ranks(job, workload, times, rank_times, late_ranks);
  add_collectives(job, workload, times, options);
  return job;
}

}  // namespace mrc
