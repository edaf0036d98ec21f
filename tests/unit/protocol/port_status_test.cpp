#include "mrc/control/port_status.h"

#include <gtest/gtest.h>

#include "mrc/control/ev_profile.h"
#include "mrc/control/path_table.h"
#include "mrc/rx/reverse_paths.h"

namespace mrc {
namespace {

TEST(PortStatus, UsablePlanesAreThoseOfBothEnds) {
  PortStatus status(8);
  EXPECT_EQ(status.usable(), 0xFFU);
  EXPECT_TRUE(status.set_own(3, false));
  EXPECT_FALSE(status.set_own(3, false)) << "nobody has to be told twice";
  EXPECT_EQ(status.own_mask(), 0xF7U);
  EXPECT_TRUE(status.set_peer(0xFFFF'FFFE));
  EXPECT_EQ(status.usable(), 0xF6U);
  EXPECT_FALSE(status.set_peer(0xFE)) << "bits of ports that do not exist say nothing";
  EXPECT_TRUE(status.set_own(3, true));
  EXPECT_TRUE(status.set_peer(0xFF));
  EXPECT_EQ(status.usable(), 0xFFU);
  EXPECT_EQ(PortStatus(32).usable(), 0xFFFF'FFFFU);
}

TEST(PortStatus, PathTableAndReversePathsLeaveAPlaneThatOneEndHasLost) {
  ProtocolConfig config;
  config.ev_count = 64;
  config.ev_active = 32;
  const EvProfile profile = make_auto_profile(config, 4, KeyedRandom(1, "profile"));
  PathTable table(profile, config, 4, KeyedRandom(1, "table"));
  ReversePaths reverse(4, KeyedRandom(1, "reverse"));
  PortStatus status(4);
  status.set_peer(0b1011);
  table.set_port_status(status.usable());
  reverse.set_port_status(status.usable());
  for (TimePs now = 0; now < 200; ++now) {
    const EvIndex ev = table.select(0xF, now);
    ASSERT_NE(ev, kNoEv);
    EXPECT_NE(table.plane(ev), 2U);
    EXPECT_NE(reverse.pick(0xF).plane, 2U);
  }
  EXPECT_EQ(table.select(0b0100, 200), kNoEv) << "only the lost plane's port is free";
  status.set_peer(0b1111);
  table.set_port_status(status.usable());
  EXPECT_NE(table.select(0b0100, 201), kNoEv);
}

TEST(PortStatusAnnouncer, TellsEachPeerUntilItAnswers) {
  PortStatusAnnouncer announcer(2, 50 * kPsPerUs);
  PortStatusAnnouncer::Request request;
  EXPECT_EQ(announcer.next_due(), kNever);
  EXPECT_FALSE(announcer.take_due(0, request));
  announcer.announce(0xF7, 10);
  ASSERT_TRUE(announcer.take_due(10, request));
  EXPECT_EQ(request.peer, 0U);
  EXPECT_EQ(request.fields.port_status_mask, 0xF7U);
  EXPECT_EQ(request.fields.op, EndpointOp::port_status_update);
  const std::uint16_t first = request.fields.request_id;
  ASSERT_TRUE(announcer.take_due(10, request));
  EXPECT_EQ(request.peer, 1U);
  EXPECT_NE(request.fields.request_id, first);
  EXPECT_FALSE(announcer.take_due(10, request));
  announcer.answered(0, first);
  EXPECT_EQ(announcer.next_due(), 10 + 50 * kPsPerUs) << "the other has not answered";
  ASSERT_TRUE(announcer.take_due(10 + 50 * kPsPerUs, request));
  EXPECT_EQ(request.peer, 1U);
  announcer.answered(1, request.fields.request_id);
  EXPECT_EQ(announcer.next_due(), kNever);
}

TEST(PortStatusAnnouncer, AnAnswerToAnOlderMaskIsNotEnough) {
  PortStatusAnnouncer announcer(1, kPsPerUs);
  PortStatusAnnouncer::Request request;
  announcer.announce(0x7F, 0);
  ASSERT_TRUE(announcer.take_due(0, request));
  const std::uint16_t old = request.fields.request_id;
  announcer.announce(0xFF, 5);
  announcer.answered(0, old);
  ASSERT_TRUE(announcer.take_due(5, request));
  EXPECT_EQ(request.fields.port_status_mask, 0xFFU);
}

}  // namespace
}  // namespace mrc
