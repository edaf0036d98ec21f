// What verbs have and MRC does not, carried by what MRC has (--beyond-mrc): SEND as a WRITE with immediate into a place
// that the receiver's node keeps, READ and atomic operations as a request of that kind and an answer the other way. Not
// how any NIC does it.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "programs/verbs_node.h"

namespace mrc {
namespace {

using namespace verbs;

/// Of a request as a packet: address, key, length, and the operands of atomic operations.
constexpr std::uint32_t kRequestBytes = 28;
constexpr std::uint32_t kAtomicBytes = 8;
constexpr std::uint64_t kMostBytesBeyond = std::uint64_t{1} << 24;

std::uint64_t sum_of(const std::vector<Sge>& sges) {
  std::uint64_t sum = 0;
  for (const Sge& sge : sges) sum += sge.bytes;
  return sum;
}

}  // namespace

std::uint32_t VerbsNode::wc_opcode_of(std::uint32_t posted) {
  switch (posted) {
    case kSend:
    case kSendImm:
      return kWcOfSend;
    case kRead:
      return 2;
    case kCompareSwap:
      return 3;
    case kFetchAdd:
      return 4;
    default:
      return kWcOfWrite;
  }
}

VerbsNode::QpObject* VerbsNode::peer_of(const QpObject& qp, VerbsNode*& node) const {
  node = (*nodes_)[qp.last.peer_node].get();
  const std::uint32_t index = qp.last.peer_qp - kFirstQpNumber;
  const std::uint32_t object = index < node->object_of_index_.size() ? node->object_of_index_[index] : 0;
  return object == 0 ? nullptr : &node->qps_.at(object);
}

void VerbsNode::post_staged(TimePs now, QpObject& qp, const Pending& pending, std::uint64_t address,
                            Announced message) {
  VerbsNode* there = nullptr;
  QpObject* peer = peer_of(qp, there);
  const std::uint32_t bytes = std::max(pending.bytes, 1U);
  message.staged = there->memory_.reserve(bytes);
  const std::uint64_t staged = message.staged;
  const std::uint32_t immediate = message.request.immediate;
  // Only a SEND takes one of the receives that its receiver has posted.
  if (peer != nullptr && message.meaning != Meaning::send) there->host_->post_receive(peer->index);
  if (peer != nullptr) peer->announced.push_back(std::move(message));
  const std::uint32_t place = take_pending();
  pending_[place] = pending;
  ++qp.sends;
  ++messages_;
  ++beyond_;
  bytes_ += bytes;
  host_->post_request(now, qp.index,
                      {.id = place,
                       .local_address = address,
                       .remote_address = staged,
                       .rkey = kStagedKey,
                       .bytes = bytes,
                       .immediate = immediate,
                       .write_imm = true});
}

VerbsAnswer VerbsNode::post_beyond(TimePs now, QpObject& qp, const PostSend& wanted, std::span<const std::byte> tail) {
  const bool is_send = wanted.opcode == kSend || wanted.opcode == kSendImm;
  const bool signaled = qp.signal_all || (wanted.flags & kSignaled) != 0;
  std::uint64_t address = 0;
  std::uint64_t kept = 0;
  std::uint32_t bytes = 0;
  std::vector<Sge> into;
  std::uint32_t status = kWcSuccess;
  if (is_send) {
    status = place_payload(qp.process, wanted, tail, address, bytes, kept);
    if (bytes > kMostBytesBeyond) status = kWcLocalLength;
  } else {
    into.resize(wanted.sges);
    std::memcpy(static_cast<void*>(into.data()), tail.data(), into.size() * sizeof(Sge));
    const bool covered =
        std::all_of(into.begin(), into.end(), [&](const Sge& sge) { return covers(qp.process, sge, kLocalWrite); });
    if (!covered) status = kWcLocalProtection;
    if (sum_of(into) == 0 || sum_of(into) > kMostBytesBeyond) status = kWcLocalLength;
  }
  if (status != kWcSuccess) {
    complete(qp.send_cq, now,
             {.id = wanted.id,
              .status = status,
              .opcode = wc_opcode_of(wanted.opcode),
              .qp_number = host_->qp(qp.index).number},
             true);
    to_error(now, qp);
    return {};
  }
  const std::array<std::byte, kRequestBytes> request{};
  if (!is_send || bytes == 0) address = kept = memory_.keep(request.data(), request.size());
  Announced message{.meaning = is_send ? Meaning::send : Meaning::request,
                    .bytes = is_send ? bytes : kRequestBytes,
                    .solicited = (wanted.flags & kSolicited) != 0,
                    .immediate = wanted.opcode == kSendImm,
                    .request = wanted,
                    .into = into};
  if (!is_send) qp.requests.push_back(wanted);
  post_staged(now, qp,
              {.qp = wanted.qp,
               .id = wanted.id,
               .bytes = message.bytes,
               .opcode = wanted.opcode,
               .signaled = signaled,
               .hidden = !is_send,
               .kept = kept},
              address, std::move(message));
  return {};
}

bool VerbsNode::respond(TimePs now, QpObject& qp, const Announced& request) {
  if (!host_->has_room()) return false;
  if (!qp.sending) {
    // A QP that only answers stays in RTR; where its PSNs begin, its peer knows.
    VerbsNode* there = nullptr;
    const QpObject* peer = peer_of(qp, there);
    host_->start_sending(qp.index, peer == nullptr ? 0 : peer->last.receive_psn & kPsnMask);
    qp.sending = true;
  }
  const PostSend& wanted = request.request;
  const auto bytes = static_cast<std::uint32_t>(wanted.opcode == kRead ? sum_of(request.into) : kAtomicBytes);
  const Sge source{wanted.remote_address, bytes, wanted.rkey};
  Announced response{.meaning = Meaning::response, .bytes = bytes, .request = wanted, .into = request.into};
  Pending pending{.qp = object_of_index_[qp.index], .bytes = bytes, .opcode = kWrite, .hidden = true};
  std::uint64_t address = ProgramMemory::address(qp.process, wanted.remote_address);
  std::array<std::byte, kAtomicBytes> old{};
  if (!covers(qp.process, source, wanted.opcode == kRead ? kRemoteRead : kRemoteAtomic)) {
    response.error = kWcRemoteAccess;
    response.bytes = pending.bytes = kAtomicBytes;
    address = pending.kept = memory_.keep(old.data(), old.size());
  } else if (wanted.opcode != kRead) {
    memory_.apply(0, qp.process);
    std::uint64_t value = 0;
    memory_.copy(qp.process, wanted.remote_address, old.data(), old.size());
    std::memcpy(&value, old.data(), sizeof value);
    const bool swaps = wanted.opcode == kCompareSwap;
    const std::uint64_t next = !swaps ? value + wanted.compare_add : value == wanted.compare_add ? wanted.swap : value;
    memory_.put(qp.process, wanted.remote_address, reinterpret_cast<const std::byte*>(&next), sizeof next);
    address = pending.kept = memory_.keep(old.data(), old.size());
  } else {
    memory_.apply(0, qp.process);
  }
  post_staged(now, qp, pending, address, std::move(response));
  return true;
}

void VerbsNode::answer_requests(TimePs now) {
  for (auto& [number, qp] : qps_) {
    while (!qp.to_answer.empty() && (qp.state == kRtr || qp.state == kRts) && respond(now, qp, qp.to_answer.front())) {
      memory_.release(qp.to_answer.front().staged);
      qp.to_answer.pop_front();
      --unanswered_;
    }
  }
}

bool VerbsNode::scatter(const QpObject& qp, const std::vector<Sge>& into, const Announced& message) {
  std::uint64_t at = 0;
  const bool fits = message.bytes <= sum_of(into);
  const std::byte* from = memory_.read(message.staged, message.bytes);
  for (const Sge& sge : into) {
    const std::uint64_t bytes = std::min<std::uint64_t>(sge.bytes, message.bytes - at);
    if (!fits || bytes == 0) break;
    if (covers(qp.process, sge, kLocalWrite)) memory_.put(qp.process, sge.address, from + at, bytes);
    at += bytes;
  }
  memory_.release(message.staged);
  return fits;
}

void VerbsNode::finish_request(TimePs now, QpObject& qp, const Announced& response) {
  if (!qp.requests.empty()) qp.requests.pop_front();
  if (response.error == kWcSuccess) {
    scatter(qp, response.into, response);
  } else {
    memory_.release(response.staged);
  }
  const bool signaled = qp.signal_all || (response.request.flags & kSignaled) != 0;
  if (signaled || response.error != kWcSuccess) {
    complete(qp.send_cq, now,
             {.id = response.request.id,
              .status = response.error,
              .opcode = wc_opcode_of(response.request.opcode),
              .bytes = response.bytes,
              .qp_number = host_->qp(qp.index).number},
             true);
  }
  if (response.error != kWcSuccess) to_error(now, qp);
}

}  // namespace mrc
