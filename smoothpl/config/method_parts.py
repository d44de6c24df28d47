"""The groups that a method is a bundle of."""

OF_PSEUDO_LABELS = ("align", "policy", "shape", "target", "annealing", "fairness")
FURTHER_PARTS = ("teacher", "refine", "distance", "ramp", "mix", "ascent", "extra_heads", "terms", "balance")
"""Those that only some methods have; earlier versions had none of them."""
