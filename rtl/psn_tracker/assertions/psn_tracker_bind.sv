// Binds the assertions of psn_tracker to every instance of a module of that name. In each reset a slot is drawn, whose first QP is
// followed, and one of its PSNs, as far from the first one as is drawn: as many in each power of two.
bind psn_tracker drawn_in_reset #(.Width(SlotWidth + 29)) u_drawn (.clk_i, .rst_ni);
bind psn_tracker psn_tracker_assertions #(
`ifdef MRCSIM_OTHER_CYCLES
  .DataSheetCycles(1'b0),
`endif
  .NumSlots(NumSlots),
  .NumBanks(NumBanks),
  .MprPsns (MprPsns)
) u_assertions (
  .followed_i      (u_drawn.value_q[29+:SlotWidth]),
  .followed_psn_i  (u_drawn.value_q[23:0] >> u_drawn.value_q[28:24]),
  .outside_i       (1'b0),
  .outside_context_i('0),
  .*
);
