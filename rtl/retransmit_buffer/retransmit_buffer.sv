// Records of the packets that QPs have sent and that are not acknowledged: a shared pool, looked up by QP and PSN over
// hash chains. Applies SACKs, keeps each QP's outstanding packets in the order of sending, from which losses are inferred
// and timeouts found, and knows its oldest lost packet. Commands on one record pass three stages, one per cycle; those on many
// hold the second stage. See README.md.
module retransmit_buffer
  import mrc_pkg::*;
#(
  parameter  int unsigned Qps          = 16384,  // power of two
  parameter  int unsigned Records      = 4096,   // shared pool; power of two
  parameter  int unsigned Buckets      = 4 * Records,  // of the hash; power of two, at most 2^24
  parameter  int unsigned TimeWidth    = 48,     // of now, in any unit
  localparam int unsigned QpWidth      = $clog2(Qps),
  localparam int unsigned IndexWidth   = $clog2(Records),
  localparam int unsigned CountWidth   = IndexWidth + 1,
  localparam int unsigned BucketWidth  = $clog2(Buckets),
  localparam int unsigned ClearWidth   = ((QpWidth > BucketWidth) ? QpWidth : BucketWidth) + 1
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // Commands.
  input  logic                    cmd_valid_i,
  output logic                    cmd_ready_o,
  input  retransmit_op_e          cmd_op_i,
  input  logic [QpWidth-1:0]      cmd_qp_i,
  input  logic [23:0]             cmd_psn_i,      // open: first; sent, nack: of the packet; ack: last that is cumulatively acknowledged
  input  logic [23:0]             cmd_base_i,     // ack: PSN of bit 0
  input  logic [63:0]             cmd_bitmap_i,   // ack
  input  logic [TimeWidth-1:0]    cmd_now_i,      // sent, timeout
  input  logic [TimeWidth-1:0]    cmd_limit_i,    // timeout: age from which a packet is lost
  input  logic [31:0]             cmd_threshold_i,// gap: packets sent later and acknowledged
  input  logic [15:0]             cmd_ev_i,       // sent
  input  logic [3:0]              cmd_cause_i,    // nack, gap, timeout
  input  logic [15:0]             cmd_message_i,  // append
  input  logic [31:0]             cmd_offset_i,   // append
  input  logic [15:0]             cmd_bytes_i,    // append: nominal size

  // Packets that a command acknowledged or declared lost, one by one.
  output logic                    evt_valid_o,
  input  logic                    evt_ready_i,
  output logic                    evt_lost_o,     // declared lost; else acknowledged
  output logic [23:0]             evt_psn_o,
  output logic                    evt_was_lost_o, // acknowledged although it was declared lost
  output logic [15:0]             evt_bytes_o,
  output logic [15:0]             evt_ev_o,

  // The command is done; the QP's state after it.
  output logic                    rsp_valid_o,
  input  logic                    rsp_ready_i,
  output logic                    rsp_hit_o,      // open, append: done; sent, nack, take: the packet was there in the state for it
  output logic                    rsp_advanced_o, // ack: the old end has moved
  output logic [CountWidth-1:0]   rsp_count_o,    // ack: acknowledged; gap, timeout: declared lost
  output logic [23:0]             rsp_psn_o,      // append, take: of the packet
  output logic [15:0]             rsp_message_o,  // take
  output logic [31:0]             rsp_offset_o,   // take
  output logic [15:0]             rsp_bytes_o,    // take
  output logic [3:0]              rsp_cause_o,    // take
  output logic [23:0]             rsp_unacked_o,  // oldest PSN that is not acknowledged
  output logic [23:0]             rsp_next_o,     // PSN of the next append
  output logic                    rsp_has_lost_o,
  output logic [23:0]             rsp_oldest_lost_o,
  output logic                    rsp_outstanding_o,  // a packet is outstanding:
  output logic [23:0]             rsp_oldest_psn_o,   // the one that was sent longest ago
  output logic [TimeWidth-1:0]    rsp_oldest_sent_o,
  output logic [CountWidth-1:0]   rsp_free_o      // records
);

  localparam logic [1:0] InPipeline  = 2'd0;
  localparam logic [1:0] Outstanding = 2'd1;
  localparam logic [1:0] Lost        = 2'd2;

  typedef struct packed {
    retransmit_op_e       op;
    logic [QpWidth-1:0]   qp;
    logic [23:0]          psn;
    logic [23:0]          base;
    logic [TimeWidth-1:0] now;
    logic [TimeWidth-1:0] limit;
    logic [31:0]          threshold;
    logic [15:0]          ev;
    logic [3:0]           cause;
    logic [15:0]          message;
    logic [31:0]          offset;
    logic [15:0]          bytes;
  } command_t;

  typedef struct packed {
    logic [QpWidth-1:0]   qp;
    logic [23:0]          psn;
    logic [1:0]           state;
    logic [31:0]          sequence_number;  // of its latest transmission
    logic [15:0]          ev;
    logic [1:0]           transmissions;    // 2: two or more
    logic [3:0]           cause;
    logic [15:0]          message;
    logic [31:0]          offset;
    logic [15:0]          bytes;
  } record_t;

  typedef struct packed {
    logic [23:0]          psn;
    logic [TimeWidth-1:0] sent_at;
  } sent_t;

  typedef struct packed {
    logic                  opened;
    logic [23:0]           unacked;
    logic [23:0]           next;
    logic [31:0]           last_sequence;
    logic [31:0]           highest_acked;
    logic                  any_outstanding;
    logic [IndexWidth-1:0] head;            // outstanding packets in the order of sending
    logic [IndexWidth-1:0] tail;
    logic [CountWidth-1:0] lost;
    logic [23:0]           oldest_lost;     // where lost is not 0
  } context_t;

  typedef struct packed {
    logic                  valid;
    logic [IndexWidth-1:0] index;
  } link_t;

  // A QP's PSNs lie an odd distance apart, so that no two of Buckets consecutive ones share a bucket; distance and start differ
  // between QPs, so that where two windows meet they part again at once.
  function automatic logic [BucketWidth-1:0] bucket_of(logic [QpWidth-1:0] qp, logic [BucketWidth-1:0] psn);
    logic [BucketWidth-1:0] start;
    logic [2:0]             spread;
    start  = '0;
    spread = '0;
    for (int unsigned i = 0; i < QpWidth; i++) begin
      start[BucketWidth-1-(i%BucketWidth)] = start[BucketWidth-1-(i%BucketWidth)] ^ qp[i];
      spread[i%3] = spread[i%3] ^ qp[i];
    end
    return (psn + ((psn << spread) << 1)) ^ start;
  endfunction

  function automatic logic signed [23:0] ahead(logic [23:0] a, logic [23:0] b);
    return signed'(a - b);
  endfunction

  // What the second stage does. Act: a command on one record, or nothing is there.
  typedef enum logic [2:0] {Clear, Act, Scan, Head, Done} state_e;
  // What a scan over PSNs is for.
  typedef enum logic [1:0] {ScanOne, ScanFree, ScanAdvance, ScanLost} scan_e;

  state_e                 state_q;
  scan_e                  scan_q;
  logic [ClearWidth-1:0]  clear_q;

  // First stage: the QP's context and the PSN's bucket come out of their memories.
  logic                   first_valid_q;
  command_t               first_q;
  logic [63:0]            first_bitmap_q;
  logic [BucketWidth-1:0] cmd_bucket, first_bucket_q;

  // Second stage: the record comes, and everything changes.
  logic                   second_valid_q;
  command_t               cmd_q;
  context_t               ctx_q, ctx_next;
  logic                   none_q;                 // there is no packet for it
  logic [63:0]            bitmap_q;
  logic                   hit_q, advanced_q, moved_q, lost_gone_q;
  logic [CountWidth-1:0]  count_q;
  logic [23:0]            taken_psn_q;
  logic [15:0]            taken_message_q, taken_bytes_q;
  logic [31:0]            taken_offset_q;
  logic [3:0]             taken_cause_q;

  // Third stage: the response.
  logic                   third_valid_q, third_free;

  // Scan, see below.
  logic [23:0]           scan_psn_q, scan_end_q;  // next PSN, and the first that is not looked at
  logic [23:0]           advance_from_q;
  logic                  look_valid_q;            // its bucket is on bucket_rdata
  logic [23:0]           look_psn_q;
  logic [BucketWidth-1:0] look_bucket_q;
  logic                  act_valid_q;             // its record, if it has one, is on found
  logic                  act_some_q;
  logic [23:0]           act_psn_q;
  logic [BucketWidth-1:0] act_bucket_q;           // of it, or of the new record
  logic [IndexWidth-1:0] look_index_q;            // of the record on found
  link_t                 before_q;                // in its chain

  // ---------------------------------------------------------------------------------------------------------------
  // Memories.
  // ---------------------------------------------------------------------------------------------------------------
  logic                  ctx_we, ctx_re;
  logic [QpWidth-1:0]    ctx_waddr;
  context_t              ctx_wdata, ctx_rdata;
  logic                  bucket_we, bucket_re, front_re;
  logic [BucketWidth-1:0] bucket_waddr, bucket_raddr, front_raddr;
  link_t                 bucket_wdata, bucket_rdata, front;
  logic                  record_we, record_re;
  logic [IndexWidth-1:0] record_waddr, record_raddr;
  record_t               record_wdata, found;
  logic                  chain_we;
  logic [IndexWidth-1:0] chain_waddr;
  link_t                 chain_wdata, chain;
  logic                  later_we, earlier_we;
  logic [IndexWidth-1:0] later_waddr, later_wdata, later, earlier_waddr, earlier_wdata, earlier;
  logic                  sent_re, marks_sent;
  logic [IndexWidth-1:0] sent_raddr;
  sent_t                 sent_wdata, oldest;
  logic                  free_valid, free_take, free_give;
  logic [IndexWidth-1:0] free_index;
  logic [CountWidth-1:0] free_count;

  ram_1r1w #(.Depth(Qps), .Width($bits(context_t))) u_contexts (
    .clk_i, .we_i(ctx_we), .waddr_i(ctx_waddr), .wdata_i(ctx_wdata), .re_i(ctx_re), .raddr_i(cmd_qp_i),
    .rdata_o(ctx_rdata)
  );
  // Twice: for lookups, and for the record that a new one is chained to.
  ram_1r1w #(.Depth(Buckets), .Width(IndexWidth + 1)) u_buckets (
    .clk_i, .we_i(bucket_we), .waddr_i(bucket_waddr), .wdata_i(bucket_wdata), .re_i(bucket_re), .raddr_i(bucket_raddr),
    .rdata_o(bucket_rdata)
  );
  ram_1r1w #(.Depth(Buckets), .Width(IndexWidth + 1)) u_fronts (
    .clk_i, .we_i(bucket_we), .waddr_i(bucket_waddr), .wdata_i(bucket_wdata), .re_i(front_re), .raddr_i(front_raddr),
    .rdata_o(front)
  );
  ram_1r1w #(.Depth(Records), .Width($bits(record_t))) u_records (
    .clk_i, .we_i(record_we), .waddr_i(record_waddr), .wdata_i(record_wdata), .re_i(record_re), .raddr_i(record_raddr),
    .rdata_o(found)
  );
  // When a record was sent; with a read port of its own for the one that was sent longest ago.
  ram_1r1w #(.Depth(Records), .Width($bits(sent_t))) u_sent (
    .clk_i, .we_i(marks_sent), .waddr_i(look_index_q), .wdata_i(sent_wdata), .re_i(sent_re), .raddr_i(sent_raddr),
    .rdata_o(oldest)
  );
  // Next record in the bucket's chain; sent next after a record, and before it.
  ram_1r1w #(.Depth(Records), .Width(IndexWidth + 1)) u_chains (
    .clk_i, .we_i(chain_we), .waddr_i(chain_waddr), .wdata_i(chain_wdata), .re_i(record_re), .raddr_i(record_raddr),
    .rdata_o(chain)
  );
  ram_1r1w #(.Depth(Records), .Width(IndexWidth)) u_later (
    .clk_i, .we_i(later_we), .waddr_i(later_waddr), .wdata_i(later_wdata), .re_i(record_re), .raddr_i(record_raddr),
    .rdata_o(later)
  );
  ram_1r1w #(.Depth(Records), .Width(IndexWidth)) u_earlier (
    .clk_i, .we_i(earlier_we), .waddr_i(earlier_waddr), .wdata_i(earlier_wdata), .re_i(record_re),
    .raddr_i(record_raddr), .rdata_o(earlier)
  );
  free_list #(.Depth(Records)) u_free (
    .clk_i, .rst_ni, .valid_o(free_valid), .index_o(free_index), .take_i(free_take), .give_i(free_give),
    .index_i(look_index_q), .free_o(free_count)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Stages. A command that reads more than one record, or asks for the oldest one, has the block for itself until it
  // leaves the second stage.
  // ---------------------------------------------------------------------------------------------------------------
  function automatic logic alone(retransmit_op_e op);
    return op == RetransmitAck || op == RetransmitTake || op == RetransmitGap || op == RetransmitTimeout;
  endfunction

  logic cmd_taken, first_leaves, second_leaves, evt_room;
  assign cmd_ready_o  = state_q != Clear && (!first_valid_q || (first_leaves && !alone(first_q.op))) &&
                        (!second_valid_q || !alone(cmd_q.op) || second_leaves);
  assign cmd_taken    = cmd_valid_i && cmd_ready_o;
  assign first_leaves = first_valid_q && (!second_valid_q || second_leaves);
  assign third_free   = !third_valid_q || (rsp_valid_o && rsp_ready_i);
  // No event of a command comes before the response of the command before.
  assign evt_room     = third_free && (!evt_valid_o || evt_ready_i);

  // What the command in front leaves is not in the memories yet.
  context_t ctx;
  link_t    bucket;
  assign ctx    = (second_valid_q && cmd_q.qp == first_q.qp) ? ctx_next : ctx_rdata;
  assign bucket = (free_take && bucket_waddr == first_bucket_q) ? bucket_wdata : bucket_rdata;

  // PSNs that a cumulative acknowledgement covers, and bits inside the rest of the window.
  logic [23:0]        span, cumulative, cumulative_end;
  logic signed [23:0] base_ahead, base_behind;
  logic [63:0]        in_window;
  assign span       = ctx.next - ctx.unacked;
  assign cumulative = first_q.psn - ctx.unacked + 24'd1;
  assign base_ahead  = ahead(first_q.base, ctx.unacked);
  assign base_behind = ahead(cumulative_end, first_q.base);
  // Behind the old end, or beyond the packets that there are: nothing, or all.
  assign cumulative_end = (signed'(cumulative) < 0) ? ctx.unacked :
                          (cumulative < span)       ? first_q.psn + 24'd1 : ctx.next;
  always_comb begin
    in_window = '1;
    if (base_behind >= 0) begin
      in_window = (base_behind >= 24'sd64) ? '0 : in_window << 6'(base_behind);
    end
    if (base_ahead >= signed'(span)) begin
      in_window = '0;
    end else if (signed'(span) - base_ahead < 24'sd64) begin
      in_window = in_window & ((64'd1 << 6'(signed'(span) - base_ahead)) - 64'd1);
    end
  end

  logic none;
  always_comb begin
    unique case (first_q.op)
      RetransmitOpen:                       none = 1'b0;
      RetransmitAppend:                     none = !ctx.opened;
      RetransmitSent, RetransmitNack:       none = first_q.psn - ctx.unacked >= span;
      RetransmitTake:                       none = ctx.lost == '0;
      RetransmitAck:                        none = span == '0;
      RetransmitGap, RetransmitTimeout:     none = !ctx.any_outstanding;
    endcase
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Scan over PSNs in three steps: bucket, record, action. A record that is not the first of its chain holds the steps
  // for a cycle each that is before it. A bucket that has been read for the next PSNs stays right when a record leaves it:
  // of a QP the newer records of a chain are in front of the older ones, and what leaves first is the oldest.
  // ---------------------------------------------------------------------------------------------------------------
  logic [63:0] lowest_bit;
  logic [5:0]  lowest;
  assign lowest_bit = bitmap_q & (~bitmap_q + 64'd1);
  assign lowest = {|(lowest_bit & 64'hFFFF_FFFF_0000_0000), |(lowest_bit & 64'hFFFF_0000_FFFF_0000),
                   |(lowest_bit & 64'hFF00_FF00_FF00_FF00), |(lowest_bit & 64'hF0F0_F0F0_F0F0_F0F0),
                   |(lowest_bit & 64'hCCCC_CCCC_CCCC_CCCC), |(lowest_bit & 64'hAAAA_AAAA_AAAA_AAAA)};

  // The cumulative part, then the bitmap.
  logic        scan_more, scan_bit;
  logic [23:0] scan_psn;
  assign scan_bit  = scan_q == ScanFree && scan_psn_q == scan_end_q;
  assign scan_more = scan_bit ? bitmap_q != '0 : scan_psn_q != scan_end_q;
  assign scan_psn  = scan_bit ? cmd_q.base + 24'(lowest) : scan_psn_q;

  logic [BucketWidth-1:0] scan_bucket;
  assign scan_bucket = bucket_of(cmd_q.qp, scan_psn[BucketWidth-1:0]);

  // The record on found is the one that is looked for, or its chain goes on.
  logic in_scan, one_record, acting, match, present, walk_on;
  assign in_scan    = state_q == Scan;
  assign one_record = state_q == Act && second_valid_q && (cmd_q.op == RetransmitSent || cmd_q.op == RetransmitNack);
  assign acting     = (in_scan && act_valid_q) || one_record;
  assign match      = found.qp == cmd_q.qp && found.psn == act_psn_q;
  assign present    = acting && act_some_q && match;
  assign walk_on    = acting && act_some_q && !match && chain.valid;

  logic scan_done;  // nothing comes, and what is on found is the last
  logic frees, blocked, steps, marks_lost, takes, stops, unlinks, opens;
  assign frees      = present && scan_q == ScanFree && !one_record && evt_room;
  assign blocked    = present && scan_q == ScanFree && !one_record && !evt_room;
  assign steps      = in_scan && !blocked && !walk_on;
  assign marks_sent = second_leaves && one_record && present && cmd_q.op == RetransmitSent && found.state == InPipeline;
  assign marks_lost = second_leaves && one_record && present && cmd_q.op == RetransmitNack && found.state == Outstanding;
  assign takes      = present && scan_q == ScanOne && !one_record && found.state == Lost;
  assign stops      = present && !one_record &&
                      (scan_q == ScanAdvance || (scan_q == ScanLost && found.state == Lost));
  assign unlinks    = (frees && found.state == Outstanding) || marks_lost;
  assign opens      = second_leaves && state_q == Act && cmd_q.op == RetransmitOpen;
  assign free_take  = second_leaves && state_q == Act && cmd_q.op == RetransmitAppend && !none_q && free_valid;
  assign free_give  = frees;

  // Oldest outstanding packet of the QP on found and oldest: loss by gap and by timeout.
  logic head_looks, head_lost, pops;
  assign head_looks = state_q == Act && second_valid_q && !none_q && third_free &&
                      (cmd_q.op == RetransmitGap || cmd_q.op == RetransmitTimeout);
  assign head_lost  = state_q == Head &&
                      ((cmd_q.op == RetransmitGap) ? signed'(ctx_q.highest_acked - found.sequence_number) >= signed'(cmd_q.threshold)
                                                   : cmd_q.now - oldest.sent_at >= cmd_q.limit);
  assign pops       = head_lost && evt_room;

  // The second stage is done with its command.
  logic ends;
  always_comb begin
    unique case (state_q)
      // There is room for a nack's event: the one before is gone when the third stage is free.
      Act:     ends = none_q || cmd_q.op == RetransmitOpen || cmd_q.op == RetransmitAppend || (one_record && !walk_on);
      Scan:    ends = 1'b0;
      Head:    ends = !head_lost;
      default: ends = 1'b1;
    endcase
  end
  assign second_leaves = second_valid_q && ends && third_free;

  // ---------------------------------------------------------------------------------------------------------------
  // Memory accesses.
  // ---------------------------------------------------------------------------------------------------------------
  assign ctx_re    = cmd_taken;
  assign ctx_we    = second_leaves || state_q == Clear;
  assign ctx_waddr = (state_q == Clear) ? clear_q[QpWidth-1:0] : cmd_q.qp;
  assign ctx_wdata = (state_q == Clear) ? '0 : ctx_next;

  assign bucket_re    = steps || cmd_taken;
  assign cmd_bucket   = bucket_of(cmd_qp_i, cmd_psn_i[BucketWidth-1:0]);
  assign bucket_raddr = in_scan ? scan_bucket : cmd_bucket;
  assign front_re     = first_leaves && first_q.op == RetransmitAppend;
  assign front_raddr  = bucket_of(first_q.qp, ctx.next[BucketWidth-1:0]);

  always_comb begin
    record_re    = first_leaves;
    record_raddr = bucket.index;
    if (walk_on) begin
      record_re    = 1'b1;
      record_raddr = chain.index;
    end else if (in_scan) begin
      record_re    = steps;
      record_raddr = bucket_rdata.index;
    end else if (head_looks) begin
      record_re    = 1'b1;
      record_raddr = ctx_q.head;
    end else if (pops) begin
      record_re    = 1'b1;
      record_raddr = later;
    end
  end

  assign sent_re    = second_leaves || head_looks || pops;
  assign sent_raddr = pops ? later : second_leaves ? ctx_next.head : ctx_q.head;
  assign sent_wdata = '{psn: cmd_q.psn, sent_at: cmd_q.now};

  logic is_head, is_tail;
  assign is_head = look_index_q == ctx_q.head;
  assign is_tail = look_index_q == ctx_q.tail;

  // Chains.
  always_comb begin
    bucket_we    = 1'b0;
    bucket_waddr = act_bucket_q;
    bucket_wdata = chain;
    chain_we     = 1'b0;
    chain_waddr  = before_q.index;
    chain_wdata  = chain;
    if (state_q == Clear) begin
      bucket_we    = 1'b1;
      bucket_waddr = clear_q[BucketWidth-1:0];
      bucket_wdata = '0;
    end else if (free_take) begin
      bucket_we    = 1'b1;
      bucket_wdata = '{valid: 1'b1, index: free_index};
      chain_we     = 1'b1;
      chain_waddr  = free_index;
      chain_wdata  = front;
    end else if (free_give) begin
      bucket_we = !before_q.valid;
      chain_we  = before_q.valid;
    end
  end

  // Order of sending.
  always_comb begin
    later_we      = 1'b0;
    later_waddr   = earlier;
    later_wdata   = later;
    earlier_we    = 1'b0;
    earlier_waddr = later;
    earlier_wdata = earlier;
    if (marks_sent) begin
      later_we      = ctx_q.any_outstanding;
      later_waddr   = ctx_q.tail;
      later_wdata   = look_index_q;
      earlier_we    = 1'b1;
      earlier_waddr = look_index_q;
      earlier_wdata = ctx_q.tail;
    end else if (unlinks) begin
      later_we   = !is_head && !is_tail;
      earlier_we = !is_head && !is_tail;
    end
  end

  // Records.
  always_comb begin
    record_we    = 1'b0;
    record_waddr = look_index_q;
    record_wdata = found;
    if (free_take) begin
      record_we    = 1'b1;
      record_waddr = free_index;
      record_wdata = '{qp: cmd_q.qp, psn: ctx_q.next, state: InPipeline, sequence_number: '0, ev: '1,
                       transmissions: 2'd0, cause: '0, message: cmd_q.message, offset: cmd_q.offset,
                       bytes: cmd_q.bytes};
    end else if (marks_sent) begin
      record_we                    = 1'b1;
      record_wdata.state           = Outstanding;
      record_wdata.ev              = cmd_q.ev;
      record_wdata.sequence_number = ctx_q.last_sequence + 32'd1;
      record_wdata.transmissions   = (found.transmissions == 2'd0) ? 2'd1 : 2'd2;
    end else if (takes) begin
      record_we          = 1'b1;
      record_wdata.state = InPipeline;
    end else if (marks_lost || pops) begin
      record_we          = 1'b1;
      record_waddr       = pops ? ctx_q.head : look_index_q;
      record_wdata.state = Lost;
      record_wdata.cause = cmd_q.cause;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // The QP's state.
  // ---------------------------------------------------------------------------------------------------------------
  logic older_lost;
  assign older_lost = ctx_q.lost == '0 || ahead(found.psn, ctx_q.oldest_lost) < 0;

  always_comb begin
    ctx_next = ctx_q;
    if (opens) begin
      ctx_next         = '0;
      ctx_next.opened  = 1'b1;
      ctx_next.unacked = cmd_q.psn;
      ctx_next.next    = cmd_q.psn;
      // Only their differences count: they begin at the PSN's place, so that all their bits and their wrap are soon seen.
      ctx_next.last_sequence = 32'(signed'(cmd_q.psn));
      ctx_next.highest_acked = 32'(signed'(cmd_q.psn));
    end
    if (free_take) ctx_next.next = ctx_q.next + 24'd1;
    if (marks_sent) begin
      ctx_next.any_outstanding = 1'b1;
      ctx_next.tail            = look_index_q;
      if (!ctx_q.any_outstanding) ctx_next.head = look_index_q;
      ctx_next.last_sequence   = ctx_q.last_sequence + 32'd1;
    end
    if (frees) begin
      if (found.transmissions == 2'd1 && signed'(found.sequence_number - ctx_q.highest_acked) > 0) begin
        ctx_next.highest_acked = found.sequence_number;
      end
      if (found.state == Lost) ctx_next.lost = ctx_q.lost - 1'b1;
    end
    if (unlinks) begin
      if (is_head && is_tail) ctx_next.any_outstanding = 1'b0;
      if (is_head) ctx_next.head = later;
      if (is_tail) ctx_next.tail = earlier;
    end
    if (takes) ctx_next.lost = ctx_q.lost - 1'b1;
    if (marks_lost || pops) begin
      ctx_next.lost = ctx_q.lost + 1'b1;
      if (older_lost) ctx_next.oldest_lost = found.psn;
    end
    if (pops) begin
      if (ctx_q.head == ctx_q.tail) ctx_next.any_outstanding = 1'b0;
      ctx_next.head = later;
    end
    if (scan_q == ScanAdvance && (stops || scan_done)) ctx_next.unacked = stops ? act_psn_q : ctx_q.next;
    if (scan_q == ScanLost && stops) ctx_next.oldest_lost = act_psn_q;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Control.
  // ---------------------------------------------------------------------------------------------------------------
  assign scan_done = steps && !scan_more && !look_valid_q;

  // Which scan follows: the new old end, the oldest lost packet.
  logic   moved, lost_gone;
  state_e after_scan;
  scan_e  next_scan;
  assign moved     = moved_q || (frees && act_psn_q == ctx_q.unacked);
  assign lost_gone = lost_gone_q || takes || (frees && found.state == Lost && act_psn_q == ctx_q.oldest_lost);
  always_comb begin
    after_scan = Scan;
    next_scan  = scan_q;
    if (scan_q == ScanFree && moved) begin
      next_scan = ScanAdvance;
    end else if (scan_q != ScanLost && lost_gone && ctx_next.lost != '0) begin
      next_scan = ScanLost;
    end else begin
      after_scan = Done;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= Clear;
      clear_q        <= '0;
      first_valid_q  <= 1'b0;
      second_valid_q <= 1'b0;
      third_valid_q  <= 1'b0;
      look_valid_q   <= 1'b0;
      act_valid_q    <= 1'b0;
    end else begin
      first_valid_q  <= cmd_taken || (first_valid_q && !first_leaves);
      second_valid_q <= first_leaves || (second_valid_q && !second_leaves);
      third_valid_q  <= second_leaves || !third_free;
      unique case (state_q)
        Clear: begin
          clear_q <= clear_q + 1'b1;
          if (32'(clear_q) >= Qps - 1 && 32'(clear_q) >= Buckets - 1) state_q <= Act;
        end
        Act: if (head_looks) state_q <= Head;
        Scan: begin
          if (steps) begin
            look_valid_q <= scan_more;
            act_valid_q  <= look_valid_q;
          end
          if (stops || scan_done) begin
            look_valid_q <= 1'b0;
            act_valid_q  <= 1'b0;
            state_q      <= after_scan;
          end
        end
        Head:     if (pops && ctx_q.head == ctx_q.tail) state_q <= Done;
        default: ;
      endcase
      if (second_leaves) state_q <= Act;
      if (first_leaves && !none && (first_q.op == RetransmitAck || first_q.op == RetransmitTake)) state_q <= Scan;
    end
  end

  always_ff @(posedge clk_i) begin
    if (cmd_taken) begin
      first_q <= '{op: cmd_op_i, qp: cmd_qp_i, psn: cmd_psn_i, base: cmd_base_i, now: cmd_now_i, limit: cmd_limit_i,
                   threshold: cmd_threshold_i, ev: cmd_ev_i, cause: cmd_cause_i, message: cmd_message_i,
                   offset: cmd_offset_i, bytes: cmd_bytes_i};
      first_bitmap_q <= cmd_bitmap_i;
      first_bucket_q <= cmd_bucket;
    end

    // Steps.
    if (steps) begin
      look_psn_q    <= scan_psn;
      look_bucket_q <= scan_bucket;
      act_psn_q     <= look_psn_q;
      act_bucket_q  <= look_bucket_q;
      act_some_q    <= bucket_rdata.valid;
      look_index_q  <= bucket_rdata.index;
      before_q.valid <= 1'b0;
      if (scan_more) begin
        if (scan_bit) begin
          bitmap_q <= bitmap_q & ~lowest_bit;
        end else begin
          scan_psn_q <= scan_psn_q + 24'd1;
        end
      end
    end
    if (walk_on) begin
      look_index_q <= chain.index;
      before_q     <= '{valid: 1'b1, index: look_index_q};
    end
    if (stops || scan_done) begin
      scan_q     <= next_scan;
      scan_end_q <= ctx_q.next;
      scan_psn_q <= (next_scan == ScanAdvance) ? advance_from_q : ctx_q.oldest_lost + 24'd1;
    end

    // What the command has done so far.
    ctx_q       <= ctx_next;
    moved_q     <= moved;
    lost_gone_q <= lost_gone;
    if (frees || pops) count_q <= count_q + 1'b1;
    if (scan_q == ScanAdvance && (stops || scan_done)) advanced_q <= 1'b1;
    if (takes) begin
      hit_q           <= 1'b1;
      taken_psn_q     <= found.psn;
      taken_message_q <= found.message;
      taken_offset_q  <= found.offset;
      taken_bytes_q   <= found.bytes;
      taken_cause_q   <= found.cause;
    end

    if (first_leaves) begin
      cmd_q        <= first_q;
      ctx_q        <= ctx;
      none_q       <= none;
      hit_q        <= 1'b0;
      advanced_q   <= 1'b0;
      moved_q      <= 1'b0;
      lost_gone_q  <= 1'b0;
      count_q      <= '0;
      act_psn_q    <= first_q.psn;
      act_bucket_q <= (first_q.op == RetransmitAppend) ? front_raddr : first_bucket_q;
      act_some_q   <= bucket.valid && !none;
      look_index_q <= bucket.index;
      before_q.valid <= 1'b0;
      scan_q       <= (first_q.op == RetransmitTake) ? ScanOne : ScanFree;
      scan_psn_q   <= (first_q.op == RetransmitTake) ? ctx.oldest_lost : ctx.unacked;
      scan_end_q   <= (first_q.op == RetransmitTake) ? ctx.oldest_lost + 24'd1 : cumulative_end;
      advance_from_q <= cumulative_end;
      bitmap_q       <= first_bitmap_q & in_window;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Events and response.
  // ---------------------------------------------------------------------------------------------------------------
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      evt_valid_o <= 1'b0;
    end else if (frees || marks_lost || pops) begin
      evt_valid_o <= 1'b1;
    end else if (evt_ready_i) begin
      evt_valid_o <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (frees || marks_lost || pops) begin
      evt_lost_o     <= !frees;
      evt_psn_o      <= found.psn;
      evt_was_lost_o <= frees && found.state == Lost;
      evt_bytes_o    <= found.bytes;
      evt_ev_o       <= found.ev;
    end
  end

  always_ff @(posedge clk_i) begin
    if (second_leaves) begin
      rsp_hit_o         <= hit_q || opens || free_take || marks_sent || marks_lost;
      rsp_advanced_o    <= advanced_q;
      rsp_count_o       <= count_q + CountWidth'(marks_lost);
      rsp_psn_o         <= (cmd_q.op == RetransmitTake) ? taken_psn_q : ctx_q.next;
      rsp_message_o     <= taken_message_q;
      rsp_offset_o      <= taken_offset_q;
      rsp_bytes_o       <= taken_bytes_q;
      rsp_cause_o       <= taken_cause_q;
      rsp_unacked_o     <= ctx_next.unacked;
      rsp_next_o        <= ctx_next.next;
      rsp_has_lost_o    <= ctx_next.lost != '0;
      rsp_oldest_lost_o <= ctx_next.oldest_lost;
      rsp_outstanding_o <= ctx_next.any_outstanding;
      rsp_free_o        <= free_count - CountWidth'(free_take);
    end
  end

  assign rsp_valid_o       = third_valid_q && !evt_valid_o;
  assign rsp_oldest_psn_o  = oldest.psn;
  assign rsp_oldest_sent_o = oldest.sent_at;

endmodule
