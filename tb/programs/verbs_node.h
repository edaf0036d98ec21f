// The verbs of one node: registered memory, completion queues, QPs and their work, between the programs of the node and
// its NIC.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "programs/program_host.h"
#include "programs/program_memory.h"
#include "verbs/messages.h"

namespace mrc {

/// The answer to a call: an errno, and what the reply carries.
struct VerbsAnswer {
  int error = 0;
  std::uint32_t count = 0;
  std::uint64_t value = 0;
  /// The NIC takes no doorbell now: the call is repeated later.
  bool again = false;
};

/// What a verb on a QP or CQ tells a program besides its answer: a completion channel's event.
struct ChannelEvent {
  int fd = -1;
  std::uint64_t handle = 0;
};

class VerbsNode {
 public:
  VerbsNode(TimePs later_ps, bool beyond_mrc) : memory_(later_ps), beyond_mrc_(beyond_mrc) {}
  ~VerbsNode();
  VerbsNode(const VerbsNode&) = delete;
  VerbsNode& operator=(const VerbsNode&) = delete;

  /// Before the run; `nodes` by number, and stay.
  void attach(ProgramHost& host, const std::vector<std::unique_ptr<VerbsNode>>& nodes);

  ProgramMemory& memory() { return memory_; }
  ProgramHost& host() { return *host_; }

  /// All objects of a process that is gone.
  void remove_process(TimePs now, std::uint32_t process);

  verbs::DeviceInfo device() const;
  verbs::ProfileInfo profiles() const;
  /// EVs of the node's profile from `first` on. An EV is ASSUMED_BAD where it is so for any of the node's QPs.
  std::vector<verbs::EvInfo> evs(std::uint32_t first) const;
  std::vector<verbs::EvInfo> all_evs() const;
  // What a controller changes: for all QPs of the node, whoever has them. `tail` has as many entries as `wanted` says.
  VerbsAnswer set_evs(TimePs now, const verbs::SetEvs& wanted, std::span<const std::byte> tail);
  VerbsAnswer replace_evs(const verbs::ReplaceEvs& wanted, std::span<const std::byte> tail);
  VerbsAnswer set_ev_profile(const verbs::SetEvProfile& wanted);
  VerbsAnswer set_congestion(const verbs::SetCongestion& wanted);
  VerbsAnswer watch_evs(std::uint32_t process, std::uint32_t cq);
  /// The answer's value is the number of the batch.
  VerbsAnswer begin_probes(TimePs now, const verbs::ProbeEvs& wanted, std::span<const std::byte> tail);
  /// All of the batch are answered, as software sees it.
  bool probes_are_answered(TimePs now, std::uint64_t batch) const;
  /// Takes what has come; the batch is over.
  VerbsAnswer end_probes(TimePs now, std::uint64_t batch, std::vector<verbs::ProbeAnswer>& to);
  void forget_probes(std::uint64_t batch);
  VerbsAnswer register_memory(std::uint32_t process, const verbs::RegisterMemory& wanted);
  VerbsAnswer deregister_memory(std::uint32_t process, std::uint32_t key);
  /// `fd`: the program's end, which the caller closes when it is sent.
  VerbsAnswer create_channel(std::uint32_t process, bool async, int& fd);
  /// The program's end of a channel for events of the device has this inode.
  bool is_async_channel(std::uint64_t inode) const;
  VerbsAnswer create_cq(std::uint32_t process, const verbs::CreateCq& wanted);
  VerbsAnswer destroy_cq(std::uint32_t process, std::uint32_t cq);
  VerbsAnswer arm_cq(TimePs now, std::uint32_t process, std::uint32_t cq, bool solicited_only);
  VerbsAnswer create_srq(std::uint32_t process, std::uint32_t wrs);
  VerbsAnswer destroy_srq(std::uint32_t process, std::uint32_t srq);
  VerbsAnswer create_qp(std::uint32_t process, const verbs::CreateQp& wanted);
  VerbsAnswer modify_qp(TimePs now, std::uint32_t process, const verbs::ModifyQp& wanted);
  VerbsAnswer query_qp(std::uint32_t process, std::uint32_t qp) const;
  VerbsAnswer destroy_qp(TimePs now, std::uint32_t process, std::uint32_t qp);
  VerbsAnswer post_send(TimePs now, std::uint32_t process, const verbs::PostSend& wanted,
                        std::span<const std::byte> tail);
  VerbsAnswer post_receive(TimePs now, std::uint32_t process, const verbs::PostReceive& wanted,
                           std::span<const std::byte> tail);
  /// Takes what is there at `now`.
  VerbsAnswer poll(TimePs now, std::uint32_t process, std::uint32_t cq, std::uint32_t most,
                   std::vector<verbs::WorkCompletion>& to);

  /// Hands completions of the NIC to the queues of programs, and rings the channels of those that are seen at `now`.
  void take_completions(TimePs now);
  /// When a program may see something new: a completion among those of the NIC or of a queue.
  TimePs next_visible(TimePs now) const;
  /// A completion of one of the process's queues can be taken.
  bool has_completion(TimePs now, std::uint32_t process) const;
  /// Requests posted and not completed, or completions that a channel waits for.
  bool has_work() const;

  std::uint64_t messages() const { return messages_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t completions() const { return completions_; }
  /// Posted work that MRC does not have.
  struct Beyond {
    std::uint64_t sends = 0;
    std::uint64_t empty = 0;  ///< WRITEs of 0 bytes
    std::uint64_t reads = 0;
    std::uint64_t atomics = 0;
    std::uint64_t datagrams = 0;
    std::uint64_t within = 0;             ///< messages to a QP of the node itself
    std::uint64_t datagrams_dropped = 0;  ///< by their receiver: no receive, no such QP, or another key
  };
  const Beyond& beyond() const { return beyond_; }

 private:
  /// Of the places that a node keeps for bytes of SENDs, requests and their answers. Programs never get it.
  static constexpr std::uint32_t kStagedKey = 0xF00;

  struct Region {
    std::uint32_t process = 0;
    verbs::RegisterMemory range;
  };
  struct Channel {
    std::uint32_t process = 0;
    int fd = -1;              ///< our end
    bool async = false;       ///< for events of the device
    std::uint64_t inode = 0;  ///< of the program's end
  };
  struct Entry {
    TimePs at = 0;  ///< software sees it
    verbs::WorkCompletion completion;
    bool solicited = false;
  };
  struct Cq {
    std::uint32_t process = 0;
    std::uint32_t channel = 0;
    std::uint64_t handle = 0;
    std::uint32_t capacity = 0;
    std::uint32_t users = 0;  ///< QPs
    bool armed = false;
    bool solicited_only = false;
    bool of_evs = false;        ///< for events of EVs
    std::uint32_t dropped = 0;  ///< events without room since the last that had
    std::deque<Entry> entries;  ///< in order of their times
    std::size_t told = 0;       ///< of these, looked at for the channel
  };
  struct Receive {
    std::uint64_t id = 0;
    std::vector<verbs::Sge> sges;
  };
  struct Srq {
    std::uint32_t process = 0;
    std::uint32_t capacity = 0;
    std::deque<Receive> receives;
  };
  /// What a WRITE with immediate carries beyond MRC. From `request` on it takes no receive of the program's QP.
  enum class Carries : std::uint8_t {
    itself,    ///< nothing: it is one
    nothing,   ///< a WRITE of 0 bytes: its one byte is nobody's
    send,      ///< its bytes go where the receive says
    request,   ///< of a READ or an atomic operation
    answer,    ///< to such a request
    datagram,  ///< of UD: for the QP that it names
  };
  /// A message with immediate under way, in the order of sending.
  struct Announced {
    std::uint32_t bytes = 0;
    bool solicited = false;
    bool immediate = false;  ///< the receiver's completion has it
    Carries carries = Carries::itself;
    std::uint64_t staged = 0;  ///< unless it is itself: where the receiver's NIC writes the bytes
    std::uint32_t place = 0;   ///< of a request and its answer: the requester's `pending_`
    std::uint64_t serial = 0;  ///< and its serial number
    std::uint32_t status = 0;  ///< of an answer
    bool within = false;       ///< it has not passed a NIC
    // Of a datagram.
    std::uint32_t immediate_data = 0;
    NodeId source_node = 0;
    std::uint32_t source_qp = 0;
    std::uint32_t destination_qp = 0;
    std::uint32_t qkey = 0;
  };
  /// Work that the NIC is given, now or later.
  struct Outgoing {
    std::uint32_t qp = 0;  ///< object; of a datagram, the one that carries it
    WorkRequest request{};
    bool announces = false;
    bool reads = false;  ///< counts among the QP's READs and atomic operations
    bool fence = false;  ///< after all those that were posted before
    Announced message{};
  };
  struct QpObject {
    std::uint32_t process = 0;
    std::uint32_t index = 0;  ///< of the NIC
    std::uint32_t send_cq = 0;
    std::uint32_t receive_cq = 0;
    std::uint32_t srq = 0;
    std::uint32_t type = 0;
    std::uint64_t handle = 0;  ///< the program's
    std::uint32_t most_sends = 0;
    std::uint32_t most_receives = 0;
    bool signal_all = false;
    std::uint32_t state = verbs::kReset;
    verbs::ModifyQp last;  ///< what it was connected with; of UD, what it was prepared with
    std::uint32_t sends = 0;
    std::uint32_t most_reads = 0;     ///< READs and atomic operations under way at a time
    std::uint32_t reads = 0;          ///< under way
    std::deque<std::uint32_t> order;  ///< places of the program's requests, which complete in this order
    TimePs completed_at = 0;          ///< software sees the latest of these
    std::deque<Outgoing> deferred;    ///< they wait for READs before them
    std::deque<Receive> receives;
    std::deque<Announced> announced;
  };
  /// A work request that the NIC has.
  struct Pending {
    std::uint32_t qp = 0;  ///< object
    std::uint64_t id = 0;
    std::uint32_t bytes = 0;
    std::uint32_t opcode = 0;
    bool signaled = false;
    std::uint64_t kept = 0;  ///< bytes that the model holds for it; 0: none
    std::uint64_t serial = 0;
    bool is_answer = false;          ///< the model's own, of which no program hears
    std::vector<verbs::Sge> into{};  ///< of a request: where the answer goes
    bool wants_answer = false;       ///< a request whose answer has not come
    bool left_nic = false;           ///< the NIC says nothing of it any more
    bool done = false;               ///< it completes when those before it have
    std::uint32_t status = 0;        ///< if done
    TimePs at = 0;                   ///< if done: software sees it
  };

  /// Probes that a program waits for together.
  struct ProbeBatch {
    struct Unsent {
      std::uint32_t order = 0;
      verbs::ProbeOrder what;
    };
    struct Answered {
      TimePs at = 0;  ///< software sees it
      verbs::ProbeAnswer answer;
    };
    std::uint32_t count = 0;
    std::vector<Unsent> unsent;  ///< the NIC has no room
    std::vector<Answered> answered;
  };
  /// A probe under way: its place in a batch.
  struct AskedProbe {
    std::uint64_t batch = 0;
    std::uint32_t order = 0;
  };

  /// Null where the process has no such object.
  template <typename Object>
  static Object* find(std::map<std::uint32_t, Object>& objects, std::uint32_t process, std::uint32_t number) {
    const auto it = objects.find(number);
    return it == objects.end() || it->second.process != process ? nullptr : &it->second;
  }
  bool covers(std::uint32_t process, const verbs::Sge& sge, std::uint32_t access) const;
  /// Where the payload lies for the NIC; a wc status other than success where it may not be read.
  std::uint32_t place_payload(std::uint32_t process, const verbs::PostSend& wanted, std::span<const std::byte> tail,
                              std::uint64_t& address, std::uint32_t& bytes, std::uint64_t& kept);
  std::uint64_t remote_address(NodeId node, const verbs::PostSend& wanted) const;
  /// Whether the QP takes work of this kind now; otherwise `answer` is the call's.
  bool may_post(TimePs now, const QpObject* qp, const verbs::PostSend& wanted, VerbsAnswer& answer);
  /// WRITE, WRITE with immediate, SEND. Returns a wc status.
  std::uint32_t prepare_write(std::uint32_t process, const verbs::PostSend& wanted, std::span<const std::byte> tail,
                              Pending& pending, Outgoing& out);
  /// READ and atomic operations: a request, with room for the answer. Returns a wc status.
  std::uint32_t prepare_request(std::uint32_t process, const verbs::PostSend& wanted, std::span<const std::byte> tail,
                                Pending& pending, Outgoing& out);
  /// SEND on a UD QP. Returns a wc status.
  std::uint32_t prepare_datagram(std::uint32_t process, const verbs::PostSend& wanted, std::span<const std::byte> tail,
                                 Pending& pending, Outgoing& out);
  VerbsAnswer modify_datagram_qp(TimePs now, QpObject& qp, const verbs::ModifyQp& wanted);
  /// The QP that carries datagrams to this node, connected when it is needed; 0: there are no more QPs.
  std::uint32_t carrier_to(TimePs now, NodeId node);
  std::uint32_t add_carrier(NodeId node);
  void connect_carrier(TimePs now, std::uint32_t carrier, NodeId node, std::uint32_t peer_index);
  void datagram_received(TimePs now, const Announced& message);
  /// To the NIC, behind what the QP posted before.
  void submit(TimePs now, QpObject& qp, Outgoing&& out);
  void submit_deferred(TimePs now, QpObject& qp);
  void hand_over(TimePs now, Outgoing&& out);
  void give_to_nic(TimePs now, QpObject& qp, Outgoing& out);
  bool stays_within(const Outgoing& out) const;
  std::vector<std::byte> bytes_to_send(const WorkRequest& request);
  /// To a QP of the node itself: the bytes are copied.
  void copy_within(TimePs now, Outgoing&& out);
  /// What the NIC would do at the peer; false where the peer refuses.
  bool place_within(TimePs now, QpObject& peer, Outgoing& out);
  /// Work that waits for the NIC to take doorbells.
  void drain(TimePs now);
  /// Work that the NIC does not get any more.
  void drop(TimePs now, QpObject* qp, const Outgoing& out);
  /// A READ or an atomic operation of the peer has come: does it and sends the answer.
  void answer_request(TimePs now, std::uint32_t object, const Announced& message, std::uint32_t opcode);
  /// Carries out what the message asks for; what is sent back is in `pending` and `out`.
  void do_read(const QpObject& qp, const verbs::Sge& range, Pending& pending, Outgoing& out);
  void do_atomic(const QpObject& qp, const std::byte* request, std::uint32_t opcode, Pending& pending, Outgoing& out);
  void answer_received(TimePs now, QpObject& qp, const Announced& message);
  /// The QP's peer will not answer any more.
  void abandon_requests(TimePs now, const QpObject& gone);
  void flush_requests(TimePs now, QpObject& qp, std::uint32_t first_status);
  /// The peer's object of a connected QP; null where it is gone.
  QpObject* peer_of(const QpObject& qp, VerbsNode*& node) const;
  /// Copies what came into the program's memory, and gives its place back; false where it has no room there.
  bool scatter(TimePs now, const QpObject& qp, const std::vector<verbs::Sge>& into, const Announced& message);
  /// Copies these bytes there; false where they have no room.
  bool put(TimePs now, const QpObject& qp, const std::vector<verbs::Sge>& into, const std::byte* from,
           std::uint64_t bytes);
  std::uint32_t take_pending();
  /// The request at this place of the QP's is done; it completes once those before it have.
  void finish(TimePs at, QpObject& qp, std::uint32_t place, std::uint32_t status);
  void complete_in_order(QpObject& qp);
  void complete(std::uint32_t cq, TimePs at, const verbs::WorkCompletion& completion, bool solicited);
  void send_completed(TimePs now, const Cqe& cqe);
  void receive_completed(TimePs now, const Cqe& cqe);
  void to_error(TimePs now, QpObject& qp);
  void ring_channels(TimePs now, Cq& cq);
  /// To `process`, or to all with 0; `element`: the program's QP, or the port.
  void tell_async(std::uint32_t process, std::uint64_t element, std::uint32_t event);
  void look_at_port();
  VerbsAnswer refused(int error, const std::string& why) const;
  bool has_connected_qp() const;
  int set_ev(TimePs now, EvIndex ev, std::uint32_t state);
  int replace_ev(const verbs::EvReplacement& wanted);
  /// The profile goes ONLINE with the EVs that a controller has given. Returns an errno.
  int use_explicit_evs();
  bool leads_through(Ev value, std::uint32_t port) const;
  int set_ev_state(std::uint32_t state);
  void set_ev_mode(std::uint32_t explicit_evs);
  /// For any QP of the node.
  bool is_bad(EvIndex ev) const;
  /// EVs have changed their states at the NIC, or QPs are gone.
  void look_at_evs();
  void look_at_bad_evs(TimePs now);
  void tell_ev(TimePs at, EvIndex ev);
  bool awaits_ev() const;
  /// Why these constants are refused, by the ranges of `cc.…`; empty if they are accepted.
  std::string fault_of(const CongestionConfig& config) const;
  bool may_probe(const verbs::ProbeOrder& wanted) const;
  void send_probes(TimePs now);
  void take_probe_answers();

  ProgramMemory memory_;
  bool beyond_mrc_;
  ProgramHost* host_ = nullptr;
  const std::vector<std::unique_ptr<VerbsNode>>* nodes_ = nullptr;
  TimePs residual_ps_ = 0;
  std::map<std::uint32_t, Region> regions_;  ///< by key
  std::map<std::uint32_t, Channel> channels_;
  std::map<std::uint32_t, Cq> cqs_;
  std::map<std::uint32_t, Srq> srqs_;
  std::map<std::uint32_t, QpObject> qps_;
  std::map<NodeId, std::uint32_t> carriers_;    ///< QP objects for datagrams, by the peer
  std::vector<std::uint32_t> object_of_index_;  ///< QP objects by the NIC's index
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> free_pending_;
  std::deque<Outgoing> outgoing_;  ///< the NIC took no doorbell
  std::uint64_t next_serial_ = 1;
  std::uint32_t next_object_ = 1;
  std::uint32_t next_key_ = 0x1000;
  std::uint32_t next_index_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t completions_ = 0;
  Beyond beyond_;
  std::uint64_t sink_ = 0;  ///< where bytes go that are nobody's; 0: there was none
  bool port_up_ = true;
  TimePs notice_ps_ = 0;  ///< from what the NIC notices until software sees it
  std::uint32_t evs_state_ = verbs::kOnline;
  bool evs_explicit_ = false;
  bool evs_changed_ = false;             ///< the NIC does not have them yet
  std::vector<verbs::EvInfo> ev_array_;  ///< while not ONLINE, of a controller's EVs
  bool congestion_online_ = true;
  std::uint32_t event_mask_ = 0;
  std::set<EvIndex> told_bad_;  ///< EVs whose latest event, had anyone asked for it, is ASSUMED_BAD
  std::map<std::uint64_t, ProbeBatch> batches_;
  std::map<std::uint32_t, AskedProbe> asked_;
  std::uint64_t next_batch_ = 1;
  std::uint32_t next_probe_ = 1;
};

}  // namespace mrc
