// What spray_scheduler promises at its ports (README.md), for every input that keeps its contract, as a checker to bind. What is
// assumed is the contract of the inputs: names that begin with contract_. All tables and EVs are followed as far as the ports tell;
// what is in a table beside that is checked by the assertions in the block itself, under FORMAL.
module spray_scheduler_assertions
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots        = 1024,
  parameter  int unsigned MaxEvs          = 256,
  parameter  int unsigned NumPlanes       = 8,
  parameter  int unsigned TimeWidth       = 48,
  parameter  int unsigned CreditWidth     = 28,
  parameter  int unsigned BytesWidth      = 16,
  parameter  bit          DataSheetCycles = 1'b1,  // three operations fit, and answers of all kinds come in their order
  localparam int unsigned SlotW           = $clog2(NumSlots),
  localparam int unsigned EvW             = $clog2(MaxEvs),
  localparam int unsigned BucketW         = EvW + 1,
  localparam int unsigned CountW          = EvW + 1,
  localparam int unsigned PlaneW          = $clog2(NumPlanes)
) (
  input logic                                  clk_i,
  input logic                                  rst_ni,
  input logic                                  sel_valid_i,
  input logic                                  sel_ready_o,
  input logic [SlotW-1:0]                      sel_slot_i,
  input logic [BytesWidth-1:0]                 sel_bytes_i,
  input logic [NumPlanes-1:0]                  sel_ports_up_i,
  input logic [TimeWidth-1:0]                  sel_time_i,
  input logic                                  rsp_valid_o,
  input logic                                  rsp_ready_i,
  input logic                                  rsp_found_o,
  input logic [EvW-1:0]                        rsp_ev_o,
  input logic [31:0]                           rsp_value_o,
  input logic [PlaneW-1:0]                     rsp_plane_o,
  input logic [NumPlanes-1:0]                  rsp_free_ports_o,
  input logic                                  rsp_no_good_o,
  input logic [1:0]                            rsp_rotations_o,
  input logic                                  rsp_skip_end_valid_o,
  input logic [TimeWidth-1:0]                  rsp_skip_end_o,
  input logic                                  credit_valid_i,
  input logic                                  credit_ready_o,
  input logic [NumPlanes-1:0][CreditWidth-1:0] credit_bytes_i,
  input logic                                  upd_valid_i,
  input logic                                  upd_ready_o,
  input logic [SlotW-1:0]                      upd_slot_i,
  input path_event_e                           upd_event_i,
  input logic                                  upd_by_value_i,
  input logic [EvW-1:0]                        upd_ev_i,
  input logic [31:0]                           upd_value_i,
  input logic [TimeWidth-1:0]                  upd_time_i,
  input logic                                  done_valid_o,
  input logic                                  done_ready_i,
  input logic                                  done_found_o,
  input logic [EvW-1:0]                        done_ev_o,
  input ev_state_e                             done_state_o,
  input logic                                  done_active_o,
  input logic                                  done_reported_o,
  input logic                                  done_held_o,
  input logic                                  done_replaced_o,
  input logic [EvW-1:0]                        done_backup_o,
  input logic                                  csr_valid_i,
  input logic                                  csr_ready_o,
  input spray_csr_e                            csr_op_i,
  input logic [SlotW-1:0]                      csr_slot_i,
  input logic [BucketW-1:0]                    csr_index_i,
  input logic [63:0]                           csr_wdata_i,
  input logic                                  csr_rvalid_o,
  input logic                                  csr_rready_i,
  input logic [63:0]                           csr_rdata_o,
  input logic                                  order_request_o,
  input logic [SlotW-1:0]                      order_slot_o,
  input logic                                  order_valid_i,
  input logic                                  order_ready_o,
  input logic [EvW-1:0]                        order_ev_i
);

  /* verilator coverage_off */
  localparam int unsigned Places     = DataSheetCycles ? 3 : 64;  // of operations of a kind
  localparam int unsigned PlaceWidth = $clog2(Places + 2);

  typedef logic [MaxEvs-1:0]                     evs_t;
  typedef logic [CountW-1:0]                     count_t;
  typedef logic [NumPlanes-1:0][CreditWidth-1:0] room_t;
  typedef logic [PlaceWidth-1:0]                 places_t;

  logic sel_taken, upd_taken, csr_taken, rsp_taken, done_taken, csr_answer_taken, credit_taken, order_taken;
  assign sel_taken        = rst_ni && sel_valid_i && sel_ready_o;
  assign upd_taken        = rst_ni && upd_valid_i && upd_ready_o;
  assign csr_taken        = rst_ni && csr_valid_i && csr_ready_o;
  assign rsp_taken        = rst_ni && rsp_valid_o && rsp_ready_i;
  assign done_taken       = rst_ni && done_valid_o && done_ready_i;
  assign csr_answer_taken = rst_ni && csr_rvalid_o && csr_rready_i;
  assign credit_taken     = rst_ni && credit_valid_i && credit_ready_o;
  assign order_taken      = rst_ni && order_valid_i && order_ready_o;

  // An answer is there for the first time.
  logic rsp_held_q, done_held_q, csr_held_q, order_held_q, answered, updated, controlled;
  assign answered   = rst_ni && rsp_valid_o && !rsp_held_q;
  assign updated    = rst_ni && done_valid_o && !done_held_q;
  assign controlled = rst_ni && csr_rvalid_o && !csr_held_q;

  // ---- Operations that were taken and not answered, of each kind, the oldest first; answers that wait count as answered when
  // they are taken. Room counts for an operation when it came with it or before.
  typedef struct packed {
    logic [SlotW-1:0]      slot;
    logic [BytesWidth-1:0] bytes;
    logic [NumPlanes-1:0]  up;
    room_t                 came;
  } packet_t;
  typedef struct packed {
    logic                   reads_room;
    logic [PlaneW-1:0]      plane;
    logic [CreditWidth-1:0] came;
  } control_t;
  packet_t  [Places-1:0]            packets_q, packets;
  logic     [Places-1:0][SlotW-1:0] updates_q, updates;
  control_t [Places-1:0]            controls_q, controls;
  places_t packets_inside_q, updates_inside_q, controls_inside_q;

  // ---- Room that came, and that packets took, modulo the width.
  room_t                came_q, came, spent_q, spent, room;
  logic [NumPlanes-1:0] overflows;  // with what comes
  always_comb begin
    spent = spent_q;
    if (answered && rsp_found_o) spent[rsp_plane_o] = spent_q[rsp_plane_o] + CreditWidth'(packets_q[0].bytes);
    for (int unsigned p = 0; p < NumPlanes; p++) begin
      came[p]      = came_q[p] + (credit_taken ? credit_bytes_i[p] : '0);
      room[p]      = came_q[p] - spent[p];
      overflows[p] = credit_bytes_i[p] > ~room[p];
    end
  end

  logic [PlaneW-1:0] csr_plane;
  assign csr_plane = csr_index_i[PlaneW-1:0];
  always_comb begin
    packets  = rsp_taken ? packets_q >> $bits(packet_t) : packets_q;
    updates  = done_taken ? updates_q >> SlotW : updates_q;
    controls = csr_answer_taken ? controls_q >> $bits(control_t) : controls_q;
    if (sel_taken) begin
      packets[$clog2(Places)'(packets_inside_q - places_t'(rsp_taken))] = '{
        slot: sel_slot_i, bytes: sel_bytes_i, up: sel_ports_up_i, came: came
      };
    end
    if (upd_taken) updates[$clog2(Places)'(updates_inside_q - places_t'(done_taken))] = upd_slot_i;
    if (csr_taken) begin
      controls[$clog2(Places)'(controls_inside_q - places_t'(csr_answer_taken))] = '{
        reads_room: csr_op_i == SprayCsrReadRoom && 32'(csr_index_i) < NumPlanes, plane: csr_plane, came: came[csr_plane]
      };
    end
  end
  logic [NumPlanes-1:0] has_room;  // for the oldest packet
  always_comb begin
    for (int unsigned p = 0; p < NumPlanes; p++) begin
      has_room[p] = CreditWidth'(packets_q[0].came[p] - spent_q[p]) >= CreditWidth'(packets_q[0].bytes);
    end
  end

  // ---- Profile and limits
  typedef struct packed {
    logic [PlaneW-1:0] plane;
    logic [31:0]       value;
  } path_t;
  path_t         profile_q [MaxEvs];
  spray_limits_t limits_q;
  logic          unused_limits;
  assign unused_limits = ^{limits_q.reshuffle_rotations, limits_q.probe_successes, limits_q.assumed_bad_losses, limits_q.oblivious,
                           limits_q.probe_marked_skips};
  always_ff @(posedge clk_i) begin
    if (csr_taken && csr_op_i == SprayCsrProfile) begin
      profile_q[csr_index_i[EvW-1:0]] <= '{plane: csr_wdata_i[32+:PlaneW], value: csr_wdata_i[31:0]};
    end
    if (csr_taken && csr_op_i == SprayCsrLimits) limits_q <= csr_wdata_i;
  end

  // ---- Tables, as answers tell of them
  typedef struct packed {
    evs_t                   given;    // since the rotation began
    evs_t                   resting;  // SKIP until the rotation ends
    evs_t                   once;     // or one rotation longer
    evs_t                   out;      // ASSUMED_BAD or DENIED
    evs_t                   forced;   // by the controller: their state is not known
    logic                   exact;    // how many are in use is known
    count_t [NumPlanes-1:0] in_use;
  } table_t;
  table_t tables_q [NumSlots];
  table_t of_packet, turned, after_packet, of_update, after_update, after_control;

  logic forces, opens;
  assign forces = csr_taken && (csr_op_i == SprayCsrDeny || csr_op_i == SprayCsrAllow);
  assign opens  = csr_taken && csr_op_i == SprayCsrOpen;

  // Rotations have ended, and an EV is given.
  always_comb begin
    of_packet = tables_q[packets_q[0].slot];
    turned    = of_packet;
    if (rsp_rotations_o != '0) begin
      turned.given   = '0;
      turned.resting = rsp_rotations_o == 2'd1 ? of_packet.once : '0;
      turned.once    = '0;
    end
    after_packet = turned;
    if (rsp_found_o) after_packet.given[rsp_ev_o] = 1'b1;
  end

  // An event has changed an EV.
  logic [PlaneW-1:0] plane;
  count_t            in_use;
  logic              removed, revived;
  assign plane   = profile_q[done_ev_o].plane;
  assign in_use  = of_update.in_use[plane];
  assign removed = done_reported_o && done_state_o == EvAssumedBad;
  assign revived = done_reported_o && !removed;
  assign of_update = answered && updates_q[0] == packets_q[0].slot ? after_packet : tables_q[updates_q[0]];
  always_comb begin
    after_update = of_update;
    if (done_found_o) begin
      after_update.out[done_ev_o] = done_state_o == EvAssumedBad || done_state_o == EvDenied;
      if (done_state_o != EvSkip) begin
        after_update.resting[done_ev_o] = 1'b0;
        after_update.once[done_ev_o]    = 1'b0;
      end else if (limits_q.skip_duration != SkipFixedTime && !of_update.resting[done_ev_o]) begin
        after_update.resting[done_ev_o] = 1'b1;
        after_update.once[done_ev_o]    = limits_q.skip_duration == SkipOneRotation;
      end
      if (removed && !done_replaced_o) after_update.in_use[plane] = in_use - 1'b1;
      if (revived && done_active_o) after_update.in_use[plane] = in_use + 1'b1;
      // It may be in use when it comes back.
      if (done_state_o == EvSkip && !done_active_o) after_update.exact = 1'b0;
    end
  end

  // The controller changes an EV, or opens a table.
  always_comb begin
    after_control = updated && csr_slot_i == updates_q[0]              ? after_update
                    : answered && csr_slot_i == packets_q[0].slot ? after_packet
                                                                  : tables_q[csr_slot_i];
    if (opens) begin
      after_control       = '0;
      after_control.exact = 1'b1;
      for (int unsigned ev = 0; ev < MaxEvs; ev++) begin
        if (64'(ev) < csr_wdata_i) begin
          after_control.in_use[profile_q[ev].plane] = after_control.in_use[profile_q[ev].plane] + 1'b1;
        end
      end
    end else begin
      after_control.exact = 1'b0;
      after_control.forced[csr_index_i[EvW-1:0]] = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (answered) tables_q[packets_q[0].slot] <= after_packet;
    if (updated) tables_q[updates_q[0]] <= after_update;
    if (opens || forces) tables_q[csr_slot_i] <= after_control;
  end

  // ---- What of an order has come
  evs_t   order_seen_q, order_seen;
  count_t order_count_q;
  logic   order_ends;
  assign order_seen = order_seen_q | (evs_t'(1) << order_ev_i);
  assign order_ends = 10'(order_count_q) + 10'd1 == limits_q.ev_count;

  logic starving_q;  // an update went while a packet waited

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      came_q            <= '0;
      spent_q           <= '0;
      packets_inside_q  <= '0;
      updates_inside_q  <= '0;
      controls_inside_q <= '0;
      order_seen_q      <= '0;
      order_count_q     <= '0;
    end else begin
      came_q            <= came;
      spent_q           <= spent;
      packets_inside_q  <= packets_inside_q + places_t'(sel_taken) - places_t'(rsp_taken);
      updates_inside_q  <= updates_inside_q + places_t'(upd_taken) - places_t'(done_taken);
      controls_inside_q <= controls_inside_q + places_t'(csr_taken) - places_t'(csr_answer_taken);
      if (order_taken) begin
        order_seen_q  <= order_ends ? '0 : order_seen;
        order_count_q <= order_ends ? '0 : order_count_q + 1'b1;
      end
    end
  end

  // What was at the ports in the cycle before.
  logic                 rsp_found_q, rsp_no_good_q;
  logic [EvW-1:0]       rsp_ev_q, done_ev_q;
  logic [NumPlanes-1:0] rsp_free_q;
  logic                 skip_end_valid_q;
  logic [TimeWidth-1:0] skip_end_q;
  ev_state_e            done_state_q;
  logic [63:0]          csr_rdata_q;
  logic [SlotW-1:0]     order_slot_q;
  always_ff @(posedge clk_i) begin
    packets_q        <= packets;
    updates_q        <= updates;
    controls_q       <= controls;
    rsp_found_q      <= rsp_found_o;
    rsp_no_good_q    <= rsp_no_good_o;
    rsp_ev_q         <= rsp_ev_o;
    rsp_free_q       <= rsp_free_ports_o;
    skip_end_q       <= rsp_skip_end_o;
    skip_end_valid_q <= rsp_skip_end_valid_o;
    done_ev_q        <= done_ev_o;
    done_state_q     <= done_state_o;
    csr_rdata_q      <= csr_rdata_o;
    order_slot_q     <= order_slot_o;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rsp_held_q   <= 1'b0;
      done_held_q  <= 1'b0;
      csr_held_q   <= 1'b0;
      order_held_q <= 1'b0;
      starving_q   <= 1'b0;
    end else begin
      rsp_held_q   <= rsp_valid_o && !rsp_taken;
      done_held_q  <= done_valid_o && !done_taken;
      csr_held_q   <= csr_rvalid_o && !csr_answer_taken;
      order_held_q <= order_request_o && !order_taken;
      if (upd_taken && sel_valid_i) starving_q <= 1'b1;
      else if (sel_taken || !sel_valid_i) starving_q <= 1'b0;

      // The contract of the inputs.
      if (upd_valid_i) contract_update_has_event: assume (upd_event_i <= PathProbeLost);
      if (csr_valid_i) contract_control_has_operation: assume (csr_op_i <= SprayCsrReadRoom);
      if (opens) contract_opened_within_profile: assume (csr_wdata_i <= 64'(limits_q.ev_count));
      if (credit_valid_i) contract_room_fits_counter: assume (overflows == '0);
      if (order_taken) contract_order_has_each_ev_once: assume (!order_seen_q[order_ev_i] && 10'(order_ev_i) < limits_q.ev_count);

      // An answer that is offered stays as it is until it is taken; so does the wish for an order.
      if (rsp_held_q) begin
        answer_stays: assert (rsp_valid_o && rsp_found_o == rsp_found_q && rsp_no_good_o == rsp_no_good_q);
        answer_path_stays: assert (rsp_ev_o == rsp_ev_q && rsp_free_ports_o == rsp_free_q);
        skip_end_stays: assert (rsp_skip_end_valid_o == skip_end_valid_q && rsp_skip_end_o == skip_end_q);
      end
      if (done_held_q) update_answer_stays: assert (done_valid_o && done_ev_o == done_ev_q && done_state_o == done_state_q);
      if (csr_held_q) control_answer_stays: assert (csr_rvalid_o && csr_rdata_o == csr_rdata_q);
      if (order_held_q) order_request_stays: assert (order_request_o && order_slot_o == order_slot_q);

      // One operation at a time is taken; an answer to each, none to nothing.
      one_operation_taken: assert (2'(sel_taken) + 2'(upd_taken) + 2'(csr_taken) <= 2'd1);
      packets_inside_bound: assert (32'(packets_inside_q) <= Places);
      updates_inside_bound: assert (32'(updates_inside_q) <= Places);
      controls_inside_bound: assert (32'(controls_inside_q) <= Places);
      if (rsp_valid_o) packet_answer_has_packet: assert (packets_inside_q != '0);
      if (done_valid_o) update_answer_has_update: assert (updates_inside_q != '0);
      if (csr_rvalid_o) control_answer_has_operation: assert (controls_inside_q != '0);

      // A path leads through a port that is up and had room, and "nothing GOOD" is not a path.
      if (rsp_valid_o) begin
        no_good_is_no_path: assert (!(rsp_found_o && rsp_no_good_o));
        path_port_has_room: assert (!rsp_found_o || rsp_free_ports_o[rsp_plane_o]);
        rotations_bound: assert (rsp_rotations_o <= 2'd2);
        skip_end_only_with_time: assert (!rsp_skip_end_valid_o || limits_q.skip_duration == SkipFixedTime);
      end
      // Room is neither lost nor made.
      if (answered) ports_up_with_room: assert (rsp_free_ports_o == (packets_q[0].up & has_room));
      if (DataSheetCycles && controlled && controls_q[0].reads_room) begin
        room_as_counted: assert (csr_rdata_o == 64'(CreditWidth'(controls_q[0].came - spent[controls_q[0].plane])));
      end
      if (answered && rsp_found_o) begin
        path_of_profile: assert (profile_q[rsp_ev_o] == {rsp_plane_o, rsp_value_o});
        // Fair within a rotation: no EV comes twice. That no usable EV is skipped is checked in the block.
        no_ev_twice_in_rotation: assert (!turned.given[rsp_ev_o]);
        // An EV that met with something rests, or is out.
        if (DataSheetCycles && !turned.forced[rsp_ev_o]) begin
          given_ev_is_good: assert (!turned.resting[rsp_ev_o] && !turned.out[rsp_ev_o]);
        end
      end
      // An EV that is in use is GOOD or SKIP; one that was kept at the floor is in use; none is replaced that stays.
      if (done_valid_o && done_found_o) begin
        held_at_floor_stays: assert (!done_held_o || (done_active_o && !done_replaced_o && !done_reported_o));
        replaced_leaves: assert (!done_replaced_o || (!done_active_o && done_state_o == EvAssumedBad && done_backup_o != done_ev_o));
        if (done_replaced_o) backup_of_same_plane: assert (profile_q[done_backup_o].plane == plane);
      end
      // A plane keeps its floor, and gets no more EVs in use than the most.
      if (DataSheetCycles && updated && done_found_o && of_update.exact) begin
        if (removed && !done_replaced_o) begin
          removed_above_floor: assert (10'(in_use) > 10'(limits_q.least_active) || 10'(in_use) > 10'(limits_q.most_active));
        end
        if (done_held_o) held_at_floor_only: assert (10'(in_use) <= 10'(limits_q.least_active));
        if (revived && done_active_o) revived_below_most: assert (10'(in_use) < 10'(limits_q.most_active));
      end

      // Updates do not keep a packet waiting twice.
      if (starving_q && sel_valid_i) packet_not_passed_twice: assert (!upd_taken);
    end
  end

`ifndef FORMAL
  // Tables are opened once and used then, the profile does not change any more, and inputs stay until they are taken. The proof
  // begins with open tables, and is for inputs that do not stay as well.
  logic [NumSlots-1:0] opened_q;
  logic                sel_held_q, upd_held_q, csr_in_held_q, credit_held_q;
  logic [SlotW+BytesWidth+NumPlanes+TimeWidth-1:0] sel_q;
  logic [SlotW+4+1+EvW+32+TimeWidth-1:0]           upd_q;
  logic [4+SlotW+BucketW+64-1:0]                   csr_q;
  room_t                                           credit_q;
  always_ff @(posedge clk_i) begin
    sel_q    <= {sel_slot_i, sel_bytes_i, sel_ports_up_i, sel_time_i};
    upd_q    <= {upd_slot_i, upd_event_i, upd_by_value_i, upd_ev_i, upd_value_i, upd_time_i};
    csr_q    <= {csr_op_i, csr_slot_i, csr_index_i, csr_wdata_i};
    credit_q <= credit_bytes_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      opened_q      <= '0;
      sel_held_q    <= 1'b0;
      upd_held_q    <= 1'b0;
      csr_in_held_q <= 1'b0;
      credit_held_q <= 1'b0;
    end else begin
      if (opens) opened_q[csr_slot_i] <= 1'b1;
      sel_held_q    <= sel_valid_i && !sel_taken;
      upd_held_q    <= upd_valid_i && !upd_taken;
      csr_in_held_q <= csr_valid_i && !csr_taken;
      credit_held_q <= credit_valid_i && !credit_taken;
      if (sel_taken) contract_packet_of_open_table: assume (opened_q[sel_slot_i]);
      if (upd_taken) contract_update_of_open_table: assume (opened_q[upd_slot_i]);
      if (csr_taken && csr_op_i < SprayCsrOpen) contract_set_up_before_tables: assume (opened_q == '0);
      if (opens) contract_opened_once: assume (!opened_q[csr_slot_i]);
      if (sel_held_q) contract_packet_stays: assume (sel_valid_i && sel_q == {sel_slot_i, sel_bytes_i, sel_ports_up_i, sel_time_i});
      if (upd_held_q) begin
        contract_update_stays: assume (upd_valid_i && upd_q == {upd_slot_i, upd_event_i, upd_by_value_i, upd_ev_i, upd_value_i, upd_time_i});
      end
      if (csr_in_held_q) contract_control_stays: assume (csr_valid_i && csr_q == {csr_op_i, csr_slot_i, csr_index_i, csr_wdata_i});
      if (credit_held_q) contract_room_stays: assume (credit_valid_i && credit_q == credit_bytes_i);
    end
  end
`endif

endmodule
