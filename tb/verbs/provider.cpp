// The provider of libibverbs for the modelled NIC: each verb is a message to the model. It holds no state of the NIC;
// what an object is, the model knows by its number.
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <new>

#include "verbs/program_side.h"
#include "verbs/provider_abi.h"

namespace {

using namespace mrc::verbs;

constexpr char kDeviceName[] = "mrc";
constexpr std::uint32_t kUnknownDriver = 0;  // RDMA_DRIVER_UNKNOWN
constexpr std::uint32_t kMostListed = 64;    ///< work requests between ibv_wr_start() and ibv_wr_complete()

static_assert(kQptRc == IBV_QPT_RC && kQptUd == IBV_QPT_UD);
static_assert(kReset == IBV_QPS_RESET && kInit == IBV_QPS_INIT && kRtr == IBV_QPS_RTR && kRts == IBV_QPS_RTS &&
              kError == IBV_QPS_ERR);
static_assert(kMaskAv == IBV_QP_AV && kMaskDestination == IBV_QP_DEST_QPN && kMaskReads == IBV_QP_MAX_QP_RD_ATOMIC);
static_assert(kWrite == IBV_WR_RDMA_WRITE && kWriteImm == IBV_WR_RDMA_WRITE_WITH_IMM && kSend == IBV_WR_SEND &&
              kSendImm == IBV_WR_SEND_WITH_IMM && kRead == IBV_WR_RDMA_READ &&
              kCompareSwap == IBV_WR_ATOMIC_CMP_AND_SWP && kFetchAdd == IBV_WR_ATOMIC_FETCH_AND_ADD);
static_assert(kFence == IBV_SEND_FENCE && kSignaled == IBV_SEND_SIGNALED && kSolicited == IBV_SEND_SOLICITED);
static_assert(kLocalWrite == IBV_ACCESS_LOCAL_WRITE && kRemoteWrite == IBV_ACCESS_REMOTE_WRITE &&
              kRemoteRead == IBV_ACCESS_REMOTE_READ && kRemoteAtomic == IBV_ACCESS_REMOTE_ATOMIC);
static_assert(kWcSuccess == IBV_WC_SUCCESS && kWcLocalLength == IBV_WC_LOC_LEN_ERR &&
              kWcLocalQp == IBV_WC_LOC_QP_OP_ERR && kWcLocalProtection == IBV_WC_LOC_PROT_ERR &&
              kWcFlushed == IBV_WC_WR_FLUSH_ERR && kWcRemoteRequest == IBV_WC_REM_INV_REQ_ERR &&
              kWcRemoteAccess == IBV_WC_REM_ACCESS_ERR && kWcRemoteOperation == IBV_WC_REM_OP_ERR &&
              kWcRetryExceeded == IBV_WC_RETRY_EXC_ERR);
static_assert(kWcOfSend == IBV_WC_SEND && kWcOfWrite == IBV_WC_RDMA_WRITE && kWcOfRead == IBV_WC_RDMA_READ &&
              kWcOfCompareSwap == IBV_WC_COMP_SWAP && kWcOfFetchAdd == IBV_WC_FETCH_ADD &&
              kWcOfReceive == IBV_WC_RECV && kWcOfReceiveImm == IBV_WC_RECV_RDMA_WITH_IMM && kWithGrh == IBV_WC_GRH &&
              kWithImm == IBV_WC_WITH_IMM && kGrhBytes == sizeof(ibv_grh));
static_assert(kEventQpFatal == IBV_EVENT_QP_FATAL && kEventPortActive == IBV_EVENT_PORT_ACTIVE &&
              kEventPortError == IBV_EVENT_PORT_ERR);

/// A message with the arguments of a call, and room for its tail.
template <typename Arguments>
struct Message {
  Request request;
  Arguments arguments;
  std::byte tail[kMostBytes - sizeof(Request) - sizeof(Arguments)];
};
struct Nothing {};

PrivateFunctions libibverbs;

/// Null where the library that loaded this provider does not have it.
void* function_of_libibverbs(const char* name) {
  static void* const library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}

template <typename Function>
bool look_up(const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(function_of_libibverbs(name));
  return function != nullptr;
}

struct Answer {
  Reply reply;
  std::byte rest[kMostBytes - sizeof(Reply)];
};

struct Cq {
  ibv_cq cq;
  std::uint32_t number;
};
struct Srq {
  ibv_srq srq;
  std::uint32_t number;
  std::uint32_t most_sges;
};
struct Ah {
  ibv_ah ah;
  std::uint32_t node;
};

/// One work request, whichever interface it came by.
struct WorkRequest {
  PostSend post;
  Sge sges[kMostSges];
  std::byte payload[kMostInlineBytes];
};

struct Qp {
  verbs_qp verbs;
  std::uint32_t number;  ///< of the object
  std::uint32_t most_sges;
  std::uint32_t send_wrs;
  std::uint32_t receive_wrs;
  std::uint32_t inline_bytes;
  bool signal_all;
  ibv_qp_attr attributes;  ///< as they were set last
  // Of ibv_wr_start().
  std::uint32_t listed;
  int list_error;
  WorkRequest* list;
};

std::uint32_t number_of(const ibv_cq* cq) {
  return cq == nullptr ? 0 : reinterpret_cast<const Cq*>(cq)->number;
}
Qp& of(ibv_qp* qp) {
  return *reinterpret_cast<Qp*>(qp);
}
Qp& of(ibv_qp_ex* qp) {
  return *reinterpret_cast<Qp*>(qp);
}
/// `tail_bytes` of message.tail go with it.
template <typename Arguments>
int call(Call what, Message<Arguments>& message, Answer& answer, std::size_t tail_bytes = 0, int* fd = nullptr) {
  message.request.call = what;
  message.request.tail_bytes = static_cast<std::uint32_t>(tail_bytes);
  const std::size_t bytes = offsetof(Message<Arguments>, tail) + tail_bytes;
  return mrcsim_call(&message.request, bytes, &answer.reply, fd);
}
int call(Call what, Answer& answer, int* fd = nullptr) {
  Request request;
  request.call = what;
  return mrcsim_call(&request, sizeof request, &answer.reply, fd);
}
int call(Call what, std::uint32_t object, std::uint32_t number, Answer& answer) {
  Message<OneObject> message;
  message.arguments = {object, number};
  return call(what, message, answer);
}

template <typename Object>
Object* make() {
  return static_cast<Object*>(calloc(1, sizeof(Object)));
}
template <typename Object>
Object* failed(Object* object, int error) {
  free(object);
  errno = error;
  return nullptr;
}

std::uint32_t node_of(const ibv_ah_attr& ah) {
  // The last two bytes of a GID, or the LID less one, are the node's number.
  if (ah.is_global != 0) return node_of_gid(ah.grh.dgid.raw);
  return ah.dlid - 1U;
}

// ---- the device

int query_device(ibv_context* context, const ibv_query_device_ex_input*, ibv_device_attr_ex* to, std::size_t bytes) {
  Answer answer;
  if (const int error = call(Call::query_device, answer)) return error;
  DeviceInfo info;
  memcpy(static_cast<void*>(&info), answer.rest, sizeof info);
  ibv_device_attr_ex attributes{};
  ibv_device_attr& basic = attributes.orig_attr;
  strncpy(basic.fw_ver, "mrcsim", sizeof basic.fw_ver - 1);
  basic.node_guid = ibv_get_device_guid(context->device);
  basic.sys_image_guid = basic.node_guid;
  basic.max_mr_size = ~std::uint64_t{0};
  basic.page_size_cap = 4096;
  basic.vendor_id = 0x4D52;
  basic.vendor_part_id = 1;
  basic.max_qp = static_cast<int>(info.most_qps);
  basic.max_qp_wr = static_cast<int>(std::min(info.most_send_wrs, info.most_receive_wrs));
  basic.max_sge = kMostSges;
  basic.max_cq = 65'536;
  basic.max_cqe = static_cast<int>(info.most_cqes);
  basic.max_mr = 1 << 20;
  basic.max_pd = 65'536;
  basic.max_ah = 65'536;
  basic.max_srq = 65'536;
  basic.max_srq_wr = static_cast<int>(info.most_receive_wrs);
  basic.max_srq_sge = kMostSges;
  basic.max_pkeys = 1;
  basic.phys_port_cnt = 1;
  if (info.most_reads > 0) {
    basic.max_qp_rd_atom = basic.max_qp_init_rd_atom = static_cast<int>(info.most_reads);
    basic.max_res_rd_atom = static_cast<int>(info.most_reads * info.most_qps);
    basic.atomic_cap = IBV_ATOMIC_HCA;
  }
  attributes.completion_timestamp_mask = 0;
  attributes.phys_port_cnt_ex = 1;
  memcpy(to, &attributes, std::min(bytes, sizeof attributes));
  return 0;
}

std::uint8_t mtu_of(std::uint32_t bytes) {
  std::uint8_t mtu = IBV_MTU_256;
  while (mtu < IBV_MTU_4096 && 256U << mtu <= bytes) ++mtu;
  return mtu;
}

int query_port(ibv_context*, std::uint8_t, ibv_port_attr* port) {
  Answer answer;
  if (const int error = call(Call::query_device, answer)) return error;
  DeviceInfo info;
  memcpy(static_cast<void*>(&info), answer.rest, sizeof info);
  *port = {};
  port->state = info.ports_up != 0 ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  port->max_mtu = static_cast<ibv_mtu>(mtu_of(info.mtu_bytes));
  port->active_mtu = port->max_mtu;
  port->gid_tbl_len = 4;
  port->max_msg_sz = 1U << 31;
  port->pkey_tbl_len = 1;
  port->lid = static_cast<std::uint16_t>(info.node + 1);
  port->max_vl_num = 1;
  port->phys_state = info.ports_up != 0 ? 5 : 3;  // LinkUp, Disabled
  port->link_layer = IBV_LINK_LAYER_ETHERNET;
  // The nearest that the field has names for: lanes of 100 Gb/s.
  port->active_speed = 128;
  port->active_width = info.rate_gbps > 800 ? 8 : info.rate_gbps > 400 ? 4 : info.rate_gbps > 100 ? 2 : 1;
  return 0;
}

ibv_pd* alloc_pd(ibv_context*) {
  return make<ibv_pd>();
}
int dealloc_pd(ibv_pd* pd) {
  free(pd);
  return 0;
}

ibv_mr* reg_mr(ibv_pd*, void* address, std::size_t bytes, std::uint64_t iova, int access) {
  auto* mr = make<verbs_mr>();
  Message<RegisterMemory> message;
  message.arguments = {reinterpret_cast<std::uint64_t>(address), bytes, iova, static_cast<std::uint32_t>(access), 0};
  Answer answer;
  if (const int error = call(Call::register_memory, message, answer)) return &failed(mr, error)->mr;
  mr->mr.handle = answer.reply.count;
  mr->mr.lkey = mr->mr.rkey = answer.reply.count;
  mr->access = access;
  return &mr->mr;
}
int dereg_mr(verbs_mr* mr) {
  Answer answer;
  if (const int error = call(Call::deregister_memory, mr->mr.handle, 0, answer)) return error;
  free(mr);
  return 0;
}

// ---- completion queues

ibv_cq* create_cq(ibv_context*, int entries, ibv_comp_channel* channel, int) {
  auto* cq = make<Cq>();
  Message<CreateCq> message;
  const std::uint32_t number = channel == nullptr ? 0 : mrcsim_channel_of(channel->fd);
  message.arguments = {reinterpret_cast<std::uint64_t>(cq), static_cast<std::uint32_t>(entries), number};
  Answer answer;
  if (const int error = call(Call::create_cq, message, answer)) return &failed(cq, error)->cq;
  cq->number = answer.reply.count;
  cq->cq.handle = cq->number;
  cq->cq.cqe = static_cast<int>(answer.reply.value);
  return &cq->cq;
}
int resize_cq(ibv_cq* cq, int entries) {
  Answer answer;
  if (const int error = call(Call::resize_cq, number_of(cq), static_cast<std::uint32_t>(entries), answer)) return error;
  cq->cqe = entries;
  return 0;
}
int destroy_cq(ibv_cq* cq) {
  Answer answer;
  if (const int error = call(Call::destroy_cq, number_of(cq), 0, answer)) return error;
  free(cq);
  return 0;
}

int poll_cq(ibv_cq* cq, int most, ibv_wc* to) {
  Answer answer;
  const std::uint32_t wanted = std::min(static_cast<std::uint32_t>(std::max(most, 0)), kMostCompletions);
  if (call(Call::poll_cq, number_of(cq), wanted, answer) != 0) return -1;
  const auto* from = reinterpret_cast<const WorkCompletion*>(answer.rest);
  for (std::uint32_t i = 0; i < answer.reply.count; ++i) {
    to[i] = {};
    to[i].wr_id = from[i].id;
    to[i].status = static_cast<ibv_wc_status>(from[i].status);
    to[i].opcode = static_cast<ibv_wc_opcode>(from[i].opcode);
    to[i].vendor_err = from[i].vendor_error;
    to[i].byte_len = from[i].bytes;
    to[i].imm_data = from[i].immediate;
    to[i].qp_num = from[i].qp_number;
    to[i].src_qp = from[i].source_qp;
    to[i].wc_flags = from[i].flags;
  }
  return static_cast<int>(answer.reply.count);
}

int req_notify_cq(ibv_cq* cq, int solicited_only) {
  Answer answer;
  return call(Call::arm_cq, number_of(cq), solicited_only != 0 ? 1 : 0, answer);
}

void cq_event(ibv_cq*) {}

// ---- queue pairs

ibv_srq* create_srq(ibv_pd*, ibv_srq_init_attr* attributes) {
  auto* srq = make<Srq>();
  Answer answer;
  const int error = call(Call::create_srq, 0, attributes->attr.max_wr, answer);
  if (error != 0) return &failed(srq, error)->srq;
  srq->number = answer.reply.count;
  srq->srq.handle = srq->number;
  srq->most_sges = attributes->attr.max_sge;
  return &srq->srq;
}
int modify_srq(ibv_srq*, ibv_srq_attr*, int) {
  return EOPNOTSUPP;
}
int query_srq(ibv_srq* srq, ibv_srq_attr* attributes) {
  *attributes = {};
  attributes->max_sge = reinterpret_cast<Srq*>(srq)->most_sges;
  return 0;
}
int destroy_srq(ibv_srq* srq) {
  Answer answer;
  if (const int error = call(Call::destroy_srq, reinterpret_cast<Srq*>(srq)->number, 0, answer)) return error;
  free(srq);
  return 0;
}

void add_list_operations(Qp& qp);

/// What a QP takes inline. An entry of a UD send queue has whole blocks, as on mlx5 adapters: what its headers leave of
/// them is the program's, 124 bytes for 64. Programs may count on it: libucx uses the buffer of a connection request
/// for another message before the request completes, and a request, 65 bytes with a GID, is safe only inline.
std::uint32_t inline_bytes_of(const ibv_qp_init_attr_ex& wanted) {
  constexpr std::uint32_t block_bytes = 64;
  constexpr std::uint32_t header_bytes = 16 + 48 + 4;  // control, address vector, inline
  const std::uint32_t asked = wanted.cap.max_inline_data;
  if (wanted.qp_type != IBV_QPT_UD || asked == 0) return asked;
  const std::uint32_t blocks = (header_bytes + asked + block_bytes - 1) / block_bytes;
  return std::min(blocks * block_bytes - header_bytes, kMostInlineBytes);
}

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attributes) {
  const ibv_qp_cap& cap = attributes->cap;
  if (cap.max_send_sge > kMostSges || cap.max_recv_sge > kMostSges || cap.max_inline_data > kMostInlineBytes) {
    errno = EINVAL;
    return nullptr;
  }
  auto* qp = make<Qp>();
  Message<CreateQp> message;
  CreateQp& wanted = message.arguments;
  wanted = {};
  wanted.send_cq = number_of(attributes->send_cq);
  wanted.receive_cq = number_of(attributes->recv_cq);
  wanted.srq = attributes->srq == nullptr ? 0 : reinterpret_cast<Srq*>(attributes->srq)->number;
  wanted.type = attributes->qp_type;
  wanted.send_wrs = cap.max_send_wr;
  wanted.receive_wrs = cap.max_recv_wr;
  wanted.signal_all = attributes->sq_sig_all != 0 ? 1 : 0;
  wanted.handle = reinterpret_cast<std::uint64_t>(qp);
  Answer answer;
  const int error = call(Call::create_qp, message, answer);
  if (error != 0) return reinterpret_cast<ibv_qp*>(failed(qp, error));
  ibv_qp& base = qp->verbs.qp;
  qp->number = answer.reply.count;
  qp->send_wrs = cap.max_send_wr;
  qp->receive_wrs = cap.max_recv_wr;
  qp->most_sges = std::max(cap.max_send_sge, 1U);
  qp->inline_bytes = attributes->cap.max_inline_data = inline_bytes_of(*attributes);
  qp->signal_all = attributes->sq_sig_all != 0;
  base.context = context;
  base.qp_context = attributes->qp_context;
  base.pd = attributes->pd;
  base.send_cq = attributes->send_cq;
  base.recv_cq = attributes->recv_cq;
  base.srq = attributes->srq;
  base.handle = qp->number;
  base.qp_num = static_cast<std::uint32_t>(answer.reply.value);
  base.state = IBV_QPS_RESET;
  base.qp_type = attributes->qp_type;
  pthread_mutex_init(&base.mutex, nullptr);
  pthread_cond_init(&base.cond, nullptr);
  if ((attributes->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0) add_list_operations(*qp);
  return &base;
}

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
  ibv_qp_init_attr_ex extended{};
  extended.qp_context = attributes->qp_context;
  extended.send_cq = attributes->send_cq;
  extended.recv_cq = attributes->recv_cq;
  extended.srq = attributes->srq;
  extended.cap = attributes->cap;
  extended.qp_type = attributes->qp_type;
  extended.sq_sig_all = attributes->sq_sig_all;
  extended.pd = pd;
  ibv_qp* created = create_qp_ex(pd->context, &extended);
  if (created != nullptr) attributes->cap = extended.cap;
  return created;
}

void keep_attributes(Qp& qp, const ibv_qp_attr& from, int mask) {
  ibv_qp_attr& to = qp.attributes;
  if ((mask & IBV_QP_ACCESS_FLAGS) != 0) to.qp_access_flags = from.qp_access_flags;
  if ((mask & IBV_QP_PORT) != 0) to.port_num = from.port_num;
  if ((mask & IBV_QP_QKEY) != 0) to.qkey = from.qkey;
  if ((mask & IBV_QP_AV) != 0) to.ah_attr = from.ah_attr;
  if ((mask & IBV_QP_PATH_MTU) != 0) to.path_mtu = from.path_mtu;
  if ((mask & IBV_QP_DEST_QPN) != 0) to.dest_qp_num = from.dest_qp_num;
  if ((mask & IBV_QP_RQ_PSN) != 0) to.rq_psn = from.rq_psn;
  if ((mask & IBV_QP_SQ_PSN) != 0) to.sq_psn = from.sq_psn;
  if ((mask & IBV_QP_TIMEOUT) != 0) to.timeout = from.timeout;
  if ((mask & IBV_QP_RETRY_CNT) != 0) to.retry_cnt = from.retry_cnt;
  if ((mask & IBV_QP_RNR_RETRY) != 0) to.rnr_retry = from.rnr_retry;
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0) to.min_rnr_timer = from.min_rnr_timer;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) to.max_rd_atomic = from.max_rd_atomic;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0) to.max_dest_rd_atomic = from.max_dest_rd_atomic;
}

int modify_qp(ibv_qp* base, ibv_qp_attr* attributes, int mask) {
  Qp& qp = of(base);
  keep_attributes(qp, *attributes, mask);
  if ((mask & IBV_QP_STATE) == 0) return 0;
  Message<ModifyQp> message;
  message.arguments = {};
  message.arguments.qp = qp.number;
  message.arguments.state = attributes->qp_state;
  message.arguments.mask = static_cast<std::uint32_t>(mask);
  message.arguments.peer_node = node_of(qp.attributes.ah_attr);
  message.arguments.peer_qp = qp.attributes.dest_qp_num;
  message.arguments.receive_psn = qp.attributes.rq_psn;
  message.arguments.send_psn = qp.attributes.sq_psn;
  message.arguments.most_reads = qp.attributes.max_rd_atomic;
  message.arguments.qkey = qp.attributes.qkey;
  Answer answer;
  return call(Call::modify_qp, message, answer);
}

int query_qp(ibv_qp* base, ibv_qp_attr* attributes, int, ibv_qp_init_attr* initial) {
  Qp& qp = of(base);
  Answer answer;
  if (const int error = call(Call::query_qp, qp.number, 0, answer)) return error;
  *attributes = qp.attributes;
  attributes->qp_state = attributes->cur_qp_state = static_cast<ibv_qp_state>(answer.reply.value);
  attributes->cap = {qp.send_wrs, qp.receive_wrs, qp.most_sges, qp.most_sges, qp.inline_bytes};
  *initial = {};
  initial->qp_context = base->qp_context;
  initial->send_cq = base->send_cq;
  initial->recv_cq = base->recv_cq;
  initial->srq = base->srq;
  initial->cap = attributes->cap;
  initial->qp_type = base->qp_type;
  initial->sq_sig_all = qp.signal_all ? 1 : 0;
  return 0;
}

int destroy_qp(ibv_qp* base) {
  Answer answer;
  if (const int error = call(Call::destroy_qp, of(base).number, 0, answer)) return error;
  free(of(base).list);
  free(base);
  return 0;
}

ibv_ah* create_ah(ibv_pd*, ibv_ah_attr* attributes) {
  auto* ah = make<Ah>();
  ah->node = node_of(*attributes);
  return &ah->ah;
}
int destroy_ah(ibv_ah* ah) {
  free(ah);
  return 0;
}

// ---- work

int post(const WorkRequest& wanted) {
  Message<PostSend> message;
  message.arguments = wanted.post;
  std::size_t tail = 0;
  if (wanted.post.inline_bytes > 0) {
    tail = wanted.post.inline_bytes;
    memcpy(message.tail, wanted.payload, tail);
  } else {
    tail = wanted.post.sges * sizeof(Sge);
    memcpy(message.tail, static_cast<const void*>(wanted.sges), tail);
  }
  Answer answer;
  return call(Call::post_send, message, answer, tail);
}

/// The bytes of an inline request are taken at once.
int add_inline(WorkRequest& to, const void* from, std::size_t bytes) {
  if (to.post.inline_bytes + bytes > kMostInlineBytes) return ENOMEM;
  memcpy(to.payload + to.post.inline_bytes, from, bytes);
  to.post.inline_bytes += static_cast<std::uint32_t>(bytes);
  return 0;
}

int add_sge(WorkRequest& to, const ibv_sge& from) {
  if (to.post.sges == kMostSges) return EINVAL;
  to.sges[to.post.sges++] = {from.addr, from.length, from.lkey};
  return 0;
}

int translate(const Qp& qp, const ibv_send_wr& from, WorkRequest& to) {
  to.post = {};
  to.post.qp = qp.number;
  to.post.opcode = from.opcode;
  to.post.flags = from.send_flags;
  to.post.immediate = from.imm_data;
  to.post.id = from.wr_id;
  if (qp.verbs.qp.qp_type == IBV_QPT_UD) {
    if (from.wr.ud.ah == nullptr) return EINVAL;
    to.post.peer_node = reinterpret_cast<const Ah*>(from.wr.ud.ah)->node;
    to.post.peer_qp = from.wr.ud.remote_qpn;
    to.post.qkey = from.wr.ud.remote_qkey;
  } else if (from.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || from.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    to.post.remote_address = from.wr.atomic.remote_addr;
    to.post.rkey = from.wr.atomic.rkey;
    to.post.compare_add = from.wr.atomic.compare_add;
    to.post.swap = from.wr.atomic.swap;
  } else {
    to.post.remote_address = from.wr.rdma.remote_addr;
    to.post.rkey = from.wr.rdma.rkey;
  }
  for (int i = 0; i < from.num_sge; ++i) {
    const ibv_sge& sge = from.sg_list[i];
    const int error = (from.send_flags & IBV_SEND_INLINE) != 0
                          ? add_inline(to, reinterpret_cast<const void*>(sge.addr), sge.length)
                          : add_sge(to, sge);
    if (error != 0) return error;
  }
  return 0;
}

int post_send(ibv_qp* base, ibv_send_wr* list, ibv_send_wr** bad) {
  WorkRequest wanted;
  for (ibv_send_wr* request = list; request != nullptr; request = request->next) {
    int error = translate(of(base), *request, wanted);
    if (error == 0) error = post(wanted);
    if (error == 0) continue;
    *bad = request;
    return error;
  }
  return 0;
}

int post_receives(std::uint32_t object, bool is_srq, ibv_recv_wr* list, ibv_recv_wr** bad) {
  for (ibv_recv_wr* request = list; request != nullptr; request = request->next) {
    Message<PostReceive> message;
    message.arguments = {object, is_srq ? 1U : 0U, request->wr_id, static_cast<std::uint32_t>(request->num_sge), 0};
    int error = request->num_sge > static_cast<int>(kMostSges) ? EINVAL : 0;
    auto* sges = reinterpret_cast<Sge*>(message.tail);
    for (int i = 0; i < request->num_sge && error == 0; ++i) {
      sges[i] = {request->sg_list[i].addr, request->sg_list[i].length, request->sg_list[i].lkey};
    }
    Answer answer;
    const std::size_t tail = sizeof(Sge) * static_cast<std::uint32_t>(request->num_sge);
    if (error == 0) error = call(Call::post_receive, message, answer, tail);
    if (error == 0) continue;
    *bad = request;
    return error;
  }
  return 0;
}
int post_recv(ibv_qp* base, ibv_recv_wr* list, ibv_recv_wr** bad) {
  return post_receives(of(base).number, false, list, bad);
}
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* list, ibv_recv_wr** bad) {
  return post_receives(reinterpret_cast<Srq*>(srq)->number, true, list, bad);
}

// ---- the second interface: ibv_wr_start() … ibv_wr_complete()

WorkRequest* add_to_list(ibv_qp_ex* base, ibv_wr_opcode opcode) {
  Qp& qp = of(base);
  if (qp.listed == kMostListed) {
    qp.list_error = ENOMEM;
    return nullptr;
  }
  WorkRequest& added = qp.list[qp.listed++];
  added.post = {};
  added.post.qp = qp.number;
  added.post.opcode = opcode;
  added.post.flags = base->wr_flags;
  added.post.id = base->wr_id;
  return &added;
}
WorkRequest* last_in_list(ibv_qp_ex* base) {
  Qp& qp = of(base);
  return qp.listed == 0 || qp.list_error != 0 ? nullptr : &qp.list[qp.listed - 1];
}
void note(ibv_qp_ex* base, int error) {
  if (of(base).list_error == 0) of(base).list_error = error;
}

void wr_start(ibv_qp_ex* base) {
  of(base).listed = 0;
  of(base).list_error = 0;
}
int wr_complete(ibv_qp_ex* base) {
  Qp& qp = of(base);
  for (std::uint32_t i = 0; i < qp.listed && qp.list_error == 0; ++i) qp.list_error = post(qp.list[i]);
  return qp.list_error;
}
void wr_abort(ibv_qp_ex* base) {
  of(base).listed = 0;
}
void with_address(WorkRequest* request, std::uint32_t rkey, std::uint64_t address) {
  if (request == nullptr) return;
  request->post.rkey = rkey;
  request->post.remote_address = address;
}
void wr_write(ibv_qp_ex* base, std::uint32_t rkey, std::uint64_t address) {
  with_address(add_to_list(base, IBV_WR_RDMA_WRITE), rkey, address);
}
void wr_write_imm(ibv_qp_ex* base, std::uint32_t rkey, std::uint64_t address, __be32 immediate) {
  WorkRequest* request = add_to_list(base, IBV_WR_RDMA_WRITE_WITH_IMM);
  with_address(request, rkey, address);
  if (request != nullptr) request->post.immediate = immediate;
}
void wr_read(ibv_qp_ex* base, std::uint32_t rkey, std::uint64_t address) {
  with_address(add_to_list(base, IBV_WR_RDMA_READ), rkey, address);
}
void wr_send(ibv_qp_ex* base) {
  add_to_list(base, IBV_WR_SEND);
}
void wr_send_imm(ibv_qp_ex* base, __be32 immediate) {
  WorkRequest* request = add_to_list(base, IBV_WR_SEND_WITH_IMM);
  if (request != nullptr) request->post.immediate = immediate;
}
void wr_compare_swap(ibv_qp_ex* base, std::uint32_t rkey, std::uint64_t address, std::uint64_t compare,
                     std::uint64_t swap) {
  WorkRequest* request = add_to_list(base, IBV_WR_ATOMIC_CMP_AND_SWP);
  with_address(request, rkey, address);
  if (request == nullptr) return;
  request->post.compare_add = compare;
  request->post.swap = swap;
}
void wr_fetch_add(ibv_qp_ex* base, std::uint32_t rkey, std::uint64_t address, std::uint64_t add) {
  WorkRequest* request = add_to_list(base, IBV_WR_ATOMIC_FETCH_AND_ADD);
  with_address(request, rkey, address);
  if (request != nullptr) request->post.compare_add = add;
}
void wr_set_ud_address(ibv_qp_ex* base, ibv_ah* ah, std::uint32_t qp, std::uint32_t qkey) {
  WorkRequest* request = last_in_list(base);
  if (request == nullptr) return;
  request->post.peer_node = reinterpret_cast<const Ah*>(ah)->node;
  request->post.peer_qp = qp;
  request->post.qkey = qkey;
}
void wr_set_sges(ibv_qp_ex* base, std::size_t count, const ibv_sge* list) {
  WorkRequest* request = last_in_list(base);
  for (std::size_t i = 0; i < count && request != nullptr; ++i) {
    if (const int error = add_sge(*request, list[i])) return note(base, error);
  }
}
void wr_set_sge(ibv_qp_ex* base, std::uint32_t key, std::uint64_t address, std::uint32_t bytes) {
  const ibv_sge one{address, bytes, key};
  wr_set_sges(base, 1, &one);
}
void wr_set_inline(ibv_qp_ex* base, void* from, std::size_t bytes) {
  WorkRequest* request = last_in_list(base);
  if (request == nullptr) return;
  request->post.flags |= IBV_SEND_INLINE;
  if (const int error = add_inline(*request, from, bytes)) note(base, error);
}
void wr_set_inline_list(ibv_qp_ex* base, std::size_t count, const ibv_data_buf* list) {
  for (std::size_t i = 0; i < count; ++i) wr_set_inline(base, list[i].addr, list[i].length);
}

void add_list_operations(Qp& qp) {
  qp.list = static_cast<WorkRequest*>(calloc(kMostListed, sizeof(WorkRequest)));
  qp.verbs.comp_mask |= kQpIsExtended;
  ibv_qp_ex& to = qp.verbs.qp_ex;
  to.wr_start = wr_start;
  to.wr_complete = wr_complete;
  to.wr_abort = wr_abort;
  to.wr_rdma_write = wr_write;
  to.wr_rdma_write_imm = wr_write_imm;
  to.wr_rdma_read = wr_read;
  to.wr_send = wr_send;
  to.wr_send_imm = wr_send_imm;
  to.wr_atomic_cmp_swp = wr_compare_swap;
  to.wr_atomic_fetch_add = wr_fetch_add;
  to.wr_set_ud_addr = wr_set_ud_address;
  to.wr_set_sge = wr_set_sge;
  to.wr_set_sge_list = wr_set_sges;
  to.wr_set_inline_data = wr_set_inline;
  to.wr_set_inline_data_list = wr_set_inline_list;
}

// ---- what libibverbs calls to find and open the device

/// More than verbs_context takes in any version. Newer ones are longer at their beginning; at their end are their size
/// and the ibv_context that programs see.
constexpr std::size_t kMostContextBytes = sizeof(verbs_context) + 1024;

/// The library's verbs_context that ends with this.
verbs_context* whole_context(ibv_context* context) {
  const std::size_t bytes = *(reinterpret_cast<std::size_t*>(context) - 1);
  return reinterpret_cast<verbs_context*>(reinterpret_cast<std::byte*>(context + 1) - bytes);
}

/// The end of a verbs_context that begins at `whole`; null where none ends within kMostContextBytes.
ibv_context* end_of_context(void* whole) {
  auto* const begin = static_cast<std::byte*>(whole);
  for (std::size_t at = sizeof(std::size_t); at + sizeof(ibv_context) <= kMostContextBytes; at += sizeof(void*)) {
    auto* const context = reinterpret_cast<ibv_context*>(begin + at);
    if (*(reinterpret_cast<std::size_t*>(context) - 1) == at + sizeof(ibv_context)) return context;
  }
  return nullptr;
}

void free_context(ibv_context* context) {
  verbs_context* whole = whole_context(context);
  libibverbs.uninit_context(whole);
  free(whole);
}

OpTable table_of_operations() {
  OpTable table;
  for (const AddedOperations& added : kAddedOperations) {
    if (function_of_libibverbs(added.function) != nullptr) continue;
    for (std::uint32_t i = 0; i < added.count; ++i) table.leave_out(added.ops[i]);
  }
  table.set(Op::query_device_ex, query_device);
  table.set(Op::query_port, query_port);
  table.set(Op::alloc_pd, alloc_pd);
  table.set(Op::dealloc_pd, dealloc_pd);
  table.set(Op::reg_mr, reg_mr);
  table.set(Op::dereg_mr, dereg_mr);
  table.set(Op::create_cq, create_cq);
  table.set(Op::resize_cq, resize_cq);
  table.set(Op::destroy_cq, destroy_cq);
  table.set(Op::poll_cq, poll_cq);
  table.set(Op::req_notify_cq, req_notify_cq);
  table.set(Op::cq_event, cq_event);
  table.set(Op::create_srq, create_srq);
  table.set(Op::modify_srq, modify_srq);
  table.set(Op::query_srq, query_srq);
  table.set(Op::destroy_srq, destroy_srq);
  table.set(Op::create_qp, create_qp);
  table.set(Op::create_qp_ex, create_qp_ex);
  table.set(Op::modify_qp, modify_qp);
  table.set(Op::query_qp, query_qp);
  table.set(Op::destroy_qp, destroy_qp);
  table.set(Op::create_ah, create_ah);
  table.set(Op::destroy_ah, destroy_ah);
  table.set(Op::post_send, post_send);
  table.set(Op::post_recv, post_recv);
  table.set(Op::post_srq_recv, post_srq_recv);
  table.set(Op::free_context, free_context);
  return table;
}

verbs_context* alloc_context(ibv_device* device, int command_fd, void*) {
  void* whole = libibverbs.init_and_alloc_context(device, command_fd, kMostContextBytes, nullptr, kUnknownDriver);
  ibv_context* context = whole == nullptr ? nullptr : end_of_context(whole);
  if (context == nullptr) return nullptr;
  static const OpTable operations = table_of_operations();
  libibverbs.set_ops(whole_context(context), operations.data());
  context->num_comp_vectors = 1;
  Answer answer;
  int fd = -1;
  if (call(Call::open_async, answer, &fd) != 0 || fd < 0) {
    free_context(context);
    errno = ENODEV;
    return nullptr;
  }
  context->async_fd = fd;
  return whole_context(context);
}

bool match_device(verbs_sysfs_dev* sysfs) {
  return strncmp(sysfs->ibdev_name, kDeviceName, sizeof kDeviceName - 1) == 0;
}
verbs_device* alloc_device(verbs_sysfs_dev*) {
  return static_cast<verbs_device*>(calloc(1, sizeof(verbs_device)));
}
void uninit_device(verbs_device* device) {
  free(device);
}

constexpr verbs_device_ops kProvider{
    .name = "mrcsim",
    .match_min_abi_version = 0,
    .match_max_abi_version = 1'000,
    .match_table = nullptr,
    .static_providers = nullptr,
    .match_device = match_device,
    .alloc_context = alloc_context,
    .import_context = nullptr,
    .alloc_device = alloc_device,
    .uninit_device = uninit_device,
};

/// A libibverbs has one of these versions.
__attribute__((constructor)) void register_provider() {
  const bool found = look_up("verbs_register_driver_34", libibverbs.register_driver) ||
                     look_up("verbs_register_driver_57", libibverbs.register_driver) ||
                     look_up("verbs_register_driver_59", libibverbs.register_driver) ||
                     look_up("verbs_register_driver_64", libibverbs.register_driver) ||
                     look_up("verbs_register_driver_65", libibverbs.register_driver);
  if (found && look_up("_verbs_init_and_alloc_context", libibverbs.init_and_alloc_context) &&
      look_up("verbs_uninit_context", libibverbs.uninit_context) && look_up("verbs_set_ops", libibverbs.set_ops)) {
    libibverbs.register_driver(&kProvider);
  }
}

}  // namespace
