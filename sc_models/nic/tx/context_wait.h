// Asks for the contexts of the packets in a queue. A packet whose context is being read waits beside the queue, and
// others pass it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "engine/occupancy.h"
#include "nic/nic_context.h"
#include "nic/tx/context_client.h"

namespace mrc::timing {

class QpScheduler;

class ContextWait : private ContextClient {
 public:
  /// The QP whose context a packet of the queue needs; null: it needs none.
  using QpOf = const Qp* (*)(NicContext& nic, const Packet& packet);
  /// Of the box that takes from the queue.
  struct Owner {
    Box& box;
    IssueSlot& slot;
    Fifo<Packet*>& in;
    QpOf qp_of;
  };
  /// Places beside the queue.
  struct Places {
    std::string name;
    std::uint32_t count = 0;
    Cause full;
    bool is_listed = true;  ///< false: no packet ever waits
  };
  enum class First : std::uint8_t {
    here,       ///< the first packet can be taken
    set_aside,  ///< it waits beside the queue from now on
    stays,      ///< it waits in front; the slot has the cause
  };
  struct Waited {
    Packet* packet = nullptr;
    std::uint32_t qp = 0;
    StartId because = 0;  ///< start of the read that brought the context
  };

  ContextWait(NicContext& nic, const Owner& owner, const Places& places);
  void connect(QpScheduler& scheduler);

  bool empty() const { return waiting_.empty(); }
  const Occupancy& places() const { return places_; }
  /// Of the first packet of the queue, which needs the context of QP `qp` (index).
  First first(TimePs now, std::uint32_t qp);
  /// Takes the first packet from the queue.
  Packet* pop(TimePs now);
  /// Takes a packet that waited and whose context has come, if there is one; if not, the box is stepped when there is.
  std::optional<Waited> take(TimePs now);
  void for_each_packet(const PacketVisitor& visit) const;

 private:
  struct Waiting {
    Packet* packet = nullptr;
    std::uint32_t qp = 0;
    TimePs ready_at = kNever;  ///< the context has come; kNever: not yet
    StartId because = 0;
  };
  /// A packet of the queue about whose context qp_scheduler is asked, where it answers later.
  struct Asked {
    std::uint32_t qp = 0;
    StartId because = 0;
    bool is_needed = false;  ///< false: it needs no context
    bool is_asked = false;
    std::optional<ContextLookup> answer{};
  };
  static constexpr std::size_t kMostAsked = 4;  ///< answers that wait in qp_scheduler's RTL (its data sheet)

  bool context_here(std::uint32_t qp, TimePs now, TimePs done_at, StartId because) override;
  bool waits_for_context(std::uint32_t qp) const override;
  void context_seen(ContextLookup lookup, TimePs now) override;
  /// As first(), where qp_scheduler answers later.
  First first_answer(TimePs now, std::uint32_t qp);
  /// Asks for the contexts of the first packets of the queue.
  void ask_ahead(TimePs now);
  First set_aside(TimePs now, std::uint32_t qp);

  NicContext& nic_;
  Owner owner_;
  QpScheduler* scheduler_ = nullptr;
  Occupancy places_;
  Cause full_;
  std::vector<Waiting> waiting_;
  std::deque<Asked> asked_;  ///< the first packets of the queue
  std::deque<Asked*> open_;  ///< not answered, in the order in which they were asked; null: nobody waits for it
};

}  // namespace mrc::timing
