// What ack_coalescer promises at its ports (README.md), for every input that keeps its contract, as a checker to bind. What is
// assumed is the contract of the inputs: names that begin with contract_. All slots are followed.
module ack_coalescer_assertions
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots        = 1024,
  parameter  int unsigned CounterWidth    = 25,
  parameter  bit          DataSheetCycles = 1'b1,  // the latency is that of the data sheet, and two events fit
  localparam int unsigned SlotWidth       = $clog2(NumSlots)
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic [CounterWidth-1:0] threshold_bytes_i,
  input logic [16:0]             min_add_bytes_i,

  input logic                    evt_valid_i,
  input logic                    evt_ready_o,
  input sack_event_e             evt_event_i,
  input logic [SlotWidth-1:0]    evt_slot_i,
  input logic [14:0]             evt_payload_bytes_i,
  input logic                    evt_retransmission_i,
  input sack_reflection_t        evt_reflection_i,
  input logic [CounterWidth-1:0] evt_counter_bytes_i,

  input logic                    sack_valid_o,
  input logic                    sack_ready_i,
  input logic [SlotWidth-1:0]    sack_slot_o,
  input sack_causes_t            sack_causes_o,
  input logic [CounterWidth-1:0] sack_counter_bytes_o,
  input sack_reflection_t        sack_reflection_o
);

  /* verilator coverage_off */
  localparam int unsigned Places     = DataSheetCycles ? 2 : 64;
  localparam int unsigned PlaceWidth = $clog2(Places + 1);
  localparam int unsigned SumWidth   = CounterWidth + 1;  // no sum overflows here, whatever the block does
  localparam logic [14:0] MostBytes  = 15'd16384;         // of a payload

  typedef struct packed {
    logic [SlotWidth-1:0] slot;
    logic [SumWidth-1:0]  counter;
    sack_causes_t         causes;
    sack_reflection_t     reflection;
  } due_t;

  logic taken, leaves;
  assign taken  = rst_ni && evt_valid_i && evt_ready_o;
  assign leaves = rst_ni && sack_valid_o && sack_ready_i;

  // The counters as the rules say, of the slots that have a QP, and what the events make owed, the oldest first.
  logic [NumSlots-1:0]   known_q;
  logic [SumWidth-1:0]   counter_q [NumSlots];
  due_t [Places-1:0]     due_q;
  logic [PlaceWidth-1:0] dues_q;

  logic                  known, owed;
  logic [16:0]           most_added;
  logic [SumWidth-1:0]   least, counter;
  sack_causes_t          causes;
  assign most_added = (min_add_bytes_i > 17'(MostBytes)) ? min_add_bytes_i : 17'(MostBytes);
  assign known   = known_q[evt_slot_i];
  assign least   = (17'(evt_payload_bytes_i) < min_add_bytes_i) ? SumWidth'(min_add_bytes_i) : SumWidth'(evt_payload_bytes_i);
  assign counter = counter_q[evt_slot_i] + ((evt_event_i == SackData) ? least : '0);
  always_comb begin
    causes = '0;
    if (evt_event_i == SackData) begin
      causes.bytes          = counter > SumWidth'(threshold_bytes_i);
      causes.ack_request    = evt_reflection_i.ack_request;
      causes.ce             = evt_reflection_i.ce;
      causes.retransmission = evt_retransmission_i;
    end
    causes.asked_for = evt_event_i == SackDuplicate || evt_event_i == SackProbe;
    causes.stored    = evt_event_i == SackStore;
  end
  assign owed = causes != '0;

  logic                    started_q;
  logic [CounterWidth-1:0] threshold_q;
  logic [16:0]             min_add_q;
  logic                    held_q;
  logic [SlotWidth-1:0]    held_slot_q;
  sack_causes_t            held_causes_q;
  logic [CounterWidth-1:0] held_counter_q;
  sack_reflection_t        held_reflection_q;
  logic                    quiet, quiet_q;
  assign quiet = dues_q != '0 && !sack_valid_o;

  always_ff @(posedge clk_i) begin
    threshold_q       <= threshold_bytes_i;
    min_add_q         <= min_add_bytes_i;
    held_slot_q       <= sack_slot_o;
    held_causes_q     <= sack_causes_o;
    held_counter_q    <= sack_counter_bytes_o;
    held_reflection_q <= sack_reflection_o;
    if (leaves) due_q <= {due_t'('0), due_q[Places-1:1]};
    if (taken && owed) begin
      due_q[$clog2(Places)'(dues_q - PlaceWidth'(leaves))] <=
        '{slot: evt_slot_i, counter: counter, causes: causes, reflection: evt_reflection_i};
    end
    if (taken) counter_q[evt_slot_i] <= (evt_event_i == SackLoad) ? SumWidth'(evt_counter_bytes_i) : owed ? '0 : counter;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      started_q <= 1'b0;
      known_q   <= '0;
      dues_q    <= '0;
      held_q    <= 1'b0;
      quiet_q   <= 1'b0;
    end else begin
      started_q <= 1'b1;
      if (taken && evt_event_i == SackLoad) known_q[evt_slot_i] <= 1'b1;
      if (taken && evt_event_i == SackStore) known_q[evt_slot_i] <= 1'b0;
      dues_q  <= dues_q - PlaceWidth'(leaves) + PlaceWidth'(taken && owed);
      held_q  <= sack_valid_o && !sack_ready_i;
      quiet_q <= quiet;

      // The contract: constants stay, sums fit, a slot begins with a load and ends with a store.
      if (started_q) contract_constants: assume (threshold_bytes_i == threshold_q && min_add_bytes_i == min_add_q);
      contract_sums_fit: assume (33'(threshold_bytes_i) + 33'(most_added) < (33'd1 << CounterWidth));
      if (evt_valid_i) begin
        contract_event: assume (3'(evt_event_i) <= 3'd4);
        if (evt_event_i == SackData) contract_payload: assume (evt_payload_bytes_i <= MostBytes);
        if (evt_event_i == SackLoad) contract_loaded_counter: assume (evt_counter_bytes_i <= threshold_bytes_i);
        if (evt_event_i != SackLoad) contract_slot_has_qp: assume (known);
      end

      // A SACK that waits stays as it is.
      if (held_q) begin
        sack_stays_valid: assert (sack_valid_o && sack_slot_o == held_slot_q && sack_causes_o == held_causes_q);
        sack_stays_the_same: assert (sack_counter_bytes_o == held_counter_q && sack_reflection_o == held_reflection_q);
      end
      // No SACK without a reason, none that is not owed, none twice, none lost, in order; each says what its event said.
      if (sack_valid_o) begin
        sack_has_cause: assert (sack_causes_o != '0);
        sack_is_owed: assert (dues_q != '0 && sack_slot_o == due_q[0].slot);
        sack_counter: assert (SumWidth'(sack_counter_bytes_o) == due_q[0].counter);
        sack_causes: assert (sack_causes_o == due_q[0].causes);
        sack_reflection: assert (sack_reflection_o == due_q[0].reflection);
      end
      dues_bound: assert (dues_q <= PlaceWidth'(Places));
      if (DataSheetCycles) begin
        // One that is owed is offered in the cycle after the next, or waits behind another.
        sack_in_time: assert (!(quiet_q && quiet));
        // No SACK is held up by an event that makes none owed.
        if (!evt_ready_o) ready_unless_sack_waits: assert (sack_valid_o && !sack_ready_i);
      end
    end
  end

endmodule
