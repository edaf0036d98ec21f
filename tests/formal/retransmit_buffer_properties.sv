// What retransmit_buffer promises (rtl/retransmit_buffer/README.md), for every input that keeps the contract. Any packet of any
// QP is followed: what is proved of it is proved of all. Proved with two QPs that share four records; times of four bits. With
// so few buckets a SACK names four PSNs at most. So that few cycles reach far a run begins with a reset, with what the walk behind
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
  input  logic [Records-1:0]   cmd_bitmap_i,
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
  input  logic [1:0][119:0]    two_packets_i,
  input  logic [QpWidth-1:0]   follow_qp_i,
  input  logic [23:0]          follow_psn_i
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
  retransmit_buffer #(.Qps(Qps), .NumSlots(Qps), .Records(Records), .Buckets(Records), .TimeWidth(TimeWidth)) dut (
    .clk_i, .rst_ni, .cmd_valid_i, .cmd_ready_o, .cmd_op_i, .cmd_slot_i(cmd_qp_i), .cmd_qp_i, .cmd_psn_i, .cmd_base_i,
    .cmd_bitmap_i(64'(cmd_bitmap_i)), .cmd_now_i, .cmd_limit_i, .cmd_threshold_i, .cmd_ev_i, .cmd_cause_i,
    .cmd_message_i, .cmd_offset_i, .cmd_bytes_i, .cmd_context_i,
    .evt_valid_o, .evt_ready_i, .evt_lost_o, .evt_psn_o, .evt_was_lost_o, .evt_bytes_o, .evt_ev_o, .rsp_valid_o, .rsp_ready_i, .rsp_hit_o, .rsp_advanced_o, .rsp_count_o, .rsp_psn_o,
    .rsp_message_o, .rsp_offset_o, .rsp_bytes_o, .rsp_cause_o, .rsp_unacked_o, .rsp_next_o, .rsp_has_lost_o,
    .rsp_oldest_lost_o, .rsp_outstanding_o, .rsp_oldest_psn_o, .rsp_oldest_sent_o, .rsp_free_o, .rsp_context_o
  );

  typedef enum logic [1:0] {Gone, InPipeline, Outstanding, Lost} where_e;

  logic cmd_taken, evt_taken, rsp_taken;
  assign cmd_taken = rst_ni && cmd_valid_i && cmd_ready_o;
  assign evt_taken = rst_ni && evt_valid_o && evt_ready_i;
  assign rsp_taken = rst_ni && rsp_valid_o && rsp_ready_i;

  logic [QpWidth-1:0] qp_q;
  logic [23:0]        psn_q;

  // The commands inside, the oldest first: the one that events and the response belong to.
  typedef struct packed {
    retransmit_op_e     op;
    logic [QpWidth-1:0] qp;
    logic [23:0]        psn;
    logic               covers;  // acknowledges the packet, if it is there
    logic [15:0]        ev;
    logic [3:0]         cause;
    logic [15:0]        message;
    logic [15:0]        bytes;
    logic [31:0]        offset;
  } command_t;
  command_t [7:0]      commands_q = '0;
  logic [3:0]          inside_q = '0;
  logic [CountWidth:0] events_q = '0;  // of the oldest
  command_t            cmd;
  logic                ours, names;
  assign cmd   = commands_q[0];
  assign ours  = cmd.qp == qp_q;
  assign names = ours && cmd.psn == psn_q;

  // Where the packet is, and what was said of it; how many records all QPs have; how many packets each has.
  where_e                          where_q = Gone;
  logic [15:0]                     its_message_q, its_bytes_q, its_ev_q;
  logic [31:0]                     its_offset_q;
  logic [3:0]                      its_cause_q;
  logic [CountWidth-1:0]           records_q = '0;
  logic [Qps-1:0][CountWidth-1:0]  packets_q = '0;
  logic [Qps-1:0]                  opened_q = '0;
  logic [23:0]                     unacked_q;
  // Contexts that were stored, and those of them that came out.
  logic [Qps-1:0]                   away_q = '0, outside_q = '0;
  logic [Qps-1:0][ContextWidth-1:0] context_q;
  logic                            acked, lost;
  assign acked = evt_taken && ours && !evt_lost_o && evt_psn_o == psn_q;
  assign lost  = evt_taken && ours && evt_lost_o && evt_psn_o == psn_q;

  logic [23:0] behind_base;
  assign behind_base = psn_q - cmd_base_i;

  logic        evt_held_q = 1'b0, rsp_held_q = 1'b0;
  logic [57:0] evt_q;
  logic [CountWidth-1:0] held_count_q, held_free_q;
  logic [23:0] held_psn_q, held_unacked_q, held_next_q;
  logic        held_hit_q;

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

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    walks_q   <= rst_ni && dut.state_q == Clear;
    if (!started_q) begin
      qp_q  <= follow_qp_i;
      psn_q <= follow_psn_i;
      if (start_i == TwoAway) begin
        away_q[two_qp_i]    <= 1'b1;
        outside_q[two_qp_i] <= 1'b1;
        context_q[two_qp_i] <= two_context;
      end
      if (start_i == Two || start_i == TwoAway) begin
        records_q           <= CountWidth'(2);
        packets_q[two_qp_i] <= CountWidth'(2);
        opened_q[two_qp_i]  <= 1'b1;
        unacked_q           <= two_psn_i;
        for (int unsigned i = 0; i < 2; i++) begin
          if (follow_qp_i == two_qp_i && follow_psn_i == 24'(two_psn_i + 24'(i))) begin
            where_q       <= where_e'(two[i].state + 2'd1);
            its_message_q <= two[i].message;
            its_offset_q  <= two[i].offset;
            its_bytes_q   <= two[i].bytes;
            its_ev_q      <= two[i].ev;
            its_cause_q   <= two[i].cause;
          end
        end
      end
    end
    if (rsp_taken) commands_q <= {command_t'('0), commands_q[7:1]};
    if (cmd_taken) begin
      commands_q[inside_q[2:0] - 3'(rsp_taken)] <= '{
        op: cmd_op_i, qp: cmd_qp_i, psn: cmd_psn_i, ev: cmd_ev_i, cause: cmd_cause_i, message: cmd_message_i,
        bytes: cmd_bytes_i, offset: cmd_offset_i,
        covers: 24'(cmd_psn_i - psn_q) < 24'h40_0000 ||
                (behind_base < 24'(Records) && cmd_bitmap_i[behind_base[CountWidth-2:0]])
      };
    end
    inside_q <= inside_q + 4'(cmd_taken) - 4'(rsp_taken);
    if (rsp_taken && cmd.op == RetransmitStore) begin
      outside_q[cmd.qp] <= 1'b1;
      context_q[cmd.qp] <= rsp_context_o;
    end
    if (cmd_taken && cmd_op_i == RetransmitStore) away_q[cmd_qp_i] <= 1'b1;
    if (cmd_taken && cmd_op_i == RetransmitLoad) begin
      away_q[cmd_qp_i]    <= 1'b0;
      outside_q[cmd_qp_i] <= 1'b0;
    end
    if (rsp_taken) events_q <= '0;
    else if (evt_taken) events_q <= events_q + 1'b1;
    if (evt_taken && !evt_lost_o) begin
      records_q         <= records_q - 1'b1;
      packets_q[cmd.qp] <= packets_q[cmd.qp] - 1'b1;
    end
    if (acked) where_q <= Gone;
    if (lost) begin
      where_q     <= Lost;
      its_cause_q <= cmd.cause;
    end
    if (rsp_taken) begin
      if (cmd.op == RetransmitOpen) opened_q[cmd.qp] <= 1'b1;
      if (cmd.op == RetransmitAppend && rsp_hit_o) begin
        records_q         <= records_q + 1'b1;
        packets_q[cmd.qp] <= packets_q[cmd.qp] + 1'b1;
        if (ours && rsp_psn_o == psn_q) begin
          where_q       <= InPipeline;
          its_message_q <= cmd.message;
          its_offset_q  <= cmd.offset;
          its_bytes_q   <= cmd.bytes;
          its_ev_q      <= '1;  // none yet
        end
      end
      if (cmd.op == RetransmitSent && names && rsp_hit_o) begin
        where_q  <= Outstanding;
        its_ev_q <= cmd.ev;
      end
      if (cmd.op == RetransmitTake && ours && rsp_hit_o && rsp_psn_o == psn_q) where_q <= InPipeline;
      if (ours) unacked_q <= rsp_unacked_o;
    end
    evt_held_q     <= rst_ni && evt_valid_o && !evt_ready_i;
    evt_q          <= {evt_lost_o, evt_was_lost_o, evt_psn_o, evt_bytes_o, evt_ev_o};
    rsp_held_q     <= rst_ni && rsp_valid_o && !rsp_ready_i;
    held_hit_q     <= rsp_hit_o;
    held_count_q   <= rsp_count_o;
    held_free_q    <= rsp_free_o;
    held_psn_q     <= rsp_psn_o;
    held_unacked_q <= rsp_unacked_o;
    held_next_q    <= rsp_next_o;
  end

  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      if (start_i == Walked) assume (walked && !cmd_valid_i);
      if (start_i == Two || start_i == TwoAway) assume (two_is_it && !cmd_valid_i);
`ifdef TAKES
      assume (start_i == Two && losses != '0);
`endif
    end
    if (walks_q && dut.state_q != Clear) walk_leaves_nothing: assert (walked);
    if (rst_ni) begin
`ifdef TAKES
      if (cmd_valid_i) assume (cmd_op_i == RetransmitTake);
`endif
      // A slot whose QP was stored gets it back by a load.
      if (cmd_valid_i) begin
        assume (cmd_op_i <= RetransmitStore && (cmd_op_i == RetransmitLoad) == away_q[cmd_qp_i]);
        assume (cmd_op_i != RetransmitLoad || (outside_q[cmd_qp_i] && cmd_context_i == context_q[cmd_qp_i]));
      end
      // A QP that has packets is not opened. PSNs begin in sixteen places here: acknowledgements near them, below and above.
      if (cmd_valid_i && cmd_op_i == RetransmitOpen) begin
        assume (inside_q == '0 && packets_q[cmd_qp_i] == '0 && cmd_psn_i[23:4] == 20'h40000);
      end
      if (cmd_valid_i && cmd_op_i == RetransmitAck) begin
        assume (cmd_psn_i[23:4] == 20'h3FFFF || cmd_psn_i[23:4] == 20'h40000 || cmd_psn_i[23:4] == 20'h40001);
        assume (cmd_base_i[23:4] == 20'h3FFFF || cmd_base_i[23:4] == 20'h40000 || cmd_base_i[23:4] == 20'h40001);
      end

      // What is offered stays as it is.
      if (evt_held_q) event_stays: assert (evt_valid_o && evt_q == {evt_lost_o, evt_was_lost_o, evt_psn_o, evt_bytes_o, evt_ev_o});
      if (rsp_held_q) begin
        response_stays_valid: assert (rsp_valid_o && rsp_hit_o == held_hit_q && rsp_count_o == held_count_q && rsp_free_o == held_free_q);
        response_stays_the_same: assert (rsp_psn_o == held_psn_q && rsp_unacked_o == held_unacked_q && rsp_next_o == held_next_q);
      end

      // One response to each command, in their order, its events before it.
      commands_inside_bound: assert (inside_q <= 4'd5);
      if (evt_valid_o) event_has_command: assert (inside_q != '0);
      if (rsp_valid_o) response_after_events: assert (inside_q != '0 && !evt_valid_o);

      // A context comes back as it went.
      if (rsp_valid_o && cmd.op == RetransmitLoad) loaded_as_stored: assert (rsp_context_o == context_q[cmd.qp]);

      // Each record is in the pool or with one packet.
      if (rsp_valid_o) begin
        records_conserved: assert (rsp_free_o == CountWidth'(Records) - records_q - CountWidth'(cmd.op == RetransmitAppend && rsp_hit_o));
        if (cmd.op == RetransmitAck || cmd.op == RetransmitGap || cmd.op == RetransmitTimeout) begin
          count_is_events: assert ((CountWidth+1)'(rsp_count_o) == events_q);
        end
        if (cmd.op == RetransmitAppend && opened_q[cmd.qp]) begin
          append_unless_full: assert (rsp_hit_o == (records_q != CountWidth'(Records)));
        end
      end

      // The packet: acknowledged once, by a command that names it; declared lost only while it is outstanding.
      if (evt_valid_o && ours && evt_psn_o == psn_q) begin
        if (evt_lost_o) begin
          declared_lost_while_outstanding: assert (where_q == Outstanding && cmd.op != RetransmitAck);
        end else begin
          acknowledged_if_covered: assert (where_q != Gone && cmd.covers && evt_was_lost_o == (where_q == Lost));
        end
        event_fields: assert (evt_bytes_o == its_bytes_q && evt_ev_o == its_ev_q);
      end
      if (rsp_valid_o && ours) begin
        // Nobody who was acknowledged is kept.
        if (cmd.op == RetransmitAck && cmd.covers) covered_is_gone: assert (where_q == Gone);
        if (cmd.op == RetransmitSent && names) sent_hits_in_pipeline: assert (rsp_hit_o == (where_q == InPipeline));
        if (cmd.op == RetransmitNack && names) nack_hits_outstanding: assert (rsp_hit_o == (where_q == Lost && events_q == 1));
        if (cmd.op == RetransmitAppend && rsp_hit_o && rsp_psn_o == psn_q) appended_was_gone: assert (where_q == Gone);
        // What is taken again is what was lost, as it was appended; it is the oldest.
        if (cmd.op == RetransmitTake && rsp_hit_o) begin
          if (rsp_psn_o == psn_q) begin
            taken_was_lost: assert (where_q == Lost && rsp_cause_o == its_cause_q);
            taken_as_appended: assert (rsp_message_o == its_message_q && rsp_offset_o == its_offset_q && rsp_bytes_o == its_bytes_q);
          end else if (where_q == Lost) begin
            taken_is_oldest: assert (rsp_psn_o < psn_q);
          end
        end
        // The state of its QP: nothing that is not acknowledged lies outside the window; nothing lost is overlooked, nor is
        // what is outstanding.
        if (where_q != Gone) packet_in_window: assert (rsp_unacked_o <= psn_q && psn_q < rsp_next_o);
        if (cmd.op != RetransmitTake || rsp_psn_o != psn_q) begin
          if (where_q == Lost) lost_not_overlooked: assert (rsp_has_lost_o && rsp_oldest_lost_o <= psn_q);
          if (where_q != Lost && rsp_has_lost_o) oldest_lost_is_lost: assert (rsp_oldest_lost_o != psn_q);
        end
        if (where_q == Outstanding) outstanding_not_overlooked: assert (rsp_outstanding_o);
        // The old end is a packet that is not acknowledged, or there is none.
        if (opened_q[cmd.qp] && rsp_unacked_o != rsp_next_o && rsp_unacked_o == psn_q && cmd.op != RetransmitAppend) begin
          old_end_not_acknowledged: assert (where_q != Gone);
        end
        if (cmd.op != RetransmitOpen && opened_q[cmd.qp]) old_end_never_back: assert (rsp_unacked_o >= unacked_q);
      end
    end
  end

endmodule
