// Memory with one read and one write port that is too large, or too exposed to bit errors, for one ram_1r1w: banks, a read
// latency of 1 to 3 cycles, check bits. It is a module of its own, of which ram_1r1w is a bank. Error ports of ram_1r1w itself
// would have to be connected wherever it is used for a few words, and proofs and lists of mutations name its array.
//
// - Banks: the low bits of an address select the bank. Each is an array of Depth / Banks words.
// - ReadLatency: one read per cycle is accepted. What is read at an edge is on rdata_o after ReadLatency edges, that one
//   counted, and stays until the data of the next read come. No port says when: re_i, ReadLatency - 1 cycles later, does.
//   The module has no reset. All outputs, including the error ports, are undefined until the first read returns its data.
//     1: the bank's word is selected and decoded behind its register, in the cycle of what uses it;
//     2: a register behind the decoder;
//     3: another one between selection and decoder.
// - A read sees what is written at the same edge and before, whatever its latency. A hazard is left to the user: with a latency
//   of 2 or 3 a write at a later edge can come before the data of the read, which do not have it.
// - Secded: words are stored as code words of rtl/common/secded.sv. corrected_o and uncorrectable_o are about the word on rdata_o
//   and are held as long: they are counted when data come. Nothing is written back. Without Secded they are constant 0. Words
//   that were never written have errors, unless the memory begins with zeros.
// - flip_i: bits of the stored word that are inverted when it is written, to see what errors do. A constant '0 costs nothing.
module ram_1r1w_banked #(
  parameter  int unsigned Depth       = 16,
  parameter  int unsigned Width       = 8,
  parameter  int unsigned ReadLatency = 1,
  parameter  int unsigned Banks       = 1,     // power of two of which Depth is a multiple
  parameter  int unsigned Secded      = 0,     // 1: with check bits
  localparam int unsigned AddrWidth   = (Depth > 1) ? $clog2(Depth) : 1,
  // That of secded.sv; another one is a width error where it is instantiated.
  localparam int unsigned CodeWidth   = (Secded != 0) ? Width + $clog2(Width + $clog2(Width + 1) + 1) + 1 : Width
) (
  input  logic                 clk_i,

  input  logic                 we_i,
  input  logic [AddrWidth-1:0] waddr_i,
  input  logic [Width-1:0]     wdata_i,
  input  logic [CodeWidth-1:0] flip_i,

  input  logic                 re_i,
  input  logic [AddrWidth-1:0] raddr_i,
  output logic [Width-1:0]     rdata_o,
  output logic                 corrected_o,
  output logic                 uncorrectable_o
);

  if (ReadLatency == 0 || ReadLatency > 3) begin : gen_latency_refused
    $error("ram_1r1w_banked: ReadLatency %0d; allowed: 1, 2, 3", ReadLatency);
  end
  if (Banks != 2 ** $clog2(Banks) || Depth % Banks != 0) begin : gen_banks_refused
    $error("ram_1r1w_banked: Banks %0d; allowed: powers of two of which Depth, %0d, is a multiple", Banks, Depth);
  end

  typedef struct packed {
    logic             uncorrectable;
    logic             corrected;
    logic [Width-1:0] data;
  } result_t;

  localparam int unsigned BankDepth = Depth / Banks;
  localparam int unsigned RowWidth  = (BankDepth > 1) ? $clog2(BankDepth) : 1;
  localparam int unsigned BankWidth = (Banks > 1) ? $clog2(Banks) : 1;

  logic [RowWidth-1:0]             write_row, read_row;
  logic [BankWidth-1:0]            write_bank, read_bank;
  logic [Banks-1:0][CodeWidth-1:0] bank_code;
  logic [CodeWidth-1:0]            encoded, selected, to_decode;
  result_t                         decoded, result;

  assign write_row  = RowWidth'(waddr_i >> $clog2(Banks));
  assign read_row   = RowWidth'(raddr_i >> $clog2(Banks));
  assign write_bank = BankWidth'(waddr_i & AddrWidth'(Banks - 1));
  assign read_bank  = BankWidth'(raddr_i & AddrWidth'(Banks - 1));

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    ram_1r1w #(.Depth(BankDepth), .Width(CodeWidth)) u_bank (
      .clk_i,
      .we_i   (we_i && write_bank == BankWidth'(b)),
      .waddr_i(write_row),
      .wdata_i(encoded ^ flip_i),
      .re_i   (re_i && read_bank == BankWidth'(b)),
      .raddr_i(read_row),
      .rdata_o(bank_code[b])
    );
  end

  if (Banks > 1) begin : gen_select
    logic [BankWidth-1:0] read_bank_q;
    always_ff @(posedge clk_i) if (re_i) read_bank_q <= read_bank;
    assign selected = bank_code[read_bank_q];
  end else begin : gen_only
    assign selected = bank_code[0];
  end

  // A bank holds its word, so the registers behind it need no enable.
  if (ReadLatency > 2) begin : gen_selected_register
    always_ff @(posedge clk_i) to_decode <= selected;
  end else begin : gen_selected
    assign to_decode = selected;
  end

  if (Secded != 0) begin : gen_secded
    secded #(.Width(Width)) u_secded (
      .data_i         (wdata_i),
      .code_o         (encoded),
      .code_i         (to_decode),
      .data_o         (decoded.data),
      .corrected_o    (decoded.corrected),
      .uncorrectable_o(decoded.uncorrectable)
    );
  end else begin : gen_plain
    assign encoded = wdata_i;
    assign decoded = {2'b00, to_decode};
  end

  if (ReadLatency > 1) begin : gen_decoded_register
    always_ff @(posedge clk_i) result <= decoded;
  end else begin : gen_decoded
    assign result = decoded;
  end

  assign rdata_o         = result.data;
  assign corrected_o     = Secded != 0 && result.corrected;
  assign uncorrectable_o = Secded != 0 && result.uncorrectable;

endmodule
