// What verbs have and MRC does not, carried by what MRC has (--beyond-mrc): SEND as a WRITE with immediate into a place
// that the receiver's node keeps; READ and atomic operations as a request of that kind, which the peer's node answers
// by another. Not how any NIC does it.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "programs/verbs_node.h"

namespace mrc {
namespace {

using namespace verbs;

constexpr std::uint64_t kMostBytesBeyond = std::uint64_t{1} << 24;
constexpr std::uint32_t kAtomicBytes = 8;

/// The bytes of a request, as long as InfiniBand's headers for it: RETH for a READ, and AtomicETH.
struct ReadRequest {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t bytes = 0;
};
struct [[gnu::packed]] AtomicRequest {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint64_t swap_add = 0;
  std::uint64_t compare = 0;
};
static_assert(sizeof(ReadRequest) == 16 && sizeof(AtomicRequest) == 28);

template <typename Value>
std::array<std::byte, sizeof(Value)> bytes_of(const Value& value) {
  std::array<std::byte, sizeof(Value)> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
template <typename Value>
Value value_at(const std::byte* from) {
  Value value;
  std::memcpy(static_cast<void*>(&value), from, sizeof value);
  return value;
}

bool is_atomic(std::uint32_t opcode) {
  return opcode == kCompareSwap || opcode == kFetchAdd;
}

}  // namespace

VerbsNode::QpObject* VerbsNode::peer_of(const QpObject& qp, VerbsNode*& node) const {
  node = (*nodes_)[qp.last.peer_node].get();
  const std::uint32_t index = qp.last.peer_qp - kFirstQpNumber;
  const std::uint32_t object = index < node->object_of_index_.size() ? node->object_of_index_[index] : 0;
  return object == 0 ? nullptr : &node->qps_.at(object);
}

std::uint32_t VerbsNode::prepare_request(std::uint32_t process, const PostSend& wanted, std::span<const std::byte> tail,
                                         Pending& pending, Outgoing& out) {
  std::uint64_t room = 0;
  if (wanted.inline_bytes > 0) return kWcLocalQp;
  pending.into.resize(wanted.sges);
  if (wanted.sges > 0) std::memcpy(static_cast<void*>(pending.into.data()), tail.data(), wanted.sges * sizeof(Sge));
  for (const Sge& sge : pending.into) {
    if (sge.bytes > 0 && !covers(process, sge, kLocalWrite)) return kWcLocalProtection;
    room += sge.bytes;
  }
  if (room > kMostBytesBeyond || (is_atomic(wanted.opcode) && room < kAtomicBytes)) return kWcLocalLength;
  pending.bytes = is_atomic(wanted.opcode) ? kAtomicBytes : static_cast<std::uint32_t>(room);
  pending.wants_answer = true;
  if (is_atomic(wanted.opcode)) {
    // The order of AtomicETH: what is added, or put there, comes first.
    const bool swaps = wanted.opcode == kCompareSwap;
    const AtomicRequest request{wanted.remote_address, wanted.rkey, swaps ? wanted.swap : wanted.compare_add,
                                swaps ? wanted.compare_add : 0};
    out.request.bytes = sizeof request;
    pending.kept = memory_.keep(bytes_of(request).data(), sizeof request);
  } else {
    const ReadRequest request{wanted.remote_address, wanted.rkey, pending.bytes};
    out.request.bytes = sizeof request;
    pending.kept = memory_.keep(bytes_of(request).data(), sizeof request);
  }
  out.request.local_address = pending.kept;
  out.request.immediate = wanted.opcode;
  out.request.write_imm = true;
  out.announces = true;
  out.reads = true;
  out.message = {.bytes = out.request.bytes, .carries = Carries::request, .serial = pending.serial};
  ++(is_atomic(wanted.opcode) ? beyond_.atomics : beyond_.reads);
  return kWcSuccess;
}

// ---- to the node itself

bool VerbsNode::stays_within(const Outgoing& out) const {
  const auto qp = qps_.find(out.qp);
  return qp != qps_.end() && (qp->second.type == kQptUd || qp->second.last.peer_node == host_->node());
}

std::vector<std::byte> VerbsNode::bytes_to_send(const WorkRequest& request) {
  std::vector<std::byte> bytes(request.bytes);
  if (request.local_address >= ProgramMemory::kKeptBase) {
    std::memcpy(bytes.data(), memory_.read(request.local_address, bytes.size()), bytes.size());
  } else {
    const auto process = static_cast<std::uint32_t>(request.local_address >> ProgramMemory::kAddressBits);
    memory_.copy(process, request.local_address & ProgramMemory::kAddressMask, bytes.data(), bytes.size());
  }
  return bytes;
}

bool VerbsNode::place_within(TimePs now, QpObject& peer, Outgoing& out) {
  if (out.message.carries == Carries::nothing) return true;
  const std::vector<std::byte> bytes = bytes_to_send(out.request);
  if (out.message.carries != Carries::itself) {
    out.message.staged = memory_.keep(bytes.data(), bytes.size());
    return true;
  }
  const std::uint64_t own = out.request.remote_address & ProgramMemory::kAddressMask;
  if (!covers(peer.process, {own, out.request.bytes, out.request.rkey}, kRemoteWrite)) return false;
  memory_.write(now, ProgramMemory::address(peer.process, own), bytes.data(), bytes.size());
  return true;
}

void VerbsNode::copy_within(TimePs now, Outgoing&& out) {
  // The run counts what NICs carry.
  --messages_;
  bytes_ -= out.request.bytes;
  ++beyond_.within;
  const auto place = static_cast<std::uint32_t>(out.request.id);
  QpObject& qp = qps_.at(out.qp);
  memory_.settle(qp.process);
  if (qp.type == kQptUd) {
    const std::vector<std::byte> bytes = bytes_to_send(out.request);
    out.message.staged = memory_.keep(bytes.data(), bytes.size());
    send_completed(now, {.kind = Cqe::Kind::send, .id = place});
    return datagram_received(now, out.message);
  }
  VerbsNode* here = nullptr;
  QpObject* peer = peer_of(qp, here);
  const bool takes_receive = out.announces && out.message.carries < Carries::request;
  CompletionStatus status = CompletionStatus::success;
  if (peer == nullptr || peer->state == kError || peer->state < kRtr) {
    status = CompletionStatus::retry_exceeded;
  } else if (takes_receive && (peer->srq != 0 ? srqs_.at(peer->srq).receives : peer->receives).empty()) {
    status = CompletionStatus::retry_exceeded;
  } else if (!place_within(now, *peer, out)) {
    status = CompletionStatus::remote_operation_error;
  }
  const std::uint32_t peer_index = peer == nullptr ? 0 : peer->index;
  out.message.within = true;
  if (status == CompletionStatus::success && out.announces) peer->announced.push_back(out.message);
  send_completed(now, {.kind = Cqe::Kind::send, .id = place, .status = status});
  if (status != CompletionStatus::success || !out.announces) return;
  receive_completed(now, {.kind = Cqe::Kind::receive, .qp = peer_index, .immediate = out.request.immediate});
}

// ---- at the peer

void VerbsNode::do_read(const QpObject& qp, const Sge& range, Pending& pending, Outgoing& out) {
  if (range.bytes > 0 && !covers(qp.process, range, kRemoteRead)) {
    out.message.status = kWcRemoteAccess;
    return;
  }
  pending.bytes = out.message.bytes = range.bytes;
  out.request.local_address = ProgramMemory::address(qp.process, range.address);
}

void VerbsNode::do_atomic(const QpObject& qp, const std::byte* request, std::uint32_t opcode, Pending& pending,
                          Outgoing& out) {
  const auto wanted = value_at<AtomicRequest>(request);
  std::array<std::byte, kAtomicBytes> old{};
  if (!covers(qp.process, {wanted.address, kAtomicBytes, wanted.key}, kRemoteAtomic)) {
    out.message.status = kWcRemoteAccess;
  } else if (wanted.address % kAtomicBytes != 0) {
    out.message.status = kWcRemoteRequest;
  } else if (!memory_.copy(qp.process, wanted.address, old.data(), old.size())) {
    out.message.status = kWcRemoteOperation;
  }
  if (out.message.status != kWcSuccess) return;
  const auto before = value_at<std::uint64_t>(old.data());
  std::uint64_t after = before + wanted.swap_add;
  if (opcode == kCompareSwap) after = before == wanted.compare ? wanted.swap_add : before;
  memory_.put(qp.process, wanted.address, bytes_of(after).data(), kAtomicBytes);
  pending.bytes = out.message.bytes = kAtomicBytes;
  out.request.local_address = pending.kept = memory_.keep(old.data(), old.size());
}

void VerbsNode::answer_request(TimePs now, std::uint32_t object, const Announced& message, std::uint32_t opcode) {
  QpObject& qp = qps_.at(object);
  VerbsNode* there = nullptr;
  const QpObject* asker = peer_of(qp, there);
  if (asker == nullptr) return memory_.release(message.staged);
  Pending pending{.qp = object, .serial = next_serial_++, .is_answer = true};
  Outgoing out{.qp = object, .announces = true};
  out.message = {.carries = Carries::answer, .place = message.place, .serial = message.serial};
  // What the peer wrote before is there when it reads.
  memory_.settle(qp.process);
  const std::byte* request = memory_.read(message.staged, message.bytes);
  if (is_atomic(opcode)) {
    do_atomic(qp, request, opcode, pending, out);
  } else {
    const auto wanted = value_at<ReadRequest>(request);
    do_read(qp, {wanted.address, wanted.bytes, wanted.key}, pending, out);
  }
  memory_.release(message.staged);
  // A message of MRC has at least one byte.
  const std::array<std::byte, 1> nothing{};
  if (out.message.bytes == 0) out.request.local_address = pending.kept = memory_.keep(nothing.data(), nothing.size());
  out.request.bytes = std::max(out.message.bytes, 1U);
  out.request.write_imm = true;
  // A QP that only answers may not have been told to send: its first PSN is the one that the peer expects.
  const bool sends = host_->qp(qp.index).sender != nullptr || there == this;
  if (!sends) host_->start_sending(now, qp.index, asker->last.receive_psn & kPsnMask);
  const std::uint32_t place = take_pending();
  pending_[place] = std::move(pending);
  out.request.id = place;
  ++messages_;
  bytes_ += out.request.bytes;
  hand_over(now, std::move(out));
}

void VerbsNode::answer_received(TimePs now, QpObject& qp, const Announced& message) {
  // It was given up, or comes from a QP that is connected to another than the one that asked.
  if (message.place >= pending_.size() || pending_[message.place].serial != message.serial ||
      !pending_[message.place].wants_answer) {
    return memory_.release(message.staged);
  }
  Pending& pending = pending_[message.place];
  pending.wants_answer = false;
  --qp.reads;
  std::uint32_t status = message.status;
  if (!scatter(now, qp, pending.into, message)) status = kWcLocalLength;
  finish(now + residual_ps_, qp, message.place, status);
  if (status != kWcSuccess) {
    tell_async(qp.process, qp.handle, kEventQpFatal);
    return to_error(now, qp);
  }
  if (qp.deferred.empty()) return;
  memory_.settle(qp.process);  // a fenced request may send what a READ has brought
  submit_deferred(now, qp);
}

void VerbsNode::flush_requests(TimePs now, QpObject& qp, std::uint32_t first_status) {
  std::uint32_t status = first_status;
  const std::deque<std::uint32_t> order = qp.order;  // finish() takes from it
  for (const std::uint32_t place : order) {
    Pending& pending = pending_[place];
    const bool is_deferred = std::any_of(qp.deferred.begin(), qp.deferred.end(),
                                         [place](const Outgoing& out) { return out.request.id == place; });
    // The NIC flushes what it has.
    if (pending.done || (!is_deferred && !(pending.wants_answer && pending.left_nic))) continue;
    if (pending.wants_answer && !is_deferred) --qp.reads;
    pending.wants_answer = false;
    pending.left_nic = true;
    finish(now, qp, place, std::exchange(status, kWcFlushed));
  }
  qp.deferred.clear();
}

void VerbsNode::abandon_requests(TimePs now, const QpObject& gone) {
  VerbsNode* there = nullptr;
  QpObject* asker = peer_of(gone, there);
  const bool is_its =
      asker != nullptr && asker->last.peer_node == host_->node() && asker->last.peer_qp == host_->qp(gone.index).number;
  if (!is_its || asker->state == kError) return;
  const bool waits = std::any_of(asker->order.begin(), asker->order.end(), [&](std::uint32_t place) {
    return there->pending_[place].wants_answer && there->pending_[place].left_nic;
  });
  if (!waits) return;
  there->flush_requests(now, *asker, kWcRetryExceeded);
  there->tell_async(asker->process, asker->handle, kEventQpFatal);
  there->to_error(now, *asker);
}

bool VerbsNode::put(TimePs now, const QpObject& qp, const std::vector<Sge>& into, const std::byte* from,
                    std::uint64_t bytes) {
  std::uint64_t room = 0;
  for (const Sge& sge : into) room += sge.bytes;
  if (bytes > room) return false;
  std::uint64_t at = 0;
  for (const Sge& sge : into) {
    const std::uint64_t part = std::min<std::uint64_t>(sge.bytes, bytes - at);
    if (part == 0) break;
    if (covers(qp.process, sge, kLocalWrite)) {
      memory_.write(now, ProgramMemory::address(qp.process, sge.address), from + at, part);
    }
    at += part;
  }
  return true;
}

bool VerbsNode::scatter(TimePs now, const QpObject& qp, const std::vector<Sge>& into, const Announced& message) {
  const bool fits = put(now, qp, into, memory_.read(message.staged, message.bytes), message.bytes);
  memory_.release(message.staged);
  return fits;
}

}  // namespace mrc
