/* What a controller reads and changes by OCP's mrc_ctl.h. Built against the user's copy of the headers.
 *
 *   mrc_control_check read MICROSECONDS [FIRST]      the device and its profiles, then EVs until one is ASSUMED_BAD
 *   mrc_control_check changes                        what is refused, and with which errno; profiles OFFLINE and ONLINE
 *   mrc_control_check deny FIRST FOR EV              the EV is DENIED at FIRST microseconds, and allowed after FOR more
 *   mrc_control_check deny FIRST FOR port PORT       all EVs of the port
 *   mrc_control_check explicit FIRST COUNT           EVs of the controller's, from ABC00000 on
 *   mrc_control_check window FIRST BYTES             the largest congestion window
 *   mrc_control_check offline FIRST                  the EV profile goes OFFLINE
 *   mrc_control_check events FIRST MICROSECONDS [channel]    events of EVs as they come
 *   mrc_control_check probe FIRST NODE               an EV of each port to the node, and probes that get no answer */
#include <arpa/inet.h>
#include <errno.h>
#include <mrc.h>
#include <mrc_ctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void check(int good, const char* what) {
  if (good) return;
  printf("wrong: %s (errno %d)\n", what, errno);
  exit(1);
}

/* The call has failed, as it should. */
static void refused(int result, int with, const char* what) {
  check(result == -1 && errno == with, what);
}

static struct ibv_context* verbs;
static struct mrc_context* context;

/* Of the run. Its clock begins at one second. */
static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - 1) * 1e6 + (double)now.tv_nsec / 1e3;
}

/* FIRST microseconds after the begin of the run. */
static void sleep_until(int first) {
  const double left = first - now_us();
  if (left > 0) usleep((useconds_t)left);
}

static unsigned value_of(const struct mrc_ctl_ev* ev) {
  unsigned value = 0;
  memcpy(&value, ev->val, sizeof value);
  return value;
}

/* The EVs of the profile, as many as it has. */
static struct mrc_ctl_ev_op_entry* read_evs(int* count) {
  struct mrc_ctl_ev_profile_attr attributes = {0};
  attributes.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY;
  refused(mrc_ctl_query_ev_profile(context, 0, &attributes, MRC_CTL_EV_PROFILE_EV_OP), E2BIG,
          "an array that is too short");
  *count = attributes.ev_op.entry_count;
  attributes.ev_op.entries = calloc((size_t)*count, sizeof *attributes.ev_op.entries);
  check(mrc_ctl_query_ev_profile(context, 0, &attributes, MRC_CTL_EV_PROFILE_EV_OP) == 0, "the array of EVs");
  return attributes.ev_op.entries;
}

static int on_evs(enum mrc_ctl_ev_op operation, struct mrc_ctl_ev_op_entry* evs, int count) {
  struct mrc_ctl_ev_profile_attr attributes = {0};
  attributes.ev_op.op = operation;
  attributes.ev_op.entries = evs;
  attributes.ev_op.entry_count = count;
  return operation == MRC_CTL_EV_OP_QUERY_EV_STATE
             ? mrc_ctl_query_ev_profile(context, 0, &attributes, MRC_CTL_EV_PROFILE_EV_OP)
             : mrc_ctl_modify_ev_profile(context, 0, &attributes, MRC_CTL_EV_PROFILE_EV_OP);
}

static void check_states(struct mrc_ctl_ev_op_entry* evs, int count, enum mrc_ctl_ev_state state, const char* what) {
  for (int i = 0; i < count; ++i) evs[i].state = MRC_CTL_EV_UNKNOWN;
  check(on_evs(MRC_CTL_EV_OP_QUERY_EV_STATE, evs, count) == 0, "states of EVs");
  for (int i = 0; i < count; ++i) check(evs[i].state == state, what);
}

/* ---- read */

static void wait_for_bad(int us) {
  for (int waited = 0; waited < us; waited += 20) {
    int count = 0;
    struct mrc_ctl_ev_op_entry* evs = read_evs(&count);
    for (int i = 0; i < count; ++i) {
      if (evs[i].state != MRC_CTL_EV_ASSUMED_BAD) continue;
      printf("EV %d, port %d, is ASSUMED_BAD\n", i, evs[i].ev.port);
      free(evs);
      return;
    }
    free(evs);
    usleep(20);
  }
  printf("all EVs are GOOD\n");
}

static void read_format(void) {
  struct mrc_ctl_ev_fmt_profile_attr format = {0};
  format.ev_fmt_op.op = MRC_CTL_EV_FMT_OP_QUERY_FIELDS;
  refused(mrc_ctl_query_ev_fmt_profile(context, 0, &format, MRC_CTL_EV_FMT_PROFILE_OP), E2BIG, "fields without room");
  struct mrc_ctl_ev_fmt_field fields[32] = {{0}};
  check(format.ev_fmt_op.fmt_field_count <= 32, "the number of fields");
  format.ev_fmt_op.fmt_fields = fields;
  check(mrc_ctl_query_ev_fmt_profile(context, 0, &format, MRC_CTL_EV_FMT_PROFILE_OP | MRC_CTL_EV_FMT_PROFILE_MODE) == 0,
        "mrc_ctl_query_ev_fmt_profile");
  printf("format %s:", format.ev_fmt_mode == MRC_CTL_EV_FMT_MODE_STEV ? "STEV" : "?");
  for (int i = 0; i < format.ev_fmt_op.fmt_field_count; ++i) printf(" %d", fields[i].width);
  printf(" bits\n");
}

static const struct mrc_ctl_cc_nscc_cfg* read_congestion(void) {
  struct mrc_ctl_cc_profile_attr cc = {0};
  check(mrc_ctl_query_cc_profile(
            context, 0, &cc, MRC_CTL_CC_PROFILE_CUR_STATE | MRC_CTL_CC_PROFILE_ALGORITHM | MRC_CTL_CC_PROFILE_CONFIG) ==
            0,
        "mrc_ctl_query_cc_profile");
  check(cc.cur_profile_state == MRC_CTL_PROFILE_ONLINE, "the state of congestion control");
  printf("algorithm %s\n", cc.algorithm != NULL ? cc.algorithm : "none");
  const struct mrc_ctl_cc_nscc_cfg* nscc = cc.cc_config;
  if (nscc != NULL) printf("base RTT %u ns, gamma %.2f, window %u\n", nscc->base_rtt, nscc->gamma, nscc->max_cwnd);
  return nscc;
}

static void read_all(int us, int first) {
  struct mrc_ctl_device_attr device;
  check(mrc_ctl_query_device(verbs, &device) == 0, "mrc_ctl_query_device");
  printf("%u EVs, ports %x, %s\n", device.ev.ev_max_count_profile, device.phy_port_mask, device.cc.algorithms[0]);
  check((device.opt_attr & MRC_CTL_OPT_CAP_EV_EVENT) != 0 && (device.opt_attr & MRC_CTL_OPT_CAP_EP_OP_EV_PROBE) != 0,
        "events and probes");
  read_congestion();
  read_format();
  struct mrc_ctl_ev_profile_attr profile = {0};
  check(
      mrc_ctl_query_ev_profile(context, 0, &profile,
                               MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_MODE) == 0,
      "mrc_ctl_query_ev_profile");
  printf("%u EVs, at least %u active, %s\n", profile.ev_count, profile.ev_min_active,
         profile.ev_mode == MRC_CTL_EV_MODE_AUTO ? "AUTO" : "?");
  int count = 0;
  struct mrc_ctl_ev_op_entry* evs = read_evs(&count);
  check(count == (int)profile.ev_count, "the number of EVs");
  check_states(evs, count, MRC_CTL_EV_GOOD, "an EV that is GOOD at the begin");
  free(evs);
  sleep_until(first);
  wait_for_bad(us);
}

/* ---- changes */

static int set_evs_online(enum mrc_ctl_profile_state state) {
  struct mrc_ctl_ev_profile_attr profile = {.profile_state = state};
  return mrc_ctl_modify_ev_profile(context, 0, &profile, MRC_CTL_EV_PROFILE_STATE);
}
static int set_least_active(unsigned evs) {
  struct mrc_ctl_ev_profile_attr profile = {.ev_min_active = evs};
  return mrc_ctl_modify_ev_profile(context, 0, &profile, MRC_CTL_EV_PROFILE_MIN_ACTIVE);
}

static void change_ev_profile(void) {
  struct mrc_ctl_ev_profile_attr profile = {.ev_mode = MRC_CTL_EV_MODE_GEN, .ev_count = 7};
  refused(mrc_ctl_modify_ev_profile(context, 1, &profile, MRC_CTL_EV_PROFILE_MODE), EINVAL, "an unknown EV profile");
  refused(mrc_ctl_modify_ev_profile(context, 0, &profile, MRC_CTL_EV_PROFILE_MODE), EOPNOTSUPP, "generated EVs");
  refused(mrc_ctl_modify_ev_profile(context, 0, &profile, MRC_CTL_EV_PROFILE_COUNT), EOPNOTSUPP, "a number of EVs");
  profile.ev_event_mask = MRC_CTL_EV_DENIED;
  refused(mrc_ctl_modify_ev_profile(context, 0, &profile, MRC_CTL_EV_PROFILE_EVENT_MASK), EINVAL, "events of DENIED");
  refused(set_least_active(16), EINVAL, "least active EVs while ONLINE");
  check(set_evs_online(MRC_CTL_PROFILE_OFFLINE) == 0, "an EV profile OFFLINE");
  refused(set_least_active(0), EINVAL, "no active EV");
  refused(set_least_active(100000), EINVAL, "more active EVs than there are");
  check(set_least_active(16) == 0, "least active EVs");
  check(set_evs_online(MRC_CTL_PROFILE_ONLINE) == 0, "an EV profile ONLINE");
  check(mrc_ctl_query_ev_profile(context, 0, &profile, MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_STATE) == 0,
        "mrc_ctl_query_ev_profile");
  check(profile.ev_min_active == 16 && profile.profile_state == MRC_CTL_PROFILE_ONLINE, "the EV profile as it was set");
  struct mrc_ctl_ev_fmt_profile_attr format = {0};
  refused(mrc_ctl_modify_ev_fmt_profile(context, 0, &format, MRC_CTL_EV_FMT_PROFILE_STATE), EOPNOTSUPP, "a format");
  struct mrc_ctl_port_attr port = {0};
  refused(mrc_ctl_modify_port(context, 1, &port, MRC_CTL_PORT_ADMIN_STATE), EOPNOTSUPP, "a port");
  refused(mrc_ctl_query_port(context, 200, &port, MRC_CTL_PORT_ADMIN_STATE), EINVAL, "an unknown port");
}

static void change_evs(void) {
  int count = 0;
  struct mrc_ctl_ev_op_entry* evs = read_evs(&count);
  struct mrc_ctl_ev_op_entry unknown = evs[0];
  unknown.ev.port = 200;
  refused(on_evs(MRC_CTL_EV_OP_QUERY_EV_STATE, &unknown, 1), ENOENT, "the state of an unknown EV");
  unknown.state = MRC_CTL_EV_DENIED;
  refused(on_evs(MRC_CTL_EV_OP_MODIFY_EV_STATE, &unknown, 1), ENOENT, "an unknown EV");
  refused(on_evs(MRC_CTL_EV_OP_REPLACE_EV, evs, 1), EINVAL, "another EV in an AUTO profile");
  evs[0].state = MRC_CTL_EV_ASSUMED_BAD;
  refused(on_evs(MRC_CTL_EV_OP_MODIFY_EV_STATE, evs, 1), EINVAL, "an EV that a controller makes ASSUMED_BAD");
  for (int i = 0; i < count; ++i) evs[i].state = MRC_CTL_EV_DENIED;
  refused(on_evs(MRC_CTL_EV_OP_MODIFY_EV_STATE, evs, count), EINVAL, "the last EV");
  check_states(evs, count - 1, MRC_CTL_EV_DENIED, "EVs before the last are DENIED");
  check_states(evs + count - 1, 1, MRC_CTL_EV_GOOD, "the last is not");
  for (int i = 0; i < count; ++i) evs[i].state = MRC_CTL_EV_GOOD;
  check(on_evs(MRC_CTL_EV_OP_MODIFY_EV_STATE, evs, count) == 0, "EVs that are allowed again");
  check_states(evs, count, MRC_CTL_EV_GOOD, "EVs are GOOD again");
  free(evs);
}

static int set_congestion(const struct mrc_ctl_cc_nscc_cfg* nscc) {
  struct mrc_ctl_cc_profile_attr cc = {.cc_config = nscc};
  return mrc_ctl_modify_cc_profile(context, 0, &cc, MRC_CTL_CC_PROFILE_CONFIG);
}

static void change_congestion(void) {
  struct mrc_ctl_cc_profile_attr cc = {0};
  refused(mrc_ctl_query_cc_profile(context, 1, &cc, MRC_CTL_CC_PROFILE_STATE), EINVAL, "an unknown profile");
  refused(mrc_ctl_modify_cc_profile(context, 0, &cc, MRC_CTL_CC_PROFILE_STATE), EOPNOTSUPP,
          "congestion control without configuration");
  refused(mrc_ctl_modify_cc_profile(context, 0, &cc, MRC_CTL_CC_PROFILE_CONFIG), EINVAL,
          "constants that are not there");
  refused(mrc_ctl_modify_cc_profile(context, 0, &cc, MRC_CTL_CC_PROFILE_ALGORITHM), EINVAL,
          "an algorithm while congestion control is ONLINE");
  struct mrc_ctl_cc_nscc_cfg nscc = *read_congestion();
  const struct mrc_ctl_cc_nscc_cfg before = nscc;
  nscc.gamma = 11;
  refused(set_congestion(&nscc), EINVAL, "a constant out of its range");
  nscc.gamma = 0.0F / 0.0F;
  refused(set_congestion(&nscc), EINVAL, "a constant that is no number");
  nscc = before;
  nscc.qa_gate = 64;
  refused(set_congestion(&nscc), EINVAL, "a gate out of its range");
  nscc = before;
  nscc.max_cwnd = 1;
  refused(set_congestion(&nscc), EINVAL, "a window below one packet");
  nscc = before;
  nscc.gamma = 0.5F;
  nscc.base_rtt = 9000;
  nscc.target_delay = 7000;
  check(set_congestion(&nscc) == 0, "constants");
  check(memcmp(read_congestion(), &nscc, sizeof nscc) == 0, "constants as they were set");
  cc = (struct mrc_ctl_cc_profile_attr){.profile_state = MRC_CTL_PROFILE_OFFLINE, .algorithm = "unknown"};
  const int both = MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM;
  refused(mrc_ctl_modify_cc_profile(context, 0, &cc, both), EINVAL, "an unknown algorithm");
  cc.algorithm = NULL;
  check(mrc_ctl_modify_cc_profile(context, 0, &cc, both) == 0, "no algorithm");
  refused(set_congestion(&nscc), EINVAL, "constants without an algorithm");
  cc.profile_state = MRC_CTL_PROFILE_ONLINE;
  check(mrc_ctl_modify_cc_profile(context, 0, &cc, MRC_CTL_CC_PROFILE_STATE) == 0, "congestion control ONLINE");
  check(read_congestion() == NULL, "no constants without an algorithm");
}

/* ---- EVs of the controller's */

static int make_explicit(unsigned count, unsigned least_active) {
  struct mrc_ctl_ev_profile_attr profile = {.profile_state = MRC_CTL_PROFILE_OFFLINE,
                                            .ev_mode = MRC_CTL_EV_MODE_EXP,
                                            .ev_count = count,
                                            .ev_min_active = least_active};
  return mrc_ctl_modify_ev_profile(context, 0, &profile,
                                   MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
                                       MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE);
}

static void give(struct mrc_ctl_ev_op_entry* entry, unsigned value, int port, enum mrc_ctl_ev_state state) {
  memset(entry, 0, sizeof *entry);
  memcpy(entry->ev_new.val, &value, sizeof value);
  entry->ev_new.port = (uint8_t)port;
  entry->state = state;
}

/* One EV in two is DENIED from the begin where there are 16 or more. */
static void use_explicit(int first, int count) {
  sleep_until(first);
  struct mrc_ctl_device_attr device;
  check(mrc_ctl_query_device(verbs, &device) == 0, "mrc_ctl_query_device");
  check(count % (int)device.ev.ev_count_align == 0, "the alignment of EVs");
  const int ports = (int)device.ev.ev_count_align;
  refused(set_evs_online(MRC_CTL_PROFILE_INIT), EINVAL, "from ONLINE to INIT");
  check(set_evs_online(MRC_CTL_PROFILE_OFFLINE) == 0 && set_evs_online(MRC_CTL_PROFILE_INIT) == 0, "to INIT");
  refused(set_evs_online(MRC_CTL_PROFILE_ONLINE), EINVAL, "from INIT to ONLINE");
  refused(set_evs_online(MRC_CTL_PROFILE_OFFLINE), EINVAL, "to OFFLINE without a mode");
  refused(make_explicit(device.ev.ev_max_count_profile + 1, 8), EINVAL, "more EVs than the NIC has memory for");
  check(make_explicit((unsigned)count, 8) == 0, "an EXPLICIT profile");
  refused(set_evs_online(MRC_CTL_PROFILE_ONLINE), EINVAL, "EVs that are not given");
  struct mrc_ctl_ev_op_entry* evs = calloc((size_t)count, sizeof *evs);
  for (int i = 0; i < count; ++i) {
    const int denied = count >= 16 && i % 16 >= 8;
    give(&evs[i], 0xABC00000U + (unsigned)i, i % ports + 1, denied ? MRC_CTL_EV_DENIED : MRC_CTL_EV_GOOD);
  }
  struct mrc_ctl_ev_op_entry wrong = evs[0];
  wrong.ev_new.port = 200;
  refused(on_evs(MRC_CTL_EV_OP_REPLACE_EV, &wrong, 1), EINVAL, "an EV of an unknown port");
  wrong = evs[0];
  wrong.ev = evs[1].ev_new;
  refused(on_evs(MRC_CTL_EV_OP_REPLACE_EV, &wrong, 1), ENOENT, "an EV in place of one that is not there");
  check(on_evs(MRC_CTL_EV_OP_REPLACE_EV, evs, count) == 0, "EVs that are given");
  give(&wrong, 0xABC00001U, 1, MRC_CTL_EV_GOOD);
  wrong.ev = evs[0].ev_new;
  check(on_evs(MRC_CTL_EV_OP_REPLACE_EV, &wrong, 1) == 0, "an EV that is there twice");
  refused(set_evs_online(MRC_CTL_PROFILE_ONLINE), EINVAL, "an EV twice");
  wrong.ev = wrong.ev_new;
  wrong.ev_new = evs[0].ev_new;
  check(on_evs(MRC_CTL_EV_OP_REPLACE_EV, &wrong, 1) == 0, "the first EV again");
  check(set_evs_online(MRC_CTL_PROFILE_ONLINE) == 0, "an EXPLICIT profile ONLINE");
  refused(on_evs(MRC_CTL_EV_OP_REPLACE_EV, &wrong, 1), EINVAL, "another EV while ONLINE");
  int found = 0;
  struct mrc_ctl_ev_op_entry* used = read_evs(&found);
  check(found == count, "the number of EVs given");
  int denied = 0;
  for (int i = 0; i < count; ++i) {
    check(value_of(&used[i].ev) == 0xABC00000U + (unsigned)i && used[i].ev.port == evs[i].ev_new.port,
          "an EV as given");
    denied += used[i].state == MRC_CTL_EV_DENIED;
  }
  printf("%d EVs are in use, %d DENIED\n", count, denied);
  free(used);
  free(evs);
}

/* ---- changes while others send */

static void set_state(struct mrc_ctl_ev_op_entry* evs, int count, enum mrc_ctl_ev_state state) {
  for (int i = 0; i < count; ++i) evs[i].state = state;
  check(on_evs(MRC_CTL_EV_OP_MODIFY_EV_STATE, evs, count) == 0, "states of EVs that are set");
  const double at = now_us();
  check_states(evs, count, state, "states of EVs as they were set");
  printf("%d EVs, first %08x of port %d, are %s at %.3f us\n", count, value_of(&evs[0].ev), evs[0].ev.port,
         state == MRC_CTL_EV_DENIED ? "DENIED" : "GOOD", at);
}

static void deny(int first, int us, int ev, int port) {
  int count = 0;
  struct mrc_ctl_ev_op_entry* evs = read_evs(&count);
  int chosen = 0;
  for (int i = 0; i < count; ++i) {
    if (port > 0 ? evs[i].ev.port == port : i == ev) evs[chosen++] = evs[i];
  }
  sleep_until(first);
  set_state(evs, chosen, MRC_CTL_EV_DENIED);
  usleep((useconds_t)us);
  if (us > 0) set_state(evs, chosen, MRC_CTL_EV_GOOD);
  free(evs);
}

static void window(int first, unsigned bytes) {
  sleep_until(first);
  struct mrc_ctl_cc_nscc_cfg nscc = *read_congestion();
  nscc.max_cwnd = bytes;
  check(set_congestion(&nscc) == 0, "a window");
  printf("set at %.3f us: ", now_us());
  check(read_congestion()->max_cwnd == bytes, "the window as it was set");
}

static void offline(int first) {
  sleep_until(first);
  const int result = set_evs_online(MRC_CTL_PROFILE_OFFLINE);
  printf("OFFLINE: %s\n", result == 0 ? "done" : errno == EBUSY ? "busy" : "?");
}

/* ---- events */

static void print_events(struct mrc_cq* cq, double until) {
  while (now_us() < until) {
    struct mrc_ctl_ev_event events[4];
    const int count = mrc_ctl_poll_ev_event(cq, 4, events);
    check(count >= 0, "mrc_ctl_poll_ev_event");
    for (int i = 0; i < count; ++i) {
      printf("event: EV %08x, port %d, %s, %u dropped, at %.3f us\n", value_of(&events[i].ev), events[i].ev.port,
             events[i].state == MRC_CTL_EV_ASSUMED_BAD ? "ASSUMED_BAD" : "GOOD", events[i].drop_count, now_us());
    }
  }
}

static void watch(int first, int us, int by_channel) {
  sleep_until(first);
  struct mrc_comp_channel* channel = NULL;
  check(mrc_create_comp_channel(context, &channel) == 0, "mrc_create_comp_channel");
  struct mrc_cq* cq = mrc_ctl_create_ev_event_cq(context, by_channel ? 1 : 128, &channel, channel, 0);
  check(cq != NULL, "mrc_ctl_create_ev_event_cq");
  struct ibv_wc completion;
  check(mrc_poll_cq(cq, 1, &completion) < 0, "completions of a queue for events");
  struct mrc_ctl_ev_profile_attr profile = {.ev_event_mask = MRC_CTL_EV_GOOD | MRC_CTL_EV_ASSUMED_BAD};
  check(mrc_ctl_modify_ev_profile(context, 0, &profile, MRC_CTL_EV_PROFILE_EVENT_MASK) == 0, "a mask of events");
  if (by_channel) {
    check(mrc_req_notify_cq(cq, 0) == 0, "mrc_req_notify_cq");
    struct mrc_cq* of_event = NULL;
    void* of_program = NULL;
    check(mrc_get_cq_event(channel, &of_event, &of_program) == 0, "mrc_get_cq_event");
    check(of_event == cq && of_program == &channel, "the queue of the event");
    printf("channel: an event at %.3f us\n", now_us());
    mrc_ack_cq_events(cq, 1);
    usleep(500);
  }
  print_events(cq, now_us() + us);
  check(mrc_destroy_cq(cq) == 0 && mrc_destroy_comp_channel(channel) == 0, "the end of the queue");
}

/* ---- probes */

static void make_probe(struct mrc_ctl_ep_req* request, const struct mrc_ctl_ev* ev, int node) {
  *request = (struct mrc_ctl_ep_req){.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_STEV, .req_ev = *ev};
  request->req_id = (uint16_t)(1000 + ev->port);
  check(ibv_query_gid(verbs, 1, 3, &request->sgid) == 0, "ibv_query_gid");
  request->dgid = request->sgid;
  request->dgid.raw[14] = (uint8_t)(node >> 8);
  request->dgid.raw[15] = (uint8_t)node;
}

static int probe(struct mrc_ctl_ep_req* requests, int count, unsigned timeout_ns, struct mrc_ctl_ep_rsp* to, int* got) {
  return mrc_ctl_ep_batch_send_wait(context, 0, MRC_CTL_EP_OP_EV_PROBE, requests, count, timeout_ns, to, got);
}

static void probe_node(int first, int node) {
  sleep_until(first);
  int count = 0;
  struct mrc_ctl_ev_op_entry* evs = read_evs(&count);
  struct mrc_ctl_ep_req requests[32];
  struct mrc_ctl_ep_rsp responses[32];
  int ports = 0;
  /* The first EVs are one of each port. */
  for (; ports < 32 && evs[ports].ev.port == ports + 1; ++ports) make_probe(&requests[ports], &evs[ports].ev, node);
  int got = 0;
  const double begun = now_us();
  const int result = probe(requests, ports, 2000000, responses, &got);
  printf("%d of %d probes, errno %d, %.3f us\n", got, ports, result == 0 ? 0 : errno, now_us() - begun);
  for (int i = 0; i < got; ++i) {
    printf("probe %d, port %d, %u ns, adjusted %d\n", responses[i].req_id, responses[i].port, responses[i].rtt,
           responses[i].adj_svc_time);
  }
  refused(probe(requests, 1, 10, responses, &got), ETIMEDOUT, "a probe that has no time");
  check(got == 0, "no answer in no time");
  struct mrc_ctl_ep_req wrong = requests[0];
  wrong.dgid.raw[14] = 0x7F;
  refused(probe(&wrong, 1, 1000, responses, &got), EINVAL, "an unknown node");
  wrong = requests[0];
  wrong.dgid = wrong.sgid;
  refused(probe(&wrong, 1, 1000, responses, &got), EINVAL, "the node itself");
  wrong = requests[0];
  wrong.req_ev.port = 200;
  refused(probe(&wrong, 1, 1000, responses, &got), EINVAL, "an unknown port");
  wrong = requests[0];
  wrong.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_SRV6;
  refused(probe(&wrong, 1, 1000, responses, &got), EINVAL, "another format");
  refused(mrc_ctl_ep_batch_send_wait(context, 0, MRC_CTL_EP_OP_PORT_STATUS_UPDATE, requests, 1, 1000, responses, &got),
          EOPNOTSUPP, "states of ports");
  /* More than the NIC has room for at a time, on one port. */
  struct mrc_ctl_ep_req many[200];
  struct mrc_ctl_ep_rsp answers[200];
  for (int i = 0; i < 200; ++i) {
    many[i] = requests[0];
    many[i].req_id = (uint16_t)i;
  }
  if (result == 0) check(probe(many, 200, 2000000, answers, &got) == 0 && got == 200, "many probes");
  free(evs);
}

static int number(int words, char** word, int place) {
  return place < words ? atoi(word[place]) : 0;
}

int main(int words, char** word) {
  const char* what = words > 1 ? word[1] : "";
  struct ibv_device** devices = ibv_get_device_list(NULL);
  verbs = devices && devices[0] ? ibv_open_device(devices[0]) : NULL;
  check(verbs != NULL, "ibv_open_device");
  context = mrc_create_context(verbs, &(struct mrc_context_attr){.mrc_api_version_used = MRC_API_CURRENT_VERSION});
  check(context != NULL, "mrc_create_context");
  if (strcmp(what, "read") == 0) read_all(number(words, word, 2), number(words, word, 3));
  if (strcmp(what, "changes") == 0) {
    change_ev_profile();
    change_evs();
    change_congestion();
    printf("changes are right\n");
  }
  const int by_port = words > 5 && strcmp(word[4], "port") == 0;
  if (strcmp(what, "deny") == 0)
    deny(number(words, word, 2), number(words, word, 3), number(words, word, 4), by_port ? atoi(word[5]) : 0);
  if (strcmp(what, "explicit") == 0) use_explicit(number(words, word, 2), number(words, word, 3));
  if (strcmp(what, "window") == 0) window(number(words, word, 2), (unsigned)number(words, word, 3));
  if (strcmp(what, "offline") == 0) offline(number(words, word, 2));
  if (strcmp(what, "events") == 0) watch(number(words, word, 2), number(words, word, 3), words > 4);
  if (strcmp(what, "probe") == 0) probe_node(number(words, word, 2), number(words, word, 3));
  check(mrc_destroy_context(context) == 0, "mrc_destroy_context");
  return 0;
}
