// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_accept and MPI_Comm_connect between the halves of one job, and MPI_Comm_join over a TCP
// connection on the loopback interface: the members are known world ranks.
//
//   connect accept        two halves meet over a port
//   connect join          ranks 0 and 1 meet over a socket
#include "../expect.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static char out[5000], in[5000];

static void across(MPI_Comm inter) {
  int rank, remote;
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_remote_size(inter, &remote);
  MPI_Request requests[16];
  for (int i = 0; i < remote; i++) {
    MPI_Isend(out, 1000 + rank, MPI_BYTE, i, 1, inter, &requests[i]);
    expect_message(inter, i, 1000 + rank, 1);
  }
  for (int i = 0; i < remote; i++)
    MPI_Recv(in, (int)sizeof in, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, MPI_STATUS_IGNORE);
  MPI_Waitall(remote, requests, MPI_STATUSES_IGNORE);
}

static void accept_and_connect(void) {
  MPI_Comm half, inter;
  char port[MPI_MAX_PORT_NAME] = "";
  int accepting = world_rank < world_size / 2;
  MPI_Comm_split(MPI_COMM_WORLD, accepting, -world_rank, &half);
  expect_label(half, "MPI_Comm_split");
  int root = world_size / 2 - 1, other_root = world_size - 1;  // rank 0 of each half, reversed
  if (world_rank == root) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, other_root, 0, MPI_COMM_WORLD);
    expect_message(MPI_COMM_WORLD, other_root, MPI_MAX_PORT_NAME, 1);
  }
  if (world_rank == other_root)
    MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, root, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (accepting)
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
  else
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
  // The two sides name it differently; the senders' names are what both must map.
  expect_label(inter, accepting ? "MPI_Comm_accept" : "MPI_Comm_connect");
  across(inter);
  MPI_Comm_disconnect(&inter);
  if (world_rank == root) MPI_Close_port(port);
  MPI_Comm_free(&half);
}

static void join(void) {
  if (world_rank > 1) return;
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM, 0), one;
  MPI_Comm inter;
  if (world_rank == 0) {
    require(bind(fd, (struct sockaddr*)&address, length) == 0 && listen(fd, 1) == 0);
    getsockname(fd, (struct sockaddr*)&address, &length);
    MPI_Send(&address, (int)sizeof address, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    expect_message(MPI_COMM_WORLD, 1, sizeof address, 1);
    one = accept(fd, NULL, NULL);
  } else {
    MPI_Recv(&address, (int)sizeof address, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    require(connect(fd, (struct sockaddr*)&address, length) == 0);
    one = fd;
  }
  MPI_Comm_join(one, &inter);
  require(inter != MPI_COMM_NULL);
  expect_label(inter, "MPI_Comm_join");
  across(inter);
  MPI_Comm_disconnect(&inter);
  if (one != fd) close(one);
  close(fd);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  expect_may("library");
  if (argc > 1 && strcmp(argv[1], "join") == 0)
    join();
  else
    accept_and_connect();
  report_ok("connect");
  MPI_Finalize();
  return 0;
}
