# SPDX-License-Identifier: BSD-3-Clause
"""How objects of this package show themselves in a notebook, and names that are looked up in a list."""
import html


def no_such(kind, name, there):
    """The sentence that says that `name` is not among the names that are there."""
    names = list(map(str, there))
    is_there = "is only" if len(names) == 1 else "are"
    return f"there is no {kind} '{name}'; there {is_there} {', '.join(names) or 'none'}"


class Names(dict):
    """A dictionary that answers a wrong name with the right ones."""

    def __init__(self, kind, entries):
        super().__init__(entries)
        self._kind = kind

    def __missing__(self, name):
        raise KeyError(no_such(self._kind, name, self))


def table(rows):
    """An HTML table of names and values."""
    cells = "".join(f"<tr><th style='text-align:left'>{html.escape(str(name))}</th>"
                    f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>" for name, value in rows)
    return f"<table>{cells}</table>"


def headed(title, rows):
    """An HTML table beneath a title."""
    return f"<div><b>{html.escape(title)}</b>{table(rows)}</div>"
