from smoothpl.config.checks import check
from smoothpl.config.recipe import recipe_digest
from smoothpl.config.stages import of_head, of_network
from tests.support.composing import SMALL, composed

KNOBS = (*SMALL, "max_steps=400", "batch_size=8")


def test_the_first_stage_is_the_run_without_finetuning() -> None:
    head, frozen = of_head(composed(*KNOBS, "finetune=norms")), composed(*KNOBS)
    assert head == frozen
    assert recipe_digest(head) == recipe_digest(frozen)


def test_the_second_stage_has_a_schedule_of_its_own_and_all_that_follows_from_it() -> None:
    config = composed(*KNOBS, "finetune=norms", "finetune.max_steps=70", "finetune.batch_size=4", "accumulate=2")
    stage = of_network(config)
    assert (stage.max_steps, stage.trainer.max_steps, stage.batch_size) == (70, 70, 4)
    assert (stage.eval_every, stage.checkpoint_every, stage.trainer.val_check_interval) == (50, 50, 100)
    assert stage.unlabeled_ratio == config.finetune.unlabeled_ratio
    assert (config.max_steps, config.batch_size) == (400, 8)
    check(stage)


def test_a_method_that_learns_from_labels_alone_stays_with_them() -> None:
    assert of_network(composed(*KNOBS, "finetune=norms", "method=supervised")).unlabeled_ratio == 0


def test_a_run_in_one_stage_is_that_stage() -> None:
    config = composed(*KNOBS)
    assert of_network(config) is config


def test_the_head_is_trained_on_one_device() -> None:
    config = composed(*KNOBS, "finetune=norms", "trainer=ddp", "trainer.devices=2")
    head = of_head(config)
    assert "strategy" not in head.trainer
    assert head.trainer.devices == 1
    assert of_network(config).trainer.devices == 2


def test_the_verdict_is_about_the_whole_run() -> None:
    assert of_head(composed(*KNOBS, "finetune=norms", "verdict=tell")).verdict is None
