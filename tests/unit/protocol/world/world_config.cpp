#include "world_config.h"

#include <algorithm>
#include <array>

#include "mrc/random.h"

namespace mrc::world {

namespace {

/// Mostly small, at most `most`.
double rate(KeyedRandom& random, double most) {
  const double u = random.uniform();
  return most * u * u * u;
}

Faults draw_faults(KeyedRandom& random, double most_loss) {
  Faults faults;
  faults.loss = rate(random, most_loss);
  faults.corruption = rate(random, 0.02);
  faults.duplication = rate(random, 0.1);
  faults.latency_ps = (1 + random.below(4)) * kPsPerUs;
  faults.spread_ps = static_cast<TimePs>(rate(random, 20.0) * kPsPerUs);
  return faults;
}

ProtocolConfig draw_protocol(KeyedRandom& random, std::uint32_t planes) {
  constexpr std::array<std::uint32_t, 5> mtus{256, 512, 1024, 2048, 4096};
  ProtocolConfig protocol;
  protocol.mtu_bytes = mtus[random.below(mtus.size())];
  protocol.mpr_units = static_cast<std::uint32_t>(1 + random.below(8));
  protocol.dynamic_mpr = random.chance(0.3);
  protocol.max_write_imm = static_cast<std::uint32_t>(random.chance(0.3) ? 1 + random.below(4) : 32);
  protocol.timeout_exponent = static_cast<std::uint32_t>(3 + random.below(4));
  protocol.timeout_backoff = random.chance(0.3) ? TimeoutBackoff::packet : TimeoutBackoff::qp;
  protocol.linear_retries = static_cast<std::uint32_t>(random.below(8));
  protocol.exponential_retries = random.chance(0.15) ? static_cast<std::uint32_t>(random.below(8)) : 25;
  protocol.ev_count = planes * static_cast<std::uint32_t>(2 + random.below(15));
  protocol.ev_active = planes * static_cast<std::uint32_t>(1 + random.below(protocol.ev_count / planes));
  protocol.ev_min_active = random.chance(0.5) ? 0 : static_cast<std::uint32_t>(1 + random.below(protocol.ev_active));
  protocol.skip_duration = static_cast<SkipDuration>(random.below(3));
  protocol.skip_time_ps = (1 + random.below(random.chance(0.5) ? 20 : 200)) * kPsPerUs;
  protocol.assumed_bad_losses = static_cast<std::uint32_t>(random.chance(0.5) ? 1 : 1 + random.below(4));
  protocol.probe_skip_state = random.chance(0.5) ? ProbeSkipState::skip : ProbeSkipState::good;
  protocol.probe_interval_ps = (5 + random.below(50)) * kPsPerUs;
  protocol.probe_successes = static_cast<std::uint32_t>(1 + random.below(3));
  protocol.reshuffle_rotations = static_cast<std::uint32_t>(random.below(4));
  protocol.path_table_scope = static_cast<PathTableScope>(random.below(3));
  protocol.congestion_scope = random.chance(0.5) ? CongestionScope::destination : CongestionScope::qp;
  protocol.gap_cwnd_factor = 0.1 + 2.0 * random.uniform();
  protocol.gap_min_packets = static_cast<std::uint32_t>(1 + random.below(16));
  protocol.sack_threshold_bytes = static_cast<std::uint32_t>(1024 * random.below(17));
  protocol.out_of_window = random.chance(0.5) ? OutOfWindow::nack : OutOfWindow::drop;
  return protocol;
}

CongestionConfig draw_congestion(KeyedRandom& random) {
  constexpr std::array<double, 4> rates{10.0, 100.0, 400.0, 800.0};
  CongestionConfig congestion;
  congestion.algorithm = random.chance(0.25) ? "none" : "uet-1.0-nscc";
  congestion.line_rate_gbps = rates[random.below(rates.size())];
  congestion.base_rtt_ps = (1 + random.below(12)) * kPsPerUs;
  congestion.disable_quick_adapt = random.chance(0.2);
  congestion.qa_gate = static_cast<std::uint32_t>(random.below(5));
  congestion.trim_cuts_cwnd = random.chance(0.7);
  congestion.last_hop_trim_cuts = random.chance(0.7);
  congestion.refusal_triggers_quick_adapt = random.chance(0.7);
  return congestion;
}

}  // namespace

WorldConfig draw_world(std::uint64_t seed) {
  KeyedRandom random(seed, "world.config");
  WorldConfig config;
  config.seed = seed;
  config.planes = static_cast<std::uint32_t>(1U << random.below(4));
  config.connections = static_cast<std::uint32_t>(1 + random.below(3));
  config.both_directions = random.chance(0.7);
  config.protocol = draw_protocol(random, config.planes);
  config.congestion = draw_congestion(random);
  config.most_packets = static_cast<std::uint32_t>(random.chance(0.3) ? 4 : 200);
  config.queue_depth = static_cast<std::uint32_t>(1 + random.below(config.most_packets > 4 ? 8 : 64));
  config.write_imm_share = random.uniform();
  config.first_psn =
      static_cast<Psn>(random.chance(1.0 / 3) ? (1U << 24) - 1 - random.below(600) : random.below(1U << 24));
  config.data = draw_faults(random, 0.2);
  config.data.trim = rate(random, 0.2);
  config.data.ce = rate(random, 0.5);
  config.control = draw_faults(random, 0.2);
  // Without a window nothing slows down what is refused: a run with hardly any banks is then mostly repetition.
  const std::uint32_t banks = config.congestion.algorithm == "none" ? 4 * config.connections : 1;
  config.bitmap_banks = static_cast<std::uint32_t>(random.chance(0.3) ? banks + random.below(4) : 1024);
  config.staging_packets = static_cast<std::uint32_t>(random.chance(0.3) ? 2 + random.below(16) : 1024);
  config.no_resource = rate(random, 0.05);
  config.send_gap_ps = (10 + random.below(300)) * kPsPerNs;
  config.pipeline_ps = 1 + random.below(2 * kPsPerUs);
  config.dma_ps = 1 + random.below(3 * kPsPerUs);
  config.answer_ps = random.chance(0.5) ? 0 : random.below(kPsPerUs);
  config.blackhole = rate(random, 0.01);
  config.port_change = rate(random, 0.01);
  config.denial = random.chance(0.25) ? rate(random, 0.02) : 0;
  config.penalty_change = rate(random, 0.1);
  config.stray = rate(random, 0.02);
  config.forbidden_write = random.chance(0.05);
  config.congestion.loss_triggers_quick_adapt = random.chance(0.3);
  config.congestion.max_cwnd_follows_rtt = random.chance(0.3);
  return config;
}

}  // namespace mrc::world
