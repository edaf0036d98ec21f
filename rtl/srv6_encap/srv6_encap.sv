// Puts the outer IPv6 header of SRv6 before each packet of a stream. Byte 0 of a packet is bits [7:0] of its first beat.
// Two stages: the first takes a beat and builds the header, the second joins header, the 40 bytes left over from the beat
// before, and the beat. See README.md.
module srv6_encap
  import mrc_pkg::*;
#(
  parameter  int unsigned DataWidth  = 1024,  // multiple of 64, at least 384
  localparam int unsigned DataBytes  = DataWidth / 8,
  localparam int unsigned CountWidth = $clog2(DataBytes + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic                  in_valid_i,
  output logic                  in_ready_o,
  input  logic [DataWidth-1:0]  in_data_i,
  input  logic [CountWidth-1:0] in_bytes_i,  // valid bytes; DataBytes in all beats but the last
  input  logic                  in_sop_i,
  input  logic                  in_eop_i,
  input  srv6_encap_meta_t      in_meta_i,

  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output logic [DataWidth-1:0]  out_data_o,
  output logic [CountWidth-1:0] out_bytes_o,
  output logic                  out_sop_o,
  output logic                  out_eop_o
);

  localparam int unsigned HeaderBytes = 40;
  localparam int unsigned HeaderWidth = 8 * HeaderBytes;
  localparam int unsigned JoinWidth   = DataWidth - HeaderWidth;
  localparam logic [CountWidth-1:0] FullCount   = CountWidth'(DataBytes);
  localparam logic [CountWidth-1:0] HeaderCount = CountWidth'(HeaderBytes);
  localparam logic [CountWidth-1:0] JoinCount   = CountWidth'(DataBytes - HeaderBytes);

  // The plane goes into every uSID, the uplink into the one that waits for it.
  function automatic logic [127:0] usid_carrier(usid_template_t path, logic [2:0] plane, logic [10:0] uplink);
    logic [127:0] carrier;
    usid_t        usid;
    carrier = {path.locator, 96'b0};
    for (int unsigned i = 0; i < MostUsids; i++) begin
      usid = path.usid[i] | {plane, 13'b0};
      if (path.uplink_position == 3'(i)) usid = usid | {5'b0, uplink};
      if (3'(i) < path.count) carrier[(MostUsids-1-i)*16+:16] = usid;
    end
    return carrier;
  endfunction

  // First stage: a beat and the header of its packet.
  logic                   beat_valid_q;
  logic [DataWidth-1:0]   beat_data_q;
  logic [CountWidth-1:0]  beat_bytes_q;
  logic                   beat_sop_q;
  logic                   beat_eop_q;
  logic [HeaderWidth-1:0] left_q;  // header, or what the beat before left over

  logic                   overflows;  // the last beat's bytes do not fit beside what is left over
  logic                   beat_taken;
  logic                   out_free;
  logic                   flush_q;
  logic [CountWidth-1:0]  flush_bytes_q;

  assign out_free   = !out_valid_o || out_ready_i;
  assign overflows  = beat_eop_q && beat_bytes_q > JoinCount;
  assign beat_taken = beat_valid_q && out_free && !flush_q;
  // A packet whose rest needs a beat of its own holds up the next one for that cycle.
  assign in_ready_o = flush_q ? out_free : (!beat_valid_q || (beat_taken && !overflows));

  logic [HeaderWidth-1:0] header_network_order;
  logic [HeaderWidth-1:0] header;
  assign header_network_order = {
    4'd6, in_meta_i.dscp, in_meta_i.ecn, in_meta_i.flow_label, in_meta_i.payload_length, NextHeaderIpv6,
    in_meta_i.hop_limit, in_meta_i.source, usid_carrier(in_meta_i.path, in_meta_i.plane, in_meta_i.uplink)
  };
  assign header = {<<8{header_network_order}};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_valid_q <= 1'b0;
    end else if (in_valid_i && in_ready_o) begin
      beat_valid_q <= 1'b1;
    end else if (beat_taken) begin
      beat_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_valid_i && in_ready_o) begin
      beat_data_q  <= in_data_i;
      beat_bytes_q <= in_bytes_i;
      beat_sop_q   <= in_sop_i;
      beat_eop_q   <= in_eop_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_valid_i && in_ready_o && in_sop_i) begin
      left_q <= header;
    end else if (beat_taken) begin
      left_q <= beat_data_q[DataWidth-1:JoinWidth];
    end
  end

  // Second stage: the output beat.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_o <= 1'b0;
      flush_q     <= 1'b0;
    end else if (out_free) begin
      out_valid_o <= beat_valid_q || flush_q;
      flush_q     <= beat_taken && overflows;
    end
  end

  always_ff @(posedge clk_i) begin
    if (beat_taken) begin
      out_data_o    <= {beat_data_q[JoinWidth-1:0], left_q};
      out_bytes_o   <= (beat_eop_q && !overflows) ? beat_bytes_q + HeaderCount : FullCount;
      out_sop_o     <= beat_sop_q;
      out_eop_o     <= beat_eop_q && !overflows;
      flush_bytes_q <= beat_bytes_q - JoinCount;
    end else if (out_free && flush_q) begin
      out_data_o  <= {{JoinWidth{1'b0}}, left_q};
      out_bytes_o <= flush_bytes_q;
      out_sop_o   <= 1'b0;
      out_eop_o   <= 1'b1;
    end
  end

endmodule
