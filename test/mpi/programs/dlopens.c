// SPDX-License-Identifier: BSD-3-Clause
// A program that is not linked with MPI and takes its functions from dlopen's handle, where no
// preloaded library is seen.
//
//   dlopens local | global | deepbind    how libmpi is loaded; deepbind: with a plug-in that is linked with it
//   dlopens unused | forks | ends        loads it and does not start it; starts it and forks; ends without MPI_Finalize
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// An object pointer becomes a function pointer: POSIX allows it, ISO C has no cast for it.
static void* mpi;
static void find(const char* name, void* function) {
  void* address = dlsym(mpi, name);
  memcpy(function, &address, sizeof address);
}

static int deepbind(int* argc, char*** argv, const char* folder_of) {
  char path[4096];
  snprintf(path, sizeof path, "%.*s/libplugin.so", (int)(strrchr(folder_of, '/') - folder_of),
           folder_of);
  void* plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  int (*run)(int*, char***) = 0;
  void* address = plugin ? dlsym(plugin, "run") : 0;
  memcpy(&run, &address, sizeof run);
  return run ? run(argc, argv) : 4;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "local";
  if (!strcmp(how, "deepbind")) return deepbind(&argc, &argv, argv[0]);
  int mode = !strcmp(how, "global") ? RTLD_GLOBAL : RTLD_LOCAL;
  mpi = dlopen("libmpi.so.40", RTLD_NOW | mode);
  if (!mpi) {
    fprintf(stderr, "dlopens: %s\n", dlerror());
    return 1;
  }
  int (*init)(int*, char***);
  int (*comm_rank)(void*, int*);
  int (*comm_size)(void*, int*);
  int (*allreduce)(const void*, void*, int, void*, void*, void*);
  int (*finalize)(void);
  find("MPI_Init", &init);
  find("MPI_Comm_rank", &comm_rank);
  find("MPI_Comm_size", &comm_size);
  find("MPI_Allreduce", &allreduce);
  find("MPI_Finalize", &finalize);
  void* world = dlsym(mpi, "ompi_mpi_comm_world");
  void* type = dlsym(mpi, "ompi_mpi_int");
  void* sum = dlsym(mpi, "ompi_mpi_op_sum");
  int rank, size, one = 1, all = 0;
  if (!init || !comm_rank || !comm_size || !allreduce || !finalize || !world || !type || !sum)
    return 2;
  if (!strcmp(how, "unused")) return 0;
  init(&argc, &argv);
  if (!strcmp(how, "forks")) {
    pid_t child = fork();
    if (child == 0) exit(0);
    waitpid(child, 0, 0);
  }
  comm_rank(world, &rank);
  comm_size(world, &size);
  allreduce(&one, &all, 1, type, sum, world);
  if (rank == 0) printf("dlopens: %d of %d ranks\n", all, size);
  if (!strcmp(how, "ends")) return 0;
  finalize();
  return all == size ? 0 : 3;
}
