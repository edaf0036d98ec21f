// Between psn_tracker and ack_coalescer: makes of each reply of psn_tracker the event that may make a SACK owed, with what
// the SACK is to reflect, which came with the request. Events wait in a queue; without room in it the reply waits. A probe
// keeps its place among the requests, but psn_tracker is not asked. See README.md.
module sack_events
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots     = 1024,
  parameter  int unsigned CounterWidth = 25,
  parameter  int unsigned MostInside   = 16,  // requests without a reply, a power of two
  parameter  int unsigned Events       = 8,   // places of the queue, a power of two
  localparam int unsigned SlotWidth    = $clog2(NumSlots)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // A request, and what its SACK is to reflect.
  input  logic                    req_valid_i,
  output logic                    req_ready_o,
  input  logic                    req_is_probe_i,        // nothing is asked
  input  psn_op_e                 req_op_i,
  input  logic [SlotWidth-1:0]    req_slot_i,
  input  logic [14:0]             req_payload_bytes_i,
  input  logic                    req_retransmission_i,
  input  sack_reflection_t        req_reflection_i,
  input  logic [CounterWidth-1:0] req_counter_bytes_i,   // with PsnLoad

  // The request, to psn_tracker.
  output logic                    psn_req_valid_o,
  input  logic                    psn_req_ready_i,

  // Its reply, and what of it counts here.
  input  logic                    psn_rsp_valid_i,
  output logic                    psn_rsp_ready_o,
  input  logic                    psn_rsp_place_i,
  input  psn_outcome_e            psn_rsp_outcome_i,

  // The reply, when there is room for its event; to a probe it says nothing.
  output logic                    rsp_valid_o,
  input  logic                    rsp_ready_i,

  // To ack_coalescer.
  input  logic                    evt_go_i,              // events of packets may pass; contexts always may
  output logic                    evt_valid_o,
  input  logic                    evt_ready_i,
  output sack_event_e             evt_event_o,
  output logic [SlotWidth-1:0]    evt_slot_o,
  output logic [14:0]             evt_payload_bytes_o,
  output logic                    evt_retransmission_o,
  output sack_reflection_t        evt_reflection_o,
  output logic [CounterWidth-1:0] evt_counter_bytes_o
);

  typedef struct packed {
    logic                    is_probe;
    psn_op_e                 op;
    logic [SlotWidth-1:0]    slot;
    logic [14:0]             payload_bytes;
    logic                    retransmission;
    sack_reflection_t        reflection;
    logic [CounterWidth-1:0] counter_bytes;
  } asked_t;

  typedef struct packed {
    sack_event_e             kind;
    logic [SlotWidth-1:0]    slot;
    logic [14:0]             payload_bytes;
    logic                    retransmission;
    sack_reflection_t        reflection;
    logic [CounterWidth-1:0] counter_bytes;
  } event_t;

  // ---- What came with the requests that have no reply yet: replies come in their order
  asked_t asked, oldest;
  logic   asked_full, asked_empty;
  assign req_ready_o     = !asked_full && (req_is_probe_i || psn_req_ready_i);
  assign psn_req_valid_o = req_valid_i && !asked_full && !req_is_probe_i;
  assign asked = '{
    is_probe: req_is_probe_i,
    op: req_op_i,
    slot: req_slot_i,
    payload_bytes: req_payload_bytes_i,
    retransmission: req_retransmission_i,
    reflection: req_reflection_i,
    counter_bytes: req_counter_bytes_i
  };

  /* verilator lint_off PINCONNECTEMPTY */
  fifo #(.Depth(MostInside), .Width($bits(asked_t))) u_asked (
    .clk_i,
    .rst_ni,
    .push_i (req_valid_i && req_ready_o),
    .data_i (asked),
    .pop_i  (rsp_valid_o && rsp_ready_i),
    .data_o (oldest),
    .empty_o(asked_empty),
    .full_o (asked_full),
    .count_o()
  );

  // ---- The event of the oldest request
  event_t put, first;
  logic   is_packet, is_duplicate, owes, has_room, replied, full, empty;
  always_comb begin
    is_packet    = oldest.op == PsnData || oldest.op == PsnTrimmed || oldest.op == PsnTrimmedLasthop;
    is_duplicate = psn_rsp_outcome_i == PsnDuplicateBelow || psn_rsp_outcome_i == PsnDuplicateAbove;
    owes         = 1'b0;
    put          = '{
      kind: SackData,
      slot: oldest.slot,
      payload_bytes: oldest.payload_bytes,
      retransmission: oldest.retransmission,
      reflection: oldest.reflection,
      counter_bytes: '0
    };
    if (oldest.is_probe) begin
      owes     = 1'b1;
      put.kind = SackProbe;
    end else if (is_packet) begin
      owes     = psn_rsp_place_i || is_duplicate;
      put.kind = psn_rsp_place_i ? SackData : SackDuplicate;
    end else if (oldest.op == PsnSetup || oldest.op == PsnLoad) begin
      owes     = 1'b1;
      put.kind = SackLoad;
      if (oldest.op == PsnLoad) put.counter_bytes = oldest.counter_bytes;
    end else if (oldest.op == PsnStore) begin
      owes     = 1'b1;
      put.kind = SackStore;
    end
  end
  assign has_room        = !owes || !full;
  assign replied         = oldest.is_probe || psn_rsp_valid_i;
  assign rsp_valid_o     = !asked_empty && replied && has_room;
  assign psn_rsp_ready_o = !asked_empty && !oldest.is_probe && has_room && rsp_ready_i;

  // ---- Events
  logic is_context;
  fifo #(.Depth(Events), .Width($bits(event_t))) u_events (
    .clk_i,
    .rst_ni,
    .push_i (rsp_valid_o && rsp_ready_i && owes),
    .data_i (put),
    .pop_i  (evt_valid_o && evt_ready_i),
    .data_o (first),
    .empty_o(empty),
    .full_o (full),
    .count_o()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  assign is_context           = first.kind == SackLoad || first.kind == SackStore;
  assign evt_valid_o          = !empty && (evt_go_i || is_context);
  assign evt_event_o          = first.kind;
  assign evt_slot_o           = first.slot;
  assign evt_payload_bytes_o  = first.payload_bytes;
  assign evt_retransmission_o = first.retransmission;
  assign evt_reflection_o     = first.reflection;
  assign evt_counter_bytes_o  = first.counter_bytes;

endmodule
