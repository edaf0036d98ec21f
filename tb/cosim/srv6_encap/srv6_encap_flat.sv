// srv6_encap with the fields of its metadata as ports, so that C++ sets them by name.
// verilator coverage_off
module srv6_encap_flat
  import mrc_pkg::*;
#(
  parameter  int unsigned DataWidth  = 1024,
  localparam int unsigned CountWidth = $clog2(DataWidth / 8 + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  in_valid_i,
  output logic                  in_ready_o,
  input  logic [DataWidth-1:0]  in_data_i,
  input  logic [CountWidth-1:0] in_bytes_i,
  input  logic                  in_sop_i,
  input  logic                  in_eop_i,
  input  logic [31:0]           locator_i,
  input  logic [95:0]           usid_i,
  input  logic [2:0]            usid_count_i,
  input  logic [2:0]            uplink_position_i,
  input  logic [127:0]          source_i,
  input  logic [19:0]           flow_label_i,
  input  logic [10:0]           uplink_i,
  input  logic [15:0]           payload_length_i,
  input  logic [2:0]            plane_i,
  input  logic [7:0]            hop_limit_i,
  input  logic [5:0]            dscp_i,
  input  logic [1:0]            ecn_i,
  input  logic                  srh_i,
  input  logic                  icrc_i,
  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output logic [DataWidth-1:0]  out_data_o,
  output logic [CountWidth-1:0] out_bytes_o,
  output logic                  out_sop_o,
  output logic                  out_eop_o
);

  srv6_encap_meta_t meta;
  assign meta = '{
    path: '{locator: locator_i, usid: usid_i, count: usid_count_i, uplink_position: uplink_position_i},
    source: source_i,
    flow_label: flow_label_i,
    uplink: uplink_i,
    payload_length: payload_length_i,
    plane: plane_i,
    hop_limit: hop_limit_i,
    dscp: dscp_i,
    ecn: ecn_i,
    srh: srh_i,
    icrc: icrc_i
  };

  srv6_encap #(.DataWidth(DataWidth)) u_srv6_encap (
    .clk_i, .rst_ni,
    .in_valid_i, .in_ready_o, .in_data_i, .in_bytes_i, .in_sop_i, .in_eop_i, .in_meta_i(meta),
    .out_valid_o, .out_ready_i, .out_data_o, .out_bytes_o, .out_sop_o, .out_eop_o
  );

endmodule
