// QPs that wait for their turn, first come first served, each once at most. An activation of a QP that has its turn is
// kept, and lists it when its turn ends without it. One operation per cycle: it reads the state of its QP, and decides
// in the cycle after. See README.md.
module qp_ready_list
  import mrc_pkg::*;
#(
  parameter  int unsigned NumQps     = 16384,  // power of two
  localparam int unsigned QpWidth    = $clog2(NumQps),
  localparam int unsigned CountWidth = QpWidth + 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,      // the walk after reset
  input  logic [QpWidth-1:0]    clear_qp_i,

  input  logic                  op_valid_i,
  input  list_op_e              op_i,
  input  logic [QpWidth-1:0]    op_qp_i,

  output logic                  valid_o,      // a QP waits
  output logic [QpWidth-1:0]    qp_o,         // the one that has waited for longest
  input  logic                  pick_i,       // its turn begins; only while valid_o
  output logic [CountWidth-1:0] count_o
);

  // A QP waits if its bit differs from that which its turn has left in u_picked. So each memory has one writer.
  typedef struct packed {
    logic active;  // it waits, or has its turn
    logic again;   // it has its turn, and was activated meanwhile
    logic mark;
  } state_t;

  logic               valid_q, picked, empty, full, push, turn;
  list_op_e           op_q;
  logic [QpWidth-1:0] qp_q;
  state_t             state, state_d;

  ram_1r1w #(.Depth(NumQps), .Width($bits(state_t))) u_state (
    .clk_i,
    .we_i   (valid_q || clear_i),
    .waddr_i(clear_i ? clear_qp_i : qp_q),
    .wdata_i(clear_i ? state_t'('0) : state_d),
    .re_i   (op_valid_i),
    .raddr_i(op_qp_i),
    .rdata_o(state)
  );

  logic head_mark;
  ram_1r1w #(.Depth(NumQps), .Width(1)) u_picked (
    .clk_i,
    .we_i   (pick_i || clear_i),
    .waddr_i(clear_i ? clear_qp_i : qp_o),
    .wdata_i(!clear_i && head_mark),
    .re_i   (op_valid_i),
    .raddr_i(op_qp_i),
    .rdata_o(picked)
  );

  assign turn = state.active && state.mark == picked;
  always_comb begin
    unique case (op_q)
      ListActivate: push = !state.active;
      ListAgain:    push = turn;
      default:      push = turn && state.again;  // ListPark
    endcase
    state_d = state;
    if (push) state_d = '{active: 1'b1, again: 1'b0, mark: !picked};
    else if (op_q == ListActivate) state_d.again = state.again || turn;
    else if (turn) state_d.active = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= op_valid_i;
  end
  always_ff @(posedge clk_i) begin
    if (op_valid_i) begin
      op_q <= op_i;
      qp_q <= op_qp_i;
    end
  end

  fifo #(.Depth(NumQps), .Width(QpWidth + 1)) u_ready (
    .clk_i, .rst_ni,
    .push_i (valid_q && push),
    .data_i ({!picked, qp_q}),
    .pop_i  (pick_i),
    .data_o ({head_mark, qp_o}),
    .empty_o(empty),
    .full_o (full),
    .count_o(count_o)
  );
  assign valid_o = !empty;

  logic unused_full;
  assign unused_full = full;

endmodule
