// What ack_coalescer promises (rtl/ack_coalescer/assertions), for every input that keeps the contract, and how the block holds what
// the rules say: with these invariants the proof needs no depth (induction).
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
  localparam int unsigned SumWidth     = CounterWidth + 1
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
  input  logic                    sack_ready_i
);

  logic rst_ni = 1'b0;
  logic evt_ready_o, sack_valid_o;
  logic [SlotWidth-1:0]    sack_slot_o;
  sack_causes_t            sack_causes_o;
  logic [CounterWidth-1:0] sack_counter_bytes_o;
  sack_reflection_t        sack_reflection_o;
  ack_coalescer #(.NumSlots(NumSlots), .CounterWidth(CounterWidth)) dut (.*);
  ack_coalescer_assertions #(.NumSlots(NumSlots), .CounterWidth(CounterWidth)) u_assertions (.*);

  // The event that was taken last, and its slot's counter before it.
  sack_event_e             last_event_q;
  logic [SlotWidth-1:0]    last_slot_q;
  logic [14:0]             last_payload_q;
  logic                    last_retransmission_q;
  sack_reflection_t        last_reflection_q;
  logic [CounterWidth-1:0] last_counter_q;
  logic [SumWidth-1:0]     before_q;
  always_ff @(posedge clk_i) begin
    rst_ni <= 1'b1;
    if (u_assertions.taken) begin
      last_event_q          <= evt_event_i;
      last_slot_q           <= evt_slot_i;
      last_payload_q        <= evt_payload_bytes_i;
      last_retransmission_q <= evt_retransmission_i;
      last_reflection_q     <= evt_reflection_i;
      last_counter_q        <= evt_counter_bytes_i;
      before_q              <= u_assertions.counter_q[evt_slot_i];
    end
  end

  logic                    pending;  // an event is inside
  logic [SlotWidth-1:0]    slot;
  logic [CounterWidth-1:0] threshold;
  assign pending   = dut.s1_valid_q;
  assign slot      = dut.s1_q.slot;
  assign threshold = u_assertions.started_q ? u_assertions.threshold_q : threshold_bytes_i;

  // Of all slots that have a QP: a counter is above the threshold, or it is not in the memory though nothing of its slot is inside.
  logic above, not_in_memory;
  always_comb begin
    above         = 1'b0;
    not_in_memory = 1'b0;
    for (int unsigned i = 0; i < NumSlots; i++) begin
      if (u_assertions.known_q[i]) begin
        above = above || u_assertions.counter_q[i] > SumWidth'(threshold);
        if (!(pending && slot == SlotWidth'(i))) begin
          not_in_memory = not_in_memory || SumWidth'(dut.u_counter.mem[i]) != u_assertions.counter_q[i];
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) nothing_in_reset: assert (!pending && !sack_valid_o);
    if (rst_ni) begin
      invariant_dues: assert (u_assertions.dues_q == 2'(pending && dut.owed) + 2'(sack_valid_o));
      if (u_assertions.known_q != '0) begin
        invariant_counter_bound: assert (!above);
        invariant_counter_in_memory: assert (!not_in_memory);
      end
      if (pending) begin
        invariant_started: assert (u_assertions.started_q && u_assertions.known_q[slot] == (last_event_q != SackStore));
        invariant_event: assert (dut.s1_q.kind == last_event_q && slot == last_slot_q && dut.s1_q.payload_bytes == last_payload_q);
        invariant_reflection: assert (dut.s1_q.retransmission == last_retransmission_q && dut.s1_q.reflection == last_reflection_q);
        if (last_event_q == SackData) invariant_payload_bound: assert (last_payload_q <= 15'd16384);
        invariant_event_bounds: assert (3'(last_event_q) <= 3'd4 && dut.s1_q.counter_bytes == last_counter_q);
        if (last_event_q == SackLoad) invariant_loaded: assert (last_counter_q <= threshold);
        if (last_event_q != SackLoad) begin
          invariant_counter_read: assert (SumWidth'(dut.counter_read) == before_q && before_q <= SumWidth'(threshold));
        end
        invariant_counter_next: assert (SumWidth'(dut.counter_d) == u_assertions.counter_q[slot]);
        if (dut.owed) begin
          invariant_due: assert (u_assertions.due_q[1'(sack_valid_o)] == {slot, SumWidth'(dut.counter), dut.causes, dut.s1_q.reflection});
        end
      end
    end
  end

endmodule
