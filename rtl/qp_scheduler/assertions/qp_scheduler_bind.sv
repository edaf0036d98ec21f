// Binds the assertions of qp_scheduler to every instance of a module of that name.
bind qp_scheduler qp_scheduler_assertions #(
  .NumQps  (NumQps),
`ifdef MRCSIM_OTHER_CYCLES
  .DataSheetCycles(1'b0),
`endif
  .NumSlots(NumSlots)
) u_assertions (.*);
