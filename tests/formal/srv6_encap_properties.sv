// What srv6_encap promises about its streams (rtl/srv6_encap/README.md), for every input that keeps the contract.
// Proved at the smallest legal width, which has every corner case, for packets of up to two beats with and without SRH and ICRC.
// What an ICRC is worth is not part of it.
// steps: 11
// reached: all
// finds: srh_length_in_bytes usid_shifted
module srv6_encap_properties
  import mrc_pkg::*;
#(
  parameter  int unsigned DataWidth  = 512,
  localparam int unsigned DataBytes  = DataWidth / 8,
  localparam int unsigned CountWidth = $clog2(DataBytes + 1)
) (
  input  logic                  clk_i,
  input  logic                  in_valid_i,
  input  logic [DataWidth-1:0]  in_data_i,
  input  logic [CountWidth-1:0] in_bytes_i,
  input  logic                  in_eop_i,
  input  srv6_encap_meta_t      in_meta_i,
  input  logic                  out_ready_i,
  // Any packet, any byte of it and any of its headers: what is proved of these is proved of all.
  input  logic                  follow_i,
  input  logic [15:0]           position_i,
  input  logic [5:0]            header_position_i
);

  localparam int unsigned MostBytes  = 2 * DataBytes;  // of a packet, so that counters stay small
  localparam int unsigned MostInside = 8;              // packets

  logic rst_ni = 1'b0;
  logic in_packet_q = 1'b0;
  logic in_sop;
  assign in_sop = !in_packet_q;

  logic                  in_ready_o, out_valid_o, out_sop_o, out_eop_o;
  logic [DataWidth-1:0]  out_data_o;
  logic [CountWidth-1:0] out_bytes_o;
  srv6_encap #(.DataWidth(DataWidth)) dut (
    .clk_i, .rst_ni, .in_valid_i, .in_ready_o, .in_data_i, .in_bytes_i, .in_sop_i(in_sop), .in_eop_i, .in_meta_i,
    .out_valid_o, .out_ready_i, .out_data_o, .out_bytes_o, .out_sop_o, .out_eop_o
  );

  logic in_taken, out_taken;
  assign in_taken  = rst_ni && in_valid_i && in_ready_o;
  assign out_taken = rst_ni && out_valid_o && out_ready_i;

  // Bytes of the packet that enters, of the one that leaves, and of those that are inside, as they will leave.
  logic [15:0]      in_count_q  = '0;
  logic [15:0]      out_count_q = '0;
  logic [MostInside-1:0][15:0] size_q = '0;
  logic [3:0]       inside_q    = '0;
  logic             srh_q = 1'b0, icrc_q = 1'b0;  // of the packet that enters
  logic             srh, icrc;
  assign srh  = in_sop ? in_meta_i.srh : srh_q;
  assign icrc = in_sop ? in_meta_i.icrc : icrc_q;
  logic             out_packet_q = 1'b0;
  logic [15:0]      in_total, out_total;
  assign in_total  = in_count_q + 16'(in_bytes_i);
  assign out_total = out_count_q + 16'(out_bytes_o);

  logic in_ends, out_ends;
  assign in_ends  = in_taken && in_eop_i;
  assign out_ends = out_taken && out_eop_o;

  // The byte that is followed: in which packet inside it is (0 is the next to leave), and what it was.
  logic       followed_q = 1'b0;
  logic       enters_q   = 1'b0;  // its beats
  logic       known_q    = 1'b0;
  logic [3:0] ahead_q    = '0;
  logic [15:0] shift_q   = '0;  // bytes that were put before it
  logic [7:0] value_q    = '0;
  logic [15:0] position_q = '0;
  logic       starts, looks, found;
  logic [15:0] position;
  assign starts   = in_taken && in_sop && follow_i && !followed_q;
  assign looks    = in_taken && (starts || enters_q);
  assign position = starts ? position_i : position_q;
  assign found    = looks && position >= in_count_q && position < in_total;

  // Byte by byte on the wire: IPv6 (RFC 8200), the segment routing header (RFC 8754), and the carrier in both.
  function automatic logic [7:0] carrier_byte(srv6_encap_meta_t meta, logic [3:0] at);
    logic [2:0]  index;
    logic [15:0] usid;
    index = 3'((at - 4'd4) >> 1);
    usid  = 16'(meta.path.usid >> (16 * index)) | (16'(meta.plane) << 13);
    if (index == meta.path.uplink_position) usid = usid | 16'(meta.uplink);
    if (at < 4'd4) return 8'(meta.path.locator >> (8 * (3 - at)));
    if (index >= meta.path.count) return 8'd0;
    return at[0] ? usid[7:0] : usid[15:8];
  endfunction
  function automatic logic [7:0] header_byte(srv6_encap_meta_t meta, logic [5:0] at);
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
    if (at < 6'd24) return 8'(meta.source >> (8 * (23 - at)));
    return carrier_byte(meta, 4'(at < 6'd40 ? at - 6'd24 : at - 6'd48));
  endfunction
  logic [5:0] header_position_q = '0;
  logic [7:0] header_value_q = '0;

  logic                  held_q = 1'b0;
  logic [DataWidth-1:0]  held_data_q;
  logic [CountWidth-1:0] held_bytes_q;
  logic                  held_sop_q, held_eop_q;

  always_ff @(posedge clk_i) begin
    rst_ni <= 1'b1;
    if (in_taken) begin
      in_packet_q <= !in_eop_i;
      in_count_q  <= in_eop_i ? '0 : in_total;
    end
    if (out_taken) begin
      out_packet_q <= !out_eop_o;
      out_count_q  <= out_eop_o ? '0 : out_total;
    end
    if (in_taken && in_sop) begin
      srh_q  <= in_meta_i.srh;
      icrc_q <= in_meta_i.icrc;
    end
    if (out_ends) size_q <= {16'b0, size_q[MostInside-1:1]};
    if (in_ends) size_q[3'(inside_q - 4'(out_ends))] <= in_total + (srh ? 16'd64 : 16'd40) + (icrc ? 16'd4 : 16'd0);
    inside_q <= inside_q + 4'(in_ends) - 4'(out_ends);

    if (starts) begin
      followed_q        <= 1'b1;
      position_q        <= position_i;
      header_position_q <= header_position_i;
      header_value_q    <= header_byte(in_meta_i, header_position_i);
      ahead_q           <= inside_q - 4'(out_ends);
      shift_q           <= srh ? 16'd64 : 16'd40;
    end else if (followed_q && out_ends) begin
      ahead_q <= ahead_q - 4'd1;
      if (ahead_q == 4'd0) begin
        followed_q <= 1'b0;
        known_q    <= 1'b0;
      end
    end
    if (looks) enters_q <= !in_eop_i;
    if (found) begin
      known_q <= 1'b1;
      value_q <= in_data_i[8*(position-in_count_q)+:8];
    end

    held_q       <= rst_ni && out_valid_o && !out_ready_i;
    held_data_q  <= out_data_o;
    held_bytes_q <= out_bytes_o;
    held_sop_q   <= out_sop_o;
    held_eop_q   <= out_eop_o;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // The contract of the input.
      if (in_valid_i) begin
        assume (in_bytes_i != '0 && in_bytes_i <= CountWidth'(DataBytes));
        assume (in_eop_i || in_bytes_i == CountWidth'(DataBytes));
        assume (in_total <= 16'(MostBytes));
        assume (!icrc || !in_eop_i || in_total >= 16'd60);
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
        if (out_eop_o) packet_length: assert (inside_q != 4'd0 && out_total == size_q[0]);
      end
      packets_inside_bound: assert (inside_q < 4'(MostInside));
      // Any byte leaves as many places behind where it came in as the headers have.
      if (out_valid_o && known_q && ahead_q == 4'd0 && out_count_q <= position_q + shift_q &&
          out_total > position_q + shift_q) begin
        byte_in_its_place: assert (out_data_o[8*(position_q + shift_q - out_count_q)+:8] == value_q);
      end
      // The headers are in front of it, and say what came with it.
      if (out_valid_o && out_sop_o && followed_q && ahead_q == 4'd0 && 16'(header_position_q) < shift_q) begin
        header_as_given: assert (out_data_o[8*header_position_q+:8] == header_value_q);
      end
    end
  end

endmodule
