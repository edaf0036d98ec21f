// What qp_scheduler promises at its ports (README.md), for every input that keeps its contract, as a checker to bind. What is
// assumed is the contract of the inputs: names that begin with contract_. All QPs and slots are followed: whoever is on the list,
// in its order, has its turn or a grant, which contexts are there, in which slots, and where the hand is, as the rules say. What
// the rules make of an operation or of a turn follows from the cycle in which it was taken or began: with other cycles, only what the ports
// tell by themselves is checked.
module qp_scheduler_assertions
  import mrc_pkg::*;
#(
  parameter  int unsigned NumQps          = 16384,
  parameter  int unsigned NumSlots        = 1024,
  parameter  bit          DataSheetCycles = 1'b1,
  localparam int unsigned QpWidth         = $clog2(NumQps),
  localparam int unsigned SlotWidth       = $clog2(NumSlots)
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic [29:0]          quantum_bytes_i,
  input logic                 run_i,
  input logic                 read_room_i,

  input logic                 act_valid_i,
  input logic                 act_ready_o,
  input logic [QpWidth-1:0]   act_qp_i,

  input logic                 back_valid_i,
  input logic                 back_ready_o,
  input logic [QpWidth-1:0]   back_qp_i,
  input logic [SlotWidth-1:0] back_slot_i,
  input logic                 back_again_i,

  input logic                 look_valid_i,
  input logic                 look_ready_o,
  input logic [QpWidth-1:0]   look_qp_i,

  input logic                 fill_valid_i,
  input logic                 fill_ready_o,
  input logic [QpWidth-1:0]   fill_qp_i,
  input logic                 fill_list_i,
  input logic                 fill_used_i,

  input logic                 drop_valid_i,
  input logic                 drop_ready_o,
  input logic [QpWidth-1:0]   drop_qp_i,

  input logic                 turn_valid_o,
  input logic [QpWidth-1:0]   turn_qp_o,
  input context_lookup_e      turn_lookup_o,

  input logic                 grant_valid_o,
  input logic                 grant_ready_i,
  input logic [QpWidth-1:0]   grant_qp_o,
  input logic [SlotWidth-1:0] grant_slot_o,
  input logic [29:0]          grant_quantum_bytes_o,

  input logic                 seen_valid_o,
  input logic                 seen_ready_i,
  input logic [QpWidth-1:0]   seen_qp_o,
  input logic [SlotWidth-1:0] seen_slot_o,
  input context_lookup_e      seen_lookup_o,

  input logic                 fetch_valid_o,
  input logic                 fetch_ready_i,
  input logic [QpWidth-1:0]   fetch_qp_o,
  input logic [SlotWidth-1:0] fetch_slot_o,
  input logic                 fetch_evicts_o,
  input logic [QpWidth-1:0]   fetch_evicted_qp_o,

  input logic                 pick_o,
  input logic                 others_o,
  input logic [QpWidth:0]     listed_o,
  input logic [SlotWidth:0]   held_o
);

  /* verilator coverage_off */
  localparam int unsigned Places      = 4;  // of grants, and of answers to the receiving side
  localparam int unsigned Looks       = DataSheetCycles ? Places : 64;  // inside
  localparam int unsigned PlaceWidth  = $clog2(Places + 1);
  localparam int unsigned LookWidth   = $clog2(Looks + 1);
  localparam int unsigned Window      = (NumSlots < 16) ? NumSlots : 16;  // slots that the hand passes in a cycle
  localparam int unsigned WindowWidth = $clog2(Window);
  localparam int unsigned WaitWidth   = SlotWidth + 2;

  logic act_taken, back_taken, look_taken, fill_taken, drop_taken, grant_taken, seen_taken, fetch_taken, fetch_appears, picked;
  logic fetch_held_q;
  assign act_taken     = rst_ni && act_valid_i && act_ready_o;
  assign back_taken    = rst_ni && back_valid_i && back_ready_o;
  assign look_taken    = rst_ni && look_valid_i && look_ready_o;
  assign fill_taken    = rst_ni && fill_valid_i && fill_ready_o;
  assign drop_taken    = rst_ni && drop_valid_i && drop_ready_o;
  assign grant_taken   = rst_ni && grant_valid_o && grant_ready_i;
  assign seen_taken    = rst_ni && seen_valid_o && seen_ready_i;
  assign fetch_taken   = rst_ni && fetch_valid_o && fetch_ready_i;
  assign fetch_appears = rst_ni && fetch_valid_o && !fetch_held_q;
  assign picked        = rst_ni && pick_o;

  // ---- What the ports tell by themselves

  // QPs, and slots, with a grant that was taken; those with a fetch that was taken and not filled. QP and slot of each fetch, as soon
  // as it is offered: slots that had one, the last one of each slot, and of each QP.
  logic [NumQps-1:0]    granted_q, fetched_q;
  logic [NumSlots-1:0]  slot_granted_q, slot_fetched_q, put_q;
  logic [SlotWidth-1:0] grant_slot_q [NumQps];
  logic [SlotWidth-1:0] slot_of_q [NumQps];
  logic [QpWidth-1:0]   owner_q [NumSlots];
  // Lookups that were not answered yet, the oldest first.
  logic [Looks-1:0][QpWidth-1:0] look_qp_q;
  logic [LookWidth-1:0]          looks_q, looks_left;
  assign looks_left = looks_q - LookWidth'(seen_taken);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      granted_q      <= NumQps'(0);
      fetched_q      <= NumQps'(0);
      slot_granted_q <= NumSlots'(0);
      slot_fetched_q <= NumSlots'(0);
      put_q          <= NumSlots'(0);
      looks_q        <= '0;
    end else begin
      if (grant_taken) begin
        granted_q[grant_qp_o]        <= 1'b1;
        slot_granted_q[grant_slot_o] <= 1'b1;
      end
      if (back_taken) begin
        granted_q[back_qp_i]        <= 1'b0;
        slot_granted_q[back_slot_i] <= 1'b0;
      end
      if (fetch_taken) begin
        fetched_q[fetch_qp_o]        <= 1'b1;
        slot_fetched_q[fetch_slot_o] <= 1'b1;
      end
      if (fill_taken) begin
        fetched_q[fill_qp_i]                 <= 1'b0;
        slot_fetched_q[slot_of_q[fill_qp_i]] <= 1'b0;
      end
      if (fetch_appears) put_q[fetch_slot_o] <= 1'b1;
      looks_q <= looks_left + LookWidth'(look_taken);
    end
  end
  always_ff @(posedge clk_i) begin
    if (grant_taken) grant_slot_q[grant_qp_o] <= grant_slot_o;
    if (fetch_appears) begin
      slot_of_q[fetch_qp_o] <= fetch_slot_o;
      owner_q[fetch_slot_o] <= fetch_qp_o;
    end
    if (seen_taken) look_qp_q <= look_qp_q >> QpWidth;
    if (look_taken) look_qp_q[$clog2(Looks)'(looks_left)] <= look_qp_i;
  end

  // ---- The contexts: an operation is done in the cycle after

  logic               op_valid_q, op_list_q, op_used_q;
  slot_op_e           op_q;
  logic [QpWidth-1:0] op_qp_q, first_qp;

  // Contexts that are there, those of them that were not used yet, and those that were fetched and are not there. Slots with a context,
  // there or on its way, in use, and chosen or used since the hand passed.
  logic [NumQps-1:0]    here_q, fresh_q, loading_q;
  logic [NumSlots-1:0]  owned_q, busy_q, recent_q, recent;
  logic [SlotWidth:0]   held_q;
  logic [SlotWidth-1:0] hand_q;

  logic                 asks, here, fresh, begins, uses, takes, frees, drops;
  logic [SlotWidth-1:0] slot;
  context_lookup_e      lookup;
  assign asks  = op_valid_q && (op_q == SlotTurn || op_q == SlotLook);
  assign here  = here_q[op_qp_q];
  assign fresh = here && fresh_q[op_qp_q];
  assign slot  = slot_of_q[op_qp_q];
  always_comb begin
    if (here) lookup = ContextHere;
    else if (loading_q[op_qp_q]) lookup = ContextLoading;
    else if (read_room_i && (!fetch_valid_o || fetch_ready_i) && held_q != (SlotWidth + 1)'(NumSlots)) lookup = ContextFetched;
    else lookup = ContextNoRoom;
  end
  assign begins = asks && lookup == ContextFetched;
  assign uses   = asks && here;
  assign takes  = uses && op_q == SlotTurn;
  assign drops  = op_valid_q && op_q == SlotDrop && here;
  assign frees  = (uses && op_q == SlotLook && fresh) || (drops && fresh) || (op_valid_q && op_q == SlotFill && op_used_q);

  // A fetch that has begun: the hand goes on to its slot, from the next cycle on, and it is offered two cycles after.
  logic                 fetching_q, moves, chosen, choosing, fetch_due, all_recent;
  logic [QpWidth-1:0]   fetching_qp_q;
  logic [WaitWidth-1:0] waited_q, wait_q, waits;
  logic [SlotWidth-1:0] wanted_q, wanted, distance;
  logic [NumSlots-1:0]  free, passed;
  assign moves = fetching_q && waited_q == '0;

  function automatic logic [SlotWidth-1:0] first_from(logic [NumSlots-1:0] bits, logic [SlotWidth-1:0] from);
    first_from = from;
    for (int unsigned i = NumSlots; i > 0; i--) begin
      if (bits[from+SlotWidth'(i-1)]) first_from = from + SlotWidth'(i - 1);
    end
  endfunction

  always_comb begin
    wanted     = wanted_q;
    waits      = wait_q;
    recent     = recent_q;
    free       = '0;
    passed     = '0;
    distance   = '0;
    all_recent = 1'b0;
    if (moves) begin
      // It takes the second chance of each slot that it passes and that is not in use: where all have one, it goes round once.
      free       = ~busy_q;
      all_recent = (free & ~recent_q) == '0;
      wanted     = first_from(all_recent ? free : free & ~recent_q, hand_q);
      distance   = wanted - hand_q;
      for (int unsigned i = 0; i < NumSlots; i++) passed[i] = all_recent || SlotWidth'(SlotWidth'(i) - hand_q) < distance;
      waits          = (WaitWidth'(hand_q[WindowWidth-1:0]) + WaitWidth'(distance) + (all_recent ? WaitWidth'(NumSlots) : '0)) >> WindowWidth;
      recent         = recent_q & ~(passed & free);
      recent[wanted] = 1'b1;
    end
    if (uses) recent[slot] = 1'b1;
  end
  assign choosing  = fetching_q && waited_q <= waits;
  assign chosen    = fetching_q && waited_q == waits;
  assign fetch_due = fetching_q && waited_q == waits + WaitWidth'(2);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      op_valid_q <= 1'b0;
      here_q     <= NumQps'(0);
      fresh_q    <= NumQps'(0);
      loading_q  <= NumQps'(0);
      owned_q    <= '0;
      busy_q     <= '0;
      recent_q   <= '0;
      held_q     <= '0;
      hand_q     <= '0;
      fetching_q <= 1'b0;
    end else begin
      op_valid_q <= look_taken || fill_taken || drop_taken || picked;
      if (op_valid_q && op_q == SlotFill) begin
        here_q[op_qp_q]    <= 1'b1;
        fresh_q[op_qp_q]   <= !op_used_q;
        loading_q[op_qp_q] <= 1'b0;
      end
      if (uses) fresh_q[op_qp_q] <= 1'b0;
      if (drops) begin
        here_q[op_qp_q] <= 1'b0;
        owned_q[slot]   <= 1'b0;
      end
      if (fetch_appears) begin
        loading_q[fetch_qp_o] <= 1'b1;
        owned_q[fetch_slot_o] <= 1'b1;
        if (fetch_evicts_o) here_q[fetch_evicted_qp_o] <= 1'b0;
      end

      if (frees) busy_q[slot] <= 1'b0;
      if (back_taken) busy_q[back_slot_i] <= 1'b0;
      if (takes) busy_q[slot] <= 1'b1;
      if (chosen) busy_q[wanted] <= 1'b1;
      held_q <= held_q + (SlotWidth + 1)'(takes && !fresh) + (SlotWidth + 1)'(chosen) - (SlotWidth + 1)'(frees) -
                (SlotWidth + 1)'(back_taken);
      recent_q <= recent;
      if (moves) hand_q <= wanted + 1'b1;
      if (begins) fetching_q <= 1'b1;
      else if (fetch_appears) fetching_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    op_q      <= fill_taken ? SlotFill : drop_taken ? SlotDrop : look_taken ? SlotLook : SlotTurn;
    op_qp_q   <= fill_taken ? fill_qp_i : drop_taken ? drop_qp_i : look_taken ? look_qp_i : first_qp;
    op_list_q <= fill_list_i;
    op_used_q <= fill_used_i;
    waited_q  <= begins ? '0 : waited_q + 1'b1;
    wait_q    <= waits;
    wanted_q  <= wanted;
    if (begins) fetching_qp_q <= op_qp_q;
  end

  // ---- What is owed: what became of the turn, grants and answers, the oldest first

  typedef struct packed {
    logic [QpWidth-1:0]   qp;
    logic [SlotWidth-1:0] slot;
  } grant_t;
  typedef struct packed {
    context_lookup_e      lookup;
    logic [SlotWidth-1:0] slot;
  } answer_t;
  grant_t [Places-1:0]   grant_q;
  answer_t [Places-1:0]  answer_q;
  logic [PlaceWidth-1:0] grants_q, grants_left, answers_q, answers_left;
  logic                  turn_due_q, fill_lists_q, answers, grant_place, seen_place;
  logic [QpWidth-1:0]    done_qp_q;
  context_lookup_e       done_lookup_q;
  assign answers      = asks && op_q == SlotLook;
  assign grants_left  = grants_q - PlaceWidth'(grant_taken);
  assign answers_left = answers_q - PlaceWidth'(seen_taken);
  assign grant_place  = grants_q + PlaceWidth'(asks && !answers) < PlaceWidth'(Places);
  assign seen_place   = answers_q + PlaceWidth'(answers) < PlaceWidth'(Places);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      grants_q     <= '0;
      answers_q    <= '0;
      turn_due_q   <= 1'b0;
      fill_lists_q <= 1'b0;
    end else begin
      grants_q     <= grants_left + PlaceWidth'(takes);
      answers_q    <= answers_left + PlaceWidth'(answers);
      turn_due_q   <= asks && !answers;
      fill_lists_q <= op_valid_q && op_q == SlotFill && op_list_q;
    end
  end
  always_ff @(posedge clk_i) begin
    done_qp_q     <= op_qp_q;
    done_lookup_q <= lookup;
    if (grant_taken) grant_q <= grant_q >> $bits(grant_t);
    if (takes) grant_q[$clog2(Places)'(grants_left)] <= '{qp: op_qp_q, slot: slot};
    if (seen_taken) answer_q <= answer_q >> $bits(answer_t);
    if (answers) answer_q[$clog2(Places)'(answers_left)] <= '{lookup: lookup, slot: here ? slot : '0};
  end

  // ---- The list: what a turn or a fill led to goes first, then what comes back; done in the cycle after, before a turn begins

  logic                 own, own_again, list_valid_q;
  list_op_e             list_op_q;
  logic [QpWidth-1:0]   list_qp_q;
  assign own       = fill_lists_q || (turn_due_q && done_lookup_q != ContextHere);
  assign own_again = turn_due_q && done_lookup_q == ContextNoRoom;

  logic [NumQps-1:0]  listed_q, turn_q, again_q;
  logic [QpWidth-1:0] list_q [NumQps];  // a ring
  logic [QpWidth-1:0] head_q;
  logic [QpWidth:0]   count_q;
  logic               its_turn, push;
  assign first_qp = list_q[head_q];
  assign its_turn = turn_q[list_qp_q];
  always_comb begin
    unique case (list_op_q)
      ListActivate: push = list_valid_q && !its_turn && !listed_q[list_qp_q];
      ListAgain:    push = list_valid_q && its_turn;
      default:      push = list_valid_q && its_turn && again_q[list_qp_q];
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      list_valid_q <= 1'b0;
      listed_q     <= NumQps'(0);
      turn_q       <= NumQps'(0);
      again_q      <= NumQps'(0);
      head_q       <= '0;
      count_q      <= '0;
    end else begin
      list_valid_q <= own || back_taken || act_taken;
      if (list_valid_q && its_turn) begin
        again_q[list_qp_q] <= list_op_q == ListActivate;
        if (list_op_q != ListActivate) turn_q[list_qp_q] <= 1'b0;
      end
      if (push) listed_q[list_qp_q] <= 1'b1;
      if (picked) begin
        listed_q[first_qp] <= 1'b0;
        turn_q[first_qp]   <= 1'b1;
        head_q             <= head_q + 1'b1;
      end
      count_q <= count_q + (QpWidth + 1)'(push) - (QpWidth + 1)'(picked);
    end
  end
  always_ff @(posedge clk_i) begin
    if (own) begin
      list_op_q <= fill_lists_q ? ListActivate : own_again ? ListAgain : ListPark;
      list_qp_q <= done_qp_q;
    end else if (back_taken) begin
      list_op_q <= back_again_i ? ListAgain : ListPark;
      list_qp_q <= back_qp_i;
    end else begin
      list_op_q <= ListActivate;
      list_qp_q <= act_qp_i;
    end
    if (push) list_q[QpWidth'(head_q + QpWidth'(count_q))] <= list_qp_q;
  end

  // ---- Which operations can be taken, and whether a turn begins

  logic [QpWidth:0] walk_q;  // cycles left of that after reset
  logic             open, quiet, begins_turn;
  assign open        = walk_q == '0 && (!fetching_q || fetch_appears) && !begins;
  assign quiet       = open && !fill_valid_i && !drop_valid_i;
  assign begins_turn = quiet && !(look_valid_i && seen_place) && count_q != '0 && run_i && grant_place && !own_again;

  // What was at the ports in the cycle before.
  logic                         started_q, grant_held_q, seen_held_q;
  logic [29:0]                  quantum_q;
  logic [QpWidth+SlotWidth-1:0] held_grant_q;
  logic [QpWidth+SlotWidth+1:0] held_seen_q;
  logic [2*QpWidth+SlotWidth:0] held_fetch_q;
  always_ff @(posedge clk_i) begin
    quantum_q    <= quantum_bytes_i;
    held_grant_q <= {grant_qp_o, grant_slot_o};
    held_seen_q  <= {seen_qp_o, seen_slot_o, seen_lookup_o};
    held_fetch_q <= {fetch_qp_o, fetch_slot_o, fetch_evicts_o, fetch_evicted_qp_o};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      started_q    <= 1'b0;
      walk_q       <= (QpWidth + 1)'(NumQps);
      grant_held_q <= 1'b0;
      seen_held_q  <= 1'b0;
      fetch_held_q <= 1'b0;
    end else begin
      started_q    <= 1'b1;
      if (walk_q != '0) walk_q <= walk_q - 1'b1;
      grant_held_q <= grant_valid_o && !grant_taken;
      seen_held_q  <= seen_valid_o && !seen_taken;
      fetch_held_q <= fetch_valid_o && !fetch_taken;

      // The contract: what comes back was granted, with its slot; what fills was fetched, and somebody waits for it or has used it.
      if (started_q) contract_quantum_stays: assume (quantum_bytes_i == quantum_q);
      if (back_valid_i) contract_back_of_grant: assume (granted_q[back_qp_i] && back_slot_i == grant_slot_q[back_qp_i]);
      if (fill_valid_i) contract_fill_of_fetch: assume (fetched_q[fill_qp_i] && (fill_list_i || fill_used_i));

      // What is offered stays as it is.
      if (grant_held_q) grant_stays: assert (grant_valid_o && held_grant_q == {grant_qp_o, grant_slot_o});
      if (seen_held_q) answer_stays: assert (seen_valid_o && held_seen_q == {seen_qp_o, seen_slot_o, seen_lookup_o});
      if (fetch_held_q) begin
        fetch_stays: assert (fetch_valid_o && held_fetch_q == {fetch_qp_o, fetch_slot_o, fetch_evicts_o, fetch_evicted_qp_o});
      end

      // A QP has one grant, and a slot that of one QP. It is not always the last slot of the QP: a context that was dropped since its turn may
      // have come into another one, and may leave that one while the grant is out.
      if (grant_valid_o) begin
        granted_once: assert (!granted_q[grant_qp_o]);
        slot_granted_once: assert (put_q[grant_slot_o] && !slot_granted_q[grant_slot_o]);
        grant_of_quantum: assert (grant_quantum_bytes_o == quantum_bytes_i);
      end
      // No slot is given away while its QP has a grant, or its context is on its way; none of those is fetched again.
      if (grant_valid_o && fetch_valid_o) fetch_spares_grant: assert (fetch_slot_o != grant_slot_o);
      if (fetch_valid_o) begin
        fetch_spares_slot_in_use: assert (!slot_granted_q[fetch_slot_o] && !slot_fetched_q[fetch_slot_o]);
        fetched_once: assert (!fetched_q[fetch_qp_o]);
      end
      // Whose context leaves has been in that slot, and in no other since. It is not the one that comes.
      if (fetch_appears && fetch_evicts_o) begin
        evicted_is_another: assert (fetch_evicted_qp_o != fetch_qp_o);
        evicted_was_in_slot: assert (put_q[fetch_slot_o] && owner_q[fetch_slot_o] == fetch_evicted_qp_o &&
                                     slot_of_q[fetch_evicted_qp_o] == fetch_slot_o);
      end

      // One answer to each lookup, in their order.
      if (seen_valid_o) begin
        answer_has_lookup: assert (looks_q != '0 && seen_qp_o == look_qp_q[0]);
        slot_only_if_here: assert (seen_lookup_o == ContextHere ? put_q[seen_slot_o] : seen_slot_o == '0);
      end
      lookups_bound: assert (32'(looks_q) <= Looks);
      others_as_listed: assert (others_o == (listed_o != '0 || grant_valid_o));

      if (DataSheetCycles) begin
        // First come, first served: each turn is of the QP that has waited for longest, and none is held up.
        turn_when_due: assert (pick_o == begins_turn);
        turn_in_time: assert (turn_valid_o == turn_due_q);
        if (turn_due_q) begin
          turn_of_first: assert (turn_qp_o == done_qp_q);
          turn_lookup: assert (turn_lookup_o == done_lookup_q);
        end
        list_is_counted: assert (listed_o == count_q);
        // A grant for each turn that found its context, with the slot where it was, and no other.
        grant_in_time: assert (grant_valid_o == (grants_q != '0));
        if (grant_valid_o) grant_as_turn: assert (grant_qp_o == grant_q[0].qp && grant_slot_o == grant_q[0].slot);
        // The answers.
        answer_in_time: assert (seen_valid_o == (answers_q != '0));
        if (seen_valid_o) answer_is_right: assert (seen_lookup_o == answer_q[0].lookup && seen_slot_o == answer_q[0].slot);
        // Each fetch is one that began, takes the slot that the hand comes to, and names whose context was there.
        fetch_in_time: assert (fetch_appears == fetch_due);
        if (fetch_appears) begin
          fetch_of_missing: assert (fetch_qp_o == fetching_qp_q);
          slot_by_second_chance: assert (fetch_slot_o == wanted_q);
          evicts_if_owned: assert (fetch_evicts_o == owned_q[fetch_slot_o]);
        end
        slots_are_counted: assert (held_o == held_q);
        // What is taken when: nothing during the walk; fills, then drops, lookups, turns; what turns and fills lead to, then returns,
        // activations.
        contexts_ready: assert (fill_ready_o == open && drop_ready_o == (open && !fill_valid_i) && look_ready_o == (quiet && seen_place));
        list_ready: assert (back_ready_o == (walk_q == '0 && !own && !choosing) &&
                            act_ready_o == (walk_q == '0 && !own && !(back_valid_i && !choosing)));
      end
    end
  end

`ifndef FORMAL
  // Inputs stay until they are taken, too. The proof is for those that do not as well.
  logic                       act_held_q, back_held_q, look_held_q, fill_held_q, drop_held_q;
  logic [QpWidth-1:0]         act_qp_q, look_qp_before_q, drop_qp_q;
  logic [QpWidth+SlotWidth:0] back_q;
  logic [QpWidth+1:0]         fill_q;
  always_ff @(posedge clk_i) begin
    act_qp_q         <= act_qp_i;
    back_q           <= {back_qp_i, back_slot_i, back_again_i};
    look_qp_before_q <= look_qp_i;
    fill_q           <= {fill_qp_i, fill_list_i, fill_used_i};
    drop_qp_q        <= drop_qp_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      act_held_q  <= 1'b0;
      back_held_q <= 1'b0;
      look_held_q <= 1'b0;
      fill_held_q <= 1'b0;
      drop_held_q <= 1'b0;
    end else begin
      act_held_q  <= act_valid_i && !act_taken;
      back_held_q <= back_valid_i && !back_taken;
      look_held_q <= look_valid_i && !look_taken;
      fill_held_q <= fill_valid_i && !fill_taken;
      drop_held_q <= drop_valid_i && !drop_taken;
      if (act_held_q) contract_activation_stays: assume (act_valid_i && act_qp_i == act_qp_q);
      if (back_held_q) contract_return_stays: assume (back_valid_i && back_q == {back_qp_i, back_slot_i, back_again_i});
      if (look_held_q) contract_lookup_stays: assume (look_valid_i && look_qp_i == look_qp_before_q);
      if (fill_held_q) contract_fill_stays: assume (fill_valid_i && fill_q == {fill_qp_i, fill_list_i, fill_used_i});
      if (drop_held_q) contract_drop_stays: assume (drop_valid_i && drop_qp_i == drop_qp_q);
    end
  end
`endif

endmodule
