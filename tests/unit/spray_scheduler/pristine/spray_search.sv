// Which EV a packet gets: the first in scan order from the pointer on that is GOOD and whose plane's port is up and has
// room. Two cycles: which EVs there are, then the first of them. Keeps the room of the ports.
module spray_search #(
  parameter  int unsigned MaxEvs      = 256,
  parameter  int unsigned NumPlanes   = 8,
  parameter  int unsigned CreditWidth = 28,
  parameter  int unsigned BytesWidth  = 16,
  localparam int unsigned EvW         = $clog2(MaxEvs),
  localparam int unsigned CountW      = EvW + 1
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,

  // The first cycle; with again_i the ports are those of the packet's first search.
  input  logic                                  look_i,
  input  logic                                  again_i,
  input  logic [BytesWidth-1:0]                 bytes_i,
  input  logic [NumPlanes-1:0]                  ports_up_i,
  input  logic [NumPlanes-1:0]                  reachable_i,
  input  logic [CountW-1:0]                     pointer_i,
  input  logic [MaxEvs-1:0]                     eligible_i,
  input  logic [NumPlanes-1:0][MaxEvs-1:0]      planes_i,

  // The second.
  input  logic                                  pick_i,
  output logic [NumPlanes-1:0]                  free_ports_o,     // up and with room
  output logic                                  any_good_o,       // on a plane that can be reached
  output logic                                  any_candidate_o,  // of these, through a port with room
  output logic                                  any_ahead_o,      // of these, at the pointer or behind it
  output logic [EvW-1:0]                        place_o,          // the first of them
  input  logic                                  take_i,           // the packet gets it

  input  logic                                  credit_i,
  input  logic [NumPlanes-1:0][CreditWidth-1:0] credit_bytes_i,
  output logic [NumPlanes-1:0][CreditWidth-1:0] room_o
);

  typedef logic [MaxEvs-1:0] evs_t;

  logic [NumPlanes-1:0][CreditWidth-1:0] credit_q;
  logic [NumPlanes-1:0] free_q, free_d;
  evs_t usable, within_reach, candidates, ahead, ahead_q, picked;

  // What is wide is worked out only in the cycles that use it: a simulator passes it over in the others.
  always_comb begin
    free_d       = free_q;
    usable       = '0;
    within_reach = '0;
    candidates   = '0;
    ahead        = '0;
    if (look_i) begin
      for (int unsigned p = 0; p < NumPlanes; p++) begin
        if (!again_i) free_d[p] = ports_up_i[p] && credit_q[p] >= CreditWidth'(bytes_i);
        if (reachable_i[p]) within_reach |= planes_i[p];
        if (reachable_i[p] && free_d[p]) usable |= planes_i[p];
      end
      candidates = eligible_i & usable;
      ahead      = candidates & ({MaxEvs{1'b1}} << pointer_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (look_i) begin
      free_q          <= free_d;
      ahead_q         <= ahead;
      any_good_o      <= (eligible_i & within_reach) != '0;
      any_candidate_o <= candidates != '0;
    end
  end

  first_one #(.Width(MaxEvs)) u_first (.look_i(pick_i), .bits_i(ahead_q), .any_o(any_ahead_o), .one_hot_o(picked), .index_o(place_o));
  assign free_ports_o = free_q;

  // ---- Room. With and without the packet is worked out while the EV is searched.
  function automatic logic [CreditWidth-1:0] credit_after(logic [CreditWidth-1:0] credit, logic [CreditWidth-1:0] returned,
                                                          logic takes, logic [BytesWidth-1:0] bytes);
    logic [CreditWidth-1:0] more, less;
    more = credit + returned;
    less = more - CreditWidth'(bytes);
    return takes ? less : more;
  endfunction
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      credit_q <= '0;
    end else if (credit_i || take_i) begin
      for (int unsigned p = 0; p < NumPlanes; p++) begin
        credit_q[p] <= credit_after(credit_q[p], credit_i ? credit_bytes_i[p] : '0, take_i && (picked & planes_i[p]) != '0, bytes_i);
      end
    end
  end
  assign room_o = credit_q;

endmodule
