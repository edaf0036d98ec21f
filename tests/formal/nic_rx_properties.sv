// What sack_events promises (rtl/nic_rx/README.md): each reply of psn_tracker, each probe and each context that moves becomes the
// event that is due, once, in the order of the requests and with what came with them; nothing goes to psn_tracker that is not asked
// of it. The queues are compared with lists that are shifted.
// steps: 14
// reached: all
// finds: duplicate_as_data probe_asks_the_window event_of_the_next_request room_not_looked_at
module nic_rx_properties
  import mrc_pkg::*;
#(
  localparam int unsigned NumSlots     = 2,
  localparam int unsigned CounterWidth = 1,
  localparam int unsigned MostInside   = 2,
  localparam int unsigned Events       = 2
) (
  input logic                    clk_i,
  input logic                    req_valid_i,
  input logic                    req_is_probe_i,
  input psn_op_e                 req_op_i,
  input logic                    req_slot_i,
  input logic                    req_retransmission_i,
  input logic                    tag_i,  // in all other fields: none of them decides anything
  input logic                    req_counter_bytes_i,
  input logic                    psn_req_ready_i,
  input logic                    psn_rsp_valid_i,
  input logic                    psn_rsp_place_i,
  input psn_outcome_e            psn_rsp_outcome_i,
  input logic                    rsp_ready_i,
  input logic                    evt_go_i,
  input logic                    evt_ready_i
);

  typedef struct packed {
    sack_event_e             kind;
    logic                    slot;
    logic [14:0]             payload_bytes;
    logic                    retransmission;
    sack_reflection_t        reflection;
    logic [CounterWidth-1:0] counter_bytes;
  } event_t;

  typedef struct packed {
    logic    is_probe;
    psn_op_e op;
    event_t  what;  // but for its kind
  } asked_t;

  logic [14:0]      req_payload_bytes;
  sack_reflection_t req_reflection;
  assign req_payload_bytes = 15'(tag_i);
  assign req_reflection    = '{psn: 24'(tag_i), ev: 32'(tag_i), tx_timestamp: 16'(tag_i), probe_id: 16'(tag_i), ce: tag_i,
                               ack_request: tag_i, probe: tag_i};

  logic             started_q = 1'b0;
  logic             rst_n, req_ready, psn_req_valid, psn_rsp_ready, rsp_valid, evt_valid;
  event_t           evt;
  assign rst_n = started_q;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  sack_events #(.NumSlots(NumSlots), .CounterWidth(CounterWidth), .MostInside(MostInside), .Events(Events)) u_events (
    .clk_i,
    .rst_ni              (rst_n),
    .req_valid_i,
    .req_ready_o         (req_ready),
    .req_is_probe_i,
    .req_op_i,
    .req_slot_i,
    .req_payload_bytes_i (req_payload_bytes),
    .req_retransmission_i,
    .req_reflection_i    (req_reflection),
    .req_counter_bytes_i,
    .psn_req_valid_o     (psn_req_valid),
    .psn_req_ready_i,
    .psn_rsp_valid_i,
    .psn_rsp_ready_o     (psn_rsp_ready),
    .psn_rsp_place_i,
    .psn_rsp_outcome_i,
    .rsp_valid_o         (rsp_valid),
    .rsp_ready_i,
    .evt_go_i,
    .evt_valid_o         (evt_valid),
    .evt_ready_i,
    .evt_event_o         (evt.kind),
    .evt_slot_o          (evt.slot),
    .evt_payload_bytes_o (evt.payload_bytes),
    .evt_retransmission_o(evt.retransmission),
    .evt_reflection_o    (evt.reflection),
    .evt_counter_bytes_o (evt.counter_bytes)
  );

  // ---- Requests without a reply, the oldest first
  asked_t [MostInside-1:0] asked_q = '0;
  logic [1:0]              asked_count_q = '0, asked_at;
  asked_t                  asked;
  logic                    taken, replied;
  assign taken    = req_valid_i && req_ready;
  assign replied  = rsp_valid && rsp_ready_i;
  assign asked    = '{is_probe: req_is_probe_i, op: req_op_i,
                      what: '{kind: SackData, slot: req_slot_i, payload_bytes: req_payload_bytes,
                              retransmission: req_retransmission_i, reflection: req_reflection,
                              counter_bytes: req_counter_bytes_i}};
  assign asked_at = asked_count_q - 2'(replied);
  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      for (int unsigned i = 0; i + 1 < MostInside; i++) if (replied) asked_q[i] <= asked_q[i+1];
      for (int unsigned i = 0; i < MostInside; i++) if (taken && asked_at == 2'(i)) asked_q[i] <= asked;
      asked_count_q <= asked_count_q + 2'(taken) - 2'(replied);
    end
  end

  // ---- The event that the oldest of them brings about, said otherwise than the block does
  asked_t oldest;
  event_t due;
  logic   owes;
  assign oldest = asked_q[0];
  always_comb begin
    due               = oldest.what;
    due.counter_bytes = (oldest.op == PsnLoad && !oldest.is_probe) ? oldest.what.counter_bytes : '0;
    owes              = 1'b1;
    unique case (1'b1)
      oldest.is_probe:                                   due.kind = SackProbe;
      oldest.op == PsnSetup && !oldest.is_probe:         due.kind = SackLoad;
      oldest.op == PsnLoad && !oldest.is_probe:          due.kind = SackLoad;
      oldest.op == PsnStore && !oldest.is_probe:         due.kind = SackStore;
      (oldest.op == PsnSack || oldest.op == PsnRelease) && !oldest.is_probe: owes = 1'b0;
      default: begin
        if (psn_rsp_place_i) due.kind = SackData;
        else if (psn_rsp_outcome_i == PsnDuplicateBelow || psn_rsp_outcome_i == PsnDuplicateAbove) due.kind = SackDuplicate;
        else owes = 1'b0;
      end
    endcase
  end

  // ---- Events that are due, the oldest first
  event_t [Events-1:0] due_q = '0;
  logic [1:0]          due_count_q = '0, due_at;
  logic                made, left;
  assign made   = replied && owes;
  assign left   = evt_valid && evt_ready_i;
  assign due_at = due_count_q - 2'(left);
  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      for (int unsigned i = 0; i + 1 < Events; i++) if (left) due_q[i] <= due_q[i+1];
      for (int unsigned i = 0; i < Events; i++) if (made && due_at == 2'(i)) due_q[i] <= due;
      due_count_q <= due_count_q + 2'(made) - 2'(left);
    end
  end

  // ---- psn_tracker answers what it was asked, in order, and holds its answer
  logic [1:0]   window_q = '0;  // requests inside it
  logic         held_q = 1'b0, place_q;
  psn_outcome_e outcome_q;
  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      window_q  <= window_q + 2'(psn_req_valid && psn_req_ready_i) - 2'(psn_rsp_valid_i && psn_rsp_ready);
      held_q    <= psn_rsp_valid_i && !psn_rsp_ready;
      place_q   <= psn_rsp_place_i;
      outcome_q <= psn_rsp_outcome_i;
    end
    contract_answers: assume (!psn_rsp_valid_i || window_q != '0);
    contract_holds: assume (!held_q || (psn_rsp_valid_i && psn_rsp_place_i == place_q && psn_rsp_outcome_i == outcome_q));
  end

  logic is_context;
  assign is_context = due_q[0].kind == SackLoad || due_q[0].kind == SackStore;
  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      if (taken) asked_has_room: assert (asked_count_q < 2'(MostInside));
      if (replied) reply_of_a_request: assert (asked_count_q != '0);
      if (rsp_valid) reply_when_there_is_one: assert (oldest.is_probe || psn_rsp_valid_i);
      if (psn_req_valid) probe_is_not_asked: assert (!req_is_probe_i && req_valid_i);
      if (psn_req_valid && psn_req_ready_i) asked_once: assert (taken);
      if (taken && !req_is_probe_i) taken_by_both: assert (psn_req_valid && psn_req_ready_i);
      if (psn_rsp_valid_i && psn_rsp_ready) reply_passes_on: assert (replied && !oldest.is_probe);
      if (replied && !oldest.is_probe) reply_is_taken: assert (psn_rsp_ready);
      if (made) event_has_room: assert (due_count_q < 2'(Events));
      if (evt_valid) event_is_due: assert (due_count_q != '0 && evt == due_q[0]);
      if (evt_valid) event_may_pass: assert (evt_go_i || is_context);
      if (due_count_q != '0 && (evt_go_i || is_context)) event_is_offered: assert (evt_valid);
      // Nothing is held up for longer than it must be.
      if (asked_count_q != '0 && (oldest.is_probe || psn_rsp_valid_i) && due_count_q < 2'(Events)) reply_is_offered: assert (rsp_valid);
    end
  end

endmodule
