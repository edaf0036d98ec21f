// Types that the blocks share. Field names and widths are those of include/mrc.
package mrc_pkg;

  /* verilator lint_off UNUSEDPARAM */

  localparam int unsigned MostUsids = 6;
  localparam logic [7:0] NextHeaderIpv6 = 8'd41;
  /* verilator lint_on UNUSEDPARAM */

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

  // States of an EV (the specification's Figure 5).
  typedef enum logic [1:0] {
    EvGood       = 2'd0,
    EvSkip       = 2'd1,
    EvAssumedBad = 2'd2,
    EvDenied     = 2'd3
  } ev_state_e;

  // What a packet or a probe on an EV met with; the last three are the controller's.
  typedef enum logic [3:0] {
    PathDelivered      = 4'd0,
    PathEcn            = 4'd1,
    PathAlwaysSkip     = 4'd2,
    PathTrimmed        = 4'd3,
    PathTrimmedLasthop = 4'd4,
    PathLost           = 4'd5,
    PathProbeDelivered = 4'd6,
    PathProbeEcn       = 4'd7,
    PathProbeLost      = 4'd8,
    PathDeny           = 4'd9,
    PathAllow          = 4'd10,
    PathRead           = 4'd11
  } path_event_e;

  // When a SKIP EV is GOOD again.
  typedef enum logic [1:0] {
    SkipRestOfRotation = 2'd0,
    SkipOneRotation    = 2'd1,
    SkipFixedTime      = 2'd2
  } skip_duration_e;

  // What the control port of spray_scheduler does.
  typedef enum logic [3:0] {
    SprayCsrLimits     = 4'd0,
    SprayCsrSkipTime   = 4'd1,
    SprayCsrProfile    = 4'd2,
    SprayCsrBucket     = 4'd3,
    SprayCsrOpen       = 4'd4,
    SprayCsrPortStatus = 4'd5,
    SprayCsrDeny       = 4'd6,
    SprayCsrAllow      = 4'd7,
    SprayCsrReadEv     = 4'd8,
    SprayCsrReadSlot   = 4'd9
  } spray_csr_e;

  // SprayCsrLimits, and what it sets.
  typedef struct packed {
    logic [19:0]    reshuffle_rotations;  // rotations until a new scan order; 0 for never
    logic [7:0]     probe_successes;      // good probes in a row that revive an EV
    logic [3:0]     assumed_bad_losses;   // losses that remove an EV, 1 … 15
    logic           oblivious;            // updates change nothing
    logic           probe_marked_skips;   // a CE-marked probe reply leaves the EV in SKIP
    skip_duration_e skip_duration;
    logic [8:0]     least_active;         // a plane keeps at least so many EVs in use
    logic [8:0]     most_active;          // EVs in use a plane
    logic [9:0]     ev_count;             // EVs of the profile, 1 … 256
  } spray_limits_t;

endpackage
