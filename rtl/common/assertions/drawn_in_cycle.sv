// What a bound checker follows from some moment on: drawn by the simulator in each cycle.
module drawn_in_cycle #(
  parameter int unsigned Width = 1
) (
  input logic clk_i
);

  /* verilator coverage_off */
  logic [Width-1:0] value_q;
  always_ff @(posedge clk_i) value_q <= Width'({$urandom, $urandom});

endmodule
