// ack_coalescer with the fields of its structs as ports, so that C++ sets and reads them by name.
module ack_coalescer_flat
  import mrc_pkg::*;
#(
  parameter  int unsigned NumQps       = 16384,
  parameter  int unsigned CounterWidth = 25,
  localparam int unsigned QpWidth      = $clog2(NumQps)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [CounterWidth-1:0] threshold_bytes_i,
  input  logic [16:0]             min_add_bytes_i,
  input  logic                    evt_valid_i,
  output logic                    evt_ready_o,
  input  logic [1:0]              evt_event_i,
  input  logic [QpWidth-1:0]      evt_qp_i,
  input  logic [14:0]             evt_payload_bytes_i,
  input  logic                    evt_retransmission_i,
  input  logic [23:0]             evt_psn_i,
  input  logic [31:0]             evt_ev_i,
  input  logic [15:0]             evt_tx_timestamp_i,
  input  logic [15:0]             evt_probe_id_i,
  input  logic                    evt_ce_i,
  input  logic                    evt_ack_request_i,
  input  logic                    evt_probe_i,
  output logic                    sack_valid_o,
  input  logic                    sack_ready_i,
  output logic [QpWidth-1:0]      sack_qp_o,
  output logic [4:0]              sack_causes_o,
  output logic [CounterWidth-1:0] sack_counter_bytes_o,
  output logic [23:0]             sack_psn_o,
  output logic [31:0]             sack_ev_o,
  output logic [15:0]             sack_tx_timestamp_o,
  output logic [15:0]             sack_probe_id_o,
  output logic                    sack_ce_o,
  output logic                    sack_ack_request_o,
  output logic                    sack_probe_o
);

  sack_reflection_t in_reflection, out_reflection;
  assign in_reflection = '{
    psn: evt_psn_i,
    ev: evt_ev_i,
    tx_timestamp: evt_tx_timestamp_i,
    probe_id: evt_probe_id_i,
    ce: evt_ce_i,
    ack_request: evt_ack_request_i,
    probe: evt_probe_i
  };

  ack_coalescer #(.NumQps(NumQps), .CounterWidth(CounterWidth)) u_ack_coalescer (
    .clk_i, .rst_ni, .threshold_bytes_i, .min_add_bytes_i,
    .evt_valid_i, .evt_ready_o, .evt_event_i(sack_event_e'(evt_event_i)), .evt_qp_i, .evt_payload_bytes_i,
    .evt_retransmission_i, .evt_reflection_i(in_reflection),
    .sack_valid_o, .sack_ready_i, .sack_qp_o, .sack_causes_o, .sack_counter_bytes_o,
    .sack_reflection_o(out_reflection)
  );

  assign sack_psn_o          = out_reflection.psn;
  assign sack_ev_o           = out_reflection.ev;
  assign sack_tx_timestamp_o = out_reflection.tx_timestamp;
  assign sack_probe_id_o     = out_reflection.probe_id;
  assign sack_ce_o           = out_reflection.ce;
  assign sack_ack_request_o  = out_reflection.ack_request;
  assign sack_probe_o        = out_reflection.probe;

endmodule
