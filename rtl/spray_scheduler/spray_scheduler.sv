// Gives each packet its path: the first GOOD EV in scan order whose plane's port is up and has room for the packet. Keeps
// the states of all EVs of NumSlots tables by what SACKs, NACKs, probes and the controller say. See README.md.
//
// One operation at a time works on one table, whose row is in registers; what changes goes back to its memory in the
// same cycle. A selection takes one cycle of work, also when it ends a rotation; everything rarer takes more. The next
// scan order of a table comes in beside the present one, an EV in each cycle that has its row at hand or nothing to do.
module spray_scheduler
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots    = 1024,  // tables, a power of two, 2 …
  parameter  int unsigned MaxEvs      = 256,   // EVs of the profile, a power of two, 4 … 256
  parameter  int unsigned NumPlanes   = 8,     // 2 … 8
  parameter  int unsigned TimeWidth   = 48,
  parameter  int unsigned CreditWidth = 28,
  parameter  int unsigned BytesWidth  = 16,
  parameter  int unsigned OrderBuffers = 2,    // scan orders that a table holds: 1 or 2
  localparam int unsigned NumBuckets  = 2 * MaxEvs,
  localparam int unsigned SlotW       = $clog2(NumSlots),
  localparam int unsigned EvW         = $clog2(MaxEvs),
  localparam int unsigned BucketW     = EvW + 1,
  localparam int unsigned PlaneW      = $clog2(NumPlanes)
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,

  // A packet asks for a path.
  input  logic                                 sel_valid_i,
  output logic                                 sel_ready_o,
  input  logic [SlotW-1:0]                     sel_slot_i,
  input  logic [BytesWidth-1:0]                sel_bytes_i,
  input  logic [NumPlanes-1:0]                 sel_ports_up_i,
  input  logic [TimeWidth-1:0]                 sel_time_i,

  output logic                                 rsp_valid_o,
  input  logic                                 rsp_ready_i,
  output logic                                 rsp_found_o,
  output logic [EvW-1:0]                       rsp_ev_o,
  output logic [31:0]                          rsp_value_o,
  output logic [PlaneW-1:0]                    rsp_plane_o,
  output logic [NumPlanes-1:0]                 rsp_free_ports_o,    // up and with room
  output logic                                 rsp_no_good_o,       // no GOOD EV on any plane that can be reached
  output logic [1:0]                           rsp_rotations_o,     // that ended with this selection
  output logic                                 rsp_skip_end_valid_o,
  output logic [TimeWidth-1:0]                 rsp_skip_end_o,      // when the first SKIP EV is GOOD again

  // Room that came back, bytes per plane.
  input  logic                                 credit_valid_i,
  output logic                                 credit_ready_o,
  input  logic [NumPlanes-1:0][CreditWidth-1:0] credit_bytes_i,

  // What a packet or a probe met with.
  input  logic                                 upd_valid_i,
  output logic                                 upd_ready_o,
  input  logic [SlotW-1:0]                     upd_slot_i,
  input  path_event_e                          upd_event_i,
  input  logic                                 upd_by_value_i,
  input  logic [EvW-1:0]                       upd_ev_i,
  input  logic [31:0]                          upd_value_i,
  input  logic [TimeWidth-1:0]                 upd_time_i,

  output logic                                 done_valid_o,
  input  logic                                 done_ready_i,
  output logic                                 done_found_o,        // the value is one of the profile's
  output logic [EvW-1:0]                       done_ev_o,
  output ev_state_e                            done_state_o,
  output logic                                 done_active_o,
  output logic                                 done_reported_o,     // it became ASSUMED_BAD, or GOOD after that
  output logic                                 done_held_o,         // kept, since its plane is at the floor
  output logic                                 done_replaced_o,
  output logic [EvW-1:0]                       done_backup_o,       // EV that took its place

  // Control: one answer each.
  input  logic                                 csr_valid_i,
  output logic                                 csr_ready_o,
  input  spray_csr_e                           csr_op_i,
  input  logic [SlotW-1:0]                     csr_slot_i,
  input  logic [BucketW-1:0]                   csr_index_i,
  input  logic [63:0]                          csr_wdata_i,
  output logic                                 csr_rvalid_o,
  input  logic                                 csr_rready_i,
  output logic [63:0]                          csr_rdata_o,

  // The next scan order of a table, all EVs of the profile, first one first, while it is asked for.
  output logic                                 order_request_o,
  output logic [SlotW-1:0]                     order_slot_o,
  input  logic                                 order_valid_i,
  output logic                                 order_ready_o,
  input  logic [EvW-1:0]                       order_ev_i
);

  localparam int unsigned CountW = EvW + 1;
  localparam int unsigned ReadPad = 64 - 15 - EvW;
  localparam int unsigned OrderW  = SlotW + EvW + OrderBuffers - 1;
  localparam int unsigned RowW    = SlotW + OrderBuffers - 1;
  localparam int unsigned ComingW = OrderBuffers == 2 ? SlotW : 1;  // with one order only a table that waits gets one

  // Places come in chunks: an index is found in two steps, which chunk and where in it, and planes are kept by them.
  localparam int unsigned Chunk  = MaxEvs < 64 ? MaxEvs / 2 : 32;
  localparam int unsigned ChunkW = $clog2(Chunk);
  localparam int unsigned Chunks = MaxEvs / Chunk;

  typedef logic [MaxEvs-1:0]                       evs_t;    // one bit per EV, by its place in the profile or in scan order
  typedef logic [EvW-1:0]                          ev_t;
  typedef logic [CountW-1:0]                       count_t;
  typedef logic [NumPlanes-1:0][MaxEvs-1:0]        planes_t;
  typedef logic [NumPlanes-1:0][Chunk-1:0]         planes_chunk_t;  // which EVs of a chunk of places are of a plane
  typedef logic [TimeWidth-1:0]                    time_t;
  typedef struct packed {
    logic [PlaneW-1:0] plane;
    logic [31:0]       value;
  } profile_t;
  typedef struct packed {
    ev_t      ev;
    profile_t profile;
  } order_t;
  typedef struct packed {
    evs_t eligible;    // in use and GOOD
    evs_t resting;     // in use and SKIP
    evs_t resting_on;  // in use and SKIP for one rotation more
  } places_t;          // by place in a scan order
  typedef struct packed {
    logic [3:0] losses;
    logic [7:0] probe_successes;
  } counts_t;

  // Small fields of a row.
  typedef struct packed {
    count_t               pointer;    // place in scan order where the next search begins
    logic [19:0]          rotations;  // since the order was last drawn
    logic [NumPlanes-1:0] reachable;
    ev_t                  later;      // the first SKIP EV that sits out one rotation more
  } scan_t;
  typedef count_t [NumPlanes-1:0] in_use_t;  // active EVs per plane
  typedef struct packed {
    ev_t   head;                      // SKIP EVs in the order in which they were skipped
    ev_t   tail;
    time_t head_until;
  } skips_t;

  typedef enum logic [3:0] {
    StIdle, StSelect, StExpire, StExpired, StRotate, StReviveFirst, StRevive, StRevived, StAnswer, StOrder,
    StLookup, StApply, StHeadTime, StBackup, StCsr, StCsrAnswer
  } state_e;

  function automatic logic [ChunkW-1:0][Chunk-1:0] make_index_masks();
    for (int unsigned position = 0; position < ChunkW; position++) begin
      for (int unsigned i = 0; i < Chunk; i++) make_index_masks[position][i] = 1'(i >> position);
    end
  endfunction
  localparam logic [ChunkW-1:0][Chunk-1:0] IndexMasks = make_index_masks();

  function automatic evs_t lowest(evs_t bits);
    return bits & (~bits + evs_t'(1));
  endfunction
  function automatic ev_t index_of(evs_t one_hot);
    logic [Chunk-1:0] column;
    column   = '0;
    index_of = '0;
    for (int unsigned c = 0; c < Chunks; c++) begin
      column |= one_hot[c*Chunk+:Chunk];
      if (one_hot[c*Chunk+:Chunk] != '0) index_of |= ev_t'(c * Chunk);
    end
    for (int unsigned i = 0; i < ChunkW; i++) index_of[i] = |(column & IndexMasks[i]);
  endfunction

  // ---- Memories: per cycle, one word of each is read and one written; a read sees what earlier cycles wrote.
  profile_t     profile_mem [MaxEvs];
  logic [EvW:0] bucket_mem [NumBuckets];         // {valid, EV}, by the low bits of the value, the next one where taken
  order_t       order_mem [OrderBuffers*NumSlots*MaxEvs];  // by place in scan order
  ev_t          position_a_mem [NumSlots*MaxEvs];          // by EV, as those below: place in the order of bank 0
  ev_t          position_b_mem [NumSlots*MaxEvs];          // and of bank 1
  counts_t      counts_mem [NumSlots*MaxEvs];
  ev_t          next_mem [NumSlots*MaxEvs];      // SKIP EVs are a list
  ev_t          prev_mem [NumSlots*MaxEvs];
  time_t        until_mem [NumSlots*MaxEvs];
  // One row per table.
  scan_t    scan_mem [NumSlots];
  skips_t   skips_mem [NumSlots];
  logic     coming_ready_mem [NumSlots];         // the next order is in the other bank
  logic [NumSlots-1:0] bank_mem;                 // of the order that is walked, in flip-flops
  in_use_t  in_use_mem [NumSlots];
  evs_t     active_mem [NumSlots];               // by EV: in use
  evs_t     good_mem [NumSlots];
  evs_t     skip_mem [NumSlots];
  evs_t     once_mem [NumSlots];                 // SKIP for one rotation more
  evs_t     bad_mem [NumSlots];
  evs_t     eligible_mem [NumSlots];             // by place in the order that is walked, as in places_t
  evs_t     resting_mem [NumSlots];
  evs_t     resting_on_mem [NumSlots];
  planes_chunk_t [Chunks-1:0] plane_mem [OrderBuffers*NumSlots];  // of each bank, written chunk by chunk
  evs_t     coming_eligible_mem [1<<ComingW];    // and in the one that comes in
  evs_t     coming_resting_mem [1<<ComingW];
  evs_t     coming_resting_on_mem [1<<ComingW];

  // ---- The operation in work
  state_e                state_q, state_d;
  logic                  is_select_q;
  logic                  is_csr_q;
  logic                  was_update_q;
  logic [SlotW-1:0]      slot_q;
  path_event_e           event_q;
  spray_csr_e            csr_op_q;
  logic                  by_value_q;
  logic                  known_q, known_d;        // the bucket that was read holds an EV
  logic                  walks;                   // to the next bucket
  ev_t                   ev_q, ev_d;
  ev_t                   backup_q, backup_d;
  logic                  replaced_q;
  logic [31:0]           value_q;
  logic [63:0]           wdata_q;
  logic [BucketW-1:0]    bucket_q, bucket_d;
  time_t                 time_q;
  logic [BytesWidth-1:0] bytes_q;
  logic [NumPlanes-1:0]  ports_up_q;
  logic [1:0]            ended_q, ended_d;        // rotations
  logic                  opening_q, opening_d;
  logic [SlotW-1:0]      wait_slot_q;             // table that waits for its order

  // ---- The order that comes in: of the first table that wants one, an EV after the other
  logic                  want_empty, want;
  count_t                taken_q;                 // EVs of it
  logic                  placing_q, last_placing;
  ev_t                   placed_ev_q;
  ev_t                   placed_at_q;
  evs_t                  placed_q;                // by EV: has its place
  planes_chunk_t         placed_chunk_q, placed_chunk_d;  // of the chunk that is filled
  places_t               coming_q, coming_d;      // of the table at hand

  // ---- Its table's row
  scan_t    scan_q, scan_d;
  skips_t   skips_q, skips_d;
  logic     coming_ready_q, coming_ready_d;
  logic     bank_q;
  in_use_t  in_use_q;
  count_t   in_use_d;                            // of the plane at hand
  logic     in_use_change;
  evs_t     active_q, active_d, good_q, good_d, skip_q, skip_d, once_q, once_d, bad_q, bad_d;
  places_t  places_q, places_d;
  planes_chunk_t plane_q [Chunks];

  // ---- Words read in the cycle before
  ev_t           ev_raddr;
  profile_t      profile_rd;
  logic [EvW:0]  bucket_rd;
  ev_t           position_a_rd, position_b_rd, position_rd, coming_position_rd, next_rd, prev_rd;
  counts_t       counts_rd;
  time_t         until_rd;

  // ---- Limits, profile, credit
  spray_limits_t limits_q;
  time_t         skip_time_q;
  planes_t       profile_plane_q;                 // by EV
  logic [CreditWidth-1:0] credit_q [NumPlanes];
  logic          fixed_time;
  assign fixed_time = limits_q.skip_duration == SkipFixedTime;

  logic rsp_free, done_free, csr_free;
  assign rsp_free  = !rsp_valid_o || rsp_ready_i;
  assign done_free = !done_valid_o || done_ready_i;
  assign csr_free  = !csr_rvalid_o || csr_rready_i;

  // An answer that waits holds up the operation that would overwrite it: nothing of that cycle's work counts. What the
  // work is does not depend on it.
  logic works;
  always_comb begin
    works = 1'b1;
    unique case (state_q)
      StSelect: works = rsp_free;
      StApply:  works = walks || (is_csr_q ? csr_free : done_free);
      StCsr:    works = csr_free;
      default: ;
    endcase
  end

  // ---- The search. A rotation is over when it wraps, or when all that it could find is skipped; busy ports do not end it.
  // What is wide here and below is worked out only in the states that use it: a simulator passes it over in the others.
  logic [NumPlanes-1:0] free_ports, picked_plane;
  evs_t usable_evs, candidates, ahead, woken, waking, inactive_waking, picked;
  ev_t  picked_place;
  logic any_good, rotation_ends, rotation_is_simple, order_is_simple, reshuffle_due, expired, skips_any;
  assign skips_any     = skip_q != '0;
  assign reshuffle_due = limits_q.reshuffle_rotations != '0 &&
                         scan_q.rotations + 20'd1 >= limits_q.reshuffle_rotations;
  assign expired       = fixed_time && skips_any && skips_q.head_until <= time_q;

  // The SKIP EVs that the end of a rotation makes GOOD.
  always_comb begin
    waking          = '0;
    inactive_waking = '0;
    woken           = places_q.eligible;
    if (!fixed_time && skips_any) begin
      waking          = skip_q & ~once_q;
      inactive_waking = waking & ~active_q;
      woken           = places_q.eligible | places_q.resting;
    end
  end

  function automatic logic any_of_plane(evs_t places, logic [PlaneW-1:0] plane);
    logic [Chunk-1:0] column;
    column = '0;
    for (int unsigned c = 0; c < Chunks; c++) column |= places[c*Chunk+:Chunk] & plane_q[c][plane];
    return column != '0;
  endfunction

  always_comb begin
    free_ports         = '0;
    usable_evs         = '0;
    candidates         = '0;
    ahead              = '0;
    any_good           = 1'b0;
    rotation_ends      = 1'b0;
    rotation_is_simple = 1'b0;
    order_is_simple    = 1'b0;
    picked             = '0;
    picked_place       = '0;
    picked_plane       = '0;
    if (state_q == StSelect || state_q == StAnswer) begin
      for (int unsigned p = 0; p < NumPlanes; p++) begin
        free_ports[p] = ports_up_q[p] && credit_q[p] >= CreditWidth'(bytes_q);
        if (free_ports[p] && scan_q.reachable[p]) begin
          for (int unsigned c = 0; c < Chunks; c++) usable_evs[c*Chunk+:Chunk] |= plane_q[c][p];
        end
      end
      candidates    = places_q.eligible & usable_evs;
      any_good      = candidates != '0;
      if (!any_good) begin
        for (int unsigned p = 0; p < NumPlanes; p++) begin
          if (scan_q.reachable[p] && any_of_plane(places_q.eligible, PlaneW'(p))) any_good = 1'b1;
        end
      end
      ahead         = candidates & ({MaxEvs{1'b1}} << scan_q.pointer);
      rotation_ends = ahead == '0 && (candidates != '0 || !any_good);
      picked        = ahead;
      if (state_q == StAnswer) begin
        picked = candidates;
      end else if (rotation_ends) begin
        picked          = woken & usable_evs;
        order_is_simple = reshuffle_due && coming_ready_q && inactive_waking == '0;
        // Not simple: a new order, backups that were skipped and that their planes may want, and nothing GOOD after it,
        // which ends the next rotation as well.
        for (int unsigned p = 0; p < NumPlanes; p++) begin
          if (scan_q.reachable[p] && any_of_plane(woken, PlaneW'(p))) rotation_is_simple = 1'b1;
        end
        if (reshuffle_due || inactive_waking != '0) rotation_is_simple = 1'b0;
      end
      picked       = lowest(picked);
      picked_place = index_of(picked);
      for (int unsigned p = 0; p < NumPlanes; p++) begin
        if (free_ports[p]) picked_plane[p] = any_of_plane(picked, PlaneW'(p));
      end
    end
  end

  // ---- What an update does to its EV
  evs_t              backups;
  logic [PlaneW-1:0] ev_plane;
  count_t            in_use;
  logic              is_good, is_skip, is_bad, is_active, quiet, at_floor;
  logic              loses, removes, held, denies, revives, allows, skips, unlinks, deactivates, takes_back, replaces;
  counts_t           counts_d;
  ev_state_e         ev_state_d;
  assign ev_plane     = profile_rd.plane;
  assign in_use       = in_use_q[ev_plane];
  assign walks        = known_q && by_value_q && profile_rd.value != value_q;

  always_comb begin
    is_good     = 1'b0;
    is_skip     = 1'b0;
    is_bad      = 1'b0;
    is_active   = 1'b0;
    denies      = 1'b0;
    quiet       = 1'b0;
    backups     = '0;
    at_floor    = 1'b0;
    counts_d    = counts_rd;
    loses       = 1'b0;
    removes     = 1'b0;
    held        = 1'b0;
    revives     = 1'b0;
    allows      = 1'b0;
    skips       = 1'b0;
    deactivates = 1'b0;
    unlinks     = 1'b0;
    takes_back  = 1'b0;
    replaces    = 1'b0;
    ev_state_d  = EvDenied;
    if (state_q == StApply) begin
      is_good   = good_q[ev_q];
      is_skip   = skip_q[ev_q];
      is_bad    = bad_q[ev_q];
      is_active = active_q[ev_q];
      denies    = event_q == PathDeny;
      quiet     = limits_q.oblivious && !is_csr_q;
      backups   = good_q & ~active_q & profile_plane_q[ev_plane];
      if (denies) backups[ev_q] = 1'b0;
      at_floor  = backups == '0 && 9'(in_use) <= limits_q.least_active;

      loses = event_q == PathAlwaysSkip;
      unique case (event_q)
        PathDelivered: counts_d.losses = '0;
        PathLost: begin
          if (counts_rd.losses != '1) counts_d.losses = counts_rd.losses + 4'd1;
          loses = counts_d.losses >= limits_q.assumed_bad_losses;
        end
        PathProbeDelivered, PathProbeEcn: if (is_bad) counts_d.probe_successes = counts_rd.probe_successes + 8'd1;
        PathProbeLost: counts_d.probe_successes = '0;
        default: ;
      endcase
      removes = loses && !quiet && is_active && !at_floor;
      held    = loses && !quiet && is_active && at_floor;
      revives = !quiet && is_bad && (event_q == PathProbeDelivered || event_q == PathProbeEcn) &&
                counts_d.probe_successes >= limits_q.probe_successes;
      allows  = event_q == PathAllow && !is_good && !is_skip && !is_bad;
      skips   = !quiet && (is_good || revives) &&
                (event_q == PathEcn || event_q == PathTrimmed ||
                 (event_q == PathProbeEcn && limits_q.probe_marked_skips));
      if (removes) counts_d.probe_successes = '0;
      if (revives) counts_d.losses = '0;
      if (quiet) counts_d = counts_rd;
      deactivates = (removes || denies) && is_active;
      unlinks     = (removes || denies) && is_skip;
      takes_back  = (revives || allows) && 9'(in_use) < limits_q.most_active;
      replaces    = (removes || denies) && backups != '0 && 9'(in_use) - 9'(deactivates) < limits_q.most_active;

      if (denies) ev_state_d = EvDenied;
      else if (removes) ev_state_d = EvAssumedBad;
      else if (skips) ev_state_d = EvSkip;
      else if (revives || allows || is_good) ev_state_d = EvGood;
      else if (is_skip) ev_state_d = EvSkip;
      else if (is_bad) ev_state_d = EvAssumedBad;
    end
  end

  // ---- Who is next: the controller, then updates and packets in turn. An EV of an order goes in beside an operation on
  // the same table, or where there is none.
  logic order_arrived, order_beside, finishes, can_accept, take_csr, take_update, take_select, take_operation, take_order, take, load_row;
  logic [SlotW-1:0] operation_slot, next_slot;
  assign can_accept     = state_q == StIdle || (works && finishes);
  assign csr_ready_o    = can_accept;
  assign upd_ready_o    = can_accept && !csr_valid_i && !(sel_valid_i && was_update_q);
  assign sel_ready_o    = can_accept && !csr_valid_i && !(upd_valid_i && !was_update_q);
  assign take_csr       = csr_ready_o && csr_valid_i;
  assign take_update    = upd_ready_o && upd_valid_i;
  assign take_select    = sel_ready_o && sel_valid_i;
  assign take_operation = take_csr || take_update || take_select;
  assign take_order     = order_ready_o && order_valid_i;
  assign take           = take_operation || take_order;
  assign operation_slot = take_csr ? csr_slot_i : take_update ? upd_slot_i : sel_slot_i;
  assign next_slot      = take_operation ? operation_slot : order_slot_o;
  assign load_row       = take && next_slot != slot_q;
  // Room that comes back counts for the packet that is taken in the same cycle, and for no earlier one.
  assign credit_ready_o = can_accept || (!is_select_q && state_q != StCsr);

  assign order_request_o = !want_empty && 10'(taken_q) < limits_q.ev_count;
  assign order_arrived   = state_q == StOrder && slot_q == wait_slot_q && coming_ready_q;
  // Cycles of work on the order's table in which the next cycle reads no EV's profile.
  assign order_beside    = slot_q == order_slot_o &&
                           ((state_q == StSelect && !rsp_free) || state_q == StRotate || state_q == StRevived);
  assign order_ready_o   = order_request_o &&
                           (state_q == StOrder ? !order_arrived
                            : can_accept       ? !take_operation || operation_slot == order_slot_o
                                               : order_beside);
  assign last_placing    = placing_q && 10'(placed_at_q) + 10'd1 == limits_q.ev_count;

  localparam int unsigned Wants = OrderBuffers == 2 ? 1 << SlotW : 2;
  logic                     unused_full;
  logic [$clog2(Wants):0]   unused_wants;
  fifo #(.Depth(Wants), .Width(SlotW)) u_wants (
    .clk_i, .rst_ni,
    .push_i (works && want),
    .data_i (slot_q),
    .pop_i  (last_placing),
    .data_o (order_slot_o),
    .empty_o(want_empty),
    .full_o (unused_full),
    .count_o(unused_wants)
  );

  logic coming_bank, in_coming;
  assign coming_bank        = OrderBuffers == 2 && !bank_q;
  assign position_rd        = bank_q ? position_b_rd : position_a_rd;
  assign coming_position_rd = coming_bank ? position_b_rd : position_a_rd;
  assign in_coming          = coming_ready_q || (!want_empty && order_slot_o == slot_q && placed_q[ev_q]);

  function automatic logic [OrderW-1:0] order_address(logic bank, logic [SlotW-1:0] slot, ev_t place);
    return OrderW'({bank, slot, place});
  endfunction
  function automatic logic [RowW-1:0] plane_row(logic bank, logic [SlotW-1:0] slot);
    return RowW'({bank, slot});
  endfunction
  function automatic logic [ComingW-1:0] coming_row(logic [SlotW-1:0] slot);
    return ComingW'(slot & {SlotW{OrderBuffers == 2}});
  endfunction

  logic     answer_select, answer_update, answer_csr, select_found, no_good, apply_it, skip_it;
  logic     wakes, swap, touches;
  logic     states_change;                        // EVs' states, and so the bitmaps by place
  logic     opens, coming_changes;
  logic     next_we, prev_we;
  ev_t      next_waddr, next_wdata, prev_waddr, prev_wdata;
  logic [63:0] csr_rdata_d;
  // The order is the first of its table.
  logic     opens_it;
  assign opens_it = opening_q && state_q == StOrder && slot_q == wait_slot_q;

  always_comb begin
    state_d       = state_q;
    known_d       = known_q;
    ev_d          = ev_q;
    backup_d      = backup_q;
    bucket_d      = bucket_q;
    ended_d       = ended_q;
    opening_d     = opening_q;
    wakes         = 1'b0;
    swap          = 1'b0;
    touches       = 1'b0;
    states_change = 1'b0;
    opens         = 1'b0;
    want          = 1'b0;
    scan_d        = scan_q;
    skips_d       = skips_q;
    in_use_d      = in_use + count_t'(1);
    in_use_change = 1'b0;
    active_d      = active_q;
    good_d        = good_q;
    skip_d        = skip_q;
    once_d        = once_q;
    bad_d         = bad_q;
    places_d      = places_q;
    ev_raddr      = ev_q;
    answer_select = 1'b0;
    answer_update = 1'b0;
    answer_csr    = 1'b0;
    finishes      = 1'b0;
    select_found  = 1'b0;
    no_good       = 1'b0;
    apply_it      = 1'b0;
    skip_it       = 1'b0;
    next_we       = 1'b0;
    next_waddr    = skips_q.tail;
    next_wdata    = ev_q;
    prev_we       = 1'b0;
    prev_waddr    = ev_q;
    prev_wdata    = skips_q.tail;
    csr_rdata_d   = csr_rdata_o;

    unique case (state_q)
      StIdle: ;

      StSelect: begin
        ended_d = 2'd0;
        if (free_ports == '0) begin
          answer_select = 1'b1;
          no_good       = !any_good;
        end else if (expired) begin
          ev_raddr = skips_q.head;
          ev_d     = skips_q.head;
          state_d  = StExpire;
        end else if (rotation_ends && order_is_simple) begin
          ended_d          = 2'd1;
          scan_d.pointer   = '0;
          scan_d.rotations = '0;
          wakes            = 1'b1;
          swap             = 1'b1;
          state_d          = StAnswer;
        end else if (rotation_ends && !rotation_is_simple) begin
          state_d = StRotate;
        end else begin
          answer_select = 1'b1;
          select_found  = picked != '0;
          if (rotation_ends) begin
            ended_d          = 2'd1;
            scan_d.pointer   = '0;
            scan_d.rotations = scan_q.rotations + 20'd1;
            wakes            = 1'b1;
          end
        end
        finishes = answer_select;
      end

      // One SKIP EV comes back: its time is over, or its rotation.
      StExpire, StRevive: begin
        good_d[ev_q]  = 1'b1;
        skip_d[ev_q]  = 1'b0;
        touches       = 1'b1;
        states_change = 1'b1;
        if (active_q[ev_q]) begin
          places_d.resting[position_rd]  = 1'b0;
          places_d.eligible[position_rd] = 1'b1;
        end else if (9'(in_use) < limits_q.most_active) begin
          active_d[ev_q]                 = 1'b1;
          places_d.eligible[position_rd] = 1'b1;
          in_use_change                  = 1'b1;
        end
        skips_d.head = next_rd;
        ev_raddr   = next_rd;
        ev_d       = next_rd;
        if (state_q == StExpire) state_d = StExpired;
        else if (ev_q == skips_q.tail || (once_q != '0 && next_rd == scan_q.later)) state_d = StRevived;
      end
      StExpired: begin
        skips_d.head_until = until_rd;
        state_d          = StSelect;
      end

      StRotate: begin
        ended_d         = ended_q + 2'd1;
        scan_d.pointer   = '0;
        scan_d.rotations = reshuffle_due ? '0 : scan_q.rotations + 20'd1;
        state_d         = StReviveFirst;
        if (reshuffle_due && coming_ready_q) begin
          swap = 1'b1;
        end else if (reshuffle_due) begin
          opening_d = 1'b0;
          want      = OrderBuffers == 1;
          state_d   = StOrder;
        end
      end
      StReviveFirst: begin
        ev_raddr = skips_q.head;
        ev_d     = skips_q.head;
        state_d  = inactive_waking != '0 ? StRevive : StRevived;
      end
      StRevived: begin
        wakes   = 1'b1;
        state_d = StAnswer;
      end
      StAnswer: begin
        // With nothing GOOD the rotation that the skipped ones sit out is empty.
        if (!any_good && ended_q == 2'd1) begin
          state_d = StRotate;
        end else begin
          answer_select = 1'b1;
          finishes      = 1'b1;
          select_found  = picked != '0;
          no_good       = !any_good;
        end
      end

      // Orders of tables that asked before come in first.
      StOrder: if (order_arrived) begin
        swap    = 1'b1;
        state_d = opening_q ? StCsrAnswer : StReviveFirst;
      end

      // The bucket has been read: its EV is the one, or the next bucket's.
      StLookup: begin
        known_d = !by_value_q || bucket_rd[EvW];
        if (by_value_q) ev_d = bucket_rd[EvW-1:0];
        ev_raddr = ev_d;
        state_d  = StApply;
      end
      StApply: begin
        if (walks) begin
          bucket_d = bucket_q + BucketW'(1);
          state_d  = StLookup;
        end else begin
          apply_it    = known_q;
          if (is_csr_q) csr_rdata_d = {is_active, ReadPad'(0), spray_ev_word_t'{state: ev_state_d, losses: counts_rd.losses, probe_successes: counts_rd.probe_successes}, position_rd};
          finishes    = 1'b1;
          touches     = apply_it;
          if (apply_it) begin
            states_change = 1'b1;
            if (skips) begin
              skip_it    = 1'b1;
              next_we    = 1'b1;
              prev_we    = 1'b1;
              skips_d.tail = ev_q;
              good_d[ev_q] = 1'b0;
              skip_d[ev_q] = 1'b1;
              if (!skips_any) begin
                skips_d.head       = ev_q;
                skips_d.head_until = time_q + skip_time_q;
              end
              if (limits_q.skip_duration == SkipOneRotation) begin
                once_d[ev_q] = 1'b1;
                if (once_q == '0) scan_d.later = ev_q;
              end
            end else if (revives || allows) begin
              good_d[ev_q] = 1'b1;
            end else if (removes || denies) begin
              good_d[ev_q] = 1'b0;
              skip_d[ev_q] = 1'b0;
              once_d[ev_q] = 1'b0;
            end
            if (removes) bad_d[ev_q] = 1'b1;
            else if (denies || revives) bad_d[ev_q] = 1'b0;
            if (deactivates) begin
              active_d[ev_q] = 1'b0;
              in_use_change  = 1'b1;
              in_use_d       = in_use - count_t'(1);
            end else if (takes_back) begin
              active_d[ev_q] = 1'b1;
              in_use_change  = 1'b1;
            end
            if (skips || removes || denies || takes_back) begin
              places_d.eligible[position_rd]   = takes_back && !skips;
              places_d.resting[position_rd]    = 1'b0;
              places_d.resting_on[position_rd] = 1'b0;
              if (skips && (is_active || takes_back)) begin
                if (limits_q.skip_duration == SkipOneRotation) places_d.resting_on[position_rd] = 1'b1;
                else places_d.resting[position_rd] = 1'b1;
              end
            end
            if (unlinks) begin
              next_we    = ev_q != skips_q.head;
              next_waddr = prev_rd;
              next_wdata = next_rd;
              prev_we    = ev_q != skips_q.tail;
              prev_waddr = next_rd;
              prev_wdata = prev_rd;
              if (ev_q == skips_q.head) skips_d.head = next_rd;
              if (ev_q == skips_q.tail) skips_d.tail = prev_rd;
              if (ev_q == scan_q.later) scan_d.later = next_rd;
            end
            backup_d = index_of(lowest(backups));
            if (unlinks && fixed_time && ev_q == skips_q.head) begin
              finishes = 1'b0;
              ev_raddr = next_rd;
              state_d  = StHeadTime;
            end else if (replaces) begin
              finishes = 1'b0;
              ev_raddr = backup_d;
              ev_d     = backup_d;
              state_d  = StBackup;
            end
          end
          answer_update = finishes && !is_csr_q;
          answer_csr    = finishes && is_csr_q;
        end
      end
      StHeadTime: begin
        skips_d.head_until = until_rd;
        ev_raddr         = backup_q;
        ev_d             = backup_q;
        state_d          = StBackup;
        if (!replaced_q) begin
          finishes      = 1'b1;
          answer_update = !is_csr_q;
          answer_csr    = is_csr_q;
        end
      end
      StBackup: begin
        active_d[ev_q]                 = 1'b1;
        places_d.eligible[position_rd] = 1'b1;
        touches                        = 1'b1;
        states_change                  = 1'b1;
        in_use_change                  = 1'b1;
        finishes                       = 1'b1;
        answer_update                  = !is_csr_q;
        answer_csr                     = is_csr_q;
      end

      StCsr: begin
        state_d     = StCsrAnswer;
        csr_rdata_d = '0;
        unique case (csr_op_q)
          SprayCsrOpen: begin
            active_d     = ~({MaxEvs{1'b1}} << wdata_q[CountW-1:0]);
            good_d       = ~({MaxEvs{1'b1}} << limits_q.ev_count);
            skip_d       = '0;
            once_d       = '0;
            bad_d        = '0;
            places_d     = '0;
            scan_d       = '0;
            scan_d.reachable = '1;
            states_change = 1'b1;
            opening_d    = 1'b1;
            opens        = 1'b1;
            want         = 1'b1;
            state_d      = StOrder;
          end
          SprayCsrPortStatus: scan_d.reachable = wdata_q[NumPlanes-1:0];
          SprayCsrReadRoom: begin
            for (int unsigned p = 0; p < NumPlanes; p++) begin
              if (bucket_q == BucketW'(p)) csr_rdata_d = 64'(credit_q[p]);
            end
          end
          SprayCsrReadSlot: csr_rdata_d = spray_table_word_t'{unused: '0, rotations: scan_q.rotations, reachable: 16'(scan_q.reachable), pointer: 16'(scan_q.pointer)};
          default: ;
        endcase
      end
      StCsrAnswer: begin
        finishes   = 1'b1;
        answer_csr = 1'b1;
      end
      default: state_d = StIdle;
    endcase

    if (wakes && !fixed_time && skips_any) begin
      states_change       = 1'b1;
      good_d              = good_q | waking;
      skip_d              = once_q;
      once_d              = '0;
      skips_d.head        = scan_q.later;
      places_d.eligible   = woken;
      places_d.resting    = places_q.resting_on;
      places_d.resting_on = '0;
    end
    if (swap) begin
      places_d    = coming_q;
      if (wakes && !fixed_time) begin
        places_d.eligible   = coming_q.eligible | coming_q.resting;
        places_d.resting    = coming_q.resting_on;
        places_d.resting_on = '0;
      end
      if (OrderBuffers == 2) want = limits_q.reshuffle_rotations != '0;
    end
    if (placing_q && opens_it) begin
      in_use_change = 1'b1;
      in_use_d      = in_use + count_t'(active_q[placed_ev_q]);
    end
    if (select_found) scan_d.pointer = count_t'(picked_place) + count_t'(1);
    if (finishes) state_d = StIdle;
  end

  // ---- The order that comes in, which what happens to EVs shows in as well once they have their place there. No operation
  // touches an EV in the cycle in which one gets its place.
  logic       ends_chunk;
  assign ends_chunk = last_placing || placed_at_q[ChunkW-1:0] == '1;
  always_comb begin
    placed_chunk_d = placed_chunk_q;
    placed_chunk_d[ev_plane][placed_at_q[ChunkW-1:0]] = 1'b1;
  end
  struct packed {
    logic eligible;
    logic resting;
    logic resting_on;
  } placed_state;
  assign placed_state.eligible   = active_q[placed_ev_q] && good_q[placed_ev_q];
  assign placed_state.resting    = active_q[placed_ev_q] && skip_q[placed_ev_q] && !once_q[placed_ev_q];
  assign placed_state.resting_on = active_q[placed_ev_q] && once_q[placed_ev_q];
  always_comb begin
    coming_d       = coming_q;
    coming_changes = placing_q;
    coming_ready_d = coming_ready_q;
    if (placing_q) begin
      coming_d.eligible[placed_at_q]   = placed_state.eligible;
      coming_d.resting[placed_at_q]    = placed_state.resting;
      coming_d.resting_on[placed_at_q] = placed_state.resting_on;
      coming_ready_d                   = last_placing;
    end
    if (touches && in_coming) begin
      coming_changes                          = 1'b1;
      coming_d.eligible[coming_position_rd]   = active_d[ev_q] && good_d[ev_q];
      coming_d.resting[coming_position_rd]    = active_d[ev_q] && skip_d[ev_q] && !once_d[ev_q];
      coming_d.resting_on[coming_position_rd] = active_d[ev_q] && once_d[ev_q];
    end
    if (wakes && !fixed_time && skips_any) begin
      coming_changes      = 1'b1;
      coming_d.eligible   = coming_d.eligible | coming_d.resting;
      coming_d.resting    = coming_d.resting_on;
      coming_d.resting_on = '0;
    end
    if (swap || opens) begin
      coming_changes = 1'b1;
      coming_d       = '0;
      coming_ready_d = 1'b0;
    end
    // An EV that got its place while the operation was held up goes to the memory with it.
    if (state_q == StSelect || state_q == StCsr) coming_changes = 1'b1;
  end

  // ---- Registers
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= StIdle;
      is_select_q  <= 1'b0;
      was_update_q <= 1'b0;
      placing_q    <= 1'b0;
      taken_q      <= '0;
      placed_q     <= '0;
      placed_chunk_q <= '0;
      rsp_valid_o  <= 1'b0;
      done_valid_o <= 1'b0;
      csr_rvalid_o <= 1'b0;
      for (int unsigned p = 0; p < NumPlanes; p++) credit_q[p] <= '0;
    end else begin
      if (works) state_q <= state_d;
      placing_q <= take_order;
      taken_q   <= last_placing ? '0 : taken_q + count_t'(take_order);
      if (placing_q) begin
        placed_q[placed_ev_q] <= 1'b1;
        placed_chunk_q        <= ends_chunk ? '0 : placed_chunk_d;
      end
      if (last_placing) placed_q <= '0;
      if (take_operation) begin
        is_select_q <= take_select;
        state_q     <= take_select ? StSelect : StLookup;
        if (take_csr && !(csr_op_i inside {SprayCsrDeny, SprayCsrAllow, SprayCsrReadEv})) state_q <= StCsr;
      end
      if (take_update || take_select) was_update_q <= take_update;
      if (rsp_free) rsp_valid_o <= answer_select;
      if (done_free) done_valid_o <= answer_update;
      if (csr_free) csr_rvalid_o <= answer_csr;
      if ((works && answer_select) || (credit_valid_i && credit_ready_o)) begin
        for (int unsigned p = 0; p < NumPlanes; p++) begin
          credit_q[p] <= credit_q[p] + (credit_valid_i && credit_ready_o ? credit_bytes_i[p] : '0) -
                         (works && picked_plane[p] ? CreditWidth'(bytes_q) : '0);
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (works) begin
      known_q    <= known_d;
      ev_q       <= ev_d;
      backup_q   <= backup_d;
      replaced_q <= replaces;
      bucket_q   <= bucket_d;
      ended_q    <= ended_d;
      opening_q  <= opening_d;
    end
    placed_ev_q <= order_ev_i;
    placed_at_q <= taken_q[EvW-1:0];
    if (state_q != StOrder) wait_slot_q <= slot_q;
    if (take_select) begin
      bytes_q    <= sel_bytes_i;
      ports_up_q <= sel_ports_up_i;
      time_q     <= sel_time_i;
    end
    if (take_update) begin
      is_csr_q   <= 1'b0;
      event_q    <= upd_event_i;
      by_value_q <= upd_by_value_i;
      ev_q       <= upd_ev_i;
      value_q    <= upd_value_i;
      bucket_q   <= upd_value_i[BucketW-1:0];
      time_q     <= upd_time_i;
    end
    if (take_csr) begin
      is_csr_q   <= 1'b1;
      csr_op_q   <= csr_op_i;
      event_q    <= csr_op_i == SprayCsrDeny ? PathDeny : csr_op_i == SprayCsrAllow ? PathAllow : PathRead;
      by_value_q <= 1'b0;
      ev_q       <= csr_index_i[EvW-1:0];
      bucket_q   <= csr_index_i;
      wdata_q    <= csr_wdata_i;
    end
  end

  // ---- Answers
  order_t rsp_entry_q;
  always_ff @(posedge clk_i) begin
    if (works && answer_select) begin
      rsp_found_o          <= select_found;
      rsp_free_ports_o     <= free_ports;
      rsp_no_good_o        <= no_good;
      rsp_rotations_o      <= ended_d;
      rsp_skip_end_valid_o <= fixed_time && skip_q != '0;
      rsp_skip_end_o       <= skips_q.head_until;
      rsp_entry_q          <= order_mem[order_address(bank_q, slot_q, picked_place)];
    end
  end
  assign rsp_ev_o    = rsp_entry_q.ev;
  assign rsp_plane_o = rsp_entry_q.profile.plane;
  assign rsp_value_o = rsp_entry_q.profile.value;

  always_ff @(posedge clk_i) begin
    if (state_q == StApply && !is_csr_q && done_free) begin
      done_found_o    <= known_q;
      done_ev_o       <= ev_q;
      done_state_o    <= ev_state_d;
      done_active_o   <= (is_active && !deactivates) || takes_back;
      done_reported_o <= removes || revives;
      done_held_o     <= held;
      done_replaced_o <= replaces;
      done_backup_o   <= backup_d;
    end
    if (works) csr_rdata_o <= csr_rdata_d;
  end

  // ---- Limits and profile
  always_ff @(posedge clk_i) begin
    if (state_q == StCsr && csr_op_q == SprayCsrLimits) limits_q <= wdata_q;
    if (state_q == StCsr && csr_op_q == SprayCsrSkipTime) skip_time_q <= wdata_q[TimeWidth-1:0];
    if (state_q == StCsr && csr_op_q == SprayCsrProfile) begin
      profile_mem[bucket_q[EvW-1:0]] <= '{plane: wdata_q[32+:PlaneW], value: wdata_q[31:0]};
      for (int unsigned p = 0; p < NumPlanes; p++) begin
        profile_plane_q[p][bucket_q[EvW-1:0]] <= wdata_q[32+:PlaneW] == PlaneW'(p);
      end
    end
    if (state_q == StCsr && csr_op_q == SprayCsrBucket) bucket_mem[bucket_q] <= wdata_q[EvW:0];
    bucket_rd <= bucket_mem[take_update ? upd_value_i[BucketW-1:0] : bucket_d];
    if (works || take_order) profile_rd <= profile_mem[take_order ? order_ev_i : ev_raddr];
  end

  // ---- Records of EVs
  logic [OrderW-1:0] order_waddr;
  assign order_waddr = order_address(coming_bank, slot_q, placed_at_q);
  always_ff @(posedge clk_i) begin
    if (placing_q) order_mem[order_waddr] <= '{ev: placed_ev_q, profile: profile_rd};
    if (placing_q && !coming_bank) position_a_mem[{slot_q, placed_ev_q}] <= placed_at_q;
    if (placing_q && coming_bank) position_b_mem[{slot_q, placed_ev_q}] <= placed_at_q;
    if (works && apply_it) counts_mem[{slot_q, ev_q}] <= counts_d;
    else if (placing_q && opens_it) counts_mem[{slot_q, placed_ev_q}] <= '0;
    if (works && next_we) next_mem[{slot_q, next_waddr}] <= next_wdata;
    if (works && prev_we) prev_mem[{slot_q, prev_waddr}] <= prev_wdata;
    if (works && skip_it) until_mem[{slot_q, ev_q}] <= time_q + skip_time_q;
    if (works) begin
      // An EV may get its place while it is looked up.
      position_a_rd <= placing_q && !coming_bank && placed_ev_q == ev_raddr ? placed_at_q
                                                                            : position_a_mem[{slot_q, ev_raddr}];
      position_b_rd <= OrderBuffers == 1 ? '0
                       : placing_q && coming_bank && placed_ev_q == ev_raddr ? placed_at_q
                                                                             : position_b_mem[{slot_q, ev_raddr}];
      counts_rd     <= counts_mem[{slot_q, ev_raddr}];
      next_rd       <= next_mem[{slot_q, ev_raddr}];
      prev_rd       <= prev_mem[{slot_q, ev_raddr}];
      until_rd      <= until_mem[{slot_q, ev_raddr}];
    end
  end

  // ---- Rows
  in_use_t         in_use_row_d;
  logic [RowW-1:0] next_plane_row, plane_waddr;
  logic [ComingW-1:0] coming_waddr;
  assign coming_waddr = coming_row(slot_q);
  assign plane_waddr = plane_row(coming_bank, slot_q);
  assign next_plane_row = load_row ? plane_row(bank_mem[next_slot], next_slot) : plane_waddr;
  always_comb begin
    in_use_row_d           = opens ? '0 : in_use_q;
    in_use_row_d[ev_plane] = opens ? '0 : in_use_d;
  end
  always_ff @(posedge clk_i) begin
    if (take) slot_q <= next_slot;
    if (works && state_q != StIdle) begin
      scan_mem[slot_q]  <= scan_d;
      skips_mem[slot_q] <= skips_d;
    end
    if (load_row) begin
      scan_q  <= scan_mem[next_slot];
      skips_q <= skips_mem[next_slot];
    end else if (works) begin
      scan_q  <= scan_d;
      skips_q <= skips_d;
    end
    if (works && states_change) begin
      active_mem[slot_q] <= active_d;
      good_mem[slot_q]   <= good_d;
      skip_mem[slot_q]   <= skip_d;
      once_mem[slot_q]   <= once_d;
      bad_mem[slot_q]    <= bad_d;
    end
    if (load_row) begin
      active_q <= active_mem[next_slot];
      good_q   <= good_mem[next_slot];
      skip_q   <= skip_mem[next_slot];
      once_q   <= once_mem[next_slot];
      bad_q    <= bad_mem[next_slot];
    end else if (works && states_change) begin
      active_q <= active_d;
      good_q   <= good_d;
      skip_q   <= skip_d;
      once_q   <= once_d;
      bad_q    <= bad_d;
    end
    if (works && (states_change || swap)) begin
      eligible_mem[slot_q]   <= places_d.eligible;
      resting_mem[slot_q]    <= places_d.resting;
      resting_on_mem[slot_q] <= places_d.resting_on;
    end
    if (load_row) begin
      places_q.eligible   <= eligible_mem[next_slot];
      places_q.resting    <= resting_mem[next_slot];
      places_q.resting_on <= resting_on_mem[next_slot];
    end else if (works && (states_change || swap)) begin
      places_q <= places_d;
    end
    if (works && coming_changes) begin
      coming_eligible_mem[coming_waddr]   <= coming_d.eligible;
      coming_resting_mem[coming_waddr]    <= coming_d.resting;
      coming_resting_on_mem[coming_waddr] <= coming_d.resting_on;
      coming_ready_mem[slot_q]            <= coming_ready_d;
    end
    if (load_row) begin
      coming_q.eligible   <= coming_eligible_mem[coming_row(next_slot)];
      coming_q.resting    <= coming_resting_mem[coming_row(next_slot)];
      coming_q.resting_on <= coming_resting_on_mem[coming_row(next_slot)];
      coming_ready_q      <= coming_ready_mem[next_slot];
    end else if (works && coming_changes) begin
      coming_q       <= coming_d;
      coming_ready_q <= coming_ready_d;
    end else if (placing_q) begin
      coming_q.eligible[placed_at_q]   <= placed_state.eligible;
      coming_q.resting[placed_at_q]    <= placed_state.resting;
      coming_q.resting_on[placed_at_q] <= placed_state.resting_on;
      coming_ready_q                   <= last_placing;
    end
    if (works && (swap || opens)) bank_mem[slot_q] <= swap && coming_bank;
    if (load_row) bank_q <= bank_mem[next_slot];
    else if (works && (swap || opens)) bank_q <= swap && coming_bank;
    if (works && (opens || in_use_change)) in_use_mem[slot_q] <= in_use_row_d;
    if (load_row) in_use_q <= in_use_mem[next_slot];
    else if (works && (opens || in_use_change)) in_use_q <= in_use_row_d;
    for (int unsigned c = 0; c < Chunks; c++) begin
      if (placing_q && ends_chunk && placed_at_q[EvW-1:ChunkW] == (EvW-ChunkW)'(c)) begin
        plane_mem[plane_waddr][c] <= placed_chunk_d;
      end
    end
    if (load_row || (works && swap)) begin
      for (int unsigned c = 0; c < Chunks; c++) plane_q[c] <= plane_mem[next_plane_row][c];
    end
  end

`ifdef FORMAL
  // Tables begin as any that is consistent, has its next order and no SKIP EV, so that few cycles reach far.
  logic opening;
  ev_t  mix_q;
  assign opening = opening_q && state_q == StOrder;
  function automatic ev_t position_in(logic bank, int unsigned slot, ev_t ev);
    return bank ? position_b_mem[{SlotW'(slot), ev}] : position_a_mem[{SlotW'(slot), ev}];
  endfunction
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      assume (limits_q.ev_count == 10'(MaxEvs) && limits_q.skip_duration != skip_duration_e'(2'd3));
      for (int unsigned s = 0; s < NumSlots; s++) begin
        assume (skip_mem[s] == '0 && once_mem[s] == '0);
        assume (resting_mem[s] == '0 && resting_on_mem[s] == '0);
        assume (coming_resting_mem[s] == '0 && coming_resting_on_mem[s] == '0);
        assume ((good_mem[s] & bad_mem[s]) == '0 && (active_mem[s] & ~good_mem[s]) == '0);
        assume (coming_ready_mem[s]);
        for (int unsigned i = 0; i < MaxEvs; i++) begin
          for (int unsigned b = 0; b < 2; b++) begin
            assume (order_mem[order_address(1'(b), SlotW'(s), position_in(1'(b), s, ev_t'(i)))].ev == ev_t'(i));
            assume (position_in(1'(b), s, order_mem[order_address(1'(b), SlotW'(s), ev_t'(i))].ev) == ev_t'(i));
            assume (order_mem[order_address(1'(b), SlotW'(s), ev_t'(i))].profile ==
                    profile_mem[order_mem[order_address(1'(b), SlotW'(s), ev_t'(i))].ev]);
          end
          assume (eligible_mem[s][i] ==
                  active_mem[s][order_mem[order_address(bank_mem[s], SlotW'(s), ev_t'(i))].ev]);
          assume (coming_eligible_mem[s][i] ==
                  active_mem[s][order_mem[order_address(!bank_mem[s], SlotW'(s), ev_t'(i))].ev]);
          for (int unsigned p = 0; p < NumPlanes; p++) begin
            assume (profile_plane_q[p][i] == (profile_mem[i].plane == PlaneW'(p)));
            assume (plane_mem[plane_row(bank_mem[s], SlotW'(s))][i / Chunk][p][i % Chunk] ==
                    (order_mem[order_address(bank_mem[s], SlotW'(s), ev_t'(i))].profile.plane == PlaneW'(p)));
            assume (plane_mem[plane_row(!bank_mem[s], SlotW'(s))][i / Chunk][p][i % Chunk] ==
                    (order_mem[order_address(!bank_mem[s], SlotW'(s), ev_t'(i))].profile.plane == PlaneW'(p)));
          end
        end
      end
      assume (good_q == good_mem[slot_q] && bad_q == bad_mem[slot_q] && active_q == active_mem[slot_q]);
      assume (skip_q == '0 && once_q == '0);
      assume (places_q.eligible == eligible_mem[slot_q] && coming_q.eligible == coming_eligible_mem[slot_q]);
      assume (places_q.resting == '0 && places_q.resting_on == '0);
      assume (coming_q.resting == '0 && coming_q.resting_on == '0);
      for (int unsigned c = 0; c < Chunks; c++) assume (plane_q[c] == plane_mem[plane_row(bank_q, slot_q)][c]);
      assume (in_use_q == in_use_mem[slot_q] && bank_q == bank_mem[slot_q]);
      assume (scan_q == scan_mem[slot_q] && skips_q == skips_mem[slot_q]);
      assume (coming_ready_q == coming_ready_mem[slot_q]);
    end
    // An open table has at most as many EVs in use as there are; an order has each EV once; the limits stay.
    if (state_q == StCsr && csr_op_q == SprayCsrOpen) assume (wdata_q[CountW-1:0] <= CountW'(MaxEvs));
    if (rst_ni && take_csr) assume (csr_op_i > SprayCsrBucket);
    mix_q <= mix_q;
    if (take_order) assume (order_ev_i == (taken_q[EvW-1:0] ^ mix_q));
  end

  // The search begins a rotation; EVs that it may take.
  logic begins;
  evs_t takeable;
  assign begins   = state_q == StAnswer || rotation_ends;
  assign takeable = (state_q == StSelect && rotation_ends ? woken : places_q.eligible) & usable_evs;

  always_ff @(posedge clk_i) begin
    if (rst_ni && !opening) begin
      // An EV has one state; those in use are GOOD or SKIP, those that sit out another rotation are SKIP.
      assert ((good_q & skip_q) == '0 && (good_q & bad_q) == '0 && (skip_q & bad_q) == '0);
      assert ((active_q & ~(good_q | skip_q)) == '0);
      assert ((once_q & ~skip_q) == '0);
      // No operation touches an EV in the cycle in which one gets its place.
      assert (!(placing_q && touches));
    end
    if (rst_ni && works && answer_select) begin
      // One EV or none, through a port with room, and one that is in use and GOOD.
      assert ((picked & (picked - evs_t'(1))) == '0);
      if (select_found) begin
        assert ((picked & usable_evs) != '0);
        assert ((picked_plane & ~free_ports) == '0 && (picked_plane & ~scan_q.reachable) == '0);
        assert (!(limits_q.skip_duration == SkipFixedTime && !places_q.eligible[picked_place]));
      end
      // None that could be taken is passed over.
      for (int unsigned i = 0; i < MaxEvs; i++) begin
        if (select_found && ev_t'(i) < picked_place && (begins || count_t'(i) >= scan_q.pointer)) assert (!takeable[i]);
      end
      // Within a rotation the search only goes on: no EV comes twice.
      if (select_found && state_q == StSelect && !rotation_ends) assert (scan_d.pointer > scan_q.pointer);
      // Room is not overdrawn.
      for (int unsigned p = 0; p < NumPlanes; p++) begin
        if (select_found && picked_plane[p]) assert (credit_q[p] >= CreditWidth'(bytes_q));
      end
    end
    // No EV is lost between the two orders: as many are in use and GOOD, and rest, in one as in the other.
    if (rst_ni && works && answer_select && coming_ready_q) begin
      assert ($countones(coming_q.eligible) == $countones(places_q.eligible));
      assert ($countones(coming_q.resting) == $countones(places_q.resting));
      assert ($countones(coming_q.resting_on) == $countones(places_q.resting_on));
    end
    // A loss leaves its plane no fewer EVs in use than the floor, unless another takes over.
    if (rst_ni && works && apply_it && removes) assert (9'(in_use) > limits_q.least_active || backups != '0);
    if (rst_ni && works && apply_it && replaces) assert (profile_plane_q[ev_plane][backup_d]);
    if (rst_ni && works && apply_it && takes_back) assert (9'(in_use_d) <= limits_q.most_active);
  end
`endif

endmodule
