"""The examples under the help of each command, and what the help of all of them ends with."""
from __future__ import annotations

EXAMPLES = {
    "scenarios": """
  kwalk scenarios                      what can be explored
  kwalk scenarios --variants           … in which variants, with which flags and bounds
  kwalk scenarios lost-update --variants""",
    "invariants": """
  kwalk invariants                     of every scenario
  kwalk invariants topic-id-core       of one, with the symptom a user would see""",
    "exhaust": """
  kwalk exhaust two-phase-commit
  kwalk exhaust topic-id-core --bound restarts=1 --invariant disk_matches_znode
  kwalk exhaust lost-update --flag lock=on
  kwalk exhaust topic-id-core --reduce          fewer states, the same verdict
  kwalk exhaust my_package.my_model:STORY --keep-going --json
  kwalk exhaust topic-id-core --checkpoint saved           can be killed at any time …
  kwalk exhaust topic-id-core --checkpoint saved --resume  … and goes on from there
  kwalk exhaust topic-id-core --spark --keep-going         with states on disk, on any number of machines""",
    "walk": """
  kwalk walk topic-id-core --seconds 10 --seed 7
  kwalk walk topic-id-core --walks 1000 --depth 200 --keep-going
  kwalk walk topic-id-core --keep-going --minimize 500     1,000 findings, read as a few shapes
  kwalk walk old-client-expansion --without fault --without operator   nobody fails, nobody repairs
  kwalk walk topic-id-core --uniform                       all steps equally likely""",
    "prove": """
  kwalk prove topic-id-core --depth 6 --invariant disk_matches_znode
  kwalk prove two-phase-commit --seconds 60
  kwalk prove two-phase-commit --invariant managers_agree --json
  kwalk prove ticket-lock --induction 5 --no-support""",
    "check": """
  kwalk check two-phase-commit         three engines, one verdict; 60 seconds if not told
  kwalk check topic-id-core --invariant disk_matches_znode --seconds 30""",
    "hunt": """
  kwalk hunt old-client-expansion
  kwalk hunt old-client-expansion --variant 3.9.0 --seconds 120 --out hunts
  kwalk hunt --from cluster.json       begin where a real cluster stands""",
    "nightly": """
  kwalk nightly nightly.toml                       docs/reference/nightly.md says what is in it
  kwalk nightly nightly.toml --out runs/monday --workers 2 --minutes 60
  kwalk nightly --resume runs/monday               … goes on, whatever ended it""",
    "audit": """
  kwalk audit                          every announced fix
  kwalk audit my_package.my_fixes:FIXES --workers 2 --html
  kwalk audit fencing --seconds 300 --markdown docs/fixes.md""",
    "mutate": """
  kwalk mutate two-phase-commit            do its invariants notice small mistakes?
  kwalk mutate two-phase-commit --operator dropped-guard --list
  kwalk mutate my_package.my_model:STORY --explained survivors.toml --workers 2""",
    "explain": """
  kwalk explain first.json second.json third.json     what happened between them?
  kwalk explain captures/*.json --variant 3.9.0       … and could it have happened in another version?""",
    "replay": """
  kwalk replay kwalk-out/found.itf.json
  kwalk replay found.itf.json --variant 3.9.0     does another version still allow it?
  kwalk replay found.itf.json --flag lock=on      does this fix?""",
    "shrink": """
  kwalk shrink kwalk-out/found.itf.json                as short as it gets, in a minute at most
  kwalk shrink kwalk-out/found.itf.json --seconds 600  … or until it is known that none is shorter""",
    "show": """
  kwalk show found.itf.json --unfold
  kwalk show found.itf.json --format markdown > found.md""",
    "graph": """
  kwalk graph die-hard                     a DOT file of all states, and figures
  kwalk graph old-client-expansion --most 100 --label state
  kwalk graph lost-update --flag lock=on --json""",
    "compare": """
  kwalk compare runs/monday runs/tuesday              12 if something new is broken, 3 if less is known, else 0
  kwalk compare runs/monday runs/tuesday --html new.html""",
    "page": """
  kwalk page runs/tuesday --before runs/monday""",
    "illustrate": """
  kwalk illustrate docs/story.md           draw its counterexamples anew
  kwalk illustrate docs/*.md --check       say whether they are as drawn""",
}
ENDING = """exit codes: 0 holds, 2 wrong use, 3 undecided, 11 deadlock, 12 violated, 13 bad stable state, 70 a bug.
A scenario is a name that `kwalk scenarios` lists, or package.module:NAME of your own model."""
