// All variants of ram_1r1w_banked side by side, with the same reads and writes.
module ram_variants #(
  localparam int unsigned Depth     = 48,
  localparam int unsigned Width     = 21,
  localparam int unsigned CodeWidth = 27,
  localparam int unsigned Latencies = 3,
  localparam int unsigned BankKinds = 3,  // 1, 2, 4
  localparam int unsigned Variants  = Latencies * BankKinds * 2
) (
  input  logic                     clk_i,
  input  logic                     we_i,
  input  logic [$clog2(Depth)-1:0] waddr_i,
  input  logic [Width-1:0]         wdata_i,
  input  logic [CodeWidth-1:0]     flip_i,
  input  logic                     re_i,
  input  logic [$clog2(Depth)-1:0] raddr_i,
  output logic [Width-1:0]         rdata_o[Variants],  // latency, banks, without and with check bits; the last one fastest
  output logic [Variants-1:0]      corrected_o,
  output logic [Variants-1:0]      uncorrectable_o
);

  for (genvar l = 0; l < Latencies; l++) begin : gen_latency
    for (genvar b = 0; b < BankKinds; b++) begin : gen_banks
      for (genvar s = 0; s < 2; s++) begin : gen_secded
        localparam int unsigned V = (l * BankKinds + b) * 2 + s;
        ram_1r1w_banked #(.Depth(Depth), .Width(Width), .ReadLatency(l + 1), .Banks(2 ** b), .Secded(s)) u_ram (
          .clk_i,
          .we_i,
          .waddr_i,
          .wdata_i,
          .flip_i         (flip_i[(s == 1 ? CodeWidth : Width)-1:0]),
          .re_i,
          .raddr_i,
          .rdata_o        (rdata_o[V]),
          .corrected_o    (corrected_o[V]),
          .uncorrectable_o(uncorrectable_o[V])
        );
      end
    end
  end

endmodule
