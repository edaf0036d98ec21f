// spray_scheduler, retransmit_buffer and srv6_encap, joined: the path that a packet was given goes into its record and into
// its outer header without leaving the RTL. Commands, and the bytes of packets with the rest of what their headers need,
// come from outside. See README.md.
module nic_tx
  import mrc_pkg::*;
#(
  parameter  int unsigned NumTables    = 1024,  // of spray_scheduler, as the next six
  parameter  int unsigned MaxEvs       = 256,
  parameter  int unsigned NumPlanes    = 8,
  parameter  int unsigned TimeWidth    = 48,    // of retransmit_buffer too
  parameter  int unsigned CreditWidth  = 28,
  parameter  int unsigned BytesWidth   = 16,
  parameter  int unsigned OrderBuffers = 2,
  parameter  int unsigned Qps          = 16384,  // of retransmit_buffer, as the next three
  parameter  int unsigned NumSlots     = 1024,
  parameter  int unsigned Records      = 4096,
  parameter  int unsigned Buckets      = 4 * Records,
  parameter  int unsigned DataWidth    = 1024,  // of srv6_encap
  parameter  int unsigned MostSent     = 16,    // of packet_paths, as the next
  parameter  int unsigned MostPaths    = 64,
  localparam int unsigned TableWidth   = $clog2(NumTables),
  localparam int unsigned EvW          = $clog2(MaxEvs),
  localparam int unsigned BucketW      = EvW + 1,
  localparam int unsigned PlaneW       = $clog2(NumPlanes),
  localparam int unsigned QpWidth      = $clog2(Qps),
  localparam int unsigned IndexWidth   = $clog2(Records),
  localparam int unsigned RecordsWidth = IndexWidth + 1,
  localparam int unsigned SlotWidth    = $clog2(NumSlots),
  localparam int unsigned ContextWidth = 1 + 48 + 64 + 1 + 2 * IndexWidth + RecordsWidth + 24,
  localparam int unsigned BeatWidth    = $clog2(DataWidth / 8 + 1)
) (
  // One clock: those of the blocks may be held while a block is empty and nothing is offered to it.
  input  logic                                  clk_i,
  input  logic                                  spray_clk_i,
  input  logic                                  retransmit_clk_i,
  input  logic                                  encap_clk_i,
  input  logic                                  rst_ni,

  // spray_scheduler, port by port as in its data sheet.
  input  logic                                  sel_valid_i,
  output logic                                  sel_ready_o,
  input  logic [TableWidth-1:0]                 sel_slot_i,
  input  logic [BytesWidth-1:0]                 sel_bytes_i,
  input  logic [NumPlanes-1:0]                  sel_ports_up_i,
  input  logic [TimeWidth-1:0]                  sel_time_i,

  // Its answers, when there is room behind; valid with them, whether the packet goes on with a path that was found.
  output logic                                  rsp_valid_o,
  input  logic                                  rsp_ready_i,
  input  logic                                  rsp_goes_i,
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
  input  logic [NumPlanes-1:0][CreditWidth-1:0] credit_bytes_i,

  input  logic                                  upd_valid_i,
  output logic                                  upd_ready_o,
  input  logic [TableWidth-1:0]                 upd_slot_i,
  input  path_event_e                           upd_event_i,
  input  logic                                  upd_by_value_i,
  input  logic [EvW-1:0]                        upd_ev_i,
  input  logic [31:0]                           upd_value_i,
  input  logic [TimeWidth-1:0]                  upd_time_i,

  output logic                                  done_valid_o,
  input  logic                                  done_ready_i,
  output logic                                  done_found_o,
  output logic [EvW-1:0]                        done_ev_o,
  output ev_state_e                             done_state_o,
  output logic                                  done_active_o,
  output logic                                  done_reported_o,
  output logic                                  done_held_o,
  output logic                                  done_replaced_o,
  output logic [EvW-1:0]                        done_backup_o,

  input  logic                                  csr_valid_i,
  output logic                                  csr_ready_o,
  input  spray_csr_e                            csr_op_i,
  input  logic [TableWidth-1:0]                 csr_slot_i,
  input  logic [BucketW-1:0]                    csr_index_i,
  input  logic [63:0]                           csr_wdata_i,
  output logic                                  csr_rvalid_o,
  input  logic                                  csr_rready_i,
  output logic [63:0]                           csr_rdata_o,

  output logic                                  order_request_o,
  output logic [TableWidth-1:0]                 order_slot_o,
  input  logic                                  order_valid_i,
  output logic                                  order_ready_o,
  input  logic [EvW-1:0]                        order_ev_i,

  // The uplink that an EV of the profile takes; written before the first packet.
  input  logic                                  map_valid_i,
  input  logic [EvW-1:0]                        map_ev_i,
  input  logic [10:0]                           map_uplink_i,

  // retransmit_buffer: its commands, but that the EV of RetransmitSent is that of the oldest packet with a path.
  input  logic                                  cmd_valid_i,
  output logic                                  cmd_ready_o,
  input  retransmit_op_e                        cmd_op_i,
  input  logic [SlotWidth-1:0]                  cmd_slot_i,
  input  logic [QpWidth-1:0]                    cmd_qp_i,
  input  logic [23:0]                           cmd_psn_i,
  input  logic [23:0]                           cmd_base_i,
  input  logic [63:0]                           cmd_bitmap_i,
  input  logic [TimeWidth-1:0]                  cmd_now_i,
  input  logic [TimeWidth-1:0]                  cmd_limit_i,
  input  logic [31:0]                           cmd_threshold_i,
  output logic [15:0]                           cmd_path_ev_o,  // that a packet is marked with, to be watched
  input  logic [3:0]                            cmd_cause_i,
  input  logic [15:0]                           cmd_message_i,
  input  logic [31:0]                           cmd_offset_i,
  input  logic [15:0]                           cmd_bytes_i,
  input  logic [ContextWidth-1:0]               cmd_context_i,

  output logic                                  evt_valid_o,
  input  logic                                  evt_ready_i,
  output logic                                  evt_lost_o,
  output logic [23:0]                           evt_psn_o,
  output logic                                  evt_was_lost_o,
  output logic [15:0]                           evt_bytes_o,
  output logic [15:0]                           evt_ev_o,

  output logic                                  reply_valid_o,
  input  logic                                  reply_ready_i,
  output logic                                  reply_hit_o,
  output logic                                  reply_advanced_o,
  output logic [RecordsWidth-1:0]               reply_count_o,
  output logic [23:0]                           reply_psn_o,
  output logic [15:0]                           reply_message_o,
  output logic [31:0]                           reply_offset_o,
  output logic [15:0]                           reply_bytes_o,
  output logic [3:0]                            reply_cause_o,
  output logic [23:0]                           reply_unacked_o,
  output logic [23:0]                           reply_next_o,
  output logic                                  reply_has_lost_o,
  output logic [23:0]                           reply_oldest_lost_o,
  output logic                                  reply_outstanding_o,
  output logic [23:0]                           reply_oldest_psn_o,
  output logic [TimeWidth-1:0]                  reply_oldest_sent_o,
  output logic [RecordsWidth-1:0]               reply_free_o,
  output logic [ContextWidth-1:0]               reply_context_o,

  // srv6_encap: packets; those that take their path get plane and uplink from it.
  input  logic                                  in_valid_i,
  output logic                                  in_ready_o,
  input  logic [DataWidth-1:0]                  in_data_i,
  input  logic [BeatWidth-1:0]                  in_bytes_i,
  input  logic                                  in_sop_i,
  input  logic                                  in_eop_i,
  input  logic                                  in_takes_path_i,
  input  srv6_encap_meta_t                      in_meta_i,

  output logic                                  out_valid_o,
  input  logic                                  out_ready_i,
  output logic [DataWidth-1:0]                  out_data_o,
  output logic [BeatWidth-1:0]                  out_bytes_o,
  output logic                                  out_sop_o,
  output logic                                  out_eop_o
);

  logic              spray_valid, spray_ready, sent, cmd_free, cmd_ready, takes_path, in_free, in_ready;
  logic [EvW-1:0]    sent_ev;
  logic [PlaneW-1:0] plane;
  logic [10:0]       uplink;
  srv6_encap_meta_t  meta;

  assign rsp_valid_o = spray_valid && spray_ready;
  assign sent        = cmd_valid_i && cmd_op_i == RetransmitSent;
  assign cmd_ready_o = cmd_ready && cmd_free;
  assign cmd_path_ev_o = 16'(sent_ev);
  assign takes_path  = in_valid_i && in_sop_i && in_takes_path_i;
  assign in_ready_o  = in_ready && in_free;
  always_comb begin
    meta = in_meta_i;
    if (in_takes_path_i) begin
      meta.plane  = 3'(plane);
      meta.uplink = uplink;
    end
  end

  packet_paths #(.MaxEvs(MaxEvs), .NumPlanes(NumPlanes), .MostSent(MostSent), .MostPaths(MostPaths)) u_packet_paths (
    .clk_i,
    .rst_ni,
    .map_valid_i,
    .map_ev_i,
    .map_uplink_i,
    .spray_valid_i  (spray_valid),
    .spray_ready_o  (spray_ready),
    .spray_taken_i  (spray_ready && rsp_ready_i),
    .spray_found_i  (rsp_found_o),
    .spray_goes_i   (rsp_goes_i),
    .spray_ev_i     (rsp_ev_o),
    .spray_plane_i  (rsp_plane_o),
    .cmd_is_sent_i  (sent),
    .cmd_ready_o    (cmd_free),
    .cmd_taken_i    (cmd_ready_o),
    .cmd_ev_o       (sent_ev),
    .in_takes_path_i(takes_path),
    .in_ready_o     (in_free),
    .in_taken_i     (in_ready_o),
    .in_plane_o     (plane),
    .in_uplink_o    (uplink)
  );

  spray_scheduler #(
    .NumSlots(NumTables), .MaxEvs(MaxEvs), .NumPlanes(NumPlanes), .TimeWidth(TimeWidth), .CreditWidth(CreditWidth),
    .BytesWidth(BytesWidth), .OrderBuffers(OrderBuffers)
  ) u_spray_scheduler (
    .clk_i      (spray_clk_i),
    .rsp_valid_o(spray_valid),
    .rsp_ready_i(spray_ready && rsp_ready_i),
    .*
  );

  retransmit_buffer #(
    .Qps(Qps), .NumSlots(NumSlots), .Records(Records), .Buckets(Buckets), .TimeWidth(TimeWidth)
  ) u_retransmit_buffer (
    .clk_i            (retransmit_clk_i),
    .cmd_valid_i      (cmd_valid_i && cmd_free),
    .cmd_ready_o      (cmd_ready),
    .cmd_ev_i         (cmd_path_ev_o),
    .rsp_valid_o      (reply_valid_o),
    .rsp_ready_i      (reply_ready_i),
    .rsp_hit_o        (reply_hit_o),
    .rsp_advanced_o   (reply_advanced_o),
    .rsp_count_o      (reply_count_o),
    .rsp_psn_o        (reply_psn_o),
    .rsp_message_o    (reply_message_o),
    .rsp_offset_o     (reply_offset_o),
    .rsp_bytes_o      (reply_bytes_o),
    .rsp_cause_o      (reply_cause_o),
    .rsp_unacked_o    (reply_unacked_o),
    .rsp_next_o       (reply_next_o),
    .rsp_has_lost_o   (reply_has_lost_o),
    .rsp_oldest_lost_o(reply_oldest_lost_o),
    .rsp_outstanding_o(reply_outstanding_o),
    .rsp_oldest_psn_o (reply_oldest_psn_o),
    .rsp_oldest_sent_o(reply_oldest_sent_o),
    .rsp_free_o       (reply_free_o),
    .rsp_context_o    (reply_context_o),
    .*
  );

  srv6_encap #(.DataWidth(DataWidth)) u_srv6_encap (
    .clk_i     (encap_clk_i),
    .in_valid_i(in_valid_i && in_free),
    .in_ready_o(in_ready),
    .in_meta_i (meta),
    .*
  );

endmodule
