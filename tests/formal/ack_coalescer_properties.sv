// What ack_coalescer promises (rtl/ack_coalescer/README.md), for every input that keeps the contract. Any slot is followed: what
// is proved of it is proved of all. The last asserts say how the block holds what the rules say: with them the proof
// needs no depth (induction).
// steps: 7
// proof: induction
// reached: all
// finds: bytes_no_trigger least_counted_as_it_is retransmission_no_trigger timestamp_of_the_event_before
module ack_coalescer_properties
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots     = 4,
  parameter  int unsigned CounterWidth = 19,
  localparam int unsigned SlotWidth    = $clog2(NumSlots),
  localparam int unsigned SumWidth     = CounterWidth + 1  // no sum overflows here, whatever the block does
) (
  input  logic                    clk_i,
  input  logic [CounterWidth-1:0] threshold_bytes_i,
  input  logic [16:0]             min_add_bytes_i,
  input  logic                    evt_valid_i,
  input  sack_event_e             evt_event_i,
  input  logic [SlotWidth-1:0]    evt_slot_i,
  input  logic [14:0]             evt_payload_bytes_i,
  input  logic                    evt_retransmission_i,
  input  sack_reflection_t        evt_reflection_i,
  input  logic [CounterWidth-1:0] evt_counter_bytes_i,
  input  logic                    sack_ready_i,
  input  logic [SlotWidth-1:0]    followed_i
);

  logic rst_ni = 1'b0;
  logic evt_ready_o, sack_valid_o;
  logic [SlotWidth-1:0]    sack_slot_o;
  sack_causes_t            sack_causes_o;
  logic [CounterWidth-1:0] sack_counter_bytes_o;
  sack_reflection_t        sack_reflection_o;
  ack_coalescer #(.NumSlots(NumSlots), .CounterWidth(CounterWidth)) dut (
    .clk_i, .rst_ni, .threshold_bytes_i, .min_add_bytes_i,
    .evt_valid_i, .evt_ready_o, .evt_event_i, .evt_slot_i, .evt_payload_bytes_i, .evt_retransmission_i,
    .evt_reflection_i, .evt_counter_bytes_i,
    .sack_valid_o, .sack_ready_i, .sack_slot_o, .sack_causes_o, .sack_counter_bytes_o, .sack_reflection_o
  );

  typedef struct packed {
    logic [SumWidth-1:0] counter;
    sack_causes_t        causes;
    sack_reflection_t    reflection;
  } due_t;

  logic                    started_q = 1'b0;
  logic [CounterWidth-1:0] threshold_q;
  logic [16:0]             min_add_q;
  logic [SlotWidth-1:0]    followed_q;
  logic                    taken, leaves, ours;
  assign ours   = evt_slot_i == followed_q;
  assign taken  = rst_ni && evt_valid_i && evt_ready_o && ours;
  assign leaves = rst_ni && sack_valid_o && sack_ready_i && sack_slot_o == followed_q;

  // The slot's counter as the rules say, once it was loaded, and what its events make owed.
  logic                known_q = 1'b0;
  logic [SumWidth-1:0] counter_q, before_q, least, counter;
  sack_causes_t        causes;
  logic                owed;
  due_t [1:0]          due_q = '0;  // the oldest first
  logic [1:0]          dues_q = '0;
  assign least   = (17'(evt_payload_bytes_i) < min_add_q) ? SumWidth'(min_add_q) : SumWidth'(evt_payload_bytes_i);
  assign counter = counter_q + ((evt_event_i == SackData) ? least : '0);
  always_comb begin
    causes = '0;
    if (evt_event_i == SackData) begin
      causes.bytes          = counter > SumWidth'(threshold_q);
      causes.ack_request    = evt_reflection_i.ack_request;
      causes.ce             = evt_reflection_i.ce;
      causes.retransmission = evt_retransmission_i;
    end
    causes.asked_for = evt_event_i == SackDuplicate || evt_event_i == SackProbe;
    causes.stored    = evt_event_i == SackStore;
  end
  assign owed = causes != '0;

  // The event that was taken last.
  sack_event_e      last_event_q;
  logic [14:0]      last_payload_q;
  logic             last_retransmission_q;
  sack_reflection_t last_reflection_q;
  logic [CounterWidth-1:0] last_counter_q;

  logic                    held_q = 1'b0;
  logic [SlotWidth-1:0]    held_slot_q;
  sack_causes_t            held_causes_q;
  logic [CounterWidth-1:0] held_counter_q;
  sack_reflection_t        held_reflection_q;
  logic                    quiet, quiet_q = 1'b0;
  assign quiet = dues_q != '0 && !sack_valid_o;

  always_ff @(posedge clk_i) begin
    rst_ni    <= 1'b1;
    started_q <= 1'b1;
    if (!started_q) begin
      threshold_q <= threshold_bytes_i;
      min_add_q   <= min_add_bytes_i;
      followed_q  <= followed_i;
    end
    if (leaves) due_q[0] <= due_q[1];
    dues_q <= dues_q - 2'(leaves) + 2'(taken && known_q && owed);
    if (taken && evt_event_i == SackLoad) begin
      known_q   <= 1'b1;
      counter_q <= SumWidth'(evt_counter_bytes_i);
    end else if (taken && known_q) begin
      counter_q <= owed ? '0 : counter;
      before_q  <= counter_q;
      if (owed) due_q[1'(dues_q - 2'(leaves))] <= '{counter: counter, causes: causes, reflection: evt_reflection_i};
    end
    if (taken) begin
      last_event_q          <= evt_event_i;
      last_payload_q        <= evt_payload_bytes_i;
      last_retransmission_q <= evt_retransmission_i;
      last_reflection_q     <= evt_reflection_i;
      last_counter_q        <= evt_counter_bytes_i;
    end
    held_q            <= rst_ni && sack_valid_o && !sack_ready_i;
    held_slot_q       <= sack_slot_o;
    held_causes_q     <= sack_causes_o;
    held_counter_q    <= sack_counter_bytes_o;
    held_reflection_q <= sack_reflection_o;
    quiet_q           <= rst_ni && quiet;
  end

  // The event of the slot that is inside, and the SACK that is offered.
  logic pending, offered;
  assign pending  = dut.s1_valid_q && dut.s1_q.slot == followed_q;
  assign offered = sack_valid_o && sack_slot_o == followed_q;

  always_ff @(posedge clk_i) begin
    // The contract: constants stay, sums fit, a slot begins with a load.
    assume (!started_q || (threshold_bytes_i == threshold_q && min_add_bytes_i == min_add_q));
    assume (threshold_bytes_i <= CounterWidth'(1 << 18));
    assume (evt_payload_bytes_i <= 15'd16384);
    assume (evt_counter_bytes_i <= threshold_bytes_i && 3'(evt_event_i) <= 3'd4);
    assume (!(evt_valid_i && ours && evt_event_i != SackLoad) || known_q);

    if (!rst_ni) state_after_reset: assert (!started_q && !known_q && dues_q == '0 && !held_q && !quiet_q);
    if (rst_ni) begin
      // A SACK that waits stays as it is.
      if (held_q) begin
        sack_stays_valid: assert (sack_valid_o && sack_slot_o == held_slot_q && sack_causes_o == held_causes_q);
        sack_stays_the_same: assert (sack_counter_bytes_o == held_counter_q && sack_reflection_o == held_reflection_q);
      end
      // No SACK without a reason, none that is not owed, none twice, none lost, in order; each says what its event said.
      if (sack_valid_o) sack_has_cause: assert (sack_causes_o != '0);
      if (offered) begin
        sack_is_owed: assert (dues_q != '0);
        sack_counter: assert (SumWidth'(sack_counter_bytes_o) == due_q[0].counter);
        sack_causes: assert (sack_causes_o == due_q[0].causes);
        sack_reflection: assert (sack_reflection_o == due_q[0].reflection);
      end
      // One that is owed is offered in the cycle after the next, or waits behind another.
      sack_in_time: assert (!(quiet_q && quiet));
      // No SACK is held up by an event that makes none owed.
      if (!evt_ready_o) ready_unless_sack_waits: assert (sack_valid_o && !sack_ready_i);

      // How the block holds it.
      invariant_started: assert (started_q);
      invariant_dues: assert (dues_q == 2'(pending && dut.owed) + 2'(offered));
      if (!known_q) invariant_unknown: assert (!pending && !offered);
      if (known_q) begin
        invariant_counter_bound: assert (counter_q <= SumWidth'(threshold_q));
        if (!pending) invariant_counter_in_memory: assert (SumWidth'(dut.u_counter.mem[followed_q]) == counter_q);
      end
      if (pending) begin
        invariant_event: assert (known_q && dut.s1_q.kind == last_event_q && dut.s1_q.payload_bytes == last_payload_q);
        invariant_reflection: assert (dut.s1_q.retransmission == last_retransmission_q && dut.s1_q.reflection == last_reflection_q);
        invariant_payload_bound: assert (last_payload_q <= 15'd16384);
        invariant_event_bounds: assert (3'(last_event_q) <= 3'd4 && last_counter_q <= threshold_q && dut.s1_q.counter_bytes == last_counter_q);
        if (last_event_q != SackLoad) begin
          invariant_counter_read: assert (SumWidth'(dut.counter_read) == before_q && before_q <= SumWidth'(threshold_q));
        end
        invariant_counter_next: assert (SumWidth'(dut.counter_d) == counter_q);
        if (dut.owed) begin
          invariant_due: assert (due_q[1'(offered)] == {SumWidth'(dut.counter), dut.causes, dut.s1_q.reflection});
        end
      end
    end
  end

endmodule
