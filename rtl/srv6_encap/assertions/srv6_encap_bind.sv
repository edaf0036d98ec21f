// Binds the assertions of srv6_encap to every instance of a module of that name. Whenever no packet is followed the next one is, at a
// byte of it that is drawn: as many in each power of two.
bind srv6_encap drawn_in_cycle #(.Width(20)) u_drawn (.clk_i);
bind srv6_encap srv6_encap_assertions #(
`ifdef MRCSIM_OTHER_CYCLES
  .DataSheetCycles(1'b0),
`endif
  .DataWidth(DataWidth)
) u_assertions (
  .follow_i  (1'b1),
  .position_i(u_drawn.value_q[15:0] >> u_drawn.value_q[19:16]),
  .*
);
