// OCP's MRC library (mrc.h, mrc_ctl.h) over verbs, which the provider carries to the model: built only against the
// user's own copy of the headers (-DMRC_API_DIR=…). Data path, queues and events are those of verbs; a QP's attributes
// are kept and given back. The controller's calls read and change the one profile of each kind that a node has, number
// 0, as the model carries it out; what the scenario alone decides is refused, with the reason on standard error.
#include <mrc.h>
#include <mrc_ctl.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

#include "verbs/program_side.h"

struct mrc_context {
  ibv_context* verbs;
};
struct mrc_comp_channel {
  ibv_comp_channel* verbs;
};
struct mrc_cq {
  ibv_cq* verbs;
  void* of_program;
  bool of_evs;  ///< for events of EVs
};
struct mrc_qp_hint {
  mrc_qp_hint_attr attributes;
};
struct mrc_qp {
  ibv_qp* verbs;
  mrc_qp_attr attributes;
  mrc_qp_init_attr initial;
};

namespace {

template <typename Object>
Object* make() {
  return new (std::nothrow) Object{};
}

/// Frees `object` where what it needs of verbs is not there; errno is that of the failed call.
template <typename Object>
Object* if_created(Object* object) {
  if (object != nullptr && object->verbs != nullptr) return object;
  const int saved = errno;
  delete object;
  errno = saved;
  return nullptr;
}

int invalid() {
  errno = EINVAL;
  return -1;
}

/// What the model cannot do at all.
int unsupported(const char* call, const char* why) {
  fprintf(stderr, "mrcsim: %s: %s\n", call, why);
  errno = EOPNOTSUPP;
  return -1;
}

template <typename Object>
int destroyed(Object* object, int error) {
  if (error == 0) delete object;
  return error;
}

void take_hint(mrc_qp_hint_attr& to, const mrc_qp_hint_attr& from, unsigned mask) {
  if ((mask & MRC_QP_HINT_NUM_QPS_PER_PEER) != 0) to.num_qps_per_peer = from.num_qps_per_peer;
  if ((mask & MRC_QP_HINT_NUM_SEND_PEERS) != 0) to.num_send_peers = from.num_send_peers;
  if ((mask & MRC_QP_HINT_NUM_REMOTE_RECV_PEERS) != 0) to.num_remote_recv_peers = from.num_remote_recv_peers;
  if ((mask & static_cast<unsigned>(MRC_QP_HINT_VENDOR_CFG)) != 0) {
    memcpy(to.vendor_cfg, from.vendor_cfg, sizeof to.vendor_cfg);
  }
}

void take_attributes(mrc_qp_attr& to, const mrc_qp_attr& from, unsigned mask) {
  if ((mask & MRC_QP_MAX_WIMM) != 0) to.wimm.max_wimm = from.wimm.max_wimm;
  if ((mask & MRC_QP_MAX_WIMM_DEST) != 0) to.wimm.max_wimm_dest = from.wimm.max_wimm_dest;
  if ((mask & MRC_QP_MPR) != 0) to.mpr.mpr = from.mpr.mpr;
  if ((mask & MRC_QP_MPR_DEST) != 0) to.mpr.mpr_dest = from.mpr.mpr_dest;
  if ((mask & MRC_QP_TIMEOUT) != 0) to.timeout = from.timeout;
  if ((mask & MRC_QP_EV_PROFILE_ID) != 0) to.profile.ev_profile_id = from.profile.ev_profile_id;
  if ((mask & MRC_QP_CC_PROFILE_ID) != 0) to.profile.cc_profile_id = from.profile.cc_profile_id;
  if ((mask & MRC_QP_HINT) != 0) to.qp_hint = from.qp_hint;
  if ((mask & MRC_QP_RETRY_CNT) != 0) to.retry = from.retry;
  if ((mask & MRC_QP_CAP) != 0) to.cap = from.cap;
  if ((mask & static_cast<unsigned>(MRC_QP_VENDOR_CFG)) != 0) {
    memcpy(to.vendor_cfg, from.vendor_cfg, sizeof to.vendor_cfg);
  }
}

}  // namespace

// ---- device and context

extern "C" int mrc_query_device(ibv_context* context, mrc_device_attr* attributes, int* supported) {
  if (context == nullptr || attributes == nullptr || supported == nullptr) return invalid();
  *attributes = {};
  attributes->mrc_protocol_version = MRC_PROTOCOL_VERSION_1;
  // As many as the fields can say: the scenario limits them. MPR counts units of 128 PSNs (kMprUnitPsns).
  constexpr uint16_t most = 65'535;
  attributes->wimm_attr.max_wimm = attributes->wimm_attr.max_wimm_dest = most;
  attributes->mpr_attr.max_mpr = 255;
  attributes->mpr_attr.mpr_resolution = 1;
  attributes->qp_attr.max_qp_hint = most;
  // No SACK of the model carries the responder's service time (SVC_TIME).
  attributes->cap = MRC_DEVICE_CAP_TRIM_NACK;
  const char* name = ibv_get_device_name(context->device);
  *supported = name != nullptr && strncmp(name, "mrc", 3) == 0 ? 1 : 0;
  return 0;
}
extern "C" int mrc_query_device_ex(ibv_context* context, mrc_context*, mrc_device_attr* attributes, int* supported) {
  return mrc_query_device(context, attributes, supported);
}
extern "C" void mrc_query_version(uint32_t* current, uint32_t* last, uint32_t* vendor, uint32_t* last_vendor) {
  *current = MRC_API_CURRENT_VERSION;
  *last = MRC_API_LAST_SUPPORTED_VERSION;
  *vendor = MRC_VENDOR_API_CURRENT_VERSION;
  *last_vendor = MRC_VENDOR_API_LAST_SUPPORTED_VERSION;
}
/// OCP's example passes a protocol version as version of the API: any is accepted.
extern "C" mrc_context* mrc_create_context(ibv_context* context, mrc_context_attr*) {
  auto* created = make<mrc_context>();
  if (created != nullptr) created->verbs = context;
  return if_created(created);
}
extern "C" int mrc_destroy_context(mrc_context* context) {
  if (context == nullptr) return invalid();
  delete context;
  return 0;
}

// ---- completion queues

extern "C" int mrc_create_comp_channel(mrc_context* context, mrc_comp_channel** channel) {
  auto* created = make<mrc_comp_channel>();
  if (created != nullptr) created->verbs = ibv_create_comp_channel(context->verbs);
  *channel = if_created(created);
  return *channel == nullptr ? errno : 0;
}
extern "C" int mrc_get_comp_channel_fd(mrc_comp_channel* channel, int* fd) {
  *fd = channel->verbs->fd;
  return 0;
}
extern "C" int mrc_destroy_comp_channel(mrc_comp_channel* channel) {
  return destroyed(channel, ibv_destroy_comp_channel(channel->verbs));
}
extern "C" mrc_cq* mrc_create_cq(mrc_context* context, int entries, void* of_program, mrc_comp_channel* channel,
                                 int vector) {
  auto* cq = make<mrc_cq>();
  if (cq == nullptr) return nullptr;
  cq->of_program = of_program;
  cq->verbs = ibv_create_cq(context->verbs, entries, cq, channel == nullptr ? nullptr : channel->verbs, vector);
  return if_created(cq);
}
extern "C" int mrc_poll_cq(mrc_cq* cq, int entries, ibv_wc* to) {
  return cq->of_evs ? -EINVAL : ibv_poll_cq(cq->verbs, entries, to);
}
extern "C" int mrc_destroy_cq(mrc_cq* cq) {
  return destroyed(cq, ibv_destroy_cq(cq->verbs));
}
extern "C" int mrc_req_notify_cq(mrc_cq* cq, int solicited_only) {
  return ibv_req_notify_cq(cq->verbs, solicited_only);
}
extern "C" int mrc_get_cq_event(mrc_comp_channel* channel, mrc_cq** cq, void** of_program) {
  ibv_cq* verbs = nullptr;
  void* ours = nullptr;
  if (ibv_get_cq_event(channel->verbs, &verbs, &ours) != 0) return -1;
  *cq = static_cast<mrc_cq*>(ours);
  *of_program = (*cq)->of_program;
  return 0;
}
extern "C" void mrc_ack_cq_events(mrc_cq* cq, unsigned count) {
  ibv_ack_cq_events(cq->verbs, count);
}

// ---- hints: kept, and given back

extern "C" mrc_qp_hint* mrc_create_qp_hint(mrc_context*, mrc_qp_hint_init_attr* initial) {
  auto* hint = make<mrc_qp_hint>();
  if (hint != nullptr && initial != nullptr) hint->attributes = initial->attr;
  return hint;
}
extern "C" int mrc_destroy_qp_hint(mrc_qp_hint* hint) {
  if (hint == nullptr) return invalid();
  delete hint;
  return 0;
}
extern "C" int mrc_query_qp_hint(mrc_qp_hint* hint, mrc_qp_hint_attr* attributes, int mask) {
  if (hint == nullptr || attributes == nullptr) return invalid();
  take_hint(*attributes, hint->attributes, static_cast<unsigned>(mask));
  return 0;
}
extern "C" int mrc_modify_qp_hint(mrc_qp_hint* hint, mrc_qp_hint_attr* attributes, int mask) {
  if (hint == nullptr || attributes == nullptr) return invalid();
  take_hint(hint->attributes, *attributes, static_cast<unsigned>(mask));
  return 0;
}

// ---- queue pairs

extern "C" mrc_qp* mrc_create_qp(mrc_context*, mrc_qp_init_attr* initial) {
  if (initial == nullptr || initial->pd == nullptr || initial->send_cq == nullptr || initial->recv_cq == nullptr) {
    invalid();
    return nullptr;
  }
  auto* qp = make<mrc_qp>();
  if (qp == nullptr) return nullptr;
  qp->initial = *initial;
  ibv_qp_init_attr wanted{};
  wanted.qp_context = qp;
  wanted.send_cq = initial->send_cq->verbs;
  wanted.recv_cq = initial->recv_cq->verbs;
  wanted.cap = initial->cap;
  wanted.qp_type = IBV_QPT_RC;
  wanted.sq_sig_all = initial->sq_sig_all;
  qp->verbs = ibv_create_qp(initial->pd, &wanted);
  return if_created(qp);
}
extern "C" int mrc_destroy_qp(mrc_qp* qp) {
  return destroyed(qp, ibv_destroy_qp(qp->verbs));
}
extern "C" int mrc_modify_qp(mrc_qp* qp, ibv_qp_attr* attributes, int mask, mrc_qp_attr* of_mrc, int mrc_mask) {
  const auto of_profiles = static_cast<unsigned>(mrc_mask);
  // There is one of each kind.
  const bool unknown =
      of_mrc != nullptr && (((of_profiles & MRC_QP_EV_PROFILE_ID) != 0 && of_mrc->profile.ev_profile_id != 0) ||
                            ((of_profiles & MRC_QP_CC_PROFILE_ID) != 0 && of_mrc->profile.cc_profile_id != 0));
  if (unknown) return EINVAL;
  if (of_mrc != nullptr) take_attributes(qp->attributes, *of_mrc, of_profiles);
  return attributes == nullptr || mask == 0 ? 0 : ibv_modify_qp(qp->verbs, attributes, mask);
}
extern "C" int mrc_query_qp(mrc_qp* qp, ibv_qp_attr* attributes, int mask, mrc_qp_attr* of_mrc, int mrc_mask,
                            mrc_qp_init_attr* initial) {
  ibv_qp_init_attr of_verbs{};
  if (attributes != nullptr) {
    if (const int error = ibv_query_qp(qp->verbs, attributes, mask, &of_verbs)) return error;
  }
  if (of_mrc != nullptr) take_attributes(*of_mrc, qp->attributes, static_cast<unsigned>(mrc_mask));
  if (initial != nullptr) *initial = qp->initial;
  return 0;
}
extern "C" int mrc_get_qpn(mrc_qp* qp, uint32_t* number) {
  *number = qp->verbs->qp_num;
  return 0;
}
extern "C" int mrc_post_recv(mrc_qp* qp, ibv_recv_wr* list, ibv_recv_wr** bad) {
  return ibv_post_recv(qp->verbs, list, bad);
}
extern "C" int mrc_post_send(mrc_qp* qp, ibv_send_wr* list, ibv_send_wr** bad) {
  return ibv_post_send(qp->verbs, list, bad);
}

// ---- events

extern "C" int mrc_get_async_event(mrc_context* context, mrc_async_event* to) {
  ibv_async_event event{};
  if (const int error = ibv_get_async_event(context->verbs, &event)) return error;
  *to = {};
  to->event_type = event.event_type;
  switch (event.event_type) {
    case IBV_EVENT_CQ_ERR:
      to->element.cq = static_cast<mrc_cq*>(event.element.cq->cq_context);
      break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
      to->element.qp = static_cast<mrc_qp*>(event.element.qp->qp_context);
      break;
    default:
      to->element.port_num = event.element.port_num;
  }
  // Acknowledged here: what the program acknowledges later has no event of verbs in it any more.
  ibv_ack_async_event(&event);
  return 0;
}
extern "C" void mrc_ack_async_event(mrc_async_event*) {}

// ---- the controller's side

namespace {

using mrc::verbs::Call;
using mrc::verbs::EvInfo;
using mrc::verbs::ProfileInfo;

static_assert(mrc::verbs::kEvGood == MRC_CTL_EV_GOOD && mrc::verbs::kEvAssumedBad == MRC_CTL_EV_ASSUMED_BAD &&
              mrc::verbs::kEvDenied == MRC_CTL_EV_DENIED);
static_assert(mrc::verbs::kInitial == MRC_CTL_PROFILE_INIT && mrc::verbs::kOffline == MRC_CTL_PROFILE_OFFLINE &&
              mrc::verbs::kOnline == MRC_CTL_PROFILE_ONLINE);

struct Answer {
  mrc::verbs::Reply reply;
  std::byte rest[mrc::verbs::kMostBytes - sizeof(mrc::verbs::Reply)];
};
constexpr std::size_t kMostTail = 8'192;
constexpr std::uint32_t kMostReplacements = 512;  ///< of one message
static_assert(kMostTail >= mrc::verbs::kMostEvsOfRequest * sizeof(mrc::verbs::EvSetting) &&
              kMostTail >= kMostReplacements * sizeof(mrc::verbs::EvReplacement) &&
              kMostTail >= mrc::verbs::kMostProbes * sizeof(mrc::verbs::ProbeOrder));

/// Asks the model by the preload, which every program of a run has. Returns an errno.
template <typename Arguments>
int ask(Call call, const Arguments& arguments, Answer& answer, const void* tail = nullptr, std::size_t tail_bytes = 0) {
  static const auto send = reinterpret_cast<decltype(&mrcsim_call)>(dlsym(RTLD_DEFAULT, "mrcsim_call"));
  if (send == nullptr) return ENODEV;
  struct {
    mrc::verbs::Request request;
    Arguments arguments;
    std::byte tail[kMostTail];
  } message;
  message.request.call = call;
  message.request.tail_bytes = static_cast<std::uint32_t>(tail_bytes);
  message.arguments = arguments;
  if (tail_bytes > 0) memcpy(message.tail, tail, tail_bytes);
  const std::size_t bytes = sizeof message.request + sizeof message.arguments + tail_bytes;
  return send(&message.request, bytes, &answer.reply, nullptr);
}

/// What calls return that set errno.
int result_of(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int ask_profiles(ProfileInfo& info) {
  Answer answer;
  if (const int error = ask(Call::query_profiles, mrc::verbs::OneObject{}, answer)) return error;
  memcpy(static_cast<void*>(&info), answer.rest, sizeof info);
  return 0;
}

/// All EVs of the profile, `count` at `to`.
int ask_evs(EvInfo* to, std::uint32_t count) {
  for (std::uint32_t first = 0; first < count;) {
    Answer answer;
    if (const int error = ask(Call::query_evs, mrc::verbs::OneObject{first, 0}, answer)) return error;
    const std::uint32_t got = std::min(answer.reply.count, count - first);
    if (got == 0) return EIO;
    memcpy(static_cast<void*>(to + first), answer.rest, got * sizeof(EvInfo));
    first += got;
  }
  return 0;
}

constexpr char kNscc[] = "uet-1.0-nscc";
constexpr char kNone[] = "none";

const mrc_ctl_cc_nscc_cfg* nscc_of(const mrc::verbs::CongestionConstants& from) {
  static mrc_ctl_cc_nscc_cfg to;
  to.disable_qa = from.disable_quick_adapt != 0 ? 1 : 0;
  to.adjust_bytes_threshold = from.adjust_bytes_threshold;
  to.adjust_period_threshold = from.adjust_period_ns;
  to.base_rtt = from.base_rtt_ns;
  to.eta = from.eta_bytes;
  to.fi = from.fi_bytes;
  to.fi_scale = from.fi_scale;
  to.gamma = from.gamma;
  to.max_md_jump = from.max_md_jump;
  to.max_cwnd = from.max_cwnd_bytes;
  to.qa_gate = static_cast<uint8_t>(from.qa_gate);
  to.qa_threshold = from.qa_threshold_ns;
  to.target_delay = from.target_delay_ns;
  return &to;
}

mrc::verbs::CongestionConstants constants_of(const mrc_ctl_cc_nscc_cfg& from) {
  mrc::verbs::CongestionConstants to;
  to.disable_quick_adapt = from.disable_qa;
  to.adjust_bytes_threshold = from.adjust_bytes_threshold;
  to.adjust_period_ns = from.adjust_period_threshold;
  to.base_rtt_ns = from.base_rtt;
  to.eta_bytes = from.eta;
  to.fi_bytes = from.fi;
  to.fi_scale = from.fi_scale;
  to.gamma = from.gamma;
  to.max_md_jump = from.max_md_jump;
  to.max_cwnd_bytes = from.max_cwnd;
  to.qa_gate = from.qa_gate;
  to.qa_threshold_ns = from.qa_threshold;
  to.target_delay_ns = from.target_delay;
  return to;
}

mrc_ctl_profile_state profile_state_of(std::uint32_t online) {
  return online != 0 ? MRC_CTL_PROFILE_ONLINE : MRC_CTL_PROFILE_OFFLINE;
}

mrc_ctl_ev_state state_of(const EvInfo& ev) {
  if (ev.port == mrc::verbs::kNoPort) return MRC_CTL_EV_UNKNOWN;
  if (ev.denied != 0) return MRC_CTL_EV_DENIED;
  return ev.assumed_bad != 0 ? MRC_CTL_EV_ASSUMED_BAD : MRC_CTL_EV_GOOD;
}

mrc_ctl_ev written(std::uint32_t value, std::uint32_t port) {
  mrc_ctl_ev to{};
  memcpy(to.val, &value, sizeof value);
  to.port = static_cast<uint8_t>(port + 1);
  return to;
}
bool is_unpopulated(const mrc_ctl_ev& ev) {
  const mrc_ctl_ev nothing = MRC_CTL_EV_UNPOPULATED;
  return memcmp(ev.val, nothing.val, sizeof ev.val) == 0 && ev.port == nothing.port;
}
/// False where it is not an EV of 32 bits with a port.
bool read_ev(const mrc_ctl_ev& ev, std::uint32_t& value, std::uint32_t& port) {
  memcpy(&value, ev.val, sizeof value);
  port = ev.port - 1U;
  const auto* rest = ev.val + sizeof value;
  return ev.port != 0 && std::all_of(rest, ev.val + sizeof ev.val, [](uint8_t byte) { return byte == 0; });
}

/// MRC_CTL_EV_OP_QUERY_EV_ARRAY or …_STATE of the EVs that are at `evs`. Returns an errno.
int answer_ev_operation(const EvInfo* evs, std::uint32_t count, mrc_ctl_ev_profile_attr& attributes) {
  auto& operation = attributes.ev_op;
  if (operation.op == MRC_CTL_EV_OP_QUERY_EV_ARRAY) {
    const bool fits = operation.entry_count >= 0 && static_cast<std::uint32_t>(operation.entry_count) >= count;
    operation.entry_count = static_cast<int>(count);
    for (std::uint32_t i = 0; fits && i < count; ++i) {
      operation.entries[i].ev = written(evs[i].value, evs[i].port);
      operation.entries[i].state = state_of(evs[i]);
    }
    return fits ? 0 : E2BIG;
  }
  if (operation.op != MRC_CTL_EV_OP_QUERY_EV_STATE) return EINVAL;
  for (int i = 0; i < operation.entry_count; ++i) {
    std::uint32_t value = 0;
    std::uint32_t port = 0;
    const bool sound = read_ev(operation.entries[i].ev, value, port);
    const EvInfo* found =
        std::find_if(evs, evs + count, [&](const EvInfo& ev) { return ev.value == value && ev.port == port; });
    if (!sound || found == evs + count) return ENOENT;
    operation.entries[i].state = state_of(*found);
  }
  return 0;
}

int query_evs(std::uint32_t count, mrc_ctl_ev_profile_attr& attributes) {
  auto* evs = static_cast<EvInfo*>(calloc(count == 0 ? 1 : count, sizeof(EvInfo)));
  if (evs == nullptr) return ENOMEM;
  int error = ask_evs(evs, count);
  if (error == 0) error = answer_ev_operation(evs, count, attributes);
  free(evs);
  return error;
}

/// MRC_CTL_EV_OP_MODIFY_EV_STATE, in their order up to the first that fails. Returns an errno.
int set_evs(const mrc_ctl_ev_op_entry* entries, int count) {
  if (count < 0 || (count > 0 && entries == nullptr)) return EINVAL;
  for (int first = 0; first < count;) {
    mrc::verbs::EvSetting settings[mrc::verbs::kMostEvsOfRequest];
    mrc::verbs::SetEvs wanted;
    int fault = 0;
    for (int i = first; i < count && fault == 0 && wanted.count < mrc::verbs::kMostEvsOfRequest; ++i) {
      std::uint32_t value = 0;
      std::uint32_t port = 0;
      const mrc_ctl_ev_state state = entries[i].state;
      if (!read_ev(entries[i].ev, value, port)) fault = ENOENT;
      if (fault == 0 && state != MRC_CTL_EV_GOOD && state != MRC_CTL_EV_DENIED) fault = EINVAL;
      if (fault == 0) {
        settings[wanted.count++] = {value, static_cast<std::uint8_t>(port), static_cast<std::uint8_t>(state), 0};
      }
    }
    Answer answer;
    if (const int error = ask(Call::set_evs, wanted, answer, settings, wanted.count * sizeof settings[0])) return error;
    if (fault != 0) return fault;
    first += static_cast<int>(wanted.count);
  }
  return 0;
}

/// MRC_CTL_EV_OP_REPLACE_EV, in their order up to the first that fails. Returns an errno.
int replace_evs(const mrc_ctl_ev_op_entry* entries, int count) {
  if (count < 0 || (count > 0 && entries == nullptr)) return EINVAL;
  for (int first = 0; first < count;) {
    mrc::verbs::EvReplacement list[kMostReplacements];
    mrc::verbs::ReplaceEvs wanted;
    int fault = 0;
    for (int i = first; i < count && fault == 0 && wanted.count < kMostReplacements; ++i) {
      const mrc_ctl_ev_op_entry& from = entries[i];
      mrc::verbs::EvReplacement one;
      std::uint32_t old_port = mrc::verbs::kNoPort;
      std::uint32_t port = 0;
      if (!is_unpopulated(from.ev) && !read_ev(from.ev, one.old_value, old_port)) fault = ENOENT;
      const bool good = from.state == MRC_CTL_EV_GOOD || from.state == MRC_CTL_EV_DENIED;
      if (fault == 0 && (!good || !read_ev(from.ev_new, one.value, port))) fault = EINVAL;
      one.old_port = static_cast<std::uint8_t>(old_port);
      one.port = static_cast<std::uint8_t>(port);
      one.state = static_cast<std::uint8_t>(from.state);
      one.all = (from.flags & MRC_CTL_EV_OP_F_ALL_COPIES) != 0 ? 1 : 0;
      if (fault == 0) list[wanted.count++] = one;
    }
    Answer answer;
    if (const int error = ask(Call::replace_evs, wanted, answer, list, wanted.count * sizeof list[0])) return error;
    if (fault != 0) return fault;
    first += static_cast<int>(wanted.count);
  }
  return 0;
}

}  // namespace

extern "C" int mrc_ctl_query_device(ibv_context*, mrc_ctl_device_attr* attributes) {
  if (attributes == nullptr) return invalid();
  ProfileInfo info;
  if (const int error = ask_profiles(info)) return result_of(error);
  *attributes = {};
  attributes->mrc_ctl_protocol_version = MRC_CTL_PROTOCOL_VERSION_1;
  attributes->ev.ev_max_fmt_profiles = attributes->ev.ev_max_profiles = 1;
  attributes->ev.ev_max_count = attributes->ev.ev_max_count_profile = info.most_evs;
  // As many for each port.
  attributes->ev.ev_count_align = info.ports;
  attributes->ev.ev_max_width = 32;
  attributes->ev.ev_fmt_mode_mask = MRC_CTL_EV_FMT_MODE_STEV;
  attributes->ev.ev_mode_mask = MRC_CTL_EV_MODE_AUTO | MRC_CTL_EV_MODE_EXP;
  static const char* algorithms[] = {kNscc, nullptr};
  attributes->cc.cc_max_profiles = 1;
  attributes->cc.algorithms = algorithms;
  // Counted from 1. The highest bit is that of port 31.
  attributes->phy_port_mask = static_cast<uint32_t>(((std::uint64_t{1} << info.ports) - 1) << 1);
  attributes->opt_attr = MRC_CTL_OPT_CAP_EV_PROFILE_MODIFY_ONLINE | MRC_CTL_OPT_CAP_CC_PROFILE_MODIFY_ONLINE |
                         MRC_CTL_OPT_CAP_EV_EVENT | MRC_CTL_OPT_CAP_EV_EVENT_PRECISE_DROP_CNT |
                         MRC_CTL_OPT_CAP_EP_OP_EV_PROBE;
  return 0;
}
extern "C" int mrc_ctl_query_device_ex(ibv_context* context, mrc_context*, mrc_ctl_device_attr* attributes,
                                       int* supported) {
  if (supported == nullptr) return invalid();
  *supported = 1;
  return mrc_ctl_query_device(context, attributes);
}
extern "C" void mrc_ctl_query_version(uint32_t* current, uint32_t* last, uint32_t* vendor, uint32_t* last_vendor) {
  *current = MRC_CTL_API_CURRENT_VERSION;
  *last = MRC_CTL_API_LAST_SUPPORTED_VERSION;
  *vendor = *last_vendor = 0;
}

// ---- ports

extern "C" int mrc_ctl_query_port(mrc_context*, uint8_t port, mrc_ctl_port_attr* attributes, int) {
  if (attributes == nullptr) return invalid();
  ProfileInfo info;
  if (const int error = ask_profiles(info)) return result_of(error);
  if (port == 0 || port > info.ports) return invalid();
  attributes->port_admin_state = MRC_CTL_PORT_ADMIN_ENABLED;
  return 0;
}
extern "C" int mrc_ctl_modify_port(mrc_context*, uint8_t, mrc_ctl_port_attr*, int) {
  return unsupported("mrc_ctl_modify_port", "ports go down by the faults of the scenario; EVs of a port can be DENIED");
}

// ---- format of EVs

extern "C" int mrc_ctl_modify_ev_fmt_profile(mrc_context*, uint64_t, mrc_ctl_ev_fmt_profile_attr*, int) {
  return unsupported("mrc_ctl_modify_ev_fmt_profile", "the format of EVs is that of protocol.ev_layout");
}
extern "C" int mrc_ctl_query_ev_fmt_profile(mrc_context*, uint64_t number, mrc_ctl_ev_fmt_profile_attr* attributes,
                                            int signed_mask) {
  const auto mask = static_cast<unsigned>(signed_mask);
  if (number != 0 || attributes == nullptr) return invalid();
  ProfileInfo info;
  if (const int error = ask_profiles(info)) return result_of(error);
  if ((mask & MRC_CTL_EV_FMT_PROFILE_STATE) != 0) attributes->profile_state = MRC_CTL_PROFILE_ONLINE;
  if ((mask & MRC_CTL_EV_FMT_PROFILE_CUR_STATE) != 0) attributes->cur_profile_state = MRC_CTL_PROFILE_ONLINE;
  if ((mask & MRC_CTL_EV_FMT_PROFILE_MODE) != 0) attributes->ev_fmt_mode = MRC_CTL_EV_FMT_MODE_STEV;
  if ((mask & static_cast<unsigned>(MRC_CTL_EV_FMT_VENDOR_CFG)) != 0) {
    memset(attributes->vendor_cfg, 0, sizeof attributes->vendor_cfg);
  }
  if ((mask & MRC_CTL_EV_FMT_PROFILE_OP) == 0) return 0;
  auto& operation = attributes->ev_fmt_op;
  if (operation.op != MRC_CTL_EV_FMT_OP_QUERY_FIELDS) return invalid();
  const int room = operation.fmt_field_count;
  operation.fmt_field_count = static_cast<int>(info.format_fields);
  if (room < operation.fmt_field_count || operation.fmt_fields == nullptr) return result_of(E2BIG);
  for (std::uint32_t i = 0; i < info.format_fields; ++i) operation.fmt_fields[i].width = info.field_bits[i];
  return 0;
}

// ---- profile of EVs

namespace {

/// Returns an errno where something is asked for that the model does not have.
int check_ev_profile(const ProfileInfo& info, const mrc_ctl_ev_profile_attr& wanted, unsigned mask) {
  const bool generates = ((mask & MRC_CTL_EV_PROFILE_MODE) != 0 && wanted.ev_mode != MRC_CTL_EV_MODE_AUTO &&
                          wanted.ev_mode != MRC_CTL_EV_MODE_EXP) ||
                         (mask & MRC_CTL_EV_PROFILE_EV_FIELDS_OP) != 0;
  const bool other_format = (mask & MRC_CTL_EV_PROFILE_FMT_ID) != 0 && wanted.ev_fmt_profile_id != 0;
  const bool is_auto =
      (mask & MRC_CTL_EV_PROFILE_MODE) != 0 ? wanted.ev_mode == MRC_CTL_EV_MODE_AUTO : info.evs_explicit == 0;
  const bool other_count = is_auto && (mask & MRC_CTL_EV_PROFILE_COUNT) != 0 && wanted.ev_count != info.evs;
  const bool of_vendor = (mask & static_cast<unsigned>(MRC_CTL_EV_PROFILE_VENDOR_CFG)) != 0;
  if (!generates && !other_format && !other_count && !of_vendor) return 0;
  unsupported("mrc_ctl_modify_ev_profile",
              "EVs are AUTO, as many as protocol.ev_count, or EXPLICIT; other modes, formats and fields are not there");
  return EOPNOTSUPP;
}

/// Returns an errno.
int set_ev_profile(const ProfileInfo& info, const mrc_ctl_ev_profile_attr& from, unsigned mask) {
  mrc::verbs::SetEvProfile wanted;
  if ((mask & MRC_CTL_EV_PROFILE_STATE) != 0) {
    wanted.changes |= mrc::verbs::kChangeState;
    wanted.state = static_cast<std::uint32_t>(from.profile_state);
  }
  const bool has_mode = (mask & MRC_CTL_EV_PROFILE_MODE) != 0;
  const bool has_count = (mask & MRC_CTL_EV_PROFILE_COUNT) != 0;
  const bool is_explicit = has_mode ? from.ev_mode == MRC_CTL_EV_MODE_EXP : info.evs_explicit != 0;
  if (has_mode || (has_count && is_explicit)) {
    if (is_explicit && (!has_count || from.ev_count == 0)) return EINVAL;
    wanted.changes |= mrc::verbs::kChangeMode;
    wanted.explicit_evs = is_explicit ? from.ev_count : 0;
  }
  if ((mask & MRC_CTL_EV_PROFILE_EVENT_MASK) != 0) {
    wanted.changes |= mrc::verbs::kChangeEventMask;
    wanted.event_mask = static_cast<std::uint32_t>(from.ev_event_mask);
  }
  if ((mask & MRC_CTL_EV_PROFILE_MIN_ACTIVE) != 0) {
    wanted.changes |= mrc::verbs::kChangeLeastActive;
    wanted.least_active = from.ev_min_active;
  }
  if (wanted.changes == 0) return 0;
  Answer answer;
  return ask(Call::set_ev_profile, wanted, answer);
}

int operate_on_evs(const ProfileInfo& info, mrc_ctl_ev_profile_attr& attributes) {
  const auto& operation = attributes.ev_op;
  if (operation.op == MRC_CTL_EV_OP_MODIFY_EV_STATE) return set_evs(operation.entries, operation.entry_count);
  if (operation.op == MRC_CTL_EV_OP_REPLACE_EV) return replace_evs(operation.entries, operation.entry_count);
  return query_evs(info.evs, attributes);
}

}  // namespace

extern "C" int mrc_ctl_modify_ev_profile(mrc_context*, uint64_t number, mrc_ctl_ev_profile_attr* attributes,
                                         int signed_mask) {
  const auto mask = static_cast<unsigned>(signed_mask);
  const bool on_evs = (mask & MRC_CTL_EV_PROFILE_EV_OP) != 0;
  if (number != 0 || attributes == nullptr || (on_evs && (mask & MRC_CTL_EV_PROFILE_EV_FIELDS_OP) != 0)) {
    return invalid();
  }
  ProfileInfo info;
  if (const int error = ask_profiles(info)) return result_of(error);
  if (const int error = check_ev_profile(info, *attributes, mask)) return result_of(error);
  if (const int error = set_ev_profile(info, *attributes, mask)) return result_of(error);
  if (!on_evs) return 0;
  // How many there are may have changed.
  if (const int error = ask_profiles(info)) return result_of(error);
  return result_of(operate_on_evs(info, *attributes));
}
extern "C" int mrc_ctl_query_ev_profile(mrc_context*, uint64_t number, mrc_ctl_ev_profile_attr* attributes,
                                        int signed_mask) {
  const auto mask = static_cast<unsigned>(signed_mask);
  // An AUTO profile has no fields.
  if (number != 0 || attributes == nullptr || (mask & MRC_CTL_EV_PROFILE_EV_FIELDS_OP) != 0) return invalid();
  ProfileInfo info;
  if (const int error = ask_profiles(info)) return result_of(error);
  const auto state = static_cast<mrc_ctl_profile_state>(info.evs_state);
  if ((mask & MRC_CTL_EV_PROFILE_STATE) != 0) attributes->profile_state = state;
  if ((mask & MRC_CTL_EV_PROFILE_CUR_STATE) != 0) attributes->cur_profile_state = state;
  if ((mask & MRC_CTL_EV_PROFILE_MODE) != 0) {
    attributes->ev_mode = info.evs_explicit != 0 ? MRC_CTL_EV_MODE_EXP : MRC_CTL_EV_MODE_AUTO;
  }
  if ((mask & MRC_CTL_EV_PROFILE_FMT_ID) != 0) attributes->ev_fmt_profile_id = 0;
  if ((mask & MRC_CTL_EV_PROFILE_COUNT) != 0) attributes->ev_count = info.evs;
  if ((mask & MRC_CTL_EV_PROFILE_MIN_ACTIVE) != 0) attributes->ev_min_active = info.least_active_evs;
  if ((mask & MRC_CTL_EV_PROFILE_EVENT_MASK) != 0) attributes->ev_event_mask = static_cast<int>(info.event_mask);
  if ((mask & MRC_CTL_EV_PROFILE_EV_OP) == 0) return 0;
  return result_of(query_evs(info.evs, *attributes));
}

// ---- profile of congestion control

extern "C" int mrc_ctl_modify_cc_profile(mrc_context*, uint64_t number, mrc_ctl_cc_profile_attr* attributes,
                                         int signed_mask) {
  const auto mask = static_cast<unsigned>(signed_mask);
  if (number != 0 || attributes == nullptr) return invalid();
  const bool unconfigured = (mask & MRC_CTL_CC_PROFILE_STATE) != 0 && attributes->profile_state == MRC_CTL_PROFILE_INIT;
  if (unconfigured || (mask & static_cast<unsigned>(MRC_CTL_CC_PROFILE_VENDOR_CFG)) != 0) {
    return unsupported("mrc_ctl_modify_cc_profile", "the profile stays configured, and has nothing of a vendor");
  }
  mrc::verbs::SetCongestion wanted;
  if ((mask & MRC_CTL_CC_PROFILE_STATE) != 0) {
    wanted.changes |= mrc::verbs::kChangeOnline;
    wanted.online = attributes->profile_state == MRC_CTL_PROFILE_ONLINE ? 1 : 0;
  }
  if ((mask & MRC_CTL_CC_PROFILE_ALGORITHM) != 0) {
    wanted.changes |= mrc::verbs::kChangeAlgorithm;
    const char* name = attributes->algorithm == nullptr ? kNone : attributes->algorithm;
    if (strlen(name) >= sizeof wanted.algorithm) return invalid();
    memcpy(wanted.algorithm, name, strlen(name));
  }
  if ((mask & MRC_CTL_CC_PROFILE_CONFIG) != 0) {
    if (attributes->cc_config == nullptr) return invalid();
    wanted.changes |= mrc::verbs::kChangeConstants;
    wanted.constants = constants_of(*static_cast<const mrc_ctl_cc_nscc_cfg*>(attributes->cc_config));
  }
  if (wanted.changes == 0) return 0;
  Answer answer;
  return result_of(ask(Call::set_congestion, wanted, answer));
}
extern "C" int mrc_ctl_query_cc_profile(mrc_context*, uint64_t number, mrc_ctl_cc_profile_attr* attributes,
                                        int signed_mask) {
  const auto mask = static_cast<unsigned>(signed_mask);
  if (number != 0 || attributes == nullptr) return invalid();
  ProfileInfo info;
  if (const int error = ask_profiles(info)) return result_of(error);
  const mrc_ctl_profile_state state = profile_state_of(info.congestion_online);
  const bool is_nscc = strcmp(info.algorithm, kNscc) == 0;
  if ((mask & MRC_CTL_CC_PROFILE_STATE) != 0) attributes->profile_state = state;
  if ((mask & MRC_CTL_CC_PROFILE_CUR_STATE) != 0) attributes->cur_profile_state = state;
  if ((mask & MRC_CTL_CC_PROFILE_ALGORITHM) != 0) attributes->algorithm = is_nscc ? kNscc : nullptr;
  if ((mask & MRC_CTL_CC_PROFILE_CONFIG) != 0) attributes->cc_config = is_nscc ? nscc_of(info.constants) : nullptr;
  return 0;
}

// ---- events of EVs

extern "C" mrc_cq* mrc_ctl_create_ev_event_cq(mrc_context* context, int entries, void* of_program,
                                              mrc_comp_channel* channel, int vector) {
  mrc_cq* cq = mrc_create_cq(context, entries, of_program, channel, vector);
  if (cq == nullptr) return nullptr;
  Answer answer;
  const int error = ask(Call::watch_evs, mrc::verbs::OneObject{cq->verbs->handle, 0}, answer);
  cq->of_evs = true;
  if (error == 0) return cq;
  mrc_destroy_cq(cq);
  errno = error;
  return nullptr;
}
extern "C" int mrc_ctl_poll_ev_event(mrc_cq* cq, int most, mrc_ctl_ev_event* to) {
  if (cq == nullptr || !cq->of_evs || most < 0 || (most > 0 && to == nullptr)) return -EINVAL;
  Answer answer;
  const auto wanted = std::min(static_cast<std::uint32_t>(most), mrc::verbs::kMostCompletions);
  const int error = ask(Call::poll_cq, mrc::verbs::OneObject{cq->verbs->handle, wanted}, answer);
  if (error != 0) return -error;
  const std::uint32_t count = std::min(answer.reply.count, wanted);
  for (std::uint32_t i = 0; i < count; ++i) {
    mrc::verbs::WorkCompletion from;
    memcpy(static_cast<void*>(&from), answer.rest + i * sizeof from, sizeof from);
    to[i] = {};
    to[i].ev = written(from.immediate, from.qp_number);
    to[i].drop_count = from.bytes;
    to[i].state = static_cast<mrc_ctl_ev_state>(from.status);
  }
  return static_cast<int>(count);
}

// ---- probes

namespace {

/// Returns an errno; `node` is that of the context.
int order_of(const mrc_ctl_ep_req& from, std::uint32_t own_node, mrc::verbs::ProbeOrder& to) {
  if (from.ev_fmt_mode != MRC_CTL_EV_FMT_MODE_STEV) return EINVAL;
  const mrc::verbs::Gid own = mrc::verbs::gid_of(own_node);
  to.node = mrc::verbs::node_of_gid(from.dgid.raw);
  const mrc::verbs::Gid peer = mrc::verbs::gid_of(to.node);
  const bool known =
      memcmp(from.sgid.raw, own.raw, sizeof own.raw) == 0 && memcmp(from.dgid.raw, peer.raw, sizeof peer.raw) == 0;
  return known && read_ev(from.req_ev, to.value, to.port) ? 0 : EINVAL;
}

int ask_node(std::uint32_t& node) {
  Answer answer;
  if (const int error = ask(Call::query_device, mrc::verbs::OneObject{}, answer)) return error;
  mrc::verbs::DeviceInfo info;
  memcpy(static_cast<void*>(&info), answer.rest, sizeof info);
  node = info.node;
  return 0;
}

}  // namespace

extern "C" int mrc_ctl_ep_batch_send_wait(mrc_context*, uint8_t, mrc_ctl_ep_op_type type, mrc_ctl_ep_req* requests,
                                          int count, uint32_t timeout_ns, mrc_ctl_ep_rsp* responses, int* answered) {
  if (requests == nullptr || responses == nullptr || answered == nullptr || count <= 0) return invalid();
  *answered = 0;
  if (type == MRC_CTL_EP_OP_PORT_STATUS_UPDATE) {
    return unsupported("mrc_ctl_ep_batch_send_wait", "a NIC tells its peers of its ports by itself");
  }
  if (type != MRC_CTL_EP_OP_EV_PROBE || static_cast<std::uint32_t>(count) > mrc::verbs::kMostProbes) return invalid();
  std::uint32_t node = 0;
  if (const int error = ask_node(node)) return result_of(error);
  mrc::verbs::ProbeOrder orders[mrc::verbs::kMostProbes];
  for (int i = 0; i < count; ++i) {
    if (const int error = order_of(requests[i], node, orders[i])) return result_of(error);
  }
  const mrc::verbs::ProbeEvs wanted{static_cast<std::uint32_t>(count), timeout_ns};
  Answer answer;
  answer.reply.count = 0;
  const int error = ask(Call::probe_evs, wanted, answer, orders, static_cast<std::size_t>(count) * sizeof orders[0]);
  for (std::uint32_t i = 0; i < std::min(answer.reply.count, wanted.count); ++i) {
    mrc::verbs::ProbeAnswer from;
    memcpy(static_cast<void*>(&from), answer.rest + i * sizeof from, sizeof from);
    if (from.order >= wanted.count) return result_of(EIO);
    responses[i] = {};
    responses[i].req_id = requests[from.order].req_id;
    responses[i].port = static_cast<uint8_t>(from.port + 1);
    responses[i].rtt = static_cast<unsigned>(from.round_trip_ns);
    *answered = static_cast<int>(i) + 1;
  }
  return result_of(error);
}
