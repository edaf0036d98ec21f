// What ram_1r1w_banked promises (the head of its file in rtl/common), with each read latency and with check bits: any word is
// followed, through writes with up to two flipped bits and reads of all addresses. And what secded promises, for any word of 26
// bits and any flips of up to two bits.
// steps: 8
// reached: all
module common_properties #(
  localparam int unsigned Depth       = 4,
  localparam int unsigned Width       = 4,
  localparam int unsigned CodeWidth   = 8,
  localparam int unsigned Banks       = 2,
  localparam int unsigned Latencies   = 3,
  localparam int unsigned AddrWidth   = $clog2(Depth),
  localparam int unsigned CoderWidth  = 26,
  localparam int unsigned CoderPlaces = 32
) (
  input  logic                           clk_i,
  input  logic                           we_i,
  input  logic [AddrWidth-1:0]           waddr_i,
  input  logic [Width-1:0]               wdata_i,
  input  logic [CodeWidth-1:0]           flip_i,
  input  logic                           re_i,
  input  logic [AddrWidth-1:0]           raddr_i,
  input  logic [AddrWidth-1:0]           followed_i,
  input  logic [CoderWidth-1:0]          data_i,
  input  logic                           any_i,  // bits are flipped, at these places
  input  logic [$clog2(CoderPlaces)-1:0] first_i,
  input  logic [$clog2(CoderPlaces)-1:0] second_i
);

  logic [CoderPlaces-1:0] code, flips;
  logic [CoderWidth-1:0]  decoded;
  logic                   corrected, uncorrectable;
  assign flips = any_i ? CoderPlaces'(1) << first_i | CoderPlaces'(1) << second_i : '0;
  secded #(.Width(CoderWidth)) u_coder (
    .data_i,
    .code_o         (code),
    .code_i         (code ^ flips),
    .data_o         (decoded),
    .corrected_o    (corrected),
    .uncorrectable_o(uncorrectable)
  );
  always_ff @(posedge clk_i) begin
    if (!any_i) clean_word_unchanged: assert (decoded == data_i && !corrected && !uncorrectable);
    if (any_i && first_i == second_i) one_flip_corrected: assert (decoded == data_i && corrected && !uncorrectable);
    if (any_i && first_i != second_i) two_flips_reported: assert (!corrected && uncorrectable);
  end

  typedef struct packed {
    logic             known;
    logic [1:0]       flips;
    logic [Width-1:0] data;
  } word_t;

  logic                 started_q = 1'b0;
  logic [AddrWidth-1:0] followed_q;
  word_t                word, word_q = '0;
  assign word = (we_i && waddr_i == followed_i) ? '{known: 1'b1, flips: 2'($countones(flip_i)), data: wdata_i} : word_q;
  always_ff @(posedge clk_i) begin
    started_q  <= 1'b1;
    followed_q <= followed_i;
    word_q     <= word;
    assume (!started_q || followed_i == followed_q);
    assume ($countones(flip_i) <= 2);
  end

  word_t [Latencies:0] read_q = '0;  // what is expected with a latency
  always_ff @(posedge clk_i) begin
    if (re_i) read_q[1] <= (raddr_i == followed_i) ? word : '0;
    for (int unsigned l = 2; l <= Latencies; l++) read_q[l] <= read_q[l-1];
  end

  for (genvar l = 1; l <= Latencies; l++) begin : gen_latency
    logic [Width-1:0] rdata;
    logic             ram_corrected, ram_uncorrectable;
    ram_1r1w_banked #(.Depth(Depth), .Width(Width), .ReadLatency(l), .Banks(Banks), .Secded(1)) u_ram (
      .clk_i, .we_i, .waddr_i, .wdata_i, .flip_i, .re_i, .raddr_i,
      .rdata_o        (rdata),
      .corrected_o    (ram_corrected),
      .uncorrectable_o(ram_uncorrectable)
    );
    always_ff @(posedge clk_i) begin
      if (read_q[l].known) begin
        read_corrected: assert (ram_corrected == (read_q[l].flips == 2'd1));
        read_uncorrectable: assert (ram_uncorrectable == (read_q[l].flips == 2'd2));
      end
      if (read_q[l].known && read_q[l].flips != 2'd2) read_as_written: assert (rdata == read_q[l].data);
    end
  end

endmodule
