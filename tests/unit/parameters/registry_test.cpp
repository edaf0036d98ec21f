#include "parameters/registry.h"

#include <gtest/gtest.h>

#include <set>

namespace mrc {
namespace {

TEST(Registry, NamesAreUniqueAndEveryParameterExplainsItself) {
  std::set<std::string> names;
  for (const Parameter& p : parameters()) {
    EXPECT_TRUE(names.insert(p.name).second) << p.name;
    EXPECT_FALSE(p.meaning.empty()) << p.name;
    const bool number = p.type == ParameterType::integer || p.type == ParameterType::real;
    EXPECT_TRUE(!number || p.minimum < p.maximum) << p.name;
  }
  EXPECT_GT(names.size(), 130U);
}

TEST(Registry, DefaultsAreAllowedAndSurviveSetAndGet) {
  const ScenarioConfig defaults;
  for (const Parameter& p : parameters()) {
    const ParameterValue value = p.get(defaults, defaults.node_default);
    if (p.name == "traffic.trace") continue;  // has none: each scenario names its own
    const ParameterValue checked = checked_value(p, value, "default");
    ScenarioConfig copy;
    p.set(copy, copy.node_default, checked);
    EXPECT_EQ(p.get(copy, copy.node_default), value) << p.name;
  }
}

TEST(Registry, EveryParameterReachesAFieldOfItsOwn) {
  // Setting one parameter to another allowed value changes that one and no other.
  for (const Parameter& p : parameters()) {
    ScenarioConfig config;
    const ParameterValue before = p.get(config, config.node_default);
    ParameterValue other = before;
    if (p.type == ParameterType::boolean) other = !std::get<bool>(before);
    if (p.type == ParameterType::integer)
      other = static_cast<std::int64_t>(
          p.words.empty()
              ? (std::get<std::int64_t>(before) == static_cast<std::int64_t>(p.minimum) ? p.minimum + 1 : p.minimum)
              : std::stod(p.words.front() == to_string(before) ? p.words.back() : p.words.front()));
    if (p.type == ParameterType::real) other = std::get<double>(before) == p.minimum ? p.maximum : p.minimum;
    if (p.type == ParameterType::word || p.type == ParameterType::text) {
      if (p.words.size() == 1) continue;  // only one word is supported so far
      other = p.words.empty() ? "other" : p.words.front() == to_string(before) ? p.words.back() : p.words.front();
    }
    ASSERT_NE(other, before) << p.name;
    p.set(config, config.node_default, checked_value(p, other, "test"));
    const ScenarioConfig defaults;
    for (const Parameter& q : parameters()) {
      const bool changed = q.get(config, config.node_default) != q.get(defaults, defaults.node_default);
      EXPECT_EQ(changed, q.name == p.name) << p.name << " and " << q.name;
    }
  }
}

TEST(Registry, QuarterToFourTimesTheDefaultOfABufferIsInRange) {
  const ScenarioConfig defaults;
  for (const Parameter& p : parameters()) {
    const bool buffer = p.name.find("entries") != std::string::npos || p.name.find("_bytes") != std::string::npos ||
                        p.name.ends_with(".bytes") || p.name.find("credits") != std::string::npos ||
                        p.name.find("tags") != std::string::npos;
    if (!buffer || !p.per_node || !p.words.empty()) continue;
    const auto value = std::get<std::int64_t>(p.get(defaults, defaults.node_default));
    EXPECT_NO_THROW(checked_value(p, std::max<std::int64_t>(1, value / 4), "quarter")) << p.name;
    if (p.name == "nic.completion.cqe_bytes") continue;  // a size that the interface fixes, no buffer
    EXPECT_NO_THROW(checked_value(p, value * 4, "four times")) << p.name;
  }
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ParameterError& error) {
    return error.what();
  }
  return "";
}

TEST(Registry, RefusalsSayWhatIsAllowed) {
  const Parameter& ports = *find_parameter("nic.ports");
  EXPECT_EQ(message_of([&] { parse_value(ports, "9", "here"); }),
            "here: nic.ports = 9 is not allowed; allowed: 1 … 8 ports");
  EXPECT_EQ(message_of([&] { parse_value(ports, "2.5", "here"); }),
            "here: nic.ports = \"2.5\" is not of type integer; allowed: 1 … 8 ports");
  const Parameter& payload = *find_parameter("host.payload");
  EXPECT_EQ(message_of([&] { parse_value(payload, "byte", "here"); }),
            "here: host.payload = \"byte\" is not allowed; allowed: bytes | reference; nearest: bytes");
  const Parameter& staging = *find_parameter("nic.rx_staging.bytes");
  EXPECT_EQ(message_of([&] { parse_value(staging, "64Kb", "here"); }),
            "here: nic.rx_staging.bytes = \"64Kb\": \"Kb\" is not a unit of it; allowed: 256 … 1073741824 bytes; "
            "units: B, kB, KB, MB, GB, TB, KiB, MiB, GiB, TiB, bytes");
  EXPECT_EQ(message_of([&] { parse_value(staging, "1000.5B", "here"); }),
            "here: nic.rx_staging.bytes = \"1000.5B\" is not of type integer; allowed: 256 … 1073741824 bytes; "
            "units: B, kB, KB, MB, GB, TB, KiB, MiB, GiB, TiB, bytes");
  const Parameter& lanes = *find_parameter("pcie.lanes");
  EXPECT_EQ(message_of([&] { parse_value(lanes, "12", "here"); }),
            "here: pcie.lanes = 12 is not allowed; allowed: 4 | 8 | 16 lanes");
  const Parameter& loss = *find_parameter("fabric.loss_rate");
  EXPECT_EQ(message_of([&] { parse_value(loss, "nan", "here"); }),
            "here: fabric.loss_rate = nan is not of type real; allowed: 0 … 1; units: %");
  EXPECT_EQ(message_of([&] { parse_value(loss, "1 percent", "here"); }),
            "here: fabric.loss_rate = \"1 percent\": \"percent\" is not a unit of it; allowed: 0 … 1; units: %");
  EXPECT_EQ(message_of([&] { parse_value(loss, "150%", "here"); }),
            "here: fabric.loss_rate = 1.5 is not allowed; allowed: 0 … 1");
  const Parameter& rate = *find_parameter("nic.port_gbps");
  EXPECT_NE(message_of([&] { parse_value(rate, "100GB/s", "here"); }).find("\"GB/s\" is not a unit of it"),
            std::string::npos);
}

TEST(Registry, NumbersTakeUnits) {
  const auto value = [](const char* name, const char* text) {
    return parse_value(*find_parameter(name), text, "here");
  };
  const auto bytes = [](std::int64_t number) { return ParameterValue(number); };
  EXPECT_EQ(value("nic.rx_staging.bytes", "64KiB"), bytes(65'536));
  EXPECT_EQ(value("nic.rx_staging.bytes", "1MiB"), bytes(1 << 20));
  EXPECT_EQ(value("nic.rx_staging.bytes", "64MB"), bytes(64'000'000));
  EXPECT_EQ(value("nic.rx_staging.bytes", "1.5 kB"), bytes(1'500));
  EXPECT_EQ(value("nic.rx_staging.bytes", "0.5KiB"), bytes(512));
  EXPECT_EQ(value("nic.ports", "4 ports"), bytes(4));
  EXPECT_EQ(value("fabric.loss_rate", "1%"), ParameterValue(0.01));
  EXPECT_EQ(value("fabric.loss_rate", "0.1%"), ParameterValue(0.001));
  EXPECT_EQ(value("nic.port_gbps", "100Gb/s"), ParameterValue(100.0));
  EXPECT_EQ(value("nic.port_gbps", "400 Gbps"), ParameterValue(400.0));
  EXPECT_EQ(value("nic.port_gbps", "0.8Tb/s"), ParameterValue(800.0));
  EXPECT_EQ(value("fabric.cable_delay_ns", "1.5us"), ParameterValue(1500.0));
  EXPECT_EQ(value("fabric.cable_delay_ns", "1.5\u00b5s"), ParameterValue(1500.0));
  EXPECT_EQ(value("fabric.cable_delay_ns", "2500ps"), ParameterValue(2.5));
  EXPECT_EQ(value("run.max_time_us", "2ms"), ParameterValue(2000.0));
  EXPECT_EQ(value("nic.core_clock_ghz", "1200MHz"), ParameterValue(1.2));
}

TEST(Registry, TextOfAFileIsANumberWithItsUnit) {
  const Parameter& loss = *find_parameter("fabric.loss_rate");
  EXPECT_EQ(checked_value(loss, std::string("2%"), "here"), ParameterValue(0.02));
  EXPECT_NE(message_of([&] { checked_value(loss, std::string("0.02"), "here"); }), "");
  EXPECT_NE(message_of([&] { checked_value(*find_parameter("nic.ports"), std::string("4"), "here"); }), "");
}

TEST(Registry, NearestName) {
  EXPECT_EQ(nearest_parameter("nic.retransmit_bufer.entries"), "nic.retransmit_buffer.entries");
  EXPECT_EQ(nearest_parameter("pcie.tags"), "pcie.read_tags");
  EXPECT_EQ(nearest_parameter("qwertyuiop"), "none is similar");
  EXPECT_EQ(nearest_parameter("pcie.read_tag"), "pcie.read_tags");
}

}  // namespace
}  // namespace mrc
