! SPDX-License-Identifier: BSD-3-Clause
! Fortran through `include 'mpif.h'`: sends, persistent requests, wildcards, communicators, collectives, a window.
program f_mpifh
  use expect_fortran
  implicit none
  include 'mpif.h'
  integer :: rank, size, next, previous, i, split_rank
  double precision :: values(1000), heard(1000)
  double precision, asynchronous :: memory(100)
  character(len=512) :: reversed
  character(len=16) :: number
  integer(MPI_ADDRESS_KIND) :: memory_size, where_to
  integer :: requests(2), status(MPI_STATUS_SIZE), comm, window, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call expect_start(size)
  call expect_may('library')
  next = mod(rank + 1, size)
  previous = mod(rank + size - 1, size)
  values = rank

  call MPI_Send(values, 10, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, ierror)
  call MPI_Recv(heard, 1000, MPI_DOUBLE_PRECISION, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call expect_message('predefined', world_text, rank, next, 80, 1)

  call MPI_Irecv(heard, 1000, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Isend(values, 1000, MPI_DOUBLE_PRECISION, next, 2, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  call expect_message('predefined', world_text, rank, next, 8000, 1)
  if (heard(1000) /= previous) call MPI_Abort(MPI_COMM_WORLD, 99, ierror)

  call MPI_Sendrecv(values, 3, MPI_DOUBLE_PRECISION, previous, 3, heard, 3, MPI_DOUBLE_PRECISION, next, 3, &
    MPI_COMM_WORLD, status, ierror)
  call expect_message('predefined', world_text, rank, previous, 24, 1)

  ! Persistent.
  call MPI_Send_init(values, 50, MPI_DOUBLE_PRECISION, next, 4, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Recv_init(heard, 50, MPI_DOUBLE_PRECISION, previous, 4, MPI_COMM_WORLD, requests(2), ierror)
  do i = 1, 3
    call MPI_Startall(2, requests, ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  end do
  call MPI_Request_free(requests(1), ierror)
  call MPI_Request_free(requests(2), ierror)
  call expect_message('predefined', world_text, rank, next, 400, 3)

  ! Communicators.
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Sendrecv(values, 5, MPI_DOUBLE_PRECISION, next, 5, heard, 5, MPI_DOUBLE_PRECISION, previous, 5, &
    comm, MPI_STATUS_IGNORE, ierror)
  call expect_message('MPI_Comm_dup', world_text, rank, next, 40, 1)
  call MPI_Comm_free(comm, ierror)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm, ierror)
  call MPI_Comm_rank(comm, split_rank, ierror)
  reversed = ''
  do i = size - 1, 0, -1
    write (number, '(i0)') i
    if (i < size - 1) reversed = trim(reversed)//','
    reversed = trim(reversed)//trim(number)
  end do
  ! The successor in the reversed communicator is the predecessor in the world.
  call MPI_Sendrecv(values, 7, MPI_DOUBLE_PRECISION, mod(split_rank + 1, size), 6, heard, 7, MPI_DOUBLE_PRECISION, &
    MPI_ANY_SOURCE, 6, comm, status, ierror)
  call expect_message('MPI_Comm_split', reversed, rank, previous, 56, 1)
  call MPI_Comm_free(comm, ierror)
  call MPI_Comm_idup(MPI_COMM_WORLD, comm, requests(1), ierror)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  call MPI_Sendrecv(values, 2, MPI_DOUBLE_PRECISION, next, 5, heard, 2, MPI_DOUBLE_PRECISION, previous, 5, &
    comm, MPI_STATUS_IGNORE, ierror)
  call expect_message('MPI_Comm_idup', world_text, rank, next, 16, 1)
  call MPI_Comm_free(comm, ierror)

  ! Collectives, blocking and not.
  call MPI_Allreduce(values, heard, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  call expect_collective('MPI_Allreduce', rank, 80, 1)
  call MPI_Allreduce(MPI_IN_PLACE, heard, 10, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
  call expect_collective('MPI_Allreduce', rank, 80, 1)
  call MPI_Iallreduce(values, heard, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Wait(requests(1), status, ierror)
  call expect_collective('MPI_Iallreduce', rank, 80, 1)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call expect_collective('MPI_Barrier', rank, 0, 1)

  ! Paused, then on again.
  call MPI_Pcontrol(0)
  call MPI_Sendrecv(values, 9, MPI_DOUBLE_PRECISION, next, 7, heard, 9, MPI_DOUBLE_PRECISION, previous, 7, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call MPI_Pcontrol(1)

  ! One-sided, in a window of the whole world, whose data travel as messages.
  memory_size = 800
  call MPI_Win_create(memory, memory_size, 8, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierror)
  call MPI_Win_fence(0, window, ierror)
  where_to = 0
  call MPI_Put(values, 10, MPI_DOUBLE_PRECISION, next, where_to, 10, MPI_DOUBLE_PRECISION, window, ierror)
  call expect_line('atleast', 'one-sided', 'predefined', world_text, rank, next, 80, 1)
  call MPI_Win_fence(0, window, ierror)
  call MPI_Win_free(window, ierror)

  if (rank == 0) write (*, '(a,i0,a)') 'f_mpifh: ok on ', size, ' ranks'
  call MPI_Finalize(ierror)
end program
