// Runs a block's bench on a model in which the input `mutsel` chooses one of many mutations; one process each, since a
// mutation may hang or crash what watches it.
#pragma once

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <verilated.h>

namespace mrc {

inline constexpr int kNoMutation = 255;
inline int selected_mutation = kNoMutation;
inline std::string contract_file;  ///< that the block is compared with too; empty: none

/// The Verilated netlist with the mutation that is selected.
template <typename Model>
class Mutant : public Model {
 public:
  explicit Mutant(VerilatedContext* context) : Model(context) { this->mutsel = static_cast<CData>(selected_mutation); }
};

/// True if `find(transactions)`, which gives the first mismatch, finds none, in a process of its own.
template <typename Find>
bool survives(int mutation, std::uint64_t transactions, Find&& find) {
  const pid_t child = fork();
  if (child == 0) {
    // Of its own time, so that a busy machine changes nothing; the signal counts as not found.
    const itimerval limit{{0, 0}, {120, 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
    selected_mutation = mutation;
    _exit(find(transactions).empty() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGPROF;
}

/// argv: number of mutations, transactions for each at most, contract or "-", and the mutations to run (default: all).
/// Prints "N killed TRANSACTIONS" or "N survived" for each. Returns 2 if the bench finds a mismatch without a mutation.
template <typename Find>
int run_mutants(int argc, char** argv, Find&& find) {
  if (argc < 4) return 2;
  if (std::string(argv[3]) != "-") contract_file = argv[3];
  std::vector<int> mutations;
  for (int i = 4; i < argc; ++i) mutations.push_back(std::atoi(argv[i]));
  for (int i = 0; argc == 4 && i < std::atoi(argv[1]); ++i) mutations.push_back(i);
  const auto most = static_cast<std::uint64_t>(std::atoll(argv[2]));
  if (!survives(kNoMutation, most, find)) {
    selected_mutation = kNoMutation;
    fmt::print(stderr, "without a mutation: {}\n", find(most));
    return 2;
  }
  for (const int mutation : mutations) {
    std::uint64_t transactions = most / 100;
    while (transactions <= most && survives(mutation, transactions, find)) transactions *= 10;
    fmt::print("{} {}\n", mutation, transactions > most ? "survived" : fmt::format("killed {}", transactions));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace mrc
