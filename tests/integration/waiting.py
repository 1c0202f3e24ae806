# SPDX-License-Identifier: MIT
"""How tests let time pass; the only place of Python tests that sleeps (tests/check_waits.py)."""
import time

# Far longer than anything takes on a machine with other work.
PATIENCE = 60


def wait_until(condition, patience=PATIENCE):
    """Looks at `condition()` until it is true; what it was last, which is false when time is up."""
    end = time.monotonic() + patience
    while not (result := condition()) and time.monotonic() < end:
        time.sleep(0.01)
    return result


def let_pass(seconds):
    """For a test that varies the moment at which it does something. Not for waiting: no test may
    need that something is over, or is not, after it."""
    time.sleep(seconds)
