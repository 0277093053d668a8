! SPDX-License-Identifier: BSD-3-Clause
! Calls whose records are written down line by line (expected/calls_f08.*.txt), through `use mpi_f08`, some calls without ierror. Two ranks.
program calls
  use mpi_f08
  implicit none
  integer :: rank, other, ierror
  integer :: output(1000), input(1000)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  other = 1 - rank
  call exchange()
  call together()
  call of_its_own()
  call MPI_Finalize(ierror)

contains

  subroutine exchange()
    type(MPI_Request) :: requests(2)
    call MPI_Irecv(input, 1000, MPI_INTEGER, other, 1, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(output, 1000, MPI_INTEGER, other, 1, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call MPI_Irecv(input, 1000, MPI_INTEGER, other, 2, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Send(output, 10, MPI_INTEGER, other, 2, MPI_COMM_WORLD, ierror)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  end subroutine

  subroutine together()
    integer :: counts(2), displs(2)
    type(MPI_Comm) :: comm
    counts = (/3, 4/)
    displs = (/0, 3/)
    ! These bindings ask for the communicator's size on their own: no call of the program.
    call MPI_Allgatherv(output, counts(rank + 1), MPI_INTEGER, input, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call MPI_Reduce_scatter(output, input, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Barrier(comm)
    call MPI_Comm_free(comm)
  end subroutine

  ! Functions whose bindings do not go through C.
  subroutine of_its_own()
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    type(MPI_Datatype) :: four_bytes
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
    if (.not. flag .or. value < 32767) call MPI_Abort(MPI_COMM_WORLD, 98, ierror)
    call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, four_bytes, ierror)
  end subroutine

end program
