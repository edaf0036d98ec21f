#include "astra_sim/live_network.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace mrc {

LiveNetwork::LiveNetwork(Workload& workload, std::vector<NodeId> nics, double gigabytes_per_second)
    : workload_(workload),
      work_(workload, *this),
      nics_(std::move(nics)),
      gigabytes_per_second_(gigabytes_per_second),
      finished_at_(workload.ranks, kNever) {}

/// Other nodes have times of their own, so that nothing may happen there now.
void LiveNetwork::check(std::uint32_t rank) const {
  if (acting_ == kNobody || nics_[rank] == nics_[acting_]) return;
  throw std::invalid_argument(
      "ASTRA-sim lets sys[" + std::to_string(rank) + "] act in an event of sys[" + std::to_string(acting_) +
      "], as a remote memory that systems share does; not supported: systems act for themselves");
}

void LiveNetwork::schedule(std::uint32_t rank, double delta_ns, Handler handler) {
  check(rank);
  const auto delta = static_cast<TimePs>(std::max(delta_ns, 0.0) * static_cast<double>(kPsPerNs));
  scheduled_[next_token_] = {rank, handler};
  work_.call_at(rank, now_ + delta, next_token_++);
}

std::uint32_t LiveNetwork::match(const LiveMessage& message, bool is_send) {
  const std::uint32_t rank = std::max(message.from, message.to);
  if (rank >= nics_.size()) {
    throw std::invalid_argument("ASTRA-sim names sys[" + std::to_string(rank) + "]; allowed: 0 to " +
                                std::to_string(nics_.size() - 1));
  }
  Waiting& waiting = waiting_[{message.from, message.to, message.tag, message.bytes}];
  std::deque<std::uint32_t>& own = is_send ? waiting.sent : waiting.asked_for;
  std::deque<std::uint32_t>& other = is_send ? waiting.asked_for : waiting.sent;
  if (other.empty()) {
    own.push_back(work_.add(message));
    handlers_.resize(workload_.nodes.size());
    return own.back();
  }
  const std::uint32_t send = other.front();
  other.pop_front();
  if (other.empty()) waiting_.erase({message.from, message.to, message.tag, message.bytes});
  return send;
}

void LiveNetwork::send(const LiveMessage& message, Handler handler) {
  check(message.from);
  const std::uint32_t work = match(message, true);
  handlers_[work] = handler;
  work_.begin(now_, work);
}

void LiveNetwork::receive(const LiveMessage& message, Handler handler) {
  check(message.to);
  const std::uint32_t work = match(message, false) + 1;
  handlers_[work] = handler;
  work_.begin(now_, work);
}

void LiveNetwork::finish(std::uint32_t rank) {
  finished_at_[rank] = now_;
  work_.close(now_, rank);
}

void LiveNetwork::act(TimePs now, std::uint32_t rank, const Handler& handler) {
  now_ = now;
  acting_ = rank;
  handler.function(handler.argument);
  acting_ = kNobody;
}

void LiveNetwork::called(TimePs now, std::uint32_t token) {
  const auto found = scheduled_.find(token);
  const Scheduled scheduled = found->second;
  scheduled_.erase(found);
  act(now, scheduled.rank, scheduled.handler);
}

void LiveNetwork::done(TimePs now, std::uint32_t work) {
  act(now, workload_.nodes[work].rank, handlers_[work]);
}

}  // namespace mrc
