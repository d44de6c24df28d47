"""Speed and memory, as ratios within one run: python -m benchmarks.views, and so on."""

import smoothpl as smoothpl  # before torch, as in a run: threads wait as they do there
