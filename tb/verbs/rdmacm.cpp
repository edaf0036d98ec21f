// Connections of librdmacm (docs/programs.md): its calls, in the place of those of the system's library, which speaks
// with a kernel that has RDMA devices. Preloaded behind preload.cpp. Two programs exchange what a connection needs over
// a local socket of the run, whose name is the port; through the preload these sockets follow simulated time.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "verbs/messages.h"
#include "verbs/program_side.h"

#define MRCSIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using mrc::verbs::Call;
using mrc::verbs::Reply;
using mrc::verbs::Request;

// What is left of the CM's messages for private data; programs see this length, whatever the peer gave.
constexpr std::uint8_t kRequestPrivate = 56, kReplyPrivate = 196, kRejectPrivate = 148;
// Reasons of a REJECTED event.
constexpr int kNoListener = 8, kConsumerDefined = 28;
constexpr std::uint32_t kPsnMask = 0xFF'FFFF;
constexpr unsigned kFirstFreePort = 32'768, kLastPort = 65'535;
constexpr std::uint8_t kTimeout = 14;  ///< of the CM's QPs: 67 ms; the model's own timeouts are those of the scenario
constexpr std::uint8_t kHopLimit = 64;

enum class Kind : std::uint32_t { request, reply, ready, reject, disconnect };

/// Between two programs.
struct Wire {
  Kind kind = Kind::request;
  std::uint32_t qp = 0;
  std::uint32_t psn = 0;
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t retries = 0;
  std::uint8_t rnr_retries = 0;
  std::uint8_t flow_control = 0;
  std::uint8_t srq = 0;
  std::uint8_t private_data[kReplyPrivate] = {};
  ibv_gid gid = {};
  sockaddr_storage from = {};
  sockaddr_storage to = {};
};

enum class State { idle, bound, resolved, listens, connecting, responding, requested, accepted, established, over };

struct Event;

struct Channel {
  rdma_event_channel base;  ///< an epoll descriptor: of `bell` and the sockets of its ids
  int bell[2];              ///< a pipe with a byte for each event of the queue
  Event* first;
  Event* last;
};

struct Id {
  rdma_cm_id base;
  State state;
  bool sync;             ///< calls wait for their event
  rdma_cm_id* listener;  ///< that its socket has connected to; null once the program knows of the id
  int socket;
  std::uint32_t uses;  ///< by the program and by events that it has not acknowledged
  Wire peer;
  std::uint32_t psn;
  std::uint32_t qp_num;
  std::uint8_t responder_resources, initiator_depth, retries, rnr_retries, timeout;
};

struct Event {
  rdma_cm_event base;
  std::uint8_t private_data[kReplyPrivate];
  Event* next;
};

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // never held over a call in which the model may let others run
ibv_context* device = nullptr;
ibv_pd* default_pd = nullptr;

class Locked {
 public:
  Locked() { pthread_mutex_lock(&mutex); }
  ~Locked() { pthread_mutex_unlock(&mutex); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

Id& of(rdma_cm_id* id) {
  return *reinterpret_cast<Id*>(id);
}
Channel& of(rdma_event_channel* channel) {
  return *reinterpret_cast<Channel*>(channel);
}

int fail(int error) {
  errno = error;
  return -1;
}
/// Of functions of libibverbs that return an errno.
int checked(int error) {
  return error == 0 ? 0 : fail(error);
}

/// The program's libibverbs. Not linked with it: programs without RDMA are preloaded too.
#define MRCSIM_VERBS(name) reinterpret_cast<decltype(&::name)>(dlsym(RTLD_DEFAULT, #name))

/// The calling thread is one that the model knows, and those with earlier clocks have run.
void enter() {
  Request request;
  request.call = Call::turn;
  alignas(8) char answer[mrc::verbs::kMostBytes];
  mrcsim_call(&request, sizeof request, reinterpret_cast<Reply*>(answer), nullptr);
}

bool open_device() {
  if (device != nullptr) return true;
  const auto get_list = MRCSIM_VERBS(ibv_get_device_list);
  if (get_list == nullptr) return false;
  int count = 0;
  ibv_device** list = get_list(&count);
  if (list == nullptr) return false;
  if (count > 0) device = MRCSIM_VERBS(ibv_open_device)(list[0]);
  MRCSIM_VERBS(ibv_free_device_list)(list);
  if (device != nullptr) default_pd = MRCSIM_VERBS(ibv_alloc_pd)(device);
  return default_pd != nullptr;
}

int use_device(Id& id) {
  if (!open_device()) return fail(ENODEV);
  id.base.verbs = device;
  id.base.pd = default_pd;
  id.base.port_num = 1;
  MRCSIM_VERBS(ibv_query_gid)(device, 1, 0, &id.base.route.addr.addr.ibaddr.sgid);
  id.base.route.addr.addr.ibaddr.pkey = 0xFFFF;
  return 0;
}

// ---- addresses and sockets

socklen_t length_of(const sockaddr& address) {
  return address.sa_family == AF_INET ? sizeof(sockaddr_in) : address.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : 0;
}
/// In network order; both families have it in the same place.
std::uint16_t& port_of(sockaddr_storage& address) {
  return reinterpret_cast<sockaddr_in&>(address).sin_port;
}
bool is_any(const sockaddr& address) {
  if (address.sa_family == AF_INET) return reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr == INADDR_ANY;
  return IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}
void keep(sockaddr_storage& to, const sockaddr& from) {
  to = {};
  memcpy(&to, &from, length_of(from));
}

/// All programs of a run are on this machine, as with its sockets.
bool is_here(const sockaddr& address) {
  sockaddr_storage any_port;
  keep(any_port, address);
  port_of(any_port) = 0;
  const auto fd = static_cast<int>(syscall(SYS_socket, address.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd < 0) return false;
  const bool here = syscall(SYS_bind, fd, &any_port, length_of(address)) == 0;
  syscall(SYS_close, fd);
  return here;
}

/// Ports are those of the run: neither those of TCP nor those of another run.
socklen_t name_port(sockaddr_un& name, unsigned port) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  const char* run = getenv("MRCSIM_HOST_SOCKET");
  for (; run != nullptr && *run != '\0'; ++run) hash = (hash ^ static_cast<unsigned char>(*run)) * 0x100'0000'01B3;
  name = {};
  name.sun_family = AF_UNIX;
  const int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "mrcsim-cm-%016llx-%u",
                              static_cast<unsigned long long>(hash), port);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
}

bool bind_port(int fd, unsigned port) {
  sockaddr_un name;
  const socklen_t length = name_port(name, port);
  return syscall(SYS_bind, fd, &name, length) == 0;
}

/// Takes the port of the id's source, or a free one.
int take_port(Id& id) {
  std::uint16_t& port = port_of(id.base.route.addr.src_storage);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  bool bound = port != 0 && bind_port(fd, ntohs(port));
  for (unsigned free = kFirstFreePort; port == 0 && free <= kLastPort; ++free) {
    bound = bind_port(fd, free);
    if (bound) port = htons(static_cast<std::uint16_t>(free));
  }
  if (!bound) {
    const int error = errno;
    close(fd);
    return fail(error);
  }
  id.socket = fd;
  if (id.state == State::idle) id.state = State::bound;
  return 0;
}

int watch(Id& id) {
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  wanted.data.ptr = &id;
  return epoll_ctl(id.base.channel->fd, EPOLL_CTL_ADD, id.socket, &wanted);
}
void unwatch(Id& id) {
  if (id.socket >= 0 && id.base.channel != nullptr) epoll_ctl(id.base.channel->fd, EPOLL_CTL_DEL, id.socket, nullptr);
}

bool tell_peer(Id& id, Wire& message) {
  message.qp = id.base.qp != nullptr ? id.base.qp->qp_num : id.qp_num;
  message.psn = id.psn;
  message.gid = id.base.route.addr.addr.ibaddr.sgid;
  message.from = id.base.route.addr.src_storage;
  message.to = id.base.route.addr.dst_storage;
  return send(id.socket, &message, sizeof message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof message);
}

// ---- events

Event* make_event(Id& id, rdma_cm_event_type type, int status) {
  auto* event = static_cast<Event*>(calloc(1, sizeof(Event)));
  if (event == nullptr) return nullptr;
  event->base.id = &id.base;
  event->base.event = type;
  event->base.status = status;
  return event;
}

void add_private(Event& event, const Wire& message, std::uint8_t bytes) {
  memcpy(event.private_data, message.private_data, bytes);
  rdma_conn_param& param = event.base.param.conn;
  param.private_data = event.private_data;
  param.private_data_len = bytes;
  // The peer's requests are what this side answers.
  param.responder_resources = message.initiator_depth;
  param.initiator_depth = message.responder_resources;
  param.flow_control = message.flow_control;
  param.retry_count = message.retries;
  param.rnr_retry_count = message.rnr_retries;
  param.srq = message.srq;
  param.qp_num = message.qp;
}

int queue_event(Id& id, rdma_cm_event_type type, int status) {
  Event* event = make_event(id, type, status);
  if (event == nullptr) return fail(ENOMEM);
  const Locked locked;
  Channel& channel = of(id.base.channel);
  (channel.last != nullptr ? channel.last->next : channel.first) = event;
  channel.last = event;
  ++id.uses;
  syscall(SYS_write, channel.bell[1], "", 1);
  return 0;
}

Event* from_queue(Channel& channel) {
  Event* event = channel.first;
  if (event == nullptr) return nullptr;
  channel.first = event->next;
  if (channel.first == nullptr) channel.last = nullptr;
  event->next = nullptr;
  char byte = 0;
  syscall(SYS_read, channel.bell[0], &byte, 1);
  return event;
}

/// Moves the events of an id to another channel; without one they are dropped.
void move_events(Id& id, Channel& from, Channel* to) {
  Event* event = from.first;
  from.first = from.last = nullptr;
  while (event != nullptr) {
    Event* next = event->next;
    const bool moves = event->base.id == &id.base;
    Channel* goes_to = moves ? to : &from;
    event->next = nullptr;
    if (goes_to != nullptr) {
      (goes_to->last != nullptr ? goes_to->last->next : goes_to->first) = event;
      goes_to->last = event;
    } else {
      --id.uses;
      free(event);
    }
    char byte = 0;
    if (moves) syscall(SYS_read, from.bell[0], &byte, 1);
    if (moves && to != nullptr) syscall(SYS_write, to->bell[1], "", 1);
    event = next;
  }
}

// ---- QPs

/// As the kernel gives them for the states of a connected QP.
int attributes_for(Id& id, ibv_qp_attr& to, int& mask) {
  if (to.qp_state == IBV_QPS_INIT) {
    to.port_num = 1;
    to.pkey_index = 0;
    to.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    if (id.responder_resources > 0) to.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    mask = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS;
    return 0;
  }
  if (to.qp_state == IBV_QPS_RTR) {
    ibv_port_attr port{};
    const auto query =
        reinterpret_cast<int (*)(ibv_context*, std::uint8_t, ibv_port_attr*)>(dlsym(RTLD_DEFAULT, "ibv_query_port"));
    if (const int error = query(id.base.verbs, 1, &port); error != 0) return fail(error);
    to.path_mtu = port.active_mtu;
    to.ah_attr = {};
    to.ah_attr.is_global = 1;
    to.ah_attr.grh.dgid = id.peer.gid;
    to.ah_attr.grh.hop_limit = kHopLimit;
    to.ah_attr.port_num = 1;
    to.dest_qp_num = id.peer.qp;
    to.rq_psn = id.peer.psn;
    to.max_dest_rd_atomic = id.responder_resources;
    to.min_rnr_timer = 0;
    mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
           IBV_QP_MIN_RNR_TIMER;
    return 0;
  }
  if (to.qp_state != IBV_QPS_RTS) return fail(EINVAL);
  to.sq_psn = id.psn;
  to.timeout = id.timeout;
  to.retry_cnt = id.retries;
  to.rnr_retry = id.rnr_retries;
  to.max_rd_atomic = id.initiator_depth;
  mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  return 0;
}

int to_state(Id& id, ibv_qp_state state) {
  ibv_qp_attr attributes{};
  attributes.qp_state = state;
  int mask = IBV_QP_STATE;
  if (state != IBV_QPS_ERR && attributes_for(id, attributes, mask) != 0) return -1;
  return checked(MRCSIM_VERBS(ibv_modify_qp)(id.base.qp, &attributes, mask));
}

/// INIT once more: the access to memory depends on what the two agreed upon.
int connect_qp(Id& id) {
  for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
    if (to_state(id, state) != 0) return -1;
  }
  return 0;
}

/// 0xFF means as many as the device has.
int keep_parameters(Id& id, const rdma_conn_param* param, std::uint8_t most_private) {
  ibv_device_attr attributes{};
  if (const int error = MRCSIM_VERBS(ibv_query_device)(id.base.verbs, &attributes); error != 0) return fail(error);
  const auto most_in = static_cast<std::uint8_t>(std::min(attributes.max_qp_rd_atom, 0xFE));
  const auto most_out = static_cast<std::uint8_t>(std::min(attributes.max_qp_init_rd_atom, 0xFE));
  rdma_conn_param none{};
  none.responder_resources = RDMA_MAX_RESP_RES;
  none.initiator_depth = RDMA_MAX_INIT_DEPTH;
  const rdma_conn_param& wanted = param != nullptr ? *param : none;
  if (wanted.private_data_len > most_private) return fail(EINVAL);
  const bool beyond = (wanted.responder_resources != RDMA_MAX_RESP_RES && wanted.responder_resources > most_in) ||
                      (wanted.initiator_depth != RDMA_MAX_INIT_DEPTH && wanted.initiator_depth > most_out);
  if (beyond) return fail(EINVAL);
  id.responder_resources = std::min(wanted.responder_resources, most_in);
  id.initiator_depth = std::min(wanted.initiator_depth, most_out);
  id.retries = param != nullptr ? std::min<std::uint8_t>(param->retry_count, 7) : 7;
  id.rnr_retries = param != nullptr ? std::min<std::uint8_t>(param->rnr_retry_count, 7) : 7;
  id.qp_num = wanted.qp_num;
  // The same in each run, and another for each QP.
  const std::uint32_t number = id.base.qp != nullptr ? id.base.qp->qp_num : id.qp_num;
  id.psn = number * 0x9E37'79B1U >> 8 & kPsnMask;
  return 0;
}

void fill(Wire& message, const Id& id, const rdma_conn_param* param) {
  message.responder_resources = id.responder_resources;
  message.initiator_depth = id.initiator_depth;
  message.retries = id.retries;
  message.rnr_retries = id.rnr_retries;
  message.srq = id.base.qp != nullptr ? id.base.qp->srq != nullptr : param != nullptr && param->srq != 0;
  if (param == nullptr) return;
  message.flow_control = param->flow_control;
  if (param->private_data_len > 0) memcpy(message.private_data, param->private_data, param->private_data_len);
}

// ---- what peers say

Id* make_id(rdma_event_channel* channel, void* context) {
  auto* id = static_cast<Id*>(calloc(1, sizeof(Id)));
  if (id == nullptr) return nullptr;
  id->base.channel = channel;
  id->base.context = context;
  id->base.ps = RDMA_PS_TCP;
  id->base.qp_type = IBV_QPT_RC;
  id->socket = -1;
  id->uses = 1;
  id->timeout = kTimeout;
  return id;
}

bool is_same_user(int fd) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == getuid();
}

/// A socket that has connected to a listener becomes an id, of which the program knows once its request has come.
void take_connection(Id& listener) {
  const auto fd = static_cast<int>(syscall(SYS_accept4, listener.socket, nullptr, nullptr, SOCK_CLOEXEC));
  if (fd < 0) return;
  Id* id = is_same_user(fd) ? make_id(listener.base.channel, listener.base.context) : nullptr;
  if (id == nullptr) {
    syscall(SYS_close, fd);
    return;
  }
  id->socket = fd;
  id->state = State::connecting;
  id->sync = listener.sync;
  id->listener = &listener.base;
  watch(*id);
}

/// A message of a socket, and whose it is; without bytes the peer has closed it.
struct Heard {
  Id* id = nullptr;
  bool closed = false;
  Wire message;
};

bool hear(Channel& channel, Heard& heard) {
  epoll_event ready{};
  if (syscall(SYS_epoll_pwait, channel.base.fd, &ready, 1, 0, nullptr, 8) != 1 || ready.data.ptr == nullptr) {
    return false;
  }
  heard.id = static_cast<Id*>(ready.data.ptr);
  if (heard.id->state == State::listens) {
    take_connection(*heard.id);
    heard.id = nullptr;
    return true;
  }
  const long got =
      syscall(SYS_recvfrom, heard.id->socket, &heard.message, sizeof(Wire), MSG_DONTWAIT, nullptr, nullptr);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) heard.id = nullptr;
  heard.closed = got != static_cast<long>(sizeof(Wire));
  if (heard.id != nullptr && heard.closed) unwatch(*heard.id);
  return true;
}

Event* requested(Id& id, const Wire& message) {
  rdma_cm_id* listener = std::exchange(id.listener, nullptr);
  if (use_device(id) != 0) return nullptr;
  id.state = State::requested;
  id.peer = message;
  id.base.route.addr.src_storage = message.to;
  id.base.route.addr.dst_storage = message.from;
  id.base.route.addr.addr.ibaddr.dgid = message.gid;
  id.responder_resources = message.initiator_depth;
  id.initiator_depth = message.responder_resources;
  id.retries = message.retries;
  Event* event = make_event(id, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
  if (event == nullptr) return nullptr;
  event->base.listen_id = listener;
  add_private(*event, message, kRequestPrivate);
  return event;
}

/// With a QP of the id's it is connected here; otherwise the program does it and calls rdma_establish().
Event* replied(Id& id, const Wire& message) {
  id.peer = message;
  id.base.route.addr.addr.ibaddr.dgid = message.gid;
  // No more than the peer serves.
  id.initiator_depth = std::min(id.initiator_depth, message.responder_resources);
  rdma_cm_event_type type = RDMA_CM_EVENT_CONNECT_RESPONSE;
  int status = 0;
  id.state = State::responding;
  if (id.base.qp != nullptr) {
    Wire answer;
    answer.kind = Kind::ready;
    const bool connected = connect_qp(id) == 0;
    if (!connected) {
      status = -errno;
      answer.kind = Kind::reject;
      to_state(id, IBV_QPS_ERR);
    }
    tell_peer(id, answer);
    id.state = connected ? State::established : State::over;
    type = connected ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_ERROR;
  }
  Event* event = make_event(id, type, status);
  if (event != nullptr) add_private(*event, message, kReplyPrivate);
  return event;
}

Event* rejected(Id& id, const Wire& message) {
  id.state = State::over;
  if (id.base.qp != nullptr) to_state(id, IBV_QPS_ERR);
  Event* event = make_event(id, RDMA_CM_EVENT_REJECTED, kConsumerDefined);
  if (event != nullptr) add_private(*event, message, kRejectPrivate);
  return event;
}

Event* lost(Id& id) {
  const State before = id.state;
  id.state = State::over;
  switch (before) {
    case State::connecting:
      return make_event(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
    case State::accepted:
      return make_event(id, RDMA_CM_EVENT_CONNECT_ERROR, -ETIMEDOUT);
    case State::established:
    case State::responding:
    case State::requested:
      return make_event(id, RDMA_CM_EVENT_DISCONNECTED, 0);
    default:
      return nullptr;
  }
}

Event* event_of(const Heard& heard) {
  Id& id = *heard.id;
  if (id.listener != nullptr) {
    if (!heard.closed) return requested(id, heard.message);
    close(id.socket);
    free(&id);
    return nullptr;
  }
  if (heard.closed) return lost(id);
  const bool waits = id.state == State::connecting;
  if (heard.message.kind == Kind::reply && waits) return replied(id, heard.message);
  if (heard.message.kind == Kind::reject && (waits || id.state == State::accepted)) return rejected(id, heard.message);
  if (heard.message.kind == Kind::disconnect) return lost(id);
  if (heard.message.kind != Kind::ready || id.state != State::accepted) return nullptr;
  id.state = State::established;
  return make_event(id, RDMA_CM_EVENT_ESTABLISHED, 0);
}

/// Waits for the event of a call where the program has no channel for it.
int complete(Id& id) {
  if (!id.sync) return 0;
  if (id.base.event != nullptr) rdma_ack_cm_event(id.base.event);
  id.base.event = nullptr;
  if (rdma_get_cm_event(id.base.channel, &id.base.event) != 0) return -1;
  const int status = id.base.event->status;
  if (status == 0) return 0;
  if (id.base.event->event == RDMA_CM_EVENT_REJECTED) return fail(ECONNREFUSED);
  return fail(status < 0 ? -status : status);
}

void release(Id& id) {
  bool last = false;
  {
    const Locked locked;
    last = --id.uses == 0;
  }
  if (last) free(&id);
}

}  // namespace

// ---- channels and ids

MRCSIM_EXPORT rdma_event_channel* rdma_create_event_channel() {
  enter();
  if (!open_device()) {
    errno = ENODEV;
    return nullptr;
  }
  auto* channel = static_cast<Channel*>(calloc(1, sizeof(Channel)));
  if (channel == nullptr) return nullptr;
  channel->base.fd = epoll_create1(EPOLL_CLOEXEC);
  epoll_event bell{};
  bell.events = EPOLLIN;
  const bool made = channel->base.fd >= 0 && pipe2(channel->bell, O_CLOEXEC | O_NONBLOCK) == 0 &&
                    epoll_ctl(channel->base.fd, EPOLL_CTL_ADD, channel->bell[0], &bell) == 0;
  if (made) return &channel->base;
  if (channel->base.fd >= 0) close(channel->base.fd);
  free(channel);
  return nullptr;
}

MRCSIM_EXPORT void rdma_destroy_event_channel(rdma_event_channel* channel) {
  for (const int fd : {of(channel).bell[0], of(channel).bell[1], channel->fd}) close(fd);
  free(channel);
}

MRCSIM_EXPORT int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context, rdma_port_space ps) {
  if (ps != RDMA_PS_TCP) return fail(EOPNOTSUPP);
  const bool sync = channel == nullptr;
  if (sync) channel = rdma_create_event_channel();
  if (channel == nullptr) return -1;
  Id* made = make_id(channel, context);
  if (made == nullptr) {
    if (sync) rdma_destroy_event_channel(channel);
    return fail(ENOMEM);
  }
  made->sync = sync;
  *id = &made->base;
  return 0;
}

MRCSIM_EXPORT int rdma_destroy_id(rdma_cm_id* base) {
  Id& id = of(base);
  if (id.state == State::requested) rdma_reject(base, nullptr, 0);
  if (id.sync && base->event != nullptr) rdma_ack_cm_event(base->event);
  base->event = nullptr;
  {
    const Locked locked;
    unwatch(id);
    move_events(id, of(base->channel), nullptr);
  }
  if (id.socket >= 0) close(id.socket);
  if (id.sync) rdma_destroy_event_channel(base->channel);
  release(id);
  return 0;
}

MRCSIM_EXPORT int rdma_migrate_id(rdma_cm_id* base, rdma_event_channel* channel) {
  Id& id = of(base);
  const bool sync = channel == nullptr;
  if (sync) channel = rdma_create_event_channel();
  if (channel == nullptr) return -1;
  rdma_event_channel* before = base->channel;
  const bool was_sync = id.sync;
  if (was_sync && base->event != nullptr) rdma_ack_cm_event(base->event);
  if (was_sync) base->event = nullptr;
  const bool watched = id.socket >= 0 && id.state >= State::listens;
  {
    const Locked locked;
    if (watched) unwatch(id);
    move_events(id, of(before), &of(channel));
    base->channel = channel;
    id.sync = sync;
  }
  if (watched && id.state != State::over && watch(id) != 0) return -1;
  if (was_sync) rdma_destroy_event_channel(before);
  return 0;
}

MRCSIM_EXPORT int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** to) {
  if (channel == nullptr || to == nullptr) return fail(EINVAL);
  enter();
  for (;;) {
    Heard heard;
    Event* event = nullptr;
    bool queued = false;
    bool heard_any = false;
    {
      const Locked locked;
      event = from_queue(of(channel));
      queued = event != nullptr;
      heard_any = !queued && hear(of(channel), heard);
    }
    if (heard.id != nullptr) event = event_of(heard);
    if (event != nullptr) {
      const Locked locked;
      if (!queued) ++of(event->base.id).uses;
      *to = &event->base;
      return 0;
    }
    if (heard_any) continue;
    if ((fcntl(channel->fd, F_GETFL) & O_NONBLOCK) != 0) return fail(EAGAIN);
    pollfd one{channel->fd, POLLIN, 0};
    if (poll(&one, 1, -1) < 0) return -1;
  }
}

MRCSIM_EXPORT int rdma_ack_cm_event(rdma_cm_event* event) {
  if (event == nullptr) return fail(EINVAL);
  release(of(event->id));
  free(event);
  return 0;
}

// ---- addresses

MRCSIM_EXPORT int rdma_bind_addr(rdma_cm_id* base, sockaddr* address) {
  Id& id = of(base);
  if (length_of(*address) == 0) return fail(EAFNOSUPPORT);
  if (id.state != State::idle) return fail(EINVAL);
  if (!is_any(*address) && !is_here(*address)) return fail(EADDRNOTAVAIL);
  keep(base->route.addr.src_storage, *address);
  if (take_port(id) != 0) return -1;
  return is_any(*address) ? 0 : use_device(id);
}

MRCSIM_EXPORT int rdma_resolve_addr(rdma_cm_id* base, sockaddr* from, sockaddr* to, int) {
  Id& id = of(base);
  enter();
  if (length_of(*to) == 0) return fail(EAFNOSUPPORT);
  if (id.state > State::bound) return fail(EINVAL);
  if (!is_here(*to)) {
    if (queue_event(id, RDMA_CM_EVENT_ADDR_ERROR, -EHOSTUNREACH) != 0) return -1;
    return complete(id);
  }
  keep(base->route.addr.dst_storage, *to);
  if (id.state == State::idle) {
    keep(base->route.addr.src_storage, from != nullptr && from->sa_family != AF_UNSPEC ? *from : *to);
    if (from == nullptr || from->sa_family == AF_UNSPEC) port_of(base->route.addr.src_storage) = 0;
    if (take_port(id) != 0) return -1;
  }
  if (use_device(id) != 0) return -1;
  id.state = State::resolved;
  if (queue_event(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0) != 0) return -1;
  return complete(id);
}

MRCSIM_EXPORT int rdma_resolve_route(rdma_cm_id* base, int) {
  Id& id = of(base);
  enter();
  if (id.state != State::resolved) return fail(EINVAL);
  if (queue_event(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0) != 0) return -1;
  return complete(id);
}

MRCSIM_EXPORT __be16 rdma_get_src_port(rdma_cm_id* id) {
  return port_of(id->route.addr.src_storage);
}
MRCSIM_EXPORT __be16 rdma_get_dst_port(rdma_cm_id* id) {
  return port_of(id->route.addr.dst_storage);
}

namespace {

void give_address(const addrinfo& from, sockaddr*& to, socklen_t& length) {
  to = static_cast<sockaddr*>(malloc(from.ai_addrlen));
  if (to == nullptr) return;
  memcpy(to, from.ai_addr, from.ai_addrlen);
  length = from.ai_addrlen;
}

}  // namespace

MRCSIM_EXPORT int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints,
                                   rdma_addrinfo** result) {
  if (node == nullptr && service == nullptr && hints == nullptr) return fail(EINVAL);
  addrinfo wanted{};
  const int flags = hints != nullptr ? hints->ai_flags : 0;
  if (hints != nullptr && hints->ai_port_space != 0 && hints->ai_port_space != RDMA_PS_TCP) return fail(EOPNOTSUPP);
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_family = hints != nullptr && (flags & RAI_FAMILY) != 0 ? hints->ai_family : AF_UNSPEC;
  if (wanted.ai_family != AF_UNSPEC && wanted.ai_family != AF_INET && wanted.ai_family != AF_INET6) {
    return fail(EAFNOSUPPORT);
  }
  if ((flags & RAI_PASSIVE) != 0) wanted.ai_flags |= AI_PASSIVE;
  if ((flags & RAI_NUMERICHOST) != 0) wanted.ai_flags |= AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(node, service, &wanted, &found); error != 0) return error;
  auto* info = static_cast<rdma_addrinfo*>(calloc(1, sizeof(rdma_addrinfo)));
  if (info != nullptr) {
    info->ai_flags = flags;
    info->ai_family = found->ai_family;
    info->ai_qp_type = IBV_QPT_RC;
    info->ai_port_space = RDMA_PS_TCP;
    const bool passive = (flags & RAI_PASSIVE) != 0;
    give_address(*found, passive ? info->ai_src_addr : info->ai_dst_addr,
                 passive ? info->ai_src_len : info->ai_dst_len);
    if (!passive && hints != nullptr && hints->ai_src_len > 0) {
      addrinfo source{};
      source.ai_addr = hints->ai_src_addr;
      source.ai_addrlen = hints->ai_src_len;
      give_address(source, info->ai_src_addr, info->ai_src_len);
    }
  }
  freeaddrinfo(found);
  if (info == nullptr) return fail(ENOMEM);
  *result = info;
  return 0;
}

MRCSIM_EXPORT void rdma_freeaddrinfo(rdma_addrinfo* info) {
  while (info != nullptr) {
    rdma_addrinfo* next = info->ai_next;
    free(info->ai_src_addr);
    free(info->ai_dst_addr);
    free(info);
    info = next;
  }
}

MRCSIM_EXPORT ibv_context** rdma_get_devices(int* count) {
  enter();
  const int devices = open_device() ? 1 : 0;
  auto** list = static_cast<ibv_context**>(calloc(2, sizeof(ibv_context*)));
  if (list != nullptr && devices > 0) list[0] = device;
  if (count != nullptr) *count = list != nullptr ? devices : 0;
  return list;
}
MRCSIM_EXPORT void rdma_free_devices(ibv_context** list) {
  free(list);
}

// ---- connections

MRCSIM_EXPORT int rdma_listen(rdma_cm_id* base, int backlog) {
  Id& id = of(base);
  enter();
  if (id.state != State::bound) return fail(EINVAL);
  constexpr int most_backlog = 1'024;
  if (listen(id.socket, backlog > 0 ? backlog : most_backlog) != 0) return -1;
  if (fcntl(id.socket, F_SETFL, O_NONBLOCK) != 0) return -1;
  id.state = State::listens;
  return watch(id);
}

MRCSIM_EXPORT int rdma_get_request(rdma_cm_id* listener, rdma_cm_id** id) {
  if (!of(listener).sync) return fail(EINVAL);
  if (listener->event != nullptr) rdma_ack_cm_event(listener->event);
  listener->event = nullptr;
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(listener->channel, &event) != 0) return -1;
  if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
    rdma_ack_cm_event(event);
    return fail(EINVAL);
  }
  rdma_cm_id* made = event->id;
  // Its own channel: its calls wait for its own events.
  of(made).sync = false;
  if (rdma_migrate_id(made, nullptr) != 0) {
    rdma_ack_cm_event(event);
    return -1;
  }
  made->event = event;
  *id = made;
  return 0;
}

MRCSIM_EXPORT int rdma_connect(rdma_cm_id* base, rdma_conn_param* param) {
  Id& id = of(base);
  enter();
  if (id.state != State::resolved) return fail(EINVAL);
  if (keep_parameters(id, param, kRequestPrivate) != 0) return -1;
  sockaddr_un name;
  const socklen_t length = name_port(name, ntohs(port_of(base->route.addr.dst_storage)));
  Wire message;
  fill(message, id, param);
  const bool reached = connect(id.socket, reinterpret_cast<sockaddr*>(&name), length) == 0 && tell_peer(id, message);
  id.state = reached ? State::connecting : State::over;
  if (!reached) {
    if (base->qp != nullptr) to_state(id, IBV_QPS_ERR);
    if (queue_event(id, RDMA_CM_EVENT_REJECTED, kNoListener) != 0) return -1;
  } else if (watch(id) != 0) {
    return -1;
  }
  return complete(id);
}

MRCSIM_EXPORT int rdma_accept(rdma_cm_id* base, rdma_conn_param* param) {
  Id& id = of(base);
  enter();
  if (id.state != State::requested) return fail(EINVAL);
  const std::uint8_t wanted_in = id.responder_resources, wanted_out = id.initiator_depth;
  if (keep_parameters(id, param, kReplyPrivate) != 0) return -1;
  if (param == nullptr || param->responder_resources == RDMA_MAX_RESP_RES) {
    id.responder_resources = std::min(id.responder_resources, wanted_in);
  }
  id.initiator_depth = std::min(id.initiator_depth, wanted_out);
  id.retries = id.peer.retries;
  if (base->qp != nullptr && connect_qp(id) != 0) return -1;
  Wire message;
  message.kind = Kind::reply;
  fill(message, id, param);
  id.state = State::accepted;
  tell_peer(id, message);  // of a peer that is gone an event tells
  return complete(id);
}

MRCSIM_EXPORT int rdma_establish(rdma_cm_id* base) {
  Id& id = of(base);
  enter();
  // With a QP of the id's it is done already.
  if (base->qp != nullptr || id.state != State::responding) return fail(EINVAL);
  Wire message;
  message.kind = Kind::ready;
  id.state = State::established;
  return tell_peer(id, message) ? 0 : -1;
}

MRCSIM_EXPORT int rdma_reject(rdma_cm_id* base, const void* data, std::uint8_t bytes) {
  Id& id = of(base);
  enter();
  if ((id.state != State::requested && id.state != State::responding) || bytes > kRejectPrivate) return fail(EINVAL);
  Wire message;
  message.kind = Kind::reject;
  if (bytes > 0) memcpy(message.private_data, data, bytes);
  id.state = State::over;
  return tell_peer(id, message) ? 0 : -1;
}
MRCSIM_EXPORT int rdma_reject_ece(rdma_cm_id* id, const void* data, std::uint8_t bytes) {
  return rdma_reject(id, data, bytes);
}

/// The event comes once the peer has disconnected too, or has left.
MRCSIM_EXPORT int rdma_disconnect(rdma_cm_id* base) {
  Id& id = of(base);
  enter();
  const bool connected = id.state == State::established || id.state == State::accepted || id.state == State::responding;
  if (!connected && id.state != State::over) return fail(EINVAL);
  if (base->qp != nullptr && to_state(id, IBV_QPS_ERR) != 0) return -1;
  Wire message;
  message.kind = Kind::disconnect;
  tell_peer(id, message);
  return connected ? complete(id) : 0;
}

MRCSIM_EXPORT int rdma_notify(rdma_cm_id*, ibv_event_type) {
  return 0;
}

// ---- QPs

namespace {

ibv_cq* make_cq(Id& id, std::uint32_t entries, ibv_comp_channel*& channel) {
  channel = MRCSIM_VERBS(ibv_create_comp_channel)(id.base.verbs);
  if (channel == nullptr) return nullptr;
  return MRCSIM_VERBS(ibv_create_cq)(id.base.verbs, static_cast<int>(std::max(entries, 1U)), &id, channel, 0);
}

void destroy_cqs(Id& id) {
  const auto destroy = [](ibv_cq*& cq, ibv_comp_channel*& channel) {
    if (cq != nullptr && channel != nullptr) MRCSIM_VERBS(ibv_destroy_cq)(cq);
    if (channel != nullptr) MRCSIM_VERBS(ibv_destroy_comp_channel)(channel);
    cq = nullptr;
    channel = nullptr;
  };
  destroy(id.base.send_cq, id.base.send_cq_channel);
  destroy(id.base.recv_cq, id.base.recv_cq_channel);
}

ibv_qp* make_qp(ibv_qp_init_attr_ex& attributes, ibv_context* context) {
  if (attributes.comp_mask == IBV_QP_INIT_ATTR_PD) {
    // The first fields are those of the shorter structure.
    return MRCSIM_VERBS(ibv_create_qp)(attributes.pd, reinterpret_cast<ibv_qp_init_attr*>(&attributes));
  }
  verbs_context* extended = verbs_get_ctx_op(context, create_qp_ex);
  if (extended != nullptr) return extended->create_qp_ex(context, &attributes);
  errno = EOPNOTSUPP;
  return nullptr;
}

}  // namespace

MRCSIM_EXPORT int rdma_create_qp_ex(rdma_cm_id* base, ibv_qp_init_attr_ex* attributes) {
  Id& id = of(base);
  if (base->qp != nullptr || base->verbs == nullptr) return fail(EINVAL);
  if (attributes->qp_type != IBV_QPT_RC) return fail(EOPNOTSUPP);
  if ((attributes->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || attributes->pd == nullptr) {
    attributes->comp_mask |= IBV_QP_INIT_ATTR_PD;
    attributes->pd = base->pd;
  } else if (attributes->pd->context != base->verbs) {
    return fail(EINVAL);
  }
  if (attributes->srq == nullptr) attributes->srq = base->srq;
  if (attributes->send_cq == nullptr) {
    attributes->send_cq = base->send_cq = make_cq(id, attributes->cap.max_send_wr, base->send_cq_channel);
  }
  if (attributes->recv_cq == nullptr) {
    attributes->recv_cq = base->recv_cq = make_cq(id, attributes->cap.max_recv_wr, base->recv_cq_channel);
  }
  if (attributes->send_cq != nullptr && attributes->recv_cq != nullptr) base->qp = make_qp(*attributes, base->verbs);
  if (base->qp != nullptr && to_state(id, IBV_QPS_INIT) == 0) {
    base->pd = attributes->pd;
    base->send_cq = attributes->send_cq;
    base->recv_cq = attributes->recv_cq;
    return 0;
  }
  const int error = errno;
  if (base->qp != nullptr) MRCSIM_VERBS(ibv_destroy_qp)(base->qp);
  base->qp = nullptr;
  destroy_cqs(id);
  return fail(error);
}

MRCSIM_EXPORT int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* attributes) {
  ibv_qp_init_attr_ex extended{};
  memcpy(static_cast<void*>(&extended), attributes, sizeof *attributes);
  extended.comp_mask = IBV_QP_INIT_ATTR_PD;
  extended.pd = pd != nullptr ? pd : id->pd;
  const int result = rdma_create_qp_ex(id, &extended);
  memcpy(static_cast<void*>(attributes), &extended, sizeof *attributes);
  return result;
}

MRCSIM_EXPORT void rdma_destroy_qp(rdma_cm_id* id) {
  if (id->qp == nullptr) return;
  MRCSIM_VERBS(ibv_destroy_qp)(id->qp);
  id->qp = nullptr;
  destroy_cqs(of(id));
}

MRCSIM_EXPORT int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* attributes, int* mask) {
  if (id->verbs == nullptr) return fail(EINVAL);
  return attributes_for(of(id), *attributes, *mask);
}

MRCSIM_EXPORT int rdma_create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* attributes) {
  if (id->srq != nullptr || id->verbs == nullptr) return fail(EINVAL);
  id->srq = MRCSIM_VERBS(ibv_create_srq)(pd != nullptr ? pd : id->pd, attributes);
  return id->srq != nullptr ? 0 : -1;
}
MRCSIM_EXPORT int rdma_create_srq_ex(rdma_cm_id*, ibv_srq_init_attr_ex*) {
  return fail(EOPNOTSUPP);
}
MRCSIM_EXPORT void rdma_destroy_srq(rdma_cm_id* id) {
  if (id->srq != nullptr) MRCSIM_VERBS(ibv_destroy_srq)(id->srq);
  id->srq = nullptr;
}

// ---- endpoints, options, and what is not supported

MRCSIM_EXPORT int rdma_create_ep(rdma_cm_id**, rdma_addrinfo*, ibv_pd*, ibv_qp_init_attr*) {
  return fail(EOPNOTSUPP);
}
MRCSIM_EXPORT void rdma_destroy_ep(rdma_cm_id*) {}

/// Types of service and timeouts are those of the scenario.
MRCSIM_EXPORT int rdma_set_option(rdma_cm_id* id, int level, int name, void* value, std::size_t bytes) {
  if (level != RDMA_OPTION_ID) return fail(level == RDMA_OPTION_IB ? EOPNOTSUPP : ENOSYS);
  const bool byte = name == RDMA_OPTION_ID_TOS || name == RDMA_OPTION_ID_ACK_TIMEOUT;
  const bool word = name == RDMA_OPTION_ID_REUSEADDR || name == RDMA_OPTION_ID_AFONLY;
  if (!byte && !word) return fail(ENOSYS);
  if (bytes != (byte ? sizeof(std::uint8_t) : sizeof(int))) return fail(EINVAL);
  if (name == RDMA_OPTION_ID_ACK_TIMEOUT) of(id).timeout = *static_cast<std::uint8_t*>(value);
  return 0;
}
MRCSIM_EXPORT int rdma_join_multicast(rdma_cm_id*, sockaddr*, void*) {
  return fail(EOPNOTSUPP);
}
MRCSIM_EXPORT int rdma_join_multicast_ex(rdma_cm_id*, rdma_cm_join_mc_attr_ex*, void*) {
  return fail(EOPNOTSUPP);
}
MRCSIM_EXPORT int rdma_leave_multicast(rdma_cm_id*, sockaddr*) {
  return fail(EOPNOTSUPP);
}
MRCSIM_EXPORT int rdma_set_local_ece(rdma_cm_id*, ibv_ece*) {
  return fail(EOPNOTSUPP);
}
MRCSIM_EXPORT int rdma_get_remote_ece(rdma_cm_id*, ibv_ece*) {
  return fail(EOPNOTSUPP);
}

MRCSIM_EXPORT const char* rdma_event_str(rdma_cm_event_type event) {
  constexpr const char* names[] = {
      "RDMA_CM_EVENT_ADDR_RESOLVED",  "RDMA_CM_EVENT_ADDR_ERROR",      "RDMA_CM_EVENT_ROUTE_RESOLVED",
      "RDMA_CM_EVENT_ROUTE_ERROR",    "RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
      "RDMA_CM_EVENT_CONNECT_ERROR",  "RDMA_CM_EVENT_UNREACHABLE",     "RDMA_CM_EVENT_REJECTED",
      "RDMA_CM_EVENT_ESTABLISHED",    "RDMA_CM_EVENT_DISCONNECTED",    "RDMA_CM_EVENT_DEVICE_REMOVAL",
      "RDMA_CM_EVENT_MULTICAST_JOIN", "RDMA_CM_EVENT_MULTICAST_ERROR", "RDMA_CM_EVENT_ADDR_CHANGE",
      "RDMA_CM_EVENT_TIMEWAIT_EXIT"};
  const auto number = static_cast<std::size_t>(event);
  return number < sizeof names / sizeof *names ? names[number] : "UNKNOWN EVENT";
}
