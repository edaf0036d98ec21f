// What a controller may ask of a node, and change: its profile of EVs with their states, and its congestion control
// (OCP's mrc_ctl.h, by verbs/libmrc.cpp).
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "fabric/topology.h"
#include "mrc/control/congestion_registry.h"
#include "parameters/registry.h"
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

std::vector<EvInfo> VerbsNode::all_evs() const {
  std::vector<EvInfo> all;
  while (all.size() < host_->ev_profile().value.size()) {
    const std::vector<EvInfo> some = evs(static_cast<std::uint32_t>(all.size()));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

ProfileInfo VerbsNode::profiles() const {
  const ProtocolConfig& protocol = host_->scenario().protocol;
  const CongestionConfig config = derive_nscc(host_->congestion(), protocol);
  ProfileInfo info;
  info.evs = static_cast<std::uint32_t>(ev_array_.empty() ? host_->ev_profile().value.size() : ev_array_.size());
  info.most_evs = protocol.ev_count;
  info.least_active_evs = host_->least_active_evs();
  info.ports = host_->config().nic.ports;
  info.evs_state = evs_state_;
  info.evs_explicit = evs_explicit_ ? 1 : 0;
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
    const PathTable* table = host_->path_table(numbered.second.index);
    return table != nullptr && table->state(ev) == EvState::assumed_bad;
  });
}

std::vector<EvInfo> VerbsNode::evs(std::uint32_t first) const {
  if (!ev_array_.empty()) {
    const std::size_t end = std::min(ev_array_.size(), first + kMostEvsOfReply);
    if (first >= end) return {};
    return {ev_array_.begin() + first, ev_array_.begin() + static_cast<std::ptrdiff_t>(end)};
  }
  const EvProfile& profile = host_->ev_profile();
  const std::size_t end = std::min(profile.value.size(), first + kMostEvsOfReply);
  std::vector<EvInfo> found;
  for (std::size_t i = first; i < end; ++i) {
    const auto ev = static_cast<EvIndex>(i);
    const bool denied = host_->is_denied(ev);
    found.push_back({profile.value[i], profile.plane[i], 0, static_cast<std::uint8_t>(denied ? 1 : 0), 0});
  }
  for (const auto& [number, object] : qps_) {
    const PathTable* table = host_->path_table(object.index);
    if (table == nullptr) continue;
    for (std::size_t i = first; i < end; ++i) {
      if (table->state(static_cast<EvIndex>(i)) == EvState::assumed_bad) found[i - first].assumed_bad = 1;
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
    int error = 0;
    if (!ev_array_.empty()) {
      error = replace_ev({.old_value = setting.value,
                          .value = setting.value,
                          .old_port = setting.port,
                          .port = setting.port,
                          .state = setting.state});
    } else {
      const auto place = std::ranges::find(profile.value, setting.value) - profile.value.begin();
      const auto ev = static_cast<std::size_t>(place);
      const bool known = ev < profile.value.size() && profile.plane[ev] == setting.port;
      error = known ? set_ev(now, static_cast<EvIndex>(ev), setting.state) : ENOENT;
    }
    if (error != 0) return {.error = error, .count = i};
  }
  return {.count = wanted.count};
}

// ---- EVs that a controller gives

bool VerbsNode::leads_through(Ev value, std::uint32_t port) const {
  // With fields the EV says which port it is for.
  const EvLayout& layout = host_->scenario().protocol.ev_layout;
  return layout.kind == EvLayoutKind::modulo || layout.ev_for(value, port, layout.uplink().of(value), 1) == value;
}

int VerbsNode::replace_ev(const EvReplacement& wanted) {
  if (wanted.state != kEvGood && wanted.state != kEvDenied) return EINVAL;
  if (wanted.port >= host_->config().nic.ports) return EINVAL;
  if (!leads_through(wanted.value, wanted.port)) {
    return refused(EINVAL,
                   fmt::format("EV {:#x} is not for port {}, by protocol.ev_layout", wanted.value, wanted.port + 1))
        .error;
  }
  bool found = false;
  for (EvInfo& ev : ev_array_) {
    if (ev.value != wanted.old_value || ev.port != wanted.old_port) continue;
    const bool denied = wanted.state == kEvDenied;
    ev = {wanted.value, wanted.port, 0, static_cast<std::uint8_t>(denied ? 1 : 0), 0};
    found = true;
    if (wanted.all == 0) break;
  }
  evs_changed_ |= found;
  return found ? 0 : ENOENT;
}

VerbsAnswer VerbsNode::replace_evs(const ReplaceEvs& wanted, std::span<const std::byte> tail) {
  if (ev_array_.empty()) return refused(EINVAL, "EVs are replaced in an EXPLICIT profile that is OFFLINE");
  for (std::uint32_t i = 0; i < wanted.count; ++i) {
    EvReplacement one;
    std::memcpy(static_cast<void*>(&one), tail.data() + i * sizeof one, sizeof one);
    if (const int error = replace_ev(one)) return {.error = error, .count = i};
  }
  return {.count = wanted.count};
}

int VerbsNode::use_explicit_evs() {
  EvFormat format{.kind = EvKind::stev, .fields = {{.width_bits = 32, .init_value = 0, .set_mask = 0xFFFF'FFFF}}};
  std::vector<ExplicitEv> given;
  std::set<Ev> denied_values;
  for (const EvInfo& ev : ev_array_) {
    if (ev.port == kNoPort) return refused(EINVAL, "the EV profile goes ONLINE with an EV that is not given").error;
    WideEv value;
    value.append(ev.value, 32);
    given.push_back({value, ev.port + 1U});
    if (ev.denied != 0) denied_values.insert(ev.value);
  }
  if (denied_values.size() == given.size()) return refused(EINVAL, "all EVs of the profile are DENIED").error;
  EvProfile profile;
  try {
    profile = make_explicit_profile(given, format, host_->config().nic.ports,
                                    {.ev_max_count_profile = host_->scenario().protocol.ev_count});
  } catch (const EvProfileError& error) {
    return refused(EINVAL, error.what()).error;
  }
  if (host_->least_active_evs() > profile.value.size()) {
    return refused(EINVAL,
                   fmt::format("{} EVs at least active, of {}", host_->least_active_evs(), profile.value.size()))
        .error;
  }
  std::set<EvIndex> denied;
  for (std::size_t i = 0; i < profile.value.size(); ++i) {
    if (denied_values.contains(profile.value[i])) denied.insert(static_cast<EvIndex>(i));
  }
  host_->set_ev_profile(profile, denied);
  return 0;
}

void VerbsNode::set_ev_mode(std::uint32_t explicit_evs) {
  evs_explicit_ = explicit_evs > 0;
  evs_changed_ = true;
  ev_array_.assign(explicit_evs, {0, kNoPort, 0, 0, 0});
}

int VerbsNode::set_ev_state(std::uint32_t state) {
  if (state == kOnline && evs_state_ != kOnline) {
    if (evs_changed_ && evs_explicit_) {
      if (const int error = use_explicit_evs()) return error;
    } else if (evs_changed_) {
      host_->set_ev_profile(ev_profile_of(host_->scenario(), host_->node()), {});
    }
    if (evs_changed_) told_bad_.clear();
    evs_changed_ = false;
    ev_array_.clear();
  }
  if (state == kOffline && evs_state_ == kOnline && evs_explicit_) ev_array_ = all_evs();
  if (state == kInitial) ev_array_.clear();
  evs_state_ = state;
  return 0;
}

VerbsAnswer VerbsNode::set_ev_profile(const SetEvProfile& wanted) {
  const std::uint32_t changes = wanted.changes;
  const std::uint32_t state = has(changes, kChangeState) ? wanted.state : evs_state_;
  if (has(changes, ~(kChangeState | kChangeEventMask | kChangeLeastActive | kChangeMode)) || state > kOnline)
    return {.error = EINVAL};
  if (has(changes, kChangeEventMask) && (wanted.event_mask & ~(kEvGood | kEvAssumedBad)) != 0) return {.error = EINVAL};
  const std::uint32_t step = state > evs_state_ ? state - evs_state_ : evs_state_ - state;
  if (step > 1) return refused(EINVAL, "the EV profile goes from INIT to OFFLINE to ONLINE, and back");
  if (evs_state_ == kOnline && state == kOffline && has_connected_qp())
    return refused(EBUSY, "the EV profile goes OFFLINE while QPs are connected");
  const bool changes_evs = has(changes, kChangeLeastActive | kChangeMode);
  if (changes_evs && host_->has_fixed_evs())
    return refused(EOPNOTSUPP,
                   "RTL of spray_scheduler has the EVs of the scenario; EVs of a controller need a run without it");
  if (changes_evs && evs_state_ == kOnline && state == kOnline)
    return refused(EINVAL, "mode, number and least number of active EVs are changed while the EV profile is ONLINE");
  if (evs_state_ == kInitial && state == kOffline && !has(changes, kChangeMode))
    return refused(EINVAL, "the EV profile goes OFFLINE without a mode");
  const ProtocolConfig& protocol = host_->scenario().protocol;
  if (has(changes, kChangeMode) && wanted.explicit_evs > protocol.ev_count)
    return refused(EINVAL, fmt::format("{} EVs: expected at most protocol.ev_count = {}, for which the NIC has memory",
                                       wanted.explicit_evs, protocol.ev_count));
  if (has(changes, kChangeLeastActive) && (wanted.least_active == 0 || wanted.least_active > protocol.ev_active))
    return refused(EINVAL, fmt::format("{} EVs at least active: expected 1 to protocol.ev_active = {}",
                                       wanted.least_active, protocol.ev_active));
  if (has(changes, kChangeLeastActive)) host_->set_least_active_evs(wanted.least_active);
  if (has(changes, kChangeEventMask)) event_mask_ = wanted.event_mask;
  if (evs_state_ == kOnline && state == kOffline) set_ev_state(kOffline);
  if (has(changes, kChangeMode)) set_ev_mode(wanted.explicit_evs);
  return {.error = set_ev_state(state)};
}

std::string VerbsNode::fault_of(const CongestionConfig& config) const {
  ScenarioConfig scenario = host_->scenario();
  scenario.cc = config;
  for (const Parameter& parameter : parameters()) {
    if (!parameter.name.starts_with("cc.")) continue;
    try {
      checked_value(parameter, parameter.get(scenario, host_->config()), "constants of congestion control");
    } catch (const ParameterError& error) {
      return error.what();
    }
  }
  const CongestionConfig derived = derive_nscc(config, scenario.protocol);
  if (config.base_rtt_ps == 0) return "constants of congestion control: base_rtt is 0";
  if (derived.max_cwnd_bytes >= derived.min_cwnd_bytes) return {};
  return fmt::format(
      "constants of congestion control: max_cwnd is {} bytes, smaller than the smallest window, {} bytes",
      derived.max_cwnd_bytes, derived.min_cwnd_bytes);
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
