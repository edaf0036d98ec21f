// What psn_tracker promises (rtl/psn_tracker/README.md), for every input that keeps the contract. Proved with two slots whose
// QPs share two banks: each can hold both of them, and one can take what the other needs. One context at a time is outside; a run may
// begin with one that has nothing above its edge.
// steps: 12
// reached: all
// finds: window_one_too_wide bank_kept packet_buffer_inverted closes_of_full_banks
module psn_tracker_properties
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots   = 2,
  parameter  int unsigned NumBanks   = 2,
  parameter  int unsigned MprPsns    = 128,
  localparam int unsigned SlotWidth  = $clog2(NumSlots),
  localparam int unsigned CountWidth = $clog2(NumBanks) + 1,
  localparam int unsigned OooWidth   = $clog2(MprPsns + 1),
  localparam int unsigned UnitWidth  = $clog2(MprPsns / 128 + 1),
  localparam int unsigned Parts      = 2 ** $clog2(MprPsns / 128 + 1),
  localparam int unsigned ContextWidth = 48 + (OooWidth + 1) + UnitWidth + OooWidth + Parts * (1 + $clog2(NumBanks))
) (
  input  logic               clk_i,
  input  logic               nack_i,
  input  logic               dynamic_i,
  input  logic               req_valid_i,
  input  psn_op_e            req_op_i,
  input  logic [SlotWidth-1:0] req_slot_i,
  input  psn_t               req_psn_i,
  input  psn_packet_t        req_packet_i,
  input  sack_trigger_t      req_trigger_i,
  input  logic [ContextWidth-1:0] req_context_i,
  input  logic               rsp_ready_i,
  // Any QP, by its first slot, and any PSN of it: what is proved of these is proved of all.
  input  logic [SlotWidth-1:0] follow_slot_i,
  input  psn_t               follow_psn_i,
  input  logic               outside_i,
  input  psn_t               outside_psn_i
);

  typedef struct packed {
    psn_op_e            op;
    logic [SlotWidth-1:0] slot;
    psn_t               psn;
    psn_packet_t        packet;
  } asked_t;

  logic               rst_ni = 1'b0;
  logic               nack_q, dynamic_q;
  logic [SlotWidth-1:0] slot_q;  // where the QP that is followed is
  psn_t               psn_q;

  logic                  req_ready_o, rsp_valid_o;
  psn_reply_t            rsp_o;
  logic [ContextWidth-1:0] rsp_context_o;
  logic [CountWidth-1:0] banks_in_use_o;
  psn_tracker #(.NumSlots(NumSlots), .NumBanks(NumBanks), .MprPsns(MprPsns)) dut (
    .clk_i, .rst_ni, .nack_out_of_window_i(nack_q), .dynamic_mpr_i(dynamic_q), .req_valid_i, .req_ready_o, .req_op_i,
    .req_slot_i, .req_psn_i, .req_packet_i, .req_trigger_i, .req_context_i, .rsp_valid_o, .rsp_ready_i, .rsp_o, .rsp_context_o,
    .banks_in_use_o
  );

  logic req_taken, rsp_taken;
  assign req_taken = rst_ni && req_valid_i && req_ready_o;
  assign rsp_taken = rst_ni && rsp_valid_o && rsp_ready_i;

  // Requests inside, the oldest first.
  asked_t [7:0] asked_q  = '0;
  logic   [3:0] inside_q = '0;
  asked_t       asked;
  assign asked = asked_q[0];

  // Contract: a slot gets a QP by set-up or load before it is used, until release or store; what is loaded was stored.
  logic [NumSlots-1:0] set_up_q = '0;
  logic stores_q  = 1'b0;  // a store is inside
  logic outside_q = 1'b0;  // a context is outside:
  logic outside_ours_q;    // that of the QP that is followed
  logic [ContextWidth-1:0] outside_context_q;
  logic [14:0]             outside_ooo_q = '0;

  // The state that the replies have told of: of the QP that is followed, and how many PSNs are above each edge.
  logic                    live_q    = 1'b0;
  logic                    away_q    = 1'b0;  // its context is outside
  logic                    within_q  = 1'b0;  // the PSN is not below the first one
  logic                    placed_q  = 1'b0;
  logic                    ends_q;               // and ends a message
  psn_t                    cack_q    = '0;
  logic [NumSlots-1:0][14:0] ooo_q   = '0;
  logic                    ours, packet, passed, was_passed, above, near, places, ends;
  psn_t                    bit_ahead;
  assign ours      = asked.slot == slot_q && !away_q;
  assign packet    = asked.op == PsnData || asked.op == PsnTrimmed || asked.op == PsnTrimmedLasthop;
  assign passed    = !(24'(rsp_o.cack - psn_q) >> 23);  // the edge is at the PSN or above it
  assign bit_ahead = psn_q - (rsp_o.cack + {{8{rsp_o.sack_offset[15]}}, rsp_o.sack_offset});
  assign above     = placed_q && !passed;
  assign was_passed = !(24'(cack_q - psn_q) >> 23);
  assign places    = rsp_o.place && asked.psn == psn_q;
  assign ends      = places ? asked.packet.ends_message : ends_q;
  // The field holds so much; a packet of the window is nearer.
  assign near      = 24'(asked.psn - rsp_o.cack + 24'h004000) < 24'h008000;

  // With the reply that is offered; nothing else is inside.
  logic [NumSlots-1:0][14:0] ooo;
  logic                    settled;
  assign settled = inside_q == 4'(rsp_valid_o);
  always_comb begin
    ooo = ooo_q;
    if (rsp_valid_o) ooo[asked.slot] = rsp_o.ooo_count;
  end

  logic       held_q = 1'b0;
  psn_reply_t held_rsp_q;
  logic [3:0] silent_q = '0;  // cycles with a request inside and no reply

  always_ff @(posedge clk_i) begin
    rst_ni <= 1'b1;
    if (!rst_ni) begin
      nack_q    <= nack_i;
      dynamic_q <= dynamic_i;
      slot_q    <= follow_slot_i;
      psn_q     <= follow_psn_i;
      outside_q <= outside_i;
      outside_ours_q    <= 1'b0;
      outside_context_q <= {outside_psn_i, psn_t'(outside_psn_i - 24'd1), (OooWidth + 1)'(outside_psn_i + psn_t'(MprPsns)),
                            UnitWidth'(MprPsns / 128), (OooWidth + Parts * (1 + $clog2(NumBanks)))'(0)};
    end
    if (rsp_taken) asked_q <= {asked_t'('0), asked_q[7:1]};
    if (req_taken) begin
      asked_q[inside_q[2:0] - 3'(rsp_taken)] <= '{op: req_op_i, slot: req_slot_i, psn: req_psn_i, packet: req_packet_i};
      if (req_op_i == PsnSetup || req_op_i == PsnLoad) set_up_q[req_slot_i] <= 1'b1;
      if (req_op_i == PsnRelease || req_op_i == PsnStore) set_up_q[req_slot_i] <= 1'b0;
      if (req_op_i == PsnStore) stores_q <= 1'b1;
      if (req_op_i == PsnLoad) outside_q <= 1'b0;
    end
    inside_q <= inside_q + 4'(req_taken) - 4'(rsp_taken);

    if (rsp_taken) begin
      ooo_q[asked.slot] <= (asked.op == PsnStore) ? '0 : rsp_o.ooo_count;
      if (asked.op == PsnStore) begin
        stores_q          <= 1'b0;
        outside_q         <= 1'b1;
        outside_context_q <= rsp_context_o;
        outside_ooo_q     <= rsp_o.ooo_count;
        outside_ours_q    <= ours;
        if (ours) away_q <= 1'b1;
      end
      if (asked.op == PsnLoad) outside_ooo_q <= '0;
      if (asked.op == PsnLoad && outside_ours_q) begin
        slot_q <= asked.slot;
        away_q <= 1'b0;
      end
      if (ours) begin
        cack_q <= rsp_o.cack;
        if (asked.op == PsnSetup) begin
          live_q   <= 1'b1;
          within_q <= !(24'(psn_q - asked.psn) >> 22);
          placed_q <= 1'b0;
        end else if (asked.op == PsnRelease) begin
          live_q <= 1'b0;
        end else if (rsp_o.place && asked.psn == psn_q) begin
          placed_q <= 1'b1;
          ends_q   <= asked.packet.ends_message;
        end
      end
    end
    held_q     <= rst_ni && rsp_valid_o && !rsp_ready_i;
    held_rsp_q <= rsp_o;
    silent_q   <= (inside_q != '0 && !rsp_valid_o) ? silent_q + 4'd1 : '0;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (req_valid_i) begin
        assume ((req_op_i == PsnSetup || req_op_i == PsnLoad) != set_up_q[req_slot_i]);
        assume (req_op_i != PsnStore || (!stores_q && !outside_q && outside_ooo_q == '0));
        assume (req_op_i != PsnLoad || (outside_q && req_context_i == outside_context_q));
      end

      // An offered reply stays as it is until it is taken; each belongs to one request.
      if (held_q) begin
        reply_stays_valid: assert (rsp_valid_o);
        reply_stays_the_same: assert (rsp_o == held_rsp_q);
      end
      if (rsp_valid_o) reply_has_request: assert (inside_q != '0);
      requests_inside_bound: assert (inside_q <= 4'd6);
      // None is forgotten: two banks at most are looked at, of a SACK the first of them twice.
      no_request_forgotten: assert (silent_q <= 4'd9);

      // Banks are neither lost nor made: none is in use when nothing is above an edge.
      banks_within_pool: assert (banks_in_use_o <= CountWidth'(NumBanks));
      if (settled && ooo == '0 && outside_ooo_q == '0) no_bank_lost: assert (banks_in_use_o == '0);
      if (settled && (ooo != '0 || outside_ooo_q != '0)) bank_for_what_is_above: assert (banks_in_use_o != '0);

      if (rsp_valid_o) begin
        // What is placed gets no NACK, and nothing but whole packets is.
        if (rsp_o.place) placed_is_accepted: assert (asked.op == PsnData && rsp_o.outcome == PsnAccept && rsp_o.nack == NackNone);
        // A packet is placed, refused, or known; it is dropped only outside the window.
        if (packet) begin
          packet_is_answered: assert (rsp_o.place || rsp_o.duplicate || rsp_o.nack != NackNone || rsp_o.outcome == PsnOutOfWindow);
          duplicate_by_outcome: assert (rsp_o.duplicate == (rsp_o.outcome == PsnDuplicateBelow || rsp_o.outcome == PsnDuplicateAbove));
          repeat_ack_by_outcome: assert (rsp_o.repeat_ack == (rsp_o.outcome == PsnDuplicateBelow));
        end
        // An accepted packet is placed, or the first thing that it lacks is named.
        if (asked.op == PsnData && rsp_o.outcome == PsnAccept) begin
          placed_or_refused: assert (rsp_o.place == (rsp_o.nack == NackNone));
          nack_names_first_lack: assert (rsp_o.nack == (!asked.packet.allowed        ? NackUnexpEvent :
                                 !asked.packet.packet_buffer  ? NackNoPktBuffer :
                                 !asked.packet.other_resource ? NackNoResource :
                                 !asked.packet.receive        ? NackUnexpEvent : NackNone));
        end
        // The window: the highest PSN is not below the edge and not beyond the window.
        highest_in_window: assert (24'(rsp_o.highest - rsp_o.cack) <= 24'(MprPsns));
        count_in_window: assert (rsp_o.ooo_count < 15'(MprPsns));
        count_is_zero_at_edge: assert ((rsp_o.ooo_count == '0) == (rsp_o.highest == rsp_o.cack));
      end

      // A context comes back as it went.
      if (rsp_valid_o && asked.op == PsnLoad) loaded_as_stored: assert (rsp_o.ooo_count == outside_ooo_q && rsp_context_o == outside_context_q);

      if (rsp_valid_o && ours && live_q) begin
        // The edge never moves back.
        if (asked.op != PsnSetup) edge_never_back: assert (24'(rsp_o.cack - cack_q) <= 24'(MprPsns));
        if (within_q && packet && asked.psn == psn_q) begin
          // No PSN is placed twice, and one that was placed is known ever after.
          duplicate_if_placed: assert (rsp_o.duplicate == placed_q);
          if (rsp_o.place) placed_once: assert (!placed_q);
        end
        if (within_q && asked.op != PsnSetup && asked.op != PsnRelease) begin
          // The edge passes what was placed, and nothing else.
          if (passed) edge_passes_placed: assert (placed_q || places);
          // It closes the messages whose ends it passes, of all PSNs that it passes at most one each.
          if (passed && !was_passed && ends) end_closes_message: assert (rsp_o.closes != '0);
          closes_at_most_passed: assert (24'(rsp_o.closes) <= 24'(rsp_o.cack - cack_q));
          if (passed && !was_passed && 24'(rsp_o.cack - cack_q) == 24'd1) one_passed_closes_its_end: assert (rsp_o.closes == 16'(ends));
          // A SACK's bit says what was placed above the edge.
          if (asked.op == PsnSack && near && bit_ahead < 24'd64) sack_bit_of_placed: assert (rsp_o.sack_bitmap[bit_ahead[5:0]] == above);
        end
      end
    end
  end

endmodule
