! SPDX-License-Identifier: BSD-3-Clause
! Rank 0 waits for a message of rank 3, which comes when a file exists. usage: fortran FILE
program fortran
  use mpi
  implicit none
  character(len=4096) :: file
  integer :: rank, number, status(MPI_STATUS_SIZE), error
  logical :: exists
  call get_command_argument(1, file)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  number = rank
  if (rank == 0) then
    call MPI_Recv(number, 1, MPI_INTEGER, 3, 7, MPI_COMM_WORLD, status, error)  ! line: receive
  else if (rank == 3) then
    exists = .false.
    do while (.not. exists)
      inquire(file=trim(file), exist=exists)
      call execute_command_line('sleep 0.02')
    end do
    call MPI_Send(number, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, error)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
  if (rank == 0) print '(a)', 'done'
end program
