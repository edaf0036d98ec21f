// Says after each packet of a QP in a slot whether a SACK is owed: when more bytes than the threshold have come since the last,
// or the packet asks for it, is marked, or is a retransmission; at once for a probe and for a packet that came before. What
// the SACK is to reflect passes through. See README.md.
module ack_coalescer
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots     = 1024,
  parameter  int unsigned CounterWidth = 25,
  localparam int unsigned SlotWidth    = $clog2(NumSlots)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [CounterWidth-1:0] threshold_bytes_i,  // constant after reset
  input  logic [16:0]             min_add_bytes_i,    // constant after reset

  input  logic                    evt_valid_i,
  output logic                    evt_ready_o,
  input  sack_event_e             evt_event_i,
  input  logic [SlotWidth-1:0]    evt_slot_i,
  input  logic [14:0]             evt_payload_bytes_i,
  input  logic                    evt_retransmission_i,
  input  sack_reflection_t        evt_reflection_i,
  input  logic [CounterWidth-1:0] evt_counter_bytes_i,  // with SackLoad

  output logic                    sack_valid_o,
  input  logic                    sack_ready_i,
  output logic [SlotWidth-1:0]    sack_slot_o,
  output sack_causes_t            sack_causes_o,
  output logic [CounterWidth-1:0] sack_counter_bytes_o,
  output sack_reflection_t        sack_reflection_o
);

  typedef struct packed {
    sack_event_e             kind;
    logic [SlotWidth-1:0]    slot;
    logic [14:0]             payload_bytes;
    logic                    retransmission;
    sack_reflection_t        reflection;
    logic [CounterWidth-1:0] counter_bytes;
  } event_t;

  logic                    s1_valid_q, s1_done, taken, out_free;
  event_t                  s1_q;
  logic [CounterWidth-1:0] counter_read, added, counter, counter_d;
  sack_causes_t            causes;
  logic                    owed;

  assign out_free    = !sack_valid_o || sack_ready_i;
  assign s1_done     = s1_valid_q && (out_free || !owed);
  assign evt_ready_o = !s1_valid_q || s1_done;
  assign taken       = evt_valid_i && evt_ready_o;

  // The counter of the slot is read when its event is taken; what the event before writes is seen.
  ram_1r1w #(.Depth(NumSlots), .Width(CounterWidth)) u_counter (
    .clk_i,
    .we_i   (s1_done),
    .waddr_i(s1_q.slot),
    .wdata_i(counter_d),
    .re_i   (taken),
    .raddr_i(evt_slot_i),
    .rdata_o(counter_read)
  );

  always_comb begin
    added = CounterWidth'(s1_q.payload_bytes);
    if (17'(s1_q.payload_bytes) < min_add_bytes_i) added = CounterWidth'(min_add_bytes_i);
    counter = counter_read;
    if (s1_q.kind == SackData) counter = counter_read + added;
    causes = '0;
    if (s1_q.kind == SackData) begin
      causes.bytes          = counter > threshold_bytes_i;
      causes.ack_request    = s1_q.reflection.ack_request;
      causes.ce             = s1_q.reflection.ce;
      causes.retransmission = s1_q.retransmission;
    end else begin
      causes.asked_for = s1_q.kind == SackDuplicate || s1_q.kind == SackProbe;
      causes.stored    = s1_q.kind == SackStore;
    end
    owed      = causes != '0;
    counter_d = (s1_q.kind == SackLoad) ? s1_q.counter_bytes : owed ? '0 : counter;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s1_valid_q   <= 1'b0;
      sack_valid_o <= 1'b0;
    end else begin
      if (taken) s1_valid_q <= 1'b1;
      else if (s1_done) s1_valid_q <= 1'b0;
      if (out_free) sack_valid_o <= s1_done && owed;
    end
  end

  always_ff @(posedge clk_i) begin
    if (taken) begin
      s1_q <= '{
        kind: evt_event_i,
        slot: evt_slot_i,
        payload_bytes: evt_payload_bytes_i,
        retransmission: evt_retransmission_i,
        reflection: evt_reflection_i,
        counter_bytes: evt_counter_bytes_i
      };
    end
    if (s1_done && owed) begin
      sack_slot_o          <= s1_q.slot;
      sack_causes_o        <= causes;
      sack_counter_bytes_o <= counter;
      sack_reflection_o    <= s1_q.reflection;
    end
  end

endmodule
