"""Speed and memory, as ratios within one run: python -m benchmarks.views, and so on."""
