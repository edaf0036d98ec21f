// What programs and the model tell each other: one message per call over a SEQPACKET socket, answered by one reply.
// Plain structures in host byte order; both ends are built together.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>

namespace mrc::verbs {

inline constexpr std::uint32_t kVersion = 7;
/// Of a whole message or reply.
inline constexpr std::size_t kMostBytes = 16'384;
inline constexpr std::uint32_t kMostSges = 16;
inline constexpr std::uint32_t kMostInlineBytes = 1'024;
inline constexpr std::uint32_t kMostFds = 16;
inline constexpr std::uint32_t kMostCompletions = 64;  ///< of one poll
/// In the environment of a process that Open MPI's mpirun has started: its rank, which is also its node.
inline constexpr char kRank[] = "OMPI_COMM_WORLD_RANK";
/// The model sends it to a thread that runs for long without a word. Ignored by programs that do not expect it.
inline constexpr int kLookSignal = SIGURG;

// Values of verbs.h that messages carry, checked against it where that is included.
inline constexpr std::uint32_t kQptRc = 2, kQptUd = 4;
inline constexpr std::uint32_t kReset = 0, kInit = 1, kRtr = 2, kRts = 3, kError = 6;
inline constexpr std::uint32_t kMaskAv = 1U << 7, kMaskReads = 1U << 13, kMaskDestination = 1U << 20;
inline constexpr std::uint32_t kWrite = 0, kWriteImm = 1, kSend = 2, kSendImm = 3, kRead = 4, kCompareSwap = 5,
                               kFetchAdd = 6;
inline constexpr std::uint32_t kFence = 1, kSignaled = 2, kSolicited = 4;
inline constexpr std::uint32_t kLocalWrite = 1, kRemoteWrite = 2, kRemoteRead = 4, kRemoteAtomic = 8;
inline constexpr std::uint32_t kWcSuccess = 0, kWcLocalLength = 1, kWcLocalQp = 2, kWcLocalProtection = 4,
                               kWcFlushed = 5, kWcRemoteRequest = 9, kWcRemoteAccess = 10, kWcRemoteOperation = 11,
                               kWcRetryExceeded = 12;
inline constexpr std::uint32_t kWcOfSend = 0, kWcOfWrite = 1, kWcOfRead = 2, kWcOfCompareSwap = 3, kWcOfFetchAdd = 4,
                               kWcOfReceive = 128, kWcOfReceiveImm = 129;
inline constexpr std::uint32_t kWithGrh = 1, kWithImm = 2;
inline constexpr std::uint32_t kGrhBytes = 40;  ///< before the bytes of a datagram
inline constexpr std::uint32_t kEventQpFatal = 1, kEventPortActive = 9, kEventPortError = 10;

inline constexpr std::size_t kGidBytes = 16;
/// Address of a node (GID): a local prefix, and the node's number in the last two bytes.
struct Gid {
  std::uint8_t raw[kGidBytes];
};
constexpr Gid gid_of(std::uint32_t node) {
  return {{0xFD, 'M', 'R', 'C', 0, 0, 0, 0, 'M', 'R', 'C', 0, 0, 0, static_cast<std::uint8_t>(node >> 8),
           static_cast<std::uint8_t>(node)}};
}
constexpr std::uint32_t node_of_gid(const std::uint8_t* gid) {
  return static_cast<std::uint32_t>(gid[kGidBytes - 2] << 8 | gid[kGidBytes - 1]);
}

enum class Call : std::uint32_t {
  hello,
  query_device,
  open_async,
  register_memory,
  deregister_memory,
  create_channel,
  create_cq,
  resize_cq,
  destroy_cq,
  arm_cq,
  poll_cq,
  create_srq,
  destroy_srq,
  create_qp,
  modify_qp,
  query_qp,
  destroy_qp,
  post_send,
  post_receive,
  turn,      ///< until no other thread's clock is behind this one's
  spin,      ///< the thread loops over memory and changes nothing: until the NIC has written to it
  sleep,     ///< until the clock has come to a time
  wait_fds,  ///< until one of the descriptors that come with it is ready
  set_alarm,
  connects,  ///< as turn, before the thread connects to another program
  query_profiles,
  query_evs,  ///< from OneObject::object on, as many as a reply takes
  set_evs,
  set_ev_profile,
  set_congestion,
  watch_evs,  ///< the completion queue becomes one for events of EVs
  replace_evs,
  probe_evs,  ///< until all probes are answered, or their time is over
};
inline constexpr std::uint32_t kCalls = static_cast<std::uint32_t>(Call::probe_evs) + 1;

/// Begins each message. What a call needs follows at once, then its tail.
struct Request {
  Call call = Call::hello;
  std::uint32_t tail_bytes = 0;
  std::uint64_t clock_ps = 0;  ///< of the calling thread
};

/// Begins each reply; `error` is an errno, 0 for success.
struct Reply {
  std::int32_t error = 0;
  std::uint32_t count = 0;  ///< of what follows
  std::uint64_t clock_ps = 0;
  std::uint64_t value = 0;
  std::uint64_t value2 = 0;
};

struct Hello {
  std::uint32_t version = kVersion;
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  std::uint32_t reserved = 0;
};

/// Follows the reply to Hello: what calls cost that are not sent, in picoseconds.
struct Charges {
  std::uint64_t clock_read_ps = 0;
  std::uint64_t tsc_read_ps = 0;
};

/// Follows the reply to query_device.
struct DeviceInfo {
  std::uint32_t node = 0;
  std::uint32_t nodes = 0;
  std::uint32_t ports_up = 0;
  std::uint32_t ports = 0;
  std::uint32_t most_qps = 0;
  std::uint32_t most_send_wrs = 0;
  std::uint32_t most_receive_wrs = 0;
  std::uint32_t most_cqes = 0;
  std::uint32_t mtu_bytes = 0;
  std::uint32_t most_reads = 0;  ///< READs and atomic operations under way on a QP; 0: the device has none
  std::uint64_t rate_gbps = 0;   ///< of all ports
};

/// The constants of uet-1.0-nscc. Where a reply has them, with what is derived filled in; where a program sets them, 0
/// asks for what is derived, in those that have it.
struct CongestionConstants {
  std::uint32_t disable_quick_adapt = 0;
  std::uint32_t adjust_bytes_threshold = 0;
  std::uint32_t adjust_period_ns = 0;
  std::uint32_t base_rtt_ns = 0;
  std::uint32_t max_cwnd_bytes = 0;
  std::uint32_t qa_gate = 0;
  std::uint32_t qa_threshold_ns = 0;
  std::uint32_t target_delay_ns = 0;
  float eta_bytes = 0;
  float fi_bytes = 0;
  float fi_scale = 0;
  float gamma = 0;
  float max_md_jump = 0;
};
inline constexpr std::size_t kAlgorithmBytes = 32;

inline constexpr std::size_t kMostFormatFields = 12;
/// Follows the reply to query_profiles: the one profile of EVs and the one of congestion control of a node, and the
/// format of its EVs.
struct ProfileInfo {
  std::uint32_t evs = 0;
  std::uint32_t most_evs = 0;  ///< that a controller may give
  std::uint32_t least_active_evs = 0;
  std::uint32_t ports = 0;
  std::uint32_t evs_state = 0;     ///< kInitial, kOffline or kOnline
  std::uint32_t evs_explicit = 0;  ///< 1: a controller has given them
  std::uint32_t event_mask = 0;    ///< kEvGood, kEvAssumedBad
  std::uint32_t congestion_online = 0;
  std::uint32_t format_fields = 0;
  std::uint8_t field_bits[kMostFormatFields] = {};  ///< highest bits of the EV first
  char algorithm[kAlgorithmBytes] = {};             ///< of congestion control, "none" for none
  CongestionConstants constants;
};

inline constexpr std::uint32_t kInitial = 0, kOffline = 1, kOnline = 2;
inline constexpr std::uint8_t kNoPort = 255;  ///< of an EV that a controller has not given yet
/// As many as Reply::count after the reply to query_evs.
struct EvInfo {
  std::uint32_t value = 0;
  std::uint8_t port = 0;  ///< of the NIC, from 0; kNoPort
  std::uint8_t assumed_bad = 0;
  std::uint8_t denied = 0;
  std::uint8_t reserved = 0;
};
inline constexpr std::size_t kMostEvsOfReply = (kMostBytes - sizeof(Reply)) / sizeof(EvInfo);

inline constexpr std::uint32_t kEvGood = 1, kEvAssumedBad = 2, kEvDenied = 4;
/// An EV that the controller allows or denies.
struct EvSetting {
  std::uint32_t value = 0;
  std::uint8_t port = 0;   ///< of the NIC, from 0
  std::uint8_t state = 0;  ///< kEvGood or kEvDenied
  std::uint16_t reserved = 0;
};
/// With `count` EvSettings as its tail, which are applied in order. Reply::count: of these, how many have been.
struct SetEvs {
  std::uint32_t count = 0;
  std::uint32_t reserved = 0;
};
inline constexpr std::size_t kMostEvsOfRequest = 1'024;

/// An EV in place of another, or of all like it.
struct EvReplacement {
  std::uint32_t old_value = 0;
  std::uint32_t value = 0;
  std::uint8_t old_port = 0;  ///< from 0; kNoPort
  std::uint8_t port = 0;
  std::uint8_t state = 0;  ///< kEvGood or kEvDenied
  std::uint8_t all = 0;    ///< 1: every one that is like the old one
};
/// With `count` EvReplacements as its tail, as SetEvs.
struct ReplaceEvs {
  std::uint32_t count = 0;
  std::uint32_t reserved = 0;
};

/// What set_ev_profile and set_congestion change.
inline constexpr std::uint32_t kChangeOnline = 1, kChangeEventMask = 2, kChangeLeastActive = 4, kChangeAlgorithm = 8,
                               kChangeConstants = 16, kChangeMode = 32, kChangeState = 64;
struct SetEvProfile {
  std::uint32_t changes = 0;
  std::uint32_t state = 0;         ///< kInitial, kOffline or kOnline
  std::uint32_t explicit_evs = 0;  ///< how many a controller will give; 0: those of the scenario
  std::uint32_t event_mask = 0;
  std::uint32_t least_active = 0;
};
struct SetCongestion {
  std::uint32_t changes = 0;
  std::uint32_t online = 0;
  char algorithm[kAlgorithmBytes] = {};
  CongestionConstants constants;
  std::uint32_t reserved = 0;
};

/// Event of an EV in a queue for them, as a WorkCompletion: `status` is kEvGood or kEvAssumedBad, `immediate` the EV's
/// value, `qp_number` its port from 0, `bytes` how many events before it had no room.
inline constexpr std::uint32_t kWcOfEv = 256;

struct ProbeOrder {
  std::uint32_t node = 0;
  std::uint32_t value = 0;  ///< of the EV
  std::uint32_t port = 0;   ///< of the NIC, from 0
  std::uint32_t reserved = 0;
};
/// With `count` ProbeOrders as its tail. The error is ETIMEDOUT where some have no answer in time.
struct ProbeEvs {
  std::uint32_t count = 0;
  std::uint32_t timeout_ns = 0;
};
inline constexpr std::uint32_t kMostProbes = 256;
/// As many as Reply::count after the reply to probe_evs, in the order of arrival.
struct ProbeAnswer {
  std::uint32_t order = 0;  ///< its place in the tail
  std::uint32_t port = 0;   ///< through which the answer came, from 0
  std::uint64_t round_trip_ns = 0;
};

struct RegisterMemory {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t iova = 0;
  std::uint32_t access = 0;  ///< IBV_ACCESS_…
  std::uint32_t reserved = 0;
};

/// Of calls that name one object, and perhaps one number.
struct OneObject {
  std::uint32_t object = 0;
  std::uint32_t number = 0;
};

struct CreateCq {
  std::uint64_t handle = 0;  ///< what a completion event carries
  std::uint32_t entries = 0;
  std::uint32_t channel = 0;  ///< 0: none
};

struct CreateQp {
  std::uint32_t send_cq = 0;
  std::uint32_t receive_cq = 0;
  std::uint32_t srq = 0;   ///< 0: none
  std::uint32_t type = 0;  ///< IBV_QPT_…
  std::uint32_t send_wrs = 0;
  std::uint32_t receive_wrs = 0;
  std::uint32_t signal_all = 0;
  std::uint32_t reserved = 0;
  std::uint64_t handle = 0;  ///< what an async event carries
};

struct ModifyQp {
  std::uint32_t qp = 0;
  std::uint32_t state = 0;  ///< IBV_QPS_…
  std::uint32_t mask = 0;   ///< IBV_QP_…
  std::uint32_t peer_node = 0;
  std::uint32_t peer_qp = 0;
  std::uint32_t receive_psn = 0;
  std::uint32_t send_psn = 0;
  std::uint32_t most_reads = 0;  ///< IBV_QP_MAX_QP_RD_ATOMIC
  std::uint32_t qkey = 0;        ///< of UD
  std::uint32_t reserved = 0;
};

struct Sge {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint32_t key = 0;
};

/// With `sges` entries as its tail, or with `inline_bytes` of payload.
struct PostSend {
  std::uint32_t qp = 0;
  std::uint32_t opcode = 0;     ///< IBV_WR_…
  std::uint32_t flags = 0;      ///< IBV_SEND_…
  std::uint32_t immediate = 0;  ///< as it lies in memory
  std::uint64_t id = 0;
  std::uint64_t remote_address = 0;
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  std::uint32_t rkey = 0;
  std::uint32_t sges = 0;
  std::uint32_t inline_bytes = 0;
  std::uint32_t peer_node = 0;  ///< of UD
  std::uint32_t peer_qp = 0;
  std::uint32_t qkey = 0;
};

/// With `sges` entries as its tail.
struct PostReceive {
  std::uint32_t qp = 0;   ///< or the SRQ
  std::uint32_t srq = 0;  ///< 1: `qp` is an SRQ
  std::uint64_t id = 0;
  std::uint32_t sges = 0;
  std::uint32_t reserved = 0;
};

/// As many as Reply::count after the reply to poll_cq.
struct WorkCompletion {
  std::uint64_t id = 0;
  std::uint32_t status = 0;  ///< IBV_WC_…
  std::uint32_t opcode = 0;  ///< IBV_WC_…
  std::uint32_t bytes = 0;
  std::uint32_t immediate = 0;
  std::uint32_t qp_number = 0;
  std::uint32_t source_qp = 0;
  std::uint32_t flags = 0;  ///< IBV_WC_…
  std::uint32_t vendor_error = 0;
};

/// `until_ps` of sleep, wait_fds (kForever: no limit) and set_alarm (0: none).
struct Until {
  std::uint64_t until_ps = 0;
  std::uint64_t interval_ps = 0;  ///< of set_alarm
};
inline constexpr std::uint64_t kForever = ~std::uint64_t{0};

/// Of wait_fds, as many as the message has descriptors: what poll() asks of each.
struct WaitFds {
  std::uint64_t until_ps = kForever;
  std::uint32_t count = 0;
  std::int16_t events[kMostFds] = {};
};

}  // namespace mrc::verbs
