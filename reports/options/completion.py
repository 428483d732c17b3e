"""Completion of command lines: a script for bash, and for zsh with `bashcompinit`."""

from __future__ import annotations

from collections.abc import Mapping

from kwalk.reports.options.declaration import Command

SCRIPT = """_kwalk() {{
  local words="{commands}"
  if test "$COMP_CWORD" -gt 1; then
    case "${{COMP_WORDS[1]}}" in
{cases}
      *) words="" ;;
    esac
    case "$COMP_CWORD,${{COMP_WORDS[1]}}" in
      {taking})
        : "${{_kwalk_scenarios:=$(kwalk scenarios 2> /dev/null | sed -n 's/^\\([^ ][^ ]*\\).*/\\1/p')}}"
        words="$words $_kwalk_scenarios" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _kwalk kwalk
"""


def completion(commands: Mapping[str, Command]) -> str:
    """Return the script, which completes names of commands, their options and scenarios, and otherwise files.

    The names of the scenarios are asked for once in a shell, when they are needed first, as that takes a second.
    """
    options = {name: [word for word, _ in each.arguments if word[:2] == "--"] for name, each in commands.items()}
    cases = "\n".join(f'      {name}) words="{" ".join(words)}" ;;' for name, words in options.items())
    taking = "|".join(f"2,{name}" for name, each in commands.items() if "scenario" in dict(each.arguments))
    return SCRIPT.format(commands=" ".join(commands), cases=cases, taking=taking)
