"""Quantiles of the beta distribution."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

_HALVINGS = 60


def beta_quantile(shares: F64, a: float, b: float) -> F64:
    """Give x in 0..1 below which these shares of a beta distribution lie.

    By halving the interval: the distribution rises from 0 to 1, whatever its density does.
    """
    low, high = np.zeros_like(shares), np.ones_like(shares)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = np.array([beta_share(float(x), a, b) for x in middle]) < shares
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(shares <= 0, 0.0, np.where(shares >= 1, 1.0, (low + high) / 2))


def beta_share(x: float, a: float, b: float) -> float:
    """Give the share of a beta distribution below x: the regularised incomplete beta function.

    By its continued fraction (Abramowitz and Stegun 26.5.8), evaluated with Lentz's method.

    >>> round(beta_share(0.5, 0.6, 0.6), 12), round(beta_share(0.25, 1, 1), 12)
    (0.5, 0.25)
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # where the fraction converges slowly, the other tail is taken
        return 1 - beta_share(1 - x, b, a)
    log_front = a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b)
    front = math.exp(log_front - math.lgamma(a) - math.lgamma(b)) / a
    return front / _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    value, upper, lower = 1.0, 1.0, 0.0
    for step in range(1, 400):
        half, odd = divmod(step, 2)
        if odd:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            term = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        lower = 1 / (1 + term * lower)
        upper = 1 + term / upper
        value *= upper * lower
        if abs(upper * lower - 1) < 1e-15:
            break
    return value
