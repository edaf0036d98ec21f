#include "host/live_work.h"

#include <utility>

#include "host/work_player.h"

namespace mrc {

void LiveWork::attach(WorkPlacement& placement, std::vector<WorkPlayer*> player_of_rank) {
  placement_ = &placement;
  players_ = std::move(player_of_rank);
  for (WorkPlayer* player : players_) player->open(software_);
}

void LiveWork::call_at(std::uint32_t rank, TimePs at, std::uint32_t token) {
  players_[rank]->call_at(at, token);
}

void LiveWork::append(WorkNode node) {
  const auto index = static_cast<std::uint32_t>(workload_.nodes.size());
  workload_.nodes.push_back(node);
  auto& of_node = placement_->of_node[placement_->node_of(node)];
  placement_->local.push_back(static_cast<std::uint32_t>(of_node.size()));
  of_node.push_back(index);
  players_[node.rank]->add_state();
}

std::uint32_t LiveWork::add(const LiveMessage& message) {
  const auto index = static_cast<std::uint32_t>(workload_.nodes.size());
  WorkNode send;
  send.kind = WorkKind::send;
  send.bytes = message.bytes;
  send.origin = index;
  send.rank = message.from;
  send.peer = message.to;
  send.tag = message.tag;
  send.match = index + 1;
  WorkNode receive = send;
  receive.kind = WorkKind::receive;
  receive.origin = index + 1;
  std::swap(receive.rank, receive.peer);
  receive.match = index;
  append(send);
  append(receive);
  return index;
}

void LiveWork::begin(TimePs now, std::uint32_t work) {
  players_[workload_.nodes[work].rank]->begin_added(now, work);
}

void LiveWork::close(TimePs now, std::uint32_t rank) {
  players_[rank]->close(now);
}

}  // namespace mrc
