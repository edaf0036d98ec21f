// What retransmit_buffer promises at its ports (README.md), for every input that keeps its contract, as a checker to bind. What is
// assumed is the contract of the inputs: names that begin with contract_. One packet is followed until another is appended while
// follow_i is 1.
module retransmit_buffer_assertions
  import mrc_pkg::*;
#(
  parameter  int unsigned Qps             = 16384,
  parameter  int unsigned NumSlots        = 1024,
  parameter  int unsigned Records         = 4096,
  parameter  int unsigned TimeWidth       = 48,
  parameter  bit          DataSheetCycles = 1'b1,  // five commands fit
  localparam int unsigned QpWidth         = $clog2(Qps),
  localparam int unsigned SlotWidth       = $clog2(NumSlots),
  localparam int unsigned IndexWidth      = $clog2(Records),
  localparam int unsigned CountWidth      = $clog2(Records) + 1,
  localparam int unsigned ContextWidth    = 138 + 2 * IndexWidth + CountWidth
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic                    cmd_valid_i,
  input logic                    cmd_ready_o,
  input retransmit_op_e          cmd_op_i,
  input logic [SlotWidth-1:0]    cmd_slot_i,
  input logic [QpWidth-1:0]      cmd_qp_i,
  input logic [23:0]             cmd_psn_i,
  input logic [23:0]             cmd_base_i,
  input logic [63:0]             cmd_bitmap_i,
  input logic [TimeWidth-1:0]    cmd_now_i,
  input logic [TimeWidth-1:0]    cmd_limit_i,
  input logic [31:0]             cmd_threshold_i,
  input logic [15:0]             cmd_ev_i,
  input logic [3:0]              cmd_cause_i,
  input logic [15:0]             cmd_message_i,
  input logic [31:0]             cmd_offset_i,
  input logic [15:0]             cmd_bytes_i,
  input logic [ContextWidth-1:0] cmd_context_i,
  input logic                    evt_valid_o,
  input logic                    evt_ready_i,
  input logic                    evt_lost_o,
  input logic [23:0]             evt_psn_o,
  input logic                    evt_was_lost_o,
  input logic [15:0]             evt_bytes_o,
  input logic [15:0]             evt_ev_o,
  input logic                    rsp_valid_o,
  input logic                    rsp_ready_i,
  input logic                    rsp_hit_o,
  input logic                    rsp_advanced_o,
  input logic [CountWidth-1:0]   rsp_count_o,
  input logic [23:0]             rsp_psn_o,
  input logic [15:0]             rsp_message_o,
  input logic [31:0]             rsp_offset_o,
  input logic [15:0]             rsp_bytes_o,
  input logic [3:0]              rsp_cause_o,
  input logic [23:0]             rsp_unacked_o,
  input logic [23:0]             rsp_next_o,
  input logic                    rsp_has_lost_o,
  input logic [23:0]             rsp_oldest_lost_o,
  input logic                    rsp_outstanding_o,
  input logic [23:0]             rsp_oldest_psn_o,
  input logic [TimeWidth-1:0]    rsp_oldest_sent_o,
  input logic [CountWidth-1:0]   rsp_free_o,
  input logic [ContextWidth-1:0] rsp_context_o,
  input logic                    follow_i  // the packet that is appended, from now on
);

  /* verilator coverage_off */
  localparam int unsigned Places     = DataSheetCycles ? 5 : 64;
  localparam int unsigned PlaceWidth = $clog2(Places + 1);

  typedef enum logic [1:0] {Gone, InPipeline, Outstanding, Lost} where_e;

  // PSNs wrap.
  function automatic logic precedes(logic [23:0] a, logic [23:0] b);
    precedes = a != b && 24'(b - a) < 24'h80_0000;
  endfunction

  logic cmd_taken, evt_taken, rsp_taken;
  assign cmd_taken = rst_ni && cmd_valid_i && cmd_ready_o;
  assign evt_taken = rst_ni && evt_valid_o && evt_ready_i;
  assign rsp_taken = rst_ni && rsp_valid_o && rsp_ready_i;

  // The packet that is followed, where it is, and what was said of it; the old end of its QP.
  logic [QpWidth-1:0]   qp_q;
  logic [23:0]          psn_q, unacked_q;
  where_e               where_q;
  logic [15:0]          its_message_q, its_bytes_q, its_ev_q;
  logic [31:0]          its_offset_q;
  logic [3:0]           its_cause_q;
  logic [TimeWidth-1:0] its_sent_q;

  // The commands inside, the oldest first: the one that events and the response belong to.
  typedef struct packed {
    retransmit_op_e       op;
    logic [QpWidth-1:0]   qp;
    logic [23:0]          psn;
    logic [23:0]          base;
    logic [63:0]          bitmap;
    logic [TimeWidth-1:0] now;
    logic [15:0]          ev;
    logic [3:0]           cause;
    logic [15:0]          message;
    logic [15:0]          bytes;
    logic [31:0]          offset;
  } command_t;
  command_t [Places-1:0] commands_q;
  logic [PlaceWidth-1:0] inside_q, inside_left;
  logic [CountWidth:0]   events_q;  // of the oldest
  command_t              cmd;
  logic                  ours, names, covers;
  logic [23:0]           behind_base;
  assign inside_left = inside_q - PlaceWidth'(rsp_taken);
  assign cmd         = commands_q[0];
  assign ours        = cmd.qp == qp_q;
  assign names       = ours && cmd.psn == psn_q;
  assign behind_base = psn_q - cmd.base;
  assign covers      = !precedes(cmd.psn, psn_q) || (behind_base < 24'd64 && cmd.bitmap[behind_base[5:0]]);

  // How many records all QPs have; how many packets each has.
  logic [CountWidth-1:0] records_q;
  logic [CountWidth-1:0] packets_q [Qps];
  logic [Qps-1:0]        opened_q;
  // Contexts that came out.
  logic [Qps-1:0]          outside_q;
  logic [ContextWidth-1:0] context_q [Qps];
  // Slots that have a QP, and that had one since the reset. QPs that were opened, as far as commands were taken.
  logic [NumSlots-1:0] used_q, given_q;
  logic [QpWidth-1:0]  qp_of_q [NumSlots];
  logic [Qps-1:0]      opening_q;

  logic acked, lost, appended, appends_followed, leaves, comes_back;
  assign acked            = evt_taken && ours && !evt_lost_o && evt_psn_o == psn_q;
  assign lost             = evt_taken && ours && evt_lost_o && evt_psn_o == psn_q;
  assign appended         = rsp_taken && cmd.op == RetransmitAppend && rsp_hit_o;
  assign leaves           = rsp_taken && cmd.op == RetransmitSent && names && rsp_hit_o;
  assign comes_back       = rsp_taken && cmd.op == RetransmitTake && ours && rsp_hit_o && rsp_psn_o == psn_q;
  assign appends_followed = appended && ((ours && rsp_psn_o == psn_q) || follow_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      where_q   <= Gone;
      inside_q  <= '0;
      events_q  <= '0;
      records_q <= '0;
      opened_q  <= Qps'(0);
      outside_q <= Qps'(0);
      used_q    <= '0;
      given_q   <= '0;
      opening_q <= Qps'(0);
    end else begin
      inside_q <= inside_left + PlaceWidth'(cmd_taken);
      if (cmd_taken) begin
        unique case (cmd_op_i)
          RetransmitOpen: begin
            opening_q[cmd_qp_i] <= 1'b1;
            used_q[cmd_slot_i]  <= 1'b1;
            given_q[cmd_slot_i] <= 1'b1;
          end
          RetransmitLoad: begin
            outside_q[cmd_qp_i] <= 1'b0;
            used_q[cmd_slot_i]  <= 1'b1;
            given_q[cmd_slot_i] <= 1'b1;
          end
          RetransmitStore: used_q[cmd_slot_i] <= 1'b0;
          default: ;
        endcase
      end
      if (rsp_taken && cmd.op == RetransmitStore) outside_q[cmd.qp] <= 1'b1;
      if (rsp_taken && cmd.op == RetransmitOpen) opened_q[cmd.qp] <= 1'b1;
      if (rsp_taken) events_q <= '0;
      else if (evt_taken) events_q <= events_q + 1'b1;
      if (evt_taken && !evt_lost_o) records_q <= records_q - 1'b1;
      if (appended) records_q <= records_q + 1'b1;

      if (acked) where_q <= Gone;
      if (lost) where_q <= Lost;
      if (appends_followed) where_q <= InPipeline;
      if (leaves) where_q <= Outstanding;
      if (comes_back) where_q <= InPipeline;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rsp_taken) commands_q <= commands_q >> $bits(command_t);
    if (cmd_taken) begin
      commands_q[$clog2(Places)'(inside_left)] <= '{
        op: cmd_op_i, qp: cmd_qp_i, psn: cmd_psn_i, base: cmd_base_i, bitmap: cmd_bitmap_i, now: cmd_now_i, ev: cmd_ev_i,
        cause: cmd_cause_i, message: cmd_message_i, bytes: cmd_bytes_i, offset: cmd_offset_i
      };
    end
    if (cmd_taken && (cmd_op_i == RetransmitOpen || cmd_op_i == RetransmitLoad)) qp_of_q[cmd_slot_i] <= cmd_qp_i;
    if (rsp_taken && cmd.op == RetransmitStore) context_q[cmd.qp] <= rsp_context_o;
    if (rsp_taken && cmd.op == RetransmitOpen) packets_q[cmd.qp] <= '0;
    if (evt_taken && !evt_lost_o) packets_q[cmd.qp] <= packets_q[cmd.qp] - 1'b1;
    if (appended) packets_q[cmd.qp] <= packets_q[cmd.qp] + 1'b1;

    if (appends_followed) begin
      qp_q          <= cmd.qp;
      psn_q         <= rsp_psn_o;
      its_message_q <= cmd.message;
      its_offset_q  <= cmd.offset;
      its_bytes_q   <= cmd.bytes;
      its_ev_q      <= '1;  // none yet
    end
    if (leaves) begin
      its_ev_q   <= cmd.ev;
      its_sent_q <= cmd.now;
    end
    if (lost) its_cause_q <= cmd.cause;
    if (rsp_taken && (ours || appends_followed)) unacked_q <= rsp_unacked_o;
  end

  // What was at the ports in the cycle before.
  logic                  evt_held_q, rsp_held_q, held_hit_q;
  logic [57:0]           evt_q;
  logic [CountWidth-1:0] held_count_q, held_free_q;
  logic [23:0]           held_psn_q, held_unacked_q, held_next_q;
  always_ff @(posedge clk_i) begin
    evt_q          <= {evt_lost_o, evt_was_lost_o, evt_psn_o, evt_bytes_o, evt_ev_o};
    held_hit_q     <= rsp_hit_o;
    held_count_q   <= rsp_count_o;
    held_free_q    <= rsp_free_o;
    held_psn_q     <= rsp_psn_o;
    held_unacked_q <= rsp_unacked_o;
    held_next_q    <= rsp_next_o;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      evt_held_q <= 1'b0;
      rsp_held_q <= 1'b0;
    end else begin
      evt_held_q <= evt_valid_o && !evt_taken;
      rsp_held_q <= rsp_valid_o && !rsp_taken;

      // The contract: a slot gets a QP by an open or a load, and gives it back by a store, whose context comes back once. Other
      // commands are for the QP of the slot, or for a slot that none has had and a QP that was never opened.
      if (cmd_valid_i) begin
        contract_command: assume (cmd_op_i <= RetransmitStore);
        if (used_q[cmd_slot_i]) begin
          contract_qp_of_slot: assume (qp_of_q[cmd_slot_i] == cmd_qp_i && cmd_op_i != RetransmitLoad);
        end else if (cmd_op_i == RetransmitLoad) begin
          contract_context_comes_back: assume (outside_q[cmd_qp_i] && cmd_context_i == context_q[cmd_qp_i]);
        end else begin
          contract_qp_without_slot: assume (!opening_q[cmd_qp_i] && cmd_op_i != RetransmitStore);
          if (cmd_op_i != RetransmitOpen) contract_slot_that_none_had: assume (!given_q[cmd_slot_i]);
        end
      end
      if (rsp_valid_o && cmd.op == RetransmitOpen && opened_q[cmd.qp]) begin
        contract_opened_without_packets: assume (packets_q[cmd.qp] == '0);
      end

      // What is offered stays as it is.
      if (evt_held_q) event_stays: assert (evt_valid_o && evt_q == {evt_lost_o, evt_was_lost_o, evt_psn_o, evt_bytes_o, evt_ev_o});
      if (rsp_held_q) begin
        response_stays_valid: assert (rsp_valid_o && rsp_hit_o == held_hit_q && rsp_count_o == held_count_q && rsp_free_o == held_free_q);
        response_stays_the_same: assert (rsp_psn_o == held_psn_q && rsp_unacked_o == held_unacked_q && rsp_next_o == held_next_q);
      end

      // One response to each command, in their order, its events before it.
      commands_inside_bound: assert (32'(inside_q) <= Places);
      if (evt_valid_o) event_has_command: assert (inside_q != '0);
      if (rsp_valid_o) response_after_events: assert (inside_q != '0 && !evt_valid_o);

      // Each record is in the pool or with one packet.
      if (rsp_valid_o) begin
        records_conserved: assert (rsp_free_o == CountWidth'(Records) - records_q - CountWidth'(cmd.op == RetransmitAppend && rsp_hit_o));
        if (cmd.op == RetransmitAck || cmd.op == RetransmitGap || cmd.op == RetransmitTimeout) begin
          count_is_events: assert ((CountWidth+1)'(rsp_count_o) == events_q);
        end
        if (cmd.op == RetransmitAppend) begin
          append_unless_full: assert (rsp_hit_o == (opened_q[cmd.qp] && records_q != CountWidth'(Records)));
        end
      end

      // The packet: acknowledged once, by a command that names it; declared lost only while it is outstanding.
      if (evt_valid_o && ours && evt_psn_o == psn_q) begin
        if (evt_lost_o) begin
          declared_lost_while_outstanding: assert (where_q == Outstanding && cmd.op != RetransmitAck);
        end else begin
          acknowledged_if_covered: assert (where_q != Gone && cmd.op == RetransmitAck && covers && evt_was_lost_o == (where_q == Lost));
        end
        event_fields: assert (evt_bytes_o == its_bytes_q && evt_ev_o == its_ev_q);
      end
      if (rsp_valid_o && ours) begin
        // Nobody who was acknowledged is kept.
        if (cmd.op == RetransmitAck && covers) covered_is_gone: assert (where_q == Gone);
        if (cmd.op == RetransmitSent && names) sent_hits_in_pipeline: assert (rsp_hit_o == (where_q == InPipeline));
        if (cmd.op == RetransmitNack && names) nack_hits_outstanding: assert (rsp_hit_o == (where_q == Lost && events_q == 1));
        if (cmd.op == RetransmitAppend && rsp_hit_o && rsp_psn_o == psn_q) appended_was_gone: assert (where_q == Gone);
        // What is taken again is what was lost, as it was appended; it is the oldest.
        if (cmd.op == RetransmitTake && rsp_hit_o) begin
          if (rsp_psn_o == psn_q) begin
            taken_was_lost: assert (where_q == Lost && rsp_cause_o == its_cause_q);
            taken_as_appended: assert (rsp_message_o == its_message_q && rsp_offset_o == its_offset_q && rsp_bytes_o == its_bytes_q);
          end else if (where_q == Lost) begin
            taken_is_oldest: assert (precedes(rsp_psn_o, psn_q));
          end
        end
        // The state of its QP: nothing that is not acknowledged lies outside the window; nothing lost is overlooked, nor is
        // what is outstanding.
        if (where_q != Gone) packet_in_window: assert (24'(psn_q - rsp_unacked_o) < 24'(rsp_next_o - rsp_unacked_o));
        if (cmd.op != RetransmitTake || rsp_psn_o != psn_q) begin
          if (where_q == Lost) lost_not_overlooked: assert (rsp_has_lost_o && !precedes(psn_q, rsp_oldest_lost_o));
          if (where_q != Lost && rsp_has_lost_o) oldest_lost_is_lost: assert (rsp_oldest_lost_o != psn_q);
        end
        if (where_q == Outstanding) outstanding_not_overlooked: assert (rsp_outstanding_o);
        if (rsp_outstanding_o && rsp_oldest_psn_o == psn_q && !(cmd.op == RetransmitSent && names)) begin
          oldest_is_outstanding: assert (where_q == Outstanding && rsp_oldest_sent_o == its_sent_q);
        end
        // The old end is a packet that is not acknowledged, or there is none.
        if (opened_q[cmd.qp] && rsp_unacked_o != rsp_next_o && rsp_unacked_o == psn_q && cmd.op != RetransmitAppend) begin
          old_end_not_acknowledged: assert (where_q != Gone);
        end
        if (cmd.op != RetransmitOpen && opened_q[cmd.qp]) old_end_never_back: assert (!precedes(rsp_unacked_o, unacked_q));
        if (cmd.op == RetransmitAck && opened_q[cmd.qp]) advanced_if_moved: assert (rsp_advanced_o == (rsp_unacked_o != unacked_q));
      end
    end
  end

`ifndef FORMAL
  // A command stays until it is taken. The proof is for those that do not, too.
  logic                                       cmd_held_q;
  logic [231+SlotWidth+QpWidth+2*TimeWidth:0] cmd_fields, cmd_fields_q;
  logic [ContextWidth-1:0]                    cmd_context_q;
  assign cmd_fields = {cmd_op_i, cmd_slot_i, cmd_qp_i, cmd_psn_i, cmd_base_i, cmd_bitmap_i, cmd_now_i, cmd_limit_i, cmd_threshold_i,
                       cmd_ev_i, cmd_cause_i, cmd_message_i, cmd_offset_i, cmd_bytes_i};
  always_ff @(posedge clk_i) begin
    cmd_fields_q  <= cmd_fields;
    cmd_context_q <= cmd_context_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cmd_held_q <= 1'b0;
    end else begin
      cmd_held_q <= cmd_valid_i && !cmd_taken;
      if (cmd_held_q) contract_command_stays: assume (cmd_valid_i && cmd_fields == cmd_fields_q && cmd_context_i == cmd_context_q);
    end
  end
`endif

endmodule
