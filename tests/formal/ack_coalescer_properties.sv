// What ack_coalescer promises (rtl/ack_coalescer/README.md), for every input. Any QP is followed: what is proved of it is
// proved of all. Small sizes, a counter whose sums fit.
module ack_coalescer_properties
  import mrc_pkg::*;
#(
  parameter  int unsigned NumQps       = 4,
  parameter  int unsigned CounterWidth = 19,
  localparam int unsigned QpWidth      = $clog2(NumQps)
) (
  input  logic                    clk_i,
  input  logic [CounterWidth-1:0] threshold_bytes_i,
  input  logic [16:0]             min_add_bytes_i,
  input  logic                    evt_valid_i,
  input  sack_event_e             evt_event_i,
  input  logic [QpWidth-1:0]      evt_qp_i,
  input  logic [14:0]             evt_payload_bytes_i,
  input  logic                    evt_retransmission_i,
  input  sack_reflection_t        evt_reflection_i,
  input  logic                    sack_ready_i,
  input  logic [QpWidth-1:0]      followed_i
);

  logic rst_ni = 1'b0;
  logic evt_ready_o, sack_valid_o;
  logic [QpWidth-1:0]      sack_qp_o;
  sack_causes_t            sack_causes_o;
  logic [CounterWidth-1:0] sack_counter_bytes_o;
  sack_reflection_t        sack_reflection_o;
  ack_coalescer #(.NumQps(NumQps), .CounterWidth(CounterWidth)) dut (
    .clk_i, .rst_ni, .threshold_bytes_i, .min_add_bytes_i,
    .evt_valid_i, .evt_ready_o, .evt_event_i, .evt_qp_i, .evt_payload_bytes_i, .evt_retransmission_i,
    .evt_reflection_i,
    .sack_valid_o, .sack_ready_i, .sack_qp_o, .sack_causes_o, .sack_counter_bytes_o, .sack_reflection_o
  );

  logic                    taken;
  logic                    started_q = 1'b0;
  logic [CounterWidth-1:0] threshold_q;
  logic [16:0]             min_add_q;
  logic [QpWidth-1:0]      followed_q;
  assign taken = rst_ni && evt_valid_i && evt_ready_o;

  // The QP's counter as the rules say, once it was set up, and the SACK that its latest event makes owed.
  logic                    known_q = 1'b0;
  logic [CounterWidth-1:0] counter_q;
  logic [CounterWidth-1:0] least, counter;
  logic                    owed;
  assign least   = (17'(evt_payload_bytes_i) < min_add_q) ? CounterWidth'(min_add_q) : CounterWidth'(evt_payload_bytes_i);
  assign counter = counter_q + ((evt_event_i == SackData) ? least : '0);
  assign owed    = evt_event_i == SackDuplicate || evt_event_i == SackProbe ||
                   (evt_event_i == SackData && (counter > threshold_q || evt_reflection_i.ack_request ||
                                                evt_reflection_i.ce || evt_retransmission_i));

  logic                    due_q = 1'b0;  // of the followed QP
  logic [CounterWidth-1:0] due_counter_q;
  sack_reflection_t        due_reflection_q;

  logic                    held_q = 1'b0;
  logic [QpWidth-1:0]      held_qp_q;
  sack_causes_t            held_causes_q;
  sack_reflection_t        held_reflection_q;

  logic followed_leaves;
  assign followed_leaves = rst_ni && sack_valid_o && sack_ready_i && sack_qp_o == followed_q;

  always_ff @(posedge clk_i) begin
    rst_ni    <= 1'b1;
    started_q <= 1'b1;
    if (!started_q) begin
      threshold_q <= threshold_bytes_i;
      min_add_q   <= min_add_bytes_i;
      followed_q  <= followed_i;
    end
    if (followed_leaves) due_q <= 1'b0;
    if (taken && evt_qp_i == followed_q) begin
      if (evt_event_i == SackSetup) begin
        known_q   <= 1'b1;
        counter_q <= '0;
      end else if (known_q) begin
        counter_q <= owed ? '0 : counter;
        if (owed && !due_q) begin
          due_q            <= 1'b1;
          due_counter_q    <= counter;
          due_reflection_q <= evt_reflection_i;
        end
      end
    end
    held_q            <= rst_ni && sack_valid_o && !sack_ready_i;
    held_qp_q         <= sack_qp_o;
    held_causes_q     <= sack_causes_o;
    held_reflection_q <= sack_reflection_o;
  end

  always_ff @(posedge clk_i) begin
    if (started_q) begin
      assume (threshold_bytes_i == threshold_q && min_add_bytes_i == min_add_q);
      assume (threshold_q <= CounterWidth'(1 << 17));
      assume (evt_payload_bytes_i <= 15'd16384);
      // Before another event of the followed QP its SACK has left, so that one register follows it.
      if (evt_valid_i && evt_qp_i == followed_q) assume (!due_q);
      if (evt_valid_i && evt_qp_i == followed_q && evt_event_i != SackSetup) assume (known_q);
    end
    if (rst_ni) begin
      // A SACK that waits stays as it is.
      if (held_q) begin
        assert (sack_valid_o && sack_qp_o == held_qp_q && sack_causes_o == held_causes_q);
        assert (sack_reflection_o == held_reflection_q);
      end
      // No SACK without a reason, none that is not owed, none twice, and each says what its event said.
      if (sack_valid_o) assert (sack_causes_o != '0);
      if (sack_valid_o && sack_qp_o == followed_q && known_q) begin
        assert (due_q);
        assert (sack_counter_bytes_o == due_counter_q);
        assert (sack_reflection_o == due_reflection_q);
      end
    end
  end

endmodule
