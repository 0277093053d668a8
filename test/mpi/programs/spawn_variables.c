// SPDX-License-Identifier: BSD-3-Clause
// Spawns itself, with variables for the child in an info of its own; the child prints them. The info
// is as it was afterwards.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const char* value(const char* name) {
  const char* text = getenv(name);
  return text ? text : "(unset)";
}

int main(int argc, char** argv) {
  MPI_Comm other;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&other);
  if (other != MPI_COMM_NULL) {
    printf("child: A=%s B=%s\n", value("A"), value("B"));
  } else {
    MPI_Info info;
    int keys, there, codes[1];
    char text[100] = "";
    MPI_Info_create(&info);
    MPI_Info_set(info, "PMIX_ENVAR", "A=1\nB=two words\nLD_PRELOAD=libm.so.6");
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &other, codes);
    MPI_Info_get_nkeys(info, &keys);
    MPI_Info_get(info, "PMIX_ENVAR", sizeof text - 1, text, &there);
    printf("parent: %d keys, %s\n", keys, text);
    MPI_Info_free(&info);
  }
  MPI_Comm_disconnect(&other);
  MPI_Finalize();
  return 0;
}
