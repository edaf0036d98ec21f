// Records of the packets that QPs have sent and that are not acknowledged: a shared pool, looked up by QP and PSN over
// hash chains. Applies SACKs, keeps each QP's outstanding packets in the order of sending, from which losses are inferred
// and timeouts found, and knows its oldest lost packet. One command at a time. See README.md.
module retransmit_buffer
  import mrc_pkg::*;
#(
  parameter  int unsigned Qps          = 16384,  // power of two
  parameter  int unsigned Records      = 4096,   // shared pool; power of two, at least 64
  parameter  int unsigned TimeWidth    = 48,     // of now, in any unit
  localparam int unsigned QpWidth      = $clog2(Qps),
  localparam int unsigned IndexWidth   = $clog2(Records),
  localparam int unsigned CountWidth   = IndexWidth + 1,
  localparam int unsigned ClearWidth   = ((QpWidth > IndexWidth) ? QpWidth : IndexWidth) + 1
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
    logic [QpWidth-1:0]   qp;
    logic [23:0]          psn;
    logic [1:0]           state;
    logic [TimeWidth-1:0] sent_at;
    logic [31:0]          sequence_number;  // of its latest transmission
    logic [15:0]          ev;
    logic [1:0]           transmissions;    // 2: two or more
    logic [3:0]           cause;
    logic [15:0]          message;
    logic [31:0]          offset;
    logic [15:0]          bytes;
  } record_t;

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

  // Consecutive PSNs of a QP lie in consecutive buckets, QPs start apart from each other.
  function automatic logic [IndexWidth-1:0] bucket_of(logic [QpWidth-1:0] qp, logic [IndexWidth-1:0] psn);
    logic [IndexWidth-1:0] start;
    start = '0;
    for (int unsigned i = 0; i < QpWidth; i++) begin
      start[IndexWidth-1-(i%IndexWidth)] = start[IndexWidth-1-(i%IndexWidth)] ^ qp[i];
    end
    return psn + start;
  endfunction

  function automatic logic signed [23:0] ahead(logic [23:0] a, logic [23:0] b);
    return signed'(a - b);
  endfunction

  typedef enum logic [3:0] {
    Clear, Idle, Load, Append, Scan, Walk, WalkLook, Next, Head, Finish, Respond
  } state_e;
  // What a scan over PSNs is for.
  typedef enum logic [2:0] {ScanOne, ScanCumulative, ScanBitmap, ScanAdvance, ScanLost} scan_e;

  state_e                 state_q;
  scan_e                  scan_q;
  retransmit_op_e         op_q;
  logic [QpWidth-1:0]     qp_q;
  logic [23:0]            psn_q, base_q;
  logic [63:0]            bitmap_q;
  logic [TimeWidth-1:0]   now_q, limit_q;
  logic [31:0]            threshold_q, offset_q;
  logic [15:0]            ev_q, message_q, bytes_q;
  logic [3:0]             cause_q;
  context_t               ctx_q;
  logic                   hit_q, advanced_q, moved_q, lost_gone_q;
  logic [CountWidth-1:0]  count_q;
  logic [23:0]            taken_psn_q;
  logic [15:0]            taken_message_q, taken_bytes_q;
  logic [31:0]            taken_offset_q;
  logic [3:0]             taken_cause_q;
  logic [ClearWidth-1:0]  clear_q;
  logic [23:0]            advance_from_q;

  // Scan, see below.
  logic [23:0]           scan_psn_q, scan_end_q;  // next PSN, and the first that is not looked at
  logic                  look_valid_q;            // second stage: its bucket is on bucket_rdata
  logic [23:0]           look_psn_q;
  logic                  act_valid_q;             // third stage: its record, if it has one, is on found
  logic                  act_some_q;
  logic [23:0]           act_psn_q;
  logic [IndexWidth-1:0] look_index_q;            // of the record on found
  link_t                 before_q;                // in its chain

  // ---------------------------------------------------------------------------------------------------------------
  // Memories.
  // ---------------------------------------------------------------------------------------------------------------
  logic                  ctx_we, ctx_re;
  logic [QpWidth-1:0]    ctx_waddr;
  context_t              ctx_wdata, ctx_rdata;
  logic                  bucket_we, bucket_re;
  logic [IndexWidth-1:0] bucket_waddr, bucket_raddr;
  link_t                 bucket_wdata, bucket_rdata;
  logic                  record_we, record_re;
  logic [IndexWidth-1:0] record_waddr, record_raddr;
  record_t               record_wdata, found;
  logic                  chain_we;
  logic [IndexWidth-1:0] chain_waddr;
  link_t                 chain_wdata, chain;
  logic                  later_we, earlier_we;
  logic [IndexWidth-1:0] later_waddr, later_wdata, later, earlier_waddr, earlier_wdata, earlier;
  logic                  free_valid, free_take, free_give;
  logic [IndexWidth-1:0] free_index;

  ram_1r1w #(.Depth(Qps), .Width($bits(context_t))) u_contexts (
    .clk_i, .we_i(ctx_we), .waddr_i(ctx_waddr), .wdata_i(ctx_wdata), .re_i(ctx_re), .raddr_i(cmd_qp_i),
    .rdata_o(ctx_rdata)
  );
  ram_1r1w #(.Depth(Records), .Width(IndexWidth + 1)) u_buckets (
    .clk_i, .we_i(bucket_we), .waddr_i(bucket_waddr), .wdata_i(bucket_wdata), .re_i(bucket_re), .raddr_i(bucket_raddr),
    .rdata_o(bucket_rdata)
  );
  ram_1r1w #(.Depth(Records), .Width($bits(record_t))) u_records (
    .clk_i, .we_i(record_we), .waddr_i(record_waddr), .wdata_i(record_wdata), .re_i(record_re), .raddr_i(record_raddr),
    .rdata_o(found)
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
    .index_i(look_index_q), .free_o(rsp_free_o)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Scan over PSNs in three stages: bucket, record, action. A record that is not the first of its chain leaves the
  // stages for a walk along the chain; the scan starts again behind it.
  // ---------------------------------------------------------------------------------------------------------------
  logic [63:0] lowest_bit;
  logic [5:0]  lowest;
  assign lowest_bit = bitmap_q & (~bitmap_q + 64'd1);
  assign lowest = {|(lowest_bit & 64'hFFFF_FFFF_0000_0000), |(lowest_bit & 64'hFFFF_0000_FFFF_0000),
                   |(lowest_bit & 64'hFF00_FF00_FF00_FF00), |(lowest_bit & 64'hF0F0_F0F0_F0F0_F0F0),
                   |(lowest_bit & 64'hCCCC_CCCC_CCCC_CCCC), |(lowest_bit & 64'hAAAA_AAAA_AAAA_AAAA)};

  logic        scan_more, is_bitmap;
  logic [23:0] scan_psn;
  assign is_bitmap = scan_q == ScanBitmap;
  assign scan_more = is_bitmap ? bitmap_q != '0 : scan_psn_q != scan_end_q;
  assign scan_psn  = is_bitmap ? base_q + 24'(lowest) : scan_psn_q;

  // The third stage, or the end of a walk.
  logic in_scan, acting, match, walk_on, blocked;
  assign in_scan = state_q == Scan;
  assign match   = found.qp == qp_q && found.psn == act_psn_q;
  assign acting  = (in_scan && act_valid_q) || state_q == WalkLook;
  assign walk_on = acting && act_some_q && !match && chain.valid;

  logic present, frees, marks_sent, marks_lost, takes, stops, unlinks;
  assign present    = acting && act_some_q && match;
  assign blocked    = frees && evt_valid_o && !evt_ready_i;
  assign frees      = present && (scan_q == ScanCumulative || is_bitmap);
  assign marks_sent = present && scan_q == ScanOne && op_q == RetransmitSent && found.state == InPipeline;
  assign marks_lost = present && scan_q == ScanOne && op_q == RetransmitNack && found.state == Outstanding;
  assign takes      = present && scan_q == ScanOne && op_q == RetransmitTake && found.state == Lost;
  assign stops      = present && (scan_q == ScanAdvance || (scan_q == ScanLost && found.state == Lost) ||
                                  (scan_q == ScanOne && op_q != RetransmitTake));
  assign unlinks    = (frees && !blocked && found.state == Outstanding) || marks_lost;

  // Oldest outstanding packet of the QP on found: loss by gap and by timeout.
  logic head_lost, pops;
  assign head_lost = state_q == Head && ctx_q.any_outstanding &&
                     ((op_q == RetransmitGap) ? signed'(ctx_q.highest_acked - found.sequence_number) >= signed'(threshold_q)
                                              : now_q - found.sent_at >= limit_q);
  assign pops      = head_lost && (!evt_valid_o || evt_ready_i);

  // ---------------------------------------------------------------------------------------------------------------
  // Memory accesses.
  // ---------------------------------------------------------------------------------------------------------------
  logic cmd_taken;
  assign cmd_ready_o = state_q == Idle;
  assign cmd_taken   = cmd_valid_i && cmd_ready_o;

  assign ctx_re    = cmd_taken;
  assign ctx_we    = state_q == Finish || (state_q == Clear && 32'(clear_q) < Qps);
  assign ctx_waddr = (state_q == Clear) ? clear_q[QpWidth-1:0] : qp_q;
  assign ctx_wdata = (state_q == Clear) ? '0 : ctx_q;

  assign bucket_re    = (in_scan && !blocked) || state_q == Load;
  assign bucket_raddr = bucket_of(qp_q, (state_q == Load) ? ctx_rdata.next[IndexWidth-1:0] : scan_psn[IndexWidth-1:0]);

  always_comb begin
    record_re    = 1'b0;
    record_raddr = ctx_q.head;
    unique case (state_q)
      Scan: begin
        record_re    = !blocked;
        record_raddr = walk_on ? chain.index : bucket_rdata.index;
      end
      WalkLook: begin
        record_re    = walk_on;
        record_raddr = chain.index;
      end
      Next:   record_re = 1'b1;
      Finish: record_re = 1'b1;
      Head: begin
        record_re    = pops;
        record_raddr = later;
      end
      default: ;
    endcase
  end

  logic is_head, is_tail;
  assign is_head = look_index_q == ctx_q.head;
  assign is_tail = look_index_q == ctx_q.tail;

  // Chains.
  assign free_give    = frees && !blocked;
  assign free_take    = state_q == Append && hit_q;
  always_comb begin
    bucket_we    = 1'b0;
    bucket_waddr = bucket_of(qp_q, act_psn_q[IndexWidth-1:0]);
    bucket_wdata = chain;
    chain_we     = 1'b0;
    chain_waddr  = before_q.index;
    chain_wdata  = chain;
    if (state_q == Clear) begin
      bucket_we    = 32'(clear_q) < Records;
      bucket_waddr = clear_q[IndexWidth-1:0];
      bucket_wdata = '0;
    end else if (free_take) begin
      bucket_we    = 1'b1;
      bucket_waddr = bucket_of(qp_q, ctx_q.next[IndexWidth-1:0]);
      bucket_wdata = '{valid: 1'b1, index: free_index};
      chain_we     = 1'b1;
      chain_waddr  = free_index;
      chain_wdata  = bucket_rdata;
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
      record_wdata = '{qp: qp_q, psn: ctx_q.next, state: InPipeline, sent_at: '0, sequence_number: '0, ev: '0,
                       transmissions: 2'd0, cause: '0, message: message_q, offset: offset_q, bytes: bytes_q};
    end else if (marks_sent) begin
      record_we                    = 1'b1;
      record_wdata.state           = Outstanding;
      record_wdata.ev              = ev_q;
      record_wdata.sent_at         = now_q;
      record_wdata.sequence_number = ctx_q.last_sequence + 32'd1;
      record_wdata.transmissions   = (found.transmissions == 2'd0) ? 2'd1 : 2'd2;
    end else if (takes) begin
      record_we          = 1'b1;
      record_wdata.state = InPipeline;
    end else if (marks_lost || pops) begin
      record_we          = 1'b1;
      record_waddr       = pops ? ctx_q.head : look_index_q;
      record_wdata.state = Lost;
      record_wdata.cause = cause_q;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Control.
  // ---------------------------------------------------------------------------------------------------------------
  logic [23:0]        span, cumulative, cumulative_end;
  logic signed [23:0] base_ahead;
  logic [63:0]        in_window;
  // Of the context that was just read: PSNs that a cumulative acknowledgement covers, and bits inside the window.
  assign span       = ctx_rdata.next - ctx_rdata.unacked;
  assign cumulative = psn_q - ctx_rdata.unacked + 24'd1;
  assign base_ahead = ahead(base_q, ctx_rdata.unacked);
  // Behind the old end, or beyond the packets that there are: nothing, or all.
  assign cumulative_end = (signed'(cumulative) <= 0) ? ctx_rdata.unacked :
                          (cumulative < span)        ? psn_q + 24'd1 : ctx_rdata.next;
  always_comb begin
    in_window = '1;
    if (base_ahead < 0) begin
      in_window = (base_ahead <= -24'sd64) ? '0 : in_window << 6'(-base_ahead);
    end
    if (base_ahead >= signed'(span)) begin
      in_window = '0;
    end else if (signed'(span) - base_ahead < 24'sd64) begin
      in_window = in_window & ((64'd1 << 6'(signed'(span) - base_ahead)) - 64'd1);
    end
  end

  logic   scan_done;  // nothing is in the stages and nothing comes
  assign scan_done = in_scan && !scan_more && !look_valid_q && !act_valid_q;

  // Which scan follows: cumulative, bitmap, the new old end, the oldest lost packet.
  state_e after_scan;
  scan_e  next_scan;
  always_comb begin
    after_scan = Scan;
    next_scan  = scan_q;
    unique case (scan_q)
      ScanCumulative: next_scan = ScanBitmap;
      ScanBitmap: begin
        if (moved_q) begin
          next_scan = ScanAdvance;
        end else if (lost_gone_q && ctx_q.lost != '0) begin
          next_scan = ScanLost;
        end else begin
          after_scan = Finish;
        end
      end
      ScanAdvance, ScanOne: begin
        if (lost_gone_q && ctx_q.lost != '0) begin
          next_scan = ScanLost;
        end else begin
          after_scan = Finish;
        end
      end
      default: after_scan = Finish;
    endcase
  end

  logic older_lost;
  assign older_lost = ctx_q.lost == '0 || ahead(pops ? found.psn : act_psn_q, ctx_q.oldest_lost) < 0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Clear;
      clear_q      <= '0;
      look_valid_q <= 1'b0;
      act_valid_q  <= 1'b0;
    end else begin
      unique case (state_q)
        Clear: begin
          clear_q <= clear_q + 1'b1;
          if (32'(clear_q) >= Qps - 1 && 32'(clear_q) >= Records - 1) state_q <= Idle;
        end
        Idle: if (cmd_valid_i) state_q <= Load;
        Load: begin
          state_q <= Finish;
          if (ctx_rdata.opened) begin
            unique case (op_q)
              RetransmitAppend: state_q <= Append;
              RetransmitSent, RetransmitNack: if (psn_q - ctx_rdata.unacked < span) state_q <= Scan;
              RetransmitTake: if (ctx_rdata.lost != '0) state_q <= Scan;
              RetransmitAck: if (span != '0) state_q <= Scan;
              RetransmitGap, RetransmitTimeout: if (ctx_rdata.any_outstanding) state_q <= Next;
              default: ;
            endcase
          end
        end
        Append: state_q <= Finish;
        Scan: begin
          if (!blocked) begin
            look_valid_q <= scan_more;
            act_valid_q  <= look_valid_q;
          end
          if (walk_on || stops) begin
            look_valid_q <= 1'b0;
            act_valid_q  <= 1'b0;
          end
          if (walk_on) begin
            state_q <= WalkLook;
          end else if (stops || scan_done) begin
            state_q <= after_scan;
          end
        end
        WalkLook: if (!walk_on && !blocked) state_q <= stops ? after_scan : Scan;
        Next: state_q <= Head;
        Head: if (!head_lost || (pops && ctx_q.head == ctx_q.tail)) state_q <= Finish;
        Finish: state_q <= Respond;
        Respond: if (rsp_ready_i && !evt_valid_o) state_q <= Idle;
        default: state_q <= Clear;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    // Stages.
    if (in_scan && !blocked) begin
      look_psn_q   <= scan_psn;
      act_psn_q    <= look_psn_q;
      act_some_q   <= bucket_rdata.valid;
      look_index_q <= bucket_rdata.index;
      before_q     <= '0;
      if (scan_more) begin
        if (is_bitmap) begin
          bitmap_q <= bitmap_q & ~lowest_bit;
        end else begin
          scan_psn_q <= scan_psn_q + 24'd1;
        end
      end
    end
    if (walk_on) begin
      act_some_q   <= 1'b1;
      act_psn_q    <= act_psn_q;
      look_index_q <= chain.index;
      before_q     <= '{valid: 1'b1, index: look_index_q};
      // What was in the stages behind it is looked at again.
      if (in_scan) begin
        if (is_bitmap) begin
          bitmap_q <= bitmap_q | (look_valid_q ? 64'd1 << 6'(look_psn_q - base_q) : '0);
        end else begin
          scan_psn_q <= act_psn_q + 24'd1;
        end
      end
    end

    // The QP's state.
    if (frees && !blocked) begin
      count_q <= count_q + 1'b1;
      if (act_psn_q == ctx_q.unacked) moved_q <= 1'b1;
      if (found.transmissions == 2'd1 && signed'(found.sequence_number - ctx_q.highest_acked) > 0) begin
        ctx_q.highest_acked <= found.sequence_number;
      end
      if (found.state == Lost) begin
        ctx_q.lost <= ctx_q.lost - 1'b1;
        if (act_psn_q == ctx_q.oldest_lost) lost_gone_q <= 1'b1;
      end
    end
    if (unlinks) begin
      if (is_head && is_tail) ctx_q.any_outstanding <= 1'b0;
      if (is_head) ctx_q.head <= later;
      if (is_tail) ctx_q.tail <= earlier;
    end
    if (marks_sent) begin
      ctx_q.any_outstanding <= 1'b1;
      ctx_q.tail            <= look_index_q;
      if (!ctx_q.any_outstanding) ctx_q.head <= look_index_q;
      ctx_q.last_sequence <= ctx_q.last_sequence + 32'd1;
      hit_q <= 1'b1;
    end
    if (takes) begin
      hit_q       <= 1'b1;
      taken_psn_q     <= found.psn;
      taken_message_q <= found.message;
      taken_offset_q  <= found.offset;
      taken_bytes_q   <= found.bytes;
      taken_cause_q   <= found.cause;
      lost_gone_q <= 1'b1;
      ctx_q.lost  <= ctx_q.lost - 1'b1;
    end
    if (marks_lost || pops) begin
      ctx_q.lost <= ctx_q.lost + 1'b1;
      if (older_lost) ctx_q.oldest_lost <= pops ? found.psn : act_psn_q;
      hit_q   <= marks_lost;
      count_q <= count_q + 1'b1;
    end
    if (pops) begin
      if (ctx_q.head == ctx_q.tail) ctx_q.any_outstanding <= 1'b0;
      ctx_q.head <= later;
    end

    unique case (state_q)
      Idle: begin
        op_q        <= cmd_op_i;
        qp_q        <= cmd_qp_i;
        psn_q       <= cmd_psn_i;
        base_q      <= cmd_base_i;
        bitmap_q    <= cmd_bitmap_i;
        now_q       <= cmd_now_i;
        limit_q     <= cmd_limit_i;
        threshold_q <= cmd_threshold_i;
        ev_q        <= cmd_ev_i;
        cause_q     <= cmd_cause_i;
        message_q   <= cmd_message_i;
        offset_q    <= cmd_offset_i;
        bytes_q     <= cmd_bytes_i;
        hit_q       <= 1'b0;
        advanced_q  <= 1'b0;
        moved_q     <= 1'b0;
        lost_gone_q <= 1'b0;
        count_q     <= '0;
      end
      Load: begin
        ctx_q      <= ctx_rdata;
        scan_q     <= (op_q == RetransmitAck) ? ScanCumulative : ScanOne;
        scan_psn_q <= psn_q;
        scan_end_q <= psn_q + 24'd1;
        if (op_q == RetransmitTake) begin
          scan_psn_q <= ctx_rdata.oldest_lost;
          scan_end_q <= ctx_rdata.oldest_lost + 24'd1;
        end
        if (op_q == RetransmitAck) begin
          scan_psn_q <= ctx_rdata.unacked;
          scan_end_q <= cumulative_end;
          advance_from_q <= cumulative_end;
          bitmap_q       <= bitmap_q & in_window;
        end
        if (op_q == RetransmitAppend) hit_q <= ctx_rdata.opened && free_valid;
        if (op_q == RetransmitOpen) begin
          hit_q <= 1'b1;
          ctx_q <= '{opened: 1'b1, unacked: psn_q, next: psn_q, last_sequence: '0, highest_acked: '0,
                     any_outstanding: 1'b0, head: '0, tail: '0, lost: '0, oldest_lost: '0};
        end
      end
      Append: begin
        psn_q <= ctx_q.next;
        if (hit_q) ctx_q.next <= ctx_q.next + 24'd1;
      end
      Scan, WalkLook: begin
        if (scan_q == ScanAdvance && (stops || scan_done)) begin
          ctx_q.unacked <= stops ? act_psn_q : ctx_q.next;
          advanced_q    <= 1'b1;
        end
        if (scan_q == ScanLost && stops) ctx_q.oldest_lost <= act_psn_q;
        if (stops || scan_done) begin
          scan_q     <= next_scan;
          scan_end_q <= ctx_q.next;
          if (next_scan == ScanAdvance) scan_psn_q <= advance_from_q;
          if (next_scan == ScanLost) scan_psn_q <= ctx_q.oldest_lost + 24'd1;
        end
      end
      default: ;
    endcase
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Events and response.
  // ---------------------------------------------------------------------------------------------------------------
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      evt_valid_o <= 1'b0;
    end else if ((frees && !blocked) || marks_lost || pops) begin
      evt_valid_o <= 1'b1;
    end else if (evt_ready_i) begin
      evt_valid_o <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if ((frees && !blocked) || marks_lost || pops) begin
      evt_lost_o     <= !frees;
      evt_psn_o      <= found.psn;
      evt_was_lost_o <= frees && found.state == Lost;
      evt_bytes_o    <= found.bytes;
      evt_ev_o       <= found.ev;
    end
  end

  assign rsp_valid_o       = state_q == Respond && !evt_valid_o;
  assign rsp_hit_o         = hit_q;
  assign rsp_advanced_o    = advanced_q;
  assign rsp_count_o       = count_q;
  assign rsp_psn_o         = (op_q == RetransmitTake) ? taken_psn_q : psn_q;
  assign rsp_message_o     = taken_message_q;
  assign rsp_offset_o      = taken_offset_q;
  assign rsp_bytes_o       = taken_bytes_q;
  assign rsp_cause_o       = taken_cause_q;
  assign rsp_unacked_o     = ctx_q.unacked;
  assign rsp_next_o        = ctx_q.next;
  assign rsp_has_lost_o    = ctx_q.lost != '0;
  assign rsp_oldest_lost_o = ctx_q.oldest_lost;
  assign rsp_outstanding_o = ctx_q.any_outstanding;
  assign rsp_oldest_psn_o  = found.psn;
  assign rsp_oldest_sent_o = found.sent_at;

endmodule
