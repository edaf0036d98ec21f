// The rows of the path tables: per table, which EVs are in use and in which state, by EV and by place in scan order, the
// planes by place, and some fields. A row comes out of the memories in one cycle and into registers in the next, where
// one operation at a time works on it; what changes goes to the memories in the same cycle.
module spray_rows #(
  parameter  int unsigned NumSlots     = 1024,
  parameter  int unsigned MaxEvs       = 256,
  parameter  int unsigned NumPlanes    = 8,
  parameter  int unsigned OrderBuffers = 2,
  parameter  int unsigned FieldsWidth  = 64,
  parameter  int unsigned Chunk        = 32,   // places whose planes are written at once
  localparam int unsigned Chunks       = MaxEvs / Chunk,
  localparam int unsigned SlotW        = $clog2(NumSlots),
  localparam int unsigned EvW          = $clog2(MaxEvs),
  localparam int unsigned CountW       = EvW + 1
) (
  input  logic                              clk_i,

  // Out of the memories at the end of a cycle with read_i, into registers at the end of one with load_i.
  input  logic                              read_i,
  input  logic [SlotW-1:0]                  read_slot_i,
  input  logic                              load_i,
  input  logic [SlotW-1:0]                  slot_i,            // table whose row is in registers

  // What only the owner of the fields understands.
  output logic [FieldsWidth-1:0]            fields_o,
  input  logic                              fields_we_i,
  input  logic [FieldsWidth-1:0]            fields_i,

  output logic [MaxEvs-1:0]                 active_o,          // by EV: in use
  output logic [MaxEvs-1:0]                 good_o,
  output logic [MaxEvs-1:0]                 skip_o,
  output logic [MaxEvs-1:0]                 once_o,            // SKIP for one rotation more
  output logic [MaxEvs-1:0]                 bad_o,
  output logic [MaxEvs-1:0]                 eligible_o,        // by place: in use and GOOD
  output logic [NumPlanes-1:0][MaxEvs-1:0]  planes_o,          // by place
  output logic                              bank_o,            // of the order that is walked
  output logic                              coming_ready_o,    // the next order is in the other bank

  // What follows counts.
  input  logic                              works_i,
  // One EV is in this state from now on.
  input  logic                              touch_i,
  input  logic [EvW-1:0]                    touch_ev_i,
  input  logic [EvW-1:0]                    touch_place_i,
  input  logic [EvW-1:0]                    touch_coming_place_i,
  input  logic                              touch_active_i,
  input  logic                              touch_good_i,
  input  logic                              touch_skip_i,
  input  logic                              touch_once_i,
  input  logic                              touch_bad_i,
  // SKIP EVs are GOOD, those that sit out one rotation more will be after it.
  input  logic                              wake_i,
  // The next order is walked; the planes of its places have to be read.
  input  logic                              swap_i,
  // The table begins: how many of its EVs are in use, and how many it has.
  input  logic                              open_i,
  input  logic [CountW-1:0]                 open_active_i,
  input  logic [9:0]                        open_evs_i,

  // What the fill of an order needs to know, of the row that was read, by EV: in use and GOOD, SKIP, SKIP for longer.
  output logic [MaxEvs-1:0]                 read_eligible_o,
  output logic [MaxEvs-1:0]                 read_resting_o,
  output logic [MaxEvs-1:0]                 read_resting_on_o,
  output logic                              fill_bank_o,       // of the order that its table walks
  // A table's next order is complete; not while its row changes or is on the way to the registers.
  input  logic [SlotW-1:0]                  fill_slot_i,
  input  logic                              commit_i,
  input  logic [MaxEvs-1:0]                 commit_eligible_i,
  input  logic [MaxEvs-1:0]                 commit_resting_i,
  input  logic [MaxEvs-1:0]                 commit_resting_on_i,
  // A chunk of its planes.
  input  logic [Chunks-1:0]                 planes_we_i,
  input  logic                              planes_bank_i,
  input  logic [NumPlanes-1:0][Chunk-1:0]   planes_i
);

  // With one order a table that waits for its next is the only one that has one, and no row of it is kept.
  localparam int unsigned ComingRows = OrderBuffers == 2 ? NumSlots : 2;
  localparam int unsigned ComingW    = $clog2(ComingRows);
  localparam int unsigned BankW      = SlotW + OrderBuffers - 1;

  typedef logic [MaxEvs-1:0] evs_t;
  typedef struct packed {
    evs_t active;
    evs_t good;
    evs_t skip;
    evs_t once;
    evs_t bad;
  } states_t;
  typedef struct packed {
    evs_t eligible;
    evs_t resting;     // in use and SKIP
    evs_t resting_on;  // in use and SKIP for one rotation more
  } places_t;
  typedef struct packed {
    logic    ready;
    places_t places;
  } coming_t;

  logic [FieldsWidth-1:0] fields_q, fields_rd;
  states_t states_q, states_d, states_rd;
  places_t places_q, places_d, places_rd;
  coming_t coming_q, coming_d, coming_rd, committed;
  logic    bank_q, coming_bank, read_bank, read_bank_q;
  logic [NumSlots-1:0]                bank_mem;  // in flip-flops: a part of the address at which planes are read
  logic [Chunks-1:0][NumPlanes-1:0][Chunk-1:0] planes_rd;
  logic [NumPlanes-1:0][Chunks-1:0][Chunk-1:0] planes_q;

  function automatic places_t touched(places_t places, logic [EvW-1:0] place, logic eligible, logic resting, logic resting_on);
    touched                   = places;
    touched.eligible[place]   = eligible;
    touched.resting[place]    = resting;
    touched.resting_on[place] = resting_on;
  endfunction
  function automatic places_t woken(places_t places);
    woken = '{eligible: places.eligible | places.resting, resting: places.resting_on, resting_on: '0};
  endfunction

  logic eligible, resting, resting_on;
  assign eligible   = touch_active_i && touch_good_i;
  assign resting    = touch_active_i && touch_skip_i && !touch_once_i;
  assign resting_on = touch_active_i && touch_skip_i && touch_once_i;

  always_comb begin
    states_d = states_q;
    places_d = places_q;
    coming_d = coming_q;
    if (touch_i) begin
      states_d.active[touch_ev_i] = touch_active_i;
      states_d.good[touch_ev_i]   = touch_good_i;
      states_d.skip[touch_ev_i]   = touch_skip_i;
      states_d.once[touch_ev_i]   = touch_once_i;
      states_d.bad[touch_ev_i]    = touch_bad_i;
      places_d        = touched(places_q, touch_place_i, eligible, resting, resting_on);
      coming_d.places = touched(coming_q.places, touch_coming_place_i, eligible, resting, resting_on);
    end
    if (wake_i) begin
      states_d.good   = states_q.good | (states_q.skip & ~states_q.once);
      states_d.skip   = states_q.once;
      states_d.once   = '0;
      places_d        = woken(places_q);
      coming_d.places = woken(coming_q.places);
    end
    if (swap_i) begin
      places_d = coming_q.places;
      coming_d = '0;
    end
    if (open_i) begin
      states_d        = '0;
      states_d.active = ~({MaxEvs{1'b1}} << open_active_i);
      states_d.good   = ~({MaxEvs{1'b1}} << open_evs_i);
      places_d        = '0;
      coming_d        = '0;
    end
  end
  assign committed = '{ready: 1'b1, places: '{eligible: commit_eligible_i, resting: commit_resting_i, resting_on: commit_resting_on_i}};

  logic changes, states_we, places_we, coming_we;
  assign changes   = touch_i || wake_i || swap_i || open_i;
  assign states_we = works_i && (touch_i || wake_i || open_i);
  assign places_we = works_i && changes;
  assign coming_we = places_we || commit_i;
  assign coming_bank = OrderBuffers == 2 && !bank_q;

  always_ff @(posedge clk_i) begin
    if (load_i) fields_q <= fields_rd;
    else if (fields_we_i) fields_q <= fields_i;
    if (load_i) states_q <= states_rd;
    else if (states_we) states_q <= states_d;
    if (load_i) places_q <= places_rd;
    else if (places_we) places_q <= places_d;
    if (load_i) coming_q <= coming_rd;
    else if (places_we) coming_q <= coming_d;
    else if (commit_i && fill_slot_i == slot_i) coming_q <= committed;
    if (load_i) begin
      for (int unsigned c = 0; c < Chunks; c++) begin
        for (int unsigned p = 0; p < NumPlanes; p++) planes_q[p][c] <= planes_rd[c][p];
      end
    end
    if (load_i) bank_q <= read_bank_q;
    else if (works_i && (swap_i || open_i)) bank_q <= swap_i && coming_bank;
    if (works_i && (swap_i || open_i)) bank_mem[slot_i] <= swap_i && coming_bank;
  end

  // ---- Memories
  logic [SlotW-1:0] coming_slot;
  logic [BankW-1:0] planes_raddr, planes_waddr;
  assign read_bank    = bank_mem[read_slot_i];
  assign fill_bank_o  = bank_mem[fill_slot_i];
  assign planes_raddr = BankW'({read_bank, read_slot_i});
  assign planes_waddr = BankW'({planes_bank_i, fill_slot_i});
  assign coming_slot  = commit_i ? fill_slot_i : slot_i;
  always_ff @(posedge clk_i) if (read_i) read_bank_q <= read_bank;

  ram_1r1w #(.Depth(NumSlots), .Width(FieldsWidth)) u_fields (
    .clk_i, .we_i(fields_we_i), .waddr_i(slot_i), .wdata_i(fields_i), .re_i(read_i), .raddr_i(read_slot_i), .rdata_o(fields_rd)
  );
  ram_1r1w #(.Depth(NumSlots), .Width($bits(states_t))) u_states (
    .clk_i, .we_i(states_we), .waddr_i(slot_i), .wdata_i(states_d), .re_i(read_i), .raddr_i(read_slot_i), .rdata_o(states_rd)
  );
  ram_1r1w #(.Depth(NumSlots), .Width($bits(places_t))) u_places (
    .clk_i, .we_i(places_we), .waddr_i(slot_i), .wdata_i(places_d), .re_i(read_i), .raddr_i(read_slot_i), .rdata_o(places_rd)
  );
  ram_1r1w #(.Depth(ComingRows), .Width($bits(coming_t))) u_coming (
    .clk_i, .we_i(coming_we), .waddr_i(ComingW'(coming_slot & {SlotW{OrderBuffers == 2}})), .wdata_i(changes ? coming_d : committed),
    .re_i(read_i), .raddr_i(ComingW'(read_slot_i & {SlotW{OrderBuffers == 2}})), .rdata_o(coming_rd)
  );
  for (genvar c = 0; c < Chunks; c++) begin : gen_planes
    ram_1r1w #(.Depth(OrderBuffers * NumSlots), .Width(NumPlanes * Chunk)) u_planes (
      .clk_i, .we_i(planes_we_i[c]), .waddr_i(planes_waddr), .wdata_i(planes_i), .re_i(read_i), .raddr_i(planes_raddr),
      .rdata_o(planes_rd[c])
    );
  end

  assign planes_o          = planes_q;
  assign fields_o          = fields_q;
  assign active_o          = states_q.active;
  assign good_o            = states_q.good;
  assign skip_o            = states_q.skip;
  assign once_o            = states_q.once;
  assign bad_o             = states_q.bad;
  assign eligible_o        = places_q.eligible;
  assign bank_o            = bank_q;
  assign coming_ready_o    = coming_q.ready;
  assign read_eligible_o   = states_rd.active & states_rd.good;
  assign read_resting_o    = states_rd.active & states_rd.skip & ~states_rd.once;
  assign read_resting_on_o = states_rd.active & states_rd.once;

endmodule
