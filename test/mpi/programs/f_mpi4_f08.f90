! SPDX-License-Identifier: BSD-3-Clause
! Functions of MPI-4 through `use mpi_f08`.
program f_mpi4_f08
  use mpi_f08
  use expect_fortran
  implicit none
  integer :: rank, size, next, previous, round
  integer(MPI_COUNT_KIND), parameter :: count = 25
  double precision, asynchronous :: values(100), heard(100)
  logical :: flag
  type(MPI_Request) :: requests(2)
  type(MPI_Session) :: session
  type(MPI_Group) :: group
  type(MPI_Comm) :: comm
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call expect_start(size)
  call expect_may('library')
  next = mod(rank + 1, size)
  previous = mod(rank + size - 1, size)
  values = rank

  call MPI_Isendrecv(values, 10, MPI_DOUBLE_PRECISION, next, 1, heard, 10, MPI_DOUBLE_PRECISION, previous, 1, &
    MPI_COMM_WORLD, requests(1))
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  call expect_message('predefined', world_text, rank, next, 80, 1)
  if (heard(10) /= previous) call MPI_Abort(MPI_COMM_WORLD, 99)

  call MPI_Psend_init(values, 4, count, MPI_DOUBLE_PRECISION, next, 2, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
  call MPI_Precv_init(heard, 4, count, MPI_DOUBLE_PRECISION, previous, 2, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
  do round = 1, 2
    call MPI_Startall(2, requests)
    call MPI_Pready(3, requests(1))
    call MPI_Pready_range(0, 2, requests(1))
    call MPI_Parrived(requests(2), 0, flag)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  end do
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))
  call expect_line('exact', 'partitioned', 'predefined', world_text, rank, next, 200, 8)
  if (heard(100) /= previous) call MPI_Abort(MPI_COMM_WORLD, 98)

  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session)
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', group)
  call MPI_Comm_create_from_group(group, 'fortran', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm)
  call MPI_Sendrecv(values, 5, MPI_DOUBLE_PRECISION, next, 3, heard, 5, MPI_DOUBLE_PRECISION, previous, 3, comm, &
    MPI_STATUS_IGNORE)
  call expect_message('MPI_Comm_create_from_group', world_text, rank, next, 40, 1)
  call MPI_Comm_free(comm)
  call MPI_Group_free(group)
  call MPI_Session_finalize(session)
  if (rank == 0) print '(a)', 'f_mpi4_f08: ok'
  call MPI_Finalize()
end program
