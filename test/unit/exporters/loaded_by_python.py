# SPDX-License-Identifier: BSD-3-Clause
"""Loads the golden files with the libraries they are meant for: scipy, networkx, jsonschema, prometheus_client.

Run with Debian's python3, which has them; without one of them that part is skipped and said.
"""
import importlib
import json
import pathlib
import sys

root = pathlib.Path(__file__).resolve().parents[3]
golden = root / "test" / "golden"
profile = json.loads((golden / "profile-1.json").read_text())
skipped = []


def library(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        skipped.append(name)
        return None


def expected(column):
    sums = {}
    for block in profile["traffic"]:
        for source, destination, value in zip(block["source"], block["destination"], block[column]):
            sums[source, destination] = sums.get((source, destination), 0) + value
    return sums


if sparse := library("scipy.sparse"):
    import numpy

    matrix = sparse.load_npz(golden / "export.npz")
    assert matrix.format == "csr" and matrix.shape == (5, 5) and matrix.dtype == numpy.uint64
    matrix.check_format()
    stored = numpy.load(golden / "export.npz")
    for column in ("bytes", "messages"):
        csr = sparse.csr_matrix((stored[column], stored["indices"], stored["indptr"]), shape=(5, 5))
        entries = csr.tocoo()
        found = {(int(i), int(j)): int(v) for i, j, v in zip(entries.row, entries.col, entries.data)}
        assert found == expected(column), (column, found)
    assert (stored["data"] == stored["bytes"]).all()

if networkx := library("networkx"):
    graph = networkx.read_graphml(golden / "export.graphml", node_type=int)
    assert graph.is_directed() and sorted(graph.nodes) == [0, 1, 2, 3, 4]
    assert graph.nodes[2]["host"] == "n2"
    for column in ("bytes", "messages"):
        assert networkx.get_edge_attributes(graph, column) == expected(column), column

if jsonschema := library("jsonschema"):
    schema = json.loads((root / "docs" / "profile.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    validator.validate(profile)
    for name in ("profile-1-times.json", "profile-1-waits.json"):
        validator.validate(json.loads((golden / name).read_text()))
    for damage in ({"schema": "fathom-profile/2"}, {"world_size": -1}, {"traffic": [{"class": "c"}]},
                   {"waits": [{"kind": "late-sender"}]}, {"path": [{"window": ""}]}):
        assert not validator.is_valid({**profile, **damage}), damage

if parser := library("prometheus_client.openmetrics.parser"):
    def samples(text):
        return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value
                for family in parser.text_string_to_metric_families(text) for sample in family.samples}

    text = (golden / "export.prom").read_text()
    found = samples(text)
    for end, ranks in (("sent", "source"), ("received", "destination")):
        for column in ("bytes", "messages"):
            sums = {}
            for block in profile["traffic"]:
                for rank, value, messages in zip(block[ranks], block[column], block["messages"]):
                    key = str(rank), block["class"], str(block["hidden"]).lower()
                    sums[key] = sums.get(key, 0) + value
            read = {}
            for (name, labels), value in found.items():
                if name == f"fathom_{end}_{column}_total":
                    labels = dict(labels)
                    assert labels["host"] == next(r["host"] for r in profile["ranks"] if str(r["rank"]) == labels["rank"])
                    read[labels["rank"], labels["class"], labels["hidden"]] = value
            assert read == sums, (end, column, read, sums)
    assert found["fathom_coverage", (("verdict", "differs"),)] == 1 and found["fathom_coverage", (("verdict", "exact"),)] == 0
    assert sum(value for (name, labels), value in found.items() if name == "fathom_message_size_bytes_bucket"
               and ("le", "+Inf") in labels) == sum(sum(s["messages"]) + sum(s.get("bin_messages", [])) for s in profile["message_sizes"])
    for damage in (text.replace("# EOF\n", ""), text.replace('rank="', 'rank='), text.replace(" counter\n", " untyped\n")):
        try:
            samples(damage)
        except ValueError:
            continue
        raise AssertionError("the parser takes anything")

if skipped:
    print("skipped, not installed:", ", ".join(skipped))
    sys.exit(77 if len(skipped) == 4 else 0)
