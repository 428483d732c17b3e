"""The page on diagnosing clusters is true: its commands print what it shows."""

from __future__ import annotations

from kwalk.reports.command_line import main
from tests.examples.reading import parts_of, squeezed
from tests.snapshots.test_inspect import PROBED, document
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "how-to" / "diagnose-a-cluster.md"


def test_following_the_page_prints_what_it_shows(capsys, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    codes, compared = [], 0
    for part in parts_of(PAGE):
        if "--forecast" in part.code:
            continue  # it is in test_diagnosis.py
        codes.append(main(part.code.split()[1:]))
        printed = squeezed(capsys.readouterr().out)
        for line in filter(None, map(squeezed, part.shown)):
            assert line in printed
            compared += 1
    assert (codes, compared) == ([12, 13], 7)


def test_the_page_counts_the_probes() -> None:
    probes = [probe for name in PROBED for probe in document(name)["extra"]["rw"].values()]
    served = sum(probe["produce"]["ok"] and probe["consume"]["n"] > 0 for probe in probes)
    page = PAGE.read_text("utf-8")
    assert f"those {len(probes) - served} of {len(probes)} that did not serve" in " ".join(page.split())
