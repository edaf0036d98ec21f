// What verbs have and MRC does not, carried by what MRC has (--beyond-mrc): SEND as a WRITE with immediate into a place
// that the receiver's node keeps. Not how any NIC does it.
#include <algorithm>
#include <array>

#include "programs/verbs_node.h"

namespace mrc {
namespace {

using namespace verbs;

constexpr std::uint64_t kMostBytesBeyond = std::uint64_t{1} << 24;

}  // namespace

VerbsNode::QpObject* VerbsNode::peer_of(const QpObject& qp, VerbsNode*& node) const {
  node = (*nodes_)[qp.last.peer_node].get();
  const std::uint32_t index = qp.last.peer_qp - kFirstQpNumber;
  const std::uint32_t object = index < node->object_of_index_.size() ? node->object_of_index_[index] : 0;
  return object == 0 ? nullptr : &node->qps_.at(object);
}

VerbsAnswer VerbsNode::post_beyond(TimePs now, QpObject& qp, const PostSend& wanted, std::span<const std::byte> tail) {
  std::uint64_t address = 0;
  std::uint64_t kept = 0;
  std::uint32_t bytes = 0;
  std::uint32_t status = place_payload(qp.process, wanted, tail, address, bytes, kept);
  if (status == kWcSuccess && bytes > kMostBytesBeyond) status = kWcLocalLength;
  if (status != kWcSuccess) {
    complete(qp.send_cq, now,
             {.id = wanted.id, .status = status, .opcode = kWcOfSend, .qp_number = host_->qp(qp.index).number}, true);
    to_error(now, qp);
    return {};
  }
  // A message of MRC has at least one byte.
  const std::array<std::byte, 1> nothing{};
  if (bytes == 0) address = kept = memory_.keep(nothing.data(), nothing.size());
  const std::uint32_t carried = std::max(bytes, 1U);
  VerbsNode* there = nullptr;
  QpObject* peer = peer_of(qp, there);
  const std::uint64_t staged = there->memory_.reserve(carried);
  if (peer != nullptr) {
    peer->announced.push_back({.bytes = bytes,
                               .solicited = (wanted.flags & kSolicited) != 0,
                               .immediate = wanted.opcode == kSendImm,
                               .is_send = true,
                               .staged = staged});
  }
  const std::uint32_t place = take_pending();
  pending_[place] = {.qp = wanted.qp,
                     .id = wanted.id,
                     .bytes = bytes,
                     .opcode = wanted.opcode,
                     .signaled = qp.signal_all || (wanted.flags & kSignaled) != 0,
                     .kept = kept};
  ++qp.sends;
  ++messages_;
  ++beyond_;
  bytes_ += carried;
  host_->post_request(now, qp.index,
                      {.id = place,
                       .local_address = address,
                       .remote_address = staged,
                       .rkey = kStagedKey,
                       .bytes = carried,
                       .immediate = wanted.immediate,
                       .write_imm = true});
  return {};
}

bool VerbsNode::scatter(const QpObject& qp, const std::vector<Sge>& into, const Announced& message) {
  std::uint64_t room = 0;
  for (const Sge& sge : into) room += sge.bytes;
  const bool fits = message.bytes <= room;
  const std::byte* from = memory_.read(message.staged, message.bytes);
  std::uint64_t at = 0;
  for (const Sge& sge : into) {
    const std::uint64_t bytes = std::min<std::uint64_t>(sge.bytes, message.bytes - at);
    if (!fits || bytes == 0) break;
    if (covers(qp.process, sge, kLocalWrite)) memory_.put(qp.process, sge.address, from + at, bytes);
    at += bytes;
  }
  memory_.release(message.staged);
  return fits;
}

}  // namespace mrc
