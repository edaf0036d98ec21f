// Proves rtl/retransmit_buffer/assertions/retransmit_buffer_assertions.sv for every input that keeps the contract there. Any packet
// of any QP is followed: what is proved of it is proved of all. Proved with two QPs that share four records; times of four bits.
// With so few buckets a SACK names four PSNs at most. So that few cycles reach far a run begins with a reset, with what the walk behind
// a reset leaves (that it leaves this is proved with the rest), or with one QP, in its slot or outside, that has two packets: each
// in the pipeline, outstanding or lost, sent in either order, once or again or not yet. PSNs begin at 0x400000 to 0x40000F. Each QP
// has a slot, to which its context comes back. A take answers after more cycles than are proved for all commands: TAKES begins with
// the two packets lost or one of them, and has no other command.
// steps: 12
// case: TAKES 20
// reached: all
// finds: append_not_forwarded older_loss_forgotten
module retransmit_buffer_properties
  import mrc_pkg::*;
#(
  parameter  int unsigned Qps        = 2,
  parameter  int unsigned Records    = 4,
  parameter  int unsigned TimeWidth  = 4,
  localparam int unsigned QpWidth    = $clog2(Qps),
  localparam int unsigned IndexWidth = $clog2(Records),
  localparam int unsigned CountWidth = $clog2(Records) + 1,
  localparam int unsigned ContextWidth = 138 + 2 * IndexWidth + CountWidth
) (
  input  logic                 clk_i,
  input  logic                 cmd_valid_i,
  input  retransmit_op_e       cmd_op_i,
  input  logic [QpWidth-1:0]   cmd_qp_i,
  input  logic [23:0]          cmd_psn_i,
  input  logic [23:0]          cmd_base_i,
  input  logic [Records-1:0]   any_bitmap_i,
  input  logic [TimeWidth-1:0] cmd_now_i,
  input  logic [TimeWidth-1:0] cmd_limit_i,
  input  logic [31:0]          cmd_threshold_i,
  input  logic [15:0]          cmd_ev_i,
  input  logic [3:0]           cmd_cause_i,
  input  logic [15:0]          cmd_message_i,
  input  logic [31:0]          cmd_offset_i,
  input  logic [15:0]          cmd_bytes_i,
  input  logic [ContextWidth-1:0] cmd_context_i,
  input  logic                 evt_ready_i,
  input  logic                 rsp_ready_i,
  input  logic [1:0]           start_i,
  input  logic [QpWidth-1:0]   two_qp_i,
  input  logic [23:0]          two_psn_i,
  input  logic [31:0]          two_acked_i,
  input  logic [1:0][119:0]    two_packets_i
);

  localparam logic [1:0] Reset = 2'd0, Walked = 2'd1, Two = 2'd2, TwoAway = 2'd3;  // how the run begins
  logic                  started_q = 1'b0, rst_ni;
  assign rst_ni = started_q || start_i != Reset;
  logic                  cmd_ready_o, evt_valid_o, evt_lost_o, evt_was_lost_o, rsp_valid_o, rsp_hit_o, rsp_advanced_o;
  logic                  rsp_has_lost_o, rsp_outstanding_o;
  logic [23:0]           evt_psn_o, rsp_psn_o, rsp_unacked_o, rsp_next_o, rsp_oldest_lost_o, rsp_oldest_psn_o;
  logic [15:0]           evt_bytes_o, evt_ev_o, rsp_message_o, rsp_bytes_o;
  logic [31:0]           rsp_offset_o;
  logic [3:0]            rsp_cause_o;
  logic [TimeWidth-1:0]  rsp_oldest_sent_o;
  logic [CountWidth-1:0] rsp_count_o, rsp_free_o;
  logic [ContextWidth-1:0] rsp_context_o;
  logic [QpWidth-1:0]    cmd_slot_i;
  logic [63:0]           cmd_bitmap_i;
  assign cmd_slot_i   = cmd_qp_i;
  assign cmd_bitmap_i = 64'(any_bitmap_i);
  retransmit_buffer #(.Qps(Qps), .NumSlots(Qps), .Records(Records), .Buckets(Records), .TimeWidth(TimeWidth)) dut (.*);
  retransmit_buffer_assertions #(.Qps(Qps), .NumSlots(Qps), .Records(Records), .TimeWidth(TimeWidth)) u_assertions (
    .*, .follow_i(1'b0)
  );

  // What a reset and its walk leave: nothing is under way, no QP and no record is known.
  localparam logic [2:0] Clear = 3'd0, Act = 3'd1;  // of dut.state_q
  logic idle, walked, walks_q = 1'b0;
  always_comb begin
    idle = dut.state_q == Act && !dut.s1_valid_q && !dut.s2_valid_q && !dut.s3_valid_q && !dut.s3_lost_q && !dut.s4_valid_q &&
           !dut.walk_q && !dut.response_valid_q && !dut.look_valid_q && !dut.fetch_valid_q && !dut.act_valid_q && !evt_valid_o &&
           dut.u_free.free_q == CountWidth'(Records) - dut.u_free.fresh_q && dut.u_free.u_returned.count_q == '0 &&
           dut.u_free.u_returned.write_q == '0 && dut.u_free.u_returned.read_q == '0;
    walked = idle && dut.u_free.fresh_q == '0;
    for (int unsigned i = 0; i < Qps; i++) walked = walked && dut.u_contexts.mem[i] == '0;
    for (int unsigned i = 0; i < Records; i++) walked = walked && dut.u_buckets.mem[i] == '0 && dut.u_fronts.mem[i] == '0;
  end

  // A QP with two packets, in records 0 and 1: what a record holds beside QP and PSN, as in the block; and the QP's context.
  typedef struct packed {
    logic [1:0]  state;            // 0 in the pipeline, 1 outstanding, 2 lost
    logic [31:0] sequence_number;
    logic [15:0] ev;
    logic [1:0]  transmissions;
    logic [3:0]  cause;
    logic [15:0] message;
    logic [31:0] offset;
    logic [15:0] bytes;
  } packet_t;
  packet_t [1:0]           two;
  logic                    two_is_it, later, both, any;
  logic                    head, tail;
  logic [CountWidth-1:0]   losses;
  logic [23:0]             oldest_lost;
  logic [IndexWidth-1:0]   bucket;
  logic [IndexWidth:0]     link;
  logic [ContextWidth-1:0] two_context;
  assign two   = two_packets_i;
  assign later = two[0].sequence_number > two[1].sequence_number;  // the first is the one that was sent later
  assign both  = two[0].state == 2'd1 && two[1].state == 2'd1;
  assign any   = two[0].state == 2'd1 || two[1].state == 2'd1;
  assign head  = both ? later : two[1].state == 2'd1;
  assign tail  = both ? !later : head;
  assign losses      = CountWidth'(two[0].state == 2'd2) + CountWidth'(two[1].state == 2'd2);
  assign oldest_lost = two_psn_i + 24'(two[0].state != 2'd2);
  assign two_context = {1'b1, two_psn_i, 24'(two_psn_i + 24'd2), 32'd4, two_acked_i, any, IndexWidth'(head), IndexWidth'(tail),
                        losses, oldest_lost};
  always_comb begin
    two_is_it = idle && dut.u_free.fresh_q == CountWidth'(2) && two_psn_i[23:4] == 20'h40000 && two_acked_i <= 32'd4 &&
                !(two[0].transmissions != 2'd0 && two[0].sequence_number == two[1].sequence_number);
    for (int unsigned i = 0; i < 2; i++) begin
      two_is_it = two_is_it && two[i].state != 2'd3 && two[i].transmissions != 2'd3;
      if (two[i].transmissions == 2'd0) begin
        two_is_it = two_is_it && two[i].state == 2'd0 && two[i].sequence_number == '0 && two[i].ev == '1;
      end else begin
        two_is_it = two_is_it && two[i].sequence_number != '0 && two[i].sequence_number <= 32'd4;
      end
      two_is_it = two_is_it && dut.u_records.mem[i] == {two_qp_i, 24'(two_psn_i + 24'(i)), two[i]} &&
                  !dut.u_chains.mem[i][IndexWidth] && dut.u_sent.mem[i][TimeWidth+:24] == 24'(two_psn_i + 24'(i));
    end
    if (both) begin
      two_is_it = two_is_it && dut.u_later.mem[head] == IndexWidth'(tail) && dut.u_earlier.mem[tail] == IndexWidth'(head);
    end
    for (int unsigned i = 0; i < Qps; i++) begin
      two_is_it = two_is_it && dut.u_contexts.mem[i] == ((two_qp_i != QpWidth'(i) || start_i == TwoAway) ? '0 : two_context);
    end
    for (int unsigned b = 0; b < Records; b++) begin
      link = '0;
      for (int unsigned i = 0; i < 2; i++) begin
        bucket = dut.bucket_of(two_qp_i, IndexWidth'(two_psn_i + 24'(i)));
        if (bucket == IndexWidth'(b)) link = {1'b1, IndexWidth'(i)};
      end
      two_is_it = two_is_it && dut.u_buckets.mem[b] == link && dut.u_fronts.mem[b] == link;
    end
  end

  // What the assertions know of these two, of which one is followed or none.
  logic           knows_nothing, knows_two;
  logic [1:0]     knows_its;
  logic [Qps-1:0] two_qp;
  assign two_qp = Qps'(1) << two_qp_i;
  always_comb begin
    knows_nothing = u_assertions.inside_q == '0 && u_assertions.events_q == '0 && !u_assertions.evt_held_q && !u_assertions.rsp_held_q;
    knows_two     = u_assertions.records_q == CountWidth'(2) && u_assertions.packets_q[two_qp_i] == CountWidth'(2) &&
                    u_assertions.unacked_q == two_psn_i;
    for (int unsigned i = 0; i < 2; i++) begin
      knows_its[i] = u_assertions.qp_q == two_qp_i && u_assertions.psn_q == 24'(two_psn_i + 24'(i));
      if (knows_its[i]) begin
        knows_two = knows_two && 2'(u_assertions.where_q) == two[i].state + 2'd1 && u_assertions.its_cause_q == two[i].cause &&
                    {u_assertions.its_message_q, u_assertions.its_offset_q} == {two[i].message, two[i].offset} &&
                    {u_assertions.its_bytes_q, u_assertions.its_ev_q} == {two[i].bytes, two[i].ev} &&
                    u_assertions.its_sent_q == dut.u_sent.mem[i][TimeWidth-1:0];
      end
    end
    if (knows_its == '0) knows_two = knows_two && 2'(u_assertions.where_q) == '0;
  end

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    walks_q   <= rst_ni && dut.state_q == Clear;
    if (!started_q) begin
      if (start_i != Reset) assume (knows_nothing && !cmd_valid_i);
      if (start_i == Walked) begin
        assume (walked && u_assertions.records_q == '0 && 2'(u_assertions.where_q) == '0 && u_assertions.opened_q == '0);
        assume (u_assertions.used_q == '0 && u_assertions.given_q == '0 && u_assertions.opening_q == '0 && u_assertions.outside_q == '0);
      end
      if (start_i == Two || start_i == TwoAway) begin
        assume (two_is_it && knows_two && u_assertions.opened_q == two_qp && u_assertions.opening_q == two_qp);
        assume (u_assertions.given_q == two_qp && u_assertions.qp_of_q[two_qp_i] == two_qp_i);
        assume (u_assertions.used_q == (start_i == Two ? two_qp : '0) && u_assertions.outside_q == (start_i == Two ? '0 : two_qp));
        assume (start_i == Two || u_assertions.context_q[two_qp_i] == two_context);
      end
`ifdef TAKES
      assume (start_i == Two && losses != '0);
`endif
    end
    if (walks_q && dut.state_q != Clear) walk_leaves_nothing: assert (walked);
    if (rst_ni) begin
`ifdef TAKES
      if (cmd_valid_i) assume (cmd_op_i == RetransmitTake);
`endif
      // PSNs begin in sixteen places here: acknowledgements near them, below and above. An open waits until nothing is inside.
      if (cmd_valid_i && cmd_op_i == RetransmitOpen) begin
        assume (cmd_psn_i[23:4] == 20'h40000 && u_assertions.inside_q == '0);
        assume (!u_assertions.opened_q[cmd_qp_i] || u_assertions.packets_q[cmd_qp_i] == '0);
      end
      if (cmd_valid_i && cmd_op_i == RetransmitAck) begin
        assume (cmd_psn_i[23:4] == 20'h3FFFF || cmd_psn_i[23:4] == 20'h40000 || cmd_psn_i[23:4] == 20'h40001);
        assume (cmd_base_i[23:4] == 20'h3FFFF || cmd_base_i[23:4] == 20'h40000 || cmd_base_i[23:4] == 20'h40001);
      end

      // A context is at the output as it came.
      if (rsp_valid_o && u_assertions.cmd.op == RetransmitLoad) begin
        loaded_as_stored: assert (rsp_context_o == u_assertions.context_q[u_assertions.cmd.qp]);
      end
    end
  end

endmodule
