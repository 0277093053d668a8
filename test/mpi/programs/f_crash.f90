! SPDX-License-Identifier: BSD-3-Clause
! gfortran's runtime has handlers of its own for the signals that end a program.
program crash
  use mpi
  implicit none
  integer :: ierror
  call MPI_Init(ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call abort()
end program crash
