// What pcie_dma promises (rtl/pcie_dma/README.md) for every input that keeps the contract: what is offered stays, no byte of a
// read or write is asked for twice or not at all, a tag is never given out while its request waits, each read is reported once
// and not before it is asked for, the completion buffer is never overbooked. Proved at the smallest sizes.
// steps: 6
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
  input  logic                   tlp_ready_i
);

  logic rst_ni = 1'b0;

  logic                   rd_ready_o, req_valid_o, req_tag_o, req_job_o, req_retry_o, verdict_valid_o, verdict_tag_o;
  logic                   expire_ready_o, ordered_valid_o, ordered_job_o, loose_valid_o, loose_job_o, wr_ready_o;
  logic                   tlp_valid_o, tlp_last_o, stall_tags_o, stall_buffer_o;
  logic [63:0]            req_address_o, tlp_address_o;
  logic [12:0]            req_bytes_o, tlp_bytes_o;
  logic [BufferWidth-1:0] buffer_used_o;
  cpl_verdict_e           verdict_o;

  pcie_dma #(.Tags(Tags), .Jobs(Jobs), .BufferBytes(BufferBytes), .LengthWidth(LengthWidth)) dut (
    .clk_i, .rst_ni, .mrrs_log2_i(4'd7), .mps_log2_i(4'd7), .rd_valid_i, .rd_ready_o, .rd_address_i, .rd_bytes_i,
    .rd_job_i, .rd_in_order_i, .np_credit_i, .req_valid_o, .req_ready_i, .req_address_o, .req_bytes_o, .req_tag_o,
    .req_job_o, .req_retry_o, .cpl_valid_i, .cpl_tag_i, .cpl_bytes_i, .cpl_byte_count_i, .cpl_poisoned_i,
    .verdict_valid_o, .verdict_o, .verdict_tag_o, .expire_valid_i, .expire_ready_o, .expire_tag_i, .release_valid_i,
    .release_bytes_i, .ordered_valid_o, .ordered_ready_i, .ordered_job_o, .loose_valid_o, .loose_ready_i, .loose_job_o,
    .wr_valid_i, .wr_ready_o, .wr_address_i, .wr_bytes_i, .tlp_valid_o, .tlp_ready_i, .tlp_address_o, .tlp_bytes_o,
    .tlp_last_o, .stall_tags_o, .stall_buffer_o, .buffer_used_o
  );

  logic rd_taken, req_taken, ordered_taken, loose_taken, wr_taken, tlp_taken, expire_taken;
  assign rd_taken      = rd_valid_i && rd_ready_o;
  assign req_taken     = req_valid_o && req_ready_i;
  assign ordered_taken = ordered_valid_o && ordered_ready_i;
  assign loose_taken   = loose_valid_o && loose_ready_i;
  assign wr_taken      = wr_valid_i && wr_ready_o;
  assign tlp_taken     = tlp_valid_o && tlp_ready_i;
  assign expire_taken  = expire_valid_i && expire_ready_o;

  // Tags whose request has left and waits; reads that are under way; bytes that are not asked for, or not written, yet.
  logic [1:0]  waits_q = '0;
  logic [1:0]  busy_q  = '0;
  logic [15:0] to_ask_q = '0;
  logic [15:0] to_write_q = '0;
  logic        expired_q = 1'b0;
  logic        expired_tag_q = 1'b0;
  // The next address of the write that is cut.
  logic        inside_q = 1'b0;
  logic [63:0] next_q = '0;

  logic         held_req_q = 1'b0, held_ordered_q = 1'b0, held_loose_q = 1'b0, held_tlp_q = 1'b0;
  logic [79:0]  req_q;
  logic         ordered_job_q, loose_job_q;
  logic [77:0]  tlp_q;

  always_ff @(posedge clk_i) begin
    rst_ni <= 1'b1;
    if (rst_ni) begin
      if (req_taken) waits_q[req_tag_o] <= 1'b1;
      if (verdict_valid_o && verdict_o == CplComplete) waits_q[verdict_tag_o] <= 1'b0;
      if (expired_q) waits_q[expired_tag_q] <= 1'b0;
      expired_q     <= expire_taken;
      expired_tag_q <= expire_tag_i;
      if (ordered_taken) busy_q[ordered_job_o] <= 1'b0;
      if (loose_taken) busy_q[loose_job_o] <= 1'b0;
      if (rd_taken) busy_q[rd_job_i] <= 1'b1;
      to_ask_q   <= to_ask_q + (rd_taken ? 16'(rd_bytes_i) : '0) - (req_taken && !req_retry_o ? 16'(req_bytes_o) : '0);
      to_write_q <= to_write_q + (wr_taken ? 16'(wr_bytes_i) : '0) - (tlp_taken ? 16'(tlp_bytes_o) : '0);
      if (tlp_taken) begin
        inside_q <= !tlp_last_o;
        next_q   <= tlp_address_o + 64'(tlp_bytes_o);
      end
      held_req_q     <= req_valid_o && !req_ready_i;
      req_q          <= {req_address_o, req_bytes_o, req_tag_o, req_job_o, req_retry_o};
      held_ordered_q <= ordered_valid_o && !ordered_ready_i;
      ordered_job_q  <= ordered_job_o;
      held_loose_q   <= loose_valid_o && !loose_ready_i;
      loose_job_q    <= loose_job_o;
      held_tlp_q     <= tlp_valid_o && !tlp_ready_i;
      tlp_q          <= {tlp_address_o, tlp_bytes_o, tlp_last_o};
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // The contract of the input.
      if (rd_valid_i) assume (rd_bytes_i != '0 && rd_bytes_i <= LengthWidth'(BufferBytes) && !busy_q[rd_job_i]);
      if (wr_valid_i) assume (wr_bytes_i != '0);
      if (release_valid_i) assume (release_bytes_i <= buffer_used_o);
      if (cpl_valid_i) begin
        assume (waits_q[cpl_tag_i] && !(expired_q && expired_tag_q == cpl_tag_i));
        assume (!(verdict_valid_o && verdict_o == CplComplete && verdict_tag_o == cpl_tag_i));
        assume (cpl_bytes_i != '0 && cpl_bytes_i <= cpl_byte_count_i);
      end
      if (expire_valid_i) begin
        assume (waits_q[expire_tag_i] && !(expired_q && expired_tag_q == expire_tag_i));
        assume (!(verdict_valid_o && verdict_o == CplComplete && verdict_tag_o == expire_tag_i));
      end

      // What is offered stays until it is taken.
      if (held_req_q) assert (req_valid_o && req_q == {req_address_o, req_bytes_o, req_tag_o, req_job_o, req_retry_o});
      if (held_ordered_q) assert (ordered_valid_o && ordered_job_q == ordered_job_o);
      if (held_loose_q) assert (loose_valid_o && loose_job_q == loose_job_o);
      if (held_tlp_q) assert (tlp_valid_o && tlp_q == {tlp_address_o, tlp_bytes_o, tlp_last_o});

      if (req_valid_o) begin
        // A tag is never given out while its request waits.
        assert (!waits_q[req_tag_o] || (expired_q && expired_tag_q == req_tag_o) ||
                (verdict_valid_o && verdict_o == CplComplete && verdict_tag_o == req_tag_o));
        // No request crosses a multiple of MRRS, none is empty, none asks for what nobody wanted.
        assert (req_bytes_o != '0 && {6'b0, req_address_o[6:0]} + req_bytes_o <= 13'd128);
        if (!req_retry_o) assert (16'(req_bytes_o) <= to_ask_q);
        assert (busy_q[req_job_o]);
      end
      if (tlp_valid_o) begin
        // Nor a write TLP, and the TLPs of a write follow each other without a gap.
        assert (tlp_bytes_o != '0 && {6'b0, tlp_address_o[6:0]} + tlp_bytes_o <= 13'd128);
        assert (16'(tlp_bytes_o) <= to_write_q);
        if (inside_q) assert (tlp_address_o == next_q);
      end
      // Each read is reported once, by one of the two streams.
      if (ordered_valid_o) assert (busy_q[ordered_job_o]);
      if (loose_valid_o) assert (busy_q[loose_job_o]);
      if (ordered_valid_o && loose_valid_o) assert (ordered_job_o != loose_job_o);
      assert (buffer_used_o <= BufferWidth'(BufferBytes));
      // What waits for a tag does not wait for room, and the other way round.
      assert (!(stall_tags_o && stall_buffer_o));
    end
  end

endmodule
