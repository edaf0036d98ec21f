// What mrc_dpi_pkg.sv imports: ring 1 behind C functions. Nothing throws through them: a table that cannot be made is
// null, an EV that a table does not have changes nothing and reads as 0.
#include <cstdint>
#include <exception>
#include <memory>
#include <span>

#include "mrc/control/path_table.h"
#include "mrc/tx/srv6_encap.h"
#include "mrc/wire/icrc.h"

extern "C" {
// Of the simulator, as IEEE 1800 declares them in svdpi.h. Without a simulator they are not there and not called.
typedef std::uint32_t svBitVecVal;
typedef void* svOpenArrayHandle;
__attribute__((weak)) int svSize(const svOpenArrayHandle array, int dimension);
__attribute__((weak)) void* svGetArrayPtr(const svOpenArrayHandle array);
}

namespace {

/// A path table and what it refers to.
struct DpiPathTable {
  mrc::ProtocolConfig config;
  std::unique_ptr<mrc::PathTable> table;
};

mrc::PathTable& table_of(void* handle) {
  return *static_cast<DpiPathTable*>(handle)->table;
}
bool has(void* handle, unsigned ev) {
  return handle != nullptr && ev < table_of(handle).size();
}

}  // namespace

extern "C" {

void mrc_outer_ipv6_header(unsigned locator, std::uint16_t usid0, std::uint16_t usid1, std::uint16_t usid2,
                           std::uint16_t usid3, std::uint16_t usid4, std::uint16_t usid5, unsigned count,
                           unsigned uplink_position, unsigned plane, unsigned uplink, std::uint64_t source_high,
                           std::uint64_t source_low, unsigned flow_label, unsigned payload_length, unsigned hop_limit,
                           unsigned dscp, unsigned ecn, svBitVecVal* header) {
  mrc::Srv6EncapInput in;
  in.path.locator = locator;
  in.path.usid = {usid0, usid1, usid2, usid3, usid4, usid5};
  in.path.count = static_cast<std::uint8_t>(count > mrc::kMostUsids ? mrc::kMostUsids : count);
  in.path.uplink_position =
      uplink_position < mrc::kMostUsids ? static_cast<std::uint8_t>(uplink_position) : mrc::UsidTemplate::kNoUplink;
  in.plane = static_cast<std::uint8_t>(plane);
  in.uplink = uplink;
  in.source = {source_high, source_low};
  in.flow_label = flow_label;
  in.payload_length = static_cast<std::uint16_t>(payload_length);
  in.hop_limit = static_cast<std::uint8_t>(hop_limit);
  in.dscp = static_cast<std::uint8_t>(dscp);
  in.ecn = static_cast<mrc::Ecn>(ecn & 3);
  const mrc::OuterHeaderBytes bytes = mrc::outer_ipv6_header(in);
  for (std::size_t word = 0; word < bytes.size() / 4; ++word) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(bytes[4 * word + i]);
    header[bytes.size() / 4 - 1 - word] = value;
  }
}

unsigned mrc_icrc(const svOpenArrayHandle packet, unsigned bytes, unsigned ipv4, int* status) {
  constexpr unsigned transport = 8 + 12;
  const bool enough = bytes >= (ipv4 != 0 ? 20 : 40) + transport && bytes <= static_cast<unsigned>(svSize(packet, 1));
  *status = enough ? 0 : -1;
  if (!enough) return 0;
  const auto* data = static_cast<const std::byte*>(svGetArrayPtr(packet));
  return mrc::wire::icrc(std::span(data, bytes), ipv4 != 0);
}

void* mrc_path_table_new(unsigned planes, unsigned ev_count, unsigned ev_active, unsigned ev_min_active,
                         unsigned reshuffle_rotations, unsigned skip_duration, std::uint64_t skip_time,
                         unsigned assumed_bad_losses, unsigned probe_successes, unsigned probe_marked_skips,
                         std::uint64_t seed) {
  try {
    if (planes > mrc::PathTable::kMostPlanes) return nullptr;
    auto made = std::make_unique<DpiPathTable>();
    mrc::ProtocolConfig& config = made->config;
    config.ev_count = ev_count;
    config.ev_active = ev_active;
    config.ev_min_active = ev_min_active;
    config.reshuffle_rotations = reshuffle_rotations;
    config.skip_duration = static_cast<mrc::SkipDuration>(skip_duration);
    config.skip_time_ps = skip_time;
    config.assumed_bad_losses = assumed_bad_losses;
    config.probe_successes = probe_successes;
    config.probe_skip_state = probe_marked_skips != 0 ? mrc::ProbeSkipState::skip : mrc::ProbeSkipState::good;
    const mrc::EvProfile profile = mrc::make_auto_profile(config, planes, mrc::KeyedRandom(seed, "profile"));
    made->table = std::make_unique<mrc::PathTable>(profile, config, planes, mrc::KeyedRandom(seed, "table"));
    return made.release();
  } catch (const std::exception&) {
    return nullptr;
  }
}
void mrc_path_table_free(void* table) {
  delete static_cast<DpiPathTable*>(table);
}

int mrc_path_table_select(void* table, unsigned free_ports, std::uint64_t now) {
  const mrc::EvIndex ev = table_of(table).select(free_ports, now);
  return ev == mrc::kNoEv ? -1 : ev;
}
void mrc_path_table_report(void* table, unsigned ev, unsigned path_event, std::uint64_t now) {
  if (!has(table, ev) || path_event > static_cast<unsigned>(mrc::PathEvent::probe_lost)) return;
  table_of(table).report(static_cast<mrc::EvIndex>(ev), static_cast<mrc::PathEvent>(path_event), now);
}
void mrc_path_table_deny(void* table, unsigned ev) {
  if (has(table, ev)) table_of(table).deny(static_cast<mrc::EvIndex>(ev));
}
void mrc_path_table_allow(void* table, unsigned ev) {
  if (has(table, ev)) table_of(table).allow(static_cast<mrc::EvIndex>(ev));
}
void mrc_path_table_set_port_status(void* table, unsigned reachable) {
  table_of(table).set_port_status(reachable);
}
unsigned mrc_path_table_value(void* table, unsigned ev) {
  return has(table, ev) ? table_of(table).value(static_cast<mrc::EvIndex>(ev)) : 0;
}
unsigned mrc_path_table_plane(void* table, unsigned ev) {
  return has(table, ev) ? table_of(table).plane(static_cast<mrc::EvIndex>(ev)) : 0;
}
unsigned mrc_path_table_state(void* table, unsigned ev) {
  return has(table, ev) ? static_cast<unsigned>(table_of(table).state(static_cast<mrc::EvIndex>(ev))) : 0;
}
unsigned mrc_path_table_active(void* table, unsigned ev) {
  return has(table, ev) && table_of(table).active(static_cast<mrc::EvIndex>(ev)) ? 1 : 0;
}
int mrc_path_table_find(void* table, unsigned value) {
  const mrc::EvIndex ev = table_of(table).find(value);
  return ev == mrc::kNoEv ? -1 : ev;
}
unsigned mrc_path_table_order(void* table, unsigned place) {
  return has(table, place) ? table_of(table).scan_order()[place] : 0;
}
std::uint64_t mrc_path_table_reshuffles(void* table) {
  return table_of(table).reshuffles();
}
std::uint64_t mrc_path_table_rotations(void* table) {
  return table_of(table).rotations();
}
unsigned mrc_path_table_most_active(void* table) {
  return table_of(table).most_active_a_plane();
}
unsigned mrc_path_table_least_active(void* table) {
  return table_of(table).least_active_a_plane();
}

}  // extern "C"
