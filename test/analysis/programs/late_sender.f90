! SPDX-License-Identifier: BSD-3-Clause
! Rank 1 sends five messages, 20 ms late each; rank 0 waits for them in MPI_Recv.
program late_sender
  use mpi
  use iso_c_binding, only: c_int
  implicit none
  interface  ! sleeping keeps its length on a busy machine, spinning does not
    integer(c_int) function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
    end function
  end interface
  integer :: rank, i, value, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  value = 0
  do i = 1, 5
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (rank == 1) then
      if (usleep(20000_c_int) /= 0) stop 1
      call MPI_Send(value, 1, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, ierror)
    else if (rank == 0) then
      call MPI_Recv(value, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end if
  end do
  call MPI_Finalize(ierror)
end program
