// Whose turn it is to send: a list of the QPs that are ready, the contexts that are on the NIC, and grants of a quantum to
// QPs whose context is there. A QP whose context is missing leaves the list until it has been fetched. The receiving
// side looks contexts up beside the turns. See README.md.
module qp_scheduler
  import mrc_pkg::*;
#(
  parameter  int unsigned NumQps       = 16384,  // power of two
  parameter  int unsigned NumSlots     = 1024,   // contexts on the NIC; power of two, 2 … NumQps
  localparam int unsigned QpWidth      = $clog2(NumQps),
  localparam int unsigned SlotWidth    = $clog2(NumSlots)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [29:0]          quantum_bytes_i,  // constant after reset
  input  logic                 run_i,            // turns may begin
  input  logic                 read_room_i,      // PCIe takes one more read

  // The QP has something to send, or to look at.
  input  logic                 act_valid_i,
  output logic                 act_ready_o,
  input  logic [QpWidth-1:0]   act_qp_i,

  // A grant comes back.
  input  logic                 back_valid_i,
  output logic                 back_ready_o,
  input  logic [QpWidth-1:0]   back_qp_i,
  input  logic [SlotWidth-1:0] back_slot_i,
  input  logic                 back_again_i,     // the QP wants another turn

  // The receiving side needs a context.
  input  logic                 look_valid_i,
  output logic                 look_ready_o,
  input  logic [QpWidth-1:0]   look_qp_i,

  // A context that was fetched is there.
  input  logic                 fill_valid_i,
  output logic                 fill_ready_o,
  input  logic [QpWidth-1:0]   fill_qp_i,
  input  logic                 fill_list_i,      // the QP is to get its turn
  input  logic                 fill_used_i,      // nobody waits for it who would use it first

  // A context cannot be read any more.
  input  logic                 drop_valid_i,
  output logic                 drop_ready_o,
  input  logic [QpWidth-1:0]   drop_qp_i,

  // What became of each turn; no ready.
  output logic                 turn_valid_o,
  output logic [QpWidth-1:0]   turn_qp_o,
  output context_lookup_e      turn_lookup_o,

  output logic                 grant_valid_o,
  input  logic                 grant_ready_i,
  output logic [QpWidth-1:0]   grant_qp_o,
  output logic [SlotWidth-1:0] grant_slot_o,
  output logic [29:0]          grant_quantum_bytes_o,

  // Answers to the receiving side.
  output logic                 seen_valid_o,
  input  logic                 seen_ready_i,
  output logic [QpWidth-1:0]   seen_qp_o,
  output logic [SlotWidth-1:0] seen_slot_o,      // where the lookup says that it is here
  output context_lookup_e      seen_lookup_o,

  // Contexts to be fetched, and whose slot they take.
  output logic                 fetch_valid_o,
  input  logic                 fetch_ready_i,
  output logic [QpWidth-1:0]   fetch_qp_o,
  output logic [SlotWidth-1:0] fetch_slot_o,
  output logic                 fetch_evicts_o,
  output logic [QpWidth-1:0]   fetch_evicted_qp_o,

  output logic                 pick_o,           // a turn begins in this cycle
  output logic                 others_o,         // a QP waits for its turn, or its grant was not taken yet
  output logic [QpWidth:0]     listed_o,         // QPs in the list
  output logic [SlotWidth:0]   held_o            // slots in use
);

  localparam int unsigned Places     = 4;  // of grants, and of answers to the receiving side
  localparam int unsigned PlaceWidth = $clog2(Places) + 1;

  // After reset: the state of all QPs, one per cycle.
  logic               clear_q;
  logic [QpWidth-1:0] clear_qp_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clear_q    <= 1'b1;
      clear_qp_q <= '0;
    end else begin
      if (clear_q) clear_qp_q <= clear_qp_q + 1'b1;
      if (&clear_qp_q) clear_q <= 1'b0;
    end
  end

  // Operations on the list: what a turn or a fill led to comes first, then what is given back.
  logic               own_valid_q, list_valid, choosing;
  list_op_e           own_op_q, list_op;
  logic [QpWidth-1:0] own_qp_q, list_qp;
  assign back_ready_o = !clear_q && !own_valid_q && !choosing;
  assign act_ready_o  = !clear_q && !own_valid_q && !(back_valid_i && !choosing);
  always_comb begin
    list_valid = own_valid_q || (back_valid_i && back_ready_o) || (act_valid_i && act_ready_o);
    list_op    = own_op_q;
    list_qp    = own_qp_q;
    if (!own_valid_q && back_valid_i && !choosing) begin
      list_op = back_again_i ? ListAgain : ListPark;
      list_qp = back_qp_i;
    end else if (!own_valid_q) begin
      list_op = ListActivate;
      list_qp = act_qp_i;
    end
  end

  logic               waits;
  logic [QpWidth-1:0] first_qp;
  qp_ready_list #(.NumQps(NumQps)) u_list (
    .clk_i, .rst_ni,
    .clear_i   (clear_q),
    .clear_qp_i(clear_qp_q),
    .op_valid_i(list_valid),
    .op_i      (list_op),
    .op_qp_i   (list_qp),
    .valid_o   (waits),
    .qp_o      (first_qp),
    .pick_i    (pick_o),
    .count_o   (listed_o)
  );

  // Operations on the contexts: fills, drops, lookups, turns.
  logic                  open, look_taken, op_valid, turn_place, seen_place, grant_empty, seen_empty, grant_full, seen_full;
  slot_op_e              op;
  logic [QpWidth-1:0]    op_qp;
  logic [PlaceWidth-1:0] grants, answers;
  logic                  done_valid, done_list;
  slot_op_e              done_op;
  logic [QpWidth-1:0]    done_qp;
  context_lookup_e       done_lookup;
  logic [SlotWidth-1:0]  done_slot;
  logic                  turn_done, look_done, returns;

  // One place is for what is in the stage.
  assign turn_place = grants < PlaceWidth'(turn_done ? Places - 1 : Places);
  assign seen_place = answers < PlaceWidth'(look_done ? Places - 1 : Places);
  // QPs for which nothing can be fetched go round; their return leaves every other cycle of the list to activations.
  assign returns    = own_valid_q && own_op_q == ListAgain;

  assign fill_ready_o = open;
  assign drop_ready_o = open && !fill_valid_i;
  assign look_ready_o = open && !fill_valid_i && !drop_valid_i && seen_place;
  assign look_taken   = look_valid_i && seen_place;
  assign pick_o       = open && !fill_valid_i && !drop_valid_i && !look_taken && waits && run_i && turn_place &&
                        !returns;
  assign op_valid     = open && (fill_valid_i || drop_valid_i || look_taken || pick_o);
  always_comb begin
    if (fill_valid_i) begin
      op    = SlotFill;
      op_qp = fill_qp_i;
    end else if (drop_valid_i) begin
      op    = SlotDrop;
      op_qp = drop_qp_i;
    end else if (look_taken) begin
      op    = SlotLook;
      op_qp = look_qp_i;
    end else begin
      op    = SlotTurn;
      op_qp = first_qp;
    end
  end

  qp_contexts #(.NumQps(NumQps), .NumSlots(NumSlots)) u_contexts (
    .clk_i, .rst_ni,
    .clear_i      (clear_q),
    .clear_qp_i   (clear_qp_q),
    .read_room_i,
    .open_o       (open),
    .op_valid_i   (op_valid),
    .op_i         (op),
    .op_qp_i      (op_qp),
    .op_list_i    (fill_list_i),
    .op_used_i    (fill_used_i),
    .done_valid_o (done_valid),
    .done_op_o    (done_op),
    .done_qp_o    (done_qp),
    .done_list_o  (done_list),
    .done_lookup_o(done_lookup),
    .done_slot_o  (done_slot),
    .back_valid_i (back_valid_i && back_ready_o),
    .back_slot_i,
    .choosing_o   (choosing),
    .held_o,
    .fetch_valid_o, .fetch_ready_i, .fetch_qp_o, .fetch_slot_o, .fetch_evicts_o, .fetch_evicted_qp_o
  );
  assign turn_done = done_valid && done_op == SlotTurn;
  assign look_done = done_valid && done_op == SlotLook;

  // A turn without its context ends at once; where nothing can be fetched, the QP goes behind the others.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      own_valid_q  <= 1'b0;
      turn_valid_o <= 1'b0;
    end else begin
      own_valid_q  <= (turn_done && done_lookup != ContextHere) || (done_valid && done_op == SlotFill && done_list);
      turn_valid_o <= turn_done;
    end
  end
  always_ff @(posedge clk_i) begin
    if (done_valid) begin
      own_qp_q <= done_qp;
      own_op_q <= ListPark;
      if (done_op == SlotFill) own_op_q <= ListActivate;
      else if (done_lookup == ContextNoRoom) own_op_q <= ListAgain;
    end
    if (turn_done) begin
      turn_qp_o     <= done_qp;
      turn_lookup_o <= done_lookup;
    end
  end

  fifo #(.Depth(Places), .Width(QpWidth + SlotWidth)) u_grants (
    .clk_i, .rst_ni,
    .push_i (turn_done && done_lookup == ContextHere),
    .data_i ({done_qp, done_slot}),
    .pop_i  (grant_valid_o && grant_ready_i),
    .data_o ({grant_qp_o, grant_slot_o}),
    .empty_o(grant_empty),
    .full_o (grant_full),
    .count_o(grants)
  );
  assign grant_valid_o         = !grant_empty;
  assign grant_quantum_bytes_o = quantum_bytes_i;
  assign others_o              = waits || grant_valid_o;

  logic [QpWidth+SlotWidth+1:0] seen;
  fifo #(.Depth(Places), .Width(QpWidth + SlotWidth + 2)) u_seen (
    .clk_i, .rst_ni,
    .push_i (look_done),
    .data_i ({done_qp, (done_lookup == ContextHere) ? done_slot : SlotWidth'(0), done_lookup}),
    .pop_i  (seen_valid_o && seen_ready_i),
    .data_o (seen),
    .empty_o(seen_empty),
    .full_o (seen_full),
    .count_o(answers)
  );
  assign seen_valid_o  = !seen_empty;
  assign seen_qp_o     = seen[QpWidth+SlotWidth+1:SlotWidth+2];
  assign seen_slot_o   = seen[SlotWidth+1:2];
  assign seen_lookup_o = context_lookup_e'(seen[1:0]);

  logic unused_full;
  assign unused_full = grant_full ^ seen_full;

endmodule
