// Datagrams (UD), which MRC does not have (--beyond-mrc): WRITEs with immediate on a QP that the model keeps from each
// node to each other for the datagrams of all programs, into a place that the receiver's node keeps. Therefore they are
// not lost on their way, but a receiver without a receive drops them.
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "programs/verbs_node.h"

namespace mrc {
namespace {

using namespace verbs;

/// The global routing header that a receiver finds before the bytes of a datagram.
void write_grh(std::byte* to, NodeId from_node, NodeId to_node, std::uint32_t bytes) {
  constexpr std::uint8_t version_6 = 0x60;
  constexpr std::uint8_t next_is_bth = 0x1B;
  constexpr std::uint8_t hops = 64;
  const std::array<std::uint8_t, 8> head{
      version_6, 0, 0, 0, static_cast<std::uint8_t>(bytes >> 8), static_cast<std::uint8_t>(bytes), next_is_bth, hops};
  const Gid source = gid_of(from_node);
  const Gid destination = gid_of(to_node);
  static_assert(sizeof head + sizeof source + sizeof destination == kGrhBytes);
  std::memcpy(to, head.data(), sizeof head);
  std::memcpy(to + sizeof head, source.raw, sizeof source);
  std::memcpy(to + sizeof head + sizeof source, destination.raw, sizeof destination);
}

}  // namespace

VerbsAnswer VerbsNode::modify_datagram_qp(TimePs now, QpObject& qp, const ModifyQp& wanted) {
  const std::uint32_t from = qp.state;
  if (wanted.state == kError) {
    to_error(now, qp);
    return {};
  }
  const bool allowed = (wanted.state == kInit && (from == kReset || from == kInit)) ||
                       (wanted.state == kRtr && from == kInit) ||
                       (wanted.state == kRts && (from == kRtr || from == kRts)) || wanted.state == kReset;
  if (!allowed) return {.error = EINVAL};
  if (wanted.state == kReset) qp.receives.clear();
  qp.last = wanted;
  qp.state = wanted.state;
  return {};
}

std::uint32_t VerbsNode::add_carrier(NodeId node) {
  if (next_index_ == host_->qps()) {
    fmt::print(stderr, "mrcsim: nic{}: no QP is left for datagrams to nic{}; host.programs.qps allows more\n",
               host_->node(), node);
    return 0;
  }
  const std::uint32_t number = next_object_++;
  QpObject& qp = qps_[number];
  qp.index = next_index_++;
  qp.type = kQptRc;
  qp.state = kRts;
  object_of_index_[qp.index] = number;
  carriers_[node] = number;
  return number;
}

void VerbsNode::connect_carrier(TimePs now, std::uint32_t carrier, NodeId node, std::uint32_t peer_index) {
  QpObject& qp = qps_.at(carrier);
  qp.last.peer_node = node;
  qp.last.peer_qp = (*nodes_)[node]->host_->qp(peer_index).number;
  host_->connect(qp.index, {node, qp.last.peer_qp, 0});
  host_->start_sending(now, qp.index, 0);
}

std::uint32_t VerbsNode::carrier_to(TimePs now, NodeId node) {
  if (const auto known = carriers_.find(node); known != carriers_.end()) return known->second;
  if (node >= nodes_->size() || (*nodes_)[node] == nullptr) {
    fmt::print(stderr, "mrcsim: nic{}: a datagram is for nic{}, which the scenario does not have\n", host_->node(),
               node);
    return 0;
  }
  VerbsNode& there = *(*nodes_)[node];
  const std::uint32_t here = add_carrier(node);
  const std::uint32_t peer = here == 0 ? 0 : there.add_carrier(host_->node());
  if (peer == 0) return 0;
  connect_carrier(now, here, node, there.qps_.at(peer).index);
  there.connect_carrier(now, peer, host_->node(), qps_.at(here).index);
  return here;
}

std::uint32_t VerbsNode::prepare_datagram(std::uint32_t process, const PostSend& wanted,
                                          std::span<const std::byte> tail, Pending& pending, Outgoing& out) {
  const std::uint32_t status = prepare_write(process, wanted, tail, pending, out);
  if (status != kWcSuccess) return status;
  if (pending.bytes > host_->scenario().protocol.mtu_bytes) return kWcLocalLength;
  --beyond_.sends;
  ++beyond_.datagrams;
  out.fence = false;
  out.message.carries = Carries::datagram;
  out.message.immediate_data = wanted.immediate;
  out.message.source_node = host_->node();
  out.message.source_qp = host_->qp(qps_.at(wanted.qp).index).number;
  out.message.destination_qp = wanted.peer_qp;
  // With its highest bit, the key is that of the sending QP.
  constexpr std::uint32_t own_key = 1U << 31;
  out.message.qkey = (wanted.qkey & own_key) != 0 ? qps_.at(wanted.qp).last.qkey : wanted.qkey;
  return kWcSuccess;
}

void VerbsNode::datagram_received(TimePs now, const Announced& message) {
  const std::uint32_t index = message.destination_qp - kFirstQpNumber;
  const auto found = qps_.find(index < object_of_index_.size() ? object_of_index_[index] : 0);
  const bool takes = found != qps_.end() && found->second.type == kQptUd && found->second.state >= kRtr &&
                     found->second.state != kError && found->second.last.qkey == message.qkey;
  std::deque<Receive>* receives = nullptr;
  if (takes) receives = found->second.srq != 0 ? &srqs_.at(found->second.srq).receives : &found->second.receives;
  if (receives == nullptr || receives->empty()) {
    ++beyond_.datagrams_dropped;
    return memory_.release(message.staged);
  }
  QpObject& qp = found->second;
  const Receive receive = std::move(receives->front());
  receives->pop_front();
  std::vector<std::byte> bytes(kGrhBytes + message.bytes);
  write_grh(bytes.data(), message.source_node, host_->node(), message.bytes);
  std::memcpy(bytes.data() + kGrhBytes, memory_.read(message.staged, message.bytes), message.bytes);
  memory_.release(message.staged);
  const bool fits = put(now, qp, receive.sges, bytes.data(), bytes.size());
  complete(qp.receive_cq, now + residual_ps_,
           {.id = receive.id,
            .status = fits ? kWcSuccess : kWcLocalLength,
            .opcode = kWcOfReceive,
            .bytes = static_cast<std::uint32_t>(bytes.size()),
            .immediate = message.immediate_data,
            .qp_number = host_->qp(qp.index).number,
            .source_qp = message.source_qp,
            .flags = kWithGrh | (message.immediate ? kWithImm : 0)},
           message.solicited);
  if (!fits) to_error(now, qp);
}

}  // namespace mrc
