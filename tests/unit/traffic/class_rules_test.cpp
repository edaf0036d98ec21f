// Which work is of which traffic class.
#include "traffic/class_rules.h"

#include <gtest/gtest.h>

#include "parameters/parameter_value.h"
#include "traffic/workload_builder.h"

namespace mrc {
namespace {

constexpr std::uint32_t kSmallMessage = 0;
constexpr std::uint32_t kLargeMessage = 1;
constexpr std::uint32_t kAllReduce = 2;
constexpr std::uint32_t kAllToAll = 3;

/// A message of 1 KiB and one of 1 MiB with priority 2 from rank 0 to rank 5, an all-reduce of ranks 0 and 1, an
/// all-to-all of ranks 0, 1 and 5.
Workload work() {
  WorkloadBuilder builder;
  WorkNode message;
  message.kind = WorkKind::send;
  message.peer = 5;
  message.bytes = 1024;
  builder.add(message);
  message.bytes = 1 << 20;
  message.tag = 9;
  message.traffic_class = 2;
  builder.add(message);
  WorkNode collective;
  collective.kind = WorkKind::collective;
  collective.match = builder.collective({CollectiveKind::all_reduce, 4096, builder.group({0, 1}), 0});
  builder.add(collective);
  collective.match = builder.collective({CollectiveKind::all_to_all, 1 << 20, builder.group({0, 1, 5}), 0});
  builder.add(collective);
  return builder.finish(6);
}

std::vector<int> classes_by(const std::string& rules, std::uint32_t count = 4, std::uint32_t job = 0) {
  Workload workload = work();
  TrafficClasses classes;
  classes.count = count;
  classes.rules = rules;
  classify(workload, classes, job);
  std::vector<int> found;
  for (const WorkNode& node : workload.nodes) found.push_back(node.traffic_class);
  return found;
}

std::string refusal(const std::string& rules) {
  try {
    classes_by(rules);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ClassRules, WithoutRulesTheTraceSays) {
  EXPECT_EQ(classes_by(""), (std::vector<int>{0, 2, 0, 0}));
  EXPECT_EQ(classes_by("", 2), (std::vector<int>{0, 1, 0, 0})) << "no class above the highest";
  EXPECT_EQ(classes_by("", 1), (std::vector<int>{0, 0, 0, 0}));
}

TEST(ClassRules, ByKindSizeTagCommunicatorAndJob) {
  EXPECT_EQ(classes_by("kind=all_reduce -> 1")[kAllReduce], 1);
  EXPECT_EQ(classes_by("kind=all_reduce -> 1")[kAllToAll], 0);
  EXPECT_EQ(classes_by("kind=message bytes<=4KiB -> 3"), (std::vector<int>{3, 2, 0, 0}));
  EXPECT_EQ(classes_by("bytes>=1MiB -> 1"), (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(classes_by("tag=9 -> 0")[kLargeMessage], 0);
  EXPECT_EQ(classes_by("ranks=0-1 -> 3"), (std::vector<int>{0, 2, 3, 0})) << "all members are in it";
  EXPECT_EQ(classes_by("job=1 -> 3"), (std::vector<int>{0, 2, 0, 0}));
  EXPECT_EQ(classes_by("job=1 -> 3", 4, 1), (std::vector<int>{3, 3, 3, 3}));
}

TEST(ClassRules, TheFirstThatFitsCounts) {
  EXPECT_EQ(classes_by("kind=message -> 1, bytes<=4KiB -> 3")[kSmallMessage], 1);
  EXPECT_EQ(classes_by("kind=message -> 1, bytes<=4KiB -> 3")[kAllReduce], 3);
}

TEST(ClassRules, RefusalsSayWhatIsAllowed) {
  EXPECT_NE(refusal("kind=all_reduse -> 1").find("nearest: all_reduce"), std::string::npos)
      << refusal("kind=all_reduse -> 1");
  EXPECT_NE(refusal("bytes=1 -> 1").find("expected kind="), std::string::npos) << refusal("bytes=1 -> 1");
  EXPECT_NE(refusal("bytes<=much -> 1").find("not a number of bytes"), std::string::npos);
  EXPECT_NE(refusal("kind=message").find("->"), std::string::npos);
  EXPECT_NE(refusal("kind=message -> 4").find("0 … 3"), std::string::npos) << refusal("kind=message -> 4");
}

}  // namespace
}  // namespace mrc
