// What psn_tracker promises at its ports (README.md), for every input that keeps its contract, as a checker to bind. What is assumed is
// the contract of the inputs: names that begin with contract_. Every reply is checked; of one QP, by its first slot, the edge, and
// one of its PSNs are followed, wherever its context goes, and of the contexts outside one.
module psn_tracker_assertions
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots        = 1024,
  parameter  int unsigned NumBanks        = 4096,
  parameter  int unsigned MprPsns         = 1024,
  parameter  bit          DataSheetCycles = 1'b1,  // as many requests are inside, and for as long, as the data sheet says
  localparam int unsigned SlotWidth    = $clog2(NumSlots),
  localparam int unsigned CountWidth   = $clog2(NumBanks) + 1,
  localparam int unsigned OooWidth     = $clog2(MprPsns + 1),
  localparam int unsigned UnitWidth    = $clog2(MprPsns / 128 + 1),
  localparam int unsigned Parts        = 2 ** $clog2(MprPsns / 128 + 1),
  localparam int unsigned ContextWidth = 48 + (OooWidth + 1) + UnitWidth + OooWidth + Parts * (1 + $clog2(NumBanks))
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic                    nack_out_of_window_i,
  input logic                    dynamic_mpr_i,

  input logic                    req_valid_i,
  input logic                    req_ready_o,
  input psn_op_e                 req_op_i,
  input logic [SlotWidth-1:0]    req_slot_i,
  input psn_t                    req_psn_i,
  input psn_packet_t             req_packet_i,
  input sack_trigger_t           req_trigger_i,
  input logic [ContextWidth-1:0] req_context_i,

  input logic                    rsp_valid_o,
  input logic                    rsp_ready_i,
  input psn_reply_t              rsp_o,
  input logic [ContextWidth-1:0] rsp_context_o,

  input logic [CountWidth-1:0]   banks_in_use_o,

  // Constant after reset: the QP that is followed, by its first slot; its PSN, as far from the first one of the QP.
  input logic [SlotWidth-1:0]    followed_i,
  input psn_t                    followed_psn_i,
  // Constant after reset: a context that has nothing above its edge is outside from the beginning.
  input logic                    outside_i,
  input logic [ContextWidth-1:0] outside_context_i
);

  /* verilator coverage_off */
  localparam int unsigned Places      = DataSheetCycles ? 8 : 64;
  localparam int unsigned PlaceWidth  = $clog2(Places);
  localparam int unsigned InsideWidth = PlaceWidth + 1;
  localparam int unsigned MostInside  = DataSheetCycles ? 6 : Places;
  localparam int unsigned MostSilent  = 7 + MprPsns / 64;  // cycles: each bank of a window is looked at, of a SACK the first twice
  localparam int unsigned SilentWidth = $clog2(MostSilent + 2);

  typedef struct packed {
    psn_op_e              op;
    logic [SlotWidth-1:0] slot;
    psn_t                 psn;
    psn_packet_t          packet;
    logic                 kept;       // it loads the context that is followed outside,
    logic                 kept_ours;  // which is that of the QP that is followed
  } asked_t;

  logic req_taken, rsp_taken;
  assign req_taken = rst_ni && req_valid_i && req_ready_o;
  assign rsp_taken = rst_ni && rsp_valid_o && rsp_ready_i;

  // Requests inside, the oldest first.
  asked_t [Places-1:0]    asked_q;
  logic [InsideWidth-1:0] inside_q;
  asked_t                 asked;
  assign asked = asked_q[0];

  // Contract: a slot gets a QP by set-up or load before it is used, until release or store; what is loaded was stored.
  logic [NumSlots-1:0] set_up_q;
  logic [31:0]         outside_q;        // contexts that were stored and not loaded since
  logic [31:0]         outside_above_q;  // those that have PSNs above their edge
  logic                first_loaded_q;   // that of outside_i
  logic                first_outside, any_outside;
  assign first_outside = outside_i && !first_loaded_q;
  assign any_outside   = first_outside || outside_q != '0;

  // Of them the one that is followed, until its load is done: that of the QP that is followed, or else the first.
  logic                    kept_q, kept_ours_q;
  logic [ContextWidth-1:0] kept_context_q, kept_context;
  logic [14:0]             kept_ooo_q, loading_ooo_q;
  logic [ContextWidth-1:0] loading_context_q;  // the same while it is being loaded
  logic                    loading_q, loading_ours_q;
  logic                    kept, loads_kept;
  assign kept         = kept_q || first_outside;
  assign kept_context = kept_q ? kept_context_q : outside_context_i;
  assign loads_kept   = req_op_i == PsnLoad && kept && req_context_i == kept_context;

  // The state that the replies have told of: of the QP that is followed, and which slots have PSNs above the edge.
  logic                 moved_q;   // it has left its first slot
  logic [SlotWidth-1:0] slot_q, slot;
  psn_t                 psn_q, cack_q;
  logic                 live_q;
  logic                 away_q;    // its context is outside
  logic                 within_q;  // the PSN is not below the first one
  logic                 placed_q;
  logic                 ends_q;    // and ends a message
  logic [NumSlots-1:0]  above_q;
  logic                 ours, keeps, loaded, packet, passed, was_passed, above, near, places, ends;
  psn_t                 bit_ahead;
  assign slot       = moved_q ? slot_q : followed_i;
  assign ours       = asked.slot == slot && !away_q;
  assign keeps      = asked.op == PsnStore && ((ours && live_q) || !(kept_q || loading_q));
  assign loaded     = asked.kept && asked.kept_ours == loading_ours_q;
  assign packet     = asked.op == PsnData || asked.op == PsnTrimmed || asked.op == PsnTrimmedLasthop;
  assign passed     = 24'(rsp_o.cack - psn_q) < 24'h800000;  // the edge is at the PSN or above it
  assign bit_ahead  = psn_q - (rsp_o.cack + {{8{rsp_o.sack_offset[15]}}, rsp_o.sack_offset});
  assign above      = placed_q && !passed;
  assign was_passed = 24'(cack_q - psn_q) < 24'h800000;
  assign places     = rsp_o.place && asked.psn == psn_q;
  assign ends       = places ? asked.packet.ends_message : ends_q;
  // The field holds so much; a packet of the window is nearer.
  assign near       = 24'(asked.psn - rsp_o.cack + 24'h004000) < 24'h008000;

  // With the reply that is offered; nothing else is inside.
  logic [NumSlots-1:0] slots_above;
  logic                settled, any_above;
  assign settled   = inside_q == InsideWidth'(rsp_valid_o);
  assign any_above = slots_above != '0 || outside_above_q != '0;
  always_comb begin
    slots_above = above_q;
    if (rsp_valid_o) slots_above[asked.slot] = rsp_o.ooo_count != '0;
  end

  logic                    started_q, nack_q, dynamic_q;
  logic                    waits_q;  // a request was offered and not taken
  psn_op_e                 waiting_op_q;
  logic [SlotWidth-1:0]    waiting_slot_q;
  psn_t                    waiting_psn_q;
  psn_packet_t             waiting_packet_q;
  sack_trigger_t           waiting_trigger_q;
  logic [ContextWidth-1:0] waiting_context_q;
  logic                    held_q;
  psn_reply_t              held_rsp_q;
  logic [SilentWidth-1:0]  silent_q;  // cycles with a request inside and no reply

  always_ff @(posedge clk_i) begin
    nack_q            <= nack_out_of_window_i;
    dynamic_q         <= dynamic_mpr_i;
    waiting_op_q      <= req_op_i;
    waiting_slot_q    <= req_slot_i;
    waiting_psn_q     <= req_psn_i;
    waiting_packet_q  <= req_packet_i;
    waiting_trigger_q <= req_trigger_i;
    waiting_context_q <= req_context_i;
    held_rsp_q        <= rsp_o;
    if (rsp_taken) asked_q <= {asked_t'('0), asked_q[Places-1:1]};
    if (req_taken) begin
      asked_q[PlaceWidth'(inside_q - InsideWidth'(rsp_taken))] <=
        '{op: req_op_i, slot: req_slot_i, psn: req_psn_i, packet: req_packet_i, kept: loads_kept,
          kept_ours: kept_q && kept_ours_q};
    end
    if (req_taken && loads_kept) begin
      loading_context_q <= kept_context;
      loading_ooo_q     <= kept_q ? kept_ooo_q : '0;
      loading_ours_q    <= kept_q && kept_ours_q;
    end
    if (rsp_taken && keeps) begin
      kept_context_q <= rsp_context_o;
      kept_ooo_q     <= rsp_o.ooo_count;
      kept_ours_q    <= ours && live_q;
    end
    if (rsp_taken && ours) begin
      cack_q <= rsp_o.cack;
      if (asked.op == PsnSetup) begin
        psn_q    <= asked.psn + followed_psn_i;
        within_q <= followed_psn_i < 24'h400000;
      end
      if (places) ends_q <= asked.packet.ends_message;
    end
    if (rsp_taken && loaded && loading_ours_q) slot_q <= asked.slot;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      started_q       <= 1'b0;
      inside_q        <= '0;
      set_up_q        <= '0;
      outside_q       <= '0;
      outside_above_q <= '0;
      first_loaded_q  <= 1'b0;
      kept_q          <= 1'b0;
      loading_q       <= 1'b0;
      moved_q         <= 1'b0;
      live_q          <= 1'b0;
      away_q          <= 1'b0;
      placed_q        <= 1'b0;
      above_q         <= '0;
      waits_q         <= 1'b0;
      held_q          <= 1'b0;
      silent_q        <= '0;
    end else begin
      started_q <= 1'b1;
      inside_q  <= inside_q + InsideWidth'(req_taken) - InsideWidth'(rsp_taken);
      outside_q <= outside_q + 32'(rsp_taken && asked.op == PsnStore) -
                   32'(req_taken && req_op_i == PsnLoad && !(loads_kept && !kept_q));
      outside_above_q <= outside_above_q + 32'(rsp_taken && asked.op == PsnStore && rsp_o.ooo_count != '0) -
                         32'(rsp_taken && asked.op == PsnLoad && rsp_o.ooo_count != '0);
      if (req_taken) begin
        if (req_op_i == PsnSetup || req_op_i == PsnLoad) set_up_q[req_slot_i] <= 1'b1;
        if (req_op_i == PsnRelease || req_op_i == PsnStore) set_up_q[req_slot_i] <= 1'b0;
        if (loads_kept && kept_q) kept_q <= 1'b0;
        if (loads_kept) loading_q <= 1'b1;
        if (loads_kept && !kept_q) first_loaded_q <= 1'b1;
      end
      if (rsp_taken) begin
        if (loaded && !(req_taken && loads_kept)) loading_q <= 1'b0;
        above_q[asked.slot] <= asked.op != PsnStore && rsp_o.ooo_count != '0;
        if (keeps) kept_q <= 1'b1;
        if (asked.op == PsnStore && ours && live_q) away_q <= 1'b1;
        if (loaded && loading_ours_q) begin
          moved_q <= 1'b1;
          away_q  <= 1'b0;
        end
        if (ours) begin
          if (asked.op == PsnSetup) begin
            live_q   <= 1'b1;
            placed_q <= 1'b0;
          end else if (asked.op == PsnRelease) begin
            live_q <= 1'b0;
          end else if (places) begin
            placed_q <= 1'b1;
          end
        end
      end
      waits_q  <= req_valid_i && !req_ready_o;
      held_q   <= rsp_valid_o && !rsp_ready_i;
      silent_q <= (inside_q == '0 || rsp_valid_o) ? '0 : (silent_q <= SilentWidth'(MostSilent)) ? silent_q + 1'b1 : silent_q;

      // The contract.
      if (started_q) contract_constants: assume (nack_out_of_window_i == nack_q && dynamic_mpr_i == dynamic_q);
      if (waits_q) begin
        contract_request_stays: assume (req_valid_i && req_op_i == waiting_op_q && req_slot_i == waiting_slot_q && req_psn_i == waiting_psn_q);
        contract_fields_stay: assume (req_packet_i == waiting_packet_q && req_trigger_i == waiting_trigger_q);
        contract_context_stays: assume (req_op_i != PsnLoad || req_context_i == waiting_context_q);
      end
      if (req_valid_i) begin
        contract_slot_has_qp: assume ((req_op_i == PsnSetup || req_op_i == PsnLoad) != set_up_q[req_slot_i]);
        if (req_op_i == PsnLoad) begin
          contract_loads_what_was_stored: assume (any_outside);
          if (kept && outside_q == 32'(kept_q) && !(kept_q && first_outside)) contract_context_as_stored: assume (req_context_i == kept_context);
        end
      end

      // An offered reply stays as it is until it is taken; each belongs to one request.
      if (held_q) begin
        reply_stays_valid: assert (rsp_valid_o);
        reply_stays_the_same: assert (rsp_o == held_rsp_q);
      end
      if (rsp_valid_o) reply_has_request: assert (inside_q != '0);
      requests_inside_bound: assert (inside_q <= InsideWidth'(MostInside));
      // None is forgotten.
      if (DataSheetCycles) no_request_forgotten: assert (silent_q <= SilentWidth'(MostSilent));

      // Banks are neither lost nor made: none is in use when nothing is above an edge.
      banks_within_pool: assert (banks_in_use_o <= CountWidth'(NumBanks));
      if (settled && !any_above) no_bank_lost: assert (banks_in_use_o == '0);
      if (settled && any_above) bank_for_what_is_above: assert (banks_in_use_o != '0);

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
      if (rsp_valid_o && loaded) loaded_as_stored: assert (rsp_o.ooo_count == loading_ooo_q && rsp_context_o == loading_context_q);

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
