# SPDX-License-Identifier: BSD-3-Clause
"""The rules by which LogGOPSim replays a GOAL schedule (T. Hoefler et al., LogGOPSim, HPDC 2010; as in spcl/LogGOPSim 1.1,
without its noise and network models), for schedules of one processor and one interface for each rank.

    end_ns(goal_text, L, o, g, G, O, S, carried_by="processor")

Times are whole nanoseconds there; here any numbers. carried_by="processor": as LogGOPSim does, the bytes of a message occupy
the receiver's processor, which cannot send meanwhile (half duplex), and a processor whose interface still sends waits for it
before it sends the next. carried_by="interface": processors go on meanwhile, and the receiver's takes o when the last byte is
there.
"""
import heapq
import itertools

SEND, RECEIVE, COMPUTE, MESSAGE, LAST_BYTE, DEPARTURE = range(6)  # operations that become free together are queued in this order


class Operation:
    __slots__ = ("kind", "amount", "peer", "tag", "open", "after", "after_start")

    def __init__(self, kind, amount, peer=None, tag=0):
        self.kind, self.amount, self.peer, self.tag = kind, amount, peer, tag
        self.open = 0  # dependencies not fulfilled yet
        self.after, self.after_start = [], []  # operations that depend on its end, and on its start


def parsed(text):
    """The operations of each rank."""
    ranks = []
    for line in text.splitlines():
        words = line.split()
        if line.startswith("num_ranks"):
            ranks = [{} for _ in range(int(words[1]))]
        elif line.startswith("rank"):
            known = ranks[int(words[1])]
        elif "requires" in words or "irequires" in words:
            earlier = known[words[2]]
            (earlier.after if "requires" in words else earlier.after_start).append(known[words[0]])
            known[words[0]].open += 1
        elif len(words) > 1:
            assert "cpu" not in words, "several processors of a rank are not replayed here"
            label, kind, amount = words[0].rstrip(":"), words[1], int(words[2].rstrip("b"))
            if kind == "calc":
                known[label] = Operation(COMPUTE, amount)
            else:
                tag = int(words[words.index("tag") + 1]) if "tag" in words else 0
                known[label] = Operation(SEND if kind == "send" else RECEIVE, amount, int(words[4]), tag)
    return [list(known.values()) for known in ranks]


class Simulation:
    def __init__(self, text, L, o, g, G, O, S, carried_by):
        self.ranks = parsed(text)
        self.L, self.o, self.g, self.G, self.O, self.S = L, o, g, G, O, S
        self.half_duplex = carried_by == "processor"
        count = len(self.ranks)
        self.processor, self.sending, self.receiving = [0] * count, [0] * count, [0] * count  # free from then on
        self.posted, self.arrived = [[] for _ in range(count)], [[] for _ in range(count)]
        self.queue, self.order, self.current = [], itertools.count(), 0

    def push(self, time, kind, rank, *what, order=None):
        """What is tried again later keeps its order."""
        heapq.heappush(self.queue, (time, next(self.order) if order is None else order, kind, rank, what))

    def start(self, rank, free):
        for operation in sorted(free, key=lambda one: one.kind):
            time = self.processor[rank]
            if operation.kind == SEND and self.half_duplex:
                time = max(time, self.sending[rank])
            self.push(time, operation.kind, rank, operation)

    def done(self, rank, operation):
        self.release(rank, operation.after)

    def release(self, rank, waiting):
        free = []
        for later in waiting:
            later.open -= 1
            if later.open == 0:
                free.append(later)
        self.start(rank, free)

    def run(self):
        for rank, operations in enumerate(self.ranks):
            self.start(rank, [operation for operation in operations if operation.open == 0])
        handlers = (self.send, self.receive, self.compute, self.message, self.last_byte, self.depart)
        while self.queue:
            time, self.current, kind, rank, what = heapq.heappop(self.queue)
            handlers[kind](time, rank, *what)
        assert not any(self.posted) and not any(self.arrived), "messages or receives are left over"
        return max(self.processor)

    def compute(self, time, rank, operation):
        if self.processor[rank] > time:
            return self.push(self.processor[rank], COMPUTE, rank, operation, order=self.current)
        self.processor[rank] = time + operation.amount
        return self.done(rank, operation)

    def send(self, time, rank, operation):
        ready = max(self.processor[rank], self.sending[rank] if self.half_duplex else 0)
        if ready > time:
            return self.push(ready, SEND, rank, operation, order=self.current)
        rest = operation.amount - 1
        self.processor[rank] = time + self.o + rest * self.O
        begin = max(time, self.sending[rank])
        self.sending[rank] = begin + self.g + rest * self.G
        self.push(begin + self.o, DEPARTURE, rank, operation)
        self.release(rank, operation.after_start)
        return self.done(rank, operation) if operation.amount <= self.S else None

    def depart(self, time, rank, operation):
        """Messages are numbered as they depart, because one that finds the receiver busy keeps its number."""
        self.push(time + self.L, MESSAGE, operation.peer, rank, operation)

    def receive(self, time, rank, operation):
        for at, (source, sent) in enumerate(self.arrived[rank]):
            if (source, sent.tag) == (operation.peer, operation.tag):
                del self.arrived[rank][at]
                self.answer(time, source, sent)
                return self.done(rank, operation)
        return self.posted[rank].append(operation)

    def message(self, time, rank, source, sent):
        ready = max(self.processor[rank] if self.half_duplex else 0, self.receiving[rank])
        if ready > time:
            return self.push(ready, MESSAGE, rank, source, sent, order=self.current)
        rest = sent.amount - 1
        last_byte = time + rest * max(self.G, self.O)
        self.receiving[rank] = time + self.g + rest * self.G
        if not self.half_duplex:
            return self.push(last_byte, LAST_BYTE, rank, source, sent)
        self.processor[rank] = last_byte + self.o
        return self.matched(time, rank, source, sent)

    def last_byte(self, time, rank, source, sent):
        if self.processor[rank] > time:
            return self.push(self.processor[rank], LAST_BYTE, rank, source, sent, order=self.current)
        self.processor[rank] = time + self.o
        return self.matched(time, rank, source, sent)

    def matched(self, time, rank, source, sent):
        for at, operation in enumerate(self.posted[rank]):
            if (source, sent.tag) == (operation.peer, operation.tag):
                del self.posted[rank][at]
                self.answer(time, source, sent)
                return self.done(rank, operation)
        return self.arrived[rank].append((source, sent))

    def answer(self, time, source, sent):
        """A long message has been matched: its sender goes on, at once."""
        if sent.amount <= self.S:
            return
        self.processor[source] = max(self.processor[source], time)
        self.sending[source] = max(self.sending[source], time)
        self.done(source, sent)


def end_ns(text, L=500, o=300, g=50, G=1, O=0, S=65536, carried_by="processor"):
    return Simulation(text, L, o, g, G, O, S, carried_by).run()
