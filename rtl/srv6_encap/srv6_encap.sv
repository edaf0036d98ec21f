// Puts the outer IPv6 header of SRv6 before each packet of a stream, a segment routing header behind that and the ICRC
// behind the packet where it is asked to. Byte 0 of a packet is bits [7:0] of its first beat. Two stages: the first
// takes a beat and builds the headers, the second joins headers, what is left over from the beat before, and the beat.
// A packet that gets its ICRC passes five stages in front of them. See README.md.
module srv6_encap
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

  localparam int unsigned HeaderWidth = 8 * 40;
  localparam int unsigned LeftWidth   = HeaderWidth + 8 * 24;  // with a segment routing header
  localparam int unsigned JoinWidth   = DataWidth - HeaderWidth;
  localparam logic [CountWidth-1:0] FullCount = CountWidth'(DataBytes);

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

  // In network order: the outer header; then next header, length in units of 8 bytes without the first, routing type,
  // segments left, last entry, flags, tag, and the one segment. Coverage of each bit would make all of them anew.
  // verilator coverage_off
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [LeftWidth-1:0] headers_of(srv6_encap_meta_t meta);
    logic [127:0]         carrier;
    logic [LeftWidth-1:0] network_order;
    carrier       = usid_carrier(meta.path, meta.plane, meta.uplink);
    network_order = {
      4'd6, meta.dscp, meta.ecn, meta.flow_label, meta.payload_length, meta.srh ? NextHeaderRouting : NextHeaderIpv6,
      meta.hop_limit, meta.source, carrier,
      NextHeaderIpv6, 8'd2, 8'd4, 8'd0, 8'd0, 8'd0, 16'd0, carrier
    };
    for (int unsigned i = 0; i < LeftWidth / 8; i++) headers_of[8*i+:8] = network_order[LeftWidth-8*(i+1)+:8];
  endfunction
  // verilator lint_on UNUSEDSIGNAL
  // verilator coverage_on

  // Packets that get their ICRC come through icrc_append; another packet waits until it is empty.
  logic                  in_icrc, in_icrc_q;
  logic                  icrc_busy, icrc_in_ready, icrc_valid, icrc_sop, icrc_eop;
  logic [DataWidth-1:0]  icrc_data;
  logic [CountWidth-1:0] icrc_bytes;
  srv6_encap_meta_t      icrc_meta;
  logic                  stage_ready;
  assign in_icrc    = in_sop_i ? in_meta_i.icrc : in_icrc_q;
  assign in_ready_o = in_icrc ? icrc_in_ready : stage_ready && !icrc_busy;

  always_ff @(posedge clk_i) begin
    if (in_valid_i && in_ready_o && in_sop_i) in_icrc_q <= in_meta_i.icrc;
  end

  icrc_append #(.DataWidth(DataWidth)) u_icrc_append (
    .clk_i, .rst_ni,
    .in_valid_i(in_valid_i && in_icrc), .in_ready_o(icrc_in_ready), .in_data_i, .in_bytes_i, .in_sop_i, .in_eop_i,
    .in_meta_i,
    .out_valid_o(icrc_valid), .out_ready_i(stage_ready), .out_data_o(icrc_data), .out_bytes_o(icrc_bytes),
    .out_sop_o(icrc_sop), .out_eop_o(icrc_eop), .out_meta_o(icrc_meta), .busy_o(icrc_busy)
  );

  logic             enters, enters_sop;
  srv6_encap_meta_t meta;
  assign enters     = stage_ready && (icrc_busy ? icrc_valid : in_valid_i && !in_icrc);
  assign enters_sop = icrc_busy ? icrc_sop : in_sop_i;
  assign meta       = icrc_busy ? icrc_meta : in_meta_i;
  logic unused_icrc;
  assign unused_icrc = meta.icrc;

  // First stage: a beat and the headers of its packet.
  logic                  beat_valid_q;
  logic [DataWidth-1:0]  beat_data_q;
  logic [CountWidth-1:0] beat_bytes_q;
  logic                  beat_sop_q;
  logic                  beat_eop_q;
  logic                  srh_q;
  logic [LeftWidth-1:0]  left_q;  // headers, or what the beat before left over

  logic [CountWidth-1:0] header_count, join_count;
  logic                  overflows;  // the last beat's bytes do not fit beside what is left over
  logic                  beat_taken;
  logic                  out_free;
  logic                  flush_q;
  logic [CountWidth-1:0] flush_bytes_q;

  assign header_count = srh_q ? CountWidth'(LeftWidth / 8) : CountWidth'(HeaderWidth / 8);
  assign join_count   = FullCount - header_count;
  assign out_free     = !out_valid_o || out_ready_i;
  assign overflows    = beat_eop_q && beat_bytes_q > join_count;
  assign beat_taken   = beat_valid_q && out_free && !flush_q;
  // A packet whose rest needs a beat of its own holds up the next one for that cycle.
  assign stage_ready  = flush_q ? out_free : (!beat_valid_q || (beat_taken && !overflows));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_valid_q <= 1'b0;
    end else if (enters) begin
      beat_valid_q <= 1'b1;
    end else if (beat_taken) begin
      beat_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (enters) begin
      beat_data_q  <= icrc_busy ? icrc_data : in_data_i;
      beat_bytes_q <= icrc_busy ? icrc_bytes : in_bytes_i;
      beat_sop_q   <= enters_sop;
      beat_eop_q   <= icrc_busy ? icrc_eop : in_eop_i;
      if (enters_sop) srh_q <= meta.srh;
    end
  end

  always_ff @(posedge clk_i) begin
    if (enters && enters_sop) begin
      left_q <= headers_of(meta);
    end else if (beat_taken) begin
      left_q <= srh_q ? beat_data_q[DataWidth-1-:LeftWidth] : LeftWidth'(beat_data_q[DataWidth-1:JoinWidth]);
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
      out_data_o    <= srh_q ? DataWidth'({beat_data_q, left_q}) : {beat_data_q[JoinWidth-1:0], left_q[HeaderWidth-1:0]};
      out_bytes_o   <= (beat_eop_q && !overflows) ? beat_bytes_q + header_count : FullCount;
      out_sop_o     <= beat_sop_q;
      out_eop_o     <= beat_eop_q && !overflows;
      flush_bytes_q <= beat_bytes_q - join_count;
    end else if (out_free && flush_q) begin
      out_data_o  <= DataWidth'(left_q);
      out_bytes_o <= flush_bytes_q;
      out_sop_o   <= 1'b0;
      out_eop_o   <= 1'b1;
    end
  end

endmodule
