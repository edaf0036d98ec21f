// What spray_scheduler promises about its ports (rtl/spray_scheduler/README.md) for every input that keeps the contract;
// what it promises about its tables is in the block itself, under FORMAL. Any EV of any table is followed. Proved at the
// smallest legal size, from any consistent tables that have their next order and no SKIP EV.
// steps: 14
// reached: all
// finds: room_not_looked_at floor_off_by_one next_order_not_told scan_from_the_start backup_of_first_plane
module spray_scheduler_properties
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots    = 2,
  parameter  int unsigned MaxEvs      = 4,
  parameter  int unsigned NumPlanes   = 2,
  parameter  int unsigned TimeWidth   = 4,
  parameter  int unsigned CreditWidth = 6,
  parameter  int unsigned BytesWidth  = 4,
  localparam int unsigned SlotW       = $clog2(NumSlots),
  localparam int unsigned EvW         = $clog2(MaxEvs),
  localparam int unsigned PlaneW      = $clog2(NumPlanes)
) (
  input  logic                                  clk_i,
  input  logic                                  sel_valid_i,
  input  logic [SlotW-1:0]                      sel_slot_i,
  input  logic [BytesWidth-1:0]                 sel_bytes_i,
  input  logic [NumPlanes-1:0]                  sel_ports_up_i,
  input  logic [TimeWidth-1:0]                  sel_time_i,
  input  logic                                  rsp_ready_i,
  input  logic                                  credit_valid_i,
  input  logic [NumPlanes-1:0][CreditWidth-1:0] credit_bytes_i,
  input  logic                                  upd_valid_i,
  input  logic [SlotW-1:0]                      upd_slot_i,
  input  path_event_e                           upd_event_i,
  input  logic                                  upd_by_value_i,
  input  logic [EvW-1:0]                        upd_ev_i,
  input  logic [31:0]                           upd_value_i,
  input  logic [TimeWidth-1:0]                  upd_time_i,
  input  logic                                  done_ready_i,
  input  logic                                  csr_valid_i,
  input  spray_csr_e                            csr_op_i,
  input  logic [SlotW-1:0]                      csr_slot_i,
  input  logic [EvW:0]                          csr_index_i,
  input  logic [63:0]                           csr_wdata_i,
  input  logic                                  csr_rready_i,
  input  logic                                  order_valid_i,
  input  logic [EvW-1:0]                        order_ev_i,
  input  logic [SlotW-1:0]                      follow_slot_i,
  input  logic [EvW-1:0]                        follow_ev_i
);

  logic rst_ni = 1'b0;
  logic sel_ready_o, rsp_valid_o, rsp_found_o, rsp_no_good_o, rsp_skip_end_valid_o, credit_ready_o, upd_ready_o;
  logic done_valid_o, done_found_o, done_active_o, done_reported_o, done_held_o, done_replaced_o;
  logic csr_ready_o, csr_rvalid_o, order_request_o, order_ready_o;
  logic [EvW-1:0]       rsp_ev_o, done_ev_o, done_backup_o;
  logic [31:0]          rsp_value_o;
  logic [PlaneW-1:0]    rsp_plane_o;
  logic [NumPlanes-1:0] rsp_free_ports_o;
  logic [1:0]           rsp_rotations_o;
  logic [TimeWidth-1:0] rsp_skip_end_o;
  ev_state_e            done_state_o;
  logic [63:0]          csr_rdata_o;
  logic [SlotW-1:0]     order_slot_o;

  spray_scheduler #(
    .NumSlots(NumSlots), .MaxEvs(MaxEvs), .NumPlanes(NumPlanes), .TimeWidth(TimeWidth), .CreditWidth(CreditWidth),
    .BytesWidth(BytesWidth)
  ) dut (.*);

  // Operations that were taken and not answered, of each kind; answers that wait count as answered when they are taken.
  logic [2:0] packets_q = '0, updates_q = '0, controls_q = '0;
  logic sel_taken, upd_taken, csr_taken, rsp_taken, done_taken, csr_answered;
  assign sel_taken    = rst_ni && sel_valid_i && sel_ready_o;
  assign upd_taken    = rst_ni && upd_valid_i && upd_ready_o;
  assign csr_taken    = rst_ni && csr_valid_i && csr_ready_o;
  assign rsp_taken    = rst_ni && rsp_valid_o && rsp_ready_i;
  assign done_taken   = rst_ni && done_valid_o && done_ready_i;
  assign csr_answered = rst_ni && csr_rvalid_o && csr_rready_i;

  // The packets inside: the oldest one's answer comes first.
  typedef struct packed {
    logic [SlotW-1:0]      slot;
    logic [BytesWidth-1:0] bytes;
    logic [NumPlanes-1:0]  up;
  } packet_t;
  packet_t first_q = '0, second_q = '0, third_q = '0, packet;
  assign packet = '{slot: sel_slot_i, bytes: sel_bytes_i, up: sel_ports_up_i};

  // An answer is there for the first time.
  logic answered, rsp_held_q = 1'b0;
  assign answered = rst_ni && rsp_valid_o && !rsp_held_q;

  // The EV that is followed was given since its table's rotation began.
  logic [SlotW-1:0] slot_q;
  logic [EvW-1:0]   ev_q;
  logic             given_q = 1'b0, given;
  assign given = given_q && rsp_rotations_o == '0;

  // Room that came, without what answers took.
  logic [NumPlanes-1:0][CreditWidth-1:0] room_q = '0, room;
  always_comb begin
    room = room_q;
    if (answered && rsp_found_o) room[rsp_plane_o] = room_q[rsp_plane_o] - CreditWidth'(first_q.bytes);
  end

  logic                 done_held_q = 1'b0, csr_held_q = 1'b0, order_held_q = 1'b0;
  logic                 rsp_found_q, rsp_no_good_q;
  logic [EvW-1:0]       rsp_ev_q, done_ev_q;
  logic [NumPlanes-1:0] rsp_free_q;
  ev_state_e            done_state_q;
  logic [63:0]          csr_rdata_q;
  logic                 starving_q = 1'b0;  // an update went while a packet waited

  always_ff @(posedge clk_i) begin
    rst_ni     <= 1'b1;
    packets_q  <= packets_q + 3'(sel_taken) - 3'(rsp_taken);
    updates_q  <= updates_q + 3'(upd_taken) - 3'(done_taken);
    controls_q <= controls_q + 3'(csr_taken) - 3'(csr_answered);
    if (rsp_taken) begin
      first_q  <= second_q;
      second_q <= third_q;
    end
    if (sel_taken) begin
      unique case (packets_q - 3'(rsp_taken))
        3'd0:    first_q <= packet;
        3'd1:    second_q <= packet;
        default: third_q <= packet;
      endcase
    end
    if (!rst_ni) begin
      slot_q <= follow_slot_i;
      ev_q   <= follow_ev_i;
    end
    if (answered && first_q.slot == slot_q) given_q <= given || (rsp_found_o && rsp_ev_o == ev_q);
    for (int unsigned p = 0; p < NumPlanes; p++) begin
      room_q[p] <= room[p] + (rst_ni && credit_valid_i && credit_ready_o ? credit_bytes_i[p] : '0);
    end
    rsp_held_q    <= rst_ni && rsp_valid_o && !rsp_ready_i;
    done_held_q   <= rst_ni && done_valid_o && !done_ready_i;
    csr_held_q    <= rst_ni && csr_rvalid_o && !csr_rready_i;
    order_held_q  <= rst_ni && order_request_o && !(order_valid_i && order_ready_o);
    rsp_found_q   <= rsp_found_o;
    rsp_no_good_q <= rsp_no_good_o;
    rsp_ev_q      <= rsp_ev_o;
    rsp_free_q    <= rsp_free_ports_o;
    done_ev_q     <= done_ev_o;
    done_state_q  <= done_state_o;
    csr_rdata_q   <= csr_rdata_o;
    if (upd_taken && sel_valid_i) starving_q <= 1'b1;
    else if (sel_taken || !sel_valid_i) starving_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assume (upd_event_i <= PathProbeLost && csr_op_i <= SprayCsrReadRoom);
      // A table that is in use is not opened again.
      assume (!(csr_taken && csr_op_i == SprayCsrOpen && csr_slot_i == slot_q));

      // An answer that is offered stays as it is until it is taken; so does the wish for an order.
      if (rsp_held_q) begin
        answer_stays: assert (rsp_valid_o && rsp_found_o == rsp_found_q && rsp_no_good_o == rsp_no_good_q);
        answer_path_stays: assert (rsp_ev_o == rsp_ev_q && rsp_free_ports_o == rsp_free_q);
      end
      if (done_held_q) update_answer_stays: assert (done_valid_o && done_ev_o == done_ev_q && done_state_o == done_state_q);
      if (csr_held_q) control_answer_stays: assert (csr_rvalid_o && csr_rdata_o == csr_rdata_q);
      if (order_held_q) order_request_stays: assert (order_request_o);

      // One operation at a time is taken; an answer to each, none to nothing.
      one_operation_taken: assert (2'(sel_taken) + 2'(upd_taken) + 2'(csr_taken) <= 2'd1);
      operations_inside_bound: assert (packets_q <= 3'd3 && updates_q <= 3'd3 && controls_q <= 3'd3);
      if (rsp_valid_o) packet_answer_has_packet: assert (packets_q != '0);
      if (done_valid_o) update_answer_has_update: assert (updates_q != '0);
      if (csr_rvalid_o) control_answer_has_operation: assert (controls_q != '0);

      // A path leads through a port that is up and had room, and "nothing GOOD" is not a path.
      if (rsp_valid_o) begin
        port_was_up: assert ((rsp_free_ports_o & ~first_q.up) == '0);
        no_good_is_no_path: assert (!(rsp_found_o && rsp_no_good_o));
        path_port_has_room: assert (!rsp_found_o || rsp_free_ports_o[rsp_plane_o]);
        rotations_bound: assert (rsp_rotations_o <= 2'd2);
      end
      // Room is neither lost nor made.
      room_conserved: assert (dut.room == room);
      // Fair within a rotation: no EV comes twice. That no usable EV is skipped is checked in the block.
      if (answered && first_q.slot == slot_q && rsp_found_o && rsp_ev_o == ev_q) no_ev_twice_in_rotation: assert (!given);
      // An EV that is in use is GOOD or SKIP; one that was kept at the floor is in use; none is replaced that stays.
      if (done_valid_o && done_found_o) begin
        held_at_floor_stays: assert (!done_held_o || (done_active_o && !done_replaced_o && !done_reported_o));
        replaced_leaves: assert (!done_replaced_o || (!done_active_o && done_state_o == EvAssumedBad && done_backup_o != done_ev_o));
      end

      // Updates do not keep a packet waiting twice.
      if (starving_q && sel_valid_i) packet_not_passed_twice: assert (!upd_taken);
    end
  end

endmodule
