// Forward error correction of links in closed form: Reed-Solomon codes over symbols of 10 bits, bit errors that are
// independent of each other. What a code leaves is lost in whole frames: a MAC drops what its FCS refuses.
#pragma once

#include <cmath>
#include <cstdint>

#include "fabric/fabric_parameters.h"

namespace mrc {

/// RS(n, k): up to (n - k) / 2 wrong symbols of a codeword are corrected.
struct FecCode {
  std::uint32_t symbols = 0;       ///< n
  std::uint32_t data_symbols = 0;  ///< k
  static constexpr std::uint32_t kSymbolBits = 10;

  std::uint32_t corrected() const { return (symbols - data_symbols) / 2; }
  double data_bits() const { return double{kSymbolBits} * data_symbols; }
  /// Bits on the line that carry no data, of those that do.
  double overhead() const { return static_cast<double>(symbols - data_symbols) / data_symbols; }
};

constexpr FecCode fec_code(Fec fec) {
  switch (fec) {
    case Fec::rs272_258:
      return {272, 258};
    case Fec::rs528_514:
      return {528, 514};
    case Fec::rs544_514:
      return {544, 514};
    case Fec::none:
      break;
  }
  return {};
}

/// Probability that a codeword has more wrong symbols than the code corrects: the binomial tail.
inline double codeword_failure(const FecCode& code, double bit_error_rate) {
  if (bit_error_rate <= 0) return 0;
  if (bit_error_rate >= 1) return 1;
  const double log_right = FecCode::kSymbolBits * std::log1p(-bit_error_rate);
  const double log_wrong = std::log(-std::expm1(log_right));
  double tail = 0;
  for (std::uint32_t wrong = code.corrected() + 1; wrong <= code.symbols; ++wrong) {
    const double right = code.symbols - wrong;
    const double log_ways = std::lgamma(code.symbols + 1.0) - std::lgamma(wrong + 1.0) - std::lgamma(right + 1.0);
    tail += std::exp(log_ways + wrong * log_wrong + right * log_right);
  }
  return std::min(tail, 1.0);
}

/// Probability that a frame of `bytes` (preamble and gap included) is lost on a link. A frame begins anywhere in a
/// codeword, so it touches 1 + (bits - 1) / k of them in the mean.
inline double frame_loss(const FecCode& code, double bit_error_rate, std::uint32_t bytes) {
  const double bits = 8.0 * bytes;
  if (code.symbols == 0) return -std::expm1(bits * std::log1p(-bit_error_rate));
  const double codewords = 1 + (bits - 1) / code.data_bits();
  return -std::expm1(codewords * std::log1p(-codeword_failure(code, bit_error_rate)));
}

}  // namespace mrc
