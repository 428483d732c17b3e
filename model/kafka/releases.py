"""The flags in which releases of Kafka differ: each declares since when it is on, so that a release has settings."""

from __future__ import annotations

from collections.abc import Mapping

from kwalk.model.language import Flag

Setting = bool | str | None
"""None leaves the flag to the scenario."""


class ReleaseFlags:
    """The version flags of one part of Kafka, and their settings in each release."""

    def __init__(self) -> None:
        self._settings: dict[str, tuple[tuple[str, Setting], ...]] = {}

    def version_flag(self, name: str, about: str, since: Mapping[str, Setting], *, before: Setting = False) -> Flag:
        """Declare a flag that releases have in different settings: `before`, then those of the releases in `since`.

        The settings are in the order of releases.
        """
        self._settings[name] = (("0", before), *since.items())
        settings = tuple(dict.fromkeys(str(setting) for _, setting in self._settings[name]))
        return Flag(name, about, settings=settings if isinstance(before, str) else ())

    def candidate(self, name: str, about: str) -> Flag:
        """Declare a flag for a fix that no release has."""
        return self.version_flag(name, about, {})

    def setting_in(self, release: str, name: str) -> Setting:
        """Return a version flag's setting in a release: that of the last change that is not later."""
        return [setting for since, setting in self._settings[name] if _order(since) <= _order(release)][-1]

    def variant_of(self, release: str) -> dict[str, bool | str]:
        """Return the version flags of a release, without those that it leaves to the scenario."""
        settings = {name: self.setting_in(release, name) for name in self._settings}
        return {name: setting for name, setting in settings.items() if setting is not None}


def _order(release: str) -> tuple[int, ...]:
    """Releases compare by their numbers; 3.0 is 3.0.0.0."""
    numbers = [int(number) for number in release.split(".")]
    return tuple(numbers + [0] * (4 - len(numbers)))
