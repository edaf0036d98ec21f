// Traffic classes and tenants of a scenario: which there are, and what they may have of a NIC and of a switch port.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mrc/packet.h"

namespace mrc {

/// Who is served first where data of several classes waits.
enum class ClassScheduling : std::uint8_t { strict, weighted };

struct TrafficClasses {
  std::uint32_t count = 1;  ///< 1: no classes
  std::string rules;        ///< which work is of which class; empty: as the trace says
  ClassScheduling scheduling = ClassScheduling::strict;
  std::string weights;  ///< with weighted scheduling, of class 0, 1 …; empty: all the same

  bool on() const { return count > 1; }
  bool strict() const { return on() && scheduling == ClassScheduling::strict; }
};

struct Tenants {
  bool separate = false;         ///< each job has QPs, a protection domain and keys of its own
  std::string play;              ///< jobs that are played; empty: all
  std::string rate_limits_gbps;  ///< of job 0, 1 … at each NIC; empty, or 0: none
  std::string context_entries;   ///< of the context cache that job 0, 1 … may have; empty, or 0: all
  std::uint32_t intruder = 0;    ///< job that names another's memory and keys in its messages; 0: none
};

inline constexpr std::uint32_t kMostJobs = 250;

/// Weights of class 0, 1 …, all 1 where none are named. Throws ParameterError.
std::array<std::uint32_t, kMostTrafficClasses> class_weights(const TrafficClasses& classes, const std::string& place);
/// Of job 0, 1 …, in Gb/s. Throws ParameterError.
std::vector<double> tenant_rates_gbps(const Tenants& tenants, const std::string& place);
/// Of job 0, 1 …. Throws ParameterError.
std::vector<std::uint32_t> tenant_contexts(const Tenants& tenants, const std::string& place);
/// By job: whether it is played; empty where all are. Throws ParameterError.
std::vector<bool> played_jobs(const Tenants& tenants, const std::string& place);

}  // namespace mrc
