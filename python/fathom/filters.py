# SPDX-License-Identifier: BSD-3-Clause
"""Which events are meant: Pipit's Filter(field, operator, value), joined with & and |, negated with ~."""
from __future__ import annotations

import operator
from typing import Any

import numpy
import pandas

from fathom import events as columns
from fathom import shown

_OPERATORS = {"<": operator.lt, "<=": operator.le, "==": operator.eq, ">=": operator.ge, ">": operator.gt,
              "!=": operator.ne}
_UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def nanoseconds(time):
    """A number is nanoseconds; text has a unit: "1.5 s", "20ms"."""
    if not isinstance(time, str):
        return int(time)
    number = time.rstrip("mnus ")
    unit = time[len(number):].strip()
    try:
        return round(float(number) * _UNITS[unit])
    except (KeyError, ValueError):
        raise ValueError(f"'{time}' is not a time; write nanoseconds, or text such as '1.5 s' or '20 ms'") from None


class Filter:
    """Rows of an events DataFrame for which `field operator value` holds.

    Operators: < <= == >= > != in not-in between. With `expr` instead, what DataFrame.eval() takes. A Leave
    goes with its Enter; a condition on the time keeps both ends of every call that overlaps it.
    """

    def __init__(self, field: str | None = None, operator: str | None = None, value: Any = None, expr: str | None = None):
        if (field is None) == (expr is None):
            raise ValueError("a filter has a field, an operator and a value, or an expr")
        if expr is None and operator not in (*_OPERATORS, "in", "not-in", "between"):
            raise ValueError(shown.no_such("operator", operator, (*_OPERATORS, "in", "not-in", "between")))
        if expr is None and field not in columns.NAMES:
            raise ValueError(shown.no_such("field", field, columns.NAMES))
        self.field, self.operator, self.value, self.expr = field, operator, value, expr
        self._children, self._join = (), None

    @classmethod
    def _joined(cls, join, *children):
        made = cls.__new__(cls)
        made.field = made.operator = made.value = made.expr = None
        made._children, made._join = children, join
        return made

    def __and__(self, other):
        return Filter._joined("and", self, other)

    def __or__(self, other):
        return Filter._joined("or", self, other)

    def __invert__(self):
        return Filter._joined("not", self)

    def __repr__(self):
        if self._join == "not":
            return f"~({self._children[0]!r})"
        if self._join:
            return f" {'&' if self._join == 'and' else '|'} ".join(f"({child!r})" for child in self._children)
        return f"Filter(expr={self.expr!r})" if self.expr is not None else f"Filter({self.field!r}, {self.operator!r}, {self.value!r})"

    def mask(self, events: pandas.DataFrame) -> numpy.ndarray:
        """A boolean array, one for each row."""
        if self._join == "and":
            return self._children[0].mask(events) & self._children[1].mask(events)
        if self._join == "or":
            return self._children[0].mask(events) | self._children[1].mask(events)
        if self._join == "not":
            return ~self._children[0].mask(events)
        if self.expr is not None:
            return self._with_partners(self._evaluated(events), events)
        if self.field == "Timestamp (ns)":
            return self._overlapping(events)
        return self._with_partners(self._compared(events[self.field], self.value), events)

    def _evaluated(self, events):
        try:
            return numpy.asarray(events.eval(self.expr), bool)
        except pandas.errors.UndefinedVariableError as error:
            raise ValueError(f"the filter's expr '{self.expr}': {error}; there are {', '.join(columns.NAMES)}") from None

    def _compared(self, column, value):
        if self.operator == "in":
            return column.isin(list(value)).to_numpy()
        if self.operator == "not-in":
            return ~column.isin(list(value)).to_numpy()
        if self.operator == "between":
            return ((column >= value[0]) & (column <= value[1])).to_numpy()
        return numpy.asarray(_OPERATORS[self.operator](column, value), bool)

    def _overlapping(self, events):
        times = [nanoseconds(t) for t in self.value] if self.operator in ("between", "in", "not-in") else nanoseconds(self.value)
        kept = self._compared(events["Timestamp (ns)"], times)
        begin, end = self._span(times)
        other = events["_matching_timestamp"].to_numpy()
        here = events["Timestamp (ns)"].to_numpy()
        first, last = numpy.minimum(here, other), numpy.maximum(here, other)
        return kept | ((other >= 0) & (first <= end) & (last >= begin))

    def _span(self, times):
        if self.operator == "between":
            return times[0], times[1]
        if self.operator in ("<", "<="):
            return -numpy.inf, times
        return (times, numpy.inf) if self.operator in (">", ">=") else (numpy.inf, -numpy.inf)

    @staticmethod
    def _with_partners(mask, events):
        """A Leave stays if and only if its Enter does."""
        matching = events["_matching_event"].to_numpy()
        leaves = numpy.flatnonzero((events["Event Type"].cat.codes.to_numpy() == 1) & (matching >= 0))
        if len(leaves) == 0:
            return mask
        mask = mask.copy()
        where = numpy.searchsorted(events.index.to_numpy(), matching[leaves])
        there = where < len(events)
        there[there] = events.index.to_numpy()[where[there]] == matching[leaves][there]
        mask[leaves[there]] = mask[where[there]]
        return mask
