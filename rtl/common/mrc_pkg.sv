// Types that the blocks share. Field names and widths are those of include/mrc.
package mrc_pkg;

  /* verilator lint_off UNUSEDPARAM */

  localparam int unsigned MostUsids = 6;
  localparam logic [7:0] NextHeaderIpv6 = 8'd41;

  typedef logic [15:0] usid_t;

  // Path to a destination; plane and uplink are left open (zero bits).
  typedef struct packed {
    logic [31:0]           locator;
    usid_t [MostUsids-1:0] usid;             // usid[0] is the first that a switch matches
    logic [2:0]            count;            // uSIDs used, 1 … 6
    logic [2:0]            uplink_position;  // which of them takes the uplink, 7 for none
  } usid_template_t;

  // What srv6_encap needs beside the bytes of a packet; valid with its first beat.
  typedef struct packed {
    usid_template_t path;
    logic [127:0]   source;
    logic [19:0]    flow_label;
    logic [10:0]    uplink;
    logic [15:0]    payload_length;
    logic [2:0]     plane;
    logic [7:0]     hop_limit;
    logic [5:0]     dscp;
    logic [1:0]     ecn;
  } srv6_encap_meta_t;

  // What a completion of a PCIe read is for the request behind its tag.
  typedef enum logic [1:0] {
    CplUnexpected = 2'd0,  // a second copy, or nothing is asked for under this tag
    CplBehindLoss = 2'd1,  // bytes before it are missing
    CplAccepted   = 2'd2,
    CplComplete   = 2'd3   // the last of its request
  } cpl_verdict_e;

endpackage
