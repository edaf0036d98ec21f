// What srv6_encap promises about its streams (README.md), for every input that keeps its contract, as a checker to bind. What is
// assumed is the contract of the inputs: names that begin with contract_. The length of every packet is followed, and of one packet
// at a time the headers and one byte. What an ICRC is worth is not part of it.
module srv6_encap_assertions
  import mrc_pkg::*;
#(
  parameter  int unsigned DataWidth       = 1024,
  parameter  bit          DataSheetCycles = 1'b1,  // not more packets are inside than the data sheet says
  parameter  int unsigned LengthWidth     = 32,    // bits that count the bytes of a packet
  localparam int unsigned DataBytes       = DataWidth / 8,
  localparam int unsigned CountWidth      = $clog2(DataBytes + 1)
) (
  input logic                  clk_i,
  input logic                  rst_ni,

  input logic                  in_valid_i,
  input logic                  in_ready_o,
  input logic [DataWidth-1:0]  in_data_i,
  input logic [CountWidth-1:0] in_bytes_i,
  input logic                  in_sop_i,
  input logic                  in_eop_i,
  input srv6_encap_meta_t      in_meta_i,

  input logic                  out_valid_o,
  input logic                  out_ready_i,
  input logic [DataWidth-1:0]  out_data_o,
  input logic [CountWidth-1:0] out_bytes_o,
  input logic                  out_sop_o,
  input logic                  out_eop_o,

  // Of the packet that begins, if none is followed: it is, and at this byte.
  input logic                  follow_i,
  input logic [15:0]           position_i
);

  /* verilator coverage_off */
  localparam int unsigned MostInside  = DataSheetCycles ? 8 : 64;  // packets
  localparam int unsigned PlaceWidth  = $clog2(MostInside);
  localparam int unsigned InsideWidth = PlaceWidth + 1;
  localparam int unsigned LeastWithIcrc = 60;  // IPv6, UDP and BTH
  localparam int unsigned HeaderBytes = 64;

  typedef logic [LengthWidth-1:0] length_t;

  logic in_taken, out_taken, in_ends, out_ends;
  assign in_taken  = rst_ni && in_valid_i && in_ready_o;
  assign out_taken = rst_ni && out_valid_o && out_ready_i;
  assign in_ends   = in_taken && in_eop_i;
  assign out_ends  = out_taken && out_eop_o;

  // Bytes of the packet that enters, of the one that leaves, and of those that are inside, as they will leave.
  logic    in_packet_q, out_packet_q;
  length_t in_count_q, out_count_q, in_total, out_total, added;
  length_t [MostInside-1:0] size_q;
  logic [InsideWidth-1:0]   inside_q;
  logic    srh, icrc, srh_q, icrc_q;  // of the packet that enters
  assign srh       = in_sop_i ? in_meta_i.srh : srh_q;
  assign icrc      = in_sop_i ? in_meta_i.icrc : icrc_q;
  assign added     = (srh ? length_t'(64) : length_t'(40)) + (icrc ? length_t'(4) : length_t'(0));
  assign in_total  = in_count_q + length_t'(in_bytes_i);
  assign out_total = out_count_q + length_t'(out_bytes_o);

  // The packet that is followed: which of those inside it is (0 is the next to leave), its headers, and one byte.
  logic                   followed_q, enters_q, known_q;
  logic [InsideWidth-1:0] ahead_q;
  length_t                shift_q, position_q, position, leaves_at;
  logic [7:0]             value_q;
  logic [HeaderBytes-1:0][7:0] header_q, header;
  logic                   starts, looks, found;
  assign starts    = in_taken && in_sop_i && follow_i && !followed_q;
  assign looks     = in_taken && (starts || enters_q);
  assign position  = starts ? length_t'(position_i) : position_q;
  assign found     = looks && position >= in_count_q && position < in_total;
  assign leaves_at = position_q + shift_q;

  // Byte by byte on the wire: IPv6 (RFC 8200), the segment routing header (RFC 8754), and the carrier in both.
  function automatic logic [7:0] carrier_byte(usid_template_t path, logic [2:0] plane, logic [10:0] uplink,
                                              logic [3:0] at);
    logic [2:0]  index;
    logic [15:0] usid;
    index = 3'((at - 4'd4) >> 1);
    usid  = (index < 3'(MostUsids)) ? path.usid[index] : '0;
    usid  = usid | (16'(plane) << 13);
    if (index == path.uplink_position) usid = usid | 16'(uplink);
    if (at < 4'd4) return path.locator[8*(3-32'(at))+:8];
    if (index >= path.count) return 8'd0;
    return at[0] ? usid[7:0] : usid[15:8];
  endfunction
  /* verilator lint_off UNUSEDSIGNAL */  // meta.icrc: no header says so
  function automatic logic [7:0] header_byte(srv6_encap_meta_t meta, logic [5:0] at);
    /* verilator lint_on UNUSEDSIGNAL */
    case (at)
      6'd0: return {4'd6, meta.dscp[5:2]};
      6'd1: return {meta.dscp[1:0], meta.ecn, meta.flow_label[19:16]};
      6'd2: return meta.flow_label[15:8];
      6'd3: return meta.flow_label[7:0];
      6'd4: return meta.payload_length[15:8];
      6'd5: return meta.payload_length[7:0];
      6'd6: return meta.srh ? 8'd43 : 8'd41;
      6'd7: return meta.hop_limit;
      6'd40: return 8'd41;
      6'd41: return 8'd2;
      6'd42: return 8'd4;
      6'd43, 6'd44, 6'd45, 6'd46, 6'd47: return 8'd0;
      default: ;
    endcase
    if (at < 6'd24) return meta.source[8*(23-32'(at))+:8];
    return carrier_byte(meta.path, meta.plane, meta.uplink, 4'(at < 6'd40 ? at - 6'd24 : at - 6'd48));
  endfunction
  always_comb begin
    for (int unsigned i = 0; i < HeaderBytes; i++) header[i] = header_byte(in_meta_i, 6'(i));
  end

  logic                  in_held_q, in_held_sop_q, in_held_eop_q;
  logic [DataWidth-1:0]  in_held_data_q;
  logic [CountWidth-1:0] in_held_bytes_q;
  srv6_encap_meta_t      in_held_meta_q;
  logic                  held_q, held_sop_q, held_eop_q;
  logic [DataWidth-1:0]  held_data_q;
  logic [CountWidth-1:0] held_bytes_q;

  always_ff @(posedge clk_i) begin
    if (in_taken && in_sop_i) begin
      srh_q  <= in_meta_i.srh;
      icrc_q <= in_meta_i.icrc;
    end
    if (out_ends) size_q <= {length_t'(0), size_q[MostInside-1:1]};
    if (in_ends) size_q[PlaceWidth'(inside_q - InsideWidth'(out_ends))] <= in_total + added;
    if (starts) begin
      position_q <= length_t'(position_i);
      shift_q    <= srh ? length_t'(64) : length_t'(40);
      header_q   <= header;
    end
    if (found) value_q <= in_data_i[8*CountWidth'(position-in_count_q)+:8];
    in_held_data_q  <= in_data_i;
    in_held_bytes_q <= in_bytes_i;
    in_held_sop_q   <= in_sop_i;
    in_held_eop_q   <= in_eop_i;
    in_held_meta_q  <= in_meta_i;
    held_data_q     <= out_data_o;
    held_bytes_q    <= out_bytes_o;
    held_sop_q      <= out_sop_o;
    held_eop_q      <= out_eop_o;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_packet_q  <= 1'b0;
      out_packet_q <= 1'b0;
      in_count_q   <= '0;
      out_count_q  <= '0;
      inside_q     <= '0;
      followed_q   <= 1'b0;
      enters_q     <= 1'b0;
      known_q      <= 1'b0;
      ahead_q      <= '0;
      in_held_q    <= 1'b0;
      held_q       <= 1'b0;
    end else begin
      if (in_taken) begin
        in_packet_q <= !in_eop_i;
        in_count_q  <= in_eop_i ? '0 : in_total;
      end
      if (out_taken) begin
        out_packet_q <= !out_eop_o;
        out_count_q  <= out_eop_o ? '0 : out_total;
      end
      inside_q <= inside_q + InsideWidth'(in_ends) - InsideWidth'(out_ends);
      if (starts) begin
        followed_q <= 1'b1;
        ahead_q    <= inside_q - InsideWidth'(out_ends);
      end else if (followed_q && out_ends) begin
        ahead_q <= ahead_q - InsideWidth'(1);
        if (ahead_q == '0) begin
          followed_q <= 1'b0;
          known_q    <= 1'b0;
        end
      end
      if (looks) enters_q <= !in_eop_i;
      if (found) known_q <= 1'b1;
      in_held_q <= in_valid_i && !in_ready_o;
      held_q    <= out_valid_o && !out_ready_i;

      // The contract of the input.
      if (in_valid_i) begin
        contract_packets_whole: assume (in_sop_i == !in_packet_q);
        contract_beat_size: assume (in_bytes_i != '0 && in_bytes_i <= CountWidth'(DataBytes));
        contract_full_unless_last: assume (in_eop_i || in_bytes_i == CountWidth'(DataBytes));
        if (icrc && in_eop_i) contract_icrc_has_headers: assume (in_total >= length_t'(LeastWithIcrc));
        if (in_sop_i) contract_usids: assume (in_meta_i.path.count != 3'd0 && in_meta_i.path.count != 3'd7);
      end
      if (in_held_q) begin
        contract_beat_stays: assume (in_valid_i && in_data_i == in_held_data_q && in_bytes_i == in_held_bytes_q);
        contract_flags_stay: assume (in_sop_i == in_held_sop_q && in_eop_i == in_held_eop_q);
        if (in_sop_i) contract_meta_stays: assume (in_meta_i == in_held_meta_q);
      end

      // An offered beat stays as it is until it is taken.
      if (held_q) begin
        beat_stays_valid: assert (out_valid_o);
        beat_data_stays: assert (out_data_o == held_data_q && out_bytes_o == held_bytes_q);
        beat_flags_stay: assert (out_sop_o == held_sop_q && out_eop_o == held_eop_q);
      end
      if (out_valid_o) begin
        // Every beat but the last is full, and none is empty.
        beat_size: assert (out_bytes_o != '0 && out_bytes_o <= CountWidth'(DataBytes));
        beat_full_unless_last: assert (out_eop_o || out_bytes_o == CountWidth'(DataBytes));
        // Packets do not mix.
        packets_do_not_mix: assert (out_sop_o == !out_packet_q);
        // No packet is lost, none comes twice, none leaves before it is in, and each is longer by what was put to it.
        if (out_eop_o) packet_length: assert (inside_q != '0 && out_total == size_q[0]);
      end
      packets_inside_bound: assert (inside_q < InsideWidth'(MostInside));
      // A byte leaves as many places behind where it came in as the headers have.
      if (out_valid_o && known_q && ahead_q == '0 && out_count_q <= leaves_at && out_total > leaves_at) begin
        byte_in_its_place: assert (out_data_o[8*CountWidth'(leaves_at-out_count_q)+:8] == value_q);
      end
      // The headers are in front of it, and say what came with it.
      if (out_valid_o && out_sop_o && followed_q && ahead_q == '0) begin
        header_as_given: assert (out_data_o[0+:8*40] == header_q[39:0]);
        if (shift_q == length_t'(64)) srh_as_given: assert (out_data_o[8*40+:8*24] == header_q[63:40]);
      end
    end
  end

endmodule
