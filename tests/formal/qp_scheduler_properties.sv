// Proves rtl/qp_scheduler/assertions/qp_scheduler_assertions.sv for every input that keeps the contract there. Proved with four QPs
// and two slots. So that few cycles reach far a run begins with a reset, or with an empty list and any contexts that fit together:
// each missing, on its way, not used yet or used, in any slot, with the hand at any slot. That a run leaves them so is proved with
// the rest.
// steps: 9
// reached: all
// finds: evicted_not_forgotten activation_in_turn_lost slot_in_use_taken grant_does_not_hold no_second_chance pause_after_turn
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
  logic [SlotWidth-1:0] grant_slot_o, seen_slot_o, fetch_slot_o, back_slot_i;
  logic [29:0]          grant_quantum_bytes_o, quantum_bytes_i;
  context_lookup_e      turn_lookup_o, seen_lookup_o;
  logic [QpWidth:0]     listed_o;
  logic [SlotWidth:0]   held_o;
  assign rst_ni          = started_q || !reset_i;
  assign quantum_bytes_i = 30'd16384;

  // A grant comes back with its slot.
  assign back_slot_i = u_assertions.grant_slot_q[back_qp_i];

  qp_scheduler #(.NumQps(NumQps), .NumSlots(NumSlots)) dut (.*);
  qp_scheduler_assertions #(.NumQps(NumQps), .NumSlots(NumSlots)) u_assertions (.*);

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

  // What the assertions know of such a start: as much as the block.
  logic knows;
  always_comb begin
    knows = u_assertions.walk_q == '0 && !u_assertions.op_valid_q && !u_assertions.fetching_q && !u_assertions.turn_due_q &&
            !u_assertions.fill_lists_q && !u_assertions.list_valid_q && u_assertions.grants_q == '0 &&
            u_assertions.answers_q == '0 && u_assertions.looks_q == '0 && !u_assertions.grant_held_q &&
            !u_assertions.seen_held_q && !u_assertions.fetch_held_q;
    knows = knows && u_assertions.count_q == '0 && u_assertions.listed_q == '0 && u_assertions.turn_q == '0 &&
            u_assertions.again_q == '0 && u_assertions.granted_q == '0 && u_assertions.slot_granted_q == '0;
    knows = knows && u_assertions.owned_q == owned && u_assertions.busy_q == busy && u_assertions.recent_q == recent &&
            u_assertions.hand_q == dut.u_contexts.hand_q && u_assertions.held_q == held_o;
    for (int unsigned i = 0; i < NumQps; i++) begin
      knows = knows && u_assertions.here_q[i] == state[i][1] && u_assertions.fresh_q[i] == (state[i] == Fresh) &&
              u_assertions.loading_q[i] == (state[i] == Loading) && u_assertions.fetched_q[i] == (state[i] == Loading);
      if (state[i] != 2'd0) knows = knows && u_assertions.slot_of_q[i] == slot[i];
    end
    for (int unsigned s = 0; s < NumSlots; s++) begin
      if (owned[s]) knows = knows && u_assertions.put_q[s] && u_assertions.owner_q[s] == owner[s];
      knows = knows && u_assertions.slot_fetched_q[s] == (owned[s] && state[owner[s]] == Loading);
    end
  end

  // Of all QPs: one is on the list twice; one that was granted has not its turn any more.
  logic listed_twice, granted_without_turn;
  always_comb begin
    listed_twice         = 1'b0;
    granted_without_turn = 1'b0;
    for (int unsigned i = 0; i < NumQps; i++) begin
      for (int unsigned j = i + 1; j < NumQps; j++) begin
        if ((QpWidth + 1)'(j) < listed_o) begin
          listed_twice = listed_twice ||
                         dut.u_list.u_ready.u_ram.mem[dut.u_list.u_ready.read_q + QpWidth'(i)][QpWidth-1:0] ==
                         dut.u_list.u_ready.u_ram.mem[dut.u_list.u_ready.read_q + QpWidth'(j)][QpWidth-1:0];
        end
      end
      if (u_assertions.granted_q[i]) begin
        granted_without_turn = granted_without_turn ||
                               !(turns[i] || (dut.u_list.valid_q && dut.u_list.qp_q == QpWidth'(i)));
      end
    end
  end

  logic                 acts_q = 1'b0, acted_q = 1'b0, began_q = 1'b0, walks_q = 1'b0;
  logic [QpWidth-1:0]   acts_qp_q, acted_qp_q, began_qp_q;
  always_ff @(posedge clk_i) begin
    started_q  <= 1'b1;
    acts_q     <= rst_ni && act_valid_i && act_ready_o;
    acts_qp_q  <= act_qp_i;
    acted_q    <= acts_q;
    acted_qp_q <= acts_qp_q;
    began_q    <= rst_ni && pick_o;
    began_qp_q <= dut.first_qp;
    walks_q    <= rst_ni && dut.clear_q;
  end

  always_ff @(posedge clk_i) begin
    if (!started_q && !reset_i) assume (quiet && fits && knows);

    if (rst_ni && walks_q && !dut.clear_q) walk_ends_quiet: assert (quiet && fits);
    if (rst_ni && !dut.clear_q && (started_q || !reset_i)) begin
      // Each QP is on the list once at most, and if it waits.
      if (listed_o > (QpWidth + 1)'(1)) on_list_once: assert (!listed_twice);
      list_is_who_waits: assert ((QpWidth + 1)'($countones(waits)) == listed_o);
      // An activation leads to a turn that has not begun yet, or to one that begins now.
      if (acted_q) activation_not_lost: assert (waits[acted_qp_q] || again[acted_qp_q] || (began_q && began_qp_q == acted_qp_q));
      // A grant is its QP's turn.
      if (grant_valid_o) grant_is_its_turn: assert (turns[grant_qp_o]);
      if (u_assertions.granted_q != '0) granted_has_turn: assert (!granted_without_turn);

      // Contexts and slots.
      if (dut.u_contexts.fetch_q != FetchEvict) context_fits_slot: assert (fits);
      slots_held: assert (held_o == (SlotWidth + 1)'($countones(busy)));
      // No slot is taken while it is in use: the hand passes what is recent.
      if (busy != '0) slot_in_use_is_recent: assert ((busy & ~recent) == '0);
      if (grant_valid_o) granted_slot_in_use: assert (busy[grant_slot_o]);
      // What is fetched is on its way to that slot, and what it evicts is forgotten.
      if (fetch_valid_o) fetched_is_loading: assert (state[fetch_qp_o] == Loading && slot[fetch_qp_o] == fetch_slot_o);
      if (fetch_valid_o && fetch_evicts_o && !u_assertions.fetch_held_q) evicted_is_forgotten: assert (state[fetch_evicted_qp_o] == 2'd0);
    end
  end

endmodule
