# SPDX-License-Identifier: BSD-3-Clause
"""import fathom: figures of a trace worked out by hand, of a generated run, and what is refused."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

try:
    import numpy
    import pandas
    import scipy.sparse
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import fathom
from fathom import Filter

CLI = os.environ["FATHOM_BINARY"]
GENERATE = os.environ["FATHOM_TRACE_GENERATE"]


def scratch(test):
    folder = tempfile.TemporaryDirectory(prefix="fathom-python-")
    test.addClassCleanup(folder.cleanup)
    return folder.name


class MadeTrace(unittest.TestCase):
    """made_trace.py, which has no profile.json: traffic comes from the trace."""

    @classmethod
    def setUpClass(cls):
        try:
            import made_trace
        except ImportError:
            raise unittest.SkipTest("python3-otf2 is not installed") from None
        folder = scratch(cls)
        made_trace.write(os.path.join(folder, "archive"))
        cls.path = os.path.join(folder, "run")
        subprocess.run([CLI, "import", os.path.join(folder, "archive", "traces.otf2"), "-o", cls.path], check=True,
                       capture_output=True)
        cls.run_ = fathom.open(cls.path)

    def test_traffic_is_by_world_rank(self):
        self.assertEqual(self.run_.comm_matrix().tolist(), [[0, 100, 0], [0, 0, 50], [0, 0, 0]])
        self.assertEqual(self.run_.comm_matrix("count").tolist(), [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
        self.assertEqual(self.run_.comm_by_process()["Received"].tolist(), [0, 100, 50])

    def test_findings_say_what_the_culprit_did_meanwhile(self):
        said = self.run_.findings("wait-states").set_index("kind")["meanwhile"]["slow-call"]
        # Rank 2 waits from 0 to 300 for rank 1, which is in MPI_Recv until 200.
        self.assertEqual((said["rank"], said["inside"]["function"], said["pieces"]), (1, "MPI_Recv", 1))
        self.assertAlmostEqual(said["seconds"], 200e-9, 12)
        self.assertAlmostEqual(said["of_seconds"], 300e-9, 12)
        self.assertIn("rank 1 was in MPI_Recv", said["text"])

    def test_events_have_pipits_columns(self):
        events = self.run_.events
        for column in ("Timestamp (ns)", "Event Type", "Name", "Process", "Thread", "_matching_event",
                       "_matching_timestamp", "_depth", "_parent", "time.inc", "time.exc"):
            self.assertIn(column, events.columns)
        self.assertEqual(str(events["Name"].dtype), "category")
        enters = events[events["Event Type"] == "Enter"]
        self.assertEqual(len(enters), 7)
        for row, enter in enters.iterrows():
            leave = events.loc[enter["_matching_event"]]
            self.assertEqual((leave["Event Type"], leave["Name"], leave["_matching_event"]), ("Leave", enter["Name"], row))
            self.assertEqual(leave["Timestamp (ns)"] - enter["Timestamp (ns)"], enter["time.inc"])
        sent = events[events["Name"] == "MpiSend"]
        self.assertEqual(list(zip(sent["Process"], sent["Peer"], sent["Bytes"], sent["Tag"])), [(0, 1, 100, 7), (1, 2, 50, 8)])

    def test_chunks_add_up_to_the_whole(self):
        whole = self.run_.events
        for rows in (1, 3, 1000):
            pieces = list(self.run_.event_chunks(rows))
            self.assertLessEqual(max(map(len, pieces)), rows)
            joined = pandas.concat(pieces)
            self.assertTrue((joined.index == whole.index).all())
            for column in ("Timestamp (ns)", "Name", "Process", "Bytes", "_depth"):
                self.assertEqual(joined[column].tolist(), whole[column].tolist(), column)

    def test_flat_profile_is_the_mean_of_all_processes(self):
        profile = self.run_.flat_profile(["time.exc", "count"])
        self.assertEqual(profile.index.tolist(), ["MPI_Barrier", "MPI_Recv", "MPI_Send"])
        numpy.testing.assert_allclose(profile["time.exc"], [300, 700 / 3, 200 / 3])
        numpy.testing.assert_allclose(profile["count"], [1, 2 / 3, 2 / 3])
        each = self.run_.flat_profile("time.inc", per_process=True)
        self.assertEqual(each.loc[("MPI_Recv", 2), "time.inc"], 500)
        self.assertEqual(each.loc[("MPI_Recv", 0), "time.inc"], 0)

    def test_load_imbalance_is_the_largest_over_the_mean(self):
        table = self.run_.load_imbalance(num_processes=2)
        self.assertEqual(table.index.tolist(), ["MPI_Barrier", "MPI_Recv", "MPI_Send"])
        numpy.testing.assert_allclose(table["time.exc.imbalance"], [2, 1500 / 700, 1.5])
        self.assertEqual(table["Top processes"].tolist(), [[0, 2], [2, 1], [0, 1]])
        # Those that never called a function are not among its processes.
        self.assertEqual(self.run_.load_imbalance("count", 3).loc["MPI_Send", "Top processes"], [0, 1])
        self.assertRaises(ValueError, self.run_.load_imbalance, "seconds")

    def test_idle_time_with_mpi_events_does_not_change_later_calls(self):
        for _ in range(2):
            self.assertEqual(self.run_.idle_time()["Idle Time"].tolist(), [0, 0, 0])
            self.assertEqual(self.run_.idle_time(mpi_events=True)["Idle Time"].tolist(), [0, 200, 500])
        self.assertEqual(self.run_.idle_time(["MPI_Barrier"])["Idle Time"].tolist(), [600, 100, 200])

    def test_the_time_profile_adds_up(self):
        table = self.run_.time_profile(4)
        # From 0 to the moment after the last event, 1601, in bins of whole nanoseconds.
        self.assertEqual(table["bin_start"].tolist(), [0, 400, 800, 1200])
        self.assertEqual(table["bin_end"].tolist(), [400, 800, 1200, 1601])
        self.assertEqual(table["MPI_Send"].tolist(), [200, 0, 0, 0])
        self.assertEqual(table["MPI_Recv"].tolist(), [600, 100, 0, 0])
        self.assertEqual(table["MPI_Barrier"].tolist(), [0, 0, 200, 700])
        self.assertEqual(table["idle_time"].tolist(), [400, 1100, 1000, 503])
        normalized = self.run_.time_profile(4, normalized=True)
        numpy.testing.assert_allclose(normalized.iloc[:, 2:].sum(axis=1), 1)

    def test_communication_over_time_adds_up(self):
        values, edges = self.run_.comm_over_time(bins=2)
        self.assertEqual((values.tolist(), edges.tolist()), ([150, 0], [0, 800, 1601]))
        self.assertEqual(self.run_.comm_over_time("count", "receive", bins=4)[0].tolist(), [1, 1, 0, 0])
        self.assertEqual(self.run_.comm_over_time(bins=2, range=(0, 600))[0].tolist(), [100, 50])
        self.assertEqual(self.run_.comm_over_time(bins=2, density=True)[0].tolist(), [1 / 800, 0])

    def test_given_edges_count_as_in_numpy(self):
        """Messages are sent at 0 and 300; the last bin holds its end too."""
        for bins, counts in (([0, 300, 400], [1, 1]), ([0.5, 300], [1]), ([0, 299.5, 300.5], [1, 1]), ([-5, 0], [1])):
            values, edges = self.run_.comm_over_time("count", bins=bins)
            self.assertEqual((values.tolist(), edges.tolist()), (counts, bins))
        self.assertEqual(self.run_.slice(100, 400).comm_over_time("count", bins=[0, 200, 1000])[0].tolist(), [0, 1])
        for wrong in (lambda: self.run_.comm_over_time(bins=0), lambda: self.run_.time_profile(0)):
            self.assertRaises(ValueError, wrong)

    def test_the_message_histogram_counts_every_message(self):
        counts, edges = self.run_.message_histogram(bins=[0, 60, 200])
        self.assertEqual((counts.tolist(), edges.tolist()), ([1, 1], [0, 60, 200]))
        self.assertEqual(counts.dtype, numpy.int64)

    def test_slice_clips_calls(self):
        part = self.run_.slice(50, 1450)
        each = part.flat_profile("time.exc", per_process=True)["time.exc"]
        self.assertEqual([each["MPI_Send", 0], each["MPI_Recv", 1], each["MPI_Recv", 2], each["MPI_Barrier", 0],
                          each["MPI_Barrier", 2]], [50, 150, 450, 450, 50])
        self.assertEqual(part.comm_matrix("count").sum(), 2)
        self.assertEqual(self.run_.slice("0 ns", "0.3 us").comm_matrix().tolist()[0], [0, 100, 0])
        self.assertEqual(self.run_.slice(0, 300).comm_matrix().sum(), 100)

    def test_slice_enters_and_leaves_calls_that_it_cuts(self):
        events = self.run_.slice(50, 1450).events
        self.assertEqual([(process, kind, name, time) for process, kind, name, time in
                          zip(events["Process"], events["Event Type"], events["Name"], events["Timestamp (ns)"])
                          if name not in ("MpiSend", "MpiRecv")],
                         [(0, "Enter", "MPI_Send", 50), (0, "Leave", "MPI_Send", 100),
                          (0, "Enter", "MPI_Barrier", 1000), (0, "Leave", "MPI_Barrier", 1450),
                          (1, "Enter", "MPI_Recv", 50), (1, "Leave", "MPI_Recv", 200),
                          (1, "Enter", "MPI_Send", 300), (1, "Leave", "MPI_Send", 400),
                          (2, "Enter", "MPI_Recv", 50), (2, "Leave", "MPI_Recv", 500),
                          (2, "Enter", "MPI_Barrier", 1400), (2, "Leave", "MPI_Barrier", 1450)])
        self.assertEqual(events["time.inc"].sum(), 50 + 450 + 150 + 100 + 450 + 50)
        inside = self.run_.slice(1550, 1560).events  # nothing happens there
        self.assertEqual(inside["time.inc"].dropna().tolist(), [10, 10, 10])
        self.assertEqual(len(self.run_.slice(1700, 1800).events), 0)

    def test_slice_does_not_continue_after_the_end(self):
        """Nothing more is known of a call that is open where the trace ends."""
        calls = self.run_.slice(0, "1 s").calls()
        self.assertEqual(calls["end_ns"].max(), 1600)

    def test_slice_without_clipping_keeps_whole_calls(self):
        whole = self.run_.slice(250, 260, clip_values=False).events
        self.assertEqual(whole["time.inc"].dropna().tolist(), [500])

    def test_messages_are_limited_to_a_part(self):
        self.assertEqual(self.run_.slice(0, 300).messages()["destination"].tolist(), [1])
        self.assertEqual(self.run_.select(ranks=[2]).messages()["source"].tolist(), [1])
        self.assertEqual(self.run_.select(ranks=[1]).messages()["source"].tolist(), [0, 1])

    def test_select_ranks_keeps_only_their_events(self):
        part = self.run_.select(ranks=[2])
        self.assertEqual(set(part.events["Process"]), {2})
        self.assertEqual(part.comm_matrix().tolist(), [[0, 0, 0], [0, 0, 50], [0, 0, 0]])

    def test_filters_combine(self):
        events = self.run_.filter(Filter("Name", "==", "MPI_Send") | Filter("Process", "in", [2])).events
        self.assertEqual([(p, n) for p, n, t in zip(events["Process"], events["Name"], events["Event Type"]) if t == "Enter"],
                         [(0, "MPI_Send"), (1, "MPI_Send"), (2, "MPI_Recv"), (2, "MPI_Barrier")])
        long = self.run_.filter(Filter("time.inc", ">", 150)).events  # a Leave goes with its Enter
        self.assertEqual(len(long), 8)
        self.assertEqual(len(self.run_.filter(~Filter("time.inc", ">", 150)).events), len(self.run_.events) - 8)
        around = self.run_.filter(Filter("Timestamp (ns)", "between", ["250 ns", "260 ns"])).events
        self.assertEqual(set(zip(around["Process"], around["Name"])), {(2, "MPI_Recv")})
        self.assertEqual(len(around), 2)  # both ends of the call that spans the moment
        self.assertEqual(len(self.run_.filter(Filter(expr="Bytes == 50 and Tag == 8")).events), 6)  # two calls, two messages

    def test_operations_use_only_what_a_filter_keeps(self):
        """Pipit's are; matrix and sizes once were those of the whole run all the same."""
        sends = self.run_.filter("Name", "in", ["MPI_Send", "MpiSend"])
        self.assertEqual(sends.flat_profile(["time.exc", "count"]).to_numpy().tolist(), [[200 / 3, 2 / 3]])
        self.assertEqual(sends.load_imbalance().index.tolist(), ["MPI_Send"])
        self.assertEqual(sends.time_profile(4)["MPI_Send"].tolist(), [200, 0, 0, 0])
        self.assertEqual(sends.calls()["Process"].tolist(), [0, 1])
        self.assertEqual(sends.comm_matrix().sum(), 150)
        small = self.run_.filter(Filter("Bytes", "<", 60) & Filter("Name", "==", "MpiSend"))
        self.assertEqual(small.comm_matrix().tolist(), [[0, 0, 0], [0, 0, 50], [0, 0, 0]])
        self.assertEqual(small.comm_by_process("count")["Sent"].tolist(), [0, 1, 0])
        self.assertEqual(small.message_histogram(bins=[0, 60, 200])[0].tolist(), [1, 0])
        self.assertEqual(small.comm_over_time("count", bins=2)[0].tolist(), [1, 0])
        self.assertEqual(small.plot_comm_matrix().get_axes()[0].get_xlabel(), "receiving rank")
        nothing = self.run_.filter("Bytes", "<", 0)
        self.assertEqual((nothing.comm_matrix().sum(), len(nothing.calls()), len(nothing.events)), (0, 0, 0))

    def test_analyses_refuse_a_filter(self):
        part = self.run_.filter("Process", "==", 0)
        for wrong in (part.findings, part.messages, part.critical_path_analysis, part.calculate_lateness):
            with self.assertRaisesRegex(fathom.Error, "it takes no filter"):
                wrong()

    def ends(self, made):
        return [round(seconds * 1e9) for seconds in made["what_if"]["what_if_end_s"]]

    def test_what_if_says_how_long_the_run_would_have_taken(self):
        self.assertEqual(self.run_.what_if().figures["what_if_ns"], 1600)
        # Rank 1 is at the barrier at 300, and rank 2 receives 100 earlier. Nothing joins the barriers of this trace.
        made = self.run_.what_if("rank 1 : 0")
        self.assertEqual(self.ends(made), [1600, 400, 1500])
        self.assertEqual(made["what_if"]["rank"].tolist(), [0, 1, 2])
        made = self.run_.what_if("rank 1 : 0", "rank 0,2 : 0.5")
        self.assertEqual(self.ends(made), [1150, 400, 1050])
        self.assertEqual((made.figures["run_ns"], made.figures["what_if_ns"]), (1600, 1150))
        for wrong in ("rank 7 : 0", "rank 1"):
            with self.assertRaisesRegex(fathom.Error, wrong):
                self.run_.what_if(wrong)

    def test_what_if_changes_only_the_part_that_was_chosen(self):
        # Of the work of rank 1 from 400 to 1500, the last 600.
        part = self.run_.slice(900, 1500).what_if("rank 1 : 0")
        self.assertEqual(self.ends(part), [1600, 1000, 1600])
        self.assertEqual([round(seconds * 1e9) for seconds in part["what_if"]["what_if_part_seconds"]], [600, 0, 600])
        self.assertEqual(self.ends(self.run_.select(ranks=[1]).what_if("rank 0-1 : 0")), [1600, 400, 1500])
        with self.assertRaisesRegex(fathom.Error, "chosen part"):
            self.run_.select(ranks=[0]).what_if("rank 1 : 0")

    def test_several_runs_are_compared(self):
        """Runs of as many processes each have their row."""
        table = fathom.multirun_analysis([self.run_, self.run_])
        self.assertEqual(table.index.tolist(), [3, 3])
        self.assertEqual(table.columns.tolist(), ["MPI_Barrier", "MPI_Recv", "MPI_Send"])
        numpy.testing.assert_allclose(table.iloc[1], [300, 700 / 3, 200 / 3])

    def test_calls_are_a_frame(self):
        calls = self.run_.calls()
        self.assertEqual(len(calls), 7)
        self.assertEqual(calls["time.exc"].sum(), 200 + 700 + 900)

    def test_messages_are_a_frame(self):
        messages = self.run_.messages()
        self.assertEqual(list(zip(messages["source"], messages["destination"], messages["bytes"], messages["tag"],
                                  messages["send_entered_ns"], messages["receive_posted_ns"], messages["received_ns"])),
                         [(0, 1, 100, 7, 0, 0, 200), (1, 2, 50, 8, 300, 0, 500)])

    def test_replay_calls_back_for_each_step(self):
        seen = []
        count = self.run_.replay(send=lambda step: seen.append(("send", step.rank, step.partner)),
                                 receive=lambda step: seen.append(("receive", step.rank, step.partner)),
                                 enter=lambda step: seen.append((step.function, step.rank, step.time_ns)))
        self.assertEqual(count, 11)
        self.assertEqual([entry for entry in seen if entry[0] in ("send", "receive")],
                         [("send", 0, 1), ("receive", 1, 0), ("send", 1, 2), ("receive", 2, 1)])
        self.assertIn(("MPI_Barrier", 2, 1400), seen)
        back = []
        self.run_.replay(backward=True, leave=lambda step: back.append((step.rank, step.end_ns)),
                         send=lambda step: back.append("send"), receive=lambda step: back.append("receive"))
        self.assertEqual([entry for entry in back if isinstance(entry, str)], ["receive", "send", "receive", "send"])
        self.assertEqual([entry[1] for entry in back if not isinstance(entry, str)], [1600, 1600, 1600, 500, 400, 200, 100])

    def test_any_step_can_be_read(self):
        partners = []
        self.run_.replay(receive=lambda step: partners.append((step, self.run_.step(step.partner, step.partner_index))))
        for received, sent in partners:
            self.assertEqual((sent.kind, sent.rank, sent.partner, sent.partner_index, sent.bytes),
                             ("send", received.partner, received.rank, received.index, received.bytes))
        with self.assertRaisesRegex(fathom.Error, "no such step"):
            self.run_.step(0, 10**6)

    def test_an_engine_works_alone(self):
        engine = fathom.Engine(self.path)
        self.assertEqual((engine.parallel, engine.rank, engine.size, engine.ranks), (False, 0, 1, [0, 1, 2]))
        engine.parallel = True  # there is nobody to share with
        self.assertFalse(engine.parallel)
        self.assertEqual((engine.own_ranks(), engine.loads()), ([0, 1, 2], [18]))
        seen = []
        for backward in (False, True):
            for moment in ("send", "receive"):
                engine.on(moment, moment + "s", lambda step, moment=moment: seen.append((moment, step.rank)), backward)
        engine.on("receive", "receives", lambda step: seen.append(step.index))
        first = engine.step(1, 1)
        self.assertEqual(engine.run(), 6)
        self.assertEqual(seen, [("send", 0), ("receive", 1), first.index, ("send", 1), ("receive", 2), 1])
        seen.clear()
        self.assertEqual(engine.run(backward=True), 4)
        self.assertEqual(seen, [("receive", 2), ("send", 1), ("receive", 1), ("send", 0)])
        self.assertTrue(engine.remove("receives"))
        self.assertFalse(engine.remove("receives"))
        self.assertEqual((engine.run(), engine.run(backward=True)), (2, 4))
        self.assertEqual((first.kind, first.partner, first.bytes), ("receive", 0, 100))
        self.assertEqual(engine.step(first.partner, first.partner_index).partner_index, first.index)
        self.assertIsNone(engine.step(0, 10**6))
        engine.want(0, 10**6)
        engine.fetch()
        engine.barrier()
        self.assertEqual(engine.gather({1: 2}.items()), [(1, 2)])

    def test_a_callback_cannot_change_how_the_work_is_shared(self):
        """The steps that it goes through would be gone."""
        engine = fathom.Engine(self.path)
        changes = [lambda step: setattr(engine, "parallel", False), lambda step: setattr(engine, "hidden", True),
                   lambda step: engine.set_mapping([0, 0, 0])]
        for change in changes:
            engine.on("send", "change", change)
            with self.assertRaisesRegex(fathom.Error, "a callback cannot change"):
                engine.run()
            engine.remove("change")
        engine.on("send", "names another", lambda step: engine.on("send", "another", lambda step: None))
        self.assertEqual((engine.run(), engine.run()), (2, 6))  # those that came on the way count the next time

    def test_an_engine_refuses_wrong_calls(self):
        engine = fathom.Engine(self.path)
        self.assertRaises(ValueError, engine.on, "sends", "name", print)
        with self.assertRaisesRegex(fathom.Error, "no rank 7"):
            engine.step(7, 0)
        with self.assertRaisesRegex(fathom.Error, "nowhere"):
            fathom.Engine("/nowhere")

    def test_one_process_needs_neither_a_launcher_nor_mpi4py(self):
        with mock.patch.dict(sys.modules, {"mpi4py": None}):
            sys.modules.pop("mpi4py.MPI", None)
            for launcher in ({}, {"PMIX_RANK": "0"}):
                with mock.patch.dict(os.environ, launcher):
                    self.assertIsNone(fathom.world())

    def test_wrong_arguments_are_refused(self):
        for wrong in (lambda: Filter("Name", "~", 1), lambda: Filter("Name"), lambda: self.run_.slice("5 days", 9),
                      lambda: self.run_.comm_matrix("volume"), lambda: self.run_.flat_profile("seconds"),
                      lambda: self.run_.flat_profile(groupby_column="Process"), lambda: self.run_.replay(sends=print)):
            self.assertRaises(ValueError, wrong)
        with self.assertRaisesRegex(fathom.Error, "there is no analysis 'nonsense'; there are"):
            self.run_.analysis("nonsense")
        self.assertRaises(TypeError, self.run_.filter, 7)
        with self.assertRaisesRegex(fathom.Error, "there is no run"):
            fathom.open("/nonexistent")


class Generated(unittest.TestCase):
    """A larger run with a profile of its own: the two agree."""

    @classmethod
    def setUpClass(cls):
        cls.path = os.path.join(scratch(cls), "run")
        subprocess.run([GENERATE, cls.path, "--ranks", "8", "--events", "50000"], check=True, capture_output=True)
        cls.run_ = fathom.open(cls.path)

    def test_the_matrix_is_the_traces(self):
        events = self.run_.events
        received = events[events["Name"] == "MpiRecv"]
        by_hand = numpy.zeros((8, 8), numpy.int64)
        numpy.add.at(by_hand, (received["Peer"].to_numpy(int), received["Process"].to_numpy(int)), received["Bytes"].to_numpy())
        self.assertTrue((by_hand == self.run_.comm_matrix()).all())
        thin = self.run_.comm_matrix(sparse_matrix=True)
        self.assertTrue(scipy.sparse.issparse(thin))
        self.assertTrue((thin.toarray() == by_hand).all())
        mean = self.run_.comm_matrix("mean")
        numpy.testing.assert_allclose(mean * self.run_.comm_matrix("count"), by_hand)

    def test_losses_are_reported(self):
        path = os.path.join(scratch(type(self)), "lossy")
        subprocess.run([GENERATE, path, "--ranks", "4", "--events", "4000", "--lost", "12"], check=True,
                       capture_output=True)
        run = fathom.open(path)
        self.assertEqual(list(run.processes()["lost"]), [0, 12, 0, 0])
        self.assertEqual((run.lost_records, run.select(ranks=[0, 3]).lost_records), (12, 0))
        self.assertEqual(self.run_.lost_records, 0)

    def test_an_unknown_host_has_a_name(self):
        path = os.path.join(scratch(type(self)), "hostless")
        subprocess.run([GENERATE, path, "--ranks", "2", "--events", "400"], check=True,
                       capture_output=True)
        os.remove(os.path.join(path, "profile.json"))
        trace = os.path.join(path, "trace", "1.1.trace")
        with open(trace, "rb") as file:
            data = bytearray(file.read())
        data[data.index(b"FRAM") + 100] ^= 1  # its definitions
        with open(trace, "wb") as file:
            file.write(data)
        run = fathom.open(path)
        self.assertEqual(list(run.processes()["host"]), ["n0", "unknown host"])
        self.assertEqual(run.header["hosts"], {0: "n0", 1: "unknown host"})

    def test_parts_add_up_to_the_whole(self):
        whole = self.run_.comm_matrix()
        self.assertTrue((self.run_.comm_matrix(hidden=True) + self.run_.comm_matrix(hidden=False) == whole).all())
        classes = self.run_.traffic["class"].cat.categories
        self.assertTrue((sum(self.run_.comm_matrix(class_name=name) for name in classes) == whole).all())

    def test_columns_are_not_copied(self):
        column = self.run_.events["Timestamp (ns)"].to_numpy()
        self.assertFalse(column.flags.owndata)

    def test_operations_agree_on_times(self):
        events, calls = self.run_.events, self.run_.calls()
        each = self.run_.flat_profile(["time.inc", "time.exc"], per_process=True)
        for metric in ("time.inc", "time.exc"):
            self.assertAlmostEqual(events[metric].sum(), each[metric].sum())
            self.assertAlmostEqual(calls[metric].sum(), each[metric].sum())
        profile = self.run_.time_profile(17)
        outside = ["MPI_Init", "MPI_Finalize"]  # the time profile lies between them
        between = each["time.exc"].drop(index=outside, level="Name", errors="ignore").sum()
        numpy.testing.assert_allclose(profile.iloc[:, 3:].drop(columns=outside, errors="ignore").to_numpy().sum(), between)

    def test_analyses_are_frames(self):
        names = fathom.analyses()
        self.assertIn("patterns", names.index)
        for name in names.index[~names["needs_trace"]]:
            made = self.run_.analysis(name)
            for table in made.tables.values():
                self.assertIsInstance(table, pandas.DataFrame)
        self.assertEqual(self.run_.analysis("structure").figures["ranks"], 8)
        self.assertEqual(self.run_.analysis("structure")["ranks"]["bytes_out"].tolist(), self.run_.comm_matrix().sum(axis=1).tolist())
        found = self.run_.findings("traffic-issues", few_bytes=1, link_share=0.001)
        self.assertIn("link-hotspot", found["kind"].tolist())

    def test_the_traces_profile_is_the_profile(self):
        of_trace = self.run_.slice(0, 2**63)
        for output in ("size", "count"):
            self.assertTrue((of_trace.comm_matrix(output) == self.run_.comm_matrix(output)).all())

    def test_messages_are_the_matrix(self):
        messages = self.run_.messages(hidden=True)
        made = numpy.zeros((8, 8), numpy.int64)
        numpy.add.at(made, (messages["source"].to_numpy(), messages["destination"].to_numpy()), messages["bytes"].to_numpy())
        self.assertTrue((made == self.run_.comm_matrix()).all())

    def test_sizes_by_rank_are_the_matrix(self):
        table = self.run_.analysis("rank-histograms")["message_sizes"]
        for sent, axis in ((1, 1), (0, 0)):
            sums = table[table["sent"] == sent].groupby("rank")[["bytes", "messages"]].sum()
            self.assertEqual(sums["bytes"].tolist(), self.run_.comm_matrix().sum(axis=axis).tolist())
            self.assertEqual(sums["messages"].tolist(), self.run_.comm_matrix("count").sum(axis=axis).tolist())
        mean = table["bytes"] / table["messages"]
        self.assertTrue(((mean >= table["low_bytes"]) & (mean <= table["high_bytes"])).all())

    def test_two_ways_give_the_same_times(self):
        """calls() are columns of events; the operations and the analyses count as the events pass by."""
        sums = self.run_.calls().groupby("Name", observed=True)["time.exc"].sum() / 1e9
        functions = self.run_.analysis("flat-profile")["functions"].set_index("name")["exclusive_seconds"]
        for name, seconds in sums.items():
            self.assertAlmostEqual(functions[name], seconds, 9)
        bins, ours = self.run_.analysis("time-profile")["time_profile"], self.run_.time_profile(50)
        for name in sums.index:
            numpy.testing.assert_allclose(bins[name] * 1e9, ours[name])
        over_time = self.run_.analysis("comm-over-time")["comm_over_time"]
        sent = over_time["sent_bytes"] + over_time["hidden_sent_bytes"]
        self.assertEqual(sent.sum(), self.run_.comm_over_time()[0].sum())

    def test_wait_states_are_findings(self):
        found = self.run_.findings("wait-states")
        self.assertGreater(len(found), 0)
        self.assertTrue((found["seconds"].diff().dropna() <= 0).all())

    def test_every_analysis_gives_frames(self):
        for name in fathom.analyses().index:
            made = self.run_.analysis(name)
            self.assertTrue(made.figures or made.tables, name)
            for table in made.tables.values():
                self.assertIsInstance(table, pandas.DataFrame)

    def test_the_critical_path_is_a_frame(self):
        path = self.run_.critical_path_analysis()
        begin = path["Timestamp (ns)"] - path["time.exc"]
        self.assertEqual(begin.tolist()[1:], path["Timestamp (ns)"].tolist()[:-1])  # one after the other, without a gap
        of_analysis = self.run_.analysis("critical-path")["path_by_function"].set_index("name")["seconds"]
        for name, time in path.groupby("Name")["time.exc"].sum().items():
            self.assertAlmostEqual(time, of_analysis[name] * 1e9, delta=1)
        whole = self.run_.analysis("critical-path").figures["path_seconds"]
        self.assertAlmostEqual(path["time.exc"].sum(), whole * 1e9, delta=len(path))
        self.assertTrue(set(path["Name"]) <= {"(program)"} | set(self.run_.calls()["Name"].cat.categories))

    def test_every_event_has_a_lateness(self):
        late = self.run_.calculate_lateness()
        calls = self.run_.calls()["Name"].value_counts()
        self.assertEqual((late["EventName"] == "MPI_Allreduce").sum(), calls["MPI_Allreduce"])
        # Somebody is the first at each step of a partition.
        self.assertTrue((late.groupby(["PartitionId", "LocalStep"])["Lateness"].min() == 0).all())
        self.assertTrue((late["DiffLateness"] <= late["Lateness"]).all())
        steps = late.set_index("EventId")["Step"]
        received = late[late["Matching Event ID"] >= 0]
        self.assertEqual(received["Matching Step"].tolist(), steps[received["Matching Event ID"]].tolist())
        self.assertTrue((received["Matching Step"] < received["Step"]).all())
        self.assertTrue((late.loc[late["Matching Event ID"] < 0, "Matching Step"] == -1).all())
        ordered = late.sort_values(["Process", "Start"])
        for _, rows in ordered.groupby(["Process", "PartitionId"]):
            strides = rows["Stride"].tolist()
            following = [next((s for s in strides[i + 1:] if s >= 0), -1) for i in range(len(strides))]
            self.assertEqual(rows["NextStride"].tolist(), following)

    def test_two_ways_give_the_same_imbalance_and_idle_time(self):
        ours = self.run_.load_imbalance()["time.exc.imbalance"]
        theirs = self.run_.analysis("load-imbalance")["load_imbalance"].set_index("name")["imbalance"]
        for name, value in ours.items():
            self.assertAlmostEqual(theirs[name], value)
        idle = self.run_.idle_time(mpi_events=True)["Idle Time"]
        numpy.testing.assert_allclose(self.run_.analysis("idle-time")["idle_time"]["blocking_seconds"] * 1e9, idle)
        waits = self.run_.analysis("wait-states").figures["wait_seconds"]
        self.assertAlmostEqual(self.run_.analysis("idle-time").figures["waiting_seconds"], waits)

    def test_a_job_with_issues_shows_them(self):
        found = self.run_.issues(late_wait_seconds=1e-6, late_share=0.001)
        self.assertIn("late-sender", found["kind"].tolist())
        self.assertEqual(self.run_.analysis("issues").figures["canonical_transfer_events"], self.run_.comm_matrix("count").sum())

    def test_runs_are_compared(self):
        tables = fathom.compare([self.run_, self.run_])
        self.assertEqual(tables["classes"]["growth_bytes"].unique().tolist(), [1])
        repeats = fathom.compare([self.run_] * 4, new=[self.run_] * 4)
        self.assertEqual(repeats["runs"]["side"].tolist(), ["first"] * 4 + ["last"] * 4)
        self.assertEqual(repeats["totals"]["p"].unique().tolist(), [1])
        table = fathom.multirun_analysis([self.run_])
        self.assertEqual(table.index.tolist(), [8])
        self.assertAlmostEqual(table.to_numpy().sum() * 8, self.run_.calls()["time.exc"].sum())

    def test_pictures_are_drawn(self):
        for draw in (self.run_.plot_comm_matrix, self.run_.plot_message_histogram, self.run_.plot_time_profile,
                     self.run_.plot_comm_over_time, self.run_.plot_idle_time, self.run_.plot_timeline):
            path = os.path.join(self.path, draw.__name__ + ".png")
            draw().savefig(path)
            self.assertGreater(os.path.getsize(path), 5000)
        self.assertNotIn("matplotlib.pyplot", sys.modules)  # no backend was chosen

    def test_the_timeline_shows_what_lies_in_its_window(self):
        whole = self.run_.plot_timeline(0, "1 s").get_axes()[-1]
        part = self.run_.plot_timeline("10 us", "20 us").get_axes()[-1]
        self.assertEqual(part.get_xlabel(), "µs after 0.000010 s")
        self.assertEqual([round(edge, 3) for edge in part.get_xlim()], [0, 10])
        self.assertGreater(len(whole.texts), 0)
        sent = self.run_.slice("10 us", "20 us").messages(hidden=True)
        arrows = [text for text in part.texts if getattr(text, "arrow_patch", None) is not None]
        self.assertEqual(len(arrows), (sent["send_entered_ns"] >= 10_000).sum())
        self.assertRaises(ValueError, self.run_.plot_timeline, 20, 10)

    def test_labels_of_axes_fit_the_picture(self):
        """That of the bytes was cut off where the figures at the axis were long."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        for picture in (self.run_.plot_comm_over_time(), self.run_.plot_comm_over_time("count"), self.run_.plot_idle_time(),
                        self.run_.plot_time_profile(), self.run_.plot_time_profile(normalized=False)):
            canvas = FigureCanvasAgg(picture)
            canvas.draw()
            axes = picture.get_axes()[0]
            ticks = [label for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim()))
                     for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels()) if limits[0] <= place <= limits[1]]
            for text in (axes.xaxis.label, axes.yaxis.label, *ticks):
                box = text.get_window_extent(canvas.get_renderer())
                self.assertGreaterEqual(min(box.x0, box.y0), 0, text.get_text())
                self.assertLess(box.x1, picture.bbox.x1, text.get_text())

    def test_a_filter_that_keeps_everything_changes_nothing(self):
        every = self.run_.filter("Bytes", ">=", 0)
        for ask in (lambda run: run.flat_profile(["time.exc", "time.inc", "count"]), lambda run: run.time_profile(17),
                    lambda run: run.load_imbalance(), lambda run: run.comm_by_process()):
            pandas.testing.assert_frame_equal(ask(every), ask(self.run_), check_dtype=False)
        self.assertEqual(every.comm_over_time("count", "receive")[0].tolist(), self.run_.comm_over_time("count", "receive")[0].tolist())
        keys = ["class", "hidden", "communicator", "source", "destination"]
        ours, theirs = (run.traffic.sort_values(keys)[keys + ["bytes", "messages"]].astype({"class": str}) for run in (every, self.run_))
        pandas.testing.assert_frame_equal(ours.reset_index(drop=True), theirs.reset_index(drop=True), check_dtype=False)


class SameFiguresAsAnalyze(unittest.TestCase):
    """What the operations give is what `fathom analyze --json` writes, of the run and of parts of it."""

    PARTS = ({}, {"ranks": [0, 2, 3]}, {"window": (0.2, 0.6)}, {"ranks": [1, 2], "window": (0.5, 0.9)})
    NAMES = ("flat-profile", "load-imbalance", "idle-time", "time-profile", "comm-over-time")

    @classmethod
    def setUpClass(cls):
        cls.path = os.path.join(scratch(cls), "run")
        subprocess.run([GENERATE, cls.path, "--ranks", "5", "--events", "20000"], check=True, capture_output=True)
        cls.end_ns = fathom.open(cls.path).processes()["end_ns"].max()

    def parts(self):
        """(part of the run, what the tool says of it)."""
        for part in self.PARTS:
            run, options = fathom.open(self.path), []
            if "ranks" in part:
                run, options = run.select(ranks=part["ranks"]), ["--ranks", ",".join(map(str, part["ranks"]))]
            if "window" in part:
                start, end = (int(share * self.end_ns) for share in part["window"])
                run = run.slice(start, end)
                options += ["--from", f"{start / 1e9:.9f}", "--to", f"{end / 1e9:.9f}"]
            for name in self.NAMES:
                options += ["--only", name]
            analyses = subprocess.run([CLI, "analyze", self.path, "--json", *options], check=True, capture_output=True, text=True)
            yield run, json.loads(analyses.stdout)["analyses"]

    def close(self, seconds, ns):
        numpy.testing.assert_allclose(numpy.asarray(seconds) * 1e9, ns, rtol=1e-12)

    def test_the_flat_profile_is_the_analysis(self):
        for run, analyses in self.parts():
            table = pandas.DataFrame(analyses["flat-profile"]["functions"]).set_index("name").drop(index="(program)")
            ours = run.flat_profile(["time.exc", "time.inc", "count"]) * len(run.processes())
            self.assertEqual(ours.index.tolist(), table.index.tolist())
            self.close(table["exclusive_seconds"], ours["time.exc"])
            self.close(table["inclusive_seconds"], ours["time.inc"])
            numpy.testing.assert_allclose(table["count"], ours["count"])
            calls = pandas.DataFrame(analyses["flat-profile"]["calls"]).groupby(["name", "rank"])[["inclusive_seconds", "count"]].sum()
            each = run.flat_profile(["time.inc", "count"], per_process=True)
            called = each[each["count"] > 0]
            self.close(calls.loc[called.index, "inclusive_seconds"], called["time.inc"])
            self.assertEqual(calls.drop(index="(program)")["count"].sum(), each["count"].sum())

    def test_load_imbalance_is_the_analysis(self):
        for run, analyses in self.parts():
            table = pandas.DataFrame(analyses["load-imbalance"]["load_imbalance"]).set_index("name").drop(index="(program)")
            ours = run.load_imbalance(num_processes=10)
            self.assertEqual(ours.index.tolist(), table.index.tolist())
            numpy.testing.assert_allclose(ours["time.exc.imbalance"], table["imbalance"])
            self.close(table["mean_seconds"], ours["time.exc.mean"])
            self.assertEqual(ours["Top processes"].tolist(), table["top_ranks"].tolist())

    def test_idle_time_is_the_analysis(self):
        for run, analyses in self.parts():
            table, ours = pandas.DataFrame(analyses["idle-time"]["idle_time"]), run.idle_time(mpi_events=True)
            self.assertEqual(ours["Process"].tolist(), table["rank"].tolist())
            self.assertGreater(ours["Idle Time"].sum(), 0)
            self.close(table["blocking_seconds"], ours["Idle Time"])

    def test_the_time_profile_is_the_analysis(self):
        for run, analyses in self.parts():
            table, ours = pandas.DataFrame(analyses["time-profile"]["time_profile"]), run.time_profile()
            self.assertEqual(set(table.columns) - {"(program)", "bin_start_s", "bin_end_s"},
                             set(ours.columns) - {"idle_time", "bin_start", "bin_end"})
            for name in ours.columns.drop("idle_time"):
                self.close(table[f"{name}_s" if name.startswith("bin_") else name], ours[name])
            # The rest of a bin is the program's time, and that before and after the events of a rank.
            self.assertTrue((ours["idle_time"] >= (table["(program)"] * 1e9 - 1e-3)).all())

    def test_communication_over_time_is_the_analysis(self):
        for run, analyses in self.parts():
            table = pandas.DataFrame(analyses["comm-over-time"]["comm_over_time"])
            for ours, side in (("send", "sent"), ("receive", "received")):
                for output, unit in (("size", "bytes"), ("count", "messages")):
                    values, edges = run.comm_over_time(output, ours)
                    self.assertGreater(values.sum(), 0)
                    self.assertEqual(values.tolist(), (table[f"{side}_{unit}"] + table[f"hidden_{side}_{unit}"]).tolist())
                    self.close(table["bin_end_s"], edges[1:])

    def test_a_filter_that_keeps_all_of_a_part_changes_nothing(self):
        for run, _ in self.parts():
            every = run.filter("Bytes", ">=", 0)
            for ask in (lambda run: run.flat_profile(["time.exc", "time.inc", "count"]), lambda run: run.time_profile(17),
                        lambda run: run.load_imbalance(num_processes=3), lambda run: run.idle_time(mpi_events=True)):
                pandas.testing.assert_frame_equal(ask(every), ask(run))


if __name__ == "__main__":
    unittest.main()
