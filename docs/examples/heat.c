/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Heat enters a metal plate from below, through a layer of wax that melts:  heat [STEPS]
 *
 * The program of docs/tutorial.md. It is correct, and slow in two ways that real programs are: the
 * tutorial finds both with Fathom, and heat-write.patch and heat-rows.patch mend them. All versions
 * write the same bytes to heat.txt.
 *
 * An explicit finite-difference scheme on ROWS x COLUMNS cells, whose rows are divided among the
 * ranks. A cell keeps its enthalpy. In metal, temperature follows at once; in wax, Newton's method
 * solves for it.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 800, COLUMNS = 192, WAX_BEGINS = 600, WIDTH = 8 /* characters of a number */ };
static const double LATENT = 2.0, MELTS_AT = 0.4;

static int rank, ranks;

/* The first row of a rank; first_row(r + 1) is the end of r's rows. */
static int first_row(int r) { return (int)((long)ROWS * r / ranks); }

/* The temperature at which wax holds this enthalpy. It melts in a narrow range around MELTS_AT. */
static double wax_temperature(double enthalpy) {
  double temperature = enthalpy < MELTS_AT ? enthalpy : MELTS_AT;
  for (int i = 0; i < 6; i++) {
    const double molten = 1.0 / (1.0 + exp(-20.0 * (temperature - MELTS_AT)));
    const double excess = temperature + LATENT * molten - enthalpy;
    temperature -= excess / (1.0 + LATENT * 20.0 * molten * (1.0 - molten));
  }
  return temperature;
}

/* Rows 1 to `rows` are this rank's own; rows 0 and rows + 1 are copies of its neighbours'. */
static void exchange(double (*temperature)[COLUMNS], int rows) {
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL,
            below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  MPI_Request requests[4];
  MPI_Irecv(temperature[0], COLUMNS, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(temperature[rows + 1], COLUMNS, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(temperature[1], COLUMNS, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(temperature[rows], COLUMNS, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* One time step; returns the largest change of a temperature. */
static double step(double (*enthalpy)[COLUMNS], double (*temperature)[COLUMNS], int rows) {
  double largest = 0;
  for (int i = 1; i <= rows; i++) {
    const int row = first_row(rank) + i - 1;
    for (int j = 0; j < COLUMNS; j++) {
      const double up = temperature[row > 0 ? i - 1 : i][j];
      const double down = row + 1 < ROWS ? temperature[i + 1][j] : 1.0; /* the lower edge is hot */
      const double left = temperature[i][j > 0 ? j - 1 : 0];
      const double right = temperature[i][j + 1 < COLUMNS ? j + 1 : j];
      enthalpy[i][j] += 0.2 * (up + down + left + right - 4 * temperature[i][j]);
    }
  }
  for (int i = 1; i <= rows; i++) {
    const int wax = first_row(rank) + i - 1 >= WAX_BEGINS;
    for (int j = 0; j < COLUMNS; j++) {
      const double now = wax ? wax_temperature(enthalpy[i][j]) : enthalpy[i][j];
      largest = fmax(largest, fabs(now - temperature[i][j]));
      temperature[i][j] = now;
    }
  }
  return largest;
}

/* A row as text: each number in WIDTH characters. */
static void format_row(const double* row, char* text) {
  for (int j = 0; j < COLUMNS; j++) {
    char number[32];
    snprintf(number, sizeof number, "%*.5f%c", WIDTH - 1, row[j], j + 1 < COLUMNS ? ' ' : '\n');
    memcpy(text + (size_t)j * WIDTH, number, WIDTH);
  }
}

/* Appends the temperature of the whole plate to the file. */
static void write_plate(MPI_File file, int number, double (*temperature)[COLUMNS], int rows) {
  static char text[ROWS][COLUMNS * WIDTH];
  if (rank != 0) {
    MPI_Send(temperature[1], rows * COLUMNS, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
    return;
  }
  static double plate[ROWS][COLUMNS];
  memcpy(plate, temperature[1], sizeof(double) * (size_t)rows * COLUMNS);
  for (int r = 1; r < ranks; r++)
    MPI_Recv(plate[first_row(r)], (first_row(r + 1) - first_row(r)) * COLUMNS, MPI_DOUBLE, r, 2,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < ROWS; i++) format_row(plate[i], text[i]);
  MPI_File_write_at(file, (MPI_Offset)number * (MPI_Offset)sizeof text, text, (int)sizeof text,
                    MPI_CHAR, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int steps = argc > 1 ? atoi(argv[1]) : 100, every = 5;
  const int rows = first_row(rank + 1) - first_row(rank);
  double(*enthalpy)[COLUMNS] = calloc((size_t)rows + 2, sizeof *enthalpy);
  double(*temperature)[COLUMNS] = calloc((size_t)rows + 2, sizeof *temperature);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "heat.txt", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                &file);

  const double began = MPI_Wtime();
  double change = 0;
  for (int n = 0; n < steps; n++) {
    exchange(temperature, rows);
    change = step(enthalpy, temperature, rows);
    if (n % every == every - 1) {
      MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      write_plate(file, n / every, temperature, rows);
    }
  }
  if (rank == 0)
    printf("%d steps in %.2f s, last change %.5f\n", steps, MPI_Wtime() - began, change);
  MPI_File_close(&file);
  free(enthalpy);
  free(temperature);
  MPI_Finalize();
  return 0;
}
