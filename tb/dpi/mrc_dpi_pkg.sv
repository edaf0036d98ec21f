// Ring 1, the protocol reference in C++, for any simulator with DPI-C: link libmrc_dpi, import this package. Each
// function is described in the header that its comment names; enumerations have the values of mrc_pkg. See docs/dpi.md.
package mrc_dpi_pkg;

  // ---- include/mrc/tx/srv6_encap.h: the 40 bytes of the outer IPv6 header. The first byte on the wire is
  // header[319:312]; usid0 to usid5 in the order of the wire; uplink_position 7 for none.
  import "DPI-C" function void mrc_outer_ipv6_header(
    input int unsigned locator, input shortint unsigned usid0, input shortint unsigned usid1,
    input shortint unsigned usid2, input shortint unsigned usid3, input shortint unsigned usid4,
    input shortint unsigned usid5, input int unsigned count, input int unsigned uplink_position,
    input int unsigned plane, input int unsigned uplink, input longint unsigned source_high,
    input longint unsigned source_low, input int unsigned flow_label, input int unsigned payload_length,
    input int unsigned hop_limit, input int unsigned dscp, input int unsigned ecn, output bit [319:0] header);

  // ---- include/mrc/wire/icrc.h: over the first `bytes` elements, which begin with the (inner) IP header and end before the
  // ICRC. -1 in `status` where they are too few for the IP, UDP and BTH headers.
  import "DPI-C" function int unsigned mrc_icrc(
    input byte unsigned packet[], input int unsigned bytes, input int unsigned ipv4, output int status);

  // ---- include/mrc/control/path_table.h
  // planes 1 … 32; ev_min_active 0 for a quarter of ev_active; reshuffle_rotations 0 for never; skip_duration_e; `seed` of the
  // EVs' values and of the scan orders. Null where no table can be made so.
  import "DPI-C" function chandle mrc_path_table_new(
    input int unsigned planes, input int unsigned ev_count, input int unsigned ev_active,
    input int unsigned ev_min_active, input int unsigned reshuffle_rotations, input int unsigned skip_duration,
    input longint unsigned skip_time, input int unsigned assumed_bad_losses, input int unsigned probe_successes,
    input int unsigned probe_marked_skips, input longint unsigned seed);
  import "DPI-C" function void mrc_path_table_free(input chandle paths);
  // Place of the EV in the profile, -1 for none; bit p of free_ports: port p is up and has room.
  import "DPI-C" function int mrc_path_table_select(
    input chandle paths, input int unsigned free_ports, input longint unsigned now);
  import "DPI-C" function void mrc_path_table_report(
    input chandle paths, input int unsigned ev, input int unsigned path_event, input longint unsigned now);
  import "DPI-C" function void mrc_path_table_deny(input chandle paths, input int unsigned ev);
  import "DPI-C" function void mrc_path_table_allow(input chandle paths, input int unsigned ev);
  import "DPI-C" function void mrc_path_table_set_port_status(input chandle paths, input int unsigned reachable);
  import "DPI-C" function int unsigned mrc_path_table_value(input chandle paths, input int unsigned ev);
  import "DPI-C" function int unsigned mrc_path_table_plane(input chandle paths, input int unsigned ev);
  import "DPI-C" function int unsigned mrc_path_table_state(input chandle paths, input int unsigned ev);
  import "DPI-C" function int unsigned mrc_path_table_active(input chandle paths, input int unsigned ev);
  // Position of an EV value, -1 for one that is not in the profile.
  import "DPI-C" function int mrc_path_table_find(input chandle paths, input int unsigned value);
  // The EV at a place of the scan order that holds now; how often it was drawn anew.
  import "DPI-C" function int unsigned mrc_path_table_order(input chandle paths, input int unsigned place);
  import "DPI-C" function longint unsigned mrc_path_table_reshuffles(input chandle paths);
  import "DPI-C" function longint unsigned mrc_path_table_rotations(input chandle paths);
  // EVs in use a plane: at most, and those that losses leave at least.
  import "DPI-C" function int unsigned mrc_path_table_most_active(input chandle paths);
  import "DPI-C" function int unsigned mrc_path_table_least_active(input chandle paths);

  // ---- tb/dpi/mrc_reference.h: a reference by name ("psn_tracker", …, "requestor", "responder", "nscc"): fields of a transfer are
  // put, it is accepted, and what is due is expected, with its fields to get.
  import "DPI-C" function chandle mrc_reference_new(input string name, input string settings);
  import "DPI-C" function void mrc_reference_free(input chandle handle);
  import "DPI-C" function string mrc_reference_error();
  import "DPI-C" function string mrc_reference_describe(input string name);
  import "DPI-C" function int mrc_reference_put(
    input chandle handle, input string field, input longint unsigned value);
  import "DPI-C" function int mrc_reference_put_byte(input chandle handle, input int unsigned value);
  import "DPI-C" function int mrc_reference_accept(input chandle handle, input string port);
  import "DPI-C" function int mrc_reference_expected(input chandle handle, input string port);
  import "DPI-C" function longint unsigned mrc_reference_get(input chandle handle, input string field);
  import "DPI-C" function int unsigned mrc_reference_bytes(input chandle handle);
  import "DPI-C" function int unsigned mrc_reference_get_byte(input chandle handle, input int unsigned at);
  import "DPI-C" function longint unsigned mrc_reference_state(
    input chandle handle, input string name, input longint unsigned index);

endpackage
