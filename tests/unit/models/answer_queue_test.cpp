#include "pcie/answer_queue.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace mrc {
namespace {

struct Request {
  std::uint32_t sequence = 0;
  std::uint64_t address = 0;
};

TEST(AnswerQueue, EarliestFirstAndOfOneTimeTheOldest) {
  std::mt19937 random(1);
  AnswerQueue<Request> queue;
  std::vector<std::pair<TimePs, std::uint32_t>> waiting;
  for (std::uint32_t sequence = 0; sequence < 20'000; ++sequence) {
    const TimePs ready = sequence / 4 + random() % 16;
    queue.push(ready, {sequence, ready * 3});
    waiting.emplace_back(ready, sequence);
    for (std::uint32_t takes = random() % 3; takes > 0 && !waiting.empty(); --takes) {
      const auto first = std::min_element(waiting.begin(), waiting.end());
      ASSERT_EQ(queue.first_ready(), first->first);
      const auto [at, request] = queue.pop();
      ASSERT_EQ(at, first->first);
      ASSERT_EQ(request.sequence, first->second);
      ASSERT_EQ(request.address, at * 3);
      waiting.erase(first);
    }
    ASSERT_EQ(queue.empty(), waiting.empty());
  }
}

}  // namespace
}  // namespace mrc
