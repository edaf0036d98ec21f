// Whether a loop of x86-64 code does nothing but count its rounds and look at memory: then what it does next does not
// depend on how often it goes round, as long as nobody reads the count. Knows the instructions that compilers write for
// such loops, and refuses a loop with any other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mrc::verbs {

/// What an instruction has to do with a register and with the flags that jumps test.
struct LoopStep {
  bool known = false;
  bool names = false;   ///< it reads or writes the register, as data or for an address
  bool counts = false;  ///< it adds a constant to the register, and does nothing else
  bool sets_flags = false;
  bool tests_flags = false;  ///< a conditional jump
};

namespace loop_code {

/// The operands behind an opcode: a register, and a register or a place in memory.
struct Operands {
  unsigned extension = 0;  ///< the bits of the first operand, before REX
  unsigned first = 0;
  unsigned second = 0;  ///< of a register operand
  bool is_memory = false;
  bool addressed_by = false;  ///< the address has the register in it
};

inline Operands operands(const unsigned char* code, unsigned rex, unsigned watched) {
  Operands found;
  const unsigned mode = code[0] >> 6;
  const unsigned low = code[0] & 7U;
  found.extension = code[0] >> 3 & 7U;
  found.first = found.extension | (rex & 4U) << 1;
  found.second = low | (rex & 1U) << 3;
  found.is_memory = mode != 3;
  if (!found.is_memory) return found;
  constexpr unsigned with_index = 4;
  constexpr unsigned none = 5;  // of the instruction pointer, or an address without a register
  if (low != with_index) {
    found.addressed_by = !(mode == 0 && low == none) && found.second == watched;
    return found;
  }
  const unsigned index = (code[1] >> 3 & 7U) | (rex & 2U) << 2;
  const unsigned base = (code[1] & 7U) | (rex & 1U) << 3;
  found.addressed_by =
      (index != with_index && index == watched) || (!(mode == 0 && (code[1] & 7U) == none) && base == watched);
  return found;
}

/// Two operands of which none is written to memory. `counts`: where the second is the register itself.
inline LoopStep with(const Operands& found, unsigned watched, bool has_first, bool sets_flags, bool counts = false) {
  LoopStep step{.known = true, .sets_flags = sets_flags};
  const bool second = !found.is_memory && found.second == watched;
  step.names = found.addressed_by || second || (has_first && found.first == watched);
  step.counts = counts && second;
  return step;
}

inline LoopStep two_bytes(const unsigned char* code, unsigned rex, unsigned watched) {
  const Operands found = operands(code + 1, rex, watched);
  if ((code[0] & 0xF0U) == 0x80) return {.known = true, .tests_flags = true};  // jumps with 32 bits
  switch (code[0]) {
    case 0x1F:  // nop
      return {.known = true};
    case 0xAE:  // fences
      return {.known = !found.is_memory && found.extension >= 5};
    case 0xB6:
    case 0xB7:
    case 0xBE:
    case 0xBF:  // mov with extension
      return with(found, watched, true, false);
    default:
      return {};
  }
}

}  // namespace loop_code

/// Of the instruction at `code` and the register of this number (0: rax, 1: rcx, …).
inline LoopStep loop_step(const unsigned char* code, unsigned watched) {
  using namespace loop_code;
  if (code[0] == 0xF3 && code[1] == 0x90) return {.known = true};  // pause
  if (code[0] == 0x66) ++code;
  unsigned rex = 0;
  if ((code[0] & 0xF0U) == 0x40) rex = *code++;
  if (code[0] == 0x0F) return two_bytes(code + 1, rex, watched);
  if ((code[0] & 0xF0U) == 0x70) return {.known = true, .tests_flags = true};
  const Operands found = operands(code + 1, rex, watched);
  switch (code[0]) {
    case 0x90:  // nop
    case 0xEB:
    case 0xE9:  // jumps
      return {.known = true};
    case 0x8A:
    case 0x8B:
    case 0x63:  // loads
      return with(found, watched, true, false);
    case 0x88:
    case 0x89:  // from a register to another
      return found.is_memory ? LoopStep{} : with(found, watched, true, false);
    case 0x38:
    case 0x39:
    case 0x3A:
    case 0x3B:
    case 0x84:
    case 0x85:  // cmp, test
      return with(found, watched, true, true);
    case 0x3C:
    case 0x3D:
    case 0xA8:
    case 0xA9:  // cmp, test of rax with a constant
      return {.known = true, .names = watched == 0, .sets_flags = true};
    case 0x80:
    case 0x81:
    case 0x83: {
      constexpr unsigned add = 0;
      constexpr unsigned subtract = 5;
      constexpr unsigned compare = 7;
      if (found.extension == compare) return with(found, watched, false, true);
      const bool counts = found.extension == add || found.extension == subtract;
      return counts && !found.is_memory ? with(found, watched, false, true, true) : LoopStep{};
    }
    case 0xF6:
    case 0xF7:  // test with a constant
      return found.extension == 0 ? with(found, watched, false, true) : LoopStep{};
    case 0xFF:  // inc, dec
      return found.extension <= 1 && !found.is_memory ? with(found, watched, false, true, true) : LoopStep{};
    default:
      return {};
  }
}

/// The instructions of one round, as they were run.
inline bool only_counts(const unsigned char* const* code, std::size_t count, unsigned watched) {
  bool flags_of_count = false;  ///< the flags are those of the count
  // Twice, because the flags go into the next round.
  for (std::size_t i = 0; i < 2 * count; ++i) {
    const LoopStep step = loop_step(code[i % count], watched);
    if (!step.known || (step.names && !step.counts) || (step.tests_flags && flags_of_count)) return false;
    if (step.sets_flags) flags_of_count = step.counts;
  }
  return true;
}

}  // namespace mrc::verbs
