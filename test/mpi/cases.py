# SPDX-License-Identifier: BSD-3-Clause
"""The table of cases: which program runs how, where it runs, and what must come of it."""
import dataclasses

# (Open MPI, source, transport)
PERUSE = ("peruse", "peruse", "sm")
PERUSE_TCP = ("peruse", "peruse", "tcp")
PERUSE_PML = ("peruse", "pml", "sm")
PERUSE_AUTO = ("peruse", "auto", "sm")
STOCK_PML = ("stock", "pml", "sm")
STOCK_PML_TCP = ("stock", "pml", "tcp")
STOCK_AUTO = ("stock", "auto", "sm")
STOCK_UCX = ("stock", "pml", "ucx")
STOCK_MPI_T = ("stock", "mpi_t", "sm")

SOME = (PERUSE, STOCK_AUTO)
MANY = (PERUSE, PERUSE_TCP, PERUSE_PML, PERUSE_AUTO, STOCK_PML, STOCK_PML_TCP, STOCK_AUTO, STOCK_UCX)

# At its usual level UCX prints an address for each message that is never received.
QUIET_UCX = {"UCX_LOG_LEVEL": "error"}

# Why a case is not one for Open MPI 5 and later.
NO_PT2PT = "osc/pt2pt is gone"
NO_CXX = "the C++ bindings are gone"
NO_MPI4PY = "mpi4py was compiled for the Open MPI here"
SPAWN_CRASHES = "the launcher of Debian's 5.0.7 crashes, natively too"

# The linear algorithm of every collective that coll/tuned lets one choose.
LINEAR = ["coll_tuned_use_dynamic_rules=1"] + [
    f"coll_tuned_{name}_algorithm=1"
    for name in ("bcast", "gather", "scatter", "allgather", "allgatherv", "alltoall", "alltoallv", "reduce",
                 "allreduce", "barrier", "reduce_scatter", "scan", "exscan")]


@dataclasses.dataclass
class Case:
    group: str
    name: str
    program: str
    args: tuple = ()
    ranks: int = 4
    mca: list = dataclasses.field(default_factory=list)
    on: tuple = SOME
    # What must be left behind: "profile" (compared with the expectation), "rows" (each process's part, no
    # profile.json), "mark" (of a job that was killed), "nothing", "any" (only the job's behaviour is compared).
    leaves: str = "profile"
    # Each process leaves its part although the job ends properly, and `fathom report` puts them together.
    in_parts: bool = False
    traced: bool = False  # with the library that records; `fathom trace check` must find what was counted
    without_init: bool = False  # counting starts without MPI_Init, which PERUSE needs
    # Where FATHOM_OUTPUT points: "run", "default" (unset), "not-a-directory", "full-disk", "occupied".
    output: str = "run"
    preload: str = "library"  # "tool,library", "library,tool": another PMPI tool before or after
    spawns: bool = False      # the environment has to reach spawned processes too
    options: dict = dataclasses.field(default_factory=dict)  # for expectation.compare
    environment: dict = dataclasses.field(default_factory=dict)  # with the library only
    program_environment: dict = dataclasses.field(default_factory=dict)  # natively too
    monitoring: bool = False  # pml_monitoring can witness it (--witness)
    exit_code: int = 0        # what the program returns natively; None where mpirun's code may vary
    same_stderr: bool = True
    says: str = ""  # what one line of stderr holds with the library, and none without; "" with same_stderr: nothing new
    # Every rank prints the same line while mpirun tears the job down; how many arrive is chance, natively too.
    racing_output: bool = False
    since: int = 0  # the first release, as 5, that has what the program needs; 0: all have
    ucx_since: int = 0  # the same for pml/ucx alone
    # Why it does not apply to Open MPI 5 and later; "" if it does.
    only_4: str = ""
    hangs_on: tuple = ()  # later releases on which it hangs at times, with and without Fathom
    ucx_only_4: str = ""  # the same for pml/ucx alone
    # Open MPI itself may crash or hang there, though seldom: a run that ends by a signal, or not, is tried again.
    may_crash: bool = False

    def serves_later(self, build, source, transport):
        """Whether it is a case for this later release of Open MPI as well."""
        if int(build.split(".")[0]) < (max(self.since, self.ucx_since) if transport == "ucx" else self.since):
            return False
        if build in self.hangs_on:
            return False
        if build.endswith("-abi") and (self.program.startswith("f_") or self.program == "cxx"):
            return False  # Open MPI has the standard ABI for C alone
        needs_this_debian = self.ranks == 0  # only their launcher knows another
        return not (needs_this_debian or self.only_4 or source == "mpi_t" or self.ucx_only_4 and transport == "ucx")


def p2p(name, **settings):
    settings.setdefault("on", MANY)
    settings.setdefault("monitoring", True)
    return Case("point_to_point", name, settings.pop("program", name), **settings)


CASES = [
    p2p("send_modes", monitoring=False),
    p2p("send_modes_2", program="send_modes", ranks=2, on=SOME, monitoring=False),
    p2p("sendrecv"),
    p2p("wildcards"),
    p2p("wildcards_7", program="wildcards", ranks=7, on=SOME),
    p2p("probe"),
    p2p("datatypes"),
    p2p("truncation"),
    p2p("cancel", monitoring=False, ucx_only_4="6.0 prints warnings with process ids"),
    p2p("request_free", monitoring=False),
    p2p("truncated_sendrecv", program="left_receives", args=("truncated_sendrecv",)),
    p2p("status_alone", program="left_receives", args=("status_alone",)),
    p2p("never_waited", program="left_receives", args=("never_waited",)),
    p2p("persistent_given_up", program="left_receives", args=("persistent_given_up",)),
    # One thread frees a receive while another completes it: both may find that it is theirs to return
    # (mca_pml_ob1_recv_request_free in pml_ob1_recvreq.c, recv_request_pml_complete in pml_ob1_recvreq.h), and
    # the next receive of that address then completes twice. About once in a thousand runs; on UCX often.
    p2p("given_up_by_threads", program="left_receives", args=("threads",), may_crash=True,
        on=tuple(c for c in MANY if c != STOCK_UCX)),
    p2p("completion"),
    p2p("unreceived", program_environment=QUIET_UCX, ucx_only_4="5.0 and 6.0 abort in MPI_Finalize, natively too"),
    p2p("uncounted_receives", program_environment=QUIET_UCX),
    p2p("large", ranks=2, on=(PERUSE, PERUSE_TCP, STOCK_PML)),
    p2p("threads", on=(PERUSE, PERUSE_TCP, STOCK_AUTO), monitoring=True),
    p2p("isendrecv", since=5),
    # Partitions travel on communicators of the library's own, which pml_monitoring does not know by name.
    p2p("partitioned", since=5, monitoring=False),
    p2p("large_counts", since=6, monitoring=False),
    p2p("mpi_t", program="wildcards", on=(STOCK_MPI_T, ("peruse", "mpi_t", "sm")), monitoring=False,
        options={"totals_only": True}),
    p2p("mpi_t_gap", program="send_modes", ranks=2, on=(STOCK_MPI_T,), monitoring=False,
        options={"gap": "persistent"}),
]

def session(name, *args, **settings):
    # pml/ucx of 5.0 cannot make a communicator from a group.
    settings.setdefault("without_init", name.split("_")[0] not in ("inside", "after", "later"))
    return Case("communicators", f"session_{name}", "sessions", args or (name,), since=5, ucx_since=6, on=MANY, **settings)


for form in ("blocking", "nonblocking", "persistent"):
    CASES += [
        Case("collectives", f"collectives_{form}", "collectives", (form,), on=MANY, monitoring=form != "persistent"),
        Case("collectives", f"collectives_{form}_7", "collectives", (form,), ranks=7),
        Case("collectives", f"neighbors_{form}", "neighbors", (form,), on=MANY),
        Case("collectives", f"neighbors_{form}_2", "neighbors", (form,), ranks=2),
    ]
CASES += [
    Case("collectives", "linear", "linear", mca=LINEAR, on=MANY, monitoring=True),
    Case("collectives", "linear_7", "linear", mca=LINEAR, ranks=7, monitoring=True),
    # The plain implementations: barriers out of other messages, reductions without tuned's trees.
    Case("collectives", "collectives_basic", "collectives", ("blocking",), mca=["coll=^tuned,han,adapt"]),
    # Hierarchical collectives: communicators that Open MPI makes inside the user's call.
    Case("collectives", "collectives_han", "collectives", ("blocking",), mca=["coll_han_priority=100"]),
    Case("collectives", "collectives_adapt", "collectives", ("nonblocking",), mca=["coll_adapt_priority=100"]),
    Case("collectives", "intercollectives", "intercollectives", on=MANY, monitoring=True),
    Case("collectives", "intercollectives_5", "intercollectives", ranks=5),
    Case("collectives", "intercollectives_nonblocking", "intercollectives", ("nonblocking",), on=MANY),
    Case("collectives", "overlap", "overlap", on=MANY, monitoring=True),

    Case("communicators", "constructors", "constructors", on=MANY, monitoring=True),
    Case("communicators", "constructors_8", "constructors", ranks=8),
    Case("communicators", "idup", "idup", on=MANY, monitoring=True),
    session("inside"),
    session("before", in_parts=True),
    session("after", in_parts=True),
    session("one_after", in_parts=True, without_init=False),
    session("one_after_8", "one_after", in_parts=True, without_init=False, ranks=8),
    # MPI_Session_init fails if ranks that are still in MPI_Finalize remove the folder for shared memory just then.
    session("later", says="goes on with a session after MPI_Finalize", may_crash=True),
    session("alone", in_parts=True),
    session("alone_5", "alone", in_parts=True, ranks=5),
    session("again", in_parts=True),
    session("again_traced", "again", in_parts=True, traced=True),
    session("after_traced", "after", in_parts=True, traced=True),
    session("beside", in_parts=True, ranks=3),
    session("part", in_parts=True, options={"verdict": "incomplete", "cut_short": True}),
    Case("communicators", "intercomm", "intercomm", on=MANY),
    Case("communicators", "intercomm_7", "intercomm", ranks=7),
    Case("communicators", "lifetimes", "lifetimes", on=(PERUSE, PERUSE_TCP, PERUSE_PML, STOCK_PML)),
    # Threads make communicators at the same time, and in another order on each rank.
    *(Case("communicators", f"threads_make_{which}", "threads_make", (which,),
           on=(PERUSE, PERUSE_PML, STOCK_AUTO), hangs_on=("6.0.0rc2", "6.0.0rc2-abi") if which == "dup" else ())
      for which in ("free", "group", "dup", "inter")),
    Case("communicators", "threads_make_free_2", "threads_make", ("free",), ranks=2),
    Case("communicators", "accept_connect", "connect", ("accept",)),
    Case("communicators", "join", "connect", ("join",)),
    Case("communicators", "spawn", "spawn", ranks=3, spawns=True),
    Case("communicators", "spawn_multiple", "spawn", ("multiple",), ranks=2, spawns=True, only_4=SPAWN_CRASHES),

    # osc/pt2pt is the one component with which their window can be made over TCP too.
    Case("languages", "cxx", "cxx", on=MANY, only_4=NO_CXX),
    Case("languages", "fortran_mpifh", "f_mpifh", mca=["osc=pt2pt"], on=MANY, only_4=NO_PT2PT),
    Case("languages", "fortran_use_mpi", "f_usempi", mca=["osc=pt2pt"], on=MANY, only_4=NO_PT2PT),
    # 5.0's mpi_f08 does not accept the arguments that the standard has for MPI_Psend_init.
    Case("languages", "fortran_mpi4_f08", "f_mpi4_f08", since=6),
    Case("languages", "fortran_mpi4_mpifh", "f_mpi4_mpifh", since=5),
    Case("languages", "fortran_large_counts", "f_large_f08", since=6),
    Case("languages", "fortran_use_mpi_f08", "f_f08", mca=["osc=pt2pt"], on=MANY, only_4=NO_PT2PT),
    Case("languages", "python", "python.py", on=(PERUSE, PERUSE_PML, STOCK_AUTO), only_4=NO_MPI4PY),

    Case("windows", "pcontrol", "pcontrol", on=MANY),
    Case("windows", "phases", "phases", on=MANY),
]
for kind in ("create", "allocate", "shared", "dynamic"):
    CASES.append(Case("one_sided", f"rma_{kind}", "rma", (kind,),
                      on=(PERUSE, PERUSE_PML, STOCK_AUTO, STOCK_UCX) if kind == "create" else SOME,
                      ucx_only_4="osc/ucx needs InfiniBand"))
CASES += [
    # Over TCP this is the only component that Open MPI 4.1.4 can make a window with.
    Case("one_sided", "rma_create_pt2pt", "rma", ("create", "messages"), mca=["osc=pt2pt"],
         on=(PERUSE, PERUSE_TCP, PERUSE_PML, STOCK_AUTO, STOCK_PML_TCP), only_4=NO_PT2PT),
    Case("one_sided", "rma_allocate_pt2pt_7", "rma", ("allocate", "messages"), ranks=7,
         mca=["osc=pt2pt"], only_4=NO_PT2PT),
    Case("one_sided", "rma_dynamic_pt2pt", "rma", ("dynamic", "messages"), mca=["osc=pt2pt"], only_4=NO_PT2PT),
    Case("one_sided", "rma_allocate_rdma", "rma", ("allocate",), mca=["osc=rdma"]),
    Case("io", "io", "io", on=(PERUSE, PERUSE_TCP, STOCK_AUTO)),
    Case("io", "io_romio", "io", mca=["io=romio321"], only_4="the component is called romio341 in 5.0, and gone in 6.0"),
]


BYPASSED = "calls MPI past preloaded libraries"


def harmless(name, program, *args, **settings):
    settings.setdefault("ranks", 3)
    return Case("harmless", name, program, args, **settings)


CASES += [
    harmless("return_code", "ending", "return", "5", exit_code=5),
    harmless("atexit", "ending", "atexit"),
    harmless("abort", "ending", "abort", leaves="rows", exit_code=7),
    harmless("exit_one", "ending", "exit", leaves="rows", exit_code=3),
    harmless("exit_all", "ending", "exit_all", leaves="rows", exit_code=3),
    harmless("quick_exit", "ending", "_exit", leaves="rows", exit_code=4),
    harmless("segv", "ending", "segv", leaves="rows", exit_code=139),
    harmless("fpe", "ending", "fpe", leaves="rows", exit_code=136),
    harmless("sigterm", "ending", "sigterm", leaves="rows", exit_code=143),
    harmless("sigkill", "ending", "sigkill", leaves="rows", exit_code=137),
    harmless("own_handler", "ending", "handler", leaves="rows", exit_code=5, racing_output=True),
    *(harmless(f"session_{how}", "sessions", how, since=5, ucx_since=6, leaves="rows", exit_code=code, racing_output=True)
      for how, code in (("abort", 7), ("exit", None), ("kill", 137), ("segv", 139))),
    # What the first session left would pass for everything.
    harmless("session_kill_again", "sessions", "kill_again", since=5, ucx_since=6, leaves="mark", exit_code=137, racing_output=True),
    # Open MPI would look into MPI_COMM_WORLD, which is not there.
    harmless("session_performance_variables", "sessions", "alone", since=5, ucx_since=6, in_parts=True, without_init=True,
             environment={"FATHOM_PVARS": "pml_ob1_unexpected_msgq_length"}),
    harmless("session_child", "sessions", "child", since=5, in_parts=True, without_init=True),
    harmless("session_disabled", "sessions", "alone", since=5, leaves="nothing", environment={"FATHOM_DISABLE": "1"}),
    harmless("session_default_directory", "sessions", "alone", since=5, in_parts=True, without_init=True, output="default"),
    harmless("forks", "forks", same_stderr=False),
    harmless("forks_default_directory", "forks", output="default", on=(PERUSE,), same_stderr=False),
    harmless("fork_outlives", "forks", "outlive", same_stderr=False),
    harmless("never_initialized", "no_init", leaves="nothing"),
    harmless("initialized_often", "no_init", "ask"),
    harmless("probes", "probes"),
    harmless("init_thread_single", "no_init", "thread", "0"),
    harmless("init_thread_multiple", "no_init", "thread", "3"),
    harmless("dlopen_local", "dlopens", "local", leaves="nothing", says=BYPASSED),
    harmless("dlopen_global", "dlopens", "global", leaves="nothing", says=BYPASSED),
    harmless("dlopen_deepbind", "dlopens", "deepbind", leaves="nothing", says=BYPASSED),
    harmless("dlopen_and_fork", "dlopens", "forks", leaves="nothing", says=BYPASSED),
    harmless("dlopen_alone", "dlopens", "local", leaves="nothing", says=BYPASSED, ranks=0),
    harmless("dlopen_quiet", "dlopens", "local", leaves="nothing", environment={"FATHOM_LOG": "quiet"}),
    harmless("dlopen_disabled", "dlopens", "local", leaves="nothing", environment={"FATHOM_DISABLE": "1"}),
    harmless("dlopen_without_finalize", "dlopens", "ends", leaves="nothing", says=BYPASSED, ranks=0),
    harmless("dlopen_unused", "dlopens", "unused", leaves="nothing"),
    harmless("no_mpi", "/bin/echo", "plain", leaves="nothing", ranks=1),
    harmless("unwritable", "sendrecv", output="not-a-directory", leaves="any", same_stderr=False),
    harmless("full_disk", "constructors", output="full-disk", leaves="any", same_stderr=False),
    harmless("full_disk_abort", "ending", "abort", output="full-disk", leaves="any", same_stderr=False, exit_code=7),
    harmless("never_overwritten", "sendrecv", output="occupied", leaves="any", same_stderr=False),
    harmless("bad_source", "sendrecv", environment={"FATHOM_SOURCE": "nonsense"}, leaves="any", same_stderr=False),
    harmless("peruse_on_stock", "sendrecv", on=(("stock", "peruse", "sm"),), same_stderr=False),
    # A tool preloaded after the profiler reads a name after MPI_Pcontrol's level, and once got none.
    harmless("tool_before", "tooled", preload="tool,library"),
    harmless("tool_after", "tooled", preload="library,tool"),
    # A tool preloaded after the profiler that never calls PMPI_Finalize once hid the end of the job from it.
    harmless("tool_chains_before", "tooled", preload="tool,library", environment={"TOOL_CHAINS": "1"}),
    harmless("tool_chains_after", "tooled", preload="library,tool", environment={"TOOL_CHAINS": "1"}),
    harmless("performance_variables", "sendrecv", same_stderr=False, on=(PERUSE, STOCK_AUTO),
             environment={"FATHOM_PVARS": "pml_ob1_unexpected_msgq_length,pml_ob1_posted_recvq_length"},
             options={"pvars": ("pml_ob1_unexpected_msgq_length", "pml_ob1_posted_recvq_length")}),
    harmless("singleton", "no_init", leaves="nothing", ranks=0),
]
