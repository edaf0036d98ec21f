// Proves rtl/spray_scheduler/assertions/spray_scheduler_assertions.sv for every input that keeps the contract there, and what
// spray_scheduler promises about its tables, which is in the block itself, under FORMAL. Proved at the smallest legal size, from
// any consistent tables that have their next order and no SKIP EV.
// steps: 14
// reached: all
// finds: room_not_looked_at floor_off_by_one next_order_not_told scan_from_the_start backup_of_first_plane
module spray_scheduler_properties
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots    = 2,
  parameter  int unsigned MaxEvs      = 4,
  parameter  int unsigned NumPlanes   = 2,
  parameter  int unsigned TimeWidth   = 4,
  parameter  int unsigned CreditWidth = 6,
  parameter  int unsigned BytesWidth  = 4,
  localparam int unsigned SlotW       = $clog2(NumSlots),
  localparam int unsigned EvW         = $clog2(MaxEvs),
  localparam int unsigned PlaneW      = $clog2(NumPlanes)
) (
  input  logic                                  clk_i,
  input  logic                                  sel_valid_i,
  input  logic [SlotW-1:0]                      sel_slot_i,
  input  logic [BytesWidth-1:0]                 sel_bytes_i,
  input  logic [NumPlanes-1:0]                  sel_ports_up_i,
  input  logic [TimeWidth-1:0]                  sel_time_i,
  input  logic                                  rsp_ready_i,
  input  logic                                  credit_valid_i,
  input  logic [NumPlanes-1:0][CreditWidth-1:0] credit_bytes_i,
  input  logic                                  upd_valid_i,
  input  logic [SlotW-1:0]                      upd_slot_i,
  input  path_event_e                           upd_event_i,
  input  logic                                  upd_by_value_i,
  input  logic [EvW-1:0]                        upd_ev_i,
  input  logic [31:0]                           upd_value_i,
  input  logic [TimeWidth-1:0]                  upd_time_i,
  input  logic                                  done_ready_i,
  input  logic                                  csr_valid_i,
  input  spray_csr_e                            csr_op_i,
  input  logic [SlotW-1:0]                      csr_slot_i,
  input  logic [EvW:0]                          csr_index_i,
  input  logic [63:0]                           csr_wdata_i,
  input  logic                                  csr_rready_i,
  input  logic                                  order_valid_i,
  input  logic [EvW-1:0]                        order_ev_i
);

  logic rst_ni = 1'b0;
  logic sel_ready_o, rsp_valid_o, rsp_found_o, rsp_no_good_o, rsp_skip_end_valid_o, credit_ready_o, upd_ready_o;
  logic done_valid_o, done_found_o, done_active_o, done_reported_o, done_held_o, done_replaced_o;
  logic csr_ready_o, csr_rvalid_o, order_request_o, order_ready_o;
  logic [EvW-1:0]       rsp_ev_o, done_ev_o, done_backup_o;
  logic [31:0]          rsp_value_o;
  logic [PlaneW-1:0]    rsp_plane_o;
  logic [NumPlanes-1:0] rsp_free_ports_o;
  logic [1:0]           rsp_rotations_o;
  logic [TimeWidth-1:0] rsp_skip_end_o;
  ev_state_e            done_state_o;
  logic [63:0]          csr_rdata_o;
  logic [SlotW-1:0]     order_slot_o;

  spray_scheduler #(
    .NumSlots(NumSlots), .MaxEvs(MaxEvs), .NumPlanes(NumPlanes), .TimeWidth(TimeWidth), .CreditWidth(CreditWidth),
    .BytesWidth(BytesWidth)
  ) dut (.*);

  spray_scheduler_assertions #(
    .NumSlots(NumSlots), .MaxEvs(MaxEvs), .NumPlanes(NumPlanes), .TimeWidth(TimeWidth), .CreditWidth(CreditWidth),
    .BytesWidth(BytesWidth)
  ) u_assertions (.*);

  // EVs in use of each plane, as the tables begin.
  logic [NumSlots-1:0][NumPlanes-1:0][EvW:0] in_use;
  always_comb begin
    in_use = '0;
    for (int unsigned s = 0; s < NumSlots; s++) begin
      for (int unsigned i = 0; i < MaxEvs; i++) begin
        for (int unsigned p = 0; p < NumPlanes; p++) begin
          if (dut.u_update.plane_evs_q[p][i]) in_use[s][p] = in_use[s][p] + (EvW + 1)'(dut.u_rows.u_states.mem[s][4*MaxEvs+i]);
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    rst_ni <= 1'b1;
    if (!rst_ni) begin
      // The assertions know of the tables what is in them.
      assume (u_assertions.limits_q == dut.limits_q);
      for (int unsigned i = 0; i < MaxEvs; i++) assume (u_assertions.profile_q[i] == dut.u_update.u_profile.mem[i]);
      for (int unsigned s = 0; s < NumSlots; s++) begin
        assume (u_assertions.tables_q[s].given == '0 && u_assertions.tables_q[s].resting == '0 && u_assertions.tables_q[s].once == '0);
        assume (u_assertions.tables_q[s].forced == '0 && u_assertions.tables_q[s].exact);
        assume (u_assertions.tables_q[s].out == ~dut.u_rows.u_states.mem[s][3*MaxEvs+:MaxEvs]);
        assume (u_assertions.tables_q[s].in_use == in_use[s] && dut.u_rows.u_fields.mem[s][NumPlanes*(EvW+1)-1:0] == in_use[s]);
      end
    end else begin
      // The profile stays. A table that is opened again has nothing under way.
      if (csr_valid_i) assume (csr_op_i >= SprayCsrOpen);
      if (csr_valid_i && csr_op_i == SprayCsrOpen) begin
        assume (u_assertions.packets_inside_q == '0 && u_assertions.updates_inside_q == '0);
      end
      room_conserved: assert (dut.room == u_assertions.room);
    end
  end

endmodule
