// Ports of a Verilated block by name: ready/valid streams in and out, and their fields.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mrc::cosim {

/// Field values of one transfer, in the order of the port's fields.
using Transaction = std::vector<std::uint64_t>;

/// A member of a Verilated class, of up to 64 bits. Without one: always 1, and not to be set.
class Pin {
 public:
  Pin() = default;
  template <typename Member>
  explicit Pin(Member& member) : at_(&member), bytes_(sizeof(Member)) {}

  bool bound() const { return bytes_ != 0; }
  /// Not more than the member holds; the pin may have fewer bits.
  bool fits(std::uint64_t value) const { return bytes_ == 0 || bytes_ >= 8 || value >> (8 * bytes_) == 0; }
  std::uint64_t get() const {
    switch (bytes_) {
      case 0:
        return 1;
      case 1:
        return *static_cast<const std::uint8_t*>(at_);
      case 2:
        return *static_cast<const std::uint16_t*>(at_);
      case 4:
        return *static_cast<const std::uint32_t*>(at_);
      default:
        return *static_cast<const std::uint64_t*>(at_);
    }
  }
  void set(std::uint64_t value) const {
    switch (bytes_) {
      case 0:
        return;
      case 1:
        *static_cast<std::uint8_t*>(at_) = static_cast<std::uint8_t>(value);
        return;
      case 2:
        *static_cast<std::uint16_t*>(at_) = static_cast<std::uint16_t>(value);
        return;
      case 4:
        *static_cast<std::uint32_t*>(at_) = static_cast<std::uint32_t>(value);
        return;
      default:
        *static_cast<std::uint64_t*>(at_) = value;
        return;
    }
  }

 private:
  void* at_ = nullptr;
  std::uint32_t bytes_ = 0;
};

enum class Direction : std::uint8_t { in, out };

struct Field {
  std::string name;
  Pin pin;
};

/// A stream. Built in the constructor of a block's bench: Port("req", Direction::in, m.req_valid_i, m.req_ready_o)
/// .field("psn", m.req_psn_i)…
struct Port {
  template <typename Valid, typename Ready>
  Port(std::string port_name, Direction port_direction, Valid& valid_pin, Ready& ready_pin)
      : name(std::move(port_name)), direction(port_direction), valid(valid_pin), ready(ready_pin) {}
  /// Without a ready: what is offered is taken.
  template <typename Valid>
  Port(std::string port_name, Direction port_direction, Valid& valid_pin)
      : name(std::move(port_name)), direction(port_direction), valid(valid_pin) {}
  template <typename Member>
  Port& field(std::string field_name, Member& member) {
    fields.push_back({std::move(field_name), Pin(member)});
    return *this;
  }
  /// One field per 32-bit word of a wide member.
  template <typename Wide>
  Port& wide_field(const std::string& field_name, Wide& member) {
    for (std::size_t word = 0; word < sizeof(Wide) / 4; ++word) {
      fields.push_back({field_name + "[" + std::to_string(32 * word) + "+:32]", Pin(member[word])});
    }
    return *this;
  }

  bool waits() const { return ready.bound(); }
  void drive(const Transaction& values) const {
    for (std::size_t i = 0; i < fields.size(); ++i) fields[i].pin.set(values[i]);
  }
  void sample(Transaction& values) const {
    values.resize(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) values[i] = fields[i].pin.get();
  }

  std::string name;
  Direction direction;
  Pin valid;
  Pin ready;
  std::vector<Field> fields;
};

}  // namespace mrc::cosim
