// Coders of several widths side by side: each encodes the low bits of data_i and decodes its code word with flip_i inverted.
// The widths fill the places of their check bits, or are just too wide for fewer of them.
module secded_variants #(
  localparam int unsigned MostWidth = 120,
  localparam int unsigned MostCode  = 128,
  localparam int unsigned Variants  = 10,
  localparam int unsigned Widths[Variants]     = '{1, 2, 4, 5, 11, 12, 26, 57, 64, 120},
  localparam int unsigned CodeWidths[Variants] = '{4, 6, 8, 10, 16, 18, 32, 64, 72, 128}
) (
  input  logic [MostWidth-1:0] data_i,
  input  logic [MostCode-1:0]  flip_i,
  output logic [Variants-1:0]  same_o,  // the data that were encoded
  output logic [Variants-1:0]  corrected_o,
  output logic [Variants-1:0]  uncorrectable_o,
  output logic [7:0]           code_width_o[Variants],
  output logic [MostCode-1:0]  code_o[Variants]
);

  for (genvar v = 0; v < Variants; v++) begin : gen_variant
    localparam int unsigned Width     = Widths[v];
    localparam int unsigned CodeWidth = CodeWidths[v];
    logic [CodeWidth-1:0] code;
    logic [Width-1:0]     data;
    secded #(.Width(Width)) u_secded (
      .data_i         (data_i[Width-1:0]),
      .code_o         (code),
      .code_i         (code ^ flip_i[CodeWidth-1:0]),
      .data_o         (data),
      .corrected_o    (corrected_o[v]),
      .uncorrectable_o(uncorrectable_o[v])
    );
    assign same_o[v]       = data == data_i[Width-1:0];
    assign code_width_o[v] = 8'(CodeWidth);
    assign code_o[v]       = MostCode'(code);
  end

endmodule
