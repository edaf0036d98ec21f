// A part of ring 1 by named fields: what mrc_reference.h offers in C.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mrc::reference {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Fields = std::map<std::string, std::uint64_t, std::less<>>;
/// With defaults for those that were not given.
using Settings = Fields;

struct Transfer {
  Fields fields;
  std::vector<std::byte> bytes;

  std::uint64_t operator[](std::string_view name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? 0 : found->second;
  }
};

struct PortDescription {
  std::string name;
  bool in = true;
  std::vector<std::string> fields;
};

struct Description {
  std::vector<PortDescription> ports;
  Settings settings;  ///< with defaults
  std::vector<std::string> states;
};

class Reference {
 public:
  explicit Reference(const Description& description) : description_(&description) {}
  virtual ~Reference() = default;
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  void put(std::string_view field, std::uint64_t value);
  void put_byte(std::byte byte) { next_.bytes.push_back(byte); }
  void accept(std::string_view port);
  bool expected(std::string_view port);
  const Transfer& at_hand() const { return at_hand_; }
  /// Throws Error for a name that is none of Description::states.
  virtual std::uint64_t state(std::string_view name, std::uint64_t index) = 0;

 protected:
  /// Throws Error, before anything has changed, for what may not be given.
  virtual void take(std::string_view port, const Transfer& transfer) = 0;
  void expect(const std::string& port, Fields fields, std::vector<std::byte> bytes = {}) {
    due_[port].push_back({std::move(fields), std::move(bytes)});
  }

 private:
  const PortDescription& port_named(std::string_view name, bool in) const;

  const Description* description_;
  Transfer next_;
  Transfer at_hand_;
  std::map<std::string, std::deque<Transfer>, std::less<>> due_;
};

/// The low 32 bits.
inline std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
/// Precondition: the reference has this setting.
inline std::uint64_t setting(const Settings& settings, std::string_view name) {
  return settings.find(name)->second;
}
/// As setting(). Throws Error if the value is above 2^32 - 1.
inline std::uint32_t setting32(const Settings& settings, std::string_view name) {
  const std::uint64_t value = setting(settings, name);
  if (value != narrow(value)) throw Error(std::string(name) + "=" + std::to_string(value) + ": at most 4294967295");
  return narrow(value);
}

struct Kind {
  const char* name;
  const Description& (*describe)();
  std::unique_ptr<Reference> (*make)(const Settings& settings);
};
template <typename Made>
Kind kind_of(const char* name) {
  return {name, Made::describe,
          [](const Settings& settings) -> std::unique_ptr<Reference> { return std::make_unique<Made>(settings); }};
}
const std::vector<Kind>& kinds();

/// Index below `count`; throws Error.
inline std::size_t below(std::uint64_t index, std::uint64_t count, const char* what) {
  if (index >= count)
    throw Error(std::string(what) + " " + std::to_string(index) + ": there are " + std::to_string(count));
  return static_cast<std::size_t>(index);
}

[[noreturn]] inline void no_state(std::string_view name) {
  throw Error("no state " + std::string(name));
}

Kind ack_coalescer_kind();
Kind psn_tracker_kind();
Kind retransmit_buffer_kind();
Kind srv6_encap_kind();
Kind spray_scheduler_kind();
Kind pcie_dma_kind();
Kind qp_scheduler_kind();
Kind requestor_kind();
Kind responder_kind();
Kind nscc_kind();

}  // namespace mrc::reference
