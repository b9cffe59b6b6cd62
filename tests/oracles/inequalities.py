"""Relative entropy on a dense linear system with inequalities: a primal-dual path, then the active set.

Minimise Σ u·log(u/f) subject to A u = b and G u ≤ h. The path follows s·λ = τ for the slacks s = h − G u and
their multipliers λ while τ falls to almost nothing; the rows that end at their bound are then made equalities
and Newton finishes to rounding. What is returned satisfies the conditions of Karush, Kuhn and Tucker with
the right signs, or an assertion fails.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MET = 1e-9


@dataclass(frozen=True)
class Optimum:
    """The point, and the multipliers: log(u/f) + 1 + Aᵀν + Gᵀλ = 0, λ ≥ 0."""

    u: np.ndarray
    nu: np.ndarray
    slope: np.ndarray  # λ


@dataclass(frozen=True)
class Program:
    """What is to be minimised; ``f`` is positive everywhere."""

    f: np.ndarray
    A: np.ndarray
    b: np.ndarray
    G: np.ndarray
    h: np.ndarray

    def off(self, found: Optimum) -> float:
        """The largest violation of any condition."""
        stationary = np.log(found.u / self.f) + 1 + self.A.T @ found.nu + self.G.T @ found.slope
        slack = self.h - self.G @ found.u
        product = np.minimum(np.abs(slack), np.abs(found.slope))
        every = [stationary, self.A @ found.u - self.b, np.minimum(slack, 0), np.minimum(found.slope, 0), product]
        return max(float(np.abs(part).max(initial=0.0)) for part in every)


def least_divergence(program: Program, start: np.ndarray) -> Optimum:
    """The minimum to about 1e-12, from a point that is positive everywhere and meets every inequality strictly."""
    central = _path(program, start)
    slack = program.h - program.G @ central.u
    active = slack < central.slope
    while True:
        found = _finished(program, central, active)
        wrong = np.concatenate([np.flatnonzero(active & (found.slope < -MET))[:1]])
        if not wrong.size:
            break
        active[wrong] = False  # a bound that the point touches by chance
    assert program.off(found) < MET, f"the oracle did not converge: off by {program.off(found):.1e}"
    return found


def _path(program: Program, start: np.ndarray) -> Optimum:
    u, nu = start.copy(), np.zeros(program.b.size)
    slack = program.h - program.G @ u
    assert (u > 0).all(), "the start is not positive"
    assert (slack > 0).all(), "the start is not inside"
    tau = 1.0
    slope = tau / slack
    while tau > 1e-20:
        for _ in range(30):
            moved = _step(program, (u, nu, slope, slack), tau)
            if moved is None:
                break
            u, nu, slope, slack = moved
            if _size(_remainder(program, (u, nu, slope, slack), tau)) < min(0.1 * tau, 1e-3):
                break
        tau *= 0.1
    return Optimum(u, nu, slope)


Iterate = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _remainder(program: Program, at: Iterate, tau: float) -> tuple[np.ndarray, ...]:
    u, nu, slope, slack = at
    return (
        np.log(u / program.f) + 1 + program.A.T @ nu + program.G.T @ slope,
        program.A @ u - program.b,
        program.G @ u + slack - program.h,
        slope * slack - tau,
    )


def _size(parts: tuple[np.ndarray, ...]) -> float:
    return float(np.sqrt(sum(float(part @ part) for part in parts)))


def _step(program: Program, at: Iterate, tau: float) -> Iterate | None:
    """One damped Newton step; None if none is left to take."""
    u, nu, slope, slack = at
    dual, equal, inside, product = _remainder(program, at, tau)
    C = np.vstack([program.A, program.G])
    first = program.b.size
    M = (C * u) @ C.T
    M[first:, first:] += np.diag(slack / slope)
    right = np.concatenate([equal, inside - product / slope]) - C @ (u * dual)
    move = _solved(M, right)
    du = -u * (dual + C.T @ move)
    dnu, dslope = move[:first], move[first:]
    dslack = -(product + slack * dslope) / slope
    whole, moving = np.concatenate([u, slope, slack]), np.concatenate([du, dslope, dslack])
    falls = moving < 0
    t = min(1.0, 0.99 * float((-whole[falls] / moving[falls]).min())) if falls.any() else 1.0
    before = _size((dual, equal, inside, product))
    while t > 1e-10:
        after = (u + t * du, nu + t * dnu, slope + t * dslope, slack + t * dslack)
        if _size(_remainder(program, after, tau)) <= (1 - 0.01 * t) * before:
            return after
        t *= 0.5
    return None


def _solved(M: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Rows may repeat each other: scaled to a unit diagonal, then by least squares."""
    scale = 1 / np.sqrt(np.maximum(np.diag(M), 1e-300))
    return scale * np.linalg.lstsq(M * scale * scale[:, None], scale * right, rcond=1e-13)[0]


def _finished(program: Program, central: Optimum, active: np.ndarray) -> Optimum:
    """Newton with the active bounds as equalities."""
    C = np.vstack([program.A, program.G[active]])
    right = np.concatenate([program.b, program.h[active]])
    u, move = central.u.copy(), np.concatenate([central.nu, central.slope[active]])
    for _ in range(60):
        dual, equal = np.log(u / program.f) + 1 + C.T @ move, C @ u - right
        if max(np.abs(dual).max(initial=0.0), np.abs(equal).max(initial=0.0)) < 1e-14:
            break
        change = _solved((C * u) @ C.T, equal - C @ (u * dual))
        du = -u * (dual + C.T @ change)
        falls = du < 0
        t = min(1.0, 0.99 * float((-u[falls] / du[falls]).min())) if falls.any() else 1.0
        u, move = u + t * du, move + t * change
    slope = np.zeros(program.h.size)
    slope[active] = move[program.b.size :]
    return Optimum(u, move[: program.b.size], slope)
