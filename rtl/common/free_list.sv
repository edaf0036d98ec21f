// Numbers 0 … Depth - 1 that are taken and given back; the one that was free for longest is taken first. After reset all
// are free, in their order, without a walk over the memory: a counter hands them out the first time.
module free_list #(
  parameter  int unsigned Depth      = 16,  // power of two
  localparam int unsigned IndexWidth = $clog2(Depth),
  localparam int unsigned CountWidth = IndexWidth + 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  output logic                  valid_o,   // index_o is free
  output logic [IndexWidth-1:0] index_o,
  input  logic                  take_i,    // only while valid_o
  input  logic                  give_i,    // only a number that was taken
  input  logic [IndexWidth-1:0] index_i,
  output logic [CountWidth-1:0] free_o
);

  logic [CountWidth-1:0] fresh_q;  // numbers that were handed out for the first time
  logic [CountWidth-1:0] free_q;
  logic [CountWidth-1:0] returned;
  logic [IndexWidth-1:0] oldest;
  logic                  none_returned, returned_full;
  logic                  all_fresh_out;

  assign all_fresh_out = fresh_q == CountWidth'(Depth);
  assign valid_o       = !all_fresh_out || !none_returned;
  assign index_o       = all_fresh_out ? oldest : fresh_q[IndexWidth-1:0];
  assign free_o        = free_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fresh_q <= '0;
      free_q  <= CountWidth'(Depth);
    end else begin
      if (take_i && !all_fresh_out) fresh_q <= fresh_q + 1'b1;
      if (give_i && !take_i) free_q <= free_q + 1'b1;
      if (take_i && !give_i) free_q <= free_q - 1'b1;
    end
  end

  fifo #(.Depth(Depth), .Width(IndexWidth)) u_returned (
    .clk_i, .rst_ni,
    .push_i (give_i),
    .data_i (index_i),
    .pop_i  (take_i && all_fresh_out),
    .data_o (oldest),
    .empty_o(none_returned),
    .full_o (returned_full),
    .count_o(returned)
  );

  logic unused_status;
  assign unused_status = ^{returned_full, returned};

endmodule
