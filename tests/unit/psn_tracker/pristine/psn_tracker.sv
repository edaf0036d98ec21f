// Receive window of every QP in a slot: which PSNs have arrived, in banks of 128 bits from a pool that all QPs share; what
// becomes of each packet, how far the edge moves, and what a SACK says. Five stages behind the input: context, address of the
// bank, bank, decision, reply. The fourth decides and writes back; what it writes is forwarded to all that are behind it, so
// that requests of one QP follow each other in every cycle. See README.md.
module psn_tracker
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots     = 1024,
  parameter  int unsigned NumBanks     = 4096,  // power of two
  parameter  int unsigned MprPsns      = 1024,  // multiple of 128, at most 32,640
  localparam int unsigned SlotWidth    = $clog2(NumSlots),
  localparam int unsigned CountWidth   = $clog2(NumBanks) + 1,
  localparam int unsigned BankWidth    = $clog2(NumBanks),
  // One bank more than the window holds: its first and last PSN may lie in parts of banks.
  localparam int unsigned Parts        = 2 ** $clog2(MprPsns / 128 + 1),
  localparam int unsigned OooWidth     = $clog2(MprPsns + 1),
  localparam int unsigned UnitWidth    = $clog2(MprPsns / 128 + 1),
  // A context as it is moved: edge, highest PSN, window end, grant, count, banks.
  localparam int unsigned ContextWidth = 48 + (OooWidth + 1) + UnitWidth + OooWidth + Parts * (1 + BankWidth)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    nack_out_of_window_i,  // constant after reset
  input  logic                    dynamic_mpr_i,         // constant after reset

  input  logic                    req_valid_i,
  output logic                    req_ready_o,
  input  psn_op_e                 req_op_i,
  input  logic [SlotWidth-1:0]    req_slot_i,
  input  psn_t                    req_psn_i,
  input  psn_packet_t             req_packet_i,
  input  sack_trigger_t           req_trigger_i,
  input  logic [ContextWidth-1:0] req_context_i,  // with PsnLoad

  output logic                    rsp_valid_o,
  input  logic                    rsp_ready_i,
  output psn_reply_t              rsp_o,
  output logic [ContextWidth-1:0] rsp_context_o,  // after the request

  output logic [CountWidth-1:0]   banks_in_use_o
);

  localparam int unsigned BankPsns  = 128;
  localparam int unsigned PartWidth = $clog2(Parts);
  localparam int unsigned MprUnits  = MprPsns / BankPsns;
  localparam int unsigned HeldWidth = $clog2(Parts + 1);

  typedef logic [PartWidth-1:0] part_t;
  typedef logic [UnitWidth-1:0] units_t;
  typedef logic [OooWidth:0]    near_t;  // lowest bits of PSNs within one window of each other

  typedef struct packed {
    psn_t                            expected;    // everything before it has arrived
    psn_t                            highest;     // received, expected - 1 when nothing is above the edge
    near_t                           window_end;  // first PSN that has not been granted, with dynamic MPR
    units_t                          granted;     // units in the latest SACK, with dynamic MPR
    logic [OooWidth-1:0]             ooo;         // received above the edge
    logic [Parts-1:0]                held;
    logic [Parts-1:0][BankWidth-1:0] bank;
  } context_t;

  typedef struct packed {
    logic [BankPsns-1:0] received;
    logic [BankPsns-1:0] ends;
  } bank_t;

  typedef struct packed {
    logic        probe;
    logic [15:0] id;
  } sack_probe_t;

  typedef struct packed {
    psn_op_e            op;
    logic [SlotWidth-1:0] slot;
    psn_t               psn;
    psn_packet_t        packet;
    sack_trigger_t      trigger;
  } request_t;

  // verilator lint_off UNUSEDSIGNAL
  function automatic part_t part_of(psn_t psn);
    return psn[7+:PartWidth];
  endfunction

  // Position of the lowest bit that is set, the last when none is; by halves, so that it takes as many levels as it has bits.
  function automatic logic [6:0] lowest(logic [BankPsns-1:0] bits);
    logic [BankPsns-1:0]      some;
    logic [BankPsns-1:0][6:0] at;
    some = bits;
    at   = '0;
    for (int unsigned l = 0; l < 7; l++) begin
      for (int unsigned i = 0; i < (BankPsns >> (l + 1)); i++) begin
        at[i]   = some[2*i] ? at[2*i] : at[2*i+1] | (7'd1 << l);
        some[i] = some[2*i] || some[2*i+1];
      end
    end
    return at[0];
  endfunction

  function automatic part_t lowest_part(logic [Parts-1:0] bits);
    logic  [Parts-1:0] some;
    part_t [Parts-1:0] at;
    some = bits;
    at   = '0;
    for (int unsigned l = 0; l < PartWidth; l++) begin
      for (int unsigned i = 0; i < (Parts >> (l + 1)); i++) begin
        at[i]   = some[2*i] ? at[2*i] : at[2*i+1] | (part_t'(1) << l);
        some[i] = some[2*i] || some[2*i+1];
      end
    end
    return at[0];
  endfunction

  function automatic logic [HeldWidth-1:0] parts_held(logic [Parts-1:0] bits);
    logic [Parts-1:0][HeldWidth-1:0] sum;
    for (int unsigned i = 0; i < Parts; i++) sum[i] = HeldWidth'(bits[i]);
    for (int unsigned l = 0; l < PartWidth; l++) begin
      for (int unsigned i = 0; i < (Parts >> (l + 1)); i++) sum[i] = sum[2*i] + sum[2*i+1];
    end
    return sum[0];
  endfunction

  function automatic logic [7:0] ones(logic [BankPsns-1:0] bits);
    logic [31:0] word;
    logic [7:0]  sum;
    sum = '0;
    for (int unsigned w = 0; w < 4; w++) begin
      word = bits[32*w+:32];
      word = word - ((word >> 1) & 32'h5555_5555);
      word = (word & 32'h3333_3333) + ((word >> 2) & 32'h3333_3333);
      word = (word + (word >> 4)) & 32'h0F0F_0F0F;
      sum  = sum + word[7:0] + word[15:8] + word[23:16] + word[31:24];
    end
    return sum;
  endfunction

  function automatic logic psn_less(near_t a, near_t b);
    near_t ahead;
    ahead = b - a;
    return !ahead[OooWidth] && ahead != '0;
  endfunction

  // First PSN of a SACK's bitmap: right above the edge while everything fits into 64 bits; otherwise the packet itself
  // where it is marked or asks for it, or so that the newest PSN fits.
  function automatic psn_t sack_base(psn_t expected, psn_t highest, psn_t psn, sack_trigger_t trigger);
    near_t above;  // -1, or less than a window
    psn_t  ahead;
    above = near_t'(highest) - near_t'(expected);
    ahead = psn - expected;
    if (above[OooWidth] || above[OooWidth-1:6] == '0) return expected;
    if (!trigger.probe && (trigger.ce || trigger.ack_request) && !ahead[23]) return psn;
    return highest - 24'd63;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // The pool.
  logic                 bank_free, bank_take, bank_give;
  logic [BankWidth-1:0] free_bank, given_bank;
  logic [BankWidth:0]   banks_free;
  free_list #(.Depth(NumBanks)) u_pool (
    .clk_i, .rst_ni,
    .valid_o(bank_free),
    .index_o(free_bank),
    .take_i (bank_take),
    .give_i (bank_give),
    .index_i(given_bank),
    .free_o (banks_free)
  );

  // What the fourth stage leaves when a request leaves it. Each stage behind it that has a request moves then.
  logic     s4_done, s4_writes, s4_reads;
  logic     bank_write;
  request_t s4_q;
  context_t context_d;
  bank_t    bank_wdata;

  // First stage: the context comes out of its memory.
  logic     taken, s1_valid_q, s1_moves;
  logic     s2_valid_q, s2_moves, s3_valid_q, s3_moves, s4_valid_q;
  request_t s1_q;
  context_t context_read;
  context_t loaded_q;      // came with a load
  logic     load_inside_q;  // until it leaves the fourth stage, nothing else is taken
  assign taken       = req_valid_i && req_ready_o;
  assign req_ready_o = (!s1_valid_q || s1_moves) && !load_inside_q;
  assign s1_moves    = s1_valid_q && (!s2_valid_q || s2_moves);

  ram_1r1w #(.Depth(NumSlots), .Width($bits(context_t))) u_context (
    .clk_i,
    .we_i   (s4_done && s4_writes),
    .waddr_i(s4_q.slot),
    .wdata_i(context_d),
    .re_i   (taken),
    .raddr_i(req_slot_i),
    .rdata_o(context_read)
  );

  // Second stage: which bank it is.
  request_t             s2_q;
  context_t             s2_context_q;
  psn_t                 s2_base, s2_position;
  part_t                s2_part;
  logic [BankWidth-1:0] s2_bank;
  logic                 s2_forward;  // the bank is the one that the fourth stage writes
  assign s2_base     = sack_base(s2_context_q.expected, s2_context_q.highest, s2_q.psn, s2_q.trigger);
  assign s2_position = (s2_q.op == PsnSack) ? s2_base : s2_q.psn;
  assign s2_part     = part_of(s2_position);
  assign s2_bank     = s2_context_q.bank[s2_part];
  assign s2_moves    = s2_valid_q && (!s3_valid_q || s3_moves) && !s4_reads;
  assign s2_forward  = s4_done && bank_write && s4_q.slot == s2_q.slot && part_of(s4_q.psn) == s2_part;

  // Third stage: the bank comes out of its memory. The bank of a part of the window changes only where the fourth stage writes
  // it, and then it is forwarded, or is given back, and then the context says so: the address that was read is good, or does
  // not count. The base of a SACK is stale where a request of its QP was in front of it when it was computed.
  request_t s3_q;
  context_t s3_context_q;
  psn_t     s3_position_q;
  logic     s3_stale_q;
  logic     s3_saved_q, s3_forward;  // saved: the bank is in s3_word_q
  bank_t    word_read, s3_word_q;
  assign s3_moves   = s3_valid_q && (!s4_valid_q || s4_done);
  assign s3_forward = s4_done && bank_write && s4_q.slot == s3_q.slot && part_of(s4_q.psn) == part_of(s3_position_q);

  // Fourth stage: decides with context and bank, then passes bank after bank, each of which it reads in one cycle and looks at in
  // the next.
  context_t             s4_context_q;
  psn_t                 s4_position_q, s4_base_q, s4_base, next_position;
  bank_t                word_q;
  logic                 s4_stale_q, s4_fetch_q, s4_acts, s4_fresh;
  logic                 again, again_q;  // another bank of the same request
  part_t                next_part, s4_part;
  logic [BankWidth-1:0] bank_waddr, s4_bank;

  assign s4_base       = sack_base(s4_context_q.expected, s4_context_q.highest, s4_q.psn, s4_q.trigger);
  assign next_position = {s4_position_q[23:7] + 17'd1, 7'd0};
  assign next_part     = part_of(next_position);
  assign s4_part       = s4_stale_q ? part_of(s4_base) : next_part;
  assign s4_bank       = s4_context_q.bank[s4_part];

  ram_1r1w #(.Depth(NumBanks), .Width($bits(bank_t))) u_bits (
    .clk_i,
    .we_i   (s4_done && bank_write),
    .waddr_i(bank_waddr),
    .wdata_i(bank_wdata),
    .re_i   (s2_moves || s4_reads),
    .raddr_i(s4_reads ? s4_bank : s2_bank),
    .rdata_o(word_read)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s1_valid_q    <= 1'b0;
      s2_valid_q    <= 1'b0;
      s3_valid_q    <= 1'b0;
      s4_valid_q    <= 1'b0;
      s4_fetch_q    <= 1'b0;
      again_q       <= 1'b0;
      load_inside_q <= 1'b0;
    end else begin
      s1_valid_q <= taken || (s1_valid_q && !s1_moves);
      s2_valid_q <= s1_moves || (s2_valid_q && !s2_moves);
      s3_valid_q <= s2_moves || (s3_valid_q && !s3_moves);
      s4_valid_q <= s3_moves || (s4_valid_q && !s4_done);
      s4_fetch_q <= s4_reads;
      if (taken) load_inside_q <= req_op_i == PsnLoad;
      else if (s4_done && s4_q.op == PsnLoad) load_inside_q <= 1'b0;
      if (s4_fresh) again_q <= again;
    end
  end

  always_ff @(posedge clk_i) begin
    if (taken) begin
      s1_q     <= '{op: req_op_i, slot: req_slot_i, psn: req_psn_i, packet: req_packet_i, trigger: req_trigger_i};
      loaded_q <= req_context_i;
    end
    if (s1_moves) begin
      s2_q         <= s1_q;
      s2_context_q <= (s4_done && s4_writes && s4_q.slot == s1_q.slot) ? context_d : context_read;
    end
    if (s2_moves) begin
      s3_q          <= s2_q;
      s3_context_q  <= (s4_done && s4_writes && s4_q.slot == s2_q.slot) ? context_d : s2_context_q;
      s3_position_q <= s2_position;
      s3_stale_q    <= s2_q.op == PsnSack &&
                       ((s3_valid_q && s3_q.slot == s2_q.slot) || (s4_valid_q && s4_q.slot == s2_q.slot));
    end
    s3_saved_q <= s2_moves ? s2_forward : 1'b1;
    if (s2_moves) s3_word_q <= bank_wdata;
    else if (!s3_saved_q) s3_word_q <= word_read;
    if (s3_moves) begin
      s4_q          <= s3_q;
      s4_context_q  <= (s4_done && s4_writes && s4_q.slot == s3_q.slot) ? context_d : s3_context_q;
      s4_position_q <= s3_position_q;
      s4_base_q     <= s3_position_q;
      s4_stale_q    <= s3_stale_q;
      word_q        <= s3_forward ? bank_wdata : s3_saved_q ? s3_word_q : word_read;
    end else if (s4_fetch_q) begin
      word_q <= word_read;
    end else if (s4_acts && s4_stale_q) begin
      s4_base_q     <= s4_base;
      s4_position_q <= s4_base;
      s4_stale_q    <= 1'b0;
    end else if (s4_acts) begin
      s4_context_q  <= context_d;
      s4_position_q <= next_position;
    end
  end

  // What becomes of the packet.
  logic         out_free, s5_free, s5_valid_q, s5_last_q;
  psn_t         ahead;
  logic         at_edge, in_window, in_granted;
  part_t        part;
  logic         held, known, trimmed;
  psn_outcome_e outcome;
  nack_reason_e nack, trim_nack;
  logic         place_d, place, place_q, moves;

  assign out_free  = !rsp_valid_o || rsp_ready_i;
  assign s5_free   = !s5_valid_q || !s5_last_q || out_free;
  assign s4_acts   = s4_valid_q && !s4_fetch_q && s5_free;
  assign s4_fresh  = s4_acts && !s4_stale_q;
  assign s4_done   = s4_fresh && !again;
  assign s4_reads  = s4_acts && (s4_stale_q || (again && s4_q.op != PsnRelease));
  assign ahead     = s4_q.psn - s4_context_q.expected;
  assign at_edge   = s4_q.psn == s4_context_q.expected;
  assign part      = part_of(s4_position_q);
  assign held      = s4_context_q.held[part];
  assign known     = held && word_q.received[s4_q.psn[6:0]];
  assign trimmed   = s4_q.op == PsnTrimmed || s4_q.op == PsnTrimmedLasthop;
  assign trim_nack = (s4_q.op == PsnTrimmed) ? NackTrimmed : NackTrimmedLasthop;
  // A PSN that is less than twice the window ahead is outside where it is not below the end of what has been granted.
  assign in_granted = ahead[23:OooWidth] == '0 && psn_less(near_t'(s4_q.psn), s4_context_q.window_end);
  assign in_window  = dynamic_mpr_i ? in_granted : ahead < psn_t'(MprPsns);

  always_comb begin
    outcome = PsnAccept;
    nack    = NackNone;
    if (s4_q.op == PsnData || trimmed) begin
      if (ahead[23]) outcome = PsnDuplicateBelow;
      else if (!in_window) outcome = PsnOutOfWindow;
      else if (!at_edge && known) outcome = PsnDuplicateAbove;
      // The expected packet needs no bit: the edge passes it at once.
      else if (!at_edge && !held && !bank_free) outcome = PsnNoBitmap;

      if (outcome == PsnOutOfWindow) begin
        if (!trimmed && nack_out_of_window_i) nack = NackPsnOorWindow;
      end else if (outcome == PsnAccept || outcome == PsnNoBitmap) begin
        if (trimmed) nack = trim_nack;
        else if (outcome == PsnNoBitmap) nack = NackNoBitmap;
        else if (!s4_q.packet.allowed) nack = NackUnexpEvent;
        else if (!s4_q.packet.packet_buffer) nack = NackNoPktBuffer;
        else if (!s4_q.packet.other_resource) nack = NackNoResource;
        else if (!s4_q.packet.receive) nack = NackUnexpEvent;
      end
    end
    place_d = s4_q.op == PsnData && !ahead[23] && in_window && (at_edge || (held ? !known : bank_free)) &&
              s4_q.packet.allowed && s4_q.packet.packet_buffer && s4_q.packet.other_resource && s4_q.packet.receive;
  end
  assign place = again_q ? place_q : place_d;
  assign moves = place && (again_q || at_edge);

  // The edge's way through one bank. All of this is computed before it is known whether the packet is placed.
  bank_t               run, own;  // the bank, with the packet that has just arrived; its bits
  logic [BankPsns-1:0] from_position, missing, passed;
  logic                to_the_end, empties, next_held;
  logic [6:0]          stop;
  psn_t                edge_d;
  logic [OooWidth-1:0] ooo_and_bits, passed_to, ooo_left;
  near_t               edge_near, end_here, end_next, moved_end;
  logic                end_moves;
  always_comb begin
    own                              = '0;
    own.received[s4_position_q[6:0]] = 1'b1;
    own.ends[s4_position_q[6:0]]     = s4_q.packet.ends_message;
    run                              = held ? word_q : '0;
    if (!again_q) run = '{received: run.received | own.received, ends: (run.ends & ~own.received) | own.ends};
    from_position = {BankPsns{1'b1}} << s4_position_q[6:0];
    missing       = ~run.received & from_position;
    to_the_end    = missing == '0;
    stop          = lowest(missing);
    passed        = from_position & (to_the_end ? '1 : ~({BankPsns{1'b1}} << stop));
    edge_d        = to_the_end ? next_position : {s4_position_q[23:7], stop};
    next_held     = s4_context_q.held[next_part];
    // PSNs above the edge, counted from the beginning of the bank, less those up to where it stops.
    ooo_and_bits  = s4_context_q.ooo + OooWidth'(s4_position_q[6:0]) + OooWidth'(!again_q);
    passed_to     = to_the_end ? OooWidth'(BankPsns) : OooWidth'(stop);
    ooo_left      = ooo_and_bits - passed_to;
    empties       = ooo_and_bits == passed_to;
    // What has been granted is kept: the end of the window never moves back.
    edge_near     = {s4_position_q[OooWidth:7], 7'd0};
    end_here      = edge_near + near_t'({s4_context_q.granted, 7'd0});
    end_next      = end_here + near_t'(BankPsns);
    moved_end     = to_the_end ? end_next : {end_here[OooWidth:7], stop};
    end_moves     = to_the_end ? psn_less(s4_context_q.window_end, end_next)
                               : psn_less(s4_context_q.window_end, {end_here[OooWidth:7], stop});
  end

  // A SACK's bits that lie in this bank.
  logic [63:0] sack_bits, sack_low_q;
  psn_t        sack_span;
  always_comb begin
    sack_bits = '0;
    sack_span = s4_context_q.highest - s4_base_q;
    if (s4_q.op == PsnSack && held && s4_context_q.ooo != '0 && !sack_span[23]) begin
      sack_bits = again_q ? word_q.received[63:0] << (7'd0 - s4_base_q[6:0]) : 64'(word_q.received >> s4_base_q[6:0]);
      // Above the highest PSN there is nothing yet; the bank may be another part of the window's.
      if (sack_span < 24'd63) sack_bits &= ~({64{1'b1}} << (sack_span[5:0] + 6'd1));
    end
    if (again_q) sack_bits |= sack_low_q;
  end

  // Dynamic MPR: as much of the window as the banks in reach can track, at least one unit.
  logic [HeldWidth:0] reach;
  units_t             free_units, grant;
  near_t              granted_end, granted_moves;
  always_comb begin
    free_units    = (32'(banks_free) >= MprUnits) ? units_t'(MprUnits) : units_t'(banks_free);
    reach         = (HeldWidth + 1)'(parts_held(s4_context_q.held)) + (HeldWidth + 1)'(free_units);
    grant         = (reach == '0) ? units_t'(1) : (32'(reach) >= MprUnits) ? units_t'(MprUnits) : units_t'(reach);
    granted_end   = near_t'(s4_context_q.expected) + near_t'({grant, 7'd0});
    granted_moves = near_t'(s4_context_q.expected) - s4_context_q.window_end + near_t'({grant, 7'd0});
  end

  // The bank that a QP which is given up gives back next.
  part_t            held_part;
  logic [Parts-1:0] held_left;
  assign held_part = lowest_part(s4_context_q.held);
  assign held_left = s4_context_q.held & (s4_context_q.held - 1'b1);

  // What is written back, and whether another bank is looked at first.
  logic newest;
  assign newest = psn_less(near_t'(s4_context_q.highest), near_t'(s4_q.psn));
  always_comb begin
    bank_wdata = '{received: own.received | (held ? word_q.received : '0),
                   ends:     own.ends | (held ? word_q.ends & ~own.received : '0)};
    bank_waddr = held ? s4_context_q.bank[part] : free_bank;
    given_bank = s4_context_q.bank[(s4_q.op == PsnRelease) ? held_part : part];
    context_d  = s4_context_q;
    s4_writes  = 1'b0;
    again      = 1'b0;
    bank_take  = 1'b0;
    bank_give  = 1'b0;
    bank_write = 1'b0;
    if (s4_q.op == PsnSetup) begin
      context_d.expected   = s4_q.psn;
      context_d.highest    = s4_q.psn - 24'd1;
      context_d.window_end = near_t'(s4_q.psn) + near_t'(MprPsns);
      context_d.granted    = units_t'(MprUnits);
      context_d.ooo        = '0;
      context_d.held       = '0;
      s4_writes            = 1'b1;
    end else if (s4_q.op == PsnRelease) begin
      context_d.highest = s4_context_q.expected - 24'd1;
      context_d.ooo     = '0;
      context_d.held    = held_left;
      s4_writes         = 1'b1;
      again             = held_left != '0;
      bank_give         = s4_acts && s4_context_q.held != '0;
    end else if (s4_q.op == PsnSack) begin
      again = !again_q && s4_base_q[6:0] > 7'd64 && s4_context_q.ooo != '0 && next_held;
      if (dynamic_mpr_i) begin
        context_d.granted = grant;
        if (!granted_moves[OooWidth] && granted_moves != '0) context_d.window_end = granted_end;
        s4_writes = 1'b1;
      end
    end else if (s4_q.op == PsnLoad) begin
      context_d = loaded_q;
      s4_writes = 1'b1;
    end else begin
      s4_writes = place;
      if (place && newest) context_d.highest = s4_q.psn;
      if (moves) begin
        context_d.expected = edge_d;
        if (end_moves) context_d.window_end = moved_end;
        context_d.ooo = ooo_left;
        again         = to_the_end && next_held && ooo_and_bits != OooWidth'(BankPsns);
        if (held && (to_the_end || empties)) begin
          context_d.held[part] = 1'b0;
          bank_give            = s4_acts;
        end
      end else if (place) begin
        context_d.held[part] = 1'b1;
        context_d.ooo        = s4_context_q.ooo + 1'b1;
        if (!held) context_d.bank[part] = free_bank;
        bank_take  = s4_acts && !held;
        bank_write = 1'b1;
      end
    end
  end

  // Fifth stage: counts the messages that the edge has closed, bank by bank, and replies after the last.
  logic                s5_first_q;
  logic                s5_sack_q;
  sack_probe_t         s5_probe_q;
  psn_t                s5_psn_q, s5_base_q, s5_expected_q, s5_highest_q;
  logic [OooWidth-1:0] s5_ooo_q, closes_q, closes;
  logic [BankPsns-1:0] s5_ends_q;
  logic [63:0]         s5_bits_q;
  units_t              s5_grant_q;
  context_t            s5_context_q;
  psn_outcome_e        s5_outcome_q;
  nack_reason_e        s5_nack_q;
  logic                s5_place_q;
  assign closes = (s5_first_q ? '0 : closes_q) + OooWidth'(ones(s5_ends_q));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) s5_valid_q <= 1'b0;
    else if (s5_free) s5_valid_q <= s4_fresh;
  end

  always_ff @(posedge clk_i) begin
    if (s4_fresh) begin
      s5_sack_q     <= s4_q.op == PsnSack;
      s5_probe_q    <= '{probe: s4_q.trigger.probe, id: s4_q.trigger.probe_id};
      s5_psn_q      <= s4_q.psn;
      s5_first_q    <= !again_q;
      s5_last_q     <= !again;
      s5_base_q     <= s4_base_q;
      s5_expected_q <= context_d.expected;
      s5_highest_q  <= context_d.highest;
      s5_ooo_q      <= context_d.ooo;
      s5_context_q  <= context_d;
      s5_ends_q     <= moves ? run.ends & passed : '0;
      s5_bits_q     <= sack_bits;
      s5_grant_q    <= grant;
      s5_outcome_q  <= again_q ? PsnAccept : outcome;
      s5_nack_q     <= again_q ? NackNone : nack;
      s5_place_q    <= place;
      place_q       <= place;
      sack_low_q    <= sack_bits;
    end
    if (s5_valid_q && s5_free) closes_q <= closes;
  end

  // The reply, with the state that it leaves.
  psn_reply_t reply;
  always_comb begin
    reply            = '0;
    reply.outcome    = s5_outcome_q;
    reply.nack       = s5_nack_q;
    reply.place      = s5_place_q;
    reply.duplicate  = s5_outcome_q == PsnDuplicateBelow || s5_outcome_q == PsnDuplicateAbove;
    reply.repeat_ack = s5_outcome_q == PsnDuplicateBelow;
    reply.closes     = 16'(closes);
    reply.cack       = s5_expected_q - 24'd1;
    reply.highest    = s5_highest_q;
    reply.ooo_count  = 15'(s5_ooo_q);
    if (s5_sack_q) begin
      reply.sack_offset    = 16'(s5_base_q - s5_expected_q) + 16'd1;
      reply.ack_psn_offset = s5_probe_q.probe ? s5_probe_q.id : 16'(s5_psn_q - s5_expected_q) + 16'd1;
      reply.sack_bitmap    = s5_bits_q;
      reply.mpr            = dynamic_mpr_i ? 8'(s5_grant_q) : 8'd0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rsp_valid_o <= 1'b0;
    else if (out_free) rsp_valid_o <= s5_valid_q && s5_last_q;
  end
  always_ff @(posedge clk_i) begin
    if (s5_valid_q && s5_last_q && out_free) begin
      rsp_o         <= reply;
      rsp_context_o <= s5_context_q;
    end
  end

  // Banks as the reply leaves them: the fourth stage may have gone on.
  logic [CountWidth-1:0] banks_in_use_q;
  assign banks_in_use_o = banks_in_use_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) banks_in_use_q <= '0;
    else if (out_free) banks_in_use_q <= CountWidth'(NumBanks) - banks_free;
  end

endmodule
