import pytest
from hydra.core.utils import JobReturn, JobStatus
from omegaconf import OmegaConf

from smoothpl.errors import ConfigError
from smoothpl.run.hydra_errors import QuietErrors


def ended(status: JobStatus, value: object) -> JobReturn:
    job = JobReturn(overrides=["threshold=2"], status=status)
    job.return_value = value
    QuietErrors().on_job_end(OmegaConf.create(), job)
    return job


def test_the_error_of_a_job_is_raised_and_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="threshold"):
        assert ended(JobStatus.FAILED, ConfigError("threshold")).return_value
    assert capsys.readouterr() == ("", "")


def test_the_result_of_a_job_that_went_well_is_handed_over() -> None:
    assert ended(JobStatus.COMPLETED, 7.5).return_value == 7.5
    other = ended(JobStatus.COMPLETED, 7.5)
    other.return_value = 8.5
    assert other.return_value == 8.5
