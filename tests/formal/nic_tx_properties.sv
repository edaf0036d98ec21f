// What packet_paths promises (rtl/nic_tx/README.md): packets are marked and encapsulated with the paths that they were given, in their
// order, none before it was marked, and nothing waits that could go on. The queues are compared with lists that are shifted.
// steps: 14
// reached: all
// finds: ev_of_one_that_waits plane_of_the_next uplink_of_the_last sent_before_marked room_for_one_more
module nic_tx_properties #(
  localparam int unsigned MaxEvs    = 2,
  localparam int unsigned NumPlanes = 2,
  localparam int unsigned MostSent  = 2,
  localparam int unsigned MostPaths = 4
) (
  input logic        clk_i,
  input logic        map_valid_i,
  input logic        map_ev_i,
  input logic        map_bit_i,  // of all bits of the uplink: none of them decides anything
  input logic        spray_valid_i,
  input logic        rsp_ready_i,
  input logic        spray_found_i,
  input logic        spray_goes_i,
  input logic        spray_ev_i,
  input logic        spray_plane_i,
  input logic        cmd_is_sent_i,
  input logic        cmd_ready_i,
  input logic        in_takes_path_i,
  input logic        in_ready_i
);

  typedef struct packed {
    logic        ev;
    logic        plane;
    logic [10:0] uplink;
  } path_t;

  logic [10:0] map_uplink;
  assign map_uplink = {11{map_bit_i}};

  logic        started_q = 1'b0;
  logic        rst_n, spray_ready, cmd_free, in_free, plane;
  logic        cmd_ev;
  logic [10:0] uplink;
  assign rst_n = started_q;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  packet_paths #(.MaxEvs(MaxEvs), .NumPlanes(NumPlanes), .MostSent(MostSent), .MostPaths(MostPaths)) u_paths (
    .clk_i,
    .rst_ni         (rst_n),
    .map_valid_i,
    .map_ev_i,
    .map_uplink_i   (map_uplink),
    .spray_valid_i,
    .spray_ready_o  (spray_ready),
    .spray_taken_i  (spray_ready && rsp_ready_i),
    .spray_found_i,
    .spray_goes_i,
    .spray_ev_i,
    .spray_plane_i,
    .cmd_is_sent_i,
    .cmd_ready_o    (cmd_free),
    .cmd_taken_i    (cmd_free && cmd_ready_i),
    .cmd_ev_o       (cmd_ev),
    .in_takes_path_i,
    .in_ready_o     (in_free),
    .in_taken_i     (in_free && in_ready_i),
    .in_plane_o     (plane),
    .in_uplink_o    (uplink)
  );

  // ---- The table, written before the first packet
  logic [MaxEvs-1:0][10:0] map_q = '0;
  logic [MaxEvs-1:0]       written_q = '0;
  logic                    any_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (map_valid_i) begin
      map_q[map_ev_i]     <= map_uplink;
      written_q[map_ev_i] <= 1'b1;
    end
    any_q <= any_q || spray_valid_i;
    contract_map_first: assume (!map_valid_i || !(any_q || spray_valid_i));
    contract_known_evs: assume (!spray_valid_i || written_q[spray_ev_i]);
    contract_nothing_in_reset: assume (rst_n || !(spray_valid_i || cmd_is_sent_i || in_takes_path_i));
  end

  // ---- Paths of packets that are not marked, and of those that are not encapsulated, the oldest first
  path_t [MostSent-1:0]  chosen_q = '0;
  path_t [MostPaths-1:0] paths_q = '0;
  logic [2:0]            chosen_count_q = '0, paths_count_q = '0, marked_q = '0, chosen_at, paths_at;
  path_t                 given;
  logic                  gives, marks, leaves;
  assign given     = '{ev: spray_ev_i, plane: spray_plane_i, uplink: map_q[spray_ev_i]};
  assign gives     = spray_valid_i && spray_ready && rsp_ready_i && spray_found_i && spray_goes_i;
  assign marks     = cmd_is_sent_i && cmd_free && cmd_ready_i;
  assign leaves    = in_takes_path_i && in_free && in_ready_i;
  assign chosen_at = chosen_count_q - 3'(marks);
  assign paths_at  = paths_count_q - 3'(leaves);
  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      for (int unsigned i = 0; i + 1 < MostSent; i++) if (marks) chosen_q[i] <= chosen_q[i+1];
      for (int unsigned i = 0; i < MostSent; i++) if (gives && chosen_at == 3'(i)) chosen_q[i] <= given;
      for (int unsigned i = 0; i + 1 < MostPaths; i++) if (leaves) paths_q[i] <= paths_q[i+1];
      for (int unsigned i = 0; i < MostPaths; i++) if (gives && paths_at == 3'(i)) paths_q[i] <= given;
      chosen_count_q <= chosen_count_q + 3'(gives) - 3'(marks);
      paths_count_q  <= paths_count_q + 3'(gives) - 3'(leaves);
      marked_q       <= marked_q + 3'(marks) - 3'(leaves);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      if (gives) path_has_room: assert (chosen_count_q < 3'(MostSent) && paths_count_q < 3'(MostPaths));
      if (marks) marked_on_its_path: assert (chosen_count_q != '0 && cmd_ev == chosen_q[0].ev);
      if (leaves) leaves_on_its_path: assert (paths_count_q != '0 && plane == paths_q[0].plane && uplink == paths_q[0].uplink);
      if (leaves) marked_before_it_leaves: assert (marked_q != '0);
      if (!cmd_is_sent_i) other_commands_pass: assert (cmd_free);
      if (!in_takes_path_i) other_packets_pass: assert (in_free);
      if (!(spray_found_i && spray_goes_i)) answers_without_a_path_pass: assert (spray_ready);
      if (cmd_is_sent_i && chosen_count_q != '0) mark_is_not_held_up: assert (cmd_free);
      // A path comes to the header two cycles after the answer; it was marked in the second of them at the earliest.
      if (in_takes_path_i && marked_q != '0 && $past(marked_q != '0)) header_is_not_held_up: assert (in_free);
      if (chosen_count_q < 3'(MostSent) && paths_count_q < 3'(MostPaths - 1)) answer_is_not_held_up: assert (spray_ready);
    end
  end

endmodule
