from unittest.mock import Mock

from benchmarks import step
from smoothpl.module import SemiSupervisedModule


def test_steps_take_turns_with_something_else_and_the_fastest_turn_of_each_counts() -> None:
    now = 100.0
    costs = iter([4.0, 3.0, 5.0])

    def pass_time(seconds: float) -> None:
        nonlocal now
        now += seconds

    turns = step.TakingTurns(lambda *_: lambda: pass_time(7.0), lambda: now, settle=lambda: pass_time(50.0))
    trainer, module = Mock(should_stop=False), Mock(spec=SemiSupervisedModule)
    for batch_idx in range(4):
        turns.on_train_batch_end(trainer, module, None, None, batch_idx)
        pass_time(next(costs, 0))
    assert (turns.whole, turns.alone) == (3.0, 7.0)
    assert trainer.should_stop
