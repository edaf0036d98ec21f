// Gives each packet its path: the first GOOD EV in scan order whose plane's port is up and has room for the packet. Keeps
// the states of all EVs of NumSlots tables by what SACKs, NACKs, probes and the controller say. See README.md.
//
// One operation at a time works on one table, whose row is in registers; the row of the next operation is read meanwhile.
// A packet works for two cycles: which EVs could be taken, then the first of them. What is rarer takes more. The next scan
// order of a table comes in beside all that. The parts: spray_rows, spray_search, spray_update, spray_order_fill.
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

  localparam int unsigned CountW  = EvW + 1;
  localparam int unsigned ReadPad = 64 - 15 - EvW;

  // Planes by place are kept in chunks of places.
  localparam int unsigned Chunk  = MaxEvs < 64 ? MaxEvs / 2 : 32;
  localparam int unsigned Chunks = MaxEvs / Chunk;

  typedef logic [MaxEvs-1:0]    evs_t;  // one bit per EV, by its place in the profile or in scan order
  typedef logic [EvW-1:0]       ev_t;
  typedef logic [CountW-1:0]    count_t;
  typedef logic [TimeWidth-1:0] time_t;

  // Small fields of a row.
  typedef struct packed {
    count_t                 pointer;     // place in scan order where the next search begins
    logic [19:0]            rotations;   // since the order was last drawn
    logic [NumPlanes-1:0]   reachable;
    ev_t                    head;        // SKIP EVs in the order in which they were skipped
    ev_t                    tail;
    ev_t                    later;       // the first of them that sits out one rotation more
    time_t                  head_until;
    count_t [NumPlanes-1:0] in_use;      // EVs in use per plane
  } fields_t;

  typedef enum logic [4:0] {
    StIdle, StLook, StPick, StExpireFirst, StExpire, StExpired, StRotate, StOrder, StReload, StReloaded, StReviveFirst,
    StRevive, StWake, StLookup, StGather, StDecide, StApply, StHeadTime, StBackup, StCsr, StCsrAnswer
  } state_e;

  // ---- The operation that comes next, whose row is being read
  typedef struct packed {
    logic                  select;
    logic                  update;
    logic                  load;      // its table is not the one in front of it
    logic [SlotW-1:0]      slot;
    logic [BytesWidth-1:0] bytes;
    logic [NumPlanes-1:0]  ports_up;
    time_t                 at;
    path_event_e           what;
    logic                  by_value;
    ev_t                   ev;
    logic [31:0]           value;
    spray_csr_e            csr_op;
    logic [BucketW-1:0]    index;
    logic [63:0]           wdata;
  } operation_t;
  logic       next_valid_q, next_read_q;
  logic       any_taken_q;                        // since reset
  operation_t next_q, taken;
  logic       was_update_q;

  // ---- The operation in work
  state_e             state_q, state_d;
  operation_t         op_q;
  logic               is_csr;
  logic [SlotW-1:0]   slot_q;
  logic               again_q;                    // a search of the packet's came before
  logic               known_q, known_d;           // the bucket that was read holds an EV
  ev_t                ev_q, ev_d;
  logic [BucketW-1:0] bucket_q, bucket_d;
  logic [1:0]         ended_q, ended_d;           // rotations
  logic               opening_q, opening_d;
  assign is_csr = !op_q.select && !op_q.update;
  logic unused_of_operation;
  assign unused_of_operation = ^{op_q.load, op_q.slot, op_q.ev};

  // ---- Its table's row
  fields_t fields_q, fields_d;
  evs_t    active, good, skip, once, bad, eligible;
  logic [NumPlanes-1:0][MaxEvs-1:0] planes;
  logic    bank, coming_ready;

  spray_limits_t limits_q;
  time_t         skip_time_q;
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
      StPick:  works = rsp_free;
      StApply: works = is_csr ? csr_free : done_free;
      StCsr:   works = csr_free;
      default: ;
    endcase
  end

  // ---- Who is next: the controller, then updates and packets in turn
  logic can_accept, take_csr, take_update, take_select, take_operation, finishes, moves;
  assign can_accept     = !next_valid_q;
  assign csr_ready_o    = can_accept;
  assign upd_ready_o    = can_accept && !csr_valid_i && !(sel_valid_i && was_update_q);
  assign sel_ready_o    = can_accept && !csr_valid_i && !(upd_valid_i && !was_update_q);
  assign take_csr       = csr_ready_o && csr_valid_i;
  assign take_update    = upd_ready_o && upd_valid_i;
  assign take_select    = sel_ready_o && sel_valid_i;
  assign take_operation = take_csr || take_update || take_select;
  assign moves          = next_valid_q && (next_read_q || !next_q.load) && (state_q == StIdle || (works && finishes));
  // Room that comes back counts for the packet that is taken in the same cycle, and for no earlier one.
  assign credit_ready_o = !next_valid_q && state_q != StCsr;

  always_comb begin
    taken = '0;
    if (take_operation) begin
      taken.select   = take_select;
      taken.update   = take_update;
      taken.slot     = take_csr ? csr_slot_i : take_update ? upd_slot_i : sel_slot_i;
      taken.load     = taken.slot != next_q.slot || !any_taken_q;
      taken.bytes    = sel_bytes_i;
      taken.ports_up = sel_ports_up_i;
      taken.at       = take_update ? upd_time_i : sel_time_i;
      taken.what     = take_update               ? upd_event_i
                       : csr_op_i == SprayCsrDeny  ? PathDeny
                       : csr_op_i == SprayCsrAllow ? PathAllow
                                                   : PathRead;
      taken.by_value = take_update && upd_by_value_i;
      taken.ev       = take_update ? upd_ev_i : csr_index_i[EvW-1:0];
      taken.value    = upd_value_i;
      taken.csr_op   = csr_op_i;
      taken.index    = take_update ? upd_value_i[BucketW-1:0] : csr_index_i;
      taken.wdata    = csr_wdata_i;
    end
  end

  // ---- Rows are read for: an operation whose planes have changed; the order that comes in; the next operation until it moves
  logic reload, fetch, fetch_wanted, read_other;
  logic [SlotW-1:0] read_slot;
  assign reload     = state_q == StReload;
  assign fetch      = fetch_wanted && !reload && !take_operation &&
                      (!(next_valid_q && next_q.load) || moves || state_q == StOrder);
  assign read_other = reload || fetch;
  assign read_slot  = reload ? slot_q : fetch ? order_slot_o : next_valid_q ? next_q.slot : taken.slot;

  logic load_row;
  assign load_row = (moves && next_q.load) || state_q == StReloaded;

  // ---- The parts
  logic [NumPlanes-1:0] free_ports;
  logic any_good, any_candidate, any_ahead;
  ev_t  picked_place;
  logic [NumPlanes-1:0][CreditWidth-1:0] room;
  logic answer_select, select_found;
  spray_search #(
    .MaxEvs(MaxEvs), .NumPlanes(NumPlanes), .CreditWidth(CreditWidth), .BytesWidth(BytesWidth)
  ) u_search (
    .clk_i, .rst_ni,
    .look_i(state_q == StLook), .pick_i(state_q == StPick), .again_i(again_q), .bytes_i(op_q.bytes), .ports_up_i(op_q.ports_up),
    .reachable_i(fields_q.reachable), .pointer_i(fields_q.pointer), .eligible_i(eligible), .planes_i(planes),
    .free_ports_o(free_ports), .any_good_o(any_good), .any_candidate_o(any_candidate), .any_ahead_o(any_ahead),
    .place_o(picked_place), .take_i(works && select_found),
    .credit_i(credit_valid_i && credit_ready_o), .credit_bytes_i, .room_o(room)
  );

  logic touch, touch_active, touch_good, touch_skip, touch_once, touch_bad, wake, swap, opens, want, hold, changes;
  ev_t  place, coming_place;
  evs_t read_eligible, read_resting, read_resting_on, fill_eligible, fill_resting, fill_resting_on;
  logic fill_bank, commit, commit_wanted, plane_bank;
  logic [Chunks-1:0] plane_we;
  logic [NumPlanes-1:0][Chunk-1:0] plane_chunk;
  spray_rows #(
    .NumSlots(NumSlots), .MaxEvs(MaxEvs), .NumPlanes(NumPlanes), .OrderBuffers(OrderBuffers),
    .FieldsWidth($bits(fields_t)), .Chunk(Chunk)
  ) u_rows (
    .clk_i,
    .read_i(read_other || next_valid_q || take_operation), .read_slot_i(read_slot), .load_i(load_row), .slot_i(slot_q),
    .fields_o(fields_q), .fields_we_i(works && state_q != StIdle), .fields_i(fields_d),
    .active_o(active), .good_o(good), .skip_o(skip), .once_o(once), .bad_o(bad), .eligible_o(eligible),
    .planes_o(planes), .bank_o(bank), .coming_ready_o(coming_ready),
    .works_i(works), .touch_i(touch), .touch_ev_i(ev_q), .touch_place_i(place), .touch_coming_place_i(coming_place),
    .touch_active_i(touch_active), .touch_good_i(touch_good), .touch_skip_i(touch_skip), .touch_once_i(touch_once),
    .touch_bad_i(touch_bad),
    .wake_i(wake), .swap_i(swap), .open_i(opens), .open_active_i(op_q.wdata[CountW-1:0]),
    .open_evs_i(limits_q.ev_count),
    .read_eligible_o(read_eligible), .read_resting_o(read_resting), .read_resting_on_o(read_resting_on),
    .fill_bank_o(fill_bank), .fill_slot_i(order_slot_o), .commit_i(commit), .commit_eligible_i(fill_eligible),
    .commit_resting_i(fill_resting), .commit_resting_on_i(fill_resting_on),
    .planes_we_i(plane_we), .planes_bank_i(plane_bank), .planes_i(plane_chunk)
  );

  logic sets_profile, sets_bucket;
  logic record_read, placing;
  ev_t  record_ev, placed_ev;
  logic [NumPlanes-1:0][CountW-1:0] fill_in_use;
  ev_t  entry_ev;
  logic [PlaneW-1:0] entry_plane;
  logic [31:0]       entry_value;
  assign changes      = touch || wake || swap || opens;
  // Not while its row is on the way to the registers.
  assign commit       = commit_wanted && !changes && !reload && state_q != StReloaded &&
                        !(moves && next_q.load && next_q.slot == order_slot_o);
  assign sets_profile = state_q == StCsr && op_q.csr_op == SprayCsrProfile;
  assign sets_bucket  = state_q == StCsr && op_q.csr_op == SprayCsrBucket;
  spray_order_fill #(
    .NumSlots(NumSlots), .MaxEvs(MaxEvs), .NumPlanes(NumPlanes), .OrderBuffers(OrderBuffers), .Chunk(Chunk)
  ) u_fill (
    .clk_i, .rst_ni, .ev_count_i(limits_q.ev_count),
    .slot_i(slot_q), .want_i(works && want), .changes_i(changes), .hold_i(hold), .wake_i(wake),
    .works_i(works), .touch_i(touch), .touch_ev_i(ev_q), .touch_eligible_i(touch_active && touch_good),
    .touch_resting_i(touch_active && touch_skip && !touch_once), .touch_resting_on_i(touch_active && touch_skip && touch_once),
    .fetch_o(fetch_wanted), .fetch_i(fetch), .read_eligible_i(read_eligible), .read_resting_i(read_resting),
    .read_resting_on_i(read_resting_on), .bank_i(fill_bank),
    .order_request_o, .order_slot_o, .order_valid_i, .order_ready_o, .order_ev_i,
    .placing_o(placing), .placed_ev_o(placed_ev), .planes_we_o(plane_we), .planes_bank_o(plane_bank), .planes_o(plane_chunk),
    .commit_o(commit_wanted), .commit_i(commit), .eligible_o(fill_eligible), .resting_o(fill_resting),
    .resting_on_o(fill_resting_on), .in_use_o(fill_in_use),
    .profile_we_i(sets_profile), .profile_ev_i(op_q.index[EvW-1:0]), .profile_plane_i(op_q.wdata[32+:PlaneW]),
    .profile_value_i(op_q.wdata[31:0]),
    .place_re_i(works && record_read), .place_ev_i(record_ev), .place_bank_i(bank), .place_o(place), .coming_place_o(coming_place),
    .entry_re_i(works && answer_select), .entry_place_i(picked_place), .entry_ev_o(entry_ev), .entry_plane_o(entry_plane),
    .entry_value_o(entry_value)
  );

  logic              bucket_valid;
  logic              counts_we, next_we, prev_we, until_we;
  ev_t               bucket_ev, next_waddr, next_wdata, prev_wdata, prev_waddr, record_next, record_prev, backup;
  logic [PlaneW-1:0] record_plane, upd_plane;
  logic [31:0]       record_value;
  time_t             record_until, skip_until;
  ev_state_e         upd_state;
  logic [3:0]        upd_losses;
  logic [7:0]        upd_successes;
  logic upd_was_active, upd_active, upd_good, upd_skip, upd_once, upd_bad, reported, held, skips, unlinks, replaces, upd_in_use_change;
  count_t            upd_in_use;
  logic [BucketW-1:0] bucket_raddr;
  spray_update #(
    .NumSlots(NumSlots), .MaxEvs(MaxEvs), .NumPlanes(NumPlanes), .TimeWidth(TimeWidth)
  ) u_update (
    .clk_i, .limits_i(limits_q), .slot_i(slot_q),
    .profile_we_i(sets_profile), .bucket_we_i(sets_bucket), .set_index_i(op_q.index), .set_plane_i(op_q.wdata[32+:PlaneW]),
    .set_value_i(op_q.wdata[31:0]),
    .bucket_i(bucket_raddr), .bucket_valid_o(bucket_valid), .bucket_ev_o(bucket_ev),
    .read_i(works && record_read), .read_ev_i(record_ev), .plane_o(record_plane), .value_o(record_value), .next_o(record_next),
    .prev_o(record_prev), .until_o(record_until),
    .gather_i(state_q == StGather), .event_i(op_q.what), .forced_i(is_csr), .ev_i(ev_q), .active_i(active), .good_i(good),
    .skip_i(skip), .once_i(once), .bad_i(bad), .in_use_i(fields_q.in_use),
    .decide_i(state_q == StDecide), .state_o(upd_state), .was_active_o(upd_was_active), .losses_o(upd_losses),
    .probe_successes_o(upd_successes), .active_o(upd_active), .good_o(upd_good), .skip_o(upd_skip), .once_o(upd_once),
    .bad_o(upd_bad), .reported_o(reported), .held_o(held), .skips_o(skips), .unlinks_o(unlinks), .replaces_o(replaces),
    .backup_o(backup), .in_use_plane_o(upd_plane), .in_use_change_o(upd_in_use_change), .in_use_o(upd_in_use),
    .counts_we_i(works && counts_we), .clear_i(placing && opening_q && state_q == StOrder && order_slot_o == slot_q),
    .clear_ev_i(placed_ev),
    .next_we_i(works && next_we), .next_ev_i(next_waddr), .next_i(next_wdata),
    .prev_we_i(works && prev_we), .prev_ev_i(prev_waddr), .prev_i(prev_wdata),
    .until_we_i(works && until_we), .until_i(skip_until)
  );

  // ---- The work
  logic   reshuffle_due, skips_any, once_any, expired, wakes_backup, walks, answer_update, answer_csr, no_good;
  count_t in_use;
  logic [NumPlanes-1:0] below_most;
  logic [63:0] csr_rdata_d;
  assign reshuffle_due = limits_q.reshuffle_rotations != '0 &&
                         fields_q.rotations + 20'd1 >= limits_q.reshuffle_rotations;
  assign skips_any     = skip != '0;
  assign once_any      = once != '0;
  assign expired       = fixed_time && skips_any && fields_q.head_until <= op_q.at;
  // Backups that were skipped, and that their planes may want, come back with the rotation.
  assign wakes_backup  = !fixed_time && (skip & ~once & ~active) != '0;
  assign in_use        = fields_q.in_use[record_plane];
  // Compared for every plane, since which one it is comes out of a memory.
  always_comb begin
    for (int unsigned p = 0; p < NumPlanes; p++) below_most[p] = 9'(fields_q.in_use[p]) < limits_q.most_active;
  end
  assign skip_until    = op_q.at + skip_time_q;
  assign walks         = known_q && op_q.by_value && record_value != op_q.value;
  assign bucket_raddr  = state_q == StGather ? bucket_d : next_q.index;
  // Places are looked up in these states, or were and are still to be used.
  assign hold          = state_q inside {StExpireFirst, StExpire, StExpired, StReviveFirst, StRevive, StLookup, StGather,
                                         StDecide, StApply, StHeadTime, StBackup};

  always_comb begin
    state_d       = state_q;
    known_d       = known_q;
    ev_d          = ev_q;
    bucket_d      = bucket_q;
    ended_d       = ended_q;
    opening_d     = opening_q;
    fields_d      = fields_q;
    touch         = 1'b0;
    touch_active  = upd_active;
    touch_good    = upd_good;
    touch_skip    = upd_skip;
    touch_once    = upd_once;
    touch_bad     = upd_bad;
    wake          = 1'b0;
    swap          = 1'b0;
    opens         = 1'b0;
    want          = 1'b0;
    record_read   = 1'b0;
    record_ev     = ev_q;
    finishes      = 1'b0;
    answer_select = 1'b0;
    answer_update = 1'b0;
    answer_csr    = 1'b0;
    select_found  = 1'b0;
    no_good       = !any_good;
    counts_we     = 1'b0;
    until_we      = 1'b0;
    next_we       = 1'b0;
    next_waddr    = fields_q.tail;
    next_wdata    = ev_q;
    prev_we       = 1'b0;
    prev_waddr    = ev_q;
    prev_wdata    = fields_q.tail;
    csr_rdata_d   = csr_rdata_o;

    unique case (state_q)
      StIdle: ;

      // A rotation is over when the search wraps, or when all that it could find is skipped; busy ports do not end it.
      StLook: state_d = StPick;
      StPick: begin
        if (free_ports == '0) begin
          answer_select = 1'b1;
        end else if (expired) begin
          state_d = StExpireFirst;
        end else if (any_ahead) begin
          answer_select    = 1'b1;
          select_found     = 1'b1;
          fields_d.pointer = count_t'(picked_place) + count_t'(1);
        end else if (ended_q == 2'd0 ? any_candidate || !any_good : ended_q == 2'd1 && !any_good) begin
          // With nothing GOOD the rotation that the skipped ones sit out is empty.
          state_d = StRotate;
        end else begin
          answer_select = 1'b1;
        end
        finishes = answer_select;
      end

      // One SKIP EV comes back: its time is over, or its rotation.
      StExpireFirst, StReviveFirst: begin
        record_read = 1'b1;
        record_ev   = fields_q.head;
        ev_d        = fields_q.head;
        state_d     = state_q == StExpireFirst ? StExpire : StRevive;
      end
      StExpire, StRevive: begin
        touch         = 1'b1;
        touch_active  = active[ev_q] || below_most[record_plane];
        touch_good    = 1'b1;
        touch_skip    = 1'b0;
        touch_once    = 1'b0;
        touch_bad     = 1'b0;
        if (!active[ev_q] && touch_active) fields_d.in_use[record_plane] = in_use + count_t'(1);
        fields_d.head = record_next;
        record_read   = 1'b1;
        record_ev     = record_next;
        ev_d          = record_next;
        if (state_q == StExpire) state_d = StExpired;
        else if (ev_q == fields_q.tail || (once_any && record_next == fields_q.later)) state_d = StWake;
      end
      StExpired: begin
        fields_d.head_until = record_until;
        state_d             = StLook;
      end

      StRotate: begin
        ended_d            = ended_q + 2'd1;
        opening_d          = 1'b0;
        fields_d.pointer   = '0;
        fields_d.rotations = reshuffle_due ? '0 : fields_q.rotations + 20'd1;
        state_d            = wakes_backup ? StReviveFirst : StWake;
        if (reshuffle_due) begin
          want    = OrderBuffers == 1;
          state_d = StOrder;
        end
      end
      // Orders of tables that asked before come in first.
      StOrder: if (coming_ready) begin
        swap    = 1'b1;
        want    = OrderBuffers == 2 && limits_q.reshuffle_rotations != '0;
        state_d = StReload;
        if (opening_q) fields_d.in_use = fill_in_use;
      end
      StReload:   state_d = StReloaded;
      StReloaded: state_d = opening_q ? StCsrAnswer : wakes_backup ? StReviveFirst : StWake;
      StWake: begin
        if (!fixed_time && skips_any) begin
          wake          = 1'b1;
          fields_d.head = fields_q.later;
        end
        state_d = StLook;
      end

      // The bucket has been read: its EV is the one, or the next bucket's.
      StLookup: begin
        known_d = !op_q.by_value || bucket_valid;
        if (op_q.by_value) ev_d = bucket_ev;
        record_read = 1'b1;
        record_ev   = ev_d;
        state_d     = StGather;
      end
      StGather: begin
        bucket_d = bucket_q + BucketW'(1);
        state_d  = walks ? StLookup : StDecide;
      end
      StDecide: state_d = StApply;
      StApply: begin
        finishes    = 1'b1;
        record_read = 1'b1;
        record_ev   = backup;
        if (is_csr) csr_rdata_d = {upd_was_active, ReadPad'(0), spray_ev_word_t'{state: upd_state, losses: upd_losses, probe_successes: upd_successes}, place};
        if (known_q) begin
          touch     = 1'b1;
          counts_we = 1'b1;
          if (upd_in_use_change) fields_d.in_use[upd_plane] = upd_in_use;
          if (skips) begin
            until_we      = 1'b1;
            next_we       = 1'b1;
            prev_we       = 1'b1;
            fields_d.tail = ev_q;
            if (!skips_any) begin
              fields_d.head       = ev_q;
              fields_d.head_until = skip_until;
            end
            if (upd_once && !once_any) fields_d.later = ev_q;
          end
          if (unlinks) begin
            next_we    = ev_q != fields_q.head;
            next_waddr = record_prev;
            next_wdata = record_next;
            prev_we    = ev_q != fields_q.tail;
            prev_waddr = record_next;
            prev_wdata = record_prev;
            if (ev_q == fields_q.head) fields_d.head = record_next;
            if (ev_q == fields_q.tail) fields_d.tail = record_prev;
            if (ev_q == fields_q.later) fields_d.later = record_next;
          end
          if (unlinks && fixed_time && ev_q == fields_q.head) begin
            finishes  = 1'b0;
            record_ev = record_next;
            state_d   = StHeadTime;
          end else if (replaces) begin
            finishes = 1'b0;
            ev_d     = backup;
            state_d  = StBackup;
          end
        end
        answer_update = finishes && !is_csr;
        answer_csr    = finishes && is_csr;
      end
      StHeadTime: begin
        fields_d.head_until = record_until;
        record_read         = 1'b1;
        record_ev           = backup;
        ev_d                = backup;
        state_d             = StBackup;
        if (!replaces) begin
          finishes      = 1'b1;
          answer_update = !is_csr;
          answer_csr    = is_csr;
        end
      end
      StBackup: begin
        touch                         = 1'b1;
        touch_active                  = 1'b1;
        touch_good                    = 1'b1;
        touch_skip                    = 1'b0;
        touch_once                    = 1'b0;
        touch_bad                     = 1'b0;
        fields_d.in_use[record_plane] = in_use + count_t'(1);
        finishes                      = 1'b1;
        answer_update                 = !is_csr;
        answer_csr                    = is_csr;
      end

      StCsr: begin
        state_d     = StCsrAnswer;
        csr_rdata_d = '0;
        unique case (op_q.csr_op)
          SprayCsrOpen: begin
            fields_d           = '0;
            fields_d.reachable = '1;
            opening_d          = 1'b1;
            opens              = 1'b1;
            want               = 1'b1;
            state_d            = StOrder;
          end
          SprayCsrPortStatus: fields_d.reachable = op_q.wdata[NumPlanes-1:0];
          SprayCsrReadRoom: begin
            for (int unsigned p = 0; p < NumPlanes; p++) begin
              if (op_q.index == BucketW'(p)) csr_rdata_d = 64'(room[p]);
            end
          end
          SprayCsrReadSlot: csr_rdata_d = spray_table_word_t'{unused: '0, rotations: fields_q.rotations, reachable: 16'(fields_q.reachable), pointer: 16'(fields_q.pointer)};
          default: ;
        endcase
      end
      StCsrAnswer: begin
        finishes   = 1'b1;
        answer_csr = 1'b1;
      end
      default: state_d = StIdle;
    endcase
    if (finishes) state_d = StIdle;
  end

  // ---- Registers
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= StIdle;
      next_valid_q <= 1'b0;
      any_taken_q  <= 1'b0;
      was_update_q <= 1'b0;
      rsp_valid_o  <= 1'b0;
      done_valid_o <= 1'b0;
      csr_rvalid_o <= 1'b0;
    end else begin
      any_taken_q <= any_taken_q || take_operation;
      if (take_operation) next_valid_q <= 1'b1;
      else if (moves) next_valid_q <= 1'b0;
      if (take_update || take_select) was_update_q <= take_update;
      if (works) state_q <= state_d;
      if (moves) begin
        state_q <= next_q.select ? StLook
                   : next_q.update || next_q.csr_op inside {SprayCsrDeny, SprayCsrAllow, SprayCsrReadEv} ? StLookup
                                                                                                         : StCsr;
      end
      if (rsp_free) rsp_valid_o <= answer_select;
      if (done_free) done_valid_o <= answer_update;
      if (csr_free) csr_rvalid_o <= answer_csr;
    end
  end

  always_ff @(posedge clk_i) begin
    next_read_q <= !read_other;
    if (take_operation) next_q <= taken;
    if (works) begin
      known_q   <= known_d;
      ev_q      <= ev_d;
      bucket_q  <= bucket_d;
      ended_q   <= ended_d;
      opening_q <= opening_d;
    end
    if (state_q == StLook) again_q <= 1'b1;
    if (moves) begin
      op_q     <= next_q;
      slot_q   <= next_q.slot;
      ev_q     <= next_q.ev;
      bucket_q <= next_q.index;
      ended_q  <= 2'd0;
      again_q  <= 1'b0;
    end
  end

  // ---- Answers
  always_ff @(posedge clk_i) begin
    if (works && answer_select) begin
      rsp_found_o          <= select_found;
      rsp_free_ports_o     <= free_ports;
      rsp_no_good_o        <= no_good;
      rsp_rotations_o      <= ended_q;
      rsp_skip_end_valid_o <= fixed_time && skips_any;
      rsp_skip_end_o       <= fields_q.head_until;
    end
    if (state_q == StApply && !is_csr && done_free) begin
      done_found_o    <= known_q;
      done_ev_o       <= ev_q;
      done_state_o    <= upd_state;
      done_active_o   <= upd_active;
      done_reported_o <= reported;
      done_held_o     <= held;
      done_replaced_o <= replaces;
      done_backup_o   <= backup;
    end
    if (works) csr_rdata_o <= csr_rdata_d;
    if (state_q == StCsr && op_q.csr_op == SprayCsrLimits) limits_q <= op_q.wdata;
    if (state_q == StCsr && op_q.csr_op == SprayCsrSkipTime) skip_time_q <= op_q.wdata[TimeWidth-1:0];
  end
  assign rsp_ev_o    = entry_ev;
  assign rsp_plane_o = entry_plane;
  assign rsp_value_o = entry_value;

`ifdef FORMAL
  // Tables begin as any that is consistent, has its next order and no SKIP EV, so that few cycles reach far.
  logic opening;
  ev_t  mix_q;
  evs_t start_active [NumSlots];
  assign opening = opening_q && state_q == StOrder;
  always_comb begin
    for (int unsigned s = 0; s < NumSlots; s++) start_active[s] = u_rows.u_states.mem[s][4*MaxEvs+:MaxEvs];
  end
  function automatic ev_t place_in(logic of_bank, int unsigned slot, ev_t ev);
    return of_bank ? u_fill.gen_second.u_place_b.mem[{SlotW'(slot), ev}] : u_fill.u_place_a.mem[{SlotW'(slot), ev}];
  endfunction
  function automatic logic [EvW+PlaneW+31:0] entry_at(logic of_bank, int unsigned slot, ev_t at);
    return u_fill.u_order.mem[{of_bank, SlotW'(slot), at}];
  endfunction
  function automatic ev_t ev_at(logic of_bank, int unsigned slot, ev_t at);
    logic [EvW+PlaneW+31:0] found;
    found = entry_at(of_bank, slot, at);
    return found[PlaneW+32+:EvW];
  endfunction
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      assume (limits_q.ev_count == 10'(MaxEvs) && limits_q.skip_duration != skip_duration_e'(2'd3));
      for (int unsigned s = 0; s < NumSlots; s++) begin
        // Active, GOOD, SKIP, for longer, ASSUMED_BAD; then by place, and in the next order.
        assume (u_rows.u_states.mem[s][2*MaxEvs+:MaxEvs] == '0 && u_rows.u_states.mem[s][MaxEvs+:MaxEvs] == '0);
        assume ((u_rows.u_states.mem[s][3*MaxEvs+:MaxEvs] & u_rows.u_states.mem[s][0+:MaxEvs]) == '0);
        assume ((start_active[s] & ~u_rows.u_states.mem[s][3*MaxEvs+:MaxEvs]) == '0);
        assume (u_rows.u_places.mem[s][0+:2*MaxEvs] == '0 && u_rows.u_coming.mem[s][0+:2*MaxEvs] == '0);
        assume (u_rows.u_coming.mem[s][3*MaxEvs]);
        for (int unsigned i = 0; i < MaxEvs; i++) begin
          for (int unsigned b = 0; b < 2; b++) begin
            assume (ev_at(1'(b), s, place_in(1'(b), s, ev_t'(i))) == ev_t'(i));
            assume (place_in(1'(b), s, ev_at(1'(b), s, ev_t'(i))) == ev_t'(i));
            assume (entry_at(1'(b), s, ev_t'(i)) == {ev_at(1'(b), s, ev_t'(i)), u_update.u_profile.mem[ev_at(1'(b), s, ev_t'(i))]});
          end
          assume (u_rows.u_places.mem[s][2*MaxEvs+i] == start_active[s][ev_at(u_rows.bank_mem[s], s, ev_t'(i))]);
          assume (u_rows.u_coming.mem[s][2*MaxEvs+i] == start_active[s][ev_at(!u_rows.bank_mem[s], s, ev_t'(i))]);
        end
      end
      for (int unsigned i = 0; i < MaxEvs; i++) begin
        assume (u_fill.u_profile.mem[i] == u_update.u_profile.mem[i]);
        for (int unsigned p = 0; p < NumPlanes; p++) begin
          assume (u_update.plane_evs_q[p][i] == (u_update.u_profile.mem[i][32+:PlaneW] == PlaneW'(p)));
        end
      end
    end
    // The orders are of one kind: numbers of EVs with some bits inverted.
    mix_q <= mix_q;
    if (order_valid_i && order_ready_o) assume (order_ev_i == (u_fill.taken_q[EvW-1:0] ^ mix_q));
  end
  for (genvar c = 0; c < Chunks; c++) begin : gen_start
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        for (int unsigned s = 0; s < NumSlots; s++) begin
          for (int unsigned b = 0; b < 2; b++) begin
            for (int unsigned i = 0; i < Chunk; i++) begin
              for (int unsigned p = 0; p < NumPlanes; p++) begin
                assume (u_rows.gen_planes[c].u_planes.mem[{1'(b), SlotW'(s)}][p*Chunk+i] ==
                        (PlaneW'(entry_at(1'(b), s, ev_t'(c * Chunk + i)) >> 32) == PlaneW'(p)));
              end
            end
          end
        end
      end
    end
  end

  evs_t usable, passed_over;
  logic [NumPlanes-1:0] short_of_room, picked_plane;
  always_comb begin
    usable = '0;
    for (int unsigned p = 0; p < NumPlanes; p++) begin
      if (free_ports[p] && fields_q.reachable[p]) usable |= planes[p];
      short_of_room[p] = room[p] < CreditWidth'(op_q.bytes);
      picked_plane[p]  = (u_search.picked & planes[p]) != '0;
    end
    for (int unsigned i = 0; i < MaxEvs; i++) begin
      passed_over[i] = usable[i] && eligible[i] && ev_t'(i) < picked_place && count_t'(i) >= fields_q.pointer;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && state_q != StIdle && !opening) begin
      // An EV has one state; those in use are GOOD or SKIP, those that sit out another rotation are SKIP.
      one_state: assert ((good & skip) == '0 && (good & bad) == '0 && (skip & bad) == '0);
      in_use_state: assert ((active & ~(good | skip)) == '0);
      once_is_skip: assert ((once & ~skip) == '0);
    end
    // No operation touches an EV of a table in the cycle in which one of it gets its place.
    if (rst_ni) no_touch_while_placing: assert (!(placing && touch && order_slot_o == slot_q));
    if (rst_ni && works && answer_select) begin
      // One EV or none, through a port with room, and one that is in use and GOOD.
      one_picked: assert ((u_search.picked & (u_search.picked - evs_t'(1))) == '0);
      if (select_found) begin
        picked_usable: assert (usable[picked_place] && eligible[picked_place]);
        picked_port: assert ((picked_plane & ~free_ports) == '0 && (picked_plane & ~fields_q.reachable) == '0);
        picked_in_use: assert (active[u_fill.u_order.mem[{bank, slot_q, picked_place}][PlaneW+32+:EvW]]);
      end
      // None that could be taken is passed over.
      if (select_found) none_passed_over: assert (passed_over == '0);
      // Within a rotation the search only goes on: no EV comes twice.
      if (select_found) search_goes_on: assert (fields_d.pointer > fields_q.pointer);
      // Room is not overdrawn.
      if (select_found) room_is_there: assert ((picked_plane & short_of_room) == '0);
    end
    // No EV is lost between the two orders: as many are in use and GOOD, and rest, in one as in the other.
    if (rst_ni && works && answer_select && coming_ready) begin
      same_eligible: assert ($countones(u_rows.coming_q.places.eligible) == $countones(eligible));
      same_resting: assert ($countones(u_rows.coming_q.places.resting) == $countones(u_rows.places_q.resting));
      same_resting_on: assert ($countones(u_rows.coming_q.places.resting_on) == $countones(u_rows.places_q.resting_on));
    end
    // A loss leaves its plane no fewer EVs in use than the floor, unless another takes over.
    if (rst_ni && state_q == StDecide && u_update.removes) begin
      floor_is_kept: assert (9'(u_update.in_use_q) > limits_q.least_active || u_update.any_backup);
    end
    if (rst_ni && state_q == StApply && known_q && replaces) backup_of_plane: assert (u_update.plane_evs_q[upd_plane][backup]);
    if (rst_ni && state_q == StDecide && u_update.takes_back) most_is_kept: assert (9'(u_update.in_use_q) < limits_q.most_active);
    // A row is at hand as its memory has it.
    if (rst_ni && state_q != StIdle) row_as_stored: assert (u_rows.states_q == u_rows.u_states.mem[slot_q] && fields_q == u_rows.u_fields.mem[slot_q]);
  end
`endif

endmodule
