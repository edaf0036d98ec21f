// Receive window of every QP: which PSNs have arrived, in banks of 128 bits from a pool that all QPs share; what becomes
// of each packet, how far the cumulative edge moves, and what a SACK says. Two stages behind the input: the first has the
// QP's context and reads the bank, the second decides and writes both back. See README.md.
module psn_tracker
  import mrc_pkg::*;
#(
  parameter  int unsigned NumQps     = 16384,
  parameter  int unsigned NumBanks   = 4096,  // power of two
  parameter  int unsigned MprPsns    = 1024,  // multiple of 128, at most 32,640
  localparam int unsigned QpWidth    = $clog2(NumQps),
  localparam int unsigned CountWidth = $clog2(NumBanks) + 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  nack_out_of_window_i,  // constant after reset
  input  logic                  dynamic_mpr_i,         // constant after reset

  input  logic                  req_valid_i,
  output logic                  req_ready_o,
  input  psn_op_e               req_op_i,
  input  logic [QpWidth-1:0]    req_qp_i,
  input  psn_t                  req_psn_i,
  input  psn_packet_t           req_packet_i,
  input  sack_trigger_t         req_trigger_i,

  output logic                  rsp_valid_o,
  input  logic                  rsp_ready_i,
  output psn_reply_t            rsp_o,

  output logic [CountWidth-1:0] banks_in_use_o
);

  localparam int unsigned BankPsns  = 128;
  localparam int unsigned BankWidth = $clog2(NumBanks);
  // One bank more than the window holds: its first and last PSN may lie in parts of banks.
  localparam int unsigned SlotWidth = $clog2(MprPsns / BankPsns + 1);
  localparam int unsigned Slots     = 2 ** SlotWidth;
  localparam int unsigned OooWidth  = $clog2(MprPsns + 1);
  localparam int unsigned MprUnits  = MprPsns / BankPsns;
  localparam int unsigned UnitWidth = $clog2(MprUnits + 1);
  localparam int unsigned HeldWidth = $clog2(Slots + 1);

  typedef logic [SlotWidth-1:0] slot_t;
  typedef logic [UnitWidth-1:0] units_t;
  typedef logic [OooWidth:0]    near_t;  // lowest bits of PSNs within one window of each other

  typedef struct packed {
    psn_t                            expected;    // everything before it has arrived
    psn_t                            highest;     // received, expected - 1 when nothing is above the edge
    near_t                           window_end;  // first PSN that has not been granted, with dynamic MPR
    units_t                          granted;     // units in the latest SACK, with dynamic MPR
    logic [OooWidth-1:0]             ooo;         // received above the edge
    logic [Slots-1:0]                held;
    logic [Slots-1:0][BankWidth-1:0] bank;
  } context_t;

  typedef struct packed {
    logic [BankPsns-1:0] received;
    logic [BankPsns-1:0] ends;
  } bank_t;

  typedef struct packed {
    psn_op_e            op;
    logic [QpWidth-1:0] qp;
    psn_t               psn;
    psn_packet_t        packet;
    sack_trigger_t      trigger;
  } request_t;

  // verilator lint_off UNUSEDSIGNAL
  function automatic slot_t slot_of(psn_t psn);
    return psn[7+:SlotWidth];
  endfunction

  // Position of the lowest bit that is set; 127 when none is.
  function automatic logic [6:0] lowest(logic [BankPsns-1:0] bits);
    logic [1:0]  word;
    logic [31:0] part;
    logic [4:0]  at;
    word = (bits[31:0] != '0) ? 2'd0 : (bits[63:32] != '0) ? 2'd1 : (bits[95:64] != '0) ? 2'd2 : 2'd3;
    part = bits[32*word+:32];
    at   = 5'd31;
    for (int i = 30; i >= 0; i--) if (part[i]) at = 5'(i);
    return {word, at};
  endfunction

  function automatic logic [7:0] ones(logic [BankPsns-1:0] bits);
    logic [31:0] part;
    logic [7:0]  sum;
    sum = '0;
    for (int unsigned w = 0; w < 4; w++) begin
      part = bits[32*w+:32];
      part = part - ((part >> 1) & 32'h5555_5555);
      part = (part & 32'h3333_3333) + ((part >> 2) & 32'h3333_3333);
      part = (part + (part >> 4)) & 32'h0F0F_0F0F;
      sum  = sum + part[7:0] + part[15:8] + part[23:16] + part[31:24];
    end
    return sum;
  endfunction

  function automatic logic psn_less(near_t a, near_t b);
    near_t ahead;
    ahead = b - a;
    return !ahead[OooWidth] && ahead != '0;
  endfunction

  // What has been granted is kept: the end of the window never moves back.
  function automatic near_t moved_end(near_t old_end, near_t expected, units_t granted);
    near_t new_end;
    new_end = expected + near_t'({granted, 7'd0});
    return psn_less(old_end, new_end) ? new_end : old_end;
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
  assign banks_in_use_o = CountWidth'(NumBanks) - banks_free;

  // First stage: the context of the QP, or what the request before leaves of it.
  logic     s1_valid_q, s1_moves, taken;
  request_t s1_q;
  context_t context_read, context_d, s1_context;
  psn_t     s1_base, s1_psn;
  logic     s2_valid_q, s2_done, s2_writes;
  request_t s2_q;
  context_t s2_context_q;
  psn_t     s2_base_q, s2_position_q;

  assign taken       = req_valid_i && req_ready_o;
  assign s1_moves    = s1_valid_q && (!s2_valid_q || s2_done);
  assign req_ready_o = !s1_valid_q || s1_moves;
  assign s1_context  = (s2_done && s2_writes && s2_q.qp == s1_q.qp) ? context_d : context_read;
  assign s1_base     = sack_base(s1_context.expected, s1_context.highest, s1_q.psn, s1_q.trigger);
  assign s1_psn      = (s1_q.op == PsnSack) ? s1_base : s1_q.psn;

  ram_1r1w #(.Depth(NumQps), .Width($bits(context_t))) u_context (
    .clk_i,
    .we_i   (s2_done && s2_writes),
    .waddr_i(s2_q.qp),
    .wdata_i(context_d),
    .re_i   (taken),
    .raddr_i(req_qp_i),
    .rdata_o(context_read)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s1_valid_q <= 1'b0;
      s2_valid_q <= 1'b0;
    end else begin
      if (taken) s1_valid_q <= 1'b1;
      else if (s1_moves) s1_valid_q <= 1'b0;
      if (s1_moves) s2_valid_q <= 1'b1;
      else if (s2_done) s2_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (taken) begin
      s1_q <= '{op: req_op_i, qp: req_qp_i, psn: req_psn_i, packet: req_packet_i, trigger: req_trigger_i};
    end
  end

  // Second stage: the bank of the PSN, then one per cycle the banks that the edge passes, or the second one of a SACK.
  logic                 again, again_q;  // another bank of the same request
  logic                 bank_write;
  logic [BankWidth-1:0] bank_waddr;
  psn_t                 next_position;
  bank_t                word, bank_wdata;
  ram_1r1w #(.Depth(NumBanks), .Width($bits(bank_t))) u_bits (
    .clk_i,
    .we_i   (bank_write),
    .waddr_i(bank_waddr),
    .wdata_i(bank_wdata),
    .re_i   (s1_moves || again),
    .raddr_i(again ? s2_context_q.bank[slot_of(next_position)] : s1_context.bank[slot_of(s1_psn)]),
    .rdata_o(word)
  );

  logic                out_free, last_step;
  psn_t                ahead;
  logic [OooWidth-1:0] window;
  slot_t               slot;
  logic                held, trimmed;
  psn_outcome_e        outcome;
  nack_reason_e        nack, trim_nack;
  logic                place_d, place, place_q;

  assign out_free      = !rsp_valid_o || rsp_ready_i;
  assign s2_done       = s2_valid_q && last_step && out_free;
  assign ahead         = s2_q.psn - s2_context_q.expected;
  assign window        = dynamic_mpr_i ? OooWidth'(s2_context_q.window_end) - OooWidth'(s2_context_q.expected)
                                       : OooWidth'(MprPsns);
  assign slot          = slot_of(s2_position_q);
  assign held          = s2_context_q.held[slot];
  assign next_position = {s2_position_q[23:7] + 17'd1, 7'd0};
  assign trimmed       = s2_q.op == PsnTrimmed || s2_q.op == PsnTrimmedLasthop;
  assign trim_nack     = (s2_q.op == PsnTrimmed) ? NackTrimmed : NackTrimmedLasthop;

  // What becomes of the packet.
  always_comb begin
    outcome = PsnAccept;
    nack    = NackNone;
    if (s2_q.op == PsnData || trimmed) begin
      if (ahead[23]) outcome = PsnDuplicateBelow;
      else if (ahead >= psn_t'(window)) outcome = PsnOutOfWindow;
      else if (ahead != '0 && held && word.received[s2_q.psn[6:0]]) outcome = PsnDuplicateAbove;
      // The expected packet needs no bit: the edge passes it at once.
      else if (ahead != '0 && !held && !bank_free) outcome = PsnNoBitmap;

      if (outcome == PsnOutOfWindow) begin
        if (!trimmed && nack_out_of_window_i) nack = NackPsnOorWindow;
      end else if (outcome == PsnAccept || outcome == PsnNoBitmap) begin
        if (trimmed) nack = trim_nack;
        else if (outcome == PsnNoBitmap) nack = NackNoBitmap;
        else if (!s2_q.packet.allowed) nack = NackUnexpEvent;
        else if (!s2_q.packet.packet_buffer) nack = NackNoPktBuffer;
        else if (!s2_q.packet.other_resource) nack = NackNoResource;
        else if (!s2_q.packet.receive) nack = NackUnexpEvent;
      end
    end
    place_d = s2_q.op == PsnData && outcome == PsnAccept && nack == NackNone;
  end
  assign place = again_q ? place_q : place_d;

  // The edge's way through one bank.
  bank_t               run;      // the bank, with the packet that has just arrived
  logic [BankPsns-1:0] missing, passed;
  logic                to_the_end;
  logic [6:0]          stop;
  psn_t                edge_d;
  logic [OooWidth-1:0] ooo_left;
  logic [OooWidth-1:0] closes_d, closes_q;
  always_comb begin
    run        = held ? word : '0;
    missing    = '0;
    passed     = '0;
    to_the_end = 1'b0;
    stop       = '0;
    edge_d     = s2_context_q.expected;
    ooo_left   = s2_context_q.ooo;
    closes_d   = again_q ? closes_q : '0;
    if (s2_valid_q && place && (again_q || ahead == '0)) begin
      if (!again_q) begin
        run.received[s2_position_q[6:0]] = 1'b1;
        run.ends[s2_position_q[6:0]]     = s2_q.packet.ends_message;
      end
      missing    = ~run.received & ({BankPsns{1'b1}} << s2_position_q[6:0]);
      to_the_end = missing == '0;
      stop       = lowest(missing);
      passed     = ({BankPsns{1'b1}} << s2_position_q[6:0]) & (to_the_end ? '1 : ~({BankPsns{1'b1}} << stop));
      edge_d     = to_the_end ? next_position : {s2_position_q[23:7], stop};
      ooo_left   = s2_context_q.ooo - OooWidth'(edge_d - s2_position_q) + OooWidth'(!again_q);
      closes_d   = closes_d + OooWidth'(ones(run.ends & passed));
    end
  end

  // A SACK's bits that lie in this bank.
  logic [63:0] sack_bits, sack_low_q;
  psn_t        sack_span;
  always_comb begin
    sack_bits = '0;
    sack_span = s2_context_q.highest - s2_base_q;
    if (s2_valid_q && s2_q.op == PsnSack && held && s2_context_q.ooo != '0 && !sack_span[23]) begin
      sack_bits = again_q ? word.received[63:0] << (7'd0 - s2_base_q[6:0]) : 64'(word.received >> s2_base_q[6:0]);
      // Above the highest PSN there is nothing yet; the bank may be another part of the window's.
      if (sack_span < 24'd63) sack_bits &= ~({64{1'b1}} << (sack_span[5:0] + 6'd1));
    end
    if (again_q) sack_bits |= sack_low_q;
  end

  // Dynamic MPR: as much of the window as the banks in reach can track, at least one unit.
  logic [HeldWidth-1:0]  held_count;
  logic [CountWidth-1:0] reach;
  units_t                grant;
  always_comb begin
    held_count = '0;
    for (int unsigned i = 0; i < Slots; i++) held_count = held_count + HeldWidth'(s2_context_q.held[i]);
    reach = banks_free + CountWidth'(held_count);
    if (reach == '0) grant = units_t'(1);
    else if (32'(reach) >= MprUnits) grant = units_t'(MprUnits);
    else grant = units_t'(reach);
  end

  // The bank that a QP which is given up gives back next.
  slot_t            held_slot;
  logic [Slots-1:0] held_left;
  always_comb begin
    held_slot = '0;
    for (int i = Slots - 1; i >= 0; i--) if (s2_context_q.held[i]) held_slot = slot_t'(unsigned'(i));
    held_left            = s2_context_q.held;
    held_left[held_slot] = 1'b0;
  end

  // What is written back, and whether another bank is looked at first.
  logic newest;
  assign newest = psn_less(near_t'(s2_context_q.highest), near_t'(s2_q.psn));
  always_comb begin
    context_d  = s2_context_q;
    s2_writes  = 1'b0;
    again      = 1'b0;
    bank_take  = 1'b0;
    bank_give  = 1'b0;
    bank_write = 1'b0;
    given_bank = s2_context_q.bank[slot];
    bank_waddr = s2_context_q.bank[slot];
    bank_wdata = word;
    if (s2_valid_q && s2_q.op == PsnSetup) begin
      context_d.expected   = s2_q.psn;
      context_d.highest    = s2_q.psn - 24'd1;
      context_d.window_end = near_t'(s2_q.psn) + near_t'(MprPsns);
      context_d.granted    = units_t'(MprUnits);
      context_d.ooo        = '0;
      context_d.held       = '0;
      s2_writes            = 1'b1;
    end else if (s2_valid_q && s2_q.op == PsnRelease) begin
      context_d.highest = s2_context_q.expected - 24'd1;
      context_d.ooo     = '0;
      context_d.held    = held_left;
      s2_writes         = 1'b1;
      again             = held_left != '0;
      given_bank        = s2_context_q.bank[held_slot];
      bank_give         = s2_context_q.held != '0 && (again || out_free);
    end else if (s2_valid_q && s2_q.op == PsnSack) begin
      again = !again_q && s2_base_q[6:0] > 7'd64 && s2_context_q.ooo != '0 &&
              s2_context_q.held[slot_of(next_position)];
      if (dynamic_mpr_i) begin
        context_d.granted    = grant;
        context_d.window_end = moved_end(s2_context_q.window_end, near_t'(s2_context_q.expected), grant);
        s2_writes            = 1'b1;
      end
    end else if (s2_valid_q && place && (again_q || ahead == '0)) begin
      s2_writes            = 1'b1;
      context_d.expected   = edge_d;
      context_d.window_end = moved_end(s2_context_q.window_end, near_t'(edge_d), s2_context_q.granted);
      context_d.ooo        = ooo_left;
      if (newest) context_d.highest = s2_q.psn;
      again = to_the_end && ooo_left != '0 && s2_context_q.held[slot_of(next_position)];
      if (held && (to_the_end || ooo_left == '0)) begin
        context_d.held[slot] = 1'b0;
        bank_give            = again || out_free;
      end
    end else if (s2_valid_q && place) begin
      s2_writes             = 1'b1;
      context_d.held[slot]  = 1'b1;
      context_d.ooo         = s2_context_q.ooo + 1'b1;
      if (newest) context_d.highest = s2_q.psn;
      if (!held) begin
        context_d.bank[slot] = free_bank;
        bank_wdata           = '0;
        bank_waddr           = free_bank;
        bank_take            = out_free;
      end
      bank_wdata.received[s2_q.psn[6:0]] = 1'b1;
      bank_wdata.ends[s2_q.psn[6:0]]     = s2_q.packet.ends_message;
      bank_write                         = out_free;
    end
  end
  assign last_step = !again;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) again_q <= 1'b0;
    else again_q <= again || (again_q && !s2_done);
  end

  always_ff @(posedge clk_i) begin
    if (s1_moves) begin
      s2_q          <= s1_q;
      s2_context_q  <= s1_context;
      s2_base_q     <= s1_base;
      s2_position_q <= s1_psn;
    end else if (again) begin
      s2_context_q  <= context_d;
      s2_position_q <= next_position;
    end
    if (again) begin
      closes_q   <= closes_d;
      place_q    <= place;
      sack_low_q <= sack_bits;
    end
  end

  // The reply, with the state that it leaves.
  psn_reply_t reply;
  always_comb begin
    reply           = '0;
    reply.cack      = context_d.expected - 24'd1;
    reply.highest   = context_d.highest;
    reply.ooo_count = 15'(context_d.ooo);
    if (s2_q.op == PsnSack) begin
      reply.sack_offset    = 16'(s2_base_q - reply.cack);
      reply.ack_psn_offset = s2_q.trigger.probe ? s2_q.trigger.probe_id : 16'(s2_q.psn - reply.cack);
      reply.sack_bitmap    = sack_bits;
      reply.mpr            = dynamic_mpr_i ? 8'(grant) : 8'd0;
    end else if (again_q) begin
      reply.place  = place;
      reply.closes = 16'(closes_d);
    end else begin
      reply.outcome    = outcome;
      reply.nack       = nack;
      reply.place      = place;
      reply.duplicate  = outcome == PsnDuplicateBelow || outcome == PsnDuplicateAbove;
      reply.repeat_ack = outcome == PsnDuplicateBelow;
      reply.closes     = 16'(closes_d);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rsp_valid_o <= 1'b0;
    else if (out_free) rsp_valid_o <= s2_done;
  end
  always_ff @(posedge clk_i) begin
    if (s2_done) rsp_o <= reply;
  end

endmodule
