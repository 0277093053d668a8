! SPDX-License-Identifier: BSD-3-Clause
! `use mpi_f08` with counts of kind MPI_COUNT_KIND, which call the forms for large counts.
program f_large_f08
  use mpi_f08
  use expect_fortran
  implicit none
  integer :: rank, size, next, previous
  integer(MPI_COUNT_KIND), parameter :: count = 100
  double precision :: values(100), heard(100)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call expect_start(size)
  call expect_may('library')
  next = mod(rank + 1, size)
  previous = mod(rank + size - 1, size)
  values = rank
  call MPI_Sendrecv(values, count, MPI_DOUBLE_PRECISION, next, 1, heard, count, MPI_DOUBLE_PRECISION, previous, 1, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call expect_message('predefined', world_text, rank, next, 800, 1)
  call MPI_Allreduce(values, heard, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call expect_collective('MPI_Allreduce', rank, 800, 1)
  if (rank == 0) print '(a)', 'f_large_f08: ok'
  call MPI_Finalize()
end program
