! SPDX-License-Identifier: BSD-3-Clause
! Functions of MPI-4 through mpif.h.
program f_mpi4_mpifh
  use expect_fortran
  implicit none
  include 'mpif.h'
  integer :: rank, size, next, previous, round, ierror
  integer(MPI_COUNT_KIND), parameter :: count = 25
  double precision, asynchronous :: values(100), heard(100)
  logical :: flag
  integer :: requests(2)
  integer :: session
  integer :: group
  integer :: comm
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call expect_start(size)
  call expect_may('library')
  next = mod(rank + 1, size)
  previous = mod(rank + size - 1, size)
  values = rank

  call MPI_Isendrecv(values, 10, MPI_DOUBLE_PRECISION, next, 1, heard, 10, MPI_DOUBLE_PRECISION, previous, 1, &
    MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  call expect_message('predefined', world_text, rank, next, 80, 1)
  if (heard(10) /= previous) call MPI_Abort(MPI_COMM_WORLD, 99, ierror)

  call MPI_Psend_init(values, 4, count, MPI_DOUBLE_PRECISION, next, 2, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), ierror)
  call MPI_Precv_init(heard, 4, count, MPI_DOUBLE_PRECISION, previous, 2, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2), ierror)
  do round = 1, 2
    call MPI_Startall(2, requests, ierror)
    call MPI_Pready(3, requests(1), ierror)
    call MPI_Pready_range(0, 2, requests(1), ierror)
    call MPI_Parrived(requests(2), 0, flag, ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  end do
  call MPI_Request_free(requests(1), ierror)
  call MPI_Request_free(requests(2), ierror)
  call expect_line('exact', 'partitioned', 'predefined', world_text, rank, next, 200, 8)
  if (heard(100) /= previous) call MPI_Abort(MPI_COMM_WORLD, 98, ierror)

  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session, ierror)
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', group, ierror)
  call MPI_Comm_create_from_group(group, 'fortran', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm, ierror)
  call MPI_Sendrecv(values, 5, MPI_DOUBLE_PRECISION, next, 3, heard, 5, MPI_DOUBLE_PRECISION, previous, 3, comm, &
    MPI_STATUS_IGNORE, ierror)
  call expect_message('MPI_Comm_create_from_group', world_text, rank, next, 40, 1)
  call MPI_Comm_free(comm, ierror)
  call MPI_Group_free(group, ierror)
  call MPI_Session_finalize(session, ierror)
  if (rank == 0) print '(a)', 'f_mpi4_mpifh: ok'
  call MPI_Finalize(ierror)
end program
