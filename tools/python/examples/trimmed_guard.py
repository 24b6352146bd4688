"""A guard in Python: take what points along the trusted reference, and shorten it to the usual length.

    aflguard lab run --dataset synthetic --guard tools/python/examples/trimmed_guard.py:TrimmedGuard --attack gd
"""

import numpy as np


class TrimmedGuard:
    def __init__(self):
        self.lengths = {}  # of every client's latest update

    def judge(self, update):
        length = np.linalg.norm(update.vector)
        self.lengths[update.client] = length
        if update.vector @ update.reference <= 0:
            return False  # against the trusted samples
        usual = np.median(list(self.lengths.values()))
        return min(1.0, usual / length)  # how much of the update the model takes
