// psn_tracker and ack_coalescer, joined: the reply about a packet becomes the event that may make a SACK owed without
// leaving the RTL. Both have the context of a QP in the same slot. SACKs are read as by any other request. See README.md.
module nic_rx
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots     = 1024,
  parameter  int unsigned NumBanks     = 4096,
  parameter  int unsigned MprPsns      = 1024,
  parameter  int unsigned CounterWidth = 25,
  parameter  int unsigned MostInside   = 16,
  parameter  int unsigned Events       = 8,
  localparam int unsigned SlotWidth    = $clog2(NumSlots),
  localparam int unsigned CountWidth   = $clog2(NumBanks) + 1,
  localparam int unsigned BankWidth    = $clog2(NumBanks),
  localparam int unsigned Parts        = 2 ** $clog2(MprPsns / 128 + 1),
  localparam int unsigned OooWidth     = $clog2(MprPsns + 1),
  localparam int unsigned UnitWidth    = $clog2(MprPsns / 128 + 1),
  localparam int unsigned ContextWidth = 48 + (OooWidth + 1) + UnitWidth + OooWidth + Parts * (1 + BankWidth)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    nack_out_of_window_i,  // constant after reset, like the next three
  input  logic                    dynamic_mpr_i,
  input  logic [CounterWidth-1:0] threshold_bytes_i,
  input  logic [16:0]             min_add_bytes_i,

  // Requests of psn_tracker, and what a SACK is to reflect of the packet.
  input  logic                    req_valid_i,
  output logic                    req_ready_o,
  input  logic                    req_is_probe_i,        // a probe: only the slot and what it reflects count
  input  psn_op_e                 req_op_i,
  input  logic [SlotWidth-1:0]    req_slot_i,
  input  psn_t                    req_psn_i,
  input  psn_packet_t             req_packet_i,
  input  sack_trigger_t           req_trigger_i,
  input  logic [14:0]             req_payload_bytes_i,
  input  logic                    req_retransmission_i,
  input  sack_reflection_t        req_reflection_i,
  input  logic [CounterWidth-1:0] req_counter_bytes_i,   // with PsnLoad
  input  logic [ContextWidth-1:0] req_context_i,         // with PsnLoad

  // Replies, in the order of the requests, when there is room for their events; to a probe one without contents.
  output logic                    rsp_valid_o,
  input  logic                    rsp_ready_i,
  output psn_reply_t              rsp_o,
  output logic [ContextWidth-1:0] rsp_context_o,

  // Events of packets may pass to ack_coalescer: 0 while a memory beside the blocks is late.
  input  logic                    evt_go_i,
  // What is handed to ack_coalescer, to be watched.
  output logic                    evt_valid_o,
  output logic                    evt_ready_o,
  output sack_event_e             evt_event_o,
  output logic [SlotWidth-1:0]    evt_slot_o,
  output logic [14:0]             evt_payload_bytes_o,
  output logic                    evt_retransmission_o,
  output sack_reflection_t        evt_reflection_o,

  // SACKs of ack_coalescer.
  output logic                    sack_valid_o,
  input  logic                    sack_ready_i,
  output logic [SlotWidth-1:0]    sack_slot_o,
  output sack_causes_t            sack_causes_o,
  output logic [CounterWidth-1:0] sack_counter_bytes_o,
  output sack_reflection_t        sack_reflection_o,

  output logic [CountWidth-1:0]   banks_in_use_o
);

  logic                    psn_req_valid, psn_req_ready, psn_rsp_valid, psn_rsp_ready;
  logic [CounterWidth-1:0] counter_bytes;

  psn_tracker #(.NumSlots(NumSlots), .NumBanks(NumBanks), .MprPsns(MprPsns)) u_psn_tracker (
    .clk_i,
    .rst_ni,
    .nack_out_of_window_i,
    .dynamic_mpr_i,
    .req_valid_i(psn_req_valid),
    .req_ready_o(psn_req_ready),
    .req_op_i,
    .req_slot_i,
    .req_psn_i,
    .req_packet_i,
    .req_trigger_i,
    .req_context_i,
    .rsp_valid_o(psn_rsp_valid),
    .rsp_ready_i(psn_rsp_ready),
    .rsp_o,
    .rsp_context_o,
    .banks_in_use_o
  );

  sack_events #(.NumSlots(NumSlots), .CounterWidth(CounterWidth), .MostInside(MostInside), .Events(Events)) u_sack_events (
    .clk_i,
    .rst_ni,
    .req_valid_i,
    .req_ready_o,
    .req_is_probe_i,
    .req_op_i,
    .req_slot_i,
    .req_payload_bytes_i,
    .req_retransmission_i,
    .req_reflection_i,
    .req_counter_bytes_i,
    .psn_req_valid_o    (psn_req_valid),
    .psn_req_ready_i    (psn_req_ready),
    .psn_rsp_valid_i    (psn_rsp_valid),
    .psn_rsp_ready_o    (psn_rsp_ready),
    .psn_rsp_place_i    (rsp_o.place),
    .psn_rsp_outcome_i  (rsp_o.outcome),
    .rsp_valid_o,
    .rsp_ready_i,
    .evt_go_i,
    .evt_valid_o,
    .evt_ready_i        (evt_ready_o),
    .evt_event_o,
    .evt_slot_o,
    .evt_payload_bytes_o,
    .evt_retransmission_o,
    .evt_reflection_o,
    .evt_counter_bytes_o(counter_bytes)
  );

  ack_coalescer #(.NumSlots(NumSlots), .CounterWidth(CounterWidth)) u_ack_coalescer (
    .clk_i,
    .rst_ni,
    .threshold_bytes_i,
    .min_add_bytes_i,
    .evt_valid_i         (evt_valid_o),
    .evt_ready_o,
    .evt_event_i         (evt_event_o),
    .evt_slot_i          (evt_slot_o),
    .evt_payload_bytes_i (evt_payload_bytes_o),
    .evt_retransmission_i(evt_retransmission_o),
    .evt_reflection_i    (evt_reflection_o),
    .evt_counter_bytes_i (counter_bytes),
    .sack_valid_o,
    .sack_ready_i,
    .sack_slot_o,
    .sack_causes_o,
    .sack_counter_bytes_o,
    .sack_reflection_o
  );

endmodule
