// What qp_scheduler promises (rtl/qp_scheduler/README.md), for every input that keeps the contract. Proved with four QPs and two
// slots. So that few cycles reach far a run begins with a reset, or with an empty list and any contexts that fit together: each
// missing, on its way, not used yet or used, in any slot, with the hand at any slot. That a run leaves them so is proved with the
// rest.
// steps: 9
// reached: all
// finds: evicted_not_forgotten activation_in_turn_lost slot_in_use_taken grant_does_not_hold
module qp_scheduler_properties
  import mrc_pkg::*;
#(
  parameter  int unsigned NumQps    = 4,
  parameter  int unsigned NumSlots  = 2,
  localparam int unsigned QpWidth   = $clog2(NumQps),
  localparam int unsigned SlotWidth = $clog2(NumSlots)
) (
  input  logic                 clk_i,
  input  logic                 reset_i,       // in the first cycle: the run begins with a reset
  input  logic                 run_i,
  input  logic                 read_room_i,
  input  logic                 act_valid_i,
  input  logic [QpWidth-1:0]   act_qp_i,
  input  logic                 back_valid_i,
  input  logic [QpWidth-1:0]   back_qp_i,
  input  logic                 back_again_i,
  input  logic                 look_valid_i,
  input  logic [QpWidth-1:0]   look_qp_i,
  input  logic                 fill_valid_i,
  input  logic [QpWidth-1:0]   fill_qp_i,
  input  logic                 fill_list_i,
  input  logic                 fill_used_i,
  input  logic                 drop_valid_i,
  input  logic [QpWidth-1:0]   drop_qp_i,
  input  logic                 grant_ready_i,
  input  logic                 seen_ready_i,
  input  logic                 fetch_ready_i
);

  logic                 started_q = 1'b0;
  logic                 rst_ni;
  logic                 act_ready_o, back_ready_o, look_ready_o, fill_ready_o, drop_ready_o;
  logic                 turn_valid_o, grant_valid_o, seen_valid_o, fetch_valid_o, fetch_evicts_o, pick_o, others_o;
  logic [QpWidth-1:0]   turn_qp_o, grant_qp_o, seen_qp_o, fetch_qp_o, fetch_evicted_qp_o;
  logic [SlotWidth-1:0] grant_slot_o, seen_slot_o, fetch_slot_o, back_slot;
  logic [29:0]          grant_quantum_bytes_o;
  context_lookup_e      turn_lookup_o, seen_lookup_o;
  logic [QpWidth:0]     listed_o;
  logic [SlotWidth:0]   held_o;
  assign rst_ni = started_q || !reset_i;

  // Grants that were taken, and fetches that were taken, by QP.
  logic [NumQps-1:0]                granted_q, fetched_q;
  logic [NumQps-1:0][SlotWidth-1:0] slot_q;
  assign back_slot = slot_q[back_qp_i];

  qp_scheduler #(.NumQps(NumQps), .NumSlots(NumSlots)) dut (
    .clk_i, .rst_ni, .quantum_bytes_i(30'd16384), .run_i, .read_room_i,
    .act_valid_i, .act_ready_o, .act_qp_i,
    .back_valid_i, .back_ready_o, .back_qp_i, .back_slot_i(back_slot), .back_again_i,
    .look_valid_i, .look_ready_o, .look_qp_i,
    .fill_valid_i, .fill_ready_o, .fill_qp_i, .fill_list_i, .fill_used_i,
    .drop_valid_i, .drop_ready_o, .drop_qp_i,
    .turn_valid_o, .turn_qp_o, .turn_lookup_o,
    .grant_valid_o, .grant_ready_i, .grant_qp_o, .grant_slot_o, .grant_quantum_bytes_o,
    .seen_valid_o, .seen_ready_i, .seen_qp_o, .seen_slot_o, .seen_lookup_o,
    .fetch_valid_o, .fetch_ready_i, .fetch_qp_o, .fetch_slot_o, .fetch_evicts_o, .fetch_evicted_qp_o,
    .pick_o, .others_o, .listed_o, .held_o
  );

  localparam logic [1:0] Loading = 2'd1, Fresh = 2'd2;
  localparam logic [1:0] FetchIdle = 2'd0, FetchEvict = 2'd2;

  logic [NumQps-1:0][1:0]           state;
  logic [NumQps-1:0][SlotWidth-1:0] slot;
  logic [NumSlots-1:0]              owned, busy, recent;
  logic [NumSlots-1:0][QpWidth-1:0] owner;
  logic [NumQps-1:0]                active, again, mark, picked, waits, turns;
  always_comb begin
    for (int unsigned i = 0; i < NumQps; i++) begin
      {state[i], slot[i]}            = dut.u_contexts.u_entries.mem[i];
      {active[i], again[i], mark[i]} = dut.u_list.u_state.mem[i];
      picked[i]                      = dut.u_list.u_picked.mem[i];
      waits[i]                       = active[i] && mark[i] != picked[i];
      turns[i]                       = active[i] && mark[i] == picked[i];
    end
    for (int unsigned s = 0; s < NumSlots; s++) begin
      {owned[s], owner[s]} = dut.u_contexts.u_owners.mem[s];
      busy[s]              = dut.u_contexts.busy_q[s];
      recent[s]            = dut.u_contexts.recent_q[s];
    end
  end

  // A context that is there, or comes, has a slot, and a slot that has a QP is that QP's.
  logic fits;
  always_comb begin
    fits = 1'b1;
    for (int unsigned i = 0; i < NumQps; i++) begin
      if (state[i] != 2'd0) fits = fits && owned[slot[i]] && owner[slot[i]] == QpWidth'(i);
      if (state[i] == Loading || state[i] == Fresh) fits = fits && busy[slot[i]];
    end
    for (int unsigned s = 0; s < NumSlots; s++) begin
      if (owned[s]) fits = fits && state[owner[s]] != 2'd0 && slot[owner[s]] == SlotWidth'(s);
    end
  end

  // Where a run may begin: nothing under way.
  logic quiet;
  always_comb begin
    quiet = !dut.clear_q && !dut.own_valid_q && !turn_valid_o && !dut.u_list.valid_q && !dut.u_contexts.valid_q &&
            dut.u_contexts.fetch_q == FetchIdle && !fetch_valid_o && listed_o == '0 && dut.u_grants.count_q == '0 &&
            dut.u_seen.count_q == '0 && dut.u_list.u_ready.read_q == dut.u_list.u_ready.write_q &&
            dut.u_grants.read_q == dut.u_grants.write_q && dut.u_seen.read_q == dut.u_seen.write_q;
    for (int unsigned i = 0; i < NumQps; i++) quiet = quiet && !active[i] && !again[i] && mark[i] == picked[i];
    for (int unsigned s = 0; s < NumSlots; s++) begin
      quiet = quiet && busy[s] == (owned[s] && (state[owner[s]] == Loading || state[owner[s]] == Fresh));
      quiet = quiet && (!busy[s] || recent[s]);
    end
    quiet = quiet && held_o == (SlotWidth + 1)'($countones(busy));
  end

  // Of all QPs: one is on the list twice; one that was granted has not its turn any more, or its slot is fetched into.
  logic listed_twice, granted_without_turn, fetch_takes_slot;
  always_comb begin
    listed_twice         = 1'b0;
    granted_without_turn = 1'b0;
    fetch_takes_slot     = 1'b0;
    for (int unsigned i = 0; i < NumQps; i++) begin
      for (int unsigned j = i + 1; j < NumQps; j++) begin
        if ((QpWidth + 1)'(j) < listed_o) begin
          listed_twice = listed_twice ||
                         dut.u_list.u_ready.u_ram.mem[dut.u_list.u_ready.read_q + QpWidth'(i)][QpWidth-1:0] ==
                         dut.u_list.u_ready.u_ram.mem[dut.u_list.u_ready.read_q + QpWidth'(j)][QpWidth-1:0];
        end
      end
      if (granted_q[i]) begin
        granted_without_turn = granted_without_turn ||
                               !(turns[i] || (dut.u_list.valid_q && dut.u_list.qp_q == QpWidth'(i)));
        fetch_takes_slot     = fetch_takes_slot || fetch_slot_o == slot_q[i];
      end
    end
  end

  logic                 acts_q = 1'b0, acted_q = 1'b0, began_q = 1'b0, walks_q = 1'b0;
  logic [QpWidth-1:0]   acts_qp_q, acted_qp_q, began_qp_q;
  logic [2:0]           looks_q = '0;  // that were not answered yet
  logic                 grant_held_q = 1'b0, seen_held_q = 1'b0, fetch_held_q = 1'b0;
  logic [QpWidth+SlotWidth-1:0] grant_q;
  logic [QpWidth+SlotWidth+1:0] seen_q;
  logic [2*QpWidth+SlotWidth:0] fetch_q;
  always_ff @(posedge clk_i) begin
    started_q  <= 1'b1;
    acts_q     <= rst_ni && act_valid_i && act_ready_o;
    acts_qp_q  <= act_qp_i;
    acted_q    <= acts_q;
    acted_qp_q <= acts_qp_q;
    began_q    <= rst_ni && pick_o;
    began_qp_q <= dut.first_qp;
    walks_q    <= rst_ni && dut.clear_q;
    looks_q    <= looks_q + 3'(rst_ni && look_valid_i && look_ready_o) - 3'(rst_ni && seen_valid_o && seen_ready_i);
    grant_held_q <= rst_ni && grant_valid_o && !grant_ready_i;
    grant_q      <= {grant_qp_o, grant_slot_o};
    seen_held_q  <= rst_ni && seen_valid_o && !seen_ready_i;
    seen_q       <= {seen_qp_o, seen_slot_o, seen_lookup_o};
    fetch_held_q <= rst_ni && fetch_valid_o && !fetch_ready_i;
    fetch_q      <= {fetch_qp_o, fetch_slot_o, fetch_evicts_o, fetch_evicted_qp_o};
    if (!rst_ni) begin
      granted_q <= '0;
      fetched_q <= '0;
    end else begin
      if (grant_valid_o && grant_ready_i) begin
        granted_q[grant_qp_o] <= 1'b1;
        slot_q[grant_qp_o]    <= grant_slot_o;
      end
      if (back_valid_i && back_ready_o) granted_q[back_qp_i] <= 1'b0;
      if (fetch_valid_o && fetch_ready_i) fetched_q[fetch_qp_o] <= 1'b1;
      if (fill_valid_i && fill_ready_o) fetched_q[fill_qp_i] <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    // The contract. What comes back was granted, and what fills was fetched.
    assume (!back_valid_i || granted_q[back_qp_i]);
    assume (!fill_valid_i || (fetched_q[fill_qp_i] && (fill_list_i || fill_used_i)));
    if (!started_q && !reset_i) begin
      assume (quiet && fits && granted_q == '0);
      for (int unsigned i = 0; i < NumQps; i++) assume (fetched_q[i] == (state[i] == Loading));
    end

    if (rst_ni && walks_q && !dut.clear_q) walk_ends_quiet: assert (quiet && fits);
    if (rst_ni && !dut.clear_q && (started_q || !reset_i)) begin
      // Each QP is on the list once at most, and if it waits.
      if (listed_o > (QpWidth + 1)'(1)) on_list_once: assert (!listed_twice);
      list_is_who_waits: assert ((QpWidth + 1)'($countones(waits)) == listed_o);
      // An activation leads to a turn that has not begun yet, or to one that begins now.
      if (acted_q) activation_not_lost: assert (waits[acted_qp_q] || again[acted_qp_q] || (began_q && began_qp_q == acted_qp_q));
      // A grant is its QP's turn.
      if (grant_valid_o) grant_is_its_turn: assert (turns[grant_qp_o]);
      if (granted_q != '0) granted_has_turn: assert (!granted_without_turn);

      // Contexts and slots.
      if (dut.u_contexts.fetch_q != FetchEvict) context_fits_slot: assert (fits);
      slots_held: assert (held_o == (SlotWidth + 1)'($countones(busy)));
      // No slot is taken while it is in use: the hand passes what is recent.
      if (busy != '0) slot_in_use_is_recent: assert ((busy & ~recent) == '0);
      if (grant_valid_o) granted_slot_in_use: assert (busy[grant_slot_o]);
      if (grant_valid_o && fetch_valid_o) fetch_spares_grant: assert (fetch_slot_o != grant_slot_o);
      if (granted_q != '0 && fetch_valid_o) fetch_spares_slot_in_use: assert (!fetch_takes_slot);
      // What is fetched is on its way to that slot, and what it evicts is forgotten.
      if (fetch_valid_o) fetched_is_loading: assert (state[fetch_qp_o] == Loading && slot[fetch_qp_o] == fetch_slot_o);
      if (fetch_valid_o && fetch_evicts_o && !fetch_held_q) evicted_is_forgotten: assert (state[fetch_evicted_qp_o] == 2'd0);

      // Each lookup has one answer, and what waits stays as it is.
      if (seen_valid_o) answer_has_lookup: assert (looks_q != '0);
      lookups_bound: assert (looks_q <= 3'd4);
      if (grant_held_q) grant_stays: assert (grant_valid_o && grant_q == {grant_qp_o, grant_slot_o});
      if (seen_held_q) answer_stays: assert (seen_valid_o && seen_q == {seen_qp_o, seen_slot_o, seen_lookup_o});
      if (fetch_held_q) fetch_stays: assert (fetch_valid_o && fetch_q == {fetch_qp_o, fetch_slot_o, fetch_evicts_o, fetch_evicted_qp_o});
    end
  end

endmodule
