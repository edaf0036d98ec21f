// A pipeline stage of a valid/ready stream: a cycle later, one transfer per cycle, and its ready comes from a register.
module stream_stage #(
  parameter int unsigned Width = 1
) (
  input  logic             clk,
  input  logic             rst,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);
  logic             second_q;  // a transfer waits behind the one at the output
  logic [Width-1:0] spare_q;

  assign ready_o = !second_q;

  always_ff @(posedge clk or posedge rst) begin
    if (rst) begin
      valid_o  <= 1'b0;
      second_q <= 1'b0;
    end else if (!valid_o || ready_i) begin
      valid_o  <= second_q || valid_i;
      second_q <= 1'b0;
    end else begin
      second_q <= second_q || valid_i;
    end
  end

  always_ff @(posedge clk) begin
    if (!valid_o || ready_i) data_o <= second_q ? spare_q : data_i;
    if (!second_q) spare_q <= data_i;
  end
endmodule
