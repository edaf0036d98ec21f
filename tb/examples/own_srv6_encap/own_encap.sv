// Another srv6_encap: one stage instead of two, with the names of a stream bus. An example of a user's own block.
module own_encap
  import mrc_pkg::*;
#(
  parameter  int unsigned Width     = 1024,
  localparam int unsigned Bytes     = Width / 8,
  localparam int unsigned CountBits = $clog2(Bytes + 1)
) (
  input  logic                 aclk,
  input  logic                 aresetn,
  input  logic                 s_tvalid,
  output logic                 s_tready,
  input  logic [Width-1:0]     s_tdata,
  input  logic [CountBits-1:0] s_tbytes,
  input  logic                 s_tfirst,
  input  logic                 s_tlast,
  input  srv6_encap_meta_t     s_tuser,
  output logic                 m_tvalid,
  input  logic                 m_tready,
  output logic [Width-1:0]     m_tdata,
  output logic [CountBits-1:0] m_tbytes,
  output logic                 m_tfirst,
  output logic                 m_tlast
);
  localparam logic [CountBits-1:0] Added = CountBits'(40);

  logic [319:0]         rest_q, header, ahead;
  logic                 flush_q, free, spills;
  logic [CountBits-1:0] flush_bytes_q;

  // Neither a segment routing header nor an ICRC: it is for runs that need none from it.
  logic unused_modes;
  assign unused_modes = s_tuser.srh ^ s_tuser.icrc;

  logic [95:0] usids;
  always_comb begin
    for (int unsigned i = 0; i < 6; i++) begin
      usids[16*(5-i)+:16] = '0;
      if (3'(i) < s_tuser.path.count) begin
        usids[16*(5-i)+:16] = s_tuser.path.usid[i] | {s_tuser.plane, 13'b0};
        if (s_tuser.path.uplink_position == 3'(i)) usids[16*(5-i)+:11] = usids[16*(5-i)+:11] | s_tuser.uplink;
      end
    end
  end
  assign header = {<<8{4'd6, s_tuser.dscp, s_tuser.ecn, s_tuser.flow_label, s_tuser.payload_length, 8'd41,
                       s_tuser.hop_limit, s_tuser.source, s_tuser.path.locator, usids}};

  assign free     = !m_tvalid || m_tready;
  assign s_tready = free && !flush_q;
  assign spills   = s_tbytes > CountBits'(Bytes) - Added;
  assign ahead    = s_tfirst ? header : rest_q;

  always_ff @(posedge aclk or negedge aresetn) begin
    if (!aresetn) begin
      m_tvalid <= 1'b0;
      flush_q  <= 1'b0;
    end else if (free) begin
      m_tvalid <= flush_q || s_tvalid;
      flush_q  <= !flush_q && s_tvalid && s_tlast && spills;
    end
  end

  always_ff @(posedge aclk) begin
    if (free && flush_q) begin
      m_tdata  <= {{Width - 320{1'b0}}, rest_q};
      m_tbytes <= flush_bytes_q;
      m_tfirst <= 1'b0;
      m_tlast  <= 1'b1;
    end else if (free && s_tvalid) begin
      {rest_q, m_tdata} <= {s_tdata, ahead};
      m_tbytes          <= s_tlast && !spills ? s_tbytes + Added : CountBits'(Bytes);
      m_tfirst          <= s_tfirst;
      m_tlast           <= s_tlast && !spills;
      flush_bytes_q     <= s_tbytes - (CountBits'(Bytes) - Added);
    end
  end
endmodule
