// First in, first out, in a memory with registered reads; the oldest word is on data_o from the cycle after its push on.
// A push when full and a pop when empty are outside the contract.
module fifo #(
  parameter  int unsigned Depth      = 16,  // power of two
  parameter  int unsigned Width      = 8,
  localparam int unsigned AddrWidth  = $clog2(Depth),
  localparam int unsigned CountWidth = AddrWidth + 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic                  push_i,
  input  logic [Width-1:0]      data_i,
  input  logic                  pop_i,
  output logic [Width-1:0]      data_o,
  output logic                  empty_o,
  output logic                  full_o,
  output logic [CountWidth-1:0] count_o
);

  logic [AddrWidth-1:0]  write_q, read_q, read_d;
  logic [CountWidth-1:0] count_q;

  // What pushes and pops comes late: both outcomes are computed, and it selects.
  assign read_d  = pop_i ? read_q + 1'b1 : read_q;
  assign count_o = count_q;
  assign empty_o = count_q == '0;
  assign full_o  = count_q == CountWidth'(Depth);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      count_q <= '0;
    end else begin
      write_q <= write_q + AddrWidth'(push_i);
      read_q  <= read_d;
      if (push_i && !pop_i) count_q <= count_q + 1'b1;
      if (pop_i && !push_i) count_q <= count_q - 1'b1;
    end
  end

  // The word that is the oldest from the next cycle on is read at each edge.
  ram_1r1w #(.Depth(Depth), .Width(Width)) u_ram (
    .clk_i,
    .we_i   (push_i),
    .waddr_i(write_q),
    .wdata_i(data_i),
    .re_i   (push_i || pop_i),
    .raddr_i(read_d),
    .rdata_o(data_o)
  );

endmodule
