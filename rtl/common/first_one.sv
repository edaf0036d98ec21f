// The lowest bit of a word that is set: alone, and its place.
module first_one #(
  parameter  int unsigned Width      = 16,  // power of two, 2 …
  localparam int unsigned IndexWidth = $clog2(Width)
) (
  input  logic [Width-1:0]      bits_i,
  output logic                  any_o,
  output logic [Width-1:0]      one_hot_o,
  output logic [IndexWidth-1:0] index_o
);

  // Which places have a set bit at them or below, by doubled distances.
  logic [Width-1:0] reached;
  always_comb begin
    reached = bits_i;
    for (int unsigned i = 0; i < IndexWidth; i++) reached |= reached << (1 << i);
  end

  assign any_o     = reached[Width-1];
  assign one_hot_o = bits_i & ~(reached << 1);

  for (genvar b = 0; b < IndexWidth; b++) begin : gen_index
    // Places whose number has this bit. A mask, and not a loop over the places: a simulator then works on whole words.
    localparam logic [Width-1:0] Places = {(Width >> (b + 1)) {{(1 << b) {1'b1}}, {(1 << b) {1'b0}}}};
    assign index_o[b] = |(one_hot_o & Places);
  end

endmodule
