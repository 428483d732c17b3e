"""The runs of mutants whose outcomes are in `outcomes.json`: one for each page."""

from __future__ import annotations

from attrs import frozen

from kwalk.invariants.mutation import (
    CLIENT_TRIALS,
    CONFIGURATION_MIGRATION_TRIALS,
    CONFIGURATION_TRIALS,
    CONSUMER_TRIALS,
    ENSEMBLE_TRIALS,
    GROUP_TRIALS,
    LOG_FILE_TRIALS,
    LOG_TRIALS,
    MIGRATION_TRIALS,
    MOVE_TRIALS,
    OF_LOG_FILES,
    OF_OPERATORS,
    OF_RARE_STEPS,
    OF_REPLICATION,
    OF_REQUESTS,
    OPERATOR_TRIALS,
    PARTITION_TRIALS,
    PRODUCER_TRIALS,
    RARE_STEP_TRIALS,
    REPLICATION_TRIALS,
    REQUEST_TRIALS,
    TRANSACTION_TRIALS,
    TRIALS,
)
from kwalk.model.language import Model, Scenario, Trial
from kwalk.model.language.registry import find_scenario
from kwalk.model.language.settings import setting_text
from kwalk.reports.handlers.mutate import explanations_in
from tests.structure.rooms import ROOT


@frozen
class MutantRun:
    """A run of `kwalk mutate`: its page, its trials and their name, and its options, such as those of a sample."""

    page: str
    trials: tuple[Trial, ...]
    name: str
    options: str = ""

    @property
    def explained_in(self) -> str:
        """The file with the reasons why mutants survive."""
        return f"invariants/survivors/{self.page}.toml"

    @property
    def explained(self) -> dict[str, str]:
        """The reason why a mutant survives, by its id."""
        return explanations_in(str(ROOT / self.explained_in))

    @property
    def command(self) -> str:
        """The command that tries the mutants."""
        return f"kwalk mutate kwalk.invariants.mutation:{self.name} {self.options}--explained {self.explained_in}"


def baseline_row(trial: Trial) -> str:
    """Return the name of the row of the trial's model: its variant, its scenario, and what differs from them."""
    model = trial_model(trial)
    flags = [f"{name} {setting_text(setting)}" for name, setting in model.flag_overrides.items()]
    other = ", ".join([*(f"{name} {size}" for name, size in trial.bounds.items()), *flags])
    return f"baseline {model.variant} {model.scenario.name}" + (f" ({other})" if other else "")


def trial_model(trial: Trial) -> Model:
    """Return the model of a trial."""
    scenario = trial.scenario if isinstance(trial.scenario, Scenario) else find_scenario(trial.scenario)
    return Model(scenario, trial.variant, trial.bounds, trial.flags)


RUNS = (
    MutantRun("mutants", TRIALS, "TRIALS"),
    MutantRun("mutants-of-clients", CLIENT_TRIALS, "CLIENT_TRIALS"),
    MutantRun("mutants-of-configurations", CONFIGURATION_TRIALS, "CONFIGURATION_TRIALS"),
    MutantRun("mutants-of-consumers", CONSUMER_TRIALS, "CONSUMER_TRIALS"),
    MutantRun("mutants-of-ensembles", ENSEMBLE_TRIALS, "ENSEMBLE_TRIALS"),
    MutantRun("mutants-of-groups", GROUP_TRIALS, "GROUP_TRIALS", "--seconds 20 "),
    MutantRun(
        "mutants-of-log-files",
        LOG_FILE_TRIALS,
        "LOG_FILE_TRIALS",
        "".join(f"--function {name} " for name in OF_LOG_FILES) + "--seconds 20 ",
    ),
    MutantRun("mutants-of-logs", LOG_TRIALS, "LOG_TRIALS", "--seconds 20 "),
    MutantRun(
        "mutants-of-migrations",
        MIGRATION_TRIALS,
        "MIGRATION_TRIALS",
        "--function migration --sample 200 --seed 0 --seconds 20 ",
    ),
    MutantRun(
        "mutants-of-migrating-configurations",
        CONFIGURATION_MIGRATION_TRIALS,
        "CONFIGURATION_MIGRATION_TRIALS",
        "--seconds 20 ",
    ),
    MutantRun("mutants-of-moves", MOVE_TRIALS, "MOVE_TRIALS"),
    MutantRun(
        "mutants-of-operators",
        OPERATOR_TRIALS,
        "OPERATOR_TRIALS",
        "".join(f"--function {name} " for name in OF_OPERATORS) + "--seconds 20 ",
    ),
    MutantRun("mutants-of-partitions", PARTITION_TRIALS, "PARTITION_TRIALS"),
    MutantRun(
        "mutants-of-producers",
        PRODUCER_TRIALS,
        "PRODUCER_TRIALS",
        "--seconds 20 ",
    ),
    MutantRun(
        "mutants-of-rare-steps",
        RARE_STEP_TRIALS,
        "RARE_STEP_TRIALS",
        "".join(f"--function {name} " for name in OF_RARE_STEPS),
    ),
    MutantRun(
        "mutants-of-replication",
        REPLICATION_TRIALS,
        "REPLICATION_TRIALS",
        "".join(f"--function {name} " for name in OF_REPLICATION) + "--seconds 20 ",
    ),
    MutantRun(
        "mutants-of-requests",
        REQUEST_TRIALS,
        "REQUEST_TRIALS",
        "".join(f"--function {name} " for name in OF_REQUESTS) + "--seconds 20 ",
    ),
    MutantRun("mutants-of-transactions", TRANSACTION_TRIALS, "TRANSACTION_TRIALS"),
)
