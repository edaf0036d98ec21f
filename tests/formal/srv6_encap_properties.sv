// What srv6_encap promises about its streams (rtl/srv6_encap/assertions), for every input that keeps the contract. Proved at the
// smallest legal width, which has every corner case, for packets of up to two beats with and without SRH and ICRC; any packet is
// followed, and any byte of it.
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
  input  logic                  in_sop_i,
  input  logic                  in_eop_i,
  input  srv6_encap_meta_t      in_meta_i,
  input  logic                  out_ready_i,
  input  logic                  follow_i,
  input  logic [15:0]           position_i
);

  localparam int unsigned MostBytes   = 2 * DataBytes;  // of a packet, so that counters stay small
  localparam int unsigned LengthWidth = 16;

  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic                  in_ready_o, out_valid_o, out_sop_o, out_eop_o;
  logic [DataWidth-1:0]  out_data_o;
  logic [CountWidth-1:0] out_bytes_o;
  srv6_encap #(.DataWidth(DataWidth)) dut (.*);
  srv6_encap_assertions #(.DataWidth(DataWidth), .LengthWidth(LengthWidth)) u_assertions (.*);

  always_ff @(posedge clk_i) begin
    if (rst_ni && in_valid_i) assume (u_assertions.in_total <= LengthWidth'(MostBytes));
  end

endmodule
