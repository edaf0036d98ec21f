// Verbs that no program of Debian's checks: what READ and atomic operations move, their errors, events of the device.
//   verbs_check beyond PORT [ADDRESS]   the server without ADDRESS: READ and atomic operations into its memory
//   verbs_check datagrams PORT [ADDRESS]   datagrams whose buffer is used again at once
//   verbs_check data PORT [ADDRESS]     WRITEs with immediate: bytes, and order at the server
//   verbs_check refusals PORT [ADDRESS] WRITEs that the server's keys do not allow: errors, and no byte elsewhere
//   verbs_check writes PORT [ADDRESS]   WRITEs until one fails
//   verbs_check counts PORT [ADDRESS]   the server counts rounds of a loop until its memory is written
//   verbs_check threads COUNT           starts that many threads, which do nothing
//   verbs_check events COUNT            waits for that many events
// Prints what it found, and ends with 1 at the first thing that is wrong.
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kBytes = std::size_t{1} << 22;
constexpr std::size_t kGuardBytes = 4096;  ///< behind these, not registered
constexpr std::uint8_t kGuard = 0x5A;
constexpr std::uint32_t kDepth = 64;

void check(bool good, const char* what) {
  if (good) return;
  std::printf("wrong: %s (errno %d)\n", what, errno);
  std::exit(1);
}

/// Of the run. Clocks show a second more.
double now_us() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec - 1) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

int connect_to(const char* port, const char* address) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  at.sin_addr.s_addr = inet_addr(address == nullptr ? "127.0.0.1" : address);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (address != nullptr) {
    check(connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0, "connect");
    return fd;
  }
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  check(bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 && listen(fd, 1) == 0, "bind");
  return accept(fd, nullptr, nullptr);
}

template <typename Value>
Value exchange(int fd, const Value& mine) {
  Value theirs{};
  check(write(fd, &mine, sizeof mine) == sizeof mine, "write");
  check(recv(fd, &theirs, sizeof theirs, MSG_WAITALL) == sizeof theirs, "read");
  return theirs;
}

struct Endpoint {
  std::uint32_t qp = 0;
  std::uint32_t psn = 0;
  ibv_gid gid{};
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t closed_key = 0;  ///< the same memory, nothing is allowed
};

/// One QP, and memory of which byte i begins as pattern(i).
struct Verbs {
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  ibv_qp* qp = nullptr;
  ibv_mr* mr = nullptr;
  ibv_mr* closed = nullptr;
  std::uint8_t* memory = nullptr;
  Endpoint peer;
};

std::uint8_t pattern(std::size_t i) {
  return static_cast<std::uint8_t>(i * 7 + (i >> 8) * 13 + (i >> 16));
}

ibv_context* open_device() {
  ibv_device** list = ibv_get_device_list(nullptr);
  check(list != nullptr && list[0] != nullptr, "no device");
  ibv_context* context = ibv_open_device(list[0]);
  check(context != nullptr, "ibv_open_device");
  return context;
}

Verbs connected(int fd, bool server) {
  Verbs v;
  v.context = open_device();
  v.pd = ibv_alloc_pd(v.context);
  v.cq = ibv_create_cq(v.context, 256, nullptr, nullptr, 0);
  v.memory = static_cast<std::uint8_t*>(aligned_alloc(4096, kBytes + kGuardBytes));
  for (std::size_t i = 0; i < kBytes; ++i) v.memory[i] = server ? pattern(i) : 0;
  std::memset(v.memory + kBytes, kGuard, kGuardBytes);
  const int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  v.mr = ibv_reg_mr(v.pd, v.memory, kBytes, all);
  v.closed = ibv_reg_mr(v.pd, v.memory, kBytes, IBV_ACCESS_LOCAL_WRITE);
  check(v.mr != nullptr && v.closed != nullptr, "ibv_reg_mr");
  ibv_qp_init_attr initial{};
  initial.send_cq = initial.recv_cq = v.cq;
  initial.qp_type = IBV_QPT_RC;
  initial.cap = {kDepth, kDepth, 4, 1, 64};
  v.qp = ibv_create_qp(v.pd, &initial);
  check(v.qp != nullptr, "ibv_create_qp");
  Endpoint mine{v.qp->qp_num,  100U + (server ? 7U : 0U), {}, reinterpret_cast<std::uint64_t>(v.memory), v.mr->rkey,
                v.closed->rkey};
  check(ibv_query_gid(v.context, 1, 0, &mine.gid) == 0, "ibv_query_gid");
  v.peer = exchange(fd, mine);
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_INIT;
  to.port_num = 1;
  to.qp_access_flags = all;
  check(ibv_modify_qp(v.qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0, "INIT");
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = IBV_MTU_4096;
  to.dest_qp_num = v.peer.qp;
  to.rq_psn = v.peer.psn;
  to.max_dest_rd_atomic = 16;
  to.min_rnr_timer = 12;
  to.ah_attr.is_global = 1;
  to.ah_attr.grh.dgid = v.peer.gid;
  to.ah_attr.port_num = 1;
  check(ibv_modify_qp(v.qp, &to,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
        "RTR");
  if (!server) {  // the server only answers: it is never told to send
    to.qp_state = IBV_QPS_RTS;
    to.sq_psn = mine.psn;
    to.max_rd_atomic = 4;
    to.timeout = 14;
    to.retry_cnt = to.rnr_retry = 7;
    check(ibv_modify_qp(v.qp, &to,
                        IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                            IBV_QP_RNR_RETRY) == 0,
          "RTS");
  }
  exchange(fd, 'c');
  return v;
}

struct Work {
  ibv_wr_opcode opcode = IBV_WR_RDMA_READ;
  std::size_t local = 0;  ///< offsets in both memories
  std::size_t remote = 0;
  std::uint32_t bytes = 8;
  std::uint32_t key = 0;  ///< 0: the peer's open one
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  unsigned flags = IBV_SEND_SIGNALED;
  int pieces = 1;
  std::uint32_t immediate = 0;
};

void post(Verbs& v, const Work& work, std::uint64_t id) {
  ibv_sge sges[4]{};
  const std::uint32_t each = work.bytes / static_cast<std::uint32_t>(work.pieces);
  for (int i = 0; i < work.pieces; ++i) {
    const auto offset = static_cast<std::uint32_t>(i) * each;
    sges[i] = {reinterpret_cast<std::uint64_t>(v.memory) + work.local + offset,
               i + 1 == work.pieces ? work.bytes - offset : each, v.mr->lkey};
  }
  ibv_send_wr request{};
  request.wr_id = id;
  request.sg_list = sges;
  request.num_sge = work.bytes == 0 ? 0 : work.pieces;
  request.opcode = work.opcode;
  request.send_flags = work.flags;
  request.imm_data = work.immediate;
  const std::uint64_t remote = v.peer.address + work.remote;
  const std::uint32_t key = work.key != 0 ? work.key : v.peer.key;
  if (work.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || work.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    request.wr.atomic = {remote, work.compare_add, work.swap, key};
  } else {
    request.wr.rdma = {remote, key};
  }
  ibv_send_wr* bad = nullptr;
  check(ibv_post_send(v.qp, &request, &bad) == 0, "ibv_post_send");
}

ibv_wc next(Verbs& v) {
  ibv_wc wc{};
  int got = 0;
  while ((got = ibv_poll_cq(v.cq, 1, &wc)) == 0) {
  }
  check(got == 1, "ibv_poll_cq");
  return wc;
}

ibv_wc run(Verbs& v, const Work& work) {
  post(v, work, 1);
  return next(v);
}

std::uint64_t word(const Verbs& v, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, v.memory + at, sizeof value);
  return value;
}

void check_reads(Verbs& v) {
  for (const std::uint32_t bytes : {0U, 1U, 3U, 4096U, 4097U, 65536U, 1U << 20}) {
    for (const int pieces : {1, 3}) {
      if (bytes < 3 && pieces > 1) continue;
      std::memset(v.memory, 0, bytes + 1);
      const ibv_wc wc = run(v, {.remote = 12'345, .bytes = bytes, .pieces = pieces});
      check(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RDMA_READ && wc.byte_len == bytes, "READ's completion");
      for (std::size_t i = 0; i < bytes; ++i) check(v.memory[i] == pattern(12'345 + i), "READ's bytes");
      check(v.memory[bytes] == 0, "READ wrote too much");
    }
  }
  // More than may be under way at a time, and WRITEs between them: all complete, in the order of posting.
  for (std::uint32_t i = 0; i < kDepth; ++i) {
    const bool writes = i % 3 == 2;
    post(v,
         {.opcode = writes ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
          .local = writes ? (1U << 20) : i * 8192U,
          .remote = writes ? (3U << 20) : i * 8192U,
          .bytes = 8192},
         i);
  }
  for (std::uint32_t i = 0; i < kDepth; ++i) {
    const ibv_wc wc = next(v);
    check(wc.status == IBV_WC_SUCCESS && wc.wr_id == i, "the order of completions");
    if (i % 3 == 2) continue;
    for (std::size_t byte = 0; byte < 8192; ++byte) {
      check(v.memory[i * 8192 + byte] == pattern(i * 8192 + byte), "bytes of many READs");
    }
  }
  // A READ behind a WRITE on the same QP sees what was written; a fenced WRITE waits for the READ's bytes.
  std::memset(v.memory, 0xAB, 64);
  post(v, {.opcode = IBV_WR_RDMA_WRITE, .remote = 1U << 21, .bytes = 64}, 1);
  post(v, {.local = 4096, .remote = 1U << 21, .bytes = 64}, 2);
  post(v,
       {.opcode = IBV_WR_RDMA_WRITE,
        .local = 4096,
        .remote = (1U << 21) + 64,
        .bytes = 64,
        .flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE},
       3);
  for (std::uint64_t id = 1; id <= 3; ++id) check(next(v).wr_id == id, "the order of completions");
  check(run(v, {.local = 8192, .remote = 1U << 21, .bytes = 128}).status == IBV_WC_SUCCESS, "READ");
  for (std::size_t i = 0; i < 128; ++i) check(v.memory[8192 + i] == 0xAB, "READ after WRITE");
  std::printf("READ is right\n");
}

void check_atomics(Verbs& v) {
  constexpr std::size_t at = 1U << 21;
  std::memset(v.memory, 0, 64);
  check(run(v, {.opcode = IBV_WR_RDMA_WRITE, .remote = at}).status == IBV_WC_SUCCESS, "WRITE");
  for (std::uint64_t i = 0; i < 20; ++i) {
    const ibv_wc wc = run(v, {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .remote = at, .compare_add = 3});
    check(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_FETCH_ADD && word(v, 0) == 3 * i, "FETCH AND ADD");
  }
  ibv_wc wc = run(v, {.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .remote = at, .compare_add = 1, .swap = 5});
  check(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_COMP_SWAP && word(v, 0) == 60, "COMPARE that differs");
  wc = run(v, {.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .remote = at, .compare_add = 60, .swap = 5});
  check(wc.status == IBV_WC_SUCCESS && word(v, 0) == 60, "COMPARE AND SWAP");
  check(run(v, {.remote = at}).status == IBV_WC_SUCCESS && word(v, 0) == 5, "what was swapped");
  std::printf("atomic operations are right\n");
}

/// The peer's memory with this key is not to be read: the READ fails, what is behind it is flushed.
void check_refusal(Verbs& v) {
  post(v, {.bytes = 64, .key = v.peer.closed_key}, 1);
  post(v, {.bytes = 64}, 2);
  check(next(v).status == IBV_WC_REM_ACCESS_ERR, "READ of closed memory");
  check(next(v).status == IBV_WC_WR_FLUSH_ERR, "the request behind it");
  ibv_async_event event{};
  check(ibv_get_async_event(v.context, &event) == 0 && event.event_type == IBV_EVENT_QP_FATAL, "the event");
  check(event.element.qp == v.qp, "the event's QP");
  ibv_ack_async_event(&event);
  ibv_qp_attr state{};
  ibv_qp_init_attr initial{};
  check(ibv_query_qp(v.qp, &state, IBV_QP_STATE, &initial) == 0 && state.qp_state == IBV_QPS_ERR, "the QP's state");
  std::printf("refusal is right\n");
}

int beyond(const char* port, const char* address) {
  const int fd = connect_to(port, address);
  Verbs v = connected(fd, address == nullptr);
  if (address != nullptr) {
    check_reads(v);
    check_atomics(v);
    check_refusal(v);
  }
  exchange(fd, 'e');
  return 0;
}

constexpr std::uint32_t kDatagrams = 32;
constexpr std::uint32_t kDatagramBytes = 65;
constexpr std::uint32_t kGrhBytes = 40;
constexpr std::uint32_t kDatagramRoom = 128;
constexpr std::uint32_t kQkey = 0x1EE7;

/// One UD QP. `inline_bytes` is what was asked for, and then what the QP takes.
Verbs datagram_qp(std::uint32_t& inline_bytes) {
  Verbs v;
  v.context = open_device();
  v.pd = ibv_alloc_pd(v.context);
  v.cq = ibv_create_cq(v.context, 256, nullptr, nullptr, 0);
  v.memory = static_cast<std::uint8_t*>(aligned_alloc(4096, kBytes));
  v.mr = ibv_reg_mr(v.pd, v.memory, kBytes, IBV_ACCESS_LOCAL_WRITE);
  check(v.mr != nullptr, "ibv_reg_mr");
  ibv_qp_init_attr initial{};
  initial.send_cq = initial.recv_cq = v.cq;
  initial.qp_type = IBV_QPT_UD;
  initial.cap = {kDatagrams, kDatagrams, 1, 1, inline_bytes};
  v.qp = ibv_create_qp(v.pd, &initial);
  check(v.qp != nullptr, "ibv_create_qp");
  inline_bytes = initial.cap.max_inline_data;
  ibv_qp_attr to{};
  to.port_num = 1;
  to.qkey = kQkey;
  to.qp_state = IBV_QPS_INIT;
  check(ibv_modify_qp(v.qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0, "INIT");
  to.qp_state = IBV_QPS_RTR;
  check(ibv_modify_qp(v.qp, &to, IBV_QP_STATE) == 0, "RTR");
  to.qp_state = IBV_QPS_RTS;
  check(ibv_modify_qp(v.qp, &to, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0, "RTS");
  return v;
}

void post_datagram_receives(Verbs& v) {
  for (std::uint32_t i = 0; i < kDatagrams; ++i) {
    ibv_sge sge{reinterpret_cast<std::uint64_t>(v.memory) + std::uint64_t{kDatagramRoom} * i, kDatagramRoom,
                v.mr->lkey};
    ibv_recv_wr receive{.wr_id = i, .next = nullptr, .sg_list = &sge, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    check(ibv_post_recv(v.qp, &receive, &bad) == 0, "ibv_post_recv");
  }
}

void check_datagrams(Verbs& v) {
  for (std::uint32_t i = 0; i < kDatagrams; ++i) {
    const ibv_wc wc = next(v);
    check(wc.status == IBV_WC_SUCCESS && wc.wr_id == i && wc.byte_len == kGrhBytes + kDatagramBytes, "a datagram");
    const std::uint8_t* got = v.memory + std::size_t{kDatagramRoom} * i + kGrhBytes;
    check(std::all_of(got, got + kDatagramBytes, [i](std::uint8_t byte) { return byte == i + 1; }),
          "a datagram's bytes");
  }
  std::printf("%u datagrams are right\n", kDatagrams);
}

void send_datagrams(Verbs& v, std::uint32_t inline_bytes) {
  ibv_ah_attr there{};
  there.is_global = 1;
  there.grh.dgid = v.peer.gid;
  there.port_num = 1;
  ibv_ah* ah = ibv_create_ah(v.pd, &there);
  check(ah != nullptr, "ibv_create_ah");
  const unsigned is_inline = kDatagramBytes <= inline_bytes ? IBV_SEND_INLINE : 0;
  for (std::uint32_t i = 0; i < kDatagrams; ++i) {
    std::memset(v.memory, static_cast<int>(i + 1), kDatagramBytes);
    ibv_sge sge{reinterpret_cast<std::uint64_t>(v.memory), kDatagramBytes, v.mr->lkey};
    ibv_send_wr request{};
    request.sg_list = &sge;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED | is_inline;
    request.wr.ud = {ah, v.peer.qp, kQkey};
    ibv_send_wr* bad = nullptr;
    check(ibv_post_send(v.qp, &request, &bad) == 0, "ibv_post_send");
  }
}

/// As libucx connects: a datagram of 65 bytes on a QP that was asked for 64 inline, inline where the QP takes it, and
/// its buffer is used for the next as soon as it is posted.
int datagrams(const char* port, const char* address) {
  const int fd = connect_to(port, address);
  std::uint32_t inline_bytes = 64;
  Verbs v = datagram_qp(inline_bytes);
  if (address == nullptr) post_datagram_receives(v);
  Endpoint mine{};
  mine.qp = v.qp->qp_num;
  check(ibv_query_gid(v.context, 1, 0, &mine.gid) == 0, "ibv_query_gid");
  v.peer = exchange(fd, mine);
  if (address == nullptr) {
    check_datagrams(v);
  } else {
    send_datagrams(v, inline_bytes);
  }
  check(inline_bytes == 124, "what a UD QP takes inline that was asked for 64 bytes");
  exchange(fd, 'e');
  return 0;
}

constexpr std::size_t kSlot = kBytes / kDepth;
constexpr std::uint32_t kRounds = 8;

std::uint32_t data_bytes(std::uint32_t slot, std::uint32_t round) {
  return (slot * 2711 + round * 977) % kSlot + 1;
}
std::uint8_t data(std::uint32_t slot, std::uint32_t round, std::size_t i) {
  return pattern(i + slot * 61U + round * 7919U);
}

void post_receives(Verbs& v) {
  for (std::uint32_t slot = 0; slot < kDepth; ++slot) {
    ibv_recv_wr receive{.wr_id = slot, .next = nullptr, .sg_list = nullptr, .num_sge = 0};
    ibv_recv_wr* bad = nullptr;
    check(ibv_post_recv(v.qp, &receive, &bad) == 0, "ibv_post_recv");
  }
}

/// Each receive completes in the order of sending, when its bytes are there.
void receive_data(Verbs& v, std::uint32_t round) {
  for (std::uint32_t slot = 0; slot < kDepth; ++slot) {
    const ibv_wc wc = next(v);
    check(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM, "the receive");
    check(wc.wr_id == slot && wc.imm_data == slot && wc.byte_len == data_bytes(slot, round), "order of receives");
    const std::uint8_t* got = v.memory + slot * kSlot;
    for (std::size_t i = 0; i < wc.byte_len; ++i) check(got[i] == data(slot, round, i), "bytes of a WRITE");
  }
}

/// Buffers are used for something else as soon as the WRITE from them is complete.
void send_data(Verbs& v, std::uint32_t round) {
  for (std::uint32_t slot = 0; slot < kDepth; ++slot) {
    const std::uint32_t bytes = data_bytes(slot, round);
    for (std::size_t i = 0; i < bytes; ++i) v.memory[slot * kSlot + i] = data(slot, round, i);
    post(v,
         {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
          .local = slot * kSlot,
          .remote = slot * kSlot,
          .bytes = bytes,
          .immediate = slot},
         slot);
  }
  for (std::uint32_t slot = 0; slot < kDepth; ++slot) {
    const ibv_wc wc = next(v);
    check(wc.status == IBV_WC_SUCCESS && wc.wr_id == slot, "the order of completions");
    std::memset(v.memory + slot * kSlot, 0xFF, kSlot);
  }
}

int data_in_order(const char* port, const char* address) {
  const int fd = connect_to(port, address);
  Verbs v = connected(fd, address == nullptr);
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    if (address == nullptr) post_receives(v);
    exchange(fd, 'r');
    if (address == nullptr) {
      receive_data(v, round);
    } else {
      send_data(v, round);
    }
    exchange(fd, 'e');
  }
  if (address == nullptr) std::printf("%u WRITEs are right\n", kDepth * kRounds);
  return 0;
}

/// A WRITE on a QP of its own, which fails.
void refuse(int fd, bool server, const char* what, const Work& work) {
  Verbs v = connected(fd, server);
  if (!server) {
    std::memset(v.memory, 0xEE, work.bytes);
    Work wanted = work;
    if (wanted.key == 1) wanted.key = v.peer.closed_key;
    post(v, wanted, 1);
    post(v, {.opcode = IBV_WR_RDMA_WRITE, .remote = 64, .bytes = 64}, 2);
    const ibv_wc wc = next(v);
    check(wc.wr_id == 1, "the first completion");
    std::printf("%s: %s, then %s\n", what, ibv_wc_status_str(wc.status), ibv_wc_status_str(next(v).status));
  }
  exchange(fd, 'w');
  usleep(1000);
  const std::size_t inside = std::min(work.remote, kBytes);
  for (std::size_t i = 0; server && i < inside; ++i) check(v.memory[i] == pattern(i), "a byte before the address");
  for (std::size_t i = 0; server && i < kGuardBytes; ++i)
    check(v.memory[kBytes + i] == kGuard, "a byte behind the region");
  exchange(fd, 'e');
}

int refusals(const char* port, const char* address) {
  const int fd = connect_to(port, address);
  const bool server = address == nullptr;
  const Work wrong{.opcode = IBV_WR_RDMA_WRITE, .remote = kBytes, .bytes = 64, .key = 0xABCDE};
  refuse(fd, server, "no such key", wrong);
  Work closed = wrong;
  closed.key = 1;
  refuse(fd, server, "no right to write", closed);
  Work behind = wrong;
  behind.key = 0;
  refuse(fd, server, "behind the region", behind);
  Work beyond = behind;
  beyond.remote = kBytes - 4096;
  beyond.bytes = 4096 + 64;
  refuse(fd, server, "beyond its end", beyond);
  return 0;
}

int writes(const char* port, const char* address) {
  const int fd = connect_to(port, address);
  Verbs v = connected(fd, address == nullptr);
  if (address != nullptr) {
    ibv_wc wc{};
    std::uint64_t count = 0;
    do {
      wc = run(v, {.opcode = IBV_WR_RDMA_WRITE, .bytes = 4096});
      ++count;
    } while (wc.status == IBV_WC_SUCCESS);
    std::printf("WRITE %lu ended with %s\n", static_cast<unsigned long>(count), ibv_wc_status_str(wc.status));
  }
  exchange(fd, 'e');
  return 0;
}

/// As a program that waits for a flag and counts how often it has looked.
int counts(const char* port, const char* address) {
  const int fd = connect_to(port, address);
  Verbs v = connected(fd, address == nullptr);
  constexpr std::uint32_t rounds = 5;
  auto* flag = reinterpret_cast<volatile std::uint64_t*>(v.memory);
  *flag = 0;
  exchange(fd, 'r');
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    if (address != nullptr) {
      usleep(100);
      *flag = round;
      check(run(v, {.opcode = IBV_WR_RDMA_WRITE}).status == IBV_WC_SUCCESS, "WRITE");
      continue;
    }
    std::uint64_t looks = 0;
    while (*flag != round) ++looks;
    std::printf("%.1f us: round %lu, %s\n", now_us(), static_cast<unsigned long>(round),
                looks > 0 ? "looked often" : "was there");
  }
  exchange(fd, 'e');
  return 0;
}

int threads(int count) {
  for (int i = 0; i < count; ++i) {
    pthread_t thread{};
    while (pthread_create(
               &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr) != 0)
      usleep(100);
    check(pthread_detach(thread) == 0, "pthread_detach");
  }
  std::printf("%d threads\n", count);
  return 0;
}

int events(int count) {
  ibv_context* context = open_device();
  for (int i = 0; i < count; ++i) {
    ibv_async_event event{};
    check(ibv_get_async_event(context, &event) == 0, "ibv_get_async_event");
    ibv_port_attr port{};
    check(ibv_query_port(context, 1, &port) == 0, "ibv_query_port");
    std::printf("%.0f us: %s, port %d, %s\n", now_us(), ibv_event_type_str(event.event_type), event.element.port_num,
                ibv_port_state_str(port.state));
    ibv_ack_async_event(&event);
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string what = count > 2 ? words[1] : "";
  const char* address = count > 3 ? words[3] : nullptr;
  if (what == "beyond") return beyond(words[2], address);
  if (what == "datagrams") return datagrams(words[2], address);
  if (what == "data") return data_in_order(words[2], address);
  if (what == "refusals") return refusals(words[2], address);
  if (what == "writes") return writes(words[2], address);
  if (what == "counts") return counts(words[2], address);
  if (what == "threads") return threads(std::atoi(words[2]));
  if (what == "events") return events(std::atoi(words[2]));
  std::fprintf(stderr,
               "verbs_check: expected beyond, datagrams, data, refusals, writes or counts with PORT [ADDRESS], or "
               "events or threads "
               "with COUNT\n");
  return 2;
}
