// retransmit_buffer as C++ sees it.
module retransmit_buffer_flat #(
  parameter  int unsigned Qps          = 16384,
  parameter  int unsigned Records      = 4096,
  parameter  int unsigned Buckets      = 4 * Records,
  parameter  int unsigned TimeWidth    = 48,
  localparam int unsigned QpWidth      = $clog2(Qps),
  localparam int unsigned CountWidth   = $clog2(Records) + 1
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    cmd_valid_i,
  output logic                    cmd_ready_o,
  input  logic [2:0]              cmd_op_i,
  input  logic [QpWidth-1:0]      cmd_qp_i,
  input  logic [23:0]             cmd_psn_i,
  input  logic [23:0]             cmd_base_i,
  input  logic [63:0]             cmd_bitmap_i,
  input  logic [TimeWidth-1:0]    cmd_now_i,
  input  logic [TimeWidth-1:0]    cmd_limit_i,
  input  logic [31:0]             cmd_threshold_i,
  input  logic [15:0]             cmd_ev_i,
  input  logic [3:0]              cmd_cause_i,
  input  logic [15:0]             cmd_message_i,
  input  logic [31:0]             cmd_offset_i,
  input  logic [15:0]             cmd_bytes_i,
  output logic                    evt_valid_o,
  input  logic                    evt_ready_i,
  output logic                    evt_lost_o,
  output logic [23:0]             evt_psn_o,
  output logic                    evt_was_lost_o,
  output logic [15:0]             evt_bytes_o,
  output logic [15:0]             evt_ev_o,
  output logic                    rsp_valid_o,
  input  logic                    rsp_ready_i,
  output logic                    rsp_hit_o,
  output logic                    rsp_advanced_o,
  output logic [CountWidth-1:0]   rsp_count_o,
  output logic [23:0]             rsp_psn_o,
  output logic [15:0]             rsp_message_o,
  output logic [31:0]             rsp_offset_o,
  output logic [15:0]             rsp_bytes_o,
  output logic [3:0]              rsp_cause_o,
  output logic [23:0]             rsp_unacked_o,
  output logic [23:0]             rsp_next_o,
  output logic                    rsp_has_lost_o,
  output logic [23:0]             rsp_oldest_lost_o,
  output logic                    rsp_outstanding_o,
  output logic [23:0]             rsp_oldest_psn_o,
  output logic [TimeWidth-1:0]    rsp_oldest_sent_o,
  output logic [CountWidth-1:0]   rsp_free_o
);

  retransmit_buffer #(.Qps(Qps), .Records(Records), .Buckets(Buckets), .TimeWidth(TimeWidth)) u_retransmit_buffer (
    .clk_i, .rst_ni, .cmd_valid_i, .cmd_ready_o, .cmd_op_i(mrc_pkg::retransmit_op_e'(cmd_op_i)), .cmd_qp_i,
    .cmd_psn_i, .cmd_base_i, .cmd_bitmap_i, .cmd_now_i, .cmd_limit_i, .cmd_threshold_i, .cmd_ev_i, .cmd_cause_i,
    .cmd_message_i, .cmd_offset_i, .cmd_bytes_i, .evt_valid_o, .evt_ready_i, .evt_lost_o, .evt_psn_o,
    .evt_was_lost_o, .evt_bytes_o, .evt_ev_o, .rsp_valid_o, .rsp_ready_i, .rsp_hit_o, .rsp_advanced_o, .rsp_count_o,
    .rsp_psn_o, .rsp_message_o, .rsp_offset_o, .rsp_bytes_o, .rsp_cause_o, .rsp_unacked_o, .rsp_next_o,
    .rsp_has_lost_o, .rsp_oldest_lost_o, .rsp_outstanding_o, .rsp_oldest_psn_o, .rsp_oldest_sent_o, .rsp_free_o
  );

endmodule
