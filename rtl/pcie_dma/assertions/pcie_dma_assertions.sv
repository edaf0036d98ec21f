// What pcie_dma promises at its ports (README.md), and what it asks of its inputs, for completions of any length, byte count and
// order, poisoned, repeated or never sent, and expiries at any time, as a checker to bind. What is assumed is the contract of the
// inputs: names that begin with contract_. One read number is followed: its reads are checked byte by byte, those of the others as
// far as their requests and verdicts go.
module pcie_dma_assertions
  import mrc_pkg::*;
#(
  parameter  int unsigned Tags            = 512,
  parameter  int unsigned Jobs            = 1024,
  parameter  int unsigned BufferBytes     = 262144,
  parameter  int unsigned LengthWidth     = 20,
  parameter  bit          DataSheetCycles = 1'b1,  // reports come in the cycle of the data sheet, and two writes fit
  localparam int unsigned TagWidth        = $clog2(Tags),
  localparam int unsigned JobWidth        = $clog2(Jobs),
  localparam int unsigned BufferWidth     = $clog2(BufferBytes + 1)
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic [3:0]             mrrs_log2_i,
  input logic [3:0]             mps_log2_i,
  input logic                   rd_valid_i,
  input logic                   rd_ready_o,
  input logic [63:0]            rd_address_i,
  input logic [LengthWidth-1:0] rd_bytes_i,
  input logic [JobWidth-1:0]    rd_job_i,
  input logic                   rd_in_order_i,
  input logic                   np_credit_i,
  input logic                   req_valid_o,
  input logic                   req_ready_i,
  input logic [63:0]            req_address_o,
  input logic [12:0]            req_bytes_o,
  input logic [TagWidth-1:0]    req_tag_o,
  input logic [JobWidth-1:0]    req_job_o,
  input logic                   req_retry_o,
  input logic                   cpl_valid_i,
  input logic [TagWidth-1:0]    cpl_tag_i,
  input logic [12:0]            cpl_bytes_i,
  input logic [12:0]            cpl_byte_count_i,
  input logic                   cpl_poisoned_i,
  input logic                   verdict_valid_o,
  input cpl_verdict_e           verdict_o,
  input logic [TagWidth-1:0]    verdict_tag_o,
  input logic                   expire_valid_i,
  input logic                   expire_ready_o,
  input logic [TagWidth-1:0]    expire_tag_i,
  input logic                   release_valid_i,
  input logic [BufferWidth-1:0] release_bytes_i,
  input logic                   ordered_valid_o,
  input logic                   ordered_ready_i,
  input logic [JobWidth-1:0]    ordered_job_o,
  input logic                   loose_valid_o,
  input logic                   loose_ready_i,
  input logic [JobWidth-1:0]    loose_job_o,
  input logic                   wr_valid_i,
  input logic                   wr_ready_o,
  input logic [63:0]            wr_address_i,
  input logic [LengthWidth-1:0] wr_bytes_i,
  input logic                   tlp_valid_o,
  input logic                   tlp_ready_i,
  input logic [63:0]            tlp_address_o,
  input logic [12:0]            tlp_bytes_o,
  input logic                   tlp_last_o,
  input logic                   stall_tags_o,
  input logic                   stall_buffer_o,
  input logic [BufferWidth-1:0] buffer_used_o,
  input logic [JobWidth-1:0]    followed_i  // a read number; changes only during reset
);

  /* verilator coverage_off */
  localparam int unsigned Places     = DataSheetCycles ? 2 : 64;  // of writes
  localparam int unsigned PlaceWidth = $clog2(Places + 1);

  logic rd_taken, req_taken, ordered_taken, loose_taken, wr_taken, tlp_taken;
  assign rd_taken      = rst_ni && rd_valid_i && rd_ready_o;
  assign req_taken     = rst_ni && req_valid_o && req_ready_i;
  assign ordered_taken = rst_ni && ordered_valid_o && ordered_ready_i;
  assign loose_taken   = rst_ni && loose_valid_o && loose_ready_i;
  assign wr_taken      = rst_ni && wr_valid_i && wr_ready_o;
  assign tlp_taken     = rst_ni && tlp_valid_o && tlp_ready_i;

  typedef struct packed {
    logic [63:0]         address;
    logic [12:0]         bytes;
    logic [JobWidth-1:0] job;
  } request_t;

  // A request has its tag from the cycle on in which it appears at the port.
  logic     appears, retried, req_held_q;
  request_t request;
  assign appears = rst_ni && req_valid_o && !req_held_q;
  assign retried = appears && req_retry_o;
  assign request = '{address: req_address_o, bytes: req_bytes_o, job: req_job_o};

  // Tags whose request waits, what that was, and what of it has come.
  logic     [Tags-1:0] waits_q, waits;
  request_t            request_q [Tags];
  logic     [12:0]     received_q [Tags];
  logic                poisoned_q [Tags];
  assign waits = waits_q | (Tags'(appears) << req_tag_o);

  // The completion, or the expiry, of the cycle before; the request of its tag; what of it is owed.
  logic                cpl_q, expired_q;
  logic [TagWidth-1:0] tag_q;
  logic [12:0]         cpl_bytes_q, cpl_byte_count_q, received, owed;
  logic                cpl_poisoned_q, is_new, known, poisoned;
  request_t            asked;
  cpl_verdict_e        verdict;
  assign is_new   = appears && req_tag_o == tag_q;
  assign asked    = is_new ? request : request_q[tag_q];
  assign received = is_new ? '0 : received_q[tag_q];
  assign poisoned = !is_new && poisoned_q[tag_q];
  assign known    = waits[tag_q];
  assign owed     = asked.bytes - received;
  always_comb begin
    verdict = CplAccepted;
    if (!known || cpl_byte_count_q > owed) verdict = CplUnexpected;
    else if (cpl_byte_count_q < owed) verdict = CplBehindLoss;
    else if (cpl_bytes_q == owed) verdict = CplComplete;
  end
  logic counts, completes, good, fails;
  assign counts    = cpl_q && (verdict == CplAccepted || verdict == CplComplete);
  assign completes = cpl_q && verdict == CplComplete;
  assign good      = completes && !poisoned && !cpl_poisoned_q;
  assign fails     = (completes && !good) || (expired_q && known);

  // Requests to make again, the oldest first: a ring.
  request_t            again_q [Tags];
  logic [TagWidth-1:0] again_at_q;
  logic [TagWidth:0]   agains_q, agains_left;
  logic                owes_retry_q;  // when the request of this cycle was formed
  assign agains_left = agains_q - (TagWidth + 1)'(retried);

  // Reads under way.
  logic [Jobs-1:0]   busy_q, in_order_q;
  logic [JobWidth:0] reads_q, ordered_reads_q;
  // Of the one that is followed: bytes that are not asked for, from where on, and that have not come; how many older ones are
  // reported in order; all has come, and it was not reported in the cycle before.
  logic [LengthWidth-1:0] to_ask_q, to_come_q;
  logic [63:0]            ask_at_q;
  logic [JobWidth:0]      behind_q;
  logic                   whole_q, ours_asked, ours_ends, reported;
  assign ours_asked = appears && !req_retry_o && req_job_o == followed_i;
  assign ours_ends  = good && asked.job == followed_i;
  assign reported   = (ordered_taken && ordered_job_o == followed_i) || (loose_taken && loose_job_o == followed_i);

  // Room: what requests have reserved up to the one at the port, without what was released.
  logic [BufferWidth-1:0] used_q, used;
  assign used = used_q + (appears && !req_retry_o ? BufferWidth'(req_bytes_o) : '0);

  // Writes inside, the older one first: where their next TLP begins, and bytes left.
  logic [Places-1:0][63:0]            write_at_q;
  logic [Places-1:0][LengthWidth-1:0] write_left_q;
  logic [PlaceWidth-1:0]              writes_q, writes_left;
  logic                               ends_write, write_ends;
  assign ends_write  = 32'(write_left_q[0]) == 32'(tlp_bytes_o);
  assign write_ends  = tlp_taken && ends_write;
  assign writes_left = writes_q - PlaceWidth'(write_ends);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q         <= '0;
      cpl_q           <= 1'b0;
      expired_q       <= 1'b0;
      again_at_q      <= '0;
      agains_q        <= '0;
      owes_retry_q    <= 1'b0;
      busy_q          <= '0;
      reads_q         <= '0;
      ordered_reads_q <= '0;
      to_ask_q        <= '0;
      to_come_q       <= '0;
      behind_q        <= '0;
      whole_q         <= 1'b0;
      used_q          <= '0;
      writes_q        <= '0;
    end else begin
      cpl_q        <= cpl_valid_i;
      expired_q    <= expire_valid_i && expire_ready_o;
      waits_q      <= waits & ~(Tags'(completes || expired_q) << tag_q);
      again_at_q   <= again_at_q + TagWidth'(retried);
      agains_q     <= agains_left + (TagWidth + 1)'(fails);
      owes_retry_q <= agains_left != '0;

      if (ordered_taken) busy_q[ordered_job_o] <= 1'b0;
      if (loose_taken) busy_q[loose_job_o] <= 1'b0;
      if (rd_taken) busy_q[rd_job_i] <= 1'b1;
      reads_q <= reads_q + (JobWidth + 1)'(rd_taken) - (JobWidth + 1)'(ordered_taken) - (JobWidth + 1)'(loose_taken);
      ordered_reads_q <= ordered_reads_q + (JobWidth + 1)'(rd_taken && rd_in_order_i) - (JobWidth + 1)'(ordered_taken);
      if (ordered_taken && behind_q != '0) behind_q <= behind_q - 1'b1;
      if (ours_asked) to_ask_q <= to_ask_q - LengthWidth'(req_bytes_o);
      if (ours_ends) to_come_q <= to_come_q - LengthWidth'(asked.bytes);
      whole_q <= busy_q[followed_i] && to_come_q == '0 && !reported;
      if (rd_taken && rd_job_i == followed_i) begin
        to_ask_q  <= rd_bytes_i;
        to_come_q <= rd_bytes_i;
        behind_q  <= ordered_reads_q - (JobWidth + 1)'(ordered_taken);
      end

      used_q   <= used - (release_valid_i ? release_bytes_i : '0);
      writes_q <= writes_left + PlaceWidth'(wr_taken);
    end
  end

  always_ff @(posedge clk_i) begin
    tag_q            <= cpl_valid_i ? cpl_tag_i : expire_tag_i;
    cpl_bytes_q      <= cpl_bytes_i;
    cpl_byte_count_q <= cpl_byte_count_i;
    cpl_poisoned_q   <= cpl_poisoned_i;
    if (appears) begin
      request_q[req_tag_o]  <= request;
      received_q[req_tag_o] <= '0;
      poisoned_q[req_tag_o] <= 1'b0;
    end
    if (counts) begin
      received_q[tag_q] <= received + cpl_bytes_q;
      poisoned_q[tag_q] <= poisoned || cpl_poisoned_q;
    end
    if (fails) again_q[TagWidth'(again_at_q + TagWidth'(agains_q))] <= asked;

    if (rd_taken) in_order_q[rd_job_i] <= rd_in_order_i;
    if (ours_asked) ask_at_q <= ask_at_q + 64'(req_bytes_o);
    if (rd_taken && rd_job_i == followed_i) ask_at_q <= rd_address_i;

    if (tlp_taken) begin
      write_at_q[0]   <= write_at_q[0] + 64'(tlp_bytes_o);
      write_left_q[0] <= write_left_q[0] - LengthWidth'(tlp_bytes_o);
    end
    if (write_ends) begin
      write_at_q   <= write_at_q >> 64;
      write_left_q <= write_left_q >> LengthWidth;
    end
    if (wr_taken) begin
      write_at_q[$clog2(Places)'(writes_left)]   <= wr_address_i;
      write_left_q[$clog2(Places)'(writes_left)] <= wr_bytes_i;
    end
  end

  // What was at the ports in the cycle before.
  logic [TagWidth+JobWidth+77:0] req_q;
  logic                          ordered_held_q, loose_held_q, tlp_held_q, credit_q;
  logic [JobWidth-1:0]           ordered_job_q, loose_job_q;
  logic [77:0]                   tlp_q;
  logic [3:0]                    mrrs_log2_q, mps_log2_q;
  always_ff @(posedge clk_i) begin
    req_q         <= {req_address_o, req_bytes_o, req_tag_o, req_job_o, req_retry_o};
    ordered_job_q <= ordered_job_o;
    loose_job_q   <= loose_job_o;
    tlp_q         <= {tlp_address_o, tlp_bytes_o, tlp_last_o};
    credit_q      <= np_credit_i;
    mrrs_log2_q   <= mrrs_log2_i;
    mps_log2_q    <= mps_log2_i;
  end

  logic [12:0] read_block, read_offset, write_block, write_offset;
  assign read_block   = 13'd1 << mrrs_log2_i;
  assign read_offset  = 13'(req_address_o[11:0]) & (read_block - 13'd1);
  assign write_block  = 13'd1 << mps_log2_i;
  assign write_offset = 13'(tlp_address_o[11:0]) & (write_block - 13'd1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      req_held_q     <= 1'b0;
      ordered_held_q <= 1'b0;
      loose_held_q   <= 1'b0;
      tlp_held_q     <= 1'b0;
    end else begin
      req_held_q     <= req_valid_o && !req_taken;
      ordered_held_q <= ordered_valid_o && !ordered_taken;
      loose_held_q   <= loose_valid_o && !loose_taken;
      tlp_held_q     <= tlp_valid_o && !tlp_taken;

      // The contract of the inputs.
      contract_mrrs_is_one_of_pcie: assume (mrrs_log2_i >= 4'd7 && mrrs_log2_i <= 4'd12);
      contract_mps_is_one_of_pcie: assume (mps_log2_i >= 4'd7 && mps_log2_i <= 4'd12);
      if (reads_q != '0) contract_mrrs_stays_during_reads: assume (mrrs_log2_i == mrrs_log2_q);
      if (writes_q != '0) contract_mps_stays_during_writes: assume (mps_log2_i == mps_log2_q);
      if (rd_valid_i) begin
        contract_read_has_bytes: assume (rd_bytes_i != '0);
        contract_read_fits_in_buffer: assume (32'(rd_bytes_i) <= BufferBytes);
        contract_read_number_is_free: assume (!busy_q[rd_job_i]);
      end
      if (wr_valid_i) contract_write_has_bytes: assume (wr_bytes_i != '0);
      if (cpl_valid_i) contract_completion_within_byte_count: assume (cpl_bytes_i <= cpl_byte_count_i);
      if (release_valid_i) contract_release_of_used_room: assume (release_bytes_i <= buffer_used_o);

      // What is offered stays until it is taken.
      if (req_held_q) begin
        request_stays: assert (req_valid_o && req_q == {req_address_o, req_bytes_o, req_tag_o, req_job_o, req_retry_o});
      end
      if (ordered_held_q) ordered_report_stays: assert (ordered_valid_o && ordered_job_q == ordered_job_o);
      if (loose_held_q) loose_report_stays: assert (loose_valid_o && loose_job_q == loose_job_o);
      if (tlp_held_q) tlp_stays: assert (tlp_valid_o && tlp_q == {tlp_address_o, tlp_bytes_o, tlp_last_o});

      if (appears) begin
        // A tag is never given out while its request waits, nor a request made without a credit.
        tag_is_free: assert (!waits_q[req_tag_o]);
        request_has_credit: assert (credit_q);
        // No request is empty or crosses a multiple of MRRS, and each is of a read that is under way.
        request_within_block: assert (req_bytes_o != '0 && read_offset + req_bytes_o <= read_block);
        request_of_read_under_way: assert (busy_q[req_job_o]);
      end
      // Asked for again is what has failed, in that order, before anything new.
      if (retried) retries_in_order: assert (agains_q != '0 && again_q[again_at_q] == request);
      if (appears && !req_retry_o) retries_before_new: assert (!owes_retry_q);
      retries_bound: assert (32'(agains_q) <= Tags);
      // The requests of a read follow each other without a gap and end where it ends.
      if (ours_asked) requests_without_gap: assert (req_address_o == ask_at_q && 32'(to_ask_q) >= 32'(req_bytes_o));
      // A completion is what it is called.
      verdict_for_each_completion: assert (verdict_valid_o == cpl_q);
      if (cpl_q) verdict_is_right: assert (verdict_o == verdict && verdict_tag_o == tag_q);
      // No tag is lost: requests wait for one only while all are in use.
      if (stall_tags_o) no_tag_lost: assert (waits == '1);

      // A read is reported once, by the stream that it asked for, in its turn, when all its bytes have come and none was poisoned.
      if (ordered_valid_o) ordered_report_of_its_kind: assert (busy_q[ordered_job_o] && in_order_q[ordered_job_o]);
      if (loose_valid_o) loose_report_of_its_kind: assert (busy_q[loose_job_o] && !in_order_q[loose_job_o]);
      if (ordered_valid_o && ordered_job_o == followed_i) begin
        ordered_report_when_whole: assert (to_ask_q == '0 && to_come_q == '0 && behind_q == '0);
      end
      if (loose_valid_o && loose_job_o == followed_i) loose_report_when_whole: assert (to_ask_q == '0 && to_come_q == '0);
      // None is forgotten: its report, or one before it, is at the output two cycles after its last verdict.
      if (DataSheetCycles && whole_q && !in_order_q[followed_i]) loose_report_not_forgotten: assert (loose_valid_o);
      if (DataSheetCycles && whole_q && in_order_q[followed_i] && behind_q == '0) begin
        ordered_report_not_forgotten: assert (ordered_valid_o && ordered_job_o == followed_i);
      end

      // The TLPs of a write are none too many, not empty, cross no multiple of MPS and follow each other without a gap.
      writes_inside_bound: assert (32'(writes_q) <= Places);
      if (tlp_valid_o) begin
        tlps_without_gap: assert (writes_q != '0 && tlp_address_o == write_at_q[0] && tlp_last_o == ends_write);
        tlp_not_empty: assert (tlp_bytes_o != '0 && 32'(tlp_bytes_o) <= 32'(write_left_q[0]));
        tlp_within_block: assert (write_offset + tlp_bytes_o <= write_block);
      end

      // Requests reserve room, and never more than there is.
      room_is_counted: assert (buffer_used_o == used);
      room_bound: assert (32'(buffer_used_o) <= BufferBytes);
      // What waits for a tag does not wait for room, and the other way round.
      one_reason_to_wait: assert (!(stall_tags_o && stall_buffer_o));
    end
  end

`ifndef FORMAL
  // Inputs stay until they are taken, too. The proof is for those that do not as well.
  logic                               rd_held_q, wr_held_q, expire_held_q;
  logic [64+LengthWidth+JobWidth:0]   rd_q;
  logic [63+LengthWidth:0]            wr_q;
  logic [TagWidth-1:0]                expire_tag_q;
  always_ff @(posedge clk_i) begin
    rd_q         <= {rd_address_i, rd_bytes_i, rd_job_i, rd_in_order_i};
    wr_q         <= {wr_address_i, wr_bytes_i};
    expire_tag_q <= expire_tag_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rd_held_q     <= 1'b0;
      wr_held_q     <= 1'b0;
      expire_held_q <= 1'b0;
    end else begin
      rd_held_q     <= rd_valid_i && !rd_taken;
      wr_held_q     <= wr_valid_i && !wr_taken;
      expire_held_q <= expire_valid_i && !expire_ready_o;
      if (rd_held_q) contract_read_stays: assume (rd_valid_i && rd_q == {rd_address_i, rd_bytes_i, rd_job_i, rd_in_order_i});
      if (wr_held_q) contract_write_stays: assume (wr_valid_i && wr_q == {wr_address_i, wr_bytes_i});
      if (expire_held_q) contract_expiry_stays: assume (expire_valid_i && expire_tag_q == expire_tag_i);
    end
  end
`endif

endmodule
