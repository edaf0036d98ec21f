/* Sums over all ranks, each checked: all_reduce ROUNDS ELEMENTS. Ends with 1 where one is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  const int elements = argc > 2 ? atoi(argv[2]) : 1024;
  int rank = 0, ranks = 0, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double* mine = malloc(sizeof *mine * (size_t)elements);
  double* sum = malloc(sizeof *sum * (size_t)elements);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < elements; ++i) {
      mine[i] = rank + 1 + i + round;
      sum[i] = -1;
    }
    const double begin = MPI_Wtime();
    MPI_Allreduce(mine, sum, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double us = (MPI_Wtime() - begin) * 1e6;
    for (int i = 0; i < elements; ++i) {
      wrong += sum[i] != ranks * (ranks + 1) / 2.0 + (double)ranks * (i + round);
    }
    if (rank == 0) printf("all-reduce of %d ranks, %d elements: %.2f us\n", ranks, elements, us);
  }
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
