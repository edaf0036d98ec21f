#include "dpi/reference.h"

#include <algorithm>

#include "dpi/mrc_reference.h"

namespace mrc::reference {

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      ack_coalescer_kind(), psn_tracker_kind(),     retransmit_buffer_kind(), srv6_encap_kind(), pcie_dma_kind(),
      qp_scheduler_kind(),  spray_scheduler_kind(), requestor_kind(),         responder_kind(),  nscc_kind()};
  return all;
}

const PortDescription& Reference::port_named(std::string_view name, bool in) const {
  std::string known;
  for (const PortDescription& port : description_->ports) {
    if (port.in != in) continue;
    if (port.name == name) return port;
    known += " " + port.name;
  }
  throw Error("no " + std::string(in ? "input" : "output") + " port " + std::string(name) + "; there are:" + known);
}

void Reference::put(std::string_view field, std::uint64_t value) {
  const bool known =
      std::any_of(description_->ports.begin(), description_->ports.end(), [&](const PortDescription& port) {
        return port.in && std::find(port.fields.begin(), port.fields.end(), field) != port.fields.end();
      });
  if (!known) throw Error("no input port has a field " + std::string(field));
  next_.fields.insert_or_assign(std::string(field), value);
}

void Reference::accept(std::string_view name) {
  const Transfer transfer = std::exchange(next_, {});
  const PortDescription& port = port_named(name, true);
  for (const auto& [field, value] : transfer.fields) {
    if (std::find(port.fields.begin(), port.fields.end(), field) == port.fields.end())
      throw Error("port " + port.name + " has no field " + field);
  }
  take(name, transfer);
}

bool Reference::expected(std::string_view name) {
  port_named(name, false);
  const auto due = due_.find(name);
  if (due == due_.end() || due->second.empty()) return false;
  at_hand_ = std::move(due->second.front());
  due->second.pop_front();
  return true;
}

namespace {

std::string& error() {
  thread_local std::string text;
  return text;
}

/// Nothing is thrown through C: `failed` instead, and the text is kept.
template <typename Result, typename Call>
Result guarded(Result failed, const Call& call) {
  error().clear();
  try {
    return call();
  } catch (const std::exception& problem) {
    error() = problem.what();
    return failed;
  }
}

Reference& reference_of(void* handle) {
  if (handle == nullptr) throw Error("no reference");
  return *static_cast<Reference*>(handle);
}

const Kind* kind_named(std::string_view name) {
  const auto found = std::find_if(kinds().begin(), kinds().end(), [&](const Kind& kind) { return kind.name == name; });
  return found == kinds().end() ? nullptr : &*found;
}

std::string names() {
  std::string all;
  for (const Kind& kind : kinds()) all += std::string(kind.name) + "\n";
  return all;
}

Settings settings_of(const Kind& kind, std::string_view text) {
  Settings settings = kind.describe().settings;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string entry(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (entry.empty()) continue;
    const std::size_t equals = entry.find('=');
    const auto setting = settings.find(entry.substr(0, equals));
    if (equals == std::string::npos || setting == settings.end())
      throw Error(std::string(kind.name) + ": no setting " + entry);
    std::size_t used = 0;
    const std::string number = entry.substr(equals + 1);
    setting->second = std::stoull(number, &used, 0);
    if (used != number.size() || number.front() == '-') throw Error(entry + ": a number is needed");
  }
  return settings;
}

std::string description_of(const Kind& kind) {
  const Description& description = kind.describe();
  std::string text;
  for (const PortDescription& port : description.ports) {
    text += (port.in ? "in " : "out ") + port.name;
    for (const std::string& field : port.fields) text += " " + field;
    text += "\n";
  }
  for (const auto& [name, value] : description.settings) text += "setting " + name + "=" + std::to_string(value) + "\n";
  for (const std::string& name : description.states) text += "state " + name + "\n";
  return text;
}

}  // namespace
}  // namespace mrc::reference

using namespace mrc::reference;

extern "C" {

void* mrc_reference_new(const char* name, const char* settings) {
  return guarded<void*>(nullptr, [&]() -> void* {
    const Kind* kind = kind_named(name);
    if (kind == nullptr) throw Error("no reference " + std::string(name) + "; there are:\n" + names());
    return kind->make(settings_of(*kind, settings)).release();
  });
}
void mrc_reference_free(void* reference) {
  delete static_cast<Reference*>(reference);
}
const char* mrc_reference_error(void) {
  return error().c_str();
}
const char* mrc_reference_describe(const char* name) {
  thread_local std::string text;
  return guarded<const char*>(nullptr, [&]() -> const char* {
    if (name == nullptr || *name == '\0') {
      text = names();
      return text.c_str();
    }
    const Kind* kind = kind_named(name);
    if (kind == nullptr) throw Error("no reference " + std::string(name));
    text = description_of(*kind);
    return text.c_str();
  });
}

int mrc_reference_put(void* reference, const char* field, unsigned long long value) {
  return guarded(-1, [&] {
    reference_of(reference).put(field, value);
    return 0;
  });
}
int mrc_reference_put_byte(void* reference, unsigned byte) {
  return guarded(-1, [&] {
    reference_of(reference).put_byte(static_cast<std::byte>(byte & 0xFF));
    return 0;
  });
}
int mrc_reference_accept(void* reference, const char* port) {
  return guarded(-1, [&] {
    reference_of(reference).accept(port);
    return 0;
  });
}
int mrc_reference_expected(void* reference, const char* port) {
  return guarded(-1, [&] { return reference_of(reference).expected(port) ? 1 : 0; });
}
unsigned long long mrc_reference_get(void* reference, const char* field) {
  return guarded(0ULL, [&]() -> unsigned long long { return reference_of(reference).at_hand()[field]; });
}
unsigned mrc_reference_bytes(void* reference) {
  return guarded(0U, [&] { return static_cast<unsigned>(reference_of(reference).at_hand().bytes.size()); });
}
unsigned mrc_reference_get_byte(void* reference, unsigned at) {
  return guarded(0U, [&] {
    const std::vector<std::byte>& bytes = reference_of(reference).at_hand().bytes;
    return at < bytes.size() ? std::to_integer<unsigned>(bytes[at]) : 0U;
  });
}
unsigned long long mrc_reference_state(void* reference, const char* name, unsigned long long index) {
  return guarded(0ULL, [&]() -> unsigned long long { return reference_of(reference).state(name, index); });
}

}  // extern "C"
