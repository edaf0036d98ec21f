// Types that the blocks share. Field names and widths are those of include/mrc.
package mrc_pkg;

  /* verilator lint_off UNUSEDPARAM */

  localparam int unsigned MostUsids = 6;
  localparam logic [7:0] NextHeaderIpv6 = 8'd41;
  localparam logic [7:0] NextHeaderRouting = 8'd43;
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
    logic           srh;   // a segment routing header behind the outer header
    logic           icrc;  // the packet comes without its ICRC, which goes behind it
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
    SprayCsrReadSlot   = 4'd9,
    SprayCsrReadRoom   = 4'd10
  } spray_csr_e;

  // SprayCsrLimits, and what it sets.
  typedef struct packed {
    logic [19:0]    reshuffle_rotations;  // rotations until a new scan order; 0 for never
    logic [7:0]     probe_successes;      // good probes in a row that revive an EV
    logic [3:0]     assumed_bad_losses;   // losses that remove an EV, 1 … 15
    logic           oblivious;            // updates change nothing
    logic           probe_marked_skips;   // a CE-marked probe reply leaves the EV in SKIP
    skip_duration_e skip_duration;
    logic [8:0]     least_active;         // the smallest number of EVs that a plane keeps in use
    logic [8:0]     most_active;          // EVs in use a plane
    logic [9:0]     ev_count;             // EVs of the profile, 1 … 256
  } spray_limits_t;

  // Answer of SprayCsrReadEv between bit 63, in use, and the EV's place in the scan order.
  typedef struct packed {
    ev_state_e  state;
    logic [3:0] losses;
    logic [7:0] probe_successes;
  } spray_ev_word_t;

  // Answer of SprayCsrReadSlot.
  typedef struct packed {
    logic [11:0] unused;
    logic [19:0] rotations;  // since the order was drawn
    logic [15:0] reachable;  // a bit per plane
    logic [15:0] pointer;    // place where the search begins
  } spray_table_word_t;

  typedef logic [23:0] psn_t;

  // Reasons of a NACK that a block gives itself (OCP MRC 1.0).
  typedef enum logic [7:0] {
    NackNone           = 8'h00,
    NackTrimmed        = 8'h01,
    NackTrimmedLasthop = 8'h02,
    NackNoBitmap       = 8'h06,
    NackNoPktBuffer    = 8'h07,
    NackNoResource     = 8'h0A,
    NackPsnOorWindow   = 8'h0B,
    NackUnexpEvent     = 8'h19
  } nack_reason_e;

  // What is asked of psn_tracker.
  typedef enum logic [2:0] {
    PsnSetup          = 3'd0,  // the QP begins at this PSN
    PsnData           = 3'd1,
    PsnTrimmed        = 3'd2,
    PsnTrimmedLasthop = 3'd3,
    PsnSack           = 3'd4,  // contents of a SACK that this PSN has triggered
    PsnRelease        = 3'd5,  // the QP is given up: its banks go back
    PsnLoad           = 3'd6,  // the slot gets a QP whose context was stored
    PsnStore          = 3'd7   // the slot is given up: its context goes out, its banks stay
  } psn_op_e;

  typedef enum logic [2:0] {
    PsnAccept         = 3'd0,
    PsnDuplicateBelow = 3'd1,
    PsnDuplicateAbove = 3'd2,
    PsnOutOfWindow    = 3'd3,
    PsnNoBitmap       = 3'd4
  } psn_outcome_e;

  // What a packet is and what the rest of the NIC has for it; valid with PsnData.
  typedef struct packed {
    logic ends_message;
    logic allowed;         // its memory region admits it
    logic packet_buffer;   // room in staging
    logic other_resource;
    logic receive;         // carries no immediate, or a receive is posted
  } psn_packet_t;

  // What triggered a SACK; valid with PsnSack.
  typedef struct packed {
    logic        ce;
    logic        ack_request;
    logic        probe;
    logic [15:0] probe_id;
  } sack_trigger_t;

  typedef struct packed {
    psn_outcome_e outcome;
    nack_reason_e nack;
    logic         place;         // write the payload to memory
    logic         duplicate;     // a SACK is owed
    logic         repeat_ack;    // and the transport ACK again
    logic [15:0]  closes;        // messages that the edge has passed the end of
    psn_t         cack;          // state after the request
    psn_t         highest;
    logic [14:0]  ooo_count;
    logic [15:0]  sack_offset;   // from here on with PsnSack, 0 otherwise
    logic [15:0]  ack_psn_offset;
    logic [63:0]  sack_bitmap;
    logic [7:0]   mpr;           // units of 128 PSNs granted, 0 without dynamic MPR
  } psn_reply_t;

  // Commands of retransmit_buffer.
  typedef enum logic [3:0] {
    RetransmitOpen    = 4'd0,  // a QP begins, without packets
    RetransmitAppend  = 4'd1,  // a new packet is taken for sending
    RetransmitSent    = 4'd2,  // it has left
    RetransmitAck     = 4'd3,  // cumulative and selective acknowledgement
    RetransmitNack    = 4'd4,  // one packet is lost
    RetransmitGap     = 4'd5,  // lost is what later packets have overtaken
    RetransmitTimeout = 4'd6,  // lost is what was sent too long ago
    RetransmitTake    = 4'd7,  // the oldest lost packet is taken to be retransmitted
    RetransmitLoad    = 4'd8,  // the slot gets a QP whose context was stored
    RetransmitStore   = 4'd9   // the slot is given up: its context goes out, its records stay
  } retransmit_op_e;

  // What may make a SACK owed, and the two that move a QP's counter.
  typedef enum logic [2:0] {
    SackLoad      = 3'd0,  // the slot gets a QP, whose counter comes with it: 0 for a new one
    SackData      = 3'd1,
    SackDuplicate = 3'd2,
    SackProbe     = 3'd3,
    SackStore     = 3'd4   // the slot is given up: its counter goes out
  } sack_event_e;

  typedef struct packed {
    logic stored;     // no SACK: the counter that SackStore asked for
    logic asked_for;  // by a probe or a duplicate
    logic retransmission;
    logic ce;
    logic ack_request;
    logic bytes;
  } sack_causes_t;

  // What a SACK reflects of the packet that triggered it.
  typedef struct packed {
    psn_t        psn;
    logic [31:0] ev;
    logic [15:0] tx_timestamp;
    logic [15:0] probe_id;
    logic        ce;
    logic        ack_request;
    logic        probe;
  } sack_reflection_t;

  // What a lookup of a QP context finds.
  typedef enum logic [1:0] {
    ContextHere    = 2'd0,
    ContextLoading = 2'd1,
    ContextFetched = 2'd2,  // its fetch begins now
    ContextNoRoom  = 2'd3   // it is missing, and nothing can be fetched now
  } context_lookup_e;

  // Operations inside qp_scheduler: on its contexts, and on its list.
  typedef enum logic [1:0] {
    SlotTurn = 2'd0,
    SlotLook = 2'd1,
    SlotFill = 2'd2,
    SlotDrop = 2'd3
  } slot_op_e;

  typedef enum logic [1:0] {
    ListActivate = 2'd0,
    ListAgain    = 2'd1,  // a turn ends, and the QP wants another
    ListPark     = 2'd2   // a turn ends
  } list_op_e;

endpackage
