"""The method: which of its parts go together."""

from collections.abc import Collection
from math import inf

from omegaconf import DictConfig, OmegaConf

from smoothpl.config.method_parts import FURTHER_PARTS, OF_PSEUDO_LABELS
from smoothpl.config.views import FURTHER_VIEWS
from smoothpl.errors import require


def check_labels_only(config: DictConfig, typed: Collection[str]) -> None:
    """`typed`: the keys that somebody has typed."""
    names = (*OF_PSEUDO_LABELS, *FURTHER_PARTS, "threshold", "learned_view", "learned_head", "labeled_weight")
    parts = [name for name in names if config[name] is not None and (name != "threshold" or name in typed)]
    parts += ["views_wanted"] if config.views_wanted else []
    numbers = [name for name in ("unlabeled_weight", "unlabeled_ratio", "factor_weight") if config[name] != 0]
    require(config.forward == "joint", f"forward={config.forward} has no effect: there is no weak view.")
    require(
        OmegaConf.select(config, "callbacks.collapse.by") != "unlabeled",
        f"callbacks.collapse.by=unlabeled has no effect: method={config.method} sees no unlabeled images; use test.",
    )
    require(
        not parts + numbers,
        f"{', '.join(parts + numbers)} would have no effect: method={config.method} learns from labels alone; "
        "leave it out, or use method=fixmatch or method=smooth.",
    )


def check_pseudo_labels(config: DictConfig, typed: Collection[str]) -> None:
    for name in ("align", "policy", "shape", "target", *([] if config.terms else ["learned_view"])):
        require(config[name] is not None, f"{name}=null, but method={config.method} needs a {name}.")
    check_threshold(config, typed)
    warm_up = config.policy.get("warm_up_steps", 0)
    require(
        not isinstance(warm_up, int) or warm_up < config.max_steps,
        f"policy.warm_up_steps={warm_up} is not below max_steps={config.max_steps}: no pseudo-label would ever teach; "
        "use a shorter warm-up, or method=supervised.",
    )
    check_forward(config)
    further = [name for name in config.views_wanted if name in FURTHER_VIEWS]
    require(
        config.learned_view in (None, "strong", "weak", *further),
        f"learned_view={config.learned_view} must be strong (as FixMatch) or weak (as Pseudo-Labeling), or one of "
        f"views_wanted={list(config.views_wanted)}.",
    )
    check_unlabeled_weight(config)
    check_further_parts(config)
    if config.ascent is not None:
        check_ascent(config)
    require(
        config.unlabeled_ratio > 0,
        f"unlabeled_ratio={config.unlabeled_ratio} must be positive; to learn from labels alone use method=supervised.",
    )
    require(config.factor_weight >= 0, f"factor_weight={config.factor_weight} must not be negative.")


def check_unlabeled_weight(config: DictConfig) -> None:
    weight = config.unlabeled_weight
    if config.learned_view is None:
        require(
            weight == 0,
            f"unlabeled_weight={weight} has no effect: method={config.method} has no lesson, only terms of its own; "
            "their weights are terms.<name>.weight.",
        )
        return
    require(
        weight == "auto" or (isinstance(weight, int | float) and 0 < weight < inf),
        f"unlabeled_weight={weight} must be a positive number, or auto to measure it; "
        "to learn from labels alone use method=supervised.",
    )


def check_forward(config: DictConfig) -> None:
    require(
        config.forward in ("joint", "split", "apart"),
        f"forward={config.forward} must be joint, split or apart.",
    )
    if config.forward != "split":
        return
    require(
        config.learned_view == "strong" and config.mix is None,
        f"forward=split leaves the weak view without gradient, but learned_view={config.learned_view} learns from it.",
    )
    require(
        config.factor_weight == 0,
        f"forward=split leaves the weak view without gradient, which factor_weight={config.factor_weight} needs; "
        "use forward=joint, or factor_weight=0.",
    )


def check_threshold(config: DictConfig, typed: Collection[str]) -> None:
    """A benchmark has a threshold for every method, also for one that finds its own: nobody asked for that one."""
    threshold, floor = config.threshold, config.threshold_floor
    if "threshold" in config.policy:
        require(threshold is not None, f"threshold=null, but method={config.method} needs a threshold.")
        require(
            0 < threshold < 1,
            f"threshold={threshold} must lie strictly between 0 and 1: "
            "at 1 no pseudo-label could count, at 0 all would; the paper uses 0.95.",
        )
        require(
            floor <= threshold,
            f"threshold_floor={floor} is above threshold={threshold}, which would have no effect; use a lower floor.",
        )
    else:
        require(
            threshold is None or "threshold" not in typed,
            f"threshold={threshold} has no effect: this policy finds its own; leave it out.",
        )
    require(0 <= floor < 1, f"threshold_floor={floor} must lie in [0, 1); 0 leaves the policy alone.")
    require(
        config.score in ("confidence", "margin", "consensus"),
        f"score={config.score} must be confidence or margin, or consensus with teacher=ensemble.",
    )
    require(config.smooth in ("allow", "strict"), f"smooth={config.smooth} must be allow or strict.")


def check_further_parts(config: DictConfig) -> None:
    """What goes with teachers, mixtures and heads of a method's own."""
    require(
        config.factor_weight == 0 or config.teacher is None,
        f"factor_weight={config.factor_weight} learns by the confidence of the network itself, but teacher is another "
        "one; use factor_weight=0.",
    )
    require(
        config.fairness is None or config.learned_view is not None,
        f"fairness needs a view that learns, and method={config.method} has none; use fairness=none.",
    )
    require(
        config.balance is None or config.learned_view is not None,
        f"balance weighs the lesson, and method={config.method} has none; leave it out, or use another method.",
    )
    require(
        not config.compile or "ledger_alignment" not in (config.refine or {}),
        "compile=true cannot fuse refine=[ledger_alignment], which aligns in some steps only; use compile=false, or "
        "refine=[dual_alignment].",
    )
    require(
        config.learned_head is None or config.learned_head in (config.extra_heads or {}),
        f"learned_head={config.learned_head} must be one of extra_heads={list(config.extra_heads or {})}, or null: the "
        "network's own.",
    )
    require(
        config.learned_head is None or config.backbone is None,
        f"learned_head={config.learned_head} teaches the features below it, and those of a backbone stay as they are: "
        f"method={config.method} would learn from labels alone; use backbone=none, or method=fixmatch.",
    )
    require(
        not config.compile or not (config.extra_heads or config.mix or config.teacher or config.forward == "apart"),
        f"compile=true cannot fuse method={config.method}, which runs the network several times or with heads of its "
        "own; use compile=false.",
    )
    require(
        not (config.finetune and (config.extra_heads or config.mix)),
        f"finetune={config.finetune and config.finetune.mode} starts from a plain head, and method={config.method} has "
        "heads or mixtures of its own; use finetune=none, or another method.",
    )


def check_ascent(config: DictConfig) -> None:
    """Losses are taken elsewhere than weights: what needs both at one place, or a part of a step, cannot be had."""
    way_out = "or ascent=null"
    require(
        not config.compile,
        f"compile=true cannot fuse ascent, which runs the network a second time; use compile=false, {way_out}.",
    )
    require(
        config.forward != "split",
        f"forward=split leaves the weak view out of what labels are learned with, and ascent shows all views to the "
        f"network twice; use forward=joint, {way_out}.",
    )
    require(
        config.accumulate == 1,
        f"accumulate={config.accumulate}: ascent follows the slope of a whole step; use accumulate=1, {way_out}.",
    )
    require(
        config.factor_weight == 0,
        f"factor_weight={config.factor_weight} learns weights, and with ascent they belong to another place than the "
        f"losses; use factor_weight=0, {way_out}.",
    )
    require(
        config.mix is None and not config.terms,
        f"ascent moves the network between labels and losses, for lesson and fairness alone, and "
        f"method={config.method} has mixtures or terms of its own; leave them out, {way_out}.",
    )
