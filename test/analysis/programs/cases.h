// SPDX-License-Identifier: BSD-3-Clause
// The cases of a program that a test runs by name:
//
//   static const struct Case cases[] = {{"pair", pair}, {"nested", nested}};
//   …
//   const struct Case* const chosen = CHOSEN(cases, argc, argv);
//   if (chosen != NULL) chosen->run();
//   …
//   return chosen != NULL ? 0 : 2;
//
// 2, so that a misspelt name fails the test instead of running nothing. In a header, because each Open MPI compiles
// each program from one source.
#pragma once

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
