/* What a controller reads by OCP's mrc_ctl.h: the device, its EV profile and its congestion control, and then EVs until
 * one is ASSUMED_BAD, for MICROSECONDS at most: mrc_control_check MICROSECONDS [FIRST], where it sleeps FIRST
 * microseconds before. Built against the user's copy of the headers. */
#include <errno.h>
#include <mrc.h>
#include <mrc_ctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(int good, const char* what) {
  if (good) return;
  printf("wrong: %s (errno %d)\n", what, errno);
  exit(1);
}

static struct mrc_context* context;

/* The EVs of the profile, as many as it has. */
static struct mrc_ctl_ev_op_entry* read_evs(int* count) {
  struct mrc_ctl_ev_profile_attr attributes = {0};
  attributes.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY;
  check(mrc_ctl_query_ev_profile(context, 0, &attributes, MRC_CTL_EV_PROFILE_EV_OP) == -1 && errno == E2BIG,
        "an array that is too short");
  *count = attributes.ev_op.entry_count;
  attributes.ev_op.entries = calloc((size_t)*count, sizeof *attributes.ev_op.entries);
  check(mrc_ctl_query_ev_profile(context, 0, &attributes, MRC_CTL_EV_PROFILE_EV_OP) == 0, "the array of EVs");
  return attributes.ev_op.entries;
}

static void check_states(struct mrc_ctl_ev_op_entry* evs, int count) {
  struct mrc_ctl_ev_profile_attr attributes = {0};
  attributes.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_STATE;
  attributes.ev_op.entries = evs;
  attributes.ev_op.entry_count = count;
  check(mrc_ctl_query_ev_profile(context, 0, &attributes, MRC_CTL_EV_PROFILE_EV_OP) == 0, "states of EVs");
  for (int i = 0; i < count; ++i) check(evs[i].state == MRC_CTL_EV_GOOD, "an EV that is GOOD at the begin");
  struct mrc_ctl_ev_op_entry unknown = evs[0];
  unknown.ev.port = 200;
  attributes.ev_op.entries = &unknown;
  attributes.ev_op.entry_count = 1;
  check(mrc_ctl_query_ev_profile(context, 0, &attributes, MRC_CTL_EV_PROFILE_EV_OP) == -1 && errno == ENOENT,
        "an unknown EV");
}

static void wait_for_bad(int us) {
  for (int waited = 0; waited < us; waited += 20) {
    int count = 0;
    struct mrc_ctl_ev_op_entry* evs = read_evs(&count);
    for (int i = 0; i < count; ++i) {
      if (evs[i].state != MRC_CTL_EV_ASSUMED_BAD) continue;
      unsigned value = 0;
      memcpy(&value, evs[i].ev.val, sizeof value);
      printf("EV %d, port %d, is ASSUMED_BAD\n", i, evs[i].ev.port);
      free(evs);
      return;
    }
    free(evs);
    usleep(20);
  }
  printf("all EVs are GOOD\n");
}

int main(int words, char** word) {
  struct ibv_device** devices = ibv_get_device_list(NULL);
  struct ibv_context* verbs = devices && devices[0] ? ibv_open_device(devices[0]) : NULL;
  check(verbs != NULL, "ibv_open_device");
  context = mrc_create_context(verbs, &(struct mrc_context_attr){.mrc_api_version_used = MRC_API_CURRENT_VERSION});
  check(context != NULL, "mrc_create_context");
  struct mrc_ctl_device_attr device;
  check(mrc_ctl_query_device(verbs, &device) == 0, "mrc_ctl_query_device");
  printf("%u EVs, ports %x, %s\n", device.ev.ev_max_count_profile, device.phy_port_mask,
         device.cc.algorithms[0] ? device.cc.algorithms[0] : "none");
  struct mrc_ctl_cc_profile_attr cc = {0};
  check(mrc_ctl_query_cc_profile(
            context, 0, &cc, MRC_CTL_CC_PROFILE_CUR_STATE | MRC_CTL_CC_PROFILE_ALGORITHM | MRC_CTL_CC_PROFILE_CONFIG) ==
            0,
        "mrc_ctl_query_cc_profile");
  check(cc.cur_profile_state == MRC_CTL_PROFILE_ONLINE, "the state of congestion control");
  const struct mrc_ctl_cc_nscc_cfg* nscc = cc.cc_config;
  if (nscc != NULL) printf("base RTT %u ns, gamma %.2f, window %u\n", nscc->base_rtt, nscc->gamma, nscc->max_cwnd);
  check(mrc_ctl_query_cc_profile(context, 1, &cc, MRC_CTL_CC_PROFILE_STATE) == -1 && errno == EINVAL,
        "an unknown profile");
  check(mrc_ctl_modify_cc_profile(context, 0, &cc, MRC_CTL_CC_PROFILE_STATE) == -1 && errno == EOPNOTSUPP,
        "a change of congestion control");
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
  check_states(evs, count);
  free(evs);
  if (words > 2) usleep((useconds_t)atoi(word[2]));
  wait_for_bad(words > 1 ? atoi(word[1]) : 0);
  return 0;
}
