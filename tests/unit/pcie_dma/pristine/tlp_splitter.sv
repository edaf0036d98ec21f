// Cuts a transfer at the multiples of a block size (MRRS or MPS, a power of two from 128 to 4,096 bytes), so that no TLP
// crosses one and thereby none crosses 4 KiB. One TLP a cycle; the next transfer is taken while the last TLP leaves.
module tlp_splitter #(
  parameter int unsigned LengthWidth = 20,  // of a transfer's byte count
  parameter int unsigned UserWidth   = 1    // what travels with a transfer
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic [3:0]             block_log2_i,  // 7 … 12, static

  input  logic                   in_valid_i,
  output logic                   in_ready_o,    // waits for take_i where a transfer is under way
  input  logic [63:0]            in_address_i,
  input  logic [LengthWidth-1:0] in_bytes_i,    // at least 1
  input  logic [UserWidth-1:0]   in_user_i,

  output logic                   valid_o,
  output logic [63:0]            address_o,
  output logic [12:0]            bytes_o,
  output logic                   last_o,
  output logic [UserWidth-1:0]   user_o,
  input  logic                   take_i         // only while valid_o
);

  logic                   valid_q;
  logic [63:0]            address_q;
  logic [LengthWidth-1:0] left_q;
  logic [UserWidth-1:0]   user_q;

  logic [12:0] block, room;
  assign block = 13'd1 << block_log2_i;
  assign room  = block - ({1'b0, address_q[11:0]} & (block - 13'd1));

  assign valid_o    = valid_q;
  assign address_o  = address_q;
  assign last_o     = 32'(left_q) <= 32'(room);
  assign bytes_o    = last_o ? 13'(left_q) : room;
  assign user_o     = user_q;
  assign in_ready_o = !valid_q || (take_i && last_o);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else if (in_ready_o) begin
      valid_q <= in_valid_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_valid_i && in_ready_o) begin
      address_q <= in_address_i;
      left_q    <= in_bytes_i;
      user_q    <= in_user_i;
    end else if (take_i) begin
      address_q <= address_q + 64'(bytes_o);
      left_q    <= left_q - LengthWidth'(bytes_o);
    end
  end

endmodule
