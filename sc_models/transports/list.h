// The registry of transports: one row for each. `row(x)` needs `const Transport x_transport` in its folder (plain C++,
// library mrcsim_parameters), and of those that are simulated `make_x_node` (library mrcsim_models).
#pragma once

#define MRCSIM_SIMULATED_TRANSPORTS(row) row(mrc) row(rocev2) row(uet)
/// Computed from the trace without nodes.
#define MRCSIM_COMPUTED_TRANSPORTS(row) row(ideal)
#define MRCSIM_TRANSPORTS(row) MRCSIM_SIMULATED_TRANSPORTS(row) MRCSIM_COMPUTED_TRANSPORTS(row)
