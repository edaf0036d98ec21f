// What an event does to its EV. Finds the EV of a value, reads its record, gathers what the row says of it, and decides in
// a cycle of its own what changes. Keeps the profile, the records of all EVs, and the list of SKIP EVs that runs through
// them.
module spray_update
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots   = 1024,
  parameter  int unsigned MaxEvs     = 256,
  parameter  int unsigned NumPlanes  = 8,
  parameter  int unsigned TimeWidth  = 48,
  localparam int unsigned NumBuckets = 2 * MaxEvs,
  localparam int unsigned SlotW      = $clog2(NumSlots),
  localparam int unsigned EvW        = $clog2(MaxEvs),
  localparam int unsigned BucketW    = EvW + 1,
  localparam int unsigned CountW     = EvW + 1,
  localparam int unsigned PlaneW     = $clog2(NumPlanes)
) (
  input  logic                             clk_i,
  input  spray_limits_t                    limits_i,
  input  logic [SlotW-1:0]                 slot_i,

  input  logic                             profile_we_i,
  input  logic                             bucket_we_i,
  input  logic [BucketW-1:0]               set_index_i,
  input  logic [PlaneW-1:0]                set_plane_i,
  input  logic [31:0]                      set_value_i,

  // The bucket of a value: {valid, EV}, in the cycle after its number.
  input  logic [BucketW-1:0]               bucket_i,
  output logic                             bucket_valid_o,
  output logic [EvW-1:0]                   bucket_ev_o,

  // The record of an EV, in the cycle after.
  input  logic                             read_i,
  input  logic [EvW-1:0]                   read_ev_i,
  output logic [PlaneW-1:0]                plane_o,
  output logic [31:0]                      value_o,
  output logic [EvW-1:0]                   next_o,          // in the list of SKIP EVs
  output logic [EvW-1:0]                   prev_o,
  output logic [TimeWidth-1:0]             until_o,

  // That cycle: what counts of the row is gathered.
  input  logic                             gather_i,
  input  path_event_e                      event_i,
  input  logic                             forced_i,        // by the controller, whatever the limits say
  input  logic [EvW-1:0]                   ev_i,
  input  logic [MaxEvs-1:0]                active_i,
  input  logic [MaxEvs-1:0]                good_i,
  input  logic [MaxEvs-1:0]                skip_i,
  input  logic [MaxEvs-1:0]                once_i,
  input  logic [MaxEvs-1:0]                bad_i,
  input  logic [NumPlanes-1:0][CountW-1:0] in_use_i,

  // The next: it is decided. From then on:
  input  logic                             decide_i,
  output ev_state_e                        state_o,         // of the EV after the event
  output logic                             was_active_o,
  output logic [3:0]                       losses_o,        // before it
  output logic [7:0]                       probe_successes_o,
  output logic                             active_o,
  output logic                             good_o,
  output logic                             skip_o,
  output logic                             once_o,
  output logic                             bad_o,
  output logic                             reported_o,
  output logic                             held_o,
  output logic                             skips_o,         // it joins the list
  output logic                             unlinks_o,       // it leaves the list
  output logic                             replaces_o,      // a backup takes its place
  output logic [EvW-1:0]                   backup_o,
  output logic [PlaneW-1:0]                in_use_plane_o,
  output logic                             in_use_change_o,
  output logic [CountW-1:0]                in_use_o,

  // What goes to the records.
  input  logic                             counts_we_i,
  input  logic                             clear_i,         // those of an EV of a table that begins
  input  logic [EvW-1:0]                   clear_ev_i,
  input  logic                             next_we_i,
  input  logic [EvW-1:0]                   next_ev_i,
  input  logic [EvW-1:0]                   next_i,
  input  logic                             prev_we_i,
  input  logic [EvW-1:0]                   prev_ev_i,
  input  logic [EvW-1:0]                   prev_i,
  input  logic                             until_we_i,
  input  logic [TimeWidth-1:0]             until_i
);

  typedef logic [MaxEvs-1:0] evs_t;
  typedef logic [CountW-1:0] count_t;
  typedef struct packed {
    logic [PlaneW-1:0] plane;
    logic [31:0]       value;
  } profile_t;
  typedef struct packed {
    logic [3:0] losses;
    logic [7:0] probe_successes;
  } counts_t;

  profile_t profile;
  counts_t  counts;
  evs_t [NumPlanes-1:0] plane_evs_q;  // EVs of each plane

  // ---- Gathered
  logic              is_good_q, is_skip_q, is_bad_q, is_active_q, is_once_q, denies;
  counts_t           counts_q, counts_d, new_counts_q;
  logic [PlaneW-1:0] plane_q;
  count_t            in_use_q;
  evs_t              backups, backups_q;
  assign denies = event_i == PathDeny;
  always_comb begin
    backups = '0;
    if (gather_i) begin
      backups = good_i & ~active_i & plane_evs_q[profile.plane];
      if (denies) backups[ev_i] = 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (gather_i) begin
      is_good_q   <= good_i[ev_i];
      is_skip_q   <= skip_i[ev_i];
      is_bad_q    <= bad_i[ev_i];
      is_active_q <= active_i[ev_i];
      is_once_q   <= once_i[ev_i];
      counts_q    <= counts;
      plane_q     <= profile.plane;
      in_use_q    <= in_use_i[profile.plane];
      backups_q   <= backups;
    end
  end

  // ---- Decided
  logic           any_backup, at_floor, quiet, loses, removes, held, revives, allows, skips, deactivates, takes_back;
  logic [EvW-1:0] backup;
  ev_state_e      state_d;
  evs_t           unused_one_hot;
  first_one #(.Width(MaxEvs)) u_backup (.look_i(decide_i), .bits_i(backups_q), .any_o(any_backup), .one_hot_o(unused_one_hot), .index_o(backup));

  // Only in its cycle: nothing toggles in the others, and a simulator passes it over.
  always_comb begin
    quiet       = 1'b0;
    at_floor    = 1'b0;
    counts_d    = counts_q;
    loses       = 1'b0;
    removes     = 1'b0;
    held        = 1'b0;
    revives     = 1'b0;
    allows      = 1'b0;
    skips       = 1'b0;
    deactivates = 1'b0;
    takes_back  = 1'b0;
    state_d     = EvDenied;
    if (decide_i) begin
      quiet    = limits_i.oblivious && !forced_i;
      at_floor = !any_backup && 9'(in_use_q) <= limits_i.least_active;
      loses    = event_i == PathAlwaysSkip;
      unique case (event_i)
        PathDelivered: counts_d.losses = '0;
        PathLost: begin
          if (counts_q.losses != '1) counts_d.losses = counts_q.losses + 4'd1;
          loses = counts_d.losses >= limits_i.assumed_bad_losses;
        end
        PathProbeDelivered, PathProbeEcn: if (is_bad_q) counts_d.probe_successes = counts_q.probe_successes + 8'd1;
        PathProbeLost: counts_d.probe_successes = '0;
        default: ;
      endcase
      removes = loses && !quiet && is_active_q && !at_floor;
      held    = loses && !quiet && is_active_q && at_floor;
      revives = !quiet && is_bad_q && (event_i == PathProbeDelivered || event_i == PathProbeEcn) &&
                counts_d.probe_successes >= limits_i.probe_successes;
      allows  = event_i == PathAllow && !is_good_q && !is_skip_q && !is_bad_q;
      skips   = !quiet && (is_good_q || revives) &&
                (event_i == PathEcn || event_i == PathTrimmed || (event_i == PathProbeEcn && limits_i.probe_marked_skips));
      if (removes) counts_d.probe_successes = '0;
      if (revives) counts_d.losses = '0;
      if (quiet) counts_d = counts_q;
      deactivates = (removes || denies) && is_active_q;
      takes_back  = (revives || allows) && 9'(in_use_q) < limits_i.most_active;

      if (denies) state_d = EvDenied;
      else if (removes) state_d = EvAssumedBad;
      else if (skips) state_d = EvSkip;
      else if (revives || allows || is_good_q) state_d = EvGood;
      else if (is_skip_q) state_d = EvSkip;
      else if (is_bad_q) state_d = EvAssumedBad;
    end
  end

  always_ff @(posedge clk_i) begin
    if (decide_i) begin
      state_o         <= state_d;
      new_counts_q    <= counts_d;
      active_o        <= (is_active_q && !deactivates) || takes_back;
      good_o          <= state_d == EvGood;
      skip_o          <= state_d == EvSkip;
      once_o          <= state_d == EvSkip && (skips ? limits_i.skip_duration == SkipOneRotation : is_once_q);
      bad_o           <= state_d == EvAssumedBad;
      reported_o      <= removes || revives;
      held_o          <= held;
      skips_o         <= skips;
      unlinks_o       <= (removes || denies) && is_skip_q;
      replaces_o      <= (removes || denies) && any_backup && 9'(in_use_q) - 9'(deactivates) < limits_i.most_active;
      backup_o        <= backup;
      in_use_change_o <= deactivates || takes_back;
      in_use_o        <= deactivates ? in_use_q - count_t'(1) : in_use_q + count_t'(1);
    end
  end
  assign was_active_o      = is_active_q;
  assign losses_o          = counts_q.losses;
  assign probe_successes_o = counts_q.probe_successes;
  assign in_use_plane_o    = plane_q;

  logic unused_limits;
  assign unused_limits = ^{limits_i.reshuffle_rotations, limits_i.ev_count};

  // ---- Memories
  logic [EvW-1:0] set_ev;
  assign set_ev = set_index_i[EvW-1:0];
  always_ff @(posedge clk_i) begin
    if (profile_we_i) begin
      for (int unsigned p = 0; p < NumPlanes; p++) plane_evs_q[p][set_ev] <= set_plane_i == PlaneW'(p);
    end
  end
  assign plane_o = profile.plane;
  assign value_o = profile.value;

  localparam int unsigned RecordW = SlotW + EvW;
  logic [RecordW-1:0] raddr, counts_waddr, next_waddr, prev_waddr, until_waddr;
  counts_t            counts_wdata;
  assign raddr        = {slot_i, read_ev_i};
  assign counts_waddr = {slot_i, clear_i ? clear_ev_i : ev_i};
  assign counts_wdata = clear_i ? '0 : new_counts_q;
  assign next_waddr   = {slot_i, next_ev_i};
  assign prev_waddr   = {slot_i, prev_ev_i};
  assign until_waddr  = {slot_i, ev_i};

  ram_1r1w #(.Depth(MaxEvs), .Width($bits(profile_t))) u_profile (
    .clk_i, .we_i(profile_we_i), .waddr_i(set_ev), .wdata_i({set_plane_i, set_value_i}),
    .re_i(read_i), .raddr_i(read_ev_i), .rdata_o(profile)
  );
  // By the low bits of the value, or the next one where that is taken.
  ram_1r1w #(.Depth(NumBuckets), .Width(EvW + 1)) u_buckets (
    .clk_i, .we_i(bucket_we_i), .waddr_i(set_index_i), .wdata_i(set_value_i[EvW:0]),
    .re_i(1'b1), .raddr_i(bucket_i), .rdata_o({bucket_valid_o, bucket_ev_o})
  );
  ram_1r1w #(.Depth(NumSlots * MaxEvs), .Width($bits(counts_t))) u_counts (
    .clk_i, .we_i(counts_we_i || clear_i), .waddr_i(counts_waddr), .wdata_i(counts_wdata),
    .re_i(read_i), .raddr_i(raddr), .rdata_o(counts)
  );
  ram_1r1w #(.Depth(NumSlots * MaxEvs), .Width(EvW)) u_next (
    .clk_i, .we_i(next_we_i), .waddr_i(next_waddr), .wdata_i(next_i),
    .re_i(read_i), .raddr_i(raddr), .rdata_o(next_o)
  );
  ram_1r1w #(.Depth(NumSlots * MaxEvs), .Width(EvW)) u_prev (
    .clk_i, .we_i(prev_we_i), .waddr_i(prev_waddr), .wdata_i(prev_i),
    .re_i(read_i), .raddr_i(raddr), .rdata_o(prev_o)
  );
  ram_1r1w #(.Depth(NumSlots * MaxEvs), .Width(TimeWidth)) u_until (
    .clk_i, .we_i(until_we_i), .waddr_i(until_waddr), .wdata_i(until_i),
    .re_i(read_i), .raddr_i(raddr), .rdata_o(until_o)
  );

endmodule
