// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoall as coll/han of Open MPI 6.0 does it where processes of a host can map each other's
// memory (XPMEM). Few machines have that, so this program adds the ability to whatever component of
// opal/mca/smsc is in use. What it maps is other memory, so the result is wrong, and nobody looks.
//
//   mapped_memory [unmapped]     prints "mapped N", the number of regions that were mapped
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// mca_smsc_module_t in opal/mca/smsc/smsc.h.
struct smsc_module {
  uint64_t features;
  size_t registration_data_size;
  void (*get_endpoint)(void), (*return_endpoint)(void), (*copy_to)(void), (*copy_from)(void);
  void* (*map)(void* endpoint, uint64_t flags, void* remote, size_t size, void** local);
  void (*unmap)(void* context);
  void (*register_region)(void), (*deregister_region)(void);
};
enum { kCanMap = 2 };

static int mapped;

static void* map(void* endpoint, uint64_t flags, void* remote, size_t size, void** local) {
  (void)endpoint, (void)flags, (void)remote;
  ++mapped;
  return *local = calloc(1, size);
}

static void unmap(void* context) { free(context); }

int main(int count, char** words) {
  (void)words;
  MPI_Init(NULL, NULL);
  struct smsc_module** used = (struct smsc_module**)dlsym(RTLD_DEFAULT, "mca_smsc");
  if (used == NULL || *used == NULL) {
    fputs("no component of opal/mca/smsc\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 4);
  }
  struct smsc_module* const before = *used;
  struct smsc_module changed = *before;
  changed.features |= kCanMap;
  changed.map = map;
  changed.unmap = unmap;
  if (count == 1) *used = &changed;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* const out = calloc((size_t)size, sizeof *out);
  int* const in = calloc((size_t)size, sizeof *in);
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  *used = before;
  if (rank == 0) printf("mapped %d\n", mapped);
  MPI_Finalize();
}
