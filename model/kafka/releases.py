"""The flags of a part of the model: what releases of Kafka differ in, the fixes, and the grain.

Each version flag declares since when it is on, so that a release has settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kwalk.model.language import Fix, Flag, Trial

Setting = bool | str | None
"""None leaves the flag to the scenario."""


class ReleaseFlags:
    """The flags of one part of Kafka.

    Attributes:
        fixes: the fixes among them, in the order of their declarations.
        defaults: the settings of the flags that scenarios choose, by name.
        repairing_nothing: the flags in which releases differ that are no fix, by name, and why.
    """

    def __init__(self) -> None:
        self._settings: dict[str, tuple[tuple[tuple[int, ...], Setting], ...]] = {}
        self.fixes: list[Fix] = []
        self.defaults: dict[str, bool | str] = {}
        self.repairing_nothing: dict[str, str] = {}

    def version_flag(
        self,
        name: str,
        about: str,
        since: Mapping[str, Setting],
        *,
        before: Setting = False,
        closes: str = "",
        source: str = "",
        trials: tuple[Trial, ...] = (),
        no_fix: str = "",
    ) -> Flag:
        """Declare a flag that releases have in different settings: `before`, then those of the releases in `since`.

        A change that a patch release has is in all later releases of all lines, unless `since` takes it back: one that
        the first release of the next line lacks is stated three times, as in 3.6.2 on, 3.7.0 off, 3.7.1 on.

        Args:
            name: its name.
            about: what changed, with the issue and the release.
            since: its settings by the release from which on each holds, in the order of releases.
            before: its setting in earlier releases.
            closes: if the flag is a fix, a sentence on what it is meant to repair.
            source: where the fix comes from.
            trials: the trials on which an audit tests the fix.
            no_fix: if the flag is no fix, why: what is no answer to a defect.
        """
        if no_fix:
            self.repairing_nothing[name] = no_fix
        settings = {"0": before, **since}
        self._settings[name] = tuple((_order(release), setting) for release, setting in settings.items())
        names = tuple(dict.fromkeys(map(str, settings.values())))
        flag = Flag(name, about, settings=names if isinstance(before, str) else ())
        if None in since.values():
            self.defaults[name] = False
        if closes:
            off, *_, on = flag.settings or (False, True)
            self.fixes.append(Fix(flag, closes, trials, source, off, on))
        return flag

    def candidate(self, name: str, about: str, *, closes: str, source: str, trials: tuple[Trial, ...]) -> Flag:
        """Declare a flag for a fix that no release has; see `version_flag`."""
        return self.version_flag(name, about, {}, closes=closes, source=source, trials=trials)

    def grain_flag(
        self,
        name: str,
        about: str,
        *,
        settings: tuple[str, ...] = (),
        excludes: tuple[Flag, ...] = (),
        default: bool | str = False,
    ) -> Flag:
        """Declare a flag that scenarios choose: off, or of the first of its settings, where they do not state it."""
        self.defaults[name] = settings[0] if settings else default
        return Flag(name, about, settings=settings, excludes=excludes)

    def fix(
        self,
        flag: Flag,
        *,
        name: str,
        off: bool | str,
        on: bool | str,
        closes: str,
        source: str,
        trials: tuple[Trial, ...],
    ) -> None:
        """Declare a fix that is a setting of a flag, under a name of its own; see `Fix`."""
        self.fixes.append(Fix(flag, closes, trials, source, off, on, name))

    def variant_of(self, release: str) -> dict[str, bool | str]:
        """Return the version flags of a release, without those that it leaves to the scenario."""
        order = _order(release)
        settings = {name: self._setting_at(order, name) for name in self._settings}
        return {name: setting for name, setting in settings.items() if setting is not None}

    def _setting_at(self, order: tuple[int, ...], name: str) -> Setting:
        """Return a version flag's setting in a release: that of the last change that is not later."""
        return [setting for since, setting in self._settings[name] if since <= order][-1]


def variant_of(parts: Iterable[ReleaseFlags], name: str) -> dict[str, bool | str]:
    """Return the version flags of a release in several parts; see `ReleaseFlags.variant_of`."""
    return {flag: setting for part in parts for flag, setting in part.variant_of(name).items()}


def _order(release: str) -> tuple[int, ...]:
    """Releases compare by their numbers; 3.0 is 3.0.0.0."""
    numbers = [int(number) for number in release.split(".")]
    return tuple(numbers + [0] * (4 - len(numbers)))
