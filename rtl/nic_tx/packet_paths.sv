// Between spray_scheduler, retransmit_buffer and srv6_encap: the EV that a packet was given goes into its record when it is
// marked as sent, and the plane and uplink of the EV into its outer header. Packets keep their order. A packet is
// encapsulated only after it was marked as sent. See README.md.
module packet_paths
  import mrc_pkg::*;
#(
  parameter  int unsigned MaxEvs    = 256,  // EVs of the profile, a power of two
  parameter  int unsigned NumPlanes = 8,
  parameter  int unsigned MostSent  = 16,   // packets between spray_scheduler and retransmit_buffer, a power of two
  parameter  int unsigned MostPaths = 64,   // packets between spray_scheduler and srv6_encap, a power of two
  localparam int unsigned EvW       = $clog2(MaxEvs),
  localparam int unsigned PlaneW    = $clog2(NumPlanes)
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  // The uplink that an EV takes; written before the first packet.
  input  logic              map_valid_i,
  input  logic [EvW-1:0]    map_ev_i,
  input  logic [10:0]       map_uplink_i,

  // An answer of spray_scheduler; with `goes` and `found` a packet goes on with it.
  input  logic              spray_valid_i,
  output logic              spray_ready_o,   // there is room for it
  input  logic              spray_taken_i,
  input  logic              spray_found_i,
  input  logic              spray_goes_i,
  input  logic [EvW-1:0]    spray_ev_i,
  input  logic [PlaneW-1:0] spray_plane_i,

  // A command for retransmit_buffer.
  input  logic              cmd_is_sent_i,
  output logic              cmd_ready_o,     // nothing here holds it up
  input  logic              cmd_taken_i,
  output logic [EvW-1:0]    cmd_ev_o,        // of the packet that is marked

  // The first beat of a packet for srv6_encap.
  input  logic              in_takes_path_i,
  output logic              in_ready_o,      // nothing here holds it up
  input  logic              in_taken_i,
  output logic [PlaneW-1:0] in_plane_o,
  output logic [10:0]       in_uplink_o
);

  localparam int unsigned PathCount = $clog2(MostPaths) + 1;

  typedef struct packed {
    logic [PlaneW-1:0] plane;
    logic [10:0]       uplink;
  } path_t;

  logic passes, chosen_full, chosen_empty, paths_empty;
  logic [PathCount-1:0] paths;
  assign passes        = spray_found_i && spray_goes_i;
  // One more may be on its way from the table of uplinks.
  assign spray_ready_o = !passes || (!chosen_full && paths < PathCount'(MostPaths - 1));

  /* verilator lint_off PINCONNECTEMPTY */
  // ---- EVs for the records
  logic chosen;
  assign chosen = spray_valid_i && spray_taken_i && passes;
  fifo #(.Depth(MostSent), .Width(EvW)) u_chosen (
    .clk_i,
    .rst_ni,
    .push_i (chosen),
    .data_i (spray_ev_i),
    .pop_i  (cmd_is_sent_i && cmd_taken_i),
    .data_o (cmd_ev_o),
    .empty_o(chosen_empty),
    .full_o (chosen_full),
    .count_o()
  );
  assign cmd_ready_o = !cmd_is_sent_i || !chosen_empty;

  // ---- Planes and uplinks for the outer headers
  logic              chosen_q;
  logic [PlaneW-1:0] plane_q;
  logic [10:0]       uplink;
  path_t             path, first;
  ram_1r1w #(.Depth(MaxEvs), .Width(11)) u_uplink (
    .clk_i,
    .we_i   (map_valid_i),
    .waddr_i(map_ev_i),
    .wdata_i(map_uplink_i),
    .re_i   (chosen),
    .raddr_i(spray_ev_i),
    .rdata_o(uplink)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      chosen_q <= 1'b0;
    end else begin
      chosen_q <= chosen;
    end
  end
  always_ff @(posedge clk_i) begin
    if (chosen) plane_q <= spray_plane_i;
  end
  assign path = '{plane: plane_q, uplink: uplink};
  fifo #(.Depth(MostPaths), .Width($bits(path_t))) u_paths (
    .clk_i,
    .rst_ni,
    .push_i (chosen_q),
    .data_i (path),
    .pop_i  (in_takes_path_i && in_taken_i),
    .data_o (first),
    .empty_o(paths_empty),
    .full_o (),
    .count_o(paths)
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign in_plane_o  = first.plane;
  assign in_uplink_o = first.uplink;

  // ---- Packets that were marked and are not encapsulated
  logic [PathCount-1:0] marked_q;
  logic                 mark, leave;
  assign mark       = cmd_is_sent_i && cmd_taken_i;
  assign leave      = in_takes_path_i && in_taken_i;
  assign in_ready_o = !in_takes_path_i || (marked_q != '0 && !paths_empty);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      marked_q <= '0;
    end else begin
      if (mark && !leave) marked_q <= marked_q + 1'b1;
      if (leave && !mark) marked_q <= marked_q - 1'b1;
    end
  end

endmodule
