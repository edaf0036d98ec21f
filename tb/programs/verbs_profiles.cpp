// What a controller may ask of a node, and change: its profile of EVs with their states, and its congestion control
// (OCP's mrc_ctl.h, by verbs/libmrc.cpp).
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "mrc/control/congestion_registry.h"
#include "programs/verbs_node.h"

namespace mrc {

using namespace verbs;

namespace {

/// Widths of the fields of an EV, highest bits first; bits between fields are fields too.
std::vector<std::uint32_t> field_bits_of(const EvLayout& layout) {
  std::vector<EvBits> known;
  if (layout.kind == EvLayoutKind::fields) {
    known = {layout.port(), layout.destination_plane(), layout.uplink(), layout.t1_plane(), layout.source_plane()};
  }
  std::erase_if(known, [](const EvBits& bits) { return bits.count == 0; });
  std::ranges::sort(known, {}, [](const EvBits& bits) { return ~bits.first; });
  std::vector<std::uint32_t> widths;
  std::uint32_t left = 32;
  for (const EvBits& bits : known) {
    const std::uint32_t end = bits.first + bits.count;
    if (end < left) widths.push_back(left - end);
    widths.push_back(bits.count);
    left = bits.first;
  }
  if (left > 0) widths.push_back(left);
  return widths;
}

CongestionConstants constants_of(const CongestionConfig& config) {
  const auto ns = [](TimePs ps) { return static_cast<std::uint32_t>(ps / kPsPerNs); };
  CongestionConstants to;
  to.disable_quick_adapt = config.disable_quick_adapt ? 1 : 0;
  to.adjust_bytes_threshold = config.adjust_bytes_threshold;
  to.adjust_period_ns = ns(config.adjust_period_ps);
  to.base_rtt_ns = ns(config.base_rtt_ps);
  to.max_cwnd_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(config.max_cwnd_bytes, ~std::uint32_t{0}));
  to.qa_gate = config.qa_gate;
  to.qa_threshold_ns = ns(config.qa_threshold_ps);
  to.target_delay_ns = ns(config.target_delay_ps);
  to.eta_bytes = static_cast<float>(config.eta_bytes);
  to.fi_bytes = static_cast<float>(config.fi_bytes);
  to.fi_scale = static_cast<float>(config.fi_scale);
  to.gamma = static_cast<float>(config.gamma);
  to.max_md_jump = static_cast<float>(config.max_md_jump);
  return to;
}

void set_constants(CongestionConfig& to, const CongestionConstants& from) {
  to.disable_quick_adapt = from.disable_quick_adapt != 0;
  to.adjust_bytes_threshold = from.adjust_bytes_threshold;
  to.adjust_period_ps = from.adjust_period_ns * kPsPerNs;
  to.base_rtt_ps = from.base_rtt_ns * kPsPerNs;
  to.max_cwnd_bytes = from.max_cwnd_bytes;
  to.qa_gate = from.qa_gate;
  to.qa_threshold_ps = from.qa_threshold_ns * kPsPerNs;
  to.target_delay_ps = from.target_delay_ns * kPsPerNs;
  to.eta_bytes = from.eta_bytes;
  to.fi_bytes = from.fi_bytes;
  to.fi_scale = from.fi_scale;
  to.gamma = from.gamma;
  to.max_md_jump = from.max_md_jump;
}

bool has(std::uint32_t changes, std::uint32_t change) {
  return (changes & change) != 0;
}

}  // namespace

ProfileInfo VerbsNode::profiles() const {
  const ProtocolConfig& protocol = host_->scenario().protocol;
  const CongestionConfig config = derive_nscc(host_->congestion(), protocol);
  ProfileInfo info;
  info.evs = static_cast<std::uint32_t>(host_->ev_profile().value.size());
  info.least_active_evs = host_->least_active_evs();
  info.ports = host_->config().nic.ports;
  info.evs_online = evs_online_ ? 1 : 0;
  info.event_mask = event_mask_;
  info.congestion_online = congestion_online_ ? 1 : 0;
  for (const std::uint32_t bits : field_bits_of(protocol.ev_layout)) {
    info.field_bits[info.format_fields++] = static_cast<std::uint8_t>(bits);
  }
  config.algorithm.copy(info.algorithm, sizeof info.algorithm - 1);
  info.constants = constants_of(config);
  return info;
}

bool VerbsNode::is_bad(EvIndex ev) const {
  if (host_->is_denied(ev)) return false;
  return std::any_of(qps_.begin(), qps_.end(), [&](const auto& numbered) {
    const NicPathTable* paths = host_->qp(numbered.second.index).paths;
    return paths != nullptr && paths->table().state(ev) == EvState::assumed_bad;
  });
}

std::vector<EvInfo> VerbsNode::evs(std::uint32_t first) const {
  const EvProfile& profile = host_->ev_profile();
  const std::size_t end = std::min(profile.value.size(), first + kMostEvsOfReply);
  std::vector<EvInfo> found;
  for (std::size_t i = first; i < end; ++i) {
    const auto ev = static_cast<EvIndex>(i);
    const bool denied = host_->is_denied(ev);
    found.push_back({profile.value[i], profile.plane[i], 0, static_cast<std::uint8_t>(denied ? 1 : 0), 0});
  }
  for (const auto& [number, object] : qps_) {
    const NicPathTable* paths = host_->qp(object.index).paths;
    if (paths == nullptr) continue;
    for (std::size_t i = first; i < end; ++i) {
      if (paths->table().state(static_cast<EvIndex>(i)) == EvState::assumed_bad) found[i - first].assumed_bad = 1;
    }
  }
  return found;
}

VerbsAnswer VerbsNode::refused(int error, const std::string& why) const {
  fmt::print(stderr, "mrcsim: nic{}: {}\n", host_->node(), why);
  return {.error = error};
}

bool VerbsNode::has_connected_qp() const {
  return std::any_of(qps_.begin(), qps_.end(), [](const auto& numbered) {
    return numbered.second.state == kRtr || numbered.second.state == kRts;
  });
}

int VerbsNode::set_ev(TimePs now, EvIndex ev, std::uint32_t state) {
  if (state == kEvDenied) {
    if (host_->is_denied(ev)) return 0;
    if (host_->denied() + 1 == host_->ev_profile().value.size()) {
      return refused(EINVAL, "the last EV that is not DENIED is denied: no packet would have a path").error;
    }
    host_->deny(ev);
    told_bad_.erase(ev);
    return 0;
  }
  if (state != kEvGood) return EINVAL;
  if (host_->is_denied(ev)) {
    host_->allow(now, ev);
    return 0;
  }
  if (!is_bad(ev)) return 0;
  return refused(EINVAL, fmt::format("EV {:#x} is ASSUMED_BAD and not DENIED: the NIC's probes make it GOOD",
                                     host_->ev_profile().value[ev]))
      .error;
}

VerbsAnswer VerbsNode::set_evs(TimePs now, const SetEvs& wanted, std::span<const std::byte> tail) {
  const EvProfile& profile = host_->ev_profile();
  for (std::uint32_t i = 0; i < wanted.count; ++i) {
    EvSetting setting;
    std::memcpy(static_cast<void*>(&setting), tail.data() + i * sizeof setting, sizeof setting);
    const auto place = std::ranges::find(profile.value, setting.value) - profile.value.begin();
    const auto ev = static_cast<std::size_t>(place);
    const bool known = ev < profile.value.size() && profile.plane[ev] == setting.port;
    const int error = known ? set_ev(now, static_cast<EvIndex>(ev), setting.state) : ENOENT;
    if (error != 0) return {.error = error, .count = i};
  }
  return {.count = wanted.count};
}

VerbsAnswer VerbsNode::set_ev_profile(const SetEvProfile& wanted) {
  const std::uint32_t changes = wanted.changes;
  if (has(changes, ~(kChangeOnline | kChangeEventMask | kChangeLeastActive))) return {.error = EINVAL};
  const bool goes_offline = has(changes, kChangeOnline) && wanted.online == 0;
  if (goes_offline && has_connected_qp()) return refused(EBUSY, "the EV profile goes OFFLINE while QPs are connected");
  if (has(changes, kChangeEventMask) && (wanted.event_mask & ~(kEvGood | kEvAssumedBad)) != 0) return {.error = EINVAL};
  if (has(changes, kChangeLeastActive)) {
    if (evs_online_ && !goes_offline)
      return refused(EINVAL, "the least number of active EVs is changed while the EV profile is ONLINE");
    const std::uint32_t most = host_->scenario().protocol.ev_active;
    if (wanted.least_active == 0 || wanted.least_active > most)
      return refused(EINVAL, fmt::format("{} EVs at least active: expected 1 to protocol.ev_active = {}",
                                         wanted.least_active, most));
    host_->set_least_active_evs(wanted.least_active);
  }
  if (has(changes, kChangeEventMask)) event_mask_ = wanted.event_mask;
  if (has(changes, kChangeOnline)) evs_online_ = wanted.online != 0;
  return {};
}

std::string VerbsNode::fault_of(const CongestionConfig& config) const {
  // As in parameters/congestion_parameters.cpp; a program's numbers may also be none.
  constexpr double most_bytes = 1 << 30;
  constexpr double most_ps = 1e12;
  struct Range {
    const char* name;
    double value;
    double least;
    double most;
  };
  const auto number = [](auto value) { return static_cast<double>(value); };
  const CongestionConfig derived = derive_nscc(config, host_->scenario().protocol);
  const Range ranges[] = {{"adjust_bytes_threshold", number(config.adjust_bytes_threshold), 0, most_bytes},
                          {"adjust_period_threshold", number(config.adjust_period_ps), 0, most_ps},
                          {"base_rtt", number(config.base_rtt_ps), number(kPsPerNs), most_ps},
                          {"eta", config.eta_bytes, 0, most_bytes},
                          {"fi", config.fi_bytes, 0, most_bytes},
                          {"fi_scale", config.fi_scale, 0, 1e6},
                          {"gamma", config.gamma, 0, 10},
                          {"max_md_jump", config.max_md_jump, 0, 1},
                          {"max_cwnd", number(derived.max_cwnd_bytes), number(derived.min_cwnd_bytes), most_bytes},
                          {"qa_gate", number(config.qa_gate), 0, 31},
                          {"qa_threshold", number(config.qa_threshold_ps), 0, most_ps},
                          {"target_delay", number(config.target_delay_ps), 0, most_ps}};
  for (const Range& range : ranges) {
    if (range.value >= range.least && range.value <= range.most) continue;
    return fmt::format("{} of congestion control is {}: expected {} to {}", range.name, range.value, range.least,
                       range.most);
  }
  return {};
}

VerbsAnswer VerbsNode::set_congestion(const SetCongestion& wanted) {
  const std::uint32_t changes = wanted.changes;
  if (has(changes, ~(kChangeOnline | kChangeAlgorithm | kChangeConstants))) return {.error = EINVAL};
  const bool goes_offline = has(changes, kChangeOnline) && wanted.online == 0;
  if (goes_offline && has_connected_qp())
    return refused(EBUSY, "the profile of congestion control goes OFFLINE while QPs are connected");
  CongestionConfig config = host_->congestion();
  if (has(changes, kChangeAlgorithm)) {
    if (congestion_online_ && !goes_offline)
      return refused(EINVAL, "the algorithm is changed while the profile of congestion control is ONLINE");
    config.algorithm = std::string(wanted.algorithm, strnlen(wanted.algorithm, sizeof wanted.algorithm));
    if (!congestion_factories().contains(config.algorithm)) return {.error = EINVAL};
  }
  if (has(changes, kChangeConstants)) {
    if (config.algorithm == "none") return refused(EINVAL, "constants of congestion control without an algorithm");
    set_constants(config, wanted.constants);
    if (const std::string fault = fault_of(config); !fault.empty()) return refused(EINVAL, fault);
  }
  const bool changed = has(changes, kChangeAlgorithm | kChangeConstants);
  if (changed) host_->set_congestion(config, has(changes, kChangeAlgorithm));
  if (has(changes, kChangeOnline)) congestion_online_ = wanted.online != 0;
  return {};
}

}  // namespace mrc
