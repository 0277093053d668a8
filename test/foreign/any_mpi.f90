! SPDX-License-Identifier: BSD-3-Clause
! The same in Fortran. The test puts "use mpi" or "include 'mpif.h'" in place of the next line but one.
program any_mpi
  BINDING
  integer :: rank, ranks, error, key, request, statuses(MPI_STATUS_SIZE, 2), both(2)
  integer(kind=MPI_ADDRESS_KIND) :: value, extra
  logical :: found
  integer :: sent(4), got(4), half
  double precision :: mine, total
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, error)
  extra = 0
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, extra, error)
  value = 1000 + rank
  call MPI_Comm_set_attr(half, key, value, error)
  value = -1
  call MPI_Comm_get_attr(half, key, value, found, error)
  mine = rank
  call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, half, error)
  sent = rank
  got = -1
  call MPI_Irecv(got, 4, MPI_INTEGER, mod(rank + ranks - 1, ranks), 3, MPI_COMM_WORLD, both(1), error)
  call MPI_Isend(sent, 4, MPI_INTEGER, mod(rank + 1, ranks), 3, MPI_COMM_WORLD, both(2), error)
  call MPI_Waitall(2, both, statuses, error)
  call MPI_Ibarrier(half, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Comm_free(half, error)
  print '(a,i0,a,i0,a,i0,l2,a,f5.1,a,4i3,a,i0)', 'rank ', rank, ' of ', ranks, ', attribute ', value, found, &
      ', total ', total, ', got', got, ', from ', statuses(MPI_SOURCE, 1)
  call MPI_Finalize(error)
  stop 3
end program
