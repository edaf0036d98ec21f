// Splits reads by MRRS and writes by MPS, gives each read request a tag and room in the completion buffer, sorts out the
// completions, asks again for what was lost or poisoned, and says in order of issue which reads are done. The data itself
// goes by: it lies in the completion buffer at a place of its request's. See README.md.
module pcie_dma #(
  parameter  int unsigned Tags        = 512,      // read requests under way, power of two
  parameter  int unsigned Jobs        = 1024,     // reads under way, power of two
  parameter  int unsigned BufferBytes = 262144,   // completion buffer
  parameter  int unsigned LengthWidth = 20,       // of the byte count of a read or write
  localparam int unsigned TagWidth    = $clog2(Tags),
  localparam int unsigned JobWidth    = $clog2(Jobs),
  localparam int unsigned BufferWidth = $clog2(BufferBytes + 1)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic [3:0]             mrrs_log2_i,     // 7 … 12; static while anything is under way
  input  logic [3:0]             mps_log2_i,      // 7 … 12; likewise

  // Reads to do.
  input  logic                   rd_valid_i,
  output logic                   rd_ready_o,
  input  logic [63:0]            rd_address_i,
  input  logic [LengthWidth-1:0] rd_bytes_i,      // at least 1
  input  logic [JobWidth-1:0]    rd_job_i,        // a number that no read under way has
  input  logic                   rd_in_order_i,   // to be reported in the order of the reads

  // Read requests.
  input  logic                   np_credit_i,     // a request may be formed in this cycle
  output logic                   req_valid_o,
  input  logic                   req_ready_i,
  output logic [63:0]            req_address_o,
  output logic [12:0]            req_bytes_o,
  output logic [TagWidth-1:0]    req_tag_o,
  output logic [JobWidth-1:0]    req_job_o,
  output logic                   req_retry_o,     // asked for before

  // Completions; always taken.
  input  logic                   cpl_valid_i,
  input  logic [TagWidth-1:0]    cpl_tag_i,
  input  logic [12:0]            cpl_bytes_i,
  input  logic [12:0]            cpl_byte_count_i, // owed by the request with this completion
  input  logic                   cpl_poisoned_i,
  output logic                   verdict_valid_o,  // in the cycle after the completion
  output mrc_pkg::cpl_verdict_e  verdict_o,
  output logic [TagWidth-1:0]    verdict_tag_o,

  // A request whose completions do not come.
  input  logic                   expire_valid_i,
  output logic                   expire_ready_o,
  input  logic [TagWidth-1:0]    expire_tag_i,

  // Bytes that left the completion buffer.
  input  logic                   release_valid_i,
  input  logic [BufferWidth-1:0] release_bytes_i,

  // Reads that are done: in the order of issue, and the others as they end.
  output logic                   ordered_valid_o,
  input  logic                   ordered_ready_i,
  output logic [JobWidth-1:0]    ordered_job_o,
  output logic                   loose_valid_o,
  input  logic                   loose_ready_i,
  output logic [JobWidth-1:0]    loose_job_o,

  // Posted writes to do, and their TLPs.
  input  logic                   wr_valid_i,
  output logic                   wr_ready_o,
  input  logic [63:0]            wr_address_i,
  input  logic [LengthWidth-1:0] wr_bytes_i,
  output logic                   tlp_valid_o,
  input  logic                   tlp_ready_i,
  output logic [63:0]            tlp_address_o,
  output logic [12:0]            tlp_bytes_o,
  output logic                   tlp_last_o,

  // What the read splitter waits for.
  output logic                   stall_tags_o,
  output logic                   stall_buffer_o,
  output logic [BufferWidth-1:0] buffer_used_o
);

  import mrc_pkg::*;

  localparam int unsigned CountWidth = LengthWidth - 6;  // requests of a read, at most 2^LengthWidth / 128 + 1

  typedef struct packed {
    logic [JobWidth-1:0] job;
    logic [63:0]         address;
    logic [12:0]         bytes;
  } request_t;

  typedef struct packed {
    logic        poisoned;
    logic [12:0] owed;
  } progress_t;

  typedef struct packed {
    logic                  in_order;
    logic [CountWidth-1:0] requests;
  } total_t;

  // ---------------------------------------------------------------------------------------------------------------
  // Read splitter.
  // ---------------------------------------------------------------------------------------------------------------
  logic                piece_valid, piece_last, piece_take;
  logic [63:0]         piece_address;
  logic [12:0]         piece_bytes;
  logic [JobWidth-1:0] piece_job;
  logic                piece_in_order;
  logic                rd_taken;

  assign rd_taken = rd_valid_i && rd_ready_o;

  tlp_splitter #(.LengthWidth(LengthWidth), .UserWidth(JobWidth + 1)) u_read_splitter (
    .clk_i, .rst_ni,
    .block_log2_i(mrrs_log2_i),
    .in_valid_i  (rd_valid_i),
    .in_ready_o  (rd_ready_o),
    .in_address_i(rd_address_i),
    .in_bytes_i  (rd_bytes_i),
    .in_user_i   ({rd_in_order_i, rd_job_i}),
    .valid_o     (piece_valid),
    .address_o   (piece_address),
    .bytes_o     (piece_bytes),
    .last_o      (piece_last),
    .user_o      ({piece_in_order, piece_job}),
    .take_i      (piece_take)
  );

  // Requests of the read in the splitter that were made before this one.
  logic [CountWidth-1:0] made_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      made_q <= '0;
    end else if (piece_take) begin
      made_q <= piece_last ? '0 : made_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Requests: again what was lost or poisoned, then the splitter's.
  // ---------------------------------------------------------------------------------------------------------------
  logic                   tag_valid, tag_take, tag_give;
  logic [TagWidth-1:0]    tag, tag_back;
  logic [TagWidth:0]      tags_free;
  logic                   retry_push, retry_take, retry_empty, retry_full;
  request_t               retry_in, retry_out, request;
  logic [TagWidth:0]      retries;
  logic [BufferWidth-1:0] used_q;
  logic [BufferWidth:0]   used_after;
  logic                   fits, may_form;

  free_list #(.Depth(Tags)) u_tags (
    .clk_i, .rst_ni,
    .valid_o(tag_valid),
    .index_o(tag),
    .take_i (tag_take),
    .give_i (tag_give),
    .index_i(tag_back),
    .free_o (tags_free)
  );

  fifo #(.Depth(Tags), .Width($bits(request_t))) u_retries (
    .clk_i, .rst_ni,
    .push_i (retry_push),
    .data_i (retry_in),
    .pop_i  (retry_take),
    .data_o (retry_out),
    .empty_o(retry_empty),
    .full_o (retry_full),
    .count_o(retries)
  );

  assign used_after = {1'b0, used_q} + (BufferWidth + 1)'(piece_bytes);
  assign fits       = used_after <= (BufferWidth + 1)'(BufferBytes);
  assign may_form   = np_credit_i && tag_valid && (!req_valid_o || req_ready_i);
  assign retry_take = may_form && !retry_empty;
  assign piece_take = may_form && retry_empty && piece_valid && fits;
  assign tag_take   = retry_take || piece_take;
  assign request    = retry_empty ? '{job: piece_job, address: piece_address, bytes: piece_bytes} : retry_out;

  assign stall_tags_o   = (piece_valid || !retry_empty) && !tag_valid;
  assign stall_buffer_o = piece_valid && retry_empty && tag_valid && !fits;
  assign buffer_used_o  = used_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q <= '0;
    end else begin
      used_q <= used_q + (piece_take ? BufferWidth'(piece_bytes) : '0) - (release_valid_i ? release_bytes_i : '0);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      req_valid_o <= 1'b0;
    end else if (tag_take) begin
      req_valid_o <= 1'b1;
    end else if (req_ready_i) begin
      req_valid_o <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (tag_take) begin
      req_address_o <= request.address;
      req_bytes_o   <= request.bytes;
      req_job_o     <= request.job;
      req_tag_o     <= tag;
      req_retry_o   <= !retry_empty;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Completions. First stage: the request behind the tag.
  // ---------------------------------------------------------------------------------------------------------------
  logic                cpl_q, expire_q;
  logic [TagWidth-1:0] tag_q;
  logic [12:0]         bytes_q, byte_count_q;
  logic                poisoned_q;
  logic                look;
  logic [TagWidth-1:0] look_tag;

  assign expire_ready_o = !cpl_valid_i;
  assign look           = cpl_valid_i || expire_valid_i;
  assign look_tag       = cpl_valid_i ? cpl_tag_i : expire_tag_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cpl_q    <= 1'b0;
      expire_q <= 1'b0;
    end else begin
      cpl_q    <= cpl_valid_i;
      expire_q <= expire_valid_i && expire_ready_o;
    end
  end

  always_ff @(posedge clk_i) begin
    tag_q        <= look_tag;
    bytes_q      <= cpl_bytes_i;
    byte_count_q <= cpl_byte_count_i;
    poisoned_q   <= cpl_poisoned_i;
  end

  request_t  asked;
  progress_t stored, progress, progress_next;
  logic      progress_write;

  ram_1r1w #(.Depth(Tags), .Width($bits(request_t))) u_requests (
    .clk_i,
    .we_i   (tag_take),
    .waddr_i(tag),
    .wdata_i(request),
    .re_i   (look),
    .raddr_i(look_tag),
    .rdata_o(asked)
  );

  ram_1r1w #(.Depth(Tags), .Width($bits(progress_t))) u_progress (
    .clk_i,
    .we_i   (progress_write),
    .waddr_i(tag_q),
    .wdata_i(progress_next),
    .re_i   (look),
    .raddr_i(look_tag),
    .rdata_o(stored)
  );

  // A tag whose request has no completion yet has no progress in the memory.
  logic [Tags-1:0] outstanding_q, untouched_q;
  logic            known, finished, given_up;

  assign known    = outstanding_q[tag_q];
  assign progress = untouched_q[tag_q] ? '{poisoned: 1'b0, owed: asked.bytes} : stored;

  always_comb begin
    verdict_o = CplAccepted;
    if (!known || byte_count_q > progress.owed) begin
      verdict_o = CplUnexpected;
    end else if (byte_count_q < progress.owed) begin
      verdict_o = CplBehindLoss;
    end else if (bytes_q == byte_count_q) begin
      verdict_o = CplComplete;
    end
  end

  assign verdict_valid_o = cpl_q;
  assign verdict_tag_o   = tag_q;
  assign progress_next   = '{poisoned: progress.poisoned || poisoned_q, owed: progress.owed - bytes_q};
  assign progress_write  = cpl_q && (verdict_o == CplAccepted || verdict_o == CplComplete);
  // That of CplComplete without the comparisons, which take longer.
  assign finished        = cpl_q && known && byte_count_q == progress.owed && bytes_q == byte_count_q;
  assign given_up        = expire_q && known;

  assign tag_give   = finished || given_up;
  assign tag_back   = tag_q;
  assign retry_push = given_up || (finished && progress_next.poisoned);
  assign retry_in   = asked;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      outstanding_q <= '0;
    end else begin
      if (tag_give) outstanding_q[tag_q] <= 1'b0;
      if (tag_take) outstanding_q[tag] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (progress_write) untouched_q[tag_q] <= 1'b0;
    if (tag_take) untouched_q[tag] <= 1'b1;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Second stage: the read behind the request.
  // ---------------------------------------------------------------------------------------------------------------
  logic                  ended_q, count_look;
  logic [JobWidth-1:0]   ended_job_q;
  logic [CountWidth-1:0] ended_stored, ended_count;
  total_t                total, total_of_piece;

  assign count_look     = finished && !progress_next.poisoned;
  assign total_of_piece = '{in_order: piece_in_order, requests: made_q + 1'b1};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ended_q <= 1'b0;
    end else begin
      ended_q <= count_look;
    end
  end

  always_ff @(posedge clk_i) begin
    ended_job_q <= asked.job;
  end

  ram_1r1w #(.Depth(Jobs), .Width(CountWidth)) u_ended (
    .clk_i,
    .we_i   (ended_q),
    .waddr_i(ended_job_q),
    .wdata_i(ended_count),
    .re_i   (count_look),
    .raddr_i(asked.job),
    .rdata_o(ended_stored)
  );

  ram_1r1w #(.Depth(Jobs), .Width($bits(total_t))) u_totals (
    .clk_i,
    .we_i   (piece_take && piece_last),
    .waddr_i(piece_job),
    .wdata_i(total_of_piece),
    .re_i   (count_look),
    .raddr_i(asked.job),
    .rdata_o(total)
  );

  // New: nothing of the read has ended. Issued: all its requests are made.
  logic [Jobs-1:0] new_q, issued_q, done_q;
  logic            job_done;

  assign ended_count = (new_q[ended_job_q] ? '0 : ended_stored) + 1'b1;
  assign job_done    = ended_q && issued_q[ended_job_q] && ended_count == total.requests;

  always_ff @(posedge clk_i) begin
    if (ended_q) new_q[ended_job_q] <= 1'b0;
    if (rd_taken) new_q[rd_job_i] <= 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (piece_take && piece_last) issued_q[piece_job] <= 1'b1;
    if (rd_taken) issued_q[rd_job_i] <= 1'b0;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Reports.
  // ---------------------------------------------------------------------------------------------------------------
  logic                order_empty, order_full, loose_empty, loose_full;
  logic                order_pop, loose_pop;
  logic                oldest_valid_q;
  logic [JobWidth-1:0] order_job, oldest_job_q;
  logic [JobWidth:0]   order_count, loose_count;

  fifo #(.Depth(Jobs), .Width(JobWidth)) u_order (
    .clk_i, .rst_ni,
    .push_i (rd_taken && rd_in_order_i),
    .data_i (rd_job_i),
    .pop_i  (order_pop),
    .data_o (order_job),
    .empty_o(order_empty),
    .full_o (order_full),
    .count_o(order_count)
  );

  fifo #(.Depth(Jobs), .Width(JobWidth)) u_loose (
    .clk_i, .rst_ni,
    .push_i (job_done && !total.in_order),
    .data_i (ended_job_q),
    .pop_i  (loose_pop),
    .data_o (loose_job_o),
    .empty_o(loose_empty),
    .full_o (loose_full),
    .count_o(loose_count)
  );

  // The oldest read is in a register, so that its flag is not looked up behind the memory of the order.
  assign ordered_valid_o = oldest_valid_q && done_q[oldest_job_q];
  assign ordered_job_o   = oldest_job_q;
  assign order_pop       = !order_empty && (!oldest_valid_q || (ordered_valid_o && ordered_ready_i));
  assign loose_valid_o   = !loose_empty;
  assign loose_pop       = loose_valid_o && loose_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      oldest_valid_q <= 1'b0;
    end else if (order_pop) begin
      oldest_valid_q <= 1'b1;
    end else if (ordered_valid_o && ordered_ready_i) begin
      oldest_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (order_pop) oldest_job_q <= order_job;
  end

  always_ff @(posedge clk_i) begin
    if (job_done) done_q[ended_job_q] <= 1'b1;
    if (rd_taken) done_q[rd_job_i] <= 1'b0;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Writes.
  // ---------------------------------------------------------------------------------------------------------------
  logic        cut_valid, cut_last, cut_take;
  logic [63:0] cut_address;
  logic [12:0] cut_bytes;
  logic        unused_user;

  tlp_splitter #(.LengthWidth(LengthWidth), .UserWidth(1)) u_write_splitter (
    .clk_i, .rst_ni,
    .block_log2_i(mps_log2_i),
    .in_valid_i  (wr_valid_i),
    .in_ready_o  (wr_ready_o),
    .in_address_i(wr_address_i),
    .in_bytes_i  (wr_bytes_i),
    .in_user_i   (1'b0),
    .valid_o     (cut_valid),
    .address_o   (cut_address),
    .bytes_o     (cut_bytes),
    .last_o      (cut_last),
    .user_o      (unused_user),
    .take_i      (cut_take)
  );

  assign cut_take = cut_valid && (!tlp_valid_o || tlp_ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tlp_valid_o <= 1'b0;
    end else if (cut_take) begin
      tlp_valid_o <= 1'b1;
    end else if (tlp_ready_i) begin
      tlp_valid_o <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (cut_take) begin
      tlp_address_o <= cut_address;
      tlp_bytes_o   <= cut_bytes;
      tlp_last_o    <= cut_last;
    end
  end

  logic unused_status;
  assign unused_status = ^{tags_free, retry_full, retries, order_full, order_count, loose_full, loose_count};

endmodule
