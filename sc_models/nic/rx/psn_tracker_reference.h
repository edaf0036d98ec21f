// The receive windows of all QPs without time: what RTL in their place has to do. Made of the class that the responder
// is made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "nic/rx/psn_tracker_engine.h"

namespace mrc {

class PsnTrackerReference {
 public:
  PsnTrackerReference(const PsnTrackerSizes& sizes, const PsnTrackerSettings& settings)
      : pool_(sizes.banks), windows_(sizes.slots) {
    config_.mpr_units = sizes.mpr_units;
    config_.dynamic_mpr = settings.dynamic_mpr;
    config_.out_of_window = settings.out_of_window;
  }
  PsnTrackerReference(const PsnTrackerReference&) = delete;
  PsnTrackerReference& operator=(const PsnTrackerReference&) = delete;

  /// The window of a QP leaves its slot, and comes into one.
  ReceiveWindow take_out(std::uint32_t slot) { return std::move(*std::exchange(windows_[slot], std::nullopt)); }
  void put_in(std::uint32_t slot, ReceiveWindow window) { windows_[slot].emplace(std::move(window)); }
  bool is_set_up(std::uint32_t qp) const { return windows_[qp].has_value(); }
  /// After a release: the QP may be set up anew.
  void forget(std::uint32_t qp) { windows_[qp].reset(); }
  /// Precondition: the QP is set up.
  const PsnTracker& tracker(std::uint32_t qp) const { return windows_[qp]->tracker(); }
  const BitmapPool& pool() const { return pool_; }

  /// Banks that the latest request looked at one after the other, at least 1: RTL that reads one per cycle takes this
  /// many cycles.
  std::uint32_t banks_visited() const { return banks_visited_; }

  PsnReply run(const PsnRequest& request) {
    PsnReply reply;
    std::optional<ReceiveWindow>& window = windows_[request.qp];
    banks_visited_ = 1;
    switch (request.op) {
      case PsnOp::setup:
        window.emplace(config_, request.psn, pool_);
        break;
      case PsnOp::data:
        reply.verdict = window->decide(request.psn, [&] { return request.conditions; });
        if (reply.verdict.place) {
          reply.closes = static_cast<std::uint16_t>(window->place(request.psn, request.ends_message));
          banks_visited_ = banks_of_advance(window->tracker(), request.psn);
        }
        break;
      case PsnOp::trimmed:
        reply.verdict = window->decide_trimmed(request.psn, false);
        break;
      case PsnOp::trimmed_lasthop:
        reply.verdict = window->decide_trimmed(request.psn, true);
        break;
      case PsnOp::sack:
        fill_sack(*window, request, reply);
        break;
      case PsnOp::release:
        release(*window, reply);
        return reply;
      case PsnOp::load:
      case PsnOp::store:
        break;
    }
    reply.cack = window->tracker().cack_psn();
    reply.highest = window->tracker().highest_psn();
    reply.ooo_count = window->tracker().ooo_count();
    return reply;
  }

 private:
  void fill_sack(ReceiveWindow& window, const PsnRequest& request, PsnReply& reply) {
    SackTrigger trigger;
    trigger.psn = request.psn;
    trigger.ce = request.ce;
    trigger.ack_request = request.ack_request;
    trigger.probe = request.probe;
    trigger.probe_id = request.probe_id;
    SackFields sack;
    window.fill(trigger, sack);
    banks_visited_ = banks_of_sack(window.tracker(), psn_add(sack.cack_psn, sack.sack_offset));
    reply.sack_offset = sack.sack_offset;
    reply.ack_psn_offset = sack.ack_psn_offset;
    reply.sack_bitmap = sack.sack_bitmap;
    reply.mpr = sack.mpr;
  }
  void release(ReceiveWindow& window, PsnReply& reply) {
    reply.cack = window.tracker().cack_psn();
    reply.highest = reply.cack;
    banks_visited_ = std::max(window.tracker().banks_held(), 1U);
    window.release();
  }

  ProtocolConfig config_;
  BitmapPool pool_;
  std::vector<std::optional<ReceiveWindow>> windows_;
  std::uint32_t banks_visited_ = 1;
};

}  // namespace mrc
