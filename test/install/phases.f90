! SPDX-License-Identifier: BSD-3-Clause
! The same as phases.c, with the installed module.
program phases
  use mpi
  use fathom
  implicit none
  integer :: rank, error, in
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call fathom_phase_begin("exchange  ")
  call MPI_Sendrecv(7, 1, MPI_INTEGER, 1 - rank, 5, in, 1, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, error)
  call fathom_phase_end()
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) print '(a,i0)', "received ", in
  call MPI_Finalize(error)
end program
