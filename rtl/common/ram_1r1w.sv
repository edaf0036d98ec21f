// Memory with one read and one write port. What is read at an edge is on rdata_o until the next read; a word that is
// written at the same edge is seen at once. Banks, longer latencies and check bits: ram_1r1w_banked.
module ram_1r1w #(
  parameter  int unsigned Depth     = 16,
  parameter  int unsigned Width     = 8,
  localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
  input  logic                 clk_i,

  input  logic                 we_i,
  input  logic [AddrWidth-1:0] waddr_i,
  input  logic [Width-1:0]     wdata_i,

  input  logic                 re_i,
  input  logic [AddrWidth-1:0] raddr_i,
  output logic [Width-1:0]     rdata_o
);

  logic [Width-1:0] mem[Depth];

  always_ff @(posedge clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
    if (re_i) rdata_o <= (we_i && waddr_i == raddr_i) ? wdata_i : mem[raddr_i];
  end

endmodule
