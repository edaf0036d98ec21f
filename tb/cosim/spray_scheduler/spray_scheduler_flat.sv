// spray_scheduler with plain ports: what C++ sees.
// verilator coverage_off
module spray_scheduler_flat
  import mrc_pkg::*;
#(
  parameter  int unsigned NumSlots    = 1024,
  parameter  int unsigned MaxEvs      = 256,
  parameter  int unsigned NumPlanes   = 8,
  parameter  int unsigned OrderBuffers = 2,
  localparam int unsigned TimeWidth   = 48,
  localparam int unsigned CreditWidth = 28,
  localparam int unsigned SlotW       = $clog2(NumSlots),
  localparam int unsigned EvW         = $clog2(MaxEvs),
  localparam int unsigned PlaneW      = $clog2(NumPlanes)
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  input  logic                                  sel_valid_i,
  output logic                                  sel_ready_o,
  input  logic [SlotW-1:0]                      sel_slot_i,
  input  logic [15:0]                           sel_bytes_i,
  input  logic [NumPlanes-1:0]                  sel_ports_up_i,
  input  logic [TimeWidth-1:0]                  sel_time_i,
  output logic                                  rsp_valid_o,
  input  logic                                  rsp_ready_i,
  output logic                                  rsp_found_o,
  output logic [EvW-1:0]                        rsp_ev_o,
  output logic [31:0]                           rsp_value_o,
  output logic [PlaneW-1:0]                     rsp_plane_o,
  output logic [NumPlanes-1:0]                  rsp_free_ports_o,
  output logic                                  rsp_no_good_o,
  output logic [1:0]                            rsp_rotations_o,
  output logic                                  rsp_skip_end_valid_o,
  output logic [TimeWidth-1:0]                  rsp_skip_end_o,
  input  logic                                  credit_valid_i,
  output logic                                  credit_ready_o,
  input  logic [NumPlanes*CreditWidth-1:0]      credit_bytes_i,
  input  logic                                  upd_valid_i,
  output logic                                  upd_ready_o,
  input  logic [SlotW-1:0]                      upd_slot_i,
  input  logic [3:0]                            upd_event_i,
  input  logic                                  upd_by_value_i,
  input  logic [EvW-1:0]                        upd_ev_i,
  input  logic [31:0]                           upd_value_i,
  input  logic [TimeWidth-1:0]                  upd_time_i,
  output logic                                  done_valid_o,
  input  logic                                  done_ready_i,
  output logic                                  done_found_o,
  output logic [EvW-1:0]                        done_ev_o,
  output logic [1:0]                            done_state_o,
  output logic                                  done_active_o,
  output logic                                  done_reported_o,
  output logic                                  done_held_o,
  output logic                                  done_replaced_o,
  output logic [EvW-1:0]                        done_backup_o,
  input  logic                                  csr_valid_i,
  output logic                                  csr_ready_o,
  input  logic [3:0]                            csr_op_i,
  input  logic [SlotW-1:0]                      csr_slot_i,
  input  logic [EvW:0]                          csr_index_i,
  input  logic [63:0]                           csr_wdata_i,
  output logic                                  csr_rvalid_o,
  input  logic                                  csr_rready_i,
  output logic [63:0]                           csr_rdata_o,
  output logic                                  order_request_o,
  output logic [SlotW-1:0]                      order_slot_o,
  input  logic                                  order_valid_i,
  output logic                                  order_ready_o,
  input  logic [EvW-1:0]                        order_ev_i
);

  ev_state_e done_state;
  assign done_state_o = done_state;

  spray_scheduler #(
    .NumSlots(NumSlots), .MaxEvs(MaxEvs), .NumPlanes(NumPlanes), .TimeWidth(TimeWidth), .CreditWidth(CreditWidth),
    .OrderBuffers(OrderBuffers)
  ) u_spray_scheduler (
    .clk_i, .rst_ni, .sel_valid_i, .sel_ready_o, .sel_slot_i, .sel_bytes_i, .sel_ports_up_i, .sel_time_i,
    .rsp_valid_o, .rsp_ready_i, .rsp_found_o, .rsp_ev_o, .rsp_value_o, .rsp_plane_o, .rsp_free_ports_o,
    .rsp_no_good_o, .rsp_rotations_o, .rsp_skip_end_valid_o, .rsp_skip_end_o, .credit_valid_i, .credit_ready_o,
    .credit_bytes_i, .upd_valid_i, .upd_ready_o, .upd_slot_i, .upd_event_i(path_event_e'(upd_event_i)),
    .upd_by_value_i, .upd_ev_i, .upd_value_i, .upd_time_i, .done_valid_o, .done_ready_i, .done_found_o,
    .done_ev_o, .done_state_o(done_state), .done_active_o, .done_reported_o, .done_held_o, .done_replaced_o, .done_backup_o,
    .csr_valid_i, .csr_ready_o, .csr_op_i(spray_csr_e'(csr_op_i)), .csr_slot_i, .csr_index_i, .csr_wdata_i,
    .csr_rvalid_o, .csr_rready_i, .csr_rdata_o, .order_request_o, .order_slot_o, .order_valid_i, .order_ready_o,
    .order_ev_i
  );

endmodule
