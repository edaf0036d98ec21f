// Loads the next scan orders of the tables, one after another in the order in which they are wanted, an EV per cycle.
// Beside the order itself it makes the bitmaps by place of the order's table, from what the table's row says when the
// order begins, and follows what changes there until the order is complete. Keeps the order memories.
module spray_order_fill #(
  parameter  int unsigned NumSlots     = 1024,
  parameter  int unsigned MaxEvs       = 256,
  parameter  int unsigned NumPlanes    = 8,
  parameter  int unsigned OrderBuffers = 2,
  parameter  int unsigned Chunk        = 32,
  localparam int unsigned Chunks       = MaxEvs / Chunk,
  localparam int unsigned ChunkW       = $clog2(Chunk),
  localparam int unsigned SlotW        = $clog2(NumSlots),
  localparam int unsigned EvW          = $clog2(MaxEvs),
  localparam int unsigned CountW       = EvW + 1,
  localparam int unsigned PlaneW       = $clog2(NumPlanes),
  localparam int unsigned BankW        = SlotW + OrderBuffers - 1
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic [9:0]                       ev_count_i,

  // The table at hand, and what happens to its row.
  input  logic [SlotW-1:0]                 slot_i,
  input  logic                             want_i,          // it wants its next order
  input  logic                             changes_i,       // its row changes in this cycle
  input  logic                             hold_i,          // it has looked up places of EVs: none is given until they are used
  input  logic                             works_i,         // a wake or a touch counts
  input  logic                             wake_i,
  input  logic                             touch_i,
  input  logic [EvW-1:0]                   touch_ev_i,
  input  logic                             touch_eligible_i,
  input  logic                             touch_resting_i,
  input  logic                             touch_resting_on_i,

  // The row of the order's table is asked for, and read when it is granted.
  output logic                             fetch_o,
  input  logic                             fetch_i,
  input  logic [MaxEvs-1:0]                read_eligible_i,
  input  logic [MaxEvs-1:0]                read_resting_i,
  input  logic [MaxEvs-1:0]                read_resting_on_i,
  input  logic                             bank_i,          // that the table walks

  output logic                             order_request_o,
  output logic [SlotW-1:0]                 order_slot_o,
  input  logic                             order_valid_i,
  output logic                             order_ready_o,
  input  logic [EvW-1:0]                   order_ev_i,

  // An EV gets its place.
  output logic                             placing_o,
  output logic [EvW-1:0]                   placed_ev_o,
  output logic [Chunks-1:0]                planes_we_o,
  output logic                             planes_bank_o,
  output logic [NumPlanes-1:0][Chunk-1:0]  planes_o,

  // The order is complete, and its bitmaps are taken.
  output logic                             commit_o,
  input  logic                             commit_i,
  output logic [MaxEvs-1:0]                eligible_o,
  output logic [MaxEvs-1:0]                resting_o,
  output logic [MaxEvs-1:0]                resting_on_o,
  output logic [NumPlanes-1:0][CountW-1:0] in_use_o,        // of its EVs, when they got their places

  // Plane and value of each EV.
  input  logic                             profile_we_i,
  input  logic [EvW-1:0]                   profile_ev_i,
  input  logic [PlaneW-1:0]                profile_plane_i,
  input  logic [31:0]                      profile_value_i,

  // The places of an EV of the table at hand, in the order that is walked and in the next.
  input  logic                             place_re_i,
  input  logic [EvW-1:0]                   place_ev_i,
  input  logic                             place_bank_i,
  output logic [EvW-1:0]                   place_o,
  output logic [EvW-1:0]                   coming_place_o,

  // The EV at a place of the order that it walks.
  input  logic                             entry_re_i,
  input  logic [EvW-1:0]                   entry_place_i,
  output logic [EvW-1:0]                   entry_ev_o,
  output logic [PlaneW-1:0]                entry_plane_o,
  output logic [31:0]                      entry_value_o
);

  typedef logic [MaxEvs-1:0] evs_t;
  typedef struct packed {
    logic [PlaneW-1:0] plane;
    logic [31:0]       value;
  } profile_t;
  typedef struct packed {
    logic [EvW-1:0] ev;
    profile_t       profile;
  } order_t;
  typedef struct packed {
    evs_t eligible;
    evs_t resting;
    evs_t resting_on;
  } bitmaps_t;

  function automatic bitmaps_t woken(bitmaps_t bitmaps);
    woken = '{eligible: bitmaps.eligible | bitmaps.resting, resting: bitmaps.resting_on, resting_on: '0};
  endfunction

  // ---- Which table's
  localparam int unsigned Wants = OrderBuffers == 2 ? NumSlots : 2;
  logic                     want_empty, unused_full;
  logic [$clog2(Wants):0]   unused_wants;
  fifo #(.Depth(Wants), .Width(SlotW)) u_wants (
    .clk_i, .rst_ni, .push_i(want_i), .data_i(slot_i), .pop_i(commit_i), .data_o(order_slot_o), .empty_o(want_empty),
    .full_o(unused_full), .count_o(unused_wants)
  );

  logic                             copies_q, filling_q, placing_q, begins, at_hand, take, bank_q;
  logic [CountW-1:0]                taken_q;
  logic [EvW-1:0]                   placed_ev_q, placed_at_q;
  evs_t                             placed_q;        // by EV: has its place
  logic [NumPlanes-1:0][Chunk-1:0]  chunk_q, chunk_d;
  logic [NumPlanes-1:0][CountW-1:0] in_use_q;
  bitmaps_t                         now_q, now_d;    // by EV
  bitmaps_t                         coming_q, coming_d;  // by place
  logic                             all_taken, last_placing, ends_chunk;
  profile_t                         profile;

  assign at_hand         = order_slot_o == slot_i;
  assign fetch_o         = !want_empty && !filling_q && !copies_q;
  // A row that has just changed is read once more.
  assign begins          = copies_q && !(changes_i && at_hand);
  assign all_taken       = 10'(taken_q) >= ev_count_i;
  assign order_request_o = filling_q && !all_taken;
  assign order_ready_o   = order_request_o && !(hold_i && at_hand);
  assign take            = order_valid_i && order_ready_o;
  assign last_placing    = placing_q && all_taken;
  assign commit_o        = filling_q && all_taken && !placing_q;
  assign ends_chunk      = last_placing || placed_at_q[ChunkW-1:0] == '1;

  always_comb begin
    chunk_d = chunk_q;
    chunk_d[profile.plane][placed_at_q[ChunkW-1:0]] = 1'b1;
    for (int unsigned c = 0; c < Chunks; c++) begin
      planes_we_o[c] = placing_q && ends_chunk && placed_at_q[EvW-1:ChunkW] == (EvW-ChunkW)'(c);
    end
  end

  // No EV is touched in the cycle in which one gets its place.
  always_comb begin
    now_d    = now_q;
    coming_d = coming_q;
    if (touch_i && at_hand) begin
      now_d.eligible[touch_ev_i]   = touch_eligible_i;
      now_d.resting[touch_ev_i]    = touch_resting_i;
      now_d.resting_on[touch_ev_i] = touch_resting_on_i;
      if (placed_q[touch_ev_i]) begin
        coming_d.eligible[coming_place_o]   = touch_eligible_i;
        coming_d.resting[coming_place_o]    = touch_resting_i;
        coming_d.resting_on[coming_place_o] = touch_resting_on_i;
      end
    end else begin
      if (placing_q) begin
        coming_d.eligible[placed_at_q]   = now_q.eligible[placed_ev_q];
        coming_d.resting[placed_at_q]    = now_q.resting[placed_ev_q];
        coming_d.resting_on[placed_at_q] = now_q.resting_on[placed_ev_q];
      end
      if (wake_i && at_hand) begin
        now_d    = woken(now_q);
        coming_d = woken(coming_d);
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      copies_q  <= 1'b0;
      filling_q <= 1'b0;
      placing_q <= 1'b0;
    end else begin
      copies_q  <= fetch_i;
      placing_q <= take;
      if (begins) filling_q <= 1'b1;
      else if (commit_i) filling_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    placed_ev_q <= order_ev_i;
    placed_at_q <= taken_q[EvW-1:0];
    if (begins) begin
      now_q    <= '{eligible: read_eligible_i, resting: read_resting_i, resting_on: read_resting_on_i};
      bank_q   <= OrderBuffers == 2 && !bank_i;
      taken_q  <= '0;
      placed_q <= '0;
      chunk_q  <= '0;
      in_use_q <= '0;
      coming_q <= '0;
    end else if (filling_q && (works_i || !(touch_i && at_hand))) begin
      now_q    <= now_d;
      coming_q <= coming_d;
      if (take) taken_q <= taken_q + CountW'(1);
      if (placing_q) begin
        placed_q[placed_ev_q]   <= 1'b1;
        chunk_q                 <= ends_chunk ? '0 : chunk_d;
        in_use_q[profile.plane] <= in_use_q[profile.plane] + CountW'(now_q.eligible[placed_ev_q]);
      end
    end
  end

  assign placing_o     = placing_q;
  assign placed_ev_o   = placed_ev_q;
  assign planes_bank_o = bank_q;
  assign planes_o      = chunk_d;
  assign eligible_o    = coming_q.eligible;
  assign resting_o     = coming_q.resting;
  assign resting_on_o  = coming_q.resting_on;
  assign in_use_o      = in_use_q;

  // ---- Memories
  logic [EvW-1:0]       place_a, place_b;
  logic [SlotW+EvW-1:0] place_raddr, place_waddr;
  logic [BankW+EvW-1:0] entry_raddr, entry_waddr;
  order_t               entry;
  assign place_raddr    = {slot_i, place_ev_i};
  assign place_waddr    = {order_slot_o, placed_ev_q};
  assign entry_raddr    = (BankW+EvW)'({place_bank_i, slot_i, entry_place_i});
  assign entry_waddr    = (BankW+EvW)'({bank_q, order_slot_o, placed_at_q});
  assign place_o        = place_bank_i ? place_b : place_a;
  assign coming_place_o = OrderBuffers == 2 && !place_bank_i ? place_b : place_a;
  assign entry_ev_o     = entry.ev;
  assign entry_plane_o  = entry.profile.plane;
  assign entry_value_o  = entry.profile.value;

  ram_1r1w #(.Depth(MaxEvs), .Width($bits(profile_t))) u_profile (
    .clk_i, .we_i(profile_we_i), .waddr_i(profile_ev_i), .wdata_i({profile_plane_i, profile_value_i}),
    .re_i(take), .raddr_i(order_ev_i), .rdata_o(profile)
  );
  ram_1r1w #(.Depth(OrderBuffers * NumSlots * MaxEvs), .Width($bits(order_t))) u_order (
    .clk_i, .we_i(placing_q), .waddr_i(entry_waddr), .wdata_i({placed_ev_q, profile}),
    .re_i(entry_re_i), .raddr_i(entry_raddr), .rdata_o(entry)
  );
  // By EV: its place in the order of bank 0, and of bank 1.
  ram_1r1w #(.Depth(NumSlots * MaxEvs), .Width(EvW)) u_place_a (
    .clk_i, .we_i(placing_q && !bank_q), .waddr_i(place_waddr), .wdata_i(placed_at_q),
    .re_i(place_re_i), .raddr_i(place_raddr), .rdata_o(place_a)
  );
  if (OrderBuffers == 2) begin : gen_second
    ram_1r1w #(.Depth(NumSlots * MaxEvs), .Width(EvW)) u_place_b (
      .clk_i, .we_i(placing_q && bank_q), .waddr_i(place_waddr), .wdata_i(placed_at_q),
      .re_i(place_re_i), .raddr_i(place_raddr), .rdata_o(place_b)
    );
  end else begin : gen_first_only
    assign place_b = '0;
  end

endmodule
