// pcie_dma as C++ sees it.
module pcie_dma_flat #(
  parameter  int unsigned Tags        = 512,
  parameter  int unsigned Jobs        = 1024,
  parameter  int unsigned BufferBytes = 262144,
  parameter  int unsigned LengthWidth = 20,
  localparam int unsigned TagWidth    = $clog2(Tags),
  localparam int unsigned JobWidth    = $clog2(Jobs),
  localparam int unsigned BufferWidth = $clog2(BufferBytes + 1)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [3:0]             mrrs_log2_i,
  input  logic [3:0]             mps_log2_i,
  input  logic                   rd_valid_i,
  output logic                   rd_ready_o,
  input  logic [63:0]            rd_address_i,
  input  logic [LengthWidth-1:0] rd_bytes_i,
  input  logic [JobWidth-1:0]    rd_job_i,
  input  logic                   rd_in_order_i,
  input  logic                   np_credit_i,
  output logic                   req_valid_o,
  input  logic                   req_ready_i,
  output logic [63:0]            req_address_o,
  output logic [12:0]            req_bytes_o,
  output logic [TagWidth-1:0]    req_tag_o,
  output logic [JobWidth-1:0]    req_job_o,
  output logic                   req_retry_o,
  input  logic                   cpl_valid_i,
  input  logic [TagWidth-1:0]    cpl_tag_i,
  input  logic [12:0]            cpl_bytes_i,
  input  logic [12:0]            cpl_byte_count_i,
  input  logic                   cpl_poisoned_i,
  output logic                   verdict_valid_o,
  output logic [1:0]             verdict_o,
  output logic [TagWidth-1:0]    verdict_tag_o,
  input  logic                   expire_valid_i,
  output logic                   expire_ready_o,
  input  logic [TagWidth-1:0]    expire_tag_i,
  input  logic                   release_valid_i,
  input  logic [BufferWidth-1:0] release_bytes_i,
  output logic                   ordered_valid_o,
  input  logic                   ordered_ready_i,
  output logic [JobWidth-1:0]    ordered_job_o,
  output logic                   loose_valid_o,
  input  logic                   loose_ready_i,
  output logic [JobWidth-1:0]    loose_job_o,
  input  logic                   wr_valid_i,
  output logic                   wr_ready_o,
  input  logic [63:0]            wr_address_i,
  input  logic [LengthWidth-1:0] wr_bytes_i,
  output logic                   tlp_valid_o,
  input  logic                   tlp_ready_i,
  output logic [63:0]            tlp_address_o,
  output logic [12:0]            tlp_bytes_o,
  output logic                   tlp_last_o,
  output logic                   stall_tags_o,
  output logic                   stall_buffer_o,
  output logic [BufferWidth-1:0] buffer_used_o
);

  mrc_pkg::cpl_verdict_e verdict;
  assign verdict_o = verdict;

  pcie_dma #(.Tags(Tags), .Jobs(Jobs), .BufferBytes(BufferBytes), .LengthWidth(LengthWidth)) u_pcie_dma (
    .clk_i, .rst_ni, .mrrs_log2_i, .mps_log2_i, .rd_valid_i, .rd_ready_o, .rd_address_i, .rd_bytes_i, .rd_job_i,
    .rd_in_order_i, .np_credit_i, .req_valid_o, .req_ready_i, .req_address_o, .req_bytes_o, .req_tag_o, .req_job_o,
    .req_retry_o, .cpl_valid_i, .cpl_tag_i, .cpl_bytes_i, .cpl_byte_count_i, .cpl_poisoned_i, .verdict_valid_o,
    .verdict_o(verdict), .verdict_tag_o, .expire_valid_i, .expire_ready_o, .expire_tag_i, .release_valid_i,
    .release_bytes_i, .ordered_valid_o, .ordered_ready_i, .ordered_job_o, .loose_valid_o, .loose_ready_i,
    .loose_job_o, .wr_valid_i, .wr_ready_o, .wr_address_i, .wr_bytes_i, .tlp_valid_o, .tlp_ready_i, .tlp_address_o,
    .tlp_bytes_o, .tlp_last_o, .stall_tags_o, .stall_buffer_o, .buffer_used_o
  );

endmodule
