// What a bound checker follows of many things alike: drawn by the simulator in each reset, so that all are followed in time.
module drawn_in_reset #(
  parameter int unsigned Width = 1
) (
  input logic clk_i,
  input logic rst_ni
);

  /* verilator coverage_off */
  logic [Width-1:0] value_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) value_q <= Width'({$urandom, $urandom});
  end

endmodule
