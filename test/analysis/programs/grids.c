// SPDX-License-Identifier: BSD-3-Clause
// Traffic in the rows and columns of a grid of ROWS x COLUMNS ranks:  grids HOW SHAPE ROWS COLUMNS
//
//   rows, columns  all with all of their row, or column, in blocks of 4 KiB
//   both           both of them
//   transposes     each rank deals out 192 KiB in its row, then in its column
//   summa          C = A B: the columns take turns to broadcast A in the rows, and the rows B in the columns
//
// HOW: "collective" on communicators for rows and columns; "sends" on these; "world" on MPI_COMM_WORLD.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 24, kBlock = 4096, kData = 192 * 1024, kPanel = 2048 };

static char out[kData], in[kData];
static int rank, rows, columns;
static const char* how;

// A row or a column. Members are first, first + stride and so on in MPI_COMM_WORLD.
typedef struct {
  MPI_Comm comm;
  int size, own, first, stride;
} Line;

static Line make_line(int color, int size, int own, int first, int stride) {
  Line line = {MPI_COMM_NULL, size, own, first, stride};
  MPI_Comm_split(MPI_COMM_WORLD, color, rank, &line.comm);
  return line;
}

static int address(const Line* line, int member, MPI_Comm* comm) {
  const int world = !strcmp(how, "world");
  *comm = world ? MPI_COMM_WORLD : line->comm;
  return world ? line->first + member * line->stride : member;
}

static void all_to_all(const Line* line, int bytes) {
  if (!strcmp(how, "collective")) {
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, line->comm);
    return;
  }
  for (int by = 1; by < line->size; by++) {
    MPI_Comm comm;
    const int to = address(line, (line->own + by) % line->size, &comm);
    const int from = address(line, (line->own + line->size - by) % line->size, &comm);
    MPI_Sendrecv(out, bytes, MPI_CHAR, to, 1, in, bytes, MPI_CHAR, from, 1, comm,
                 MPI_STATUS_IGNORE);
  }
}

static void broadcast(const Line* line, int root, int bytes) {
  if (!strcmp(how, "collective")) {
    MPI_Bcast(out, bytes, MPI_CHAR, root, line->comm);
    return;
  }
  MPI_Comm comm;
  const int from = address(line, root, &comm);
  if (line->own != root) {
    MPI_Recv(in, bytes, MPI_CHAR, from, 2, comm, MPI_STATUS_IGNORE);
    return;
  }
  for (int member = 0; member < line->size; member++) {
    if (member == root) continue;
    const int to = address(line, member, &comm);
    MPI_Send(out, bytes, MPI_CHAR, to, 2, comm);
  }
}

// False if there is no such shape.
static int one_round(const char* shape, int round, const Line* row, const Line* column) {
  if (!strcmp(shape, "rows")) {
    all_to_all(row, kBlock);
  } else if (!strcmp(shape, "columns")) {
    all_to_all(column, kBlock);
  } else if (!strcmp(shape, "both")) {
    all_to_all(row, kBlock);
    all_to_all(column, kBlock);
  } else if (!strcmp(shape, "transposes")) {
    all_to_all(row, kData / columns);
    all_to_all(column, kData / rows);
  } else if (!strcmp(shape, "summa")) {
    broadcast(row, round % columns, kPanel * columns);
    broadcast(column, round % rows, kPanel * rows);
  } else {
    return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int known = argc == 5;
  if (known) {
    how = argv[1];
    rows = atoi(argv[3]);
    columns = atoi(argv[4]);
    const int at = rank / columns, by = rank % columns;
    const Line row = make_line(at, columns, by, at * columns, 1);
    const Line column = make_line(by, rows, at, by, columns);
    for (int round = 0; known && round < kRounds; round++)
      known = one_round(argv[2], round, &row, &column);
  }
  MPI_Finalize();
  return known ? 0 : 2;
}
