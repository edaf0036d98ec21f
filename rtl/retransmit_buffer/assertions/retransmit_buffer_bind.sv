// Binds the assertions of retransmit_buffer to every instance of a module of that name. One packet of sixteen is followed, until the
// next such one is appended.
bind retransmit_buffer drawn_in_cycle #(.Width(4)) u_follow (.clk_i);
bind retransmit_buffer retransmit_buffer_assertions #(
  .Qps      (Qps),
  .NumSlots (NumSlots),
  .Records  (Records),
`ifdef MRCSIM_OTHER_CYCLES
  .DataSheetCycles(1'b0),
`endif
  .TimeWidth(TimeWidth)
) u_assertions (.*, .follow_i(u_follow.value_q == '0));
