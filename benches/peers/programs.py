"""Ordinary programs in NumPy as contenders of benches/ranks_programs.rs, which starts this program.

One request a line on standard input, one answer a line on standard output, both JSON objects:

{"do": "start", "program": NAME, "n": N}    initial values
{"do": "step", "steps": COUNT}              seconds of the steps
{"do": "values"}                            "values": weighted sum of the cells, weighted sum of their
                                            magnitudes, and the number that the last step has read

The answer to a program that this file does not have is {"missing": true}.
"""

import json
import sys
import time

import numpy as np

f = np.float32
INNER = slice(1, -1)


def hash_of(array, i):
    mixed = (np.asarray(i, np.uint64) | np.uint64(array << 40)) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(40)).astype(f) / f(16777216)


def blocks(count):
    """Slices of some million indices: temporary arrays of 64 bits stay small."""
    return [slice(start, min(start + (1 << 22), count)) for start in range(0, count, 1 << 22)]


def cells(array, *shape):
    found = np.empty(int(np.prod(shape)), f)
    for block in blocks(found.size):
        found[block] = hash_of(array, np.arange(block.start, block.stop, dtype=np.uint64))
    return found.reshape(shape)


def weighted(values):
    values = np.asarray(values).ravel()
    sums = np.zeros(2)
    for block in blocks(values.size):
        weights, part = 1.0 + np.arange(block.start, block.stop) % 97, values[block].astype(np.float64)
        sums += [weights @ part, weights @ abs(part)]
    return sums.tolist()


class Program:
    read = 0.0

    def values(self):
        return weighted([])


class Axpy(Program):
    def __init__(self, n):
        self.x, self.y = cells(0, n, n), cells(1, n, n)

    def step(self):
        self.y += f(0.1) * self.x

    def values(self):
        return weighted(self.y)


class ConjugateGradients(Program):
    def __init__(self, n):
        self.x, self.r = np.zeros((n, n), f), cells(0, n, n)
        self.p = np.pad(self.r, 1)
        self.squares = np.vdot(self.r, self.r)

    def step(self):
        p = self.p
        p_in = p[1:-1, 1:-1]
        q = 4 * p_in - p[2:, INNER] - p[:-2, INNER] - p[INNER, 2:] - p[INNER, :-2]
        alpha = self.squares / np.vdot(p_in, q)
        self.x += alpha * p_in
        self.r -= alpha * q
        squares = np.vdot(self.r, self.r)
        p[1:-1, 1:-1] = self.r + squares / self.squares * p_in
        self.read = self.squares = squares

    def values(self):
        return weighted(self.x)


class Wave(Program):
    def __init__(self, n):
        self.now, self.old = np.pad(cells(0, n, n), 1), cells(1, n, n)
        to_edge = np.minimum(np.arange(n), n - 1 - np.arange(n))
        near = np.maximum(20 - np.minimum(to_edge[:, None], to_edge), 0).astype(f) / f(20)
        self.damping = 1 - f(0.3) * near * near

    def step(self):
        a, d = self.now, self.damping
        u = a[1:-1, 1:-1].copy()
        around = a[2:, INNER] + a[:-2, INNER] + a[INNER, 2:] + a[INNER, :-2] - 4 * u
        a[1:-1, 1:-1] = d * (2 * u - d * self.old + f(0.25) * around)
        self.old = u

    def values(self):
        return weighted(self.now[1:-1, 1:-1])


class Jacobi(Program):
    def __init__(self, n):
        self.u, self.b = np.pad(cells(1, n, n, n), 1), cells(0, n, n, n)

    def step(self):
        a, i = self.u, INNER
        centre = a[i, i, i]
        around = a[2:, i, i] + a[:-2, i, i] + a[i, 2:, i] + a[i, :-2, i] + a[i, i, 2:] + a[i, i, :-2]
        residual = self.b + around - 6 * centre
        a[i, i, i] += residual / 6
        self.read = np.linalg.norm(residual)

    def values(self):
        return weighted(self.u[INNER, INNER, INNER])


class Blur(Program):
    def __init__(self, n):
        self.n, self.a = n, np.pad(cells(0, n, n), 5)
        half = [0.00878739, 0.02706706, 0.06493049, 0.12130613, 0.17649938]
        self.weights = [f(weight) for weight in half + [0.2] + half[::-1]]

    def step(self):
        n, a = self.n, self.a
        b = sum(weight * a[:, k : k + n] for k, weight in enumerate(self.weights))
        a[5:-5, 5:-5] = sum(weight * b[k : k + n] for k, weight in enumerate(self.weights))

    def values(self):
        return weighted(self.a[5:-5, 5:-5])


class Lattice(Program):
    X = [0, 1, 0, -1, 0, 1, -1, -1, 1]
    Y = [0, 0, 1, 0, -1, 1, 1, -1, -1]
    WEIGHTS = [f(w) for w in [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4]

    def __init__(self, n):
        weights = np.array(self.WEIGHTS, f)[:, None, None]
        self.n = n
        self.cells = np.broadcast_to(weights, (9, n + 2, n + 2)).copy()
        self.cells[:, 1:-1, 1:-1] = weights * (1 + f(0.1) * cells(0, 9, n, n))

    def step(self):
        n, xs, ys = self.n, self.X, self.Y
        arrived = [self.cells[q, 1 - ys[q] : 1 - ys[q] + n, 1 - xs[q] : 1 - xs[q] + n].copy() for q in range(9)]
        density = sum(arrived)
        ux = sum(xs[q] * arrived[q] for q in range(9)) / density
        uy = sum(ys[q] * arrived[q] for q in range(9)) / density
        square = ux * ux + uy * uy
        for q in range(9):
            along = xs[q] * ux + ys[q] * uy
            rest = self.WEIGHTS[q] * density * (1 + 3 * along + f(4.5) * along * along - f(1.5) * square)
            self.cells[q, 1:-1, 1:-1] = arrived[q] + f(1.2) * (rest - arrived[q])

    def values(self):
        return weighted(self.cells[:, 1:-1, 1:-1])


class Life(Program):
    def __init__(self, n):
        self.a = np.pad((cells(0, n, n) < f(0.3)).astype(np.uint8), 1)

    def step(self):
        a, i = self.a, INNER
        around = a[:-2, :-2] + a[:-2, i] + a[:-2, 2:] + a[i, :-2] + a[i, 2:] + a[2:, :-2] + a[2:, i] + a[2:, 2:]
        a[i, i] = (around == 3) | ((around == 2) & (a[i, i] == 1))

    def values(self):
        return weighted(self.a[INNER, INNER])


class Matrix(Program):
    def __init__(self, n):
        self.matrix, self.x, self.scale = cells(0, n, n), cells(1, n), f(2 / n)

    def step(self):
        self.x = self.matrix @ self.x * self.scale

    def values(self):
        return weighted(self.x)


class Epidemic(Program):
    def __init__(self, n):
        i, k = np.arange(n)[:, None], np.arange(8)
        near, far = (i + k - 3 + n) % n, (hash_of(0, 8 * i + k) * f(n)).astype(np.int64)
        self.neighbours = np.where(k < 6, near, far).astype(np.int64)
        self.states = (cells(1, n) < f(0.01)).astype(np.uint32)
        self.mixed = np.arange(n, dtype=np.uint32) * np.uint32(2654435761)
        self.steps = 0

    def step(self):
        self.steps += 1
        states = self.states
        around = (states[self.neighbours] == 1).sum(1, dtype=np.uint32)
        roll = (self.mixed + np.uint32(self.steps * 40503 & 0xFFFFFFFF)) >> np.uint32(24)
        caught = (states == 0) & (around * np.uint32(32) > roll)
        states[states == 1] = 2
        states[caught] = 1
        self.read = np.bincount(states, minlength=3)[1]

    def values(self):
        return weighted(self.states)


class Particles(Program):
    def __init__(self, n):
        self.side = max(int(n**0.5) // 4, 16)
        at = [cells(k, n) * f(self.side) for k in (0, 1)]
        self.particles = np.stack(at + [cells(k, n) - f(0.5) for k in (2, 3)], 1)

    def step(self):
        p, side = self.particles, self.side
        p[:, :2] = (p[:, :2] + f(0.5) * p[:, 2:]) % f(side)
        at = np.minimum(p[:, :2].astype(np.int64), side - 1)
        self.density = np.bincount(at[:, 0] + side * at[:, 1], minlength=side * side)

    def values(self):
        return weighted(self.density)


class Masked(Program):
    def __init__(self, n):
        self.v, self.mask = cells(0, n, n), (np.arange(n * n) // 7 % 3 == 0).reshape(n, n)

    def step(self):
        self.s = np.where(self.mask, self.v, f(0))
        self.read = self.s.sum(dtype=np.float64) + self.mask.sum() + self.s.argmax()

    def values(self):
        return weighted(self.s)


class Reduction(Program):
    def __init__(self, n, reduce):
        self.v, self.reduce = cells(5, n), reduce

    def step(self):
        self.read = self.reduce(self.v)


class Histogram(Program):
    def __init__(self, n):
        self.v = cells(5, n)

    def step(self):
        self.counts = np.histogram(self.v, 256, (0, 1))[0]

    def values(self):
        return weighted(self.counts)


PROGRAMS = {
    "axpy": Axpy,
    "cg": ConjugateGradients,
    "wave": Wave,
    "jacobi": Jacobi,
    "blur": Blur,
    "lattice": Lattice,
    "life": Life,
    "matrix": Matrix,
    "epidemic": Epidemic,
    "particles": Particles,
    "masked": Masked,
    "sum": lambda n: Reduction(n, lambda v: v.sum(dtype=np.float64)),
    "norm": lambda n: Reduction(n, np.linalg.norm),
    "argmin": lambda n: Reduction(n, np.argmin),
    "extremes": lambda n: Reduction(n, lambda v: float(v.min()) + float(v.max())),
    "histogram": Histogram,
}


def answer(request, state):
    if request["do"] == "start":
        state.clear()
        make = PROGRAMS.get(request["program"])
        if make is not None:
            state["program"] = make(request["n"])
        return {"missing": make is None, "about": f"NumPy {np.__version__}"}
    program = state["program"]
    if request["do"] == "step":
        start = time.perf_counter()
        for _ in range(request["steps"]):
            program.step()
        return {"secs": time.perf_counter() - start}
    return {"values": program.values() + [float(program.read)]}


def main():
    state = {}
    for line in sys.stdin:
        try:
            found = answer(json.loads(line), state)
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(found), flush=True)


main()
