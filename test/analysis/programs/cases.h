// SPDX-License-Identifier: BSD-3-Clause
// The cases of a program that a test runs by name:
//
//   static const struct Case cases[] = {{"pair", pair}, {"nested", nested}};
//   int main(int argc, char** argv) { return RUN_CASE(cases, argc, argv, &rank, &size); }
//
// A name that no case has gives exit code 2, so that a misspelt one fails the test instead of running nothing. In a
// header, because each Open MPI compiles each program from one source.
#pragma once

#include <mpi.h>
#include <string.h>

struct Case {
  const char* name;
  void (*run)(void);
};

static inline const struct Case* find_case(const struct Case* cases, unsigned long count,
                                           const char* name) {
  for (unsigned long i = 0; i < count; i++)
    if (strcmp(cases[i].name, name) == 0) return &cases[i];
  return NULL;
}

// The case that the first word of the command line names; NULL if there is none.
#define CHOSEN(cases, argc, argv) \
  find_case(cases, sizeof(cases) / sizeof(cases)[0], (argc) > 1 ? (argv)[1] : "")

static inline int exit_code(const struct Case* chosen) { return chosen != NULL ? 0 : 2; }

// A whole program that does nothing but its case.
static inline int run_case(const struct Case* chosen, int* argc, char*** argv, int* rank,
                           int* size) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  if (chosen != NULL) chosen->run();
  MPI_Finalize();
  return exit_code(chosen);
}
#define RUN_CASE(cases, argc, argv, rank, size) \
  run_case(CHOSEN(cases, argc, argv), &(argc), &(argv), rank, size)
