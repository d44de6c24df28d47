"""Adapter: how Hydra hands over the error of a job. It prints the overrides of the job first, which are no news."""

from typing import Any

from hydra.core.utils import JobReturn, JobStatus
from hydra.experimental.callback import Callback
from omegaconf import DictConfig


class QuietReturn(JobReturn):
    """Raises the error of a job without a line of its own."""

    @property
    def return_value(self) -> Any:
        if self.status == JobStatus.FAILED:
            raise self._return_value
        return super().return_value

    @return_value.setter
    def return_value(self, value: Any) -> None:
        self._return_value = value


class QuietErrors(Callback):
    """Hydra calls it after each job, before anybody asks for the result."""

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **_: Any) -> None:
        job_return.__class__ = QuietReturn
