// A SystemVerilog testbench around the reference: spray_scheduler against mrc_dpi_pkg's path table, EV by EV, and a header
// and an ICRC that are known. For any simulator with DPI-C; prints what it compared, and stops at the first difference.
module spray_scheduler_tb
  import mrc_pkg::*;
  import mrc_dpi_pkg::*;
;
  localparam int unsigned NumSlots  = 2;
  localparam int unsigned MaxEvs    = 16;
  localparam int unsigned NumPlanes = 4;
  localparam int unsigned Rounds    = 20000;

  logic clk = 1'b0, rst_n = 1'b0;
  always #5 clk <= !clk;

  logic                      sel_valid = 1'b0, sel_ready, rsp_valid, rsp_found, upd_valid = 1'b0, upd_ready, done_valid;
  logic [15:0]               sel_bytes = 16'd4184;
  logic [47:0]               now = '0;
  logic [3:0]                rsp_ev, rsp_free_ports, upd_ev = '0, done_ev, ports_up = '1;
  logic [31:0]               rsp_value;
  logic [1:0]                rsp_plane;
  ev_state_e                 done_state;
  path_event_e               upd_event = PathDelivered;
  logic                      done_active, credit_valid = 1'b0, credit_ready;
  logic [NumPlanes-1:0][27:0] credit_bytes = '0;
  logic                      csr_valid = 1'b0, csr_ready, csr_rvalid, order_request, order_valid, order_ready;
  spray_csr_e                csr_op = SprayCsrLimits;
  logic [4:0]                csr_index = '0;
  logic [63:0]               csr_wdata = '0;
  logic [3:0]                order_ev, place = '0;
  chandle                    reference;

  /* verilator lint_off PINCONNECTEMPTY */
  // One scan order at a time: the reference tells the one that it is in.
  spray_scheduler #(.NumSlots(NumSlots), .MaxEvs(MaxEvs), .NumPlanes(NumPlanes), .OrderBuffers(1)) dut (
    .clk_i(clk), .rst_ni(rst_n),
    .sel_valid_i(sel_valid), .sel_ready_o(sel_ready), .sel_slot_i(1'b1), .sel_bytes_i(sel_bytes),
    .sel_ports_up_i(ports_up), .sel_time_i(now),
    .rsp_valid_o(rsp_valid), .rsp_ready_i(1'b1), .rsp_found_o(rsp_found), .rsp_ev_o(rsp_ev), .rsp_value_o(rsp_value),
    .rsp_plane_o(rsp_plane), .rsp_free_ports_o(rsp_free_ports), .rsp_no_good_o(), .rsp_rotations_o(),
    .rsp_skip_end_valid_o(), .rsp_skip_end_o(),
    .credit_valid_i(credit_valid), .credit_ready_o(credit_ready), .credit_bytes_i(credit_bytes),
    .upd_valid_i(upd_valid), .upd_ready_o(upd_ready), .upd_slot_i(1'b1), .upd_event_i(upd_event), .upd_by_value_i(1'b0),
    .upd_ev_i(upd_ev), .upd_value_i(32'b0), .upd_time_i(now),
    .done_valid_o(done_valid), .done_ready_i(1'b1), .done_found_o(), .done_ev_o(done_ev), .done_state_o(done_state),
    .done_active_o(done_active), .done_reported_o(), .done_held_o(), .done_replaced_o(), .done_backup_o(),
    .csr_valid_i(csr_valid), .csr_ready_o(csr_ready), .csr_op_i(csr_op), .csr_slot_i(1'b1), .csr_index_i(csr_index),
    .csr_wdata_i(csr_wdata), .csr_rvalid_o(csr_rvalid), .csr_rready_i(1'b1), .csr_rdata_o(),
    .order_request_o(order_request), .order_slot_o(), .order_valid_i(order_valid), .order_ready_o(order_ready),
    .order_ev_i(order_ev)
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // The scan order is the reference's.
  assign order_valid = order_request;
  assign order_ev    = 4'(mrc_path_table_order(reference, 32'(place)));
  always @(posedge clk) begin
    if (!order_request) place <= '0;
    else if (order_ready) place <= place + 4'd1;
  end

  task automatic control(spray_csr_e op, logic [4:0] index, logic [63:0] data);
    @(negedge clk);
    csr_valid = 1'b1;
    csr_op    = op;
    csr_index = index;
    csr_wdata = data;
    while (!csr_ready) @(negedge clk);
    @(negedge clk);
    csr_valid = 1'b0;
    while (!csr_rvalid) @(negedge clk);
  endtask

  task automatic give_room();
    @(negedge clk);
    credit_valid = 1'b1;
    for (int unsigned p = 0; p < NumPlanes; p++) credit_bytes[p] = 28'd1_000_000;
    while (!credit_ready) @(negedge clk);
    @(negedge clk);
    credit_valid = 1'b0;
  endtask

  int unsigned paths = 0, updates = 0;

  task automatic compare_path();
    int expected;
    @(negedge clk);
    ports_up  = 4'($urandom());
    sel_valid = 1'b1;
    while (!sel_ready) @(negedge clk);
    expected = ports_up == '0 ? -1 : mrc_path_table_select(reference, 32'(ports_up), 64'(now));
    @(negedge clk);
    sel_valid = 1'b0;
    while (!rsp_valid) @(negedge clk);
    if (rsp_found !== (expected >= 0)) $fatal(1, "found: expected %0d, RTL gave %0d", expected >= 0, rsp_found);
    if (rsp_free_ports !== ports_up) $fatal(1, "free ports: expected %b, RTL gave %b", ports_up, rsp_free_ports);
    if (expected < 0) return;
    if (32'(rsp_ev) !== expected) $fatal(1, "ev: expected %0d, RTL gave %0d", expected, rsp_ev);
    if (rsp_value !== mrc_path_table_value(reference, expected)) $fatal(1, "value of EV %0d", expected);
    if (32'(rsp_plane) !== mrc_path_table_plane(reference, expected)) $fatal(1, "plane of EV %0d", expected);
    paths++;
  endtask

  task automatic compare_update();
    @(negedge clk);
    upd_valid = 1'b1;
    upd_ev    = 4'($urandom_range(MaxEvs - 1));
    upd_event = path_event_e'(4'($urandom_range(8)));
    while (!upd_ready) @(negedge clk);
    mrc_path_table_report(reference, 32'(upd_ev), 32'(upd_event), 64'(now));
    @(negedge clk);
    upd_valid = 1'b0;
    while (!done_valid) @(negedge clk);
    if (done_ev !== upd_ev) $fatal(1, "EV of an update: expected %0d, RTL gave %0d", upd_ev, done_ev);
    if (32'(done_state) !== mrc_path_table_state(reference, 32'(upd_ev)))
      $fatal(1, "state of EV %0d after event %0d: RTL gave %0d", upd_ev, upd_event, done_state);
    if (32'(done_active) !== mrc_path_table_active(reference, 32'(upd_ev))) $fatal(1, "EV %0d in use", upd_ev);
    updates++;
  endtask

  task automatic check_bytes();
    bit [319:0]   header;
    byte unsigned packet[60];
    int unsigned  crc;
    int           status;
    mrc_outer_ipv6_header(32'hFC00_0001, 16'h0001, 16'h0800, 16'h0002, 16'h1003, 16'h0, 16'h0, 4, 1, 5, 7,
                          64'h1122_3344_5566_7788, 64'h99AA_BBCC_DDEE_FF00, 0, 4242, 64, 4, 2, header);
    // Version, traffic class, flow label, length, next header 41, hop limit; source; plane 5 in each uSID, uplink 7 in the second.
    if (header !== {32'h6120_0000, 16'd4242, 8'd41, 8'd64, 128'h1122_3344_5566_7788_99AA_BBCC_DDEE_FF00,
                    128'hFC00_0001_A001_A807_A002_B003_0000_0000}) $fatal(1, "outer header %h", header);
    for (int i = 0; i < 60; i++) packet[i] = 8'hFF;
    packet[0] = 8'h60;
    crc = mrc_icrc(packet, 60, 0, status);
    packet[1] = 8'h5A;  // traffic class: may change on the way
    if (status != 0 || mrc_icrc(packet, 60, 0, status) != crc) $fatal(1, "ICRC looks at the traffic class");
    packet[59] = 8'h00;
    if (mrc_icrc(packet, 60, 0, status) == crc) $fatal(1, "ICRC does not look at the last byte");
    void'(mrc_icrc(packet, 59, 0, status));
    if (status == 0) $fatal(1, "ICRC of a packet without room for its headers");
  endtask

  spray_limits_t limits;
  initial begin
    check_bytes();
    // 12 of 16 EVs in use, at least 8; a new order after 5 rotations; two losses remove an EV, two probes revive it.
    reference = mrc_path_table_new(NumPlanes, MaxEvs, 12, 8, 5, 0, 0, 2, 2, 1, 7);
    if (reference == null) $fatal(1, "no table");
    repeat (3) @(negedge clk);
    rst_n  = 1'b1;
    limits = '{reshuffle_rotations: 20'd5, probe_successes: 8'd2, assumed_bad_losses: 4'd2, oblivious: 1'b0,
               probe_marked_skips: 1'b1, skip_duration: SkipRestOfRotation,
               least_active: 9'(mrc_path_table_least_active(reference)),
               most_active: 9'(mrc_path_table_most_active(reference)), ev_count: 10'd16};
    control(SprayCsrLimits, 0, limits);
    for (int unsigned i = 0; i < MaxEvs; i++) begin
      control(SprayCsrProfile, 5'(i), {32'(mrc_path_table_plane(reference, i)), mrc_path_table_value(reference, i)});
    end
    for (int unsigned i = 0; i < 2 * MaxEvs; i++) control(SprayCsrBucket, 5'(i), 64'b0);
    control(SprayCsrOpen, 0, 64'd12);
    give_room();
    for (int unsigned i = 0; i < Rounds; i++) begin
      now = now + 48'd1000;
      if ($urandom_range(2) == 0) compare_update();
      else compare_path();
      if (i % 100 == 99) give_room();
    end
    $display("spray_scheduler against the DPI reference: %0d paths, %0d updates, 0 differences", paths, updates);
    mrc_path_table_free(reference);
    $finish;
  end
endmodule
