// A program that is not linked with MPI and loads it by dlopen, privately (RTLD_LOCAL), as interpreters do.
//
//   dlopens local | global
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// An object pointer becomes a function pointer: POSIX allows it, ISO C has no cast for it.
static void* mpi;
static void find(const char* name, void* function) {
  void* address = dlsym(mpi, name);
  memcpy(function, &address, sizeof address);
}

int main(int argc, char** argv) {
  int mode = argc > 1 && !strcmp(argv[1], "global") ? RTLD_GLOBAL : RTLD_LOCAL;
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
  if (!init || !comm_rank || !comm_size || !allreduce || !finalize || !world || !type || !sum) return 2;
  init(&argc, &argv);
  comm_rank(world, &rank);
  comm_size(world, &size);
  allreduce(&one, &all, 1, type, sum, world);
  if (rank == 0) printf("dlopens: %d of %d ranks\n", all, size);
  finalize();
  return all == size ? 0 : 3;
}
