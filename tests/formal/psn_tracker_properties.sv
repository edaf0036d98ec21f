// What psn_tracker promises (rtl/psn_tracker/assertions), for every input that keeps the contract. Proved with two slots whose QPs
// share two banks: each can hold both of them, and one can take what the other needs. One context at a time is outside; a run may
// begin with one that has nothing above its edge. Any QP and any PSN of it are followed.
// steps: 12
// reached: all
// finds: window_one_too_wide bank_kept packet_buffer_inverted closes_of_full_banks
module psn_tracker_properties
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots   = 2,
  parameter  int unsigned NumBanks   = 2,
  parameter  int unsigned MprPsns    = 128,
  localparam int unsigned SlotWidth  = $clog2(NumSlots),
  localparam int unsigned CountWidth = $clog2(NumBanks) + 1,
  localparam int unsigned OooWidth   = $clog2(MprPsns + 1),
  localparam int unsigned UnitWidth  = $clog2(MprPsns / 128 + 1),
  localparam int unsigned Parts      = 2 ** $clog2(MprPsns / 128 + 1),
  localparam int unsigned ContextWidth = 48 + (OooWidth + 1) + UnitWidth + OooWidth + Parts * (1 + $clog2(NumBanks))
) (
  input  logic               clk_i,
  input  logic               nack_i,
  input  logic               dynamic_i,
  input  logic               req_valid_i,
  input  psn_op_e            req_op_i,
  input  logic [SlotWidth-1:0] req_slot_i,
  input  psn_t               req_psn_i,
  input  psn_packet_t        req_packet_i,
  input  sack_trigger_t      req_trigger_i,
  input  logic [ContextWidth-1:0] req_context_i,
  input  logic               rsp_ready_i,
  // In the first cycle: what the run is about.
  input  logic [SlotWidth-1:0] follow_slot_i,
  input  psn_t               follow_psn_i,
  input  logic               begins_outside_i,
  input  psn_t               outside_psn_i
);

  logic                 rst_ni = 1'b0;
  logic                 nack_out_of_window_i, dynamic_mpr_i;
  logic [SlotWidth-1:0] followed_i;
  psn_t                 followed_psn_i, psn_q;
  logic                 outside_i;
  logic [ContextWidth-1:0] outside_context_i;
  assign outside_context_i = {psn_q, psn_t'(psn_q - 24'd1), (OooWidth + 1)'(psn_q + psn_t'(MprPsns)), UnitWidth'(MprPsns / 128),
                              (OooWidth + Parts * (1 + $clog2(NumBanks)))'(0)};
  always_ff @(posedge clk_i) begin
    rst_ni <= 1'b1;
    if (!rst_ni) begin
      nack_out_of_window_i <= nack_i;
      dynamic_mpr_i        <= dynamic_i;
      followed_i           <= follow_slot_i;
      followed_psn_i       <= follow_psn_i;
      outside_i            <= begins_outside_i;
      psn_q                <= outside_psn_i;
    end
  end

  logic                    req_ready_o, rsp_valid_o;
  psn_reply_t              rsp_o;
  logic [ContextWidth-1:0] rsp_context_o;
  logic [CountWidth-1:0]   banks_in_use_o;
  psn_tracker #(.NumSlots(NumSlots), .NumBanks(NumBanks), .MprPsns(MprPsns)) dut (.*);
  psn_tracker_assertions #(.NumSlots(NumSlots), .NumBanks(NumBanks), .MprPsns(MprPsns)) u_assertions (.*);

  logic store_inside_q = 1'b0;
  logic loaded_above;  // the context that was outside last had PSNs above its edge, and its load is inside
  logic load_inside_q = 1'b0;
  assign loaded_above = load_inside_q && u_assertions.loading_ooo_q != '0;
  always_ff @(posedge clk_i) begin
    if (u_assertions.req_taken && req_op_i == PsnStore) store_inside_q <= 1'b1;
    if (u_assertions.rsp_taken && u_assertions.asked.op == PsnStore) store_inside_q <= 1'b0;
    if (u_assertions.req_taken && req_op_i == PsnLoad) load_inside_q <= 1'b1;
    if (u_assertions.rsp_taken && u_assertions.asked.op == PsnLoad) load_inside_q <= 1'b0;
    if (rst_ni && req_valid_i) begin
      assume (req_op_i != PsnStore || (!store_inside_q && !u_assertions.any_outside && !loaded_above));
      assume (req_op_i != PsnLoad || req_context_i == u_assertions.kept_context);
    end
  end

endmodule
