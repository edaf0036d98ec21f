// The lowest bit of a word that is set: alone, and its place. Without look_i nothing is looked for, and nothing toggles.
module first_one #(
  parameter  int unsigned Width      = 16,  // power of two, 2 …
  localparam int unsigned IndexWidth = $clog2(Width)
) (
  input  logic                  look_i,
  input  logic [Width-1:0]      bits_i,
  output logic                  any_o,
  output logic [Width-1:0]      one_hot_o,
  output logic [IndexWidth-1:0] index_o
);

  // In groups of 32 bits, which a simulator works on as words.
  localparam int unsigned Group      = Width < 32 ? Width : 32;
  localparam int unsigned Groups     = Width / Group;
  localparam int unsigned PlaceWidth = $clog2(Group);

  // Which places have a set bit at them or below, in their group, and which groups, by doubled distances.
  logic [Groups-1:0][Group-1:0] bits, reached, one_hot;
  logic [Groups-1:0]            group_reached, first_group;
  logic [Group-1:0]             place;
  assign bits = bits_i;
  always_comb begin
    reached       = '0;
    group_reached = '0;
    first_group   = '0;
    one_hot       = '0;
    place         = '0;
    if (look_i) begin
      for (int unsigned g = 0; g < Groups; g++) begin
        reached[g] = bits[g];
        for (int unsigned i = 0; i < PlaceWidth; i++) reached[g] |= reached[g] << (1 << i);
        group_reached[g] = reached[g][Group-1];
      end
      for (int unsigned i = 0; (1 << i) < Groups; i++) group_reached |= group_reached << (1 << i);
      first_group = group_reached & ~(group_reached << 1);
      for (int unsigned g = 0; g < Groups; g++) begin
        one_hot[g] = first_group[g] ? bits[g] & ~(reached[g] << 1) : '0;
        place |= one_hot[g];
      end
    end
  end

  assign any_o     = group_reached[Groups-1];
  assign one_hot_o = one_hot;

  // Which of the bits of a number are set, by masks of the places that have them.
  for (genvar b = 0; b < IndexWidth; b++) begin : gen_index
    if (b < PlaceWidth) begin : gen_place
      localparam logic [Group-1:0] Places = {(Group >> (b + 1)) {{(1 << b) {1'b1}}, {(1 << b) {1'b0}}}};
      assign index_o[b] = |(place & Places);
    end else begin : gen_group
      localparam logic [Groups-1:0] Places = {(Groups >> (b - PlaceWidth + 1)) {{(1 << (b - PlaceWidth)) {1'b1}}, {(1 << (b - PlaceWidth)) {1'b0}}}};
      assign index_o[b] = |(first_group & Places);
    end
  end

endmodule
