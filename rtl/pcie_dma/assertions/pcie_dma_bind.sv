// Binds the assertions of pcie_dma to every instance of a module of that name. The read number that is followed is drawn in each
// reset.
bind pcie_dma drawn_in_reset #(.Width(JobWidth)) u_followed (.*);
bind pcie_dma pcie_dma_assertions #(
  .Tags       (Tags),
  .Jobs       (Jobs),
  .BufferBytes(BufferBytes),
`ifdef MRCSIM_OTHER_CYCLES
  .DataSheetCycles(1'b0),
`endif
  .LengthWidth(LengthWidth)
) u_assertions (.*, .followed_i(u_followed.value_q));
