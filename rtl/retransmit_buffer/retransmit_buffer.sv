// Records of the packets that QPs have sent and that are not acknowledged: a shared pool, looked up by QP and PSN over
// hash chains. Applies SACKs, keeps each QP's outstanding packets in the order of sending, from which losses are inferred
// and timeouts found, and knows its oldest lost packet. Commands on one record pass four stages, one per cycle; those on many
// hold the fourth stage. See README.md.
module retransmit_buffer
  import mrc_pkg::*;
#(
  parameter  int unsigned Qps          = 16384,  // of the NIC; power of two
  parameter  int unsigned NumSlots     = 1024,   // contexts in the block; power of two
  parameter  int unsigned Records      = 4096,   // shared pool; power of two
  parameter  int unsigned Buckets      = 4 * Records,  // of the hash; power of two, at most 2^24
  parameter  int unsigned TimeWidth    = 48,     // of now, in any unit
  localparam int unsigned QpWidth      = $clog2(Qps),
  localparam int unsigned IndexWidth   = $clog2(Records),
  localparam int unsigned CountWidth   = IndexWidth + 1,
  localparam int unsigned BucketWidth  = $clog2(Buckets),
  localparam int unsigned SlotWidth    = $clog2(NumSlots),
  localparam int unsigned ClearWidth   = ((SlotWidth > BucketWidth) ? SlotWidth : BucketWidth) + 1,
  // A context as it is moved: opened, old end, next, numbers, order of sending, lost packets.
  localparam int unsigned ContextWidth = 1 + 48 + 64 + 1 + 2 * IndexWidth + CountWidth + 24
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // Commands.
  input  logic                    cmd_valid_i,
  output logic                    cmd_ready_o,
  input  retransmit_op_e          cmd_op_i,
  input  logic [SlotWidth-1:0]    cmd_slot_i,     // of the QP's context
  input  logic [QpWidth-1:0]      cmd_qp_i,       // its records are found by its number
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
  input  logic [ContextWidth-1:0] cmd_context_i,  // load

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
  output logic [CountWidth-1:0]   rsp_free_o,     // records
  output logic [ContextWidth-1:0] rsp_context_o   // after the command
);

  localparam logic [1:0] InPipeline  = 2'd0;
  localparam logic [1:0] Outstanding = 2'd1;
  localparam logic [1:0] Lost        = 2'd2;

  typedef struct packed {
    retransmit_op_e       op;
    logic [SlotWidth-1:0] slot;
    logic [QpWidth-1:0]   qp;
    logic [23:0]          psn;
    logic [23:0]          base;
    logic [63:0]          bitmap;
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
  localparam int unsigned Folds = (QpWidth + BucketWidth - 1) / BucketWidth;  // a QP's number in widths of a bucket's
  // Every third bit, as whole words, which a simulator is quick with.
  localparam logic [QpWidth-1:0] Third = QpWidth'({(QpWidth / 3 + 1) {3'b001}});
  function automatic logic [BucketWidth-1:0] bucket_of(logic [QpWidth-1:0] qp, logic [BucketWidth-1:0] psn);
    logic [Folds-1:0][BucketWidth-1:0] folds;
    logic [BucketWidth-1:0]            start, mirrored;
    logic [2:0]                        spread;
    folds = (Folds * BucketWidth)'(qp);
    start = '0;
    for (int unsigned f = 0; f < Folds; f++) begin
      mirrored = {<<{folds[f]}};
      start    = start ^ mirrored;
    end
    for (int unsigned k = 0; k < 3; k++) spread[k] = ^(qp & (Third << k));
    return (psn + ((psn << spread) << 1)) ^ start;
  endfunction

  function automatic logic signed [23:0] ahead(logic [23:0] a, logic [23:0] b);
    return signed'(a - b);
  endfunction

  // Number of the lowest bit that is set, by halves: at[k][i] is bit k of the lowest number in the group that begins at i.
  // As whole words, which a simulator is quick with; where no group begins what they have is not used.
  function automatic logic [5:0] lowest_of(logic [63:0] bits);
    logic [63:0]      some, lower;
    logic [5:0][63:0] at;
    some = bits;
    at   = '0;
    for (int unsigned l = 0; l < 6; l++) begin
      lower = some;
      for (int unsigned k = 0; k < l; k++) at[k] = (lower & at[k]) | (~lower & (at[k] >> (1 << l)));
      at[l] = ~lower;
      some  = lower | (lower >> (1 << l));
    end
    for (int unsigned k = 0; k < 6; k++) lowest_of[k] = at[k][0];
  endfunction

  // What the fourth stage does. Act: a command on one record, the first cycle of another, or nothing is there. Look: the record of
  // the packet that was sent longest ago comes; Age: how long ago; Head: it is judged.
  typedef enum logic [2:0] {Clear, Act, Scan, Look, Age, Head, Done} state_e;
  // What a scan over PSNs is for.
  typedef enum logic [1:0] {ScanOne, ScanFree, ScanAdvance, ScanLost} scan_e;

  state_e                 state_q;
  scan_e                  scan_q;
  logic [ClearWidth-1:0]  clear_q;

  context_t               loaded_q;  // came with a load, which has the block for itself

  // First stage: the QP's context and the PSN's bucket come out of their memories.
  logic                   s1_valid_q;
  command_t               s1_q;
  logic [BucketWidth-1:0] cmd_bucket, s1_bucket_q;

  // Second stage: they are in registers, and the record is read.
  logic                   s2_valid_q;
  command_t               s2_q;
  context_t               s2_ctx_q;
  link_t                  s2_link_q;
  logic [BucketWidth-1:0] s2_bucket_q;

  // Third stage: the record comes out of its memory, that of a command or of a scan.
  logic                   s3_valid_q;
  logic                   s3_lost_q;              // another one is at the memory's output: it is read again
  command_t               s3_q;
  context_t               s3_ctx_q;
  link_t                  s3_link_q;
  logic [BucketWidth-1:0] s3_bucket_q;

  // Fourth stage: the record is in registers, and everything changes.
  logic                   s4_valid_q;
  command_t               cmd_q;
  context_t               ctx_q, ctx_next;
  logic                   walk_q;                 // the next record of the chain comes out of its memory
  record_t                found_q;
  link_t                  chain_q, front_q;
  logic [IndexWidth-1:0]  later_q, earlier_q;
  logic [TimeWidth-1:0]   sent_at_q, age_q;       // of the packet that was sent longest ago
  logic [23:0]            cumulative_end_q;       // first PSN behind the cumulative part of an ack
  logic [63:0]            bitmap_q;
  logic                   hit_q, advanced_q, moved_q, lost_gone_q;
  logic [CountWidth-1:0]  count_q;
  logic [23:0]            taken_psn_q;
  logic [15:0]            taken_message_q, taken_bytes_q;
  logic [31:0]            taken_offset_q;
  logic [3:0]             taken_cause_q;

  // Then the response.
  logic                   response_valid_q, response_free;

  // Scan, see below.
  logic [23:0]           scan_psn_q, scan_end_q;  // next PSN, and the first that is not looked at
  logic                  look_valid_q;            // its bucket is on bucket_rdata
  logic [23:0]           look_psn_q;
  logic [BucketWidth-1:0] look_bucket_q;
  logic                  fetch_valid_q;           // its record, if it has one, comes out of the memory
  logic [23:0]           fetch_psn_q;
  logic                  act_valid_q;             // it is in found_q
  logic                  act_some_q;
  logic [23:0]           act_psn_q;
  logic [BucketWidth-1:0] act_bucket_q;           // of it, or of the new record
  logic [IndexWidth-1:0] look_index_q;            // of the record in found_q
  link_t                 before_q;                // in its chain

  // ---------------------------------------------------------------------------------------------------------------
  // Memories.
  // ---------------------------------------------------------------------------------------------------------------
  logic                  ctx_we, ctx_re;
  logic [SlotWidth-1:0]  ctx_waddr;
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

  ram_1r1w #(.Depth(NumSlots), .Width($bits(context_t))) u_contexts (
    .clk_i, .we_i(ctx_we), .waddr_i(ctx_waddr), .wdata_i(ctx_wdata), .re_i(ctx_re), .raddr_i(cmd_slot_i),
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
  // leaves the fourth stage; so do an open and a load. When a command leaves the fourth stage, each one behind it moves.
  // ---------------------------------------------------------------------------------------------------------------
  function automatic logic alone(retransmit_op_e op);
    return op == RetransmitAck || op == RetransmitTake || op == RetransmitGap || op == RetransmitTimeout ||
           op == RetransmitOpen || op == RetransmitLoad;
  endfunction

  logic cmd_taken, s1_moves, s2_moves, s3_moves, s4_leaves, evt_room;
  logic s1_alone, s2_alone, s3_alone, s4_alone;
  logic steps, walk_on;
  assign s1_alone      = alone(s1_q.op);
  assign s2_alone      = alone(s2_q.op);
  assign s3_alone      = alone(s3_q.op);
  assign s4_alone      = alone(cmd_q.op);
  assign cmd_ready_o   = state_q != Clear && (!s1_valid_q || s1_moves) && !(s1_valid_q && s1_alone) &&
                         !(s2_valid_q && s2_alone) && !(s3_valid_q && s3_alone) &&
                         (!s4_valid_q || !s4_alone || s4_leaves);
  assign cmd_taken     = cmd_valid_i && cmd_ready_o;
  assign s1_moves      = s1_valid_q && (!s2_valid_q || s2_moves);
  assign s2_moves      = s2_valid_q && (!s3_valid_q || s3_moves) && !walk_on;
  assign s3_moves      = s3_valid_q && !s3_lost_q && (!s4_valid_q || s4_leaves);
  assign response_free = !response_valid_q || (rsp_valid_o && rsp_ready_i);
  // No event of a command comes before the response of the command before.
  assign evt_room      = response_free && (!evt_valid_o || evt_ready_i);

  // What the fourth stage leaves is not in the memories yet: the context, and the record of a new packet that the command is for.
  // Where the new record is another one, its place in front of the chain does not matter.
  context_t s1_ctx, s2_ctx, s3_ctx;
  link_t    s1_link, s2_link, s3_link;
  logic     s1_new, s2_new, s3_new;
  assign s1_new  = free_take && cmd_q.slot == s1_q.slot && ctx_q.next == s1_q.psn;
  assign s2_new  = free_take && cmd_q.slot == s2_q.slot && ctx_q.next == s2_q.psn;
  assign s3_new  = free_take && cmd_q.slot == s3_q.slot && ctx_q.next == s3_q.psn;
  assign s1_ctx  = (s4_leaves && cmd_q.slot == s1_q.slot) ? ctx_next : ctx_rdata;
  assign s2_ctx  = (s4_leaves && cmd_q.slot == s2_q.slot) ? ctx_next : s2_ctx_q;
  assign s3_ctx  = (s4_leaves && cmd_q.slot == s3_q.slot) ? ctx_next : s3_ctx_q;
  assign s1_link = s1_new ? '{valid: 1'b1, index: free_index} : bucket_rdata;
  assign s2_link = s2_new ? '{valid: 1'b1, index: free_index} : s2_link_q;
  assign s3_link = s3_new ? '{valid: 1'b1, index: free_index} : s3_link_q;

  // The PSN of an append counts those in front of it on its QP. Where one of them gets no record, neither does this one.
  logic [BucketWidth-1:0] s2_next, s2_front;
  assign s2_next  = s2_ctx_q.next[BucketWidth-1:0] +
                    BucketWidth'(s3_valid_q && s3_q.op == RetransmitAppend && s3_q.slot == s2_q.slot) +
                    BucketWidth'(s4_valid_q && cmd_q.op == RetransmitAppend && cmd_q.slot == s2_q.slot);
  assign s2_front = bucket_of(s2_q.qp, s2_next);

  // PSNs that a cumulative acknowledgement covers; then the bits inside the rest of the window.
  logic [23:0]        span, cumulative, cumulative_end;
  logic signed [23:0] base_ahead, base_behind, base_left;
  logic [63:0]        in_window;
  assign span           = ctx_q.next - ctx_q.unacked;
  assign cumulative     = cmd_q.psn - ctx_q.unacked + 24'd1;
  // Behind the old end, or beyond the packets that there are: nothing, or all.
  assign cumulative_end = (signed'(cumulative) < 0) ? ctx_q.unacked :
                          (cumulative < span)       ? cmd_q.psn + 24'd1 : ctx_q.next;
  // How far that is behind the first bit: the difference of each, so that the choice comes last.
  assign base_behind    = (signed'(cumulative) < 0) ? signed'(ctx_q.unacked - cmd_q.base) :
                          (cumulative < span)       ? signed'(cmd_q.psn - cmd_q.base + 24'd1) : base_left;
  assign base_ahead     = ahead(cmd_q.base, ctx_q.unacked);
  assign base_left      = signed'(ctx_q.next - cmd_q.base);
  always_comb begin
    in_window = '1;
    if (base_behind >= 0) begin
      in_window = (base_behind >= 24'sd64) ? '0 : in_window << 6'(base_behind);
    end
    if (base_ahead >= signed'(span)) begin
      in_window = '0;
    end else if (base_left < 24'sd64) begin
      in_window = in_window & ((64'd1 << 6'(base_left)) - 64'd1);
    end
  end

  // There is nothing to do. A packet outside the window has no record.
  logic none;
  always_comb begin
    unique case (cmd_q.op)
      RetransmitAppend:                 none = !ctx_q.opened;
      RetransmitTake:                   none = ctx_q.lost == '0;
      RetransmitAck:                    none = ctx_q.next == ctx_q.unacked;
      RetransmitGap, RetransmitTimeout: none = !ctx_q.any_outstanding;
      default:                          none = 1'b0;
    endcase
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Scan over PSNs in four steps: PSN, bucket, record, action. A record that is not the first of its chain holds the steps
  // for two cycles each that is before it. A bucket that has been read for the next PSNs stays right when a record leaves it:
  // of a QP the newer records of a chain are in front of the older ones, and what leaves first is the oldest.
  // ---------------------------------------------------------------------------------------------------------------
  logic [5:0] lowest;
  assign lowest = lowest_of(bitmap_q);

  // The cumulative part, then the bitmap.
  logic        scan_more, scan_bit;
  logic [23:0] scan_psn;
  assign scan_bit  = scan_q == ScanFree && scan_psn_q == scan_end_q;
  assign scan_more = scan_bit ? bitmap_q != '0 : scan_psn_q != scan_end_q;
  assign scan_psn  = scan_bit ? cmd_q.base + 24'(lowest) : scan_psn_q;

  logic [BucketWidth-1:0] scan_bucket;
  assign scan_bucket = bucket_of(cmd_q.qp, scan_psn[BucketWidth-1:0]);

  // The record in found_q is the one that is looked for, or its chain goes on.
  logic in_scan, one_record, acting, match, present;
  assign in_scan    = state_q == Scan;
  assign one_record = state_q == Act && s4_valid_q && !walk_q && (cmd_q.op == RetransmitSent || cmd_q.op == RetransmitNack);
  assign acting     = (in_scan && act_valid_q && !walk_q) || one_record;
  assign match      = found_q.qp == cmd_q.qp && found_q.psn == act_psn_q;
  assign present    = acting && act_some_q && match;
  assign walk_on    = acting && act_some_q && !match && chain_q.valid;

  logic scan_done;  // nothing comes, and what is in found_q is the last
  logic frees, blocked, marks_lost, takes, stops, unlinks, opens;
  assign frees      = present && scan_q == ScanFree && in_scan && evt_room;
  assign blocked    = present && scan_q == ScanFree && in_scan && !evt_room;
  assign steps      = in_scan && !blocked && !walk_on && !walk_q;
  assign marks_sent = s4_leaves && one_record && present && cmd_q.op == RetransmitSent && found_q.state == InPipeline;
  assign marks_lost = s4_leaves && one_record && present && cmd_q.op == RetransmitNack && found_q.state == Outstanding;
  assign takes      = present && scan_q == ScanOne && in_scan && found_q.state == Lost;
  assign stops      = present && in_scan &&
                      (scan_q == ScanAdvance || (scan_q == ScanLost && found_q.state == Lost));
  assign unlinks    = (frees && found_q.state == Outstanding) || marks_lost;
  assign opens      = s4_leaves && state_q == Act && cmd_q.op == RetransmitOpen;
  assign free_take  = s4_valid_q && response_free && state_q == Act && cmd_q.op == RetransmitAppend && ctx_q.opened && free_valid;
  assign free_give  = frees;

  // Oldest outstanding packet of the QP: loss by gap and by timeout. A gap has its record with the context; a timeout reads the time
  // of sending, which the response in front must have left.
  logic        head_looks, head_lost, pops, starts;
  logic [31:0] overtaken;  // packets that were sent after it and are acknowledged
  assign starts     = state_q == Act && s4_valid_q && !none;
  assign head_looks = starts && cmd_q.op == RetransmitTimeout && response_free;
  assign overtaken  = ctx_q.highest_acked - found_q.sequence_number;
  assign head_lost  = state_q == Head && ((cmd_q.op == RetransmitGap) ? signed'(overtaken) >= signed'(cmd_q.threshold)
                                                                      : age_q >= cmd_q.limit);
  assign pops       = head_lost && evt_room;

  // The fourth stage is done with its command.
  logic ends, at_once;
  assign at_once = cmd_q.op == RetransmitOpen || cmd_q.op == RetransmitAppend || cmd_q.op == RetransmitLoad ||
                   cmd_q.op == RetransmitStore;
  always_comb begin
    unique case (state_q)
      // There is room for a nack's event: the one before is gone when the response is free.
      Act:     ends = none || at_once || (one_record && !walk_on);
      Head:    ends = !head_lost;
      Done:    ends = 1'b1;
      default: ends = 1'b0;
    endcase
  end
  assign s4_leaves = s4_valid_q && ends && response_free;

  // ---------------------------------------------------------------------------------------------------------------
  // Memory accesses.
  // ---------------------------------------------------------------------------------------------------------------
  assign ctx_re    = cmd_taken;
  assign ctx_we    = s4_leaves || state_q == Clear;
  assign ctx_waddr = (state_q == Clear) ? clear_q[SlotWidth-1:0] : cmd_q.slot;
  assign ctx_wdata = (state_q == Clear) ? '0 : ctx_next;

  assign bucket_re    = steps || cmd_taken;
  assign cmd_bucket   = bucket_of(cmd_qp_i, cmd_psn_i[BucketWidth-1:0]);
  assign bucket_raddr = in_scan ? scan_bucket : cmd_bucket;
  assign front_re     = s2_moves;
  assign front_raddr  = s2_front;

  always_comb begin
    record_re    = s2_moves;
    record_raddr = s2_link.index;
    if (walk_on) begin
      record_re    = 1'b1;
      record_raddr = chain_q.index;
    end else if (s3_lost_q) begin
      record_re    = 1'b1;
      record_raddr = s3_link_q.index;
    end else if (in_scan) begin
      record_re    = steps;
      record_raddr = bucket_rdata.index;
    end else if (head_looks) begin
      record_re    = 1'b1;
      record_raddr = ctx_q.head;
    end else if (pops) begin
      record_re    = 1'b1;
      record_raddr = later_q;
    end else if (s3_valid_q && s3_q.op == RetransmitGap) begin
      record_re    = 1'b1;
      record_raddr = s3_ctx.head;
    end
  end

  assign sent_re    = s4_leaves || head_looks || pops;
  assign sent_raddr = pops ? later_q : s4_leaves ? ctx_next.head : ctx_q.head;
  assign sent_wdata = '{psn: cmd_q.psn, sent_at: cmd_q.now};

  logic is_head, is_tail;
  assign is_head = look_index_q == ctx_q.head;
  assign is_tail = look_index_q == ctx_q.tail;

  // Chains.
  always_comb begin
    bucket_we    = 1'b0;
    bucket_waddr = act_bucket_q;
    bucket_wdata = chain_q;
    chain_we     = 1'b0;
    chain_waddr  = before_q.index;
    chain_wdata  = chain_q;
    if (state_q == Clear) begin
      bucket_we    = 1'b1;
      bucket_waddr = clear_q[BucketWidth-1:0];
      bucket_wdata = '0;
    end else if (free_take) begin
      bucket_we    = 1'b1;
      bucket_wdata = '{valid: 1'b1, index: free_index};
      chain_we     = 1'b1;
      chain_waddr  = free_index;
      chain_wdata  = front_q;
    end else if (free_give) begin
      bucket_we = !before_q.valid;
      chain_we  = before_q.valid;
    end
  end

  // Order of sending.
  always_comb begin
    later_we      = 1'b0;
    later_waddr   = earlier_q;
    later_wdata   = later_q;
    earlier_we    = 1'b0;
    earlier_waddr = later_q;
    earlier_wdata = earlier_q;
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
    record_wdata = found_q;
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
      record_wdata.transmissions   = (found_q.transmissions == 2'd0) ? 2'd1 : 2'd2;
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
  assign older_lost = ctx_q.lost == '0 || ahead(found_q.psn, ctx_q.oldest_lost) < 0;

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
    if (cmd_q.op == RetransmitLoad) ctx_next = loaded_q;
    if (free_take) ctx_next.next = ctx_q.next + 24'd1;
    if (marks_sent) begin
      ctx_next.any_outstanding = 1'b1;
      ctx_next.tail            = look_index_q;
      if (!ctx_q.any_outstanding) ctx_next.head = look_index_q;
      ctx_next.last_sequence   = ctx_q.last_sequence + 32'd1;
    end
    if (frees) begin
      if (found_q.transmissions == 2'd1 && signed'(found_q.sequence_number - ctx_q.highest_acked) > 0) begin
        ctx_next.highest_acked = found_q.sequence_number;
      end
      if (found_q.state == Lost) ctx_next.lost = ctx_q.lost - 1'b1;
    end
    if (unlinks) begin
      if (is_head && is_tail) ctx_next.any_outstanding = 1'b0;
      if (is_head) ctx_next.head = later_q;
      if (is_tail) ctx_next.tail = earlier_q;
    end
    if (takes) ctx_next.lost = ctx_q.lost - 1'b1;
    if (marks_lost || pops) begin
      ctx_next.lost = ctx_q.lost + 1'b1;
      if (older_lost) ctx_next.oldest_lost = found_q.psn;
    end
    if (pops) begin
      if (ctx_q.head == ctx_q.tail) ctx_next.any_outstanding = 1'b0;
      ctx_next.head = later_q;
    end
    if (scan_q == ScanAdvance && (stops || scan_done)) ctx_next.unacked = stops ? act_psn_q : ctx_q.next;
    if (scan_q == ScanLost && stops) ctx_next.oldest_lost = act_psn_q;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Control.
  // ---------------------------------------------------------------------------------------------------------------
  assign scan_done = steps && !scan_more && !look_valid_q && !fetch_valid_q;

  // Which scan follows: the new old end, the oldest lost packet.
  logic   moved, lost_gone;
  state_e after_scan;
  scan_e  next_scan;
  assign moved     = moved_q || (frees && act_psn_q == ctx_q.unacked);
  assign lost_gone = lost_gone_q || takes || (frees && found_q.state == Lost && act_psn_q == ctx_q.oldest_lost);
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
      state_q          <= Clear;
      clear_q          <= '0;
      s1_valid_q       <= 1'b0;
      s2_valid_q       <= 1'b0;
      s3_valid_q       <= 1'b0;
      s3_lost_q        <= 1'b0;
      s4_valid_q       <= 1'b0;
      walk_q           <= 1'b0;
      response_valid_q <= 1'b0;
      look_valid_q     <= 1'b0;
      fetch_valid_q    <= 1'b0;
      act_valid_q      <= 1'b0;
    end else begin
      s1_valid_q       <= cmd_taken || (s1_valid_q && !s1_moves);
      s2_valid_q       <= s1_moves || (s2_valid_q && !s2_moves);
      s3_valid_q       <= s2_moves || (s3_valid_q && !s3_moves);
      s3_lost_q        <= walk_on && (s3_valid_q || fetch_valid_q);
      s4_valid_q       <= s3_moves || (s4_valid_q && !s4_leaves);
      walk_q           <= walk_on;
      response_valid_q <= s4_leaves || !response_free;
      unique case (state_q)
        Clear: begin
          clear_q <= clear_q + 1'b1;
          if (32'(clear_q) >= NumSlots - 1 && 32'(clear_q) >= Buckets - 1) state_q <= Act;
        end
        Act: begin
          if (head_looks) state_q <= Look;
          if (starts && cmd_q.op == RetransmitGap) state_q <= Head;
          if (starts && (cmd_q.op == RetransmitAck || cmd_q.op == RetransmitTake)) state_q <= Scan;
        end
        Scan: begin
          if (steps) begin
            look_valid_q  <= scan_more;
            fetch_valid_q <= look_valid_q;
            act_valid_q   <= fetch_valid_q;
          end
          if (stops || scan_done) begin
            look_valid_q  <= 1'b0;
            fetch_valid_q <= 1'b0;
            act_valid_q   <= 1'b0;
            state_q       <= after_scan;
          end
        end
        Look: state_q <= (cmd_q.op == RetransmitGap) ? Head : Age;
        Age:  state_q <= Head;
        Head: if (pops) state_q <= (ctx_q.head == ctx_q.tail) ? Done : Look;
        default: ;
      endcase
      if (s4_leaves) state_q <= Act;
    end
  end

  always_ff @(posedge clk_i) begin
    if (cmd_taken) begin
      s1_q <= '{op: cmd_op_i, slot: cmd_slot_i, qp: cmd_qp_i, psn: cmd_psn_i, base: cmd_base_i, bitmap: cmd_bitmap_i,
                now: cmd_now_i, limit: cmd_limit_i, threshold: cmd_threshold_i, ev: cmd_ev_i, cause: cmd_cause_i,
                message: cmd_message_i, offset: cmd_offset_i, bytes: cmd_bytes_i};
      s1_bucket_q <= cmd_bucket;
      loaded_q    <= cmd_context_i;
    end
    if (s1_moves) begin
      s2_q        <= s1_q;
      s2_ctx_q    <= s1_ctx;
      s2_link_q   <= s1_link;
      s2_bucket_q <= s1_bucket_q;
    end
    if (s2_moves) begin
      s3_q        <= s2_q;
      s3_ctx_q    <= s2_ctx;
      s3_link_q   <= s2_link;
      s3_bucket_q <= (s2_q.op == RetransmitAppend) ? s2_front : s2_bucket_q;
    end

    // Steps.
    if (steps) begin
      look_psn_q    <= scan_psn;
      look_bucket_q <= scan_bucket;
      fetch_psn_q   <= look_psn_q;
      s3_link_q     <= bucket_rdata;
      s3_bucket_q   <= look_bucket_q;
      if (scan_more) begin
        if (scan_bit) begin
          bitmap_q <= bitmap_q & (bitmap_q - 64'd1);
        end else begin
          scan_psn_q <= scan_psn_q + 24'd1;
        end
      end
    end
    if (walk_on) begin
      look_index_q <= chain_q.index;
      before_q     <= '{valid: 1'b1, index: look_index_q};
    end
    if (stops || scan_done) begin
      scan_q     <= next_scan;
      scan_end_q <= ctx_q.next;
      scan_psn_q <= (next_scan == ScanAdvance) ? cumulative_end_q : ctx_q.oldest_lost + 24'd1;
    end
    if (state_q == Act) begin
      cumulative_end_q <= cumulative_end;
      scan_q           <= (cmd_q.op == RetransmitTake) ? ScanOne : ScanFree;
      scan_psn_q       <= (cmd_q.op == RetransmitTake) ? ctx_q.oldest_lost : ctx_q.unacked;
      scan_end_q       <= (cmd_q.op == RetransmitTake) ? ctx_q.oldest_lost + 24'd1 : cumulative_end;
      bitmap_q         <= cmd_q.bitmap & in_window;
    end

    // The record and those around it, as the action of this cycle leaves them.
    if (s3_moves || steps) begin
      act_psn_q      <= in_scan ? fetch_psn_q : s3_q.psn;
      act_bucket_q   <= s3_bucket_q;
      act_some_q     <= s3_link.valid;
      look_index_q   <= s3_link.index;
      before_q.valid <= 1'b0;
      found_q        <= (s3_new || (record_we && record_waddr == s3_link_q.index)) ? record_wdata : found;
      chain_q        <= (chain_we && chain_waddr == s3_link_q.index) ? chain_wdata : chain;
      later_q        <= (later_we && later_waddr == s3_link_q.index) ? later_wdata : later;
      earlier_q      <= (earlier_we && earlier_waddr == s3_link_q.index) ? earlier_wdata : earlier;
      front_q        <= (bucket_we && bucket_waddr == s3_bucket_q) ? bucket_wdata : front;
    end else if (walk_q || state_q == Look || (starts && cmd_q.op == RetransmitGap)) begin
      found_q   <= found;
      chain_q   <= chain;
      later_q   <= later;
      earlier_q <= earlier;
    end
    sent_at_q <= oldest.sent_at;
    age_q     <= cmd_q.now - sent_at_q;

    // What the command has done so far.
    ctx_q       <= ctx_next;
    moved_q     <= moved;
    lost_gone_q <= lost_gone;
    if (frees || pops) count_q <= count_q + 1'b1;
    if (scan_q == ScanAdvance && (stops || scan_done)) advanced_q <= 1'b1;
    if (takes) begin
      hit_q           <= 1'b1;
      taken_psn_q     <= found_q.psn;
      taken_message_q <= found_q.message;
      taken_offset_q  <= found_q.offset;
      taken_bytes_q   <= found_q.bytes;
      taken_cause_q   <= found_q.cause;
    end

    if (s3_moves) begin
      cmd_q       <= s3_q;
      ctx_q       <= s3_ctx;
      hit_q       <= 1'b0;
      advanced_q  <= 1'b0;
      moved_q     <= 1'b0;
      lost_gone_q <= 1'b0;
      count_q     <= '0;
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
      evt_psn_o      <= found_q.psn;
      evt_was_lost_o <= frees && found_q.state == Lost;
      evt_bytes_o    <= found_q.bytes;
      evt_ev_o       <= found_q.ev;
    end
  end

  always_ff @(posedge clk_i) begin
    if (s4_leaves) begin
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
      rsp_context_o     <= ctx_next;
    end
  end

  assign rsp_valid_o       = response_valid_q && !evt_valid_o;
  assign rsp_oldest_psn_o  = oldest.psn;
  assign rsp_oldest_sent_o = oldest.sent_at;

endmodule
