// The NIC's half of a reduction in switches: which packets may be sent, what a result completes, and that the two
// halves together add each packet of each NIC once, whatever is lost, comes twice or comes late.
#include "mrc/reduction/reduction_window.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "mrc/random.h"
#include "mrc/reduction/reduction_slots.h"

namespace mrc {
namespace {

/// Sequence numbers of all packets that may be sent now, which are sent.
std::vector<std::uint64_t> send_all(ReductionWindow& window) {
  std::vector<std::uint64_t> sent;
  while (window.has_ready()) sent.push_back(window.take().sequence);
  return sent;
}

using Sequences = std::vector<std::uint64_t>;

TEST(ReductionWindow, SendsAPacketForEachSlotAndTheNextWithEachResult) {
  ReductionWindow window(3);
  EXPECT_FALSE(window.has_ready());
  window.extend(5);
  EXPECT_EQ(send_all(window), (Sequences{0, 1, 2}));
  EXPECT_TRUE(window.receive(1));
  EXPECT_EQ(send_all(window), (Sequences{4}));
  EXPECT_TRUE(window.waits_for_slot()) << "packet 3 for the result of 0";
  EXPECT_TRUE(window.receive(0));
  EXPECT_EQ(send_all(window), (Sequences{3}));
  EXPECT_FALSE(window.waits_for_slot());
  for (const std::uint64_t last : {2U, 3U, 4U}) EXPECT_TRUE(window.receive(last));
  EXPECT_FALSE(window.has_unanswered());
  EXPECT_FALSE(window.has_ready());
}

TEST(ReductionWindow, GoesOnInOrderWithTheNextReduction) {
  ReductionWindow window(4);
  window.extend(6);
  send_all(window);
  window.receive(3);
  window.receive(0);
  window.extend(3);
  EXPECT_EQ(window.end(), 9U);
  EXPECT_EQ(send_all(window), (Sequences{4, 7})) << "5, 6 and 8 wait for the results of 1, 2 and 4";
  window.receive(2);
  window.receive(1);
  EXPECT_EQ(send_all(window), (Sequences{6, 5}));
  ReductionWindow idle(4);
  idle.extend(1);
  send_all(idle);
  idle.receive(0);
  idle.extend(10);
  EXPECT_EQ(send_all(idle), (Sequences{1, 2, 3, 4}));
}

TEST(ReductionWindow, CountsAResultOnce) {
  ReductionWindow window(2);
  window.extend(4);
  EXPECT_FALSE(window.receive(0)) << "not sent yet";
  send_all(window);
  EXPECT_TRUE(window.receive(0));
  EXPECT_FALSE(window.receive(0));
  EXPECT_EQ(send_all(window), (Sequences{2}));
  EXPECT_FALSE(window.receive(0)) << "its slot has a later packet";
  EXPECT_TRUE(window.receive(2));
}

TEST(ReductionWindow, RetransmitsWhatHasNoResult) {
  ReductionWindow window(1);
  window.extend(2);
  const ReductionWindow::Transmission first = window.take();
  EXPECT_EQ(first.times_sent, 1U);
  EXPECT_TRUE(window.is_unanswered(first));
  window.retransmit(first.sequence);
  ASSERT_TRUE(window.has_ready());
  const ReductionWindow::Transmission second = window.take();
  EXPECT_EQ(second.sequence, 0U);
  EXPECT_EQ(second.times_sent, 2U);
  EXPECT_FALSE(window.is_unanswered(first)) << "retransmitted since";
  EXPECT_TRUE(window.is_unanswered(second));
  ASSERT_TRUE(window.oldest().has_value());
  EXPECT_EQ(window.oldest()->sequence, 0U);
  EXPECT_EQ(window.oldest()->times_sent, 2U);
  // The result arrives while the next retransmission waits for the port.
  window.retransmit(second.sequence);
  EXPECT_TRUE(window.receive(0));
  EXPECT_FALSE(window.is_unanswered(second));
  EXPECT_EQ(send_all(window), (Sequences{1})) << "without another packet 0";
  EXPECT_EQ(window.oldest()->sequence, 1U);
  EXPECT_TRUE(window.receive(1));
  EXPECT_FALSE(window.oldest().has_value());
}

TEST(ReductionWindow, RetransmitsBeforeItSendsNewPackets) {
  ReductionWindow window(4);
  window.extend(3);
  window.take();
  window.take();
  window.retransmit(1);
  window.retransmit(0);
  EXPECT_EQ(send_all(window), (Sequences{1, 0, 2}));
}

/// NICs below one switch. Packets are lost in both directions, come in any order, and some are sent needlessly.
class NicsAndSwitch {
 public:
  NicsAndSwitch(std::uint64_t seed, std::uint32_t nics, std::uint32_t window, std::uint64_t packets)
      : random_(seed), window_(window), nics_(nics, ReductionWindow(window)), slots_(window, nics), unanswered_(nics) {
    for (ReductionWindow& nic : nics_) nic.extend(packets);
  }

  void step() {
    if (under_way_.empty() || random_() % 2 == 0) return send(static_cast<std::uint32_t>(random_() % nics_.size()));
    std::swap(under_way_[random_() % under_way_.size()], under_way_.back());
    const auto [nic, fields] = under_way_.back();
    under_way_.pop_back();
    arrive(nic, fields);
    EXPECT_LE(slots_.adding(), window_);
  }
  std::uint64_t results() const { return results_; }

 private:
  static std::uint64_t value(std::size_t nic, std::uint64_t sequence) { return mix64(nic << 20 | sequence); }
  bool lost() { return random_() % 4 == 0; }

  void send(std::uint32_t nic) {
    ReductionWindow& window = nics_[nic];
    std::vector<ReductionWindow::Transmission>& sent = unanswered_[nic];
    std::erase_if(sent, [&](const auto& transmission) { return !window.is_unanswered(transmission); });
    if (!sent.empty() && random_() % 2 == 0) window.retransmit(sent[random_() % sent.size()].sequence);
    if (!window.has_ready()) return;
    sent.push_back(window.take());
    const std::uint64_t sequence = sent.back().sequence;
    if (!lost())
      under_way_.push_back({nic, {.sequence = sequence, .sum = value(nic, sequence), .tree = 0, .ranks = 1}});
  }

  void arrive(std::uint32_t nic, const ReductionFields& packet) {
    const ReductionSlots::Added added = slots_.add(nic, packet);
    if (added == ReductionSlots::Added::resend_result) deliver(nic, slots_.value(packet.sequence));
    if (added != ReductionSlots::Added::complete) return;
    slots_.set_result(slots_.value(packet.sequence));
    for (std::uint32_t to = 0; to < nics_.size(); ++to) deliver(to, slots_.value(packet.sequence));
  }

  void deliver(std::uint32_t nic, const ReductionFields& result) {
    if (lost() || !nics_[nic].receive(result.sequence)) return;
    std::uint64_t sum = 0;
    for (std::size_t from = 0; from < nics_.size(); ++from) sum += value(from, result.sequence);
    EXPECT_EQ(result.sum, sum) << "packet " << result.sequence;
    EXPECT_EQ(result.ranks, nics_.size());
    ++results_;
  }

  std::mt19937_64 random_;
  std::uint32_t window_;
  std::vector<ReductionWindow> nics_;
  ReductionSlots slots_;
  std::vector<std::vector<ReductionWindow::Transmission>> unanswered_;  ///< by NIC
  struct UnderWay {
    std::uint32_t nic = 0;
    ReductionFields fields;
  };
  std::vector<UnderWay> under_way_;
  std::uint64_t results_ = 0;
};

TEST(ReductionWindow, AndSlotsAddEachPacketOnceUnderLossAndRepetition) {
  std::mt19937_64 random(11);
  constexpr std::uint64_t packets = 40;
  for (int round = 0; round < 50; ++round) {
    const auto nics = static_cast<std::uint32_t>(1 + random() % 5);
    const auto window = static_cast<std::uint32_t>(1 + random() % 4);
    NicsAndSwitch all(random(), nics, window, packets);
    for (int step = 0; step < 200'000 && all.results() < packets * nics; ++step) all.step();
    EXPECT_EQ(all.results(), packets * nics) << nics << " NICs, " << window << " slots";
  }
}

}  // namespace
}  // namespace mrc
