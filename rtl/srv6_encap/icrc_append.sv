// Puts the ICRC of RoCEv2 behind each IPv6 packet of a stream: CRC-32 from the IP header on with the fields that may
// change on the way as ones, low byte first. Five stages, a beat a cycle. See README.md.
//
// The CRC is linear: it is taken over 64 bits at a time and joined in a tree, in which what comes first is multiplied by a
// constant matrix for as many zeros as come behind it. A last beat counts as if zeros followed, and these are taken away
// again by inverse matrices, a power of two of bytes each.
module icrc_append
  import mrc_pkg::*;
#(
  parameter  int unsigned DataWidth  = 1024,  // power of two, at least 512
  localparam int unsigned DataBytes  = DataWidth / 8,
  localparam int unsigned CountWidth = $clog2(DataBytes + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic                  in_valid_i,
  output logic                  in_ready_o,
  input  logic [DataWidth-1:0]  in_data_i,
  input  logic [CountWidth-1:0] in_bytes_i,
  input  logic                  in_sop_i,
  input  logic                  in_eop_i,
  input  srv6_encap_meta_t      in_meta_i,

  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output logic [DataWidth-1:0]  out_data_o,
  output logic [CountWidth-1:0] out_bytes_o,
  output logic                  out_sop_o,
  output logic                  out_eop_o,
  output srv6_encap_meta_t      out_meta_o,

  output logic                  busy_o  // a beat is inside
);

  localparam int unsigned IcrcBytes = 4;
  localparam int unsigned PadLevels = $clog2(DataBytes);  // bytes that a last beat lacks, 0 … DataBytes - 1
  localparam int unsigned PadSplit  = PadLevels / 2;
  localparam logic [31:0] Polynomial = 32'hEDB8_8320;     // reflected
  localparam logic [CountWidth-1:0] FullCount = CountWidth'(DataBytes);

  localparam int unsigned ChunkWidth = 64;
  localparam int unsigned Chunks     = DataWidth / ChunkWidth;

  typedef logic [31:0]            crc_t;
  typedef crc_t [31:0]            matrix_t;  // a column a bit of what is multiplied
  typedef matrix_t [PadLevels:0]  powers_t;  // [k]: for 2^k bytes
  typedef crc_t [ChunkWidth-1:0]  chunk_matrix_t;

  // What is constant when the block is built, or a formula, has no coverage of its own.
  // verilator coverage_off
  function automatic crc_t step(crc_t crc);
    return {1'b0, crc[31:1]} ^ (crc[0] ? Polynomial : '0);
  endfunction
  function automatic crc_t step_back(crc_t crc);
    return {crc[30:0] ^ (crc[31] ? Polynomial[30:0] : '0), crc[31]};
  endfunction
  function automatic crc_t times(matrix_t matrix, crc_t crc);
    times = '0;
    for (int unsigned i = 0; i < 32; i++) times = times ^ (matrix[i] & {32{crc[i]}});
  endfunction

  // What follows a CRC over zeros; with `back` what is before it.
  function automatic powers_t make_powers(logic back);
    crc_t column;
    for (int unsigned i = 0; i < 32; i++) begin
      column = 32'd1 << i;
      for (int unsigned bit_index = 0; bit_index < 8; bit_index++) column = back ? step_back(column) : step(column);
      make_powers[0][i] = column;
    end
    for (int unsigned level = 1; level <= PadLevels; level++) begin
      for (int unsigned i = 0; i < 32; i++) begin
        make_powers[level][i] = times(make_powers[level-1], make_powers[level-1][i]);
      end
    end
  endfunction
  function automatic chunk_matrix_t make_chunk_matrix();
    crc_t column;
    column = 32'd1;
    for (int unsigned i = 0; i < ChunkWidth; i++) begin
      column = step(column);
      make_chunk_matrix[ChunkWidth-1-i] = column;
    end
  endfunction
  // The CRC of eight bytes of ones.
  function automatic crc_t make_seed();
    make_seed = '1;
    for (int unsigned i = 0; i < 64; i++) make_seed = step(make_seed ^ 32'd1);
  endfunction
  // Ones where a field counts as ones: class and flow label, hop limit, UDP checksum, a byte of BTH.
  function automatic logic [DataWidth-1:0] make_variant_fields();
    make_variant_fields              = '0;
    make_variant_fields[3:0]         = '1;
    make_variant_fields[8*1+:8*3]    = '1;
    make_variant_fields[8*7+:8]      = '1;
    make_variant_fields[8*46+:8*2]   = '1;
    make_variant_fields[8*52+:8]     = '1;
  endfunction

  localparam powers_t              Zeros         = make_powers(1'b0);
  localparam powers_t              ZerosBack     = make_powers(1'b1);
  localparam chunk_matrix_t        ChunkMatrix   = make_chunk_matrix();
  localparam crc_t                 Seed          = make_seed();
  localparam logic [DataWidth-1:0] VariantFields = make_variant_fields();

  function automatic crc_t crc_of_chunk(logic [ChunkWidth-1:0] chunk);
    crc_of_chunk = '0;
    for (int unsigned i = 0; i < ChunkWidth; i++) crc_of_chunk = crc_of_chunk ^ (ChunkMatrix[i] & {32{chunk[i]}});
  endfunction
  typedef crc_t [Chunks-1:0] chunk_crcs_t;
  function automatic chunk_crcs_t crcs_of_chunks(logic [DataWidth-1:0] data);
`ifdef FORMAL
    data = '0;  // what is proved of the stream does not hang on it
`endif
    for (int unsigned i = 0; i < Chunks; i++) crcs_of_chunks[i] = crc_of_chunk(data[ChunkWidth*i+:ChunkWidth]);
  endfunction
  function automatic crc_t crc_of_beat(chunk_crcs_t crcs);
    for (int unsigned level = 0; level < $clog2(Chunks); level++) begin
      for (int unsigned i = 0; i < Chunks / 2; i++) begin
        if (i < Chunks >> (level + 1)) crcs[i] = times(Zeros[level+3], crcs[2*i]) ^ crcs[2*i+1];
      end
    end
    return crcs[0];
  endfunction
  // Without 2^level bytes of zeros for each bit of `pad` from `first` on.
  function automatic crc_t without_zeros(crc_t crc, logic [PadLevels-1:0] pad, int unsigned first, int unsigned end_level);
    without_zeros = crc;
    for (int unsigned level = 0; level < PadLevels; level++) begin
      if (level >= first && level < end_level && pad[level]) without_zeros = times(ZerosBack[level], without_zeros);
    end
  endfunction
  // verilator coverage_on

  typedef struct packed {
    logic [CountWidth-1:0] bytes;
    logic                  sop;
    logic                  eop;
  } place_t;

  // The stages: CRCs of the chunks, of the beat alone, up to the beat, and two that take the missing bytes away.
  localparam int unsigned Stages = 5;
  logic [Stages-1:0]                valid_q;
  place_t [Stages-1:0]              place_q;
  chunk_crcs_t                      chunk_crcs_q;
  crc_t                             beat_crc_q, crc_q, shorter_q, remainder_q, icrc;
  logic                             advance;
  assign in_ready_o = advance;
  assign busy_o     = valid_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (advance) valid_q <= {valid_q[Stages-2:0], in_valid_i};
  end

  always_ff @(posedge clk_i) begin
    if (advance && in_valid_i) begin
      place_q[0]   <= '{bytes: in_bytes_i, sop: in_sop_i, eop: in_eop_i};
      chunk_crcs_q <= crcs_of_chunks((in_sop_i ? in_data_i | VariantFields : in_data_i) &
                                     (in_eop_i ? ~({DataWidth{1'b1}} << {in_bytes_i, 3'b0}) : '1));
    end
    for (int unsigned stage = 1; stage < Stages; stage++) begin
      if (advance && valid_q[stage-1]) place_q[stage] <= place_q[stage-1];
    end
    if (advance && valid_q[0]) beat_crc_q <= crc_of_beat(chunk_crcs_q);
    if (advance && valid_q[1]) crc_q <= times(Zeros[PadLevels], place_q[1].sop ? Seed : crc_q) ^ beat_crc_q;
    if (advance && valid_q[2] && place_q[2].eop) begin
      shorter_q <= without_zeros(crc_q, PadLevels'(FullCount - place_q[2].bytes), 0, PadSplit);
    end
    if (advance && valid_q[3] && place_q[3].eop) begin
      remainder_q <= without_zeros(shorter_q, PadLevels'(FullCount - place_q[3].bytes), PadSplit, PadLevels);
    end
  end

  // Registers of their own, not one array: a simulator copies all of an array of which a part changes.
  for (genvar stage = 0; stage < Stages; stage++) begin : gen_data
    logic [DataWidth-1:0] data_q;
    if (stage == 0) begin : gen_first
      always_ff @(posedge clk_i) if (advance && in_valid_i) data_q <= in_data_i;
    end else begin : gen_next
      always_ff @(posedge clk_i) if (advance && valid_q[stage-1]) data_q <= gen_data[stage-1].data_q;
    end
  end

  // Inverted here: Verilator 5.032 loses the arguments of the calls within a function that is called below an operator.
  assign icrc = ~remainder_q;

  // What goes with the packets inside, which are at most as many as there are stages.
  localparam int unsigned MetaW = $clog2(Stages);
  srv6_encap_meta_t meta_mem[1<<MetaW];
  logic [MetaW-1:0] meta_write_q, meta_read_q;
  assign out_meta_o = meta_mem[meta_read_q];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      meta_write_q <= '0;
      meta_read_q  <= '0;
    end else begin
      if (advance && in_valid_i && in_eop_i) meta_write_q <= meta_write_q + MetaW'(1);
      if (out_valid_o && out_ready_i && out_eop_o) meta_read_q <= meta_read_q + MetaW'(1);
    end
  end
  always_ff @(posedge clk_i) begin
    if (advance && in_valid_i && in_sop_i) meta_mem[meta_write_q] <= in_meta_i;
  end

  // The last beat gets the ICRC; what does not fit goes into a beat of its own.
  place_t                last;
  logic                  spills, spill_q;
  logic [CountWidth-1:0] room;
  assign last        = place_q[Stages-1];
  assign room        = FullCount - last.bytes;
  assign spills      = last.eop && room < CountWidth'(IcrcBytes);
  assign out_valid_o = valid_q[Stages-1];
  assign advance     = !valid_q[Stages-1] || (out_ready_i && (!spills || spill_q));
  assign out_sop_o   = last.sop && !spill_q;
  assign out_eop_o   = last.eop && (!spills || spill_q);

  always_comb begin
    out_data_o  = gen_data[Stages-1].data_q;
    out_bytes_o = last.bytes;
    if (spill_q) begin
      out_data_o  = DataWidth'(icrc) >> {room[1:0], 3'b0};
      out_bytes_o = CountWidth'(IcrcBytes) - room;
    end else if (last.eop) begin
      out_data_o  = (gen_data[Stages-1].data_q & ~({DataWidth{1'b1}} << {last.bytes, 3'b0})) |
                    (DataWidth'(icrc) << {last.bytes, 3'b0});
      out_bytes_o = spills ? FullCount : last.bytes + CountWidth'(IcrcBytes);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) spill_q <= 1'b0;
    else if (out_valid_o && out_ready_i) spill_q <= spills && !spill_q;
  end

endmodule
