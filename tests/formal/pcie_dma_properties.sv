// Proves rtl/pcie_dma/assertions/pcie_dma_assertions.sv for every input that keeps the contract there. Any read number is followed:
// what is proved of its reads is proved of all. Proved with two tags and two reads under way, transfers of up to 300 bytes (so up
// to four TLPs each), every MRRS and MPS.
// steps: 11
// reached: all
// finds: block_of_2k poison_forgotten second_copy_taken
module pcie_dma_properties
  import mrc_pkg::*;
#(
  localparam int unsigned Tags        = 2,
  localparam int unsigned Jobs        = 2,
  localparam int unsigned BufferBytes = 300,
  localparam int unsigned LengthWidth = 9,
  localparam int unsigned BufferWidth = $clog2(BufferBytes + 1)
) (
  input  logic                   clk_i,
  input  logic [3:0]             any_mrrs_log2_i,
  input  logic [3:0]             any_mps_log2_i,
  input  logic                   rd_valid_i,
  input  logic [63:0]            rd_address_i,
  input  logic [LengthWidth-1:0] rd_bytes_i,
  input  logic                   rd_job_i,
  input  logic                   rd_in_order_i,
  input  logic                   np_credit_i,
  input  logic                   req_ready_i,
  input  logic                   cpl_valid_i,
  input  logic                   cpl_tag_i,
  input  logic [12:0]            cpl_bytes_i,
  input  logic [12:0]            cpl_byte_count_i,
  input  logic                   cpl_poisoned_i,
  input  logic                   expire_valid_i,
  input  logic                   expire_tag_i,
  input  logic                   release_valid_i,
  input  logic [BufferWidth-1:0] release_bytes_i,
  input  logic                   ordered_ready_i,
  input  logic                   loose_ready_i,
  input  logic                   wr_valid_i,
  input  logic [63:0]            wr_address_i,
  input  logic [LengthWidth-1:0] wr_bytes_i,
  input  logic                   tlp_ready_i,
  input  logic                   any_job_i
);

  logic       rst_ni = 1'b0;
  logic [3:0] mrrs_log2_i, mps_log2_i;
  logic       followed_i;
  always_ff @(posedge clk_i) begin
    rst_ni <= 1'b1;
    if (!rst_ni) begin
      mrrs_log2_i <= any_mrrs_log2_i;
      mps_log2_i  <= any_mps_log2_i;
      followed_i  <= any_job_i;
    end
  end

  logic                   rd_ready_o, req_valid_o, req_tag_o, req_job_o, req_retry_o, verdict_valid_o, verdict_tag_o;
  logic                   expire_ready_o, ordered_valid_o, ordered_job_o, loose_valid_o, loose_job_o, wr_ready_o;
  logic                   tlp_valid_o, tlp_last_o, stall_tags_o, stall_buffer_o;
  logic [63:0]            req_address_o, tlp_address_o;
  logic [12:0]            req_bytes_o, tlp_bytes_o;
  logic [BufferWidth-1:0] buffer_used_o;
  cpl_verdict_e           verdict_o;

  pcie_dma #(.Tags(Tags), .Jobs(Jobs), .BufferBytes(BufferBytes), .LengthWidth(LengthWidth)) dut (.*);
  pcie_dma_assertions #(.Tags(Tags), .Jobs(Jobs), .BufferBytes(BufferBytes), .LengthWidth(LengthWidth)) u_assertions (.*);

  always_ff @(posedge clk_i) begin
    if (rst_ni && wr_valid_i) assume (32'(wr_bytes_i) <= BufferBytes);
  end

endmodule
