// Binds the assertions of ack_coalescer to every instance of a module of that name.
bind ack_coalescer ack_coalescer_assertions #(
  .NumSlots    (NumSlots),
`ifdef MRCSIM_OTHER_CYCLES
  .DataSheetCycles(1'b0),
`endif
  .CounterWidth(CounterWidth)
) u_assertions (.*);
