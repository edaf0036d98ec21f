// Single error correction, double error detection: an extended Hamming code over Width bits. The index of a bit in the code
// word is its place in the code: place 0 is the parity of all, the powers of two are check bits, and the data bits lie between
// these in their order. So the syndrome is the place of a bit that was flipped. Encoder and decoder are combinational and
// independent of each other. A word of zeros has a code word of zeros.
module secded #(
  parameter  int unsigned Width      = 64,
  // The smallest r with 2^r >= Width + r + 1.
  localparam int unsigned CheckWidth = $clog2(Width + $clog2(Width + 1) + 1),
  localparam int unsigned CodeWidth  = Width + CheckWidth + 1
) (
  input  logic [Width-1:0]     data_i,
  output logic [CodeWidth-1:0] code_o,

  input  logic [CodeWidth-1:0] code_i,
  output logic [Width-1:0]     data_o,           // where uncorrectable_o is set: the data bits of code_i
  output logic                 corrected_o,      // one bit of code_i was flipped, data or check
  output logic                 uncorrectable_o   // two bits were
);

  logic [CodeWidth-1:0]  spread;  // data_i at its places
  logic [CheckWidth-1:0] check, syndrome;
  logic [CodeWidth-1:0]  flipped, fixed;
  logic                  odd, beyond;

  assign spread[0] = 1'b0;
  assign code_o[0] = ^{data_i, check};
  for (genvar c = 0; c < CheckWidth; c++) begin : gen_check
    // A check bit, and the data bits behind it up to the next one.
    localparam int unsigned Place = 2 ** c;
    localparam int unsigned From  = Place - c - 1;
    localparam int unsigned Count = (Place - 1 < Width - From) ? Place - 1 : Width - From;
    // All places that have this bit set in their number.
    localparam logic [CodeWidth-1:0] Places = CodeWidth'({(2 ** (CheckWidth - c - 1)) {{Place {1'b1}}, {Place {1'b0}}}});

    assign check[c]      = ^(spread & Places);
    assign syndrome[c]   = ^(code_i & Places);
    assign spread[Place] = 1'b0;
    assign code_o[Place] = check[c];
    if (Count > 0) begin : gen_data
      assign spread[Place+1+:Count] = data_i[From+:Count];
      assign code_o[Place+1+:Count] = data_i[From+:Count];
      assign data_o[From+:Count]    = fixed[Place+1+:Count];
    end
  end

  assign odd     = ^code_i;
  assign flipped = odd ? CodeWidth'(1) << syndrome : '0;
  assign fixed   = code_i ^ flipped;

  // A place that the code word does not have: more than two bits were flipped.
  if (CodeWidth < 2 ** CheckWidth) begin : gen_beyond
    assign beyond = syndrome >= CheckWidth'(CodeWidth);
  end else begin : gen_full
    assign beyond = 1'b0;
  end
  assign corrected_o     = odd && !beyond;
  assign uncorrectable_o = odd ? beyond : syndrome != '0;

  logic unused_checks;
  assign unused_checks = ^fixed;

endmodule
