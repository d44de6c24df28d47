"""The stages of a run: a head on frozen features, and after it, if asked for, the backbone itself (finetune)."""

from copy import deepcopy

from omegaconf import DictConfig, open_dict


def of_head(config: DictConfig) -> DictConfig:
    """The first stage, an ordinary run on frozen features. On one device: it takes seconds."""
    head = deepcopy(config)
    head.finetune, head.verdict, head.labels_until_pause = None, None, []  # the whole run is what is judged
    with open_dict(head):
        if head.trainer.pop("strategy", None) is not None:
            head.trainer.devices = 1
    return head


def of_network(config: DictConfig) -> DictConfig:
    """The stage that ends a run: the second one has a schedule of its own."""
    if config.finetune is None:
        return config
    network = deepcopy(config)
    for name in ("max_steps", "eval_every", "batch_size"):
        network[name] = config.finetune[name]
    if config.unlabeled_ratio:
        network.unlabeled_ratio = config.finetune.unlabeled_ratio
    return network
