// What pcie_dma promises (rtl/pcie_dma/README.md), for every input that keeps the contract: completions of any length, byte count
// and order, poisoned, repeated or never sent; expiries at any time. Any read number is followed: what is proved of its reads is
// proved of all. Proved with two tags and two reads under way, transfers of up to 300 bytes (so up to four TLPs each), every MRRS
// and MPS.
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
  input  logic [3:0]             mrrs_log2_i,
  input  logic [3:0]             mps_log2_i,
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
  input  logic                   follow_job_i
);

  logic       rst_ni = 1'b0;
  logic [3:0] mrrs_log2_q, mps_log2_q;
  logic       job_q;  // the number that is followed

  logic                   rd_ready_o, req_valid_o, req_tag_o, req_job_o, req_retry_o, verdict_valid_o, verdict_tag_o;
  logic                   expire_ready_o, ordered_valid_o, ordered_job_o, loose_valid_o, loose_job_o, wr_ready_o;
  logic                   tlp_valid_o, tlp_last_o, stall_tags_o, stall_buffer_o;
  logic [63:0]            req_address_o, tlp_address_o;
  logic [12:0]            req_bytes_o, tlp_bytes_o;
  logic [BufferWidth-1:0] buffer_used_o;
  cpl_verdict_e           verdict_o;

  pcie_dma #(.Tags(Tags), .Jobs(Jobs), .BufferBytes(BufferBytes), .LengthWidth(LengthWidth)) dut (
    .clk_i, .rst_ni, .mrrs_log2_i(mrrs_log2_q), .mps_log2_i(mps_log2_q), .rd_valid_i, .rd_ready_o, .rd_address_i, .rd_bytes_i,
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

  typedef struct packed {
    logic [63:0] address;
    logic [12:0] bytes;
    logic        job;
  } request_t;

  // Tags whose request has left and waits, what that was, and what of it has come.
  logic     [Tags-1:0]       waits_q = '0;
  request_t [Tags-1:0]       request_q;
  logic     [Tags-1:0][12:0] received_q;
  logic     [Tags-1:0]       poisoned_q;
  // The completion, or the expiry, of the cycle before.
  logic        expired_q = 1'b0, tag_q, cpl_q = 1'b0, cpl_poisoned_q;
  logic [12:0] cpl_bytes_q, cpl_byte_count_q, owed;
  logic        known;
  cpl_verdict_e verdict;
  assign known = waits_q[tag_q];
  assign owed  = request_q[tag_q].bytes - received_q[tag_q];
  always_comb begin
    verdict = CplAccepted;
    if (!known || cpl_byte_count_q > owed) verdict = CplUnexpected;
    else if (cpl_byte_count_q < owed) verdict = CplBehindLoss;
    else if (cpl_bytes_q == owed) verdict = CplComplete;
  end
  logic completes, good, fails;
  assign completes = cpl_q && verdict == CplComplete;
  assign good      = completes && !poisoned_q[tag_q] && !cpl_poisoned_q;
  assign fails     = (completes && !good) || (expired_q && known);

  // Requests to make again, the oldest first.
  request_t [1:0] again_q = '0;
  logic     [1:0] agains_q = '0;
  logic           retried;
  assign retried = req_taken && req_retry_o;

  // Reads under way. Of the one that is followed: bytes that are not asked for, from where on, and that have not come; whether it
  // is reported in order, and an older one of these is under way; cycles since its last completion.
  logic [Jobs-1:0]        busy_q = '0, in_order_q;
  logic [LengthWidth-1:0] to_ask_q = '0, to_come_q = '0;
  logic [63:0]            ask_at_q;
  logic                   behind_q = 1'b0;
  logic [1:0]             since_q = '0;
  logic                   ours_asked, ours_ends, reported;
  assign ours_asked = req_valid_o && !req_retry_o && req_job_o == job_q;
  assign ours_ends  = good && request_q[tag_q].job == job_q;
  assign reported   = (ordered_taken && ordered_job_o == job_q) || (loose_taken && loose_job_o == job_q);

  // Room: what requests have reserved up to the one at the port, without what was released.
  logic [BufferWidth-1:0] used_q = '0, used;
  logic                   held_req_q = 1'b0;
  assign used = used_q + (req_valid_o && !held_req_q && !req_retry_o ? BufferWidth'(req_bytes_o) : '0);

  // Writes inside, the older one first: where their next TLP begins, and bytes left.
  logic [1:0][63:0]            write_at_q;
  logic [1:0][LengthWidth-1:0] write_left_q;
  logic [1:0]                  writes_q = '0;
  logic                        write_ends;
  assign write_ends = tlp_taken && 13'(write_left_q[0]) == tlp_bytes_o;

  logic         held_ordered_q = 1'b0, held_loose_q = 1'b0, held_tlp_q = 1'b0;
  logic [79:0]  req_q;
  logic         ordered_job_q, loose_job_q;
  logic [77:0]  tlp_q;

  always_ff @(posedge clk_i) begin
    rst_ni <= 1'b1;
    if (!rst_ni) begin
      mrrs_log2_q <= mrrs_log2_i;
      mps_log2_q  <= mps_log2_i;
      job_q       <= follow_job_i;
    end else begin
      cpl_q            <= cpl_valid_i;
      tag_q            <= cpl_valid_i ? cpl_tag_i : expire_tag_i;
      cpl_bytes_q      <= cpl_bytes_i;
      cpl_byte_count_q <= cpl_byte_count_i;
      cpl_poisoned_q   <= cpl_poisoned_i;
      expired_q        <= expire_taken;
      if (cpl_q && (verdict == CplAccepted || verdict == CplComplete)) begin
        received_q[tag_q] <= received_q[tag_q] + cpl_bytes_q;
        poisoned_q[tag_q] <= poisoned_q[tag_q] || cpl_poisoned_q;
      end
      if (completes || expired_q) waits_q[tag_q] <= 1'b0;
      if (req_taken) begin
        waits_q[req_tag_o]    <= 1'b1;
        request_q[req_tag_o]  <= '{address: req_address_o, bytes: req_bytes_o, job: req_job_o};
        received_q[req_tag_o] <= '0;
        poisoned_q[req_tag_o] <= 1'b0;
      end
      if (retried) again_q[0] <= again_q[1];
      if (fails) again_q[1'(agains_q - 2'(retried))] <= request_q[tag_q];
      agains_q <= agains_q + 2'(fails) - 2'(retried);

      if (ordered_taken) busy_q[ordered_job_o] <= 1'b0;
      if (loose_taken) busy_q[loose_job_o] <= 1'b0;
      if (ordered_taken && ordered_job_o != job_q) behind_q <= 1'b0;
      if (rd_taken) begin
        busy_q[rd_job_i]     <= 1'b1;
        in_order_q[rd_job_i] <= rd_in_order_i;
      end
      if (ours_asked && req_taken) begin
        to_ask_q <= to_ask_q - LengthWidth'(req_bytes_o);
        ask_at_q <= ask_at_q + 64'(req_bytes_o);
      end
      if (ours_ends) to_come_q <= to_come_q - LengthWidth'(request_q[tag_q].bytes);
      since_q <= (busy_q[job_q] && to_come_q == '0 && !reported) ? (since_q == '1 ? since_q : since_q + 1'b1) : '0;
      if (rd_taken && rd_job_i == job_q) begin
        to_ask_q  <= rd_bytes_i;
        to_come_q <= rd_bytes_i;
        ask_at_q  <= rd_address_i;
        behind_q  <= busy_q[!job_q] && in_order_q[!job_q] && !(ordered_taken && ordered_job_o != job_q);
      end
      used_q <= used - (release_valid_i ? release_bytes_i : '0);

      if (tlp_taken) begin
        write_at_q[0]   <= write_at_q[0] + 64'(tlp_bytes_o);
        write_left_q[0] <= write_left_q[0] - LengthWidth'(tlp_bytes_o);
      end
      if (write_ends) begin
        write_at_q[0]   <= write_at_q[1];
        write_left_q[0] <= write_left_q[1];
      end
      if (wr_taken) begin
        write_at_q[1'(writes_q - 2'(write_ends))]   <= wr_address_i;
        write_left_q[1'(writes_q - 2'(write_ends))] <= wr_bytes_i;
      end
      writes_q <= writes_q + 2'(wr_taken) - 2'(write_ends);

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

  logic [12:0] read_block, write_block;
  assign read_block  = 13'd1 << mrrs_log2_q;
  assign write_block = 13'd1 << mps_log2_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      assume (mrrs_log2_i >= 4'd7 && mrrs_log2_i <= 4'd12 && mps_log2_i >= 4'd7 && mps_log2_i <= 4'd12);
    end else begin
      // The contract of the input.
      if (rd_valid_i) assume (rd_bytes_i != '0 && rd_bytes_i <= LengthWidth'(BufferBytes) && !busy_q[rd_job_i]);
      if (wr_valid_i) assume (wr_bytes_i != '0 && wr_bytes_i <= LengthWidth'(BufferBytes));
      if (release_valid_i) assume (release_bytes_i <= buffer_used_o);
      // Completions and expiries are of tags whose request has left, or that nobody has: late second copies.
      if (cpl_valid_i) begin
        assume (waits_q[cpl_tag_i] || !((req_valid_o && req_tag_o == cpl_tag_i) || (dut.tag_take && dut.tag == cpl_tag_i)));
        assume (cpl_bytes_i != '0 && cpl_bytes_i <= cpl_byte_count_i);
      end
      if (expire_valid_i) begin
        assume (waits_q[expire_tag_i] ||
                !((req_valid_o && req_tag_o == expire_tag_i) || (dut.tag_take && dut.tag == expire_tag_i)));
      end

      // What is offered stays until it is taken.
      if (held_req_q) request_stays: assert (req_valid_o && req_q == {req_address_o, req_bytes_o, req_tag_o, req_job_o, req_retry_o});
      if (held_ordered_q) ordered_report_stays: assert (ordered_valid_o && ordered_job_q == ordered_job_o);
      if (held_loose_q) loose_report_stays: assert (loose_valid_o && loose_job_q == loose_job_o);
      if (held_tlp_q) tlp_stays: assert (tlp_valid_o && tlp_q == {tlp_address_o, tlp_bytes_o, tlp_last_o});

      if (req_valid_o) begin
        // A tag is never given out while its request waits.
        tag_is_free: assert (!waits_q[req_tag_o]);
        // No request is empty or crosses a multiple of MRRS, and each is of a read that is under way.
        request_within_block: assert (req_bytes_o != '0 && ({1'b0, req_address_o[11:0]} & (read_block - 13'd1)) + req_bytes_o <= read_block);
        request_of_read_under_way: assert (busy_q[req_job_o]);
        // Asked for again is what has failed, in that order, before anything new.
        if (req_retry_o) retries_in_order: assert (agains_q != '0 && again_q[0] == {req_address_o, req_bytes_o, req_job_o});
      end
      retries_bound: assert (agains_q <= 2'd2);
      // The requests of a read follow each other without a gap and end where it ends.
      if (ours_asked) requests_without_gap: assert (req_address_o == ask_at_q && 13'(to_ask_q) >= req_bytes_o);
      // A completion is what it is called.
      verdict_for_each_completion: assert (verdict_valid_o == cpl_q);
      if (cpl_q) verdict_is_right: assert (verdict_o == verdict && verdict_tag_o == tag_q);
      // No tag is lost: requests wait for one only while all are in use.
      if (stall_tags_o) no_tag_lost: assert ((waits_q | (Tags'(req_valid_o) << req_tag_o)) == '1);

      // A read is reported once, by the stream that it asked for, in its turn, when all its bytes have come and none was poisoned.
      if (ordered_valid_o) ordered_report_of_its_kind: assert (busy_q[ordered_job_o] && in_order_q[ordered_job_o]);
      if (loose_valid_o) loose_report_of_its_kind: assert (busy_q[loose_job_o] && !in_order_q[loose_job_o]);
      if (ordered_valid_o && ordered_job_o == job_q) ordered_report_when_whole: assert (to_ask_q == '0 && to_come_q == '0 && !behind_q);
      if (loose_valid_o && loose_job_o == job_q) loose_report_when_whole: assert (to_ask_q == '0 && to_come_q == '0);
      // None is forgotten: its report, or one before it, is at the output two cycles after its last verdict.
      if (since_q != '0 && !in_order_q[job_q]) loose_report_not_forgotten: assert (loose_valid_o);
      if (since_q != '0 && in_order_q[job_q] && !behind_q) ordered_report_not_forgotten: assert (ordered_valid_o && ordered_job_o == job_q);

      // The TLPs of a write are none too many, not empty, cross no multiple of MPS and follow each other without a gap.
      if (tlp_valid_o) begin
        tlps_without_gap: assert (writes_q != '0 && tlp_address_o == write_at_q[0] && tlp_last_o == (13'(write_left_q[0]) == tlp_bytes_o));
        tlp_not_empty: assert (tlp_bytes_o != '0 && tlp_bytes_o <= 13'(write_left_q[0]));
        tlp_within_block: assert (({1'b0, tlp_address_o[11:0]} & (write_block - 13'd1)) + tlp_bytes_o <= write_block);
      end

      // Requests reserve room, and never more than there is.
      room_is_counted: assert (buffer_used_o == used);
      room_bound: assert (buffer_used_o <= BufferWidth'(BufferBytes));
      // What waits for a tag does not wait for room, and the other way round.
      one_reason_to_wait: assert (!(stall_tags_o && stall_buffer_o));
    end
  end

endmodule
