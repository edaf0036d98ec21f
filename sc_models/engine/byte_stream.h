// Values as bytes between ranks of one run, which are the same executable: no versions, no byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace mrc {

using Bytes = std::vector<std::byte>;

class ByteWriter {
 public:
  explicit ByteWriter(Bytes& bytes) : bytes_(bytes) {}

  template <typename Value>
  void put(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    put_all(std::span(&value, 1));
  }
  template <typename Value>
  void put(const std::vector<Value>& values) {
    put<std::uint64_t>(values.size());
    put_all(std::span(values));
  }
  void put(const std::string& text) {
    put<std::uint64_t>(text.size());
    put_all(std::span(text));
  }
  void put(const std::vector<std::string>& texts) {
    put<std::uint64_t>(texts.size());
    for (const std::string& text : texts) put(text);
  }
  template <typename Value>
  void put(const std::map<std::string, Value>& values) {
    put<std::uint64_t>(values.size());
    for (const auto& [name, value] : values) {
      put(name);
      put(value);
    }
  }

 private:
  template <typename Value>
  void put_all(std::span<const Value> values) {
    if (values.empty()) return;
    const std::size_t at = bytes_.size();
    bytes_.resize(at + values.size_bytes());
    std::memcpy(bytes_.data() + at, values.data(), values.size_bytes());
  }

  Bytes& bytes_;
};

/// Takes values in the order in which they were put; throws std::logic_error where there are none left.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  template <typename Value>
  void get(Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    take(&value, sizeof value);
  }
  template <typename Value>
  Value get() {
    Value value{};
    get(value);
    return value;
  }
  template <typename Value>
  void get(std::vector<Value>& values) {
    values.resize(get<std::uint64_t>());
    take(values.data(), values.size() * sizeof(Value));
  }
  void get(std::string& text) {
    text.resize(get<std::uint64_t>());
    take(text.data(), text.size());
  }
  void get(std::vector<std::string>& texts) {
    texts.resize(get<std::uint64_t>());
    for (std::string& text : texts) get(text);
  }
  template <typename Value>
  void get(std::map<std::string, Value>& values) {
    values.clear();
    for (auto n = get<std::uint64_t>(); n > 0; --n) {
      std::string name;
      get(name);
      get(values[name]);
    }
  }

 private:
  void take(void* to, std::size_t size) {
    if (size > bytes_.size()) throw std::logic_error("a message between ranks ends too early");
    if (size > 0) std::memcpy(to, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }

  std::span<const std::byte> bytes_;
};

}  // namespace mrc
