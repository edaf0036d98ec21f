#include "programs/verbs_node.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace mrc {
namespace {

using namespace verbs;

constexpr std::uint32_t kMostCqes = 1U << 22;
constexpr std::uint32_t kMostSends = 1U << 15;
constexpr std::ptrdiff_t kMostChannels = 256;  ///< of a process
constexpr std::uint64_t kMostGatheredBytes = ProgramMemory::kMostKeptBytes;
/// Beyond MRC, of a QP at a time: an assumption, what adapters that have READ allow.
constexpr std::uint32_t kMostReads = 16;
/// Between looks whether the NIC takes a doorbell again.
constexpr TimePs kDoorbellLook = 20 * kPsPerNs;

std::uint32_t status_of(CompletionStatus status) {
  switch (status) {
    case CompletionStatus::success:
      return kWcSuccess;
    case CompletionStatus::retry_exceeded:
      return kWcRetryExceeded;
    case CompletionStatus::remote_operation_error:
      return kWcRemoteOperation;
    case CompletionStatus::flushed:
      return kWcFlushed;
    case CompletionStatus::local_qp_operation_error:
      return kWcLocalQp;
  }
  return kWcLocalQp;
}

const char* name_of(std::uint32_t opcode) {
  constexpr const char* names[] = {"WRITE", "WRITE with immediate", "SEND",         "SEND with immediate",
                                   "READ",  "COMPARE AND SWAP",     "FETCH AND ADD"};
  return opcode < std::size(names) ? names[opcode] : "an unknown operation";
}

std::vector<Sge> sges_of(std::span<const std::byte> tail, std::uint32_t count) {
  std::vector<Sge> sges(count);
  if (count > 0) std::memcpy(static_cast<void*>(sges.data()), tail.data(), count * sizeof(Sge));
  return sges;
}

VerbsAnswer failure(int error) {
  return {.error = error};
}

bool is_send(std::uint32_t opcode) {
  return opcode == kSend || opcode == kSendImm;
}
bool is_request(std::uint32_t opcode) {
  return opcode == kRead || opcode == kCompareSwap || opcode == kFetchAdd;
}

/// What a completion of the posted work says that it was.
std::uint32_t completed_as(std::uint32_t opcode) {
  switch (opcode) {
    case kSend:
    case kSendImm:
      return kWcOfSend;
    case kRead:
      return kWcOfRead;
    case kCompareSwap:
      return kWcOfCompareSwap;
    case kFetchAdd:
      return kWcOfFetchAdd;
    default:
      return kWcOfWrite;
  }
}

}  // namespace

VerbsNode::~VerbsNode() {
  for (const auto& [number, channel] : channels_) close(channel.fd);
}

void VerbsNode::attach(ProgramHost& host, const std::vector<std::unique_ptr<VerbsNode>>& nodes) {
  host_ = &host;
  nodes_ = &nodes;
  residual_ps_ = ps_from_ns(host.config().host.residual_ns);
  notice_ps_ = ps_from_ns(host.config().pcie.write_latency_ns) + residual_ps_;
  object_of_index_.assign(host.qps(), 0);
  if (beyond_mrc_) {
    host.allow({.va = ProgramMemory::kKeptBase,
                .bytes = ~ProgramMemory::kKeptBase + 1,
                .rkey = kStagedKey,
                .domain = NodeTransport::kDomain,
                .remote_write = true});
  }
}

void VerbsNode::remove_process(TimePs now, std::uint32_t process) {
  for (auto& [number, qp] : qps_) {
    if (qp.process != process) continue;
    to_error(now, qp);
    object_of_index_[qp.index] = 0;
  }
  for (const auto& [key, region] : regions_) {
    if (region.process == process) host_->forbid(key);
  }
  for (const auto& [number, channel] : channels_) {
    if (channel.process == process) close(channel.fd);
  }
  const auto is_its = [process](const auto& object) { return object.second.process == process; };
  std::erase_if(qps_, is_its);
  std::erase_if(regions_, is_its);
  std::erase_if(cqs_, is_its);
  std::erase_if(srqs_, is_its);
  std::erase_if(channels_, is_its);
  look_at_bad_evs(now);
  memory_.remove_process(process);
}

DeviceInfo VerbsNode::device() const {
  const NodeConfig& config = host_->config();
  return {.node = host_->node(),
          .nodes = static_cast<std::uint32_t>(nodes_->size()),
          .ports_up = host_->ports_up(),
          .ports = config.nic.ports,
          .most_qps = host_->qps(),
          .most_send_wrs = kMostSends,
          .most_receive_wrs = host_->scenario().protocol.receive_queue_depth,
          .most_cqes = kMostCqes,
          .mtu_bytes = host_->scenario().protocol.mtu_bytes,
          .most_reads = beyond_mrc_ ? kMostReads : 0,
          .rate_gbps = static_cast<std::uint64_t>(config.nic.ports * config.nic.port_gbps)};
}

// ---- memory

VerbsAnswer VerbsNode::register_memory(std::uint32_t process, const RegisterMemory& wanted) {
  const std::uint64_t end = wanted.address + wanted.bytes;
  if (end < wanted.address || end > ProgramMemory::kAddressMask || wanted.iova != wanted.address) {
    return failure(EINVAL);
  }
  if (!memory_.add_region(process, wanted.address, wanted.bytes)) return failure(ENOMEM);
  const std::uint32_t key = next_key_++;
  regions_[key] = {process, wanted};
  host_->allow({.va = ProgramMemory::address(process, wanted.address),
                .bytes = wanted.bytes,
                .rkey = key,
                .domain = NodeTransport::kDomain,
                .remote_write = (wanted.access & kRemoteWrite) != 0});
  return {.count = key};
}

VerbsAnswer VerbsNode::deregister_memory(std::uint32_t process, std::uint32_t key) {
  const Region* region = find(regions_, process, key);
  if (region == nullptr) return failure(EINVAL);
  host_->forbid(key);
  // What the NIC wrote before is there when the verb returns.
  memory_.settle(process);
  memory_.remove_region(process, region->range.address, region->range.bytes);
  regions_.erase(key);
  return {};
}

bool VerbsNode::covers(std::uint32_t process, const Sge& sge, std::uint32_t access) const {
  const auto it = regions_.find(sge.key);
  if (it == regions_.end() || it->second.process != process) return false;
  const RegisterMemory& range = it->second.range;
  if ((range.access & access) != access || sge.address < range.address) return false;
  const std::uint64_t offset = sge.address - range.address;
  return offset <= range.bytes && sge.bytes <= range.bytes - offset;
}

// ---- completion queues and channels

VerbsAnswer VerbsNode::create_channel(std::uint32_t process, bool async, int& fd) {
  const auto its = std::count_if(channels_.begin(), channels_.end(),
                                 [process](const auto& channel) { return channel.second.process == process; });
  if (its >= kMostChannels) return failure(EMFILE);
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return failure(errno);
  const std::uint32_t number = next_object_++;
  struct stat theirs {};
  const bool known = fstat(ends[1], &theirs) == 0;
  channels_[number] = {process, ends[0], async, known ? theirs.st_ino : 0};
  fd = ends[1];
  return {.count = number};
}

bool VerbsNode::is_async_channel(std::uint64_t inode) const {
  return std::any_of(channels_.begin(), channels_.end(),
                     [inode](const auto& numbered) { return numbered.second.async && numbered.second.inode == inode; });
}

VerbsAnswer VerbsNode::create_cq(std::uint32_t process, const CreateCq& wanted) {
  if (wanted.entries == 0 || wanted.entries > kMostCqes) return failure(EINVAL);
  if (wanted.channel != 0 && find(channels_, process, wanted.channel) == nullptr) return failure(EINVAL);
  const std::uint32_t number = next_object_++;
  Cq& cq = cqs_[number];
  cq.process = process;
  cq.channel = wanted.channel;
  cq.handle = wanted.handle;
  cq.capacity = wanted.entries;
  return {.count = number, .value = wanted.entries};
}

VerbsAnswer VerbsNode::destroy_cq(std::uint32_t process, std::uint32_t number) {
  const Cq* cq = find(cqs_, process, number);
  if (cq == nullptr) return failure(EINVAL);
  if (cq->users > 0) return failure(EBUSY);
  cqs_.erase(number);
  return {};
}

VerbsAnswer VerbsNode::arm_cq(TimePs now, std::uint32_t process, std::uint32_t number, bool solicited_only) {
  Cq* cq = find(cqs_, process, number);
  if (cq == nullptr) return failure(EINVAL);
  cq->armed = true;
  cq->solicited_only = solicited_only;
  // Those that are there already do not ring; what is still on its way does.
  cq->told = 0;
  while (cq->told < cq->entries.size() && cq->entries[cq->told].at <= now) ++cq->told;
  return {};
}

void VerbsNode::ring_channels(TimePs now, Cq& cq) {
  for (; cq.told < cq.entries.size() && cq.entries[cq.told].at <= now; ++cq.told) {
    if (!cq.armed || cq.channel == 0) continue;
    if (cq.solicited_only && !cq.entries[cq.told].solicited) continue;
    cq.armed = false;
    const auto channel = channels_.find(cq.channel);
    if (channel == channels_.end()) continue;
    // A program that does not read its channel loses events, not the run.
    [[maybe_unused]] const ssize_t sent =
        send(channel->second.fd, &cq.handle, sizeof cq.handle, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

VerbsAnswer VerbsNode::poll(TimePs now, std::uint32_t process, std::uint32_t number, std::uint32_t most,
                            std::vector<WorkCompletion>& to) {
  Cq* cq = find(cqs_, process, number);
  if (cq == nullptr) return failure(EINVAL);
  while (!cq->entries.empty() && cq->entries.front().at <= now && to.size() < most) {
    to.push_back(cq->entries.front().completion);
    cq->entries.pop_front();
    if (cq->told > 0) --cq->told;
  }
  return {.count = static_cast<std::uint32_t>(to.size())};
}

void VerbsNode::complete(std::uint32_t number, TimePs at, const WorkCompletion& completion, bool solicited) {
  const auto it = cqs_.find(number);
  if (it == cqs_.end()) return;
  std::deque<Entry>& entries = it->second.entries;
  auto place = entries.end();
  while (place != entries.begin() && (place - 1)->at > at) --place;
  entries.insert(place, {at, completion, solicited});
  ++completions_;
}

// ---- queue pairs

VerbsAnswer VerbsNode::create_srq(std::uint32_t process, std::uint32_t wrs) {
  const std::uint32_t number = next_object_++;
  srqs_[number] = {process, wrs, {}};
  return {.count = number};
}

VerbsAnswer VerbsNode::destroy_srq(std::uint32_t process, std::uint32_t number) {
  if (find(srqs_, process, number) == nullptr) return failure(EINVAL);
  for (const auto& [object, qp] : qps_) {
    if (qp.srq == number) return failure(EBUSY);
  }
  srqs_.erase(number);
  return {};
}

VerbsAnswer VerbsNode::create_qp(std::uint32_t process, const CreateQp& wanted) {
  Cq* send_cq = find(cqs_, process, wanted.send_cq);
  Cq* receive_cq = find(cqs_, process, wanted.receive_cq);
  if (send_cq == nullptr || receive_cq == nullptr || send_cq->of_evs || receive_cq->of_evs) return failure(EINVAL);
  if (wanted.srq != 0 && find(srqs_, process, wanted.srq) == nullptr) return failure(EINVAL);
  if (wanted.type != kQptRc && !(wanted.type == kQptUd && beyond_mrc_)) {
    fmt::print(stderr, "mrcsim: nic{}: MRC has connected QPs only (IBV_QPT_RC){}\n", host_->node(),
               wanted.type == kQptUd ? "; --beyond-mrc carries datagrams (IBV_QPT_UD)" : "");
    return failure(EOPNOTSUPP);
  }
  if (wanted.send_wrs > kMostSends || wanted.receive_wrs > host_->scenario().protocol.receive_queue_depth) {
    return failure(EINVAL);
  }
  if (next_index_ == host_->qps()) {
    fmt::print(stderr, "mrcsim: nic{}: programs have created {} QPs; host.programs.qps allows more\n", host_->node(),
               host_->qps());
    return failure(ENOMEM);
  }
  const std::uint32_t number = next_object_++;
  QpObject& qp = qps_[number];
  qp.process = process;
  qp.index = next_index_++;
  qp.send_cq = wanted.send_cq;
  qp.receive_cq = wanted.receive_cq;
  qp.srq = wanted.srq;
  qp.type = wanted.type;
  qp.handle = wanted.handle;
  qp.most_sends = std::max(wanted.send_wrs, 1U);
  qp.most_receives = wanted.receive_wrs;
  qp.signal_all = wanted.signal_all != 0;
  object_of_index_[qp.index] = number;
  ++send_cq->users;
  ++receive_cq->users;
  return {.count = number, .value = host_->qp(qp.index).number};
}

VerbsAnswer VerbsNode::modify_qp(TimePs now, std::uint32_t process, const ModifyQp& wanted) {
  QpObject* qp = find(qps_, process, wanted.qp);
  if (qp == nullptr) return failure(EINVAL);
  if (qp->type == kQptUd) return modify_datagram_qp(now, *qp, wanted);
  const std::uint32_t from = qp->state;
  if (wanted.state == kError) {
    to_error(now, *qp);
    return {};
  }
  const bool allowed =
      (wanted.state == kInit && (from == kReset || from == kInit)) || (wanted.state == kRtr && from == kInit) ||
      (wanted.state == kRts && (from == kRtr || from == kRts)) || (wanted.state == kReset && from <= kInit);
  if (!allowed) return failure(EINVAL);
  if (wanted.state == kRtr) {
    if (evs_state_ != kOnline || !congestion_online_)
      return refused(EINVAL, "a QP is connected while its profile is OFFLINE");
    if (wanted.peer_node >= nodes_->size() || (*nodes_)[wanted.peer_node] == nullptr) return failure(EINVAL);
    const bool within = wanted.peer_node == host_->node();
    if (within && !beyond_mrc_) {
      fmt::print(stderr, "mrcsim: nic{}: a QP to the node itself does not pass the fabric; --beyond-mrc carries it\n",
                 host_->node());
      return failure(EOPNOTSUPP);
    }
    qp->last = wanted;
    if (within) {
      qp->state = kRtr;
      return {};
    }
    host_->connect(qp->index, {wanted.peer_node, wanted.peer_qp, wanted.receive_psn & kPsnMask});
    const std::size_t posted = qp->srq != 0 ? srqs_[qp->srq].receives.size() : qp->receives.size();
    const auto of_model = std::count_if(qp->announced.begin(), qp->announced.end(), [](const Announced& message) {
      return message.carries == Carries::request || message.carries == Carries::answer;
    });
    for (std::size_t i = 0; i < posted + static_cast<std::size_t>(of_model); ++i) host_->post_receive(qp->index);
  }
  if (wanted.state == kRts && from == kRtr) {
    qp->most_reads = (wanted.mask & kMaskReads) != 0 ? std::min(wanted.most_reads, kMostReads) : kMostReads;
    // It may send already, as one that answers READs.
    const bool sends = host_->qp(qp->index).sender != nullptr || qp->last.peer_node == host_->node();
    if (!sends) host_->start_sending(now, qp->index, wanted.send_psn & kPsnMask);
  }
  qp->state = wanted.state;
  return {};
}

VerbsAnswer VerbsNode::query_qp(std::uint32_t process, std::uint32_t number) const {
  const auto it = qps_.find(number);
  if (it == qps_.end() || it->second.process != process) return failure(EINVAL);
  return {.value = it->second.state};
}

VerbsAnswer VerbsNode::destroy_qp(TimePs now, std::uint32_t process, std::uint32_t number) {
  QpObject* qp = find(qps_, process, number);
  if (qp == nullptr) return failure(EINVAL);
  to_error(now, *qp);
  if (const auto cq = cqs_.find(qp->send_cq); cq != cqs_.end()) --cq->second.users;
  if (const auto cq = cqs_.find(qp->receive_cq); cq != cqs_.end()) --cq->second.users;
  object_of_index_[qp->index] = 0;
  qps_.erase(number);
  look_at_bad_evs(now);
  return {};
}

void VerbsNode::to_error(TimePs now, QpObject& qp) {
  if (qp.state == kError) return;
  const bool connected = qp.state >= kRtr && qp.type == kQptRc;
  qp.state = kError;
  if (connected) {
    host_->fail(now, qp.index);
    flush_requests(now, qp, kWcFlushed);
    abandon_requests(now, qp);
  }
  const std::uint32_t number = host_->qp(qp.index).number;
  for (const Receive& receive : qp.receives) {
    complete(qp.receive_cq, now, {.id = receive.id, .status = kWcFlushed, .opcode = kWcOfReceive, .qp_number = number},
             true);
  }
  qp.receives.clear();
}

// ---- work

std::uint32_t VerbsNode::place_payload(std::uint32_t process, const PostSend& wanted, std::span<const std::byte> tail,
                                       std::uint64_t& address, std::uint32_t& bytes, std::uint64_t& kept) {
  if (wanted.inline_bytes > 0) {
    bytes = wanted.inline_bytes;
    address = kept = memory_.keep(tail.data(), bytes);
    return kWcSuccess;
  }
  const std::vector<Sge> sges = sges_of(tail, wanted.sges);
  std::uint64_t sum = 0;
  for (const Sge& sge : sges) {
    if (sge.bytes > 0 && !covers(process, sge, 0)) return kWcLocalProtection;
    sum += sge.bytes;
  }
  if (sum > (std::uint64_t{1} << 31)) return kWcLocalLength;
  bytes = static_cast<std::uint32_t>(sum);
  if (sges.size() == 1) {
    address = ProgramMemory::address(process, sges.front().address);
    return kWcSuccess;
  }
  // The NIC has one address a message: several pieces are gathered when they are posted.
  if (sum > kMostGatheredBytes) return kWcLocalLength;
  std::vector<std::byte> gathered(sum);
  std::uint64_t at = 0;
  for (const Sge& sge : sges) {
    if (!memory_.copy(process, sge.address, gathered.data() + at, sge.bytes)) return kWcLocalProtection;
    at += sge.bytes;
  }
  address = kept = memory_.keep(gathered.data(), sum);
  return kWcSuccess;
}

std::uint64_t VerbsNode::remote_address(NodeId node, const PostSend& wanted) const {
  // The peer's NIC has the process in the address; a key that it does not know fails there.
  const auto& regions = (*nodes_)[node]->regions_;
  const auto it = regions.find(wanted.rkey);
  const std::uint32_t process = it == regions.end() ? 0 : it->second.process;
  return ProgramMemory::address(process, wanted.remote_address);
}

std::uint32_t VerbsNode::take_pending() {
  if (free_pending_.empty()) {
    free_pending_.push_back(static_cast<std::uint32_t>(pending_.size()));
    pending_.emplace_back();
  }
  const std::uint32_t place = free_pending_.back();
  free_pending_.pop_back();
  return place;
}

bool VerbsNode::may_post(TimePs now, const QpObject* qp, const PostSend& wanted, VerbsAnswer& answer) {
  answer = {};
  const bool in_mrc = wanted.opcode == kWrite || wanted.opcode == kWriteImm;
  const bool is_datagram = qp != nullptr && qp->type == kQptUd;
  const bool carried = is_send(wanted.opcode) || is_request(wanted.opcode);
  if (qp == nullptr) {
    answer = failure(EINVAL);
  } else if (!in_mrc && !(carried && beyond_mrc_)) {
    fmt::print(stderr, "mrcsim: nic{}: {} is not in MRC, which has WRITE and WRITE with immediate{}\n", host_->node(),
               name_of(wanted.opcode), carried ? "; --beyond-mrc carries it" : "");
    answer = failure(EOPNOTSUPP);
  } else if (is_datagram && !is_send(wanted.opcode)) {
    answer = failure(EINVAL);
  } else if (qp->state == kError) {
    complete(qp->send_cq, now,
             {.id = wanted.id,
              .status = kWcFlushed,
              .opcode = completed_as(wanted.opcode),
              .qp_number = host_->qp(qp->index).number},
             true);
  } else if (qp->state != kRts) {
    answer = failure(EINVAL);
  } else if (qp->sends == qp->most_sends) {
    answer = failure(ENOMEM);
  } else if (!outgoing_.empty() || !host_->has_room()) {
    answer.again = true;
  } else {
    return true;
  }
  return false;
}

std::uint32_t VerbsNode::prepare_write(std::uint32_t process, const PostSend& wanted, std::span<const std::byte> tail,
                                       Pending& pending, Outgoing& out) {
  const std::uint32_t status =
      place_payload(process, wanted, tail, out.request.local_address, pending.bytes, pending.kept);
  if (status != kWcSuccess) return status;
  const bool sends = is_send(wanted.opcode);
  if (sends && pending.bytes > kMostGatheredBytes) return kWcLocalLength;
  const bool empty = beyond_mrc_ && !sends && pending.bytes == 0;
  // A message of MRC has at least one byte.
  const std::array<std::byte, 1> nothing{};
  if ((sends || empty) && pending.bytes == 0) {
    if (pending.kept != 0) memory_.release(pending.kept);
    out.request.local_address = pending.kept = memory_.keep(nothing.data(), nothing.size());
  }
  out.request.bytes = sends || empty ? std::max(pending.bytes, 1U) : pending.bytes;
  out.request.immediate = wanted.immediate;
  out.request.write_imm = wanted.opcode != kWrite;
  out.announces = out.request.write_imm;
  out.message = {.bytes = pending.bytes,
                 .solicited = (wanted.flags & kSolicited) != 0,
                 .immediate = wanted.opcode == kWriteImm || wanted.opcode == kSendImm,
                 .carries = sends   ? Carries::send
                            : empty ? Carries::nothing
                                    : Carries::itself};
  if (sends) ++beyond_.sends;
  if (empty) ++beyond_.empty;
  return kWcSuccess;
}

VerbsAnswer VerbsNode::post_send(TimePs now, std::uint32_t process, const PostSend& wanted,
                                 std::span<const std::byte> tail) {
  QpObject* qp = find(qps_, process, wanted.qp);
  VerbsAnswer answer;
  if (!may_post(now, qp, wanted, answer)) return answer;
  Pending pending{.qp = wanted.qp,
                  .id = wanted.id,
                  .opcode = wanted.opcode,
                  .signaled = qp->signal_all || (wanted.flags & kSignaled) != 0,
                  .serial = next_serial_++};
  Outgoing out{.qp = wanted.qp, .fence = (wanted.flags & kFence) != 0};
  const bool is_datagram = qp->type == kQptUd;
  if (is_datagram && wanted.peer_node != host_->node()) out.qp = carrier_to(now, wanted.peer_node);
  if (out.qp == 0) return failure(ENOMEM);
  const std::uint32_t status = is_datagram                 ? prepare_datagram(process, wanted, tail, pending, out)
                               : is_request(wanted.opcode) ? prepare_request(process, wanted, tail, pending, out)
                                                           : prepare_write(process, wanted, tail, pending, out);
  if (status == kWcSuccess && out.request.bytes == 0) {
    if (pending.kept != 0) memory_.release(pending.kept);
    fmt::print(stderr, "mrcsim: nic{}: a message of 0 bytes is not in MRC; --beyond-mrc carries it\n", host_->node());
    return failure(EOPNOTSUPP);
  }
  const std::uint32_t place = take_pending();
  pending_[place] = std::move(pending);
  qp->order.push_back(place);
  ++qp->sends;
  if (status != kWcSuccess) {
    pending_[place].left_nic = true;
    finish(now, *qp, place, status);
    to_error(now, *qp);
    return {};
  }
  ++messages_;
  bytes_ += out.request.bytes;
  out.request.id = place;
  out.message.place = place;
  if (out.message.carries == Carries::itself) {
    out.request.remote_address = remote_address(qp->last.peer_node, wanted);
    out.request.rkey = wanted.rkey;
  }
  if (is_datagram) {
    hand_over(now, std::move(out));
  } else {
    submit(now, *qp, std::move(out));
  }
  return {};
}

void VerbsNode::submit(TimePs now, QpObject& qp, Outgoing&& out) {
  const bool waits =
      !qp.deferred.empty() || (out.reads && qp.reads >= std::max(qp.most_reads, 1U)) || (out.fence && qp.reads > 0);
  if (waits) {
    qp.deferred.push_back(std::move(out));
    return;
  }
  if (out.reads) ++qp.reads;
  hand_over(now, std::move(out));
}

void VerbsNode::submit_deferred(TimePs now, QpObject& qp) {
  std::deque<Outgoing> waiting = std::exchange(qp.deferred, {});
  for (Outgoing& out : waiting) submit(now, qp, std::move(out));
}

void VerbsNode::hand_over(TimePs now, Outgoing&& out) {
  if (stays_within(out)) return copy_within(now, std::move(out));
  outgoing_.push_back(std::move(out));
  drain(now);
}

void VerbsNode::drain(TimePs now) {
  while (!outgoing_.empty() && host_->has_room()) {
    Outgoing out = std::move(outgoing_.front());
    outgoing_.pop_front();
    const auto qp = qps_.find(out.qp);
    if (qp != qps_.end() && qp->second.state != kError) {
      give_to_nic(now, qp->second, out);
    } else {
      const auto poster = qps_.find(pending_[out.request.id].qp);
      drop(now, poster == qps_.end() ? nullptr : &poster->second, out);
    }
  }
}

void VerbsNode::drop(TimePs now, QpObject* qp, const Outgoing& out) {
  const auto place = static_cast<std::uint32_t>(out.request.id);
  Pending& pending = pending_[place];
  if (qp == nullptr || pending.is_answer) {
    if (pending.kept != 0) memory_.release(pending.kept);
    pending = {};
    free_pending_.push_back(place);
    return;
  }
  if (pending.wants_answer) --qp->reads;
  pending.wants_answer = false;
  pending.left_nic = true;
  finish(now, *qp, place, kWcFlushed);
}

void VerbsNode::give_to_nic(TimePs now, QpObject& qp, Outgoing& out) {
  VerbsNode* there = nullptr;
  QpObject* peer = peer_of(qp, there);
  if (out.message.carries == Carries::nothing) {
    if (there->sink_ == 0) there->sink_ = there->memory_.reserve(1);
    out.request.remote_address = there->sink_;
    out.request.rkey = kStagedKey;
  } else if (out.message.carries != Carries::itself) {
    out.request.remote_address = out.message.staged = there->memory_.reserve(out.request.bytes);
    out.request.rkey = kStagedKey;
  }
  const bool takes_receive = out.message.carries < Carries::request;
  if (peer != nullptr && out.announces) {
    peer->announced.push_back(out.message);
    // No receive of the program's is for it.
    if (!takes_receive) there->host_->post_receive(peer->index);
  }
  host_->post_request(now, qp.index, out.request);
}

VerbsAnswer VerbsNode::post_receive(TimePs now, std::uint32_t process, const PostReceive& wanted,
                                    std::span<const std::byte> tail) {
  const std::vector<Sge> sges = sges_of(tail, wanted.sges);
  for (const Sge& sge : sges) {
    if (sge.bytes > 0 && !covers(process, sge, kLocalWrite)) return failure(EINVAL);
  }
  if (wanted.srq != 0) {
    Srq* srq = find(srqs_, process, wanted.qp);
    if (srq == nullptr) return failure(EINVAL);
    if (srq->receives.size() >= std::max(srq->capacity, 1U)) return failure(ENOMEM);
    srq->receives.push_back({wanted.id, sges});
    for (const auto& [number, qp] : qps_) {
      const bool receives = qp.state >= kRtr && qp.state != kError && qp.type == kQptRc;
      if (qp.srq == wanted.qp && receives) host_->post_receive(qp.index);
    }
    return {};
  }
  QpObject* qp = find(qps_, process, wanted.qp);
  if (qp == nullptr || qp->srq != 0 || qp->state == kReset) return failure(EINVAL);
  if (qp->state == kError) {
    const std::uint32_t number = host_->qp(qp->index).number;
    complete(qp->receive_cq, now, {.id = wanted.id, .status = kWcFlushed, .opcode = kWcOfReceive, .qp_number = number},
             true);
    return {};
  }
  if (qp->receives.size() >= std::max(qp->most_receives, 1U)) return failure(ENOMEM);
  qp->receives.push_back({wanted.id, sges});
  if (qp->state >= kRtr && qp->type == kQptRc) host_->post_receive(qp->index);
  return {};
}

// ---- completions

void VerbsNode::finish(TimePs at, QpObject& qp, std::uint32_t place, std::uint32_t status) {
  pending_[place].done = true;
  pending_[place].status = status;
  pending_[place].at = at;
  complete_in_order(qp);
}

void VerbsNode::complete_in_order(QpObject& qp) {
  while (!qp.order.empty() && pending_[qp.order.front()].done && pending_[qp.order.front()].left_nic) {
    const std::uint32_t first = qp.order.front();
    qp.order.pop_front();
    const Pending done = std::exchange(pending_[first], {});
    free_pending_.push_back(first);
    if (done.kept != 0) memory_.release(done.kept);
    --qp.sends;
    qp.completed_at = std::max(qp.completed_at, done.at);
    if (done.status == kWcSuccess && !done.signaled) continue;
    complete(qp.send_cq, qp.completed_at,
             {.id = done.id,
              .status = done.status,
              .opcode = completed_as(done.opcode),
              .bytes = done.bytes,
              .qp_number = host_->qp(qp.index).number},
             done.status != kWcSuccess);
  }
}

void VerbsNode::send_completed(TimePs now, const Cqe& cqe) {
  const auto place = static_cast<std::uint32_t>(cqe.id);
  Pending& pending = pending_[place];
  const auto it = qps_.find(pending.qp);
  // Of a QP that has failed, packets under way may carry the bytes.
  if (pending.kept != 0 && cqe.status == CompletionStatus::success) memory_.release(pending.kept);
  pending.kept = 0;
  if (it == qps_.end() || pending.is_answer) {
    pending = {};
    free_pending_.push_back(place);
    return;
  }
  QpObject& qp = it->second;
  // Nobody learns that a datagram is lost.
  std::uint32_t status = qp.type == kQptUd ? kWcSuccess : status_of(cqe.status);
  pending.left_nic = true;
  if (pending.done) return complete_in_order(qp);  // the answer came before
  if (pending.wants_answer) {
    if (status == kWcSuccess && qp.state != kError) return;
    if (status == kWcSuccess) status = kWcFlushed;
    pending.wants_answer = false;
    --qp.reads;
  }
  finish(now, qp, place, status);
  if (status == kWcSuccess || qp.state == kError) return;
  tell_async(qp.process, qp.handle, kEventQpFatal);
  to_error(now, qp);
}

void VerbsNode::receive_completed(TimePs now, const Cqe& cqe) {
  const std::uint32_t object = object_of_index_[cqe.qp];
  const auto it = qps_.find(object);
  if (it == qps_.end()) return;
  QpObject& qp = it->second;
  Announced message;
  if (!qp.announced.empty()) {
    message = qp.announced.front();
    qp.announced.pop_front();
  }
  if (!message.within) host_->received(message.bytes);
  const bool fine = cqe.status == CompletionStatus::success && qp.state != kError;
  if (message.carries == Carries::datagram && fine) return datagram_received(now, message);
  if (message.carries == Carries::request && fine) return answer_request(now, object, message, cqe.immediate);
  if (message.carries == Carries::answer && fine) return answer_received(now, qp, message);
  if (message.carries >= Carries::request) return;
  std::deque<Receive>& receives = qp.srq != 0 ? srqs_.at(qp.srq).receives : qp.receives;
  if (receives.empty()) {
    to_error(now, qp);
    return;
  }
  const Receive receive = receives.front();
  receives.pop_front();
  std::uint32_t status = status_of(cqe.status);
  const bool sent = message.carries == Carries::send;
  if (sent && !scatter(now, qp, receive.sges, message)) status = kWcLocalLength;
  complete(qp.receive_cq, now + residual_ps_,
           {.id = receive.id,
            .status = status,
            .opcode = sent ? kWcOfReceive : kWcOfReceiveImm,
            .bytes = message.bytes,
            .immediate = cqe.immediate,
            .qp_number = host_->qp(qp.index).number,
            .source_qp = qp.last.peer_qp,
            .flags = message.immediate ? kWithImm : 0},
           message.solicited);
  if (status != kWcSuccess) to_error(now, qp);
}

void VerbsNode::tell_async(std::uint32_t process, std::uint64_t element, std::uint32_t event) {
  struct {
    std::uint64_t element;
    std::uint32_t event;
    std::uint32_t reserved;
  } const message{element, event, 0};
  for (const auto& [number, channel] : channels_) {
    if (!channel.async || (process != 0 && channel.process != process)) continue;
    [[maybe_unused]] const ssize_t sent = send(channel.fd, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

void VerbsNode::look_at_port() {
  // The one port of the device is up while any of the NIC's is.
  const bool up = host_->ports_up() > 0;
  if (up == port_up_) return;
  port_up_ = up;
  tell_async(0, 1, up ? kEventPortActive : kEventPortError);
}

void VerbsNode::take_completions(TimePs now) {
  look_at_port();
  look_at_evs();
  take_probe_answers();
  while (host_->next_completion() <= now) {
    const Cqe cqe = host_->take_completion(now);
    if (cqe.kind == Cqe::Kind::send) {
      send_completed(now, cqe);
    } else {
      receive_completed(now, cqe);
    }
  }
  drain(now);
  send_probes(now);
  for (auto& [number, cq] : cqs_) ring_channels(now, cq);
}

TimePs VerbsNode::next_visible(TimePs now) const {
  TimePs next = host_->next_completion();
  if (!outgoing_.empty()) next = std::min(next, now + kDoorbellLook);
  for (const auto& [number, cq] : cqs_) {
    const auto later =
        std::find_if(cq.entries.begin(), cq.entries.end(), [now](const Entry& entry) { return entry.at > now; });
    if (later != cq.entries.end()) next = std::min(next, later->at);
  }
  for (const auto& [number, batch] : batches_) {
    if (!batch.unsent.empty()) next = std::min(next, now + kDoorbellLook);
    if (batch.answered.size() < batch.count) continue;
    next = std::min(next, std::max(batch.answered.back().at, now + 1));
  }
  return next;
}

bool VerbsNode::has_completion(TimePs now, std::uint32_t process) const {
  return std::any_of(cqs_.begin(), cqs_.end(), [&](const auto& numbered) {
    const Cq& cq = numbered.second;
    return cq.process == process && !cq.entries.empty() && cq.entries.front().at <= now;
  });
}

bool VerbsNode::has_work() const {
  return pending_.size() > free_pending_.size() || !batches_.empty() || awaits_ev();
}

}  // namespace mrc
