// Binds the assertions of spray_scheduler to every instance of a module of that name.
bind spray_scheduler spray_scheduler_assertions #(
  .NumSlots   (NumSlots),
  .MaxEvs     (MaxEvs),
  .NumPlanes  (NumPlanes),
  .TimeWidth  (TimeWidth),
  .CreditWidth(CreditWidth),
`ifdef MRCSIM_OTHER_CYCLES
  .DataSheetCycles(1'b0),
`endif
  .BytesWidth (BytesWidth)
) u_assertions (.*);
