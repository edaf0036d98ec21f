// Which QP contexts are on the NIC: a map from QP to slot, the QP of each slot, and the choice of a slot for a context
// that is fetched (second chance: not one that is in use, nor one that was chosen or used since the hand passed it).
// One operation per cycle passes two stages; one that begins a fetch holds the second stage until it has a slot. See
// README.md.
module qp_contexts
  import mrc_pkg::*;
#(
  parameter  int unsigned NumQps    = 16384,  // power of two
  parameter  int unsigned NumSlots  = 1024,   // power of two, at least 2
  localparam int unsigned QpWidth   = $clog2(NumQps),
  localparam int unsigned SlotWidth = $clog2(NumSlots)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,       // the walk after reset
  input  logic [QpWidth-1:0]   clear_qp_i,
  input  logic                 read_room_i,

  // An operation, while open_o.
  output logic                 open_o,
  input  logic                 op_valid_i,
  input  slot_op_e             op_i,
  input  logic [QpWidth-1:0]   op_qp_i,
  input  logic                 op_list_i,     // fill
  input  logic                 op_used_i,     // fill

  // Its result, in the cycle after; not for fill and drop.
  output logic                 done_valid_o,
  output slot_op_e             done_op_o,
  output logic [QpWidth-1:0]   done_qp_o,
  output logic                 done_list_o,
  output context_lookup_e      done_lookup_o,
  output logic [SlotWidth-1:0] done_slot_o,

  // A grant of this slot was given back.
  input  logic                 back_valid_i,
  input  logic [SlotWidth-1:0] back_slot_i,
  output logic                 choosing_o,    // no grant may be given back
  output logic [SlotWidth:0]   held_o,        // slots in use

  output logic                 fetch_valid_o,
  input  logic                 fetch_ready_i,
  output logic [QpWidth-1:0]   fetch_qp_o,
  output logic [SlotWidth-1:0] fetch_slot_o,
  output logic                 fetch_evicts_o,
  output logic [QpWidth-1:0]   fetch_evicted_qp_o
);

  // Slots that are looked at in one cycle.
  localparam int unsigned Window     = (NumSlots < 16) ? NumSlots : 16;
  localparam int unsigned PlaceWidth = $clog2(Window);

  typedef enum logic [1:0] {
    StateNone    = 2'd0,
    StateLoading = 2'd1,
    StateFresh   = 2'd2,  // has come, and was not used yet
    StateUsed    = 2'd3
  } state_e;

  typedef enum logic [1:0] {
    FetchIdle   = 2'd0,
    FetchSearch = 2'd1,
    FetchEvict  = 2'd2
  } fetch_e;

  typedef struct packed {
    state_e               state;
    logic [SlotWidth-1:0] slot;
  } entry_t;

  typedef struct packed {
    logic               valid;
    logic [QpWidth-1:0] qp;
  } owner_t;

  // The stage in which the entry of the QP is there.
  logic               valid_q, list_q, used_q;
  slot_op_e           op_q;
  logic [QpWidth-1:0] qp_q;
  entry_t             entry, entry_d;
  owner_t             owner, owner_d;
  logic               asks, here, fresh, no_slot, misses, fetch_free;

  fetch_e               fetch_q;
  logic [SlotWidth-1:0] hand_q, chosen, chosen_q;
  logic                 found;

  assign open_o  = fetch_q == FetchIdle && !misses && !clear_i;
  assign asks    = valid_q && fetch_q == FetchIdle && (op_q == SlotTurn || op_q == SlotLook);
  assign here    = entry.state == StateFresh || entry.state == StateUsed;
  assign fresh   = entry.state == StateFresh;
  assign misses  = asks && entry.state == StateNone && read_room_i && fetch_free && !no_slot;
  assign choosing_o = fetch_q == FetchSearch;

  assign fetch_free = !fetch_valid_o || fetch_ready_i;

  assign done_valid_o = valid_q && fetch_q == FetchIdle;
  assign done_op_o    = op_q;
  assign done_qp_o    = qp_q;
  assign done_list_o  = list_q;
  assign done_slot_o  = entry.slot;
  always_comb begin
    unique case (entry.state)
      StateNone:    done_lookup_o = misses ? ContextFetched : ContextNoRoom;
      StateLoading: done_lookup_o = ContextLoading;
      default:      done_lookup_o = ContextHere;
    endcase
  end

  // Entry of the QP in the stage, of a QP that is evicted, or of the walk.
  logic               entry_we;
  logic [QpWidth-1:0] entry_waddr;
  always_comb begin
    entry_we    = clear_i;
    entry_waddr = clear_i ? clear_qp_i : qp_q;
    entry_d     = '{state: StateNone, slot: entry.slot};
    unique case (fetch_q)
      FetchSearch: begin
        entry_we = found;
        entry_d  = '{state: StateLoading, slot: chosen};
      end
      FetchEvict: begin
        entry_we    = owner.valid;
        entry_waddr = owner.qp;
      end
      default: begin
        if (valid_q && op_q == SlotFill) begin
          entry_we      = 1'b1;
          entry_d.state = used_q ? StateUsed : StateFresh;
        end
        if (asks && fresh) begin
          entry_we      = 1'b1;
          entry_d.state = StateUsed;
        end
        if (valid_q && op_q == SlotDrop && here) entry_we = 1'b1;
      end
    endcase
  end

  ram_1r1w #(.Depth(NumQps), .Width($bits(entry_t))) u_entries (
    .clk_i,
    .we_i   (entry_we),
    .waddr_i(entry_waddr),
    .wdata_i(entry_d),
    .re_i   (op_valid_i),
    .raddr_i(op_qp_i),
    .rdata_o(entry)
  );

  // The QP of each slot.
  logic                 drops, owner_we;
  logic [SlotWidth-1:0] owner_waddr;
  assign drops = done_valid_o && op_q == SlotDrop && here;
  always_comb begin
    owner_we    = drops || clear_i || fetch_q == FetchEvict;
    owner_waddr = clear_i ? clear_qp_i[SlotWidth-1:0] : (fetch_q == FetchEvict) ? chosen_q : entry.slot;
    owner_d     = '{valid: !clear_i && fetch_q == FetchEvict, qp: qp_q};
  end
  ram_1r1w #(.Depth(NumSlots), .Width($bits(owner_t))) u_owners (
    .clk_i,
    .we_i   (owner_we),
    .waddr_i(owner_waddr),
    .wdata_i(owner_d),
    .re_i   (found && fetch_q == FetchSearch),
    .raddr_i(chosen),
    .rdata_o(owner)
  );

  // The first slot from the hand on, in the window of the hand, that is neither in use nor recent. One that was just
  // chosen is recent: its packets are on their way, and it stays as long as one that was used again.
  logic [NumSlots-1:0]   busy_q;
  logic [NumSlots-1:0]   recent_q;  // chosen or used since the hand passed it
  logic [Window-1:0]     behind, window_busy, window_recent, free_bits, free_one, passed;
  logic [PlaceWidth-1:0] place, place_from;
  logic [SlotWidth-1:0]  window, next_window;
  assign place_from    = hand_q[PlaceWidth-1:0];
  assign window        = hand_q & ~SlotWidth'(Window - 1);
  assign next_window   = window + SlotWidth'(Window);
  assign window_busy   = busy_q[window+:Window];
  assign window_recent = recent_q[window+:Window];
  assign chosen        = window | SlotWidth'(place);
  assign behind        = Window'({Window{1'b1}} << place_from);
  // A slot in use is recent: the hand leaves it so.
  assign free_bits     = behind & ~window_recent;
  first_one #(.Width(Window)) u_free (.look_i(fetch_q == FetchSearch), .bits_i(free_bits), .any_o(found), .one_hot_o(free_one), .index_o(place));
  // The hand takes the second chance of those that it passes: all behind it, or up to the one that is found.
  assign passed = behind & ~window_busy & (found ? (free_one - 1'b1) : {Window{1'b1}});

  logic set_busy, clear_busy, set_recent;
  assign set_busy   = asks && op_q == SlotTurn && here;
  assign clear_busy = (asks && op_q == SlotLook && fresh) || (drops && fresh) ||
                      (done_valid_o && op_q == SlotFill && used_q);
  assign set_recent = asks && here;

  // Its count: a turn takes a slot in use unless it was fresh.
  logic [SlotWidth:0] held_q;
  logic               more, fewer;
  assign more    = (set_busy && !fresh) || (fetch_q == FetchSearch && found);
  assign fewer   = clear_busy;
  assign held_o  = held_q;
  assign no_slot = held_q == (SlotWidth + 1)'(NumSlots);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q   <= '0;
      recent_q <= '0;
      held_q   <= '0;
      hand_q   <= '0;
    end else begin
      // Where two meet in one slot, the later line counts.
      if (clear_busy) busy_q[entry.slot] <= 1'b0;
      if (back_valid_i) busy_q[back_slot_i] <= 1'b0;
      if (set_busy) busy_q[entry.slot] <= 1'b1;
      if (set_recent) recent_q[entry.slot] <= 1'b1;
      if (fetch_q == FetchSearch) begin
        for (int unsigned i = 0; i < Window; i++) begin
          if (passed[i] || free_one[i]) recent_q[window|SlotWidth'(i)] <= free_one[i];
          if (free_one[i]) busy_q[window|SlotWidth'(i)] <= 1'b1;
        end
      end
      held_q <= held_q + (SlotWidth + 1)'(more) - (SlotWidth + 1)'(fewer) - (SlotWidth + 1)'(back_valid_i);
      if (fetch_q == FetchSearch) hand_q <= found ? chosen + 1'b1 : next_window;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q       <= 1'b0;
      fetch_q       <= FetchIdle;
      fetch_valid_o <= 1'b0;
    end else begin
      if (fetch_q == FetchIdle && !misses) valid_q <= op_valid_i;
      unique case (fetch_q)
        FetchIdle:   if (misses) fetch_q <= FetchSearch;
        FetchSearch: if (found) fetch_q <= FetchEvict;
        default:     fetch_q <= FetchIdle;
      endcase
      if (fetch_q == FetchEvict) valid_q <= 1'b0;
      if (fetch_ready_i) fetch_valid_o <= 1'b0;
      if (fetch_q == FetchEvict) fetch_valid_o <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (op_valid_i) begin
      op_q   <= op_i;
      qp_q   <= op_qp_i;
      list_q <= op_list_i;
      used_q <= op_used_i;
    end
    if (fetch_q == FetchSearch) chosen_q <= chosen;
    if (fetch_q == FetchEvict) begin
      fetch_qp_o         <= qp_q;
      fetch_slot_o       <= chosen_q;
      fetch_evicts_o     <= owner.valid;
      fetch_evicted_qp_o <= owner.qp;
    end
  end

endmodule
