// psn_tracker with the fields of its structs as ports, so that C++ sets and reads them by name.
module psn_tracker_flat
  import mrc_pkg::*;
#(
  parameter  int unsigned NumQps     = 16384,
  parameter  int unsigned NumBanks   = 4096,
  parameter  int unsigned MprPsns    = 1024,
  localparam int unsigned QpWidth    = $clog2(NumQps),
  localparam int unsigned CountWidth = $clog2(NumBanks) + 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  nack_out_of_window_i,
  input  logic                  dynamic_mpr_i,
  input  logic                  req_valid_i,
  output logic                  req_ready_o,
  input  logic [2:0]            req_op_i,
  input  logic [QpWidth-1:0]    req_qp_i,
  input  logic [23:0]           req_psn_i,
  input  logic                  req_ends_message_i,
  input  logic                  req_allowed_i,
  input  logic                  req_packet_buffer_i,
  input  logic                  req_other_resource_i,
  input  logic                  req_receive_i,
  input  logic                  req_ce_i,
  input  logic                  req_ack_request_i,
  input  logic                  req_probe_i,
  input  logic [15:0]           req_probe_id_i,
  output logic                  rsp_valid_o,
  input  logic                  rsp_ready_i,
  output logic [2:0]            rsp_outcome_o,
  output logic [7:0]            rsp_nack_o,
  output logic                  rsp_place_o,
  output logic                  rsp_duplicate_o,
  output logic                  rsp_repeat_ack_o,
  output logic [15:0]           rsp_closes_o,
  output logic [23:0]           rsp_cack_o,
  output logic [23:0]           rsp_highest_o,
  output logic [14:0]           rsp_ooo_count_o,
  output logic [15:0]           rsp_sack_offset_o,
  output logic [15:0]           rsp_ack_psn_offset_o,
  output logic [63:0]           rsp_sack_bitmap_o,
  output logic [7:0]            rsp_mpr_o,
  output logic [CountWidth-1:0] banks_in_use_o
);

  psn_packet_t   packet;
  sack_trigger_t trigger;
  psn_reply_t    reply;
  assign packet = '{
    ends_message: req_ends_message_i,
    allowed: req_allowed_i,
    packet_buffer: req_packet_buffer_i,
    other_resource: req_other_resource_i,
    receive: req_receive_i
  };
  assign trigger = '{ce: req_ce_i, ack_request: req_ack_request_i, probe: req_probe_i, probe_id: req_probe_id_i};

  psn_tracker #(.NumQps(NumQps), .NumBanks(NumBanks), .MprPsns(MprPsns)) u_psn_tracker (
    .clk_i, .rst_ni, .nack_out_of_window_i, .dynamic_mpr_i,
    .req_valid_i, .req_ready_o, .req_op_i(psn_op_e'(req_op_i)), .req_qp_i, .req_psn_i,
    .req_packet_i(packet), .req_trigger_i(trigger),
    .rsp_valid_o, .rsp_ready_i, .rsp_o(reply), .banks_in_use_o
  );

  assign rsp_outcome_o        = reply.outcome;
  assign rsp_nack_o           = reply.nack;
  assign rsp_place_o          = reply.place;
  assign rsp_duplicate_o      = reply.duplicate;
  assign rsp_repeat_ack_o     = reply.repeat_ack;
  assign rsp_closes_o         = reply.closes;
  assign rsp_cack_o           = reply.cack;
  assign rsp_highest_o        = reply.highest;
  assign rsp_ooo_count_o      = reply.ooo_count;
  assign rsp_sack_offset_o    = reply.sack_offset;
  assign rsp_ack_psn_offset_o = reply.ack_psn_offset;
  assign rsp_sack_bitmap_o    = reply.sack_bitmap;
  assign rsp_mpr_o            = reply.mpr;

endmodule
