"""Random projects of users: a small model whose numbers reach it by many ways, and what its search must answer.

Words: a *knob* is a number that the model's meaning depends on. Its *route* is the way from where it is written to
where a function of the model reads it: a constant of another module, an argument of a factory, the environment, a data
file, a decorator. An *edit* gives one knob another value. The *expected* answer is found by a search over two numbers
that shares nothing with kwalk.
"""

from __future__ import annotations

import random
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

TOP = 9
"""The largest value of a knob."""


@dataclass
class Files:
    """The files of a project while they are written.

    Attributes:
        texts: the lines of each file.
        environment: variables that it reads.
        bounds: bounds of the scenario.
        flags: flags of the scenario.
    """

    texts: dict[str, list[str]] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    bounds: dict[str, int] = field(default_factory=dict)
    flags: dict[str, bool] = field(default_factory=dict)
    members: list[str] = field(default_factory=list)
    """Lines of the state class."""

    def add(self, path: str, *lines: str) -> None:
        """Add lines to a file."""
        self.texts.setdefault(path, []).extend(lines)


Route = Callable[[Files, str, int], str]
"""Writes what brings a value to the main module under a name; returns the expression for it there."""
ROUTES: dict[str, Route] = {}
POKES: dict[str, str] = {}
"""By the name of a route, the statement that gives the value K to NAME in a module that is loaded already."""


def route(name: str, poke: str = "") -> Callable[[Route], Route]:
    """Declare a route."""

    def declare(function: Route) -> Route:
        ROUTES[name] = function
        if poke:
            POKES[name] = poke
        return function

    return declare


@route("literal")
def _literal(files: Files, name: str, value: int) -> str:
    return str(value)


@route("global", poke="import main; main.K_NAME = K")
def _global(files: Files, name: str, value: int) -> str:
    files.add("main.py", f"K_{name} = {value}")
    return f"K_{name}"


@route("imported constant", poke="import main; main.I_NAME = K")
def _imported(files: Files, name: str, value: int) -> str:
    files.add("dep.py", f"I_{name} = {value}")
    files.add("main.py", f"from dep import I_{name}")
    return f"I_{name}"


@route("star import", poke="import main; main.S_NAME = K")
def _star(files: Files, name: str, value: int) -> str:
    files.add("stars.py", f"S_{name} = {value}")
    files.add("main.py", "from stars import *")
    return f"S_{name}"


@route("attribute of a module", poke="import dep; dep.A_NAME = K")
def _attribute(files: Files, name: str, value: int) -> str:
    files.add("dep.py", f"A_{name} = {value}")
    files.add("main.py", "import dep")
    return f"dep.A_{name}"


@route("module of a package", poke="import pkg.sub; pkg.sub.P_NAME = K")
def _package(files: Files, name: str, value: int) -> str:
    files.add("pkg/__init__.py", "")
    files.add("pkg/sub.py", f"P_{name} = {value}")
    files.add("main.py", "import pkg.sub")
    return f"pkg.sub.P_{name}"


@route("exported again", poke="import main; main.X_NAME = K")
def _exported(files: Files, name: str, value: int) -> str:
    files.add("pkg/sub.py", f"X_{name} = {value}")
    files.add("pkg/__init__.py", f"from pkg.sub import X_{name}")
    files.add("main.py", f"from pkg import X_{name}")
    return f"X_{name}"


@route("function of another module", poke="import dep; dep.F_NAME = K")
def _function(files: Files, name: str, value: int) -> str:
    files.add("dep.py", f"F_{name} = {value}", f"def f_{name}():", f"    return F_{name}")
    files.add("main.py", f"from dep import f_{name}")
    return f"f_{name}()"


@route("function of a function", poke="import far; far.G_NAME = K")
def _nested(files: Files, name: str, value: int) -> str:
    files.add("far.py", f"G_{name} = {value}", f"def g_{name}():", f"    return G_{name}")
    files.add("dep.py", "import far", f"def h_{name}():", f"    return far.g_{name}()")
    files.add("main.py", "import dep")
    return f"dep.h_{name}()"


@route("default of a parameter", poke="import dep; dep.d_NAME.__defaults__ = (K,)")
def _default(files: Files, name: str, value: int) -> str:
    files.add("dep.py", f"def d_{name}(k={value}):", "    return k")
    files.add("main.py", f"from dep import d_{name}")
    return f"d_{name}()"


@route("default of a keyword", poke="import dep; dep.w_NAME.__kwdefaults__ = {'k': K}")
def _keyword(files: Files, name: str, value: int) -> str:
    files.add("dep.py", f"W_{name} = {value}", f"def w_{name}(*, k=W_{name}):", "    return k")
    files.add("main.py", f"from dep import w_{name}")
    return f"w_{name}()"


@route("attribute of a class", poke="import dep; dep.C_NAME.K = K")
def _class(files: Files, name: str, value: int) -> str:
    files.add("dep.py", f"class C_{name}:", f"    K = {value}")
    files.add("main.py", f"from dep import C_{name}")
    return f"C_{name}.K"


@route("attribute of a base class", poke="import dep; dep.B_NAME.K = K")
def _base_class(files: Files, name: str, value: int) -> str:
    files.add("dep.py", f"class B_{name}:", f"    K = {value}")
    files.add("main.py", "import dep", f"class D_{name}(dep.B_{name}):", "    pass")
    return f"D_{name}.K"


@route("static method")
def _static(files: Files, name: str, value: int) -> str:
    files.add("dep.py", f"class Z_{name}:", "    @staticmethod", "    def f():", f"        return {value}")
    files.add("main.py", f"from dep import Z_{name}")
    return f"Z_{name}.f()"


@route("value of an Enum")
def _enum(files: Files, name: str, value: int) -> str:
    files.add("dep.py", "from enum import Enum", f"class E_{name}(Enum):", f"    A = {value}", "    B = 'other'")
    files.add("main.py", f"from dep import E_{name}")
    return f"E_{name}.A.value"


@route("order of an Enum")
def _order(files: Files, name: str, value: int) -> str:
    members = [f"M{n}" for n in range(TOP)]
    members.insert(value, "HERE")
    lines = [f"    {member} = '{member}'" for member in members]
    files.add("dep.py", "from enum import Enum", f"class O_{name}(Enum):", *lines)
    files.add("main.py", f"from dep import O_{name}")
    return f"next(i for i, e in enumerate(O_{name}) if e is O_{name}.HERE)"


@route("table", poke="import main; main.T_NAME = ((0, K), (1, 2))")
def _table(files: Files, name: str, value: int) -> str:
    files.add("dep.py", f"T_{name} = ((0, {value}), (1, 2))")
    files.add("main.py", f"from dep import T_{name}")
    return f"T_{name}[0][1]"


@route("frozenset", poke="import main; main.U_NAME = frozenset({K})")
def _frozenset(files: Files, name: str, value: int) -> str:
    files.add("dep.py", f"U_{name} = frozenset({{{value}}})")
    files.add("main.py", f"from dep import U_{name}")
    return f"sum(i for i in range({TOP + 1}) if i in U_{name})"


@route("record", poke="import main; main.R_NAME = main.V_NAME(x=K)")
def _record(files: Files, name: str, value: int) -> str:
    declared = (f"class V_{name}:", f"    x: int = number(0, {TOP})")
    files.add("records.py", "from kwalk import number, value", "@value", *declared)
    files.add("main.py", f"from records import V_{name}", f"R_{name} = V_{name}(x={value})")
    return f"R_{name}.x"


@route("default of a record")
def _record_default(files: Files, name: str, value: int) -> str:
    declared = (f"class Y_{name}:", f"    x: int = number(0, {TOP}, default={value})")
    files.add("records.py", "from kwalk import number, value", "@value", *declared)
    files.add("main.py", f"from records import Y_{name}")
    return f"Y_{name}().x"


@route("closure", poke="import main; main.c_NAME.__closure__[0].cell_contents = K")
def _closure(files: Files, name: str, value: int) -> str:
    files.add("dep.py", f"def make_{name}(k):", f"    def c_{name}():", "        return k", f"    return c_{name}")
    files.add("main.py", "import dep", f"c_{name} = dep.make_{name}({value})")
    return f"c_{name}()"


@route("decorator")
def _decorator(files: Files, name: str, value: int) -> str:
    files.add(
        "dep.py",
        f"def plus_{name}(add):",
        "    def around(function):",
        "        def both():",
        "            return function() + add",
        "        return both",
        "    return around",
    )
    part = value // 2
    files.add("main.py", "import dep", f"@dep.plus_{name}({part})", f"def p_{name}():", f"    return {value - part}")
    return f"p_{name}()"


@route("decorator that chooses")
def _choosing(files: Files, name: str, value: int) -> str:
    files.add("dep.py", f"def instead_{name}(function):", "    def other():", f"        return {value}")
    files.add("dep.py", "    return other")
    files.add("main.py", "import dep", f"@dep.instead_{name}", f"def o_{name}():", "    return 0")
    return f"o_{name}()"


@route("function of the same name")
def _alternative(files: Files, name: str, value: int) -> str:
    for other in range(TOP + 1):
        files.add(f"alternative{other}.py", f"def n_{name}():", f"    return {other}")
    files.add("main.py", f"from alternative{value} import n_{name}")
    return f"n_{name}()"


@route("environment")
def _environment(files: Files, name: str, value: int) -> str:
    files.environment[f"KNOB_{name}"] = str(value)
    files.add("dep.py", "import os", f"N_{name} = int(os.environ['KNOB_{name}'])")
    files.add("main.py", f"from dep import N_{name}")
    return f"N_{name}"


@route("definition by the environment")
def _conditional(files: Files, name: str, value: int) -> str:
    files.environment[f"WHICH_{name}"] = "yes" if value % 2 else "no"
    files.add(
        "dep.py",
        "import os",
        f"if os.environ['WHICH_{name}'] == 'yes':",
        f"    def q_{name}():",
        "        return 1",
        "else:",
        f"    def q_{name}():",
        "        return 0",
    )
    files.add("main.py", f"from dep import q_{name}")
    return f"({value - value % 2} + q_{name}())"


@route("data file")
def _data_file(files: Files, name: str, value: int) -> str:
    files.add(f"{name}.txt", str(value))
    read = f"Q_{name} = int(Path(__file__).with_name('{name}.txt').read_text())"
    files.add("dep.py", "from pathlib import Path", read)
    files.add("main.py", "import dep")
    return f"dep.Q_{name}"


@route("method of the base of the state")
def _method(files: Files, name: str, value: int) -> str:
    files.add("base.py", "class Base:", "    pass") if "base.py" not in files.texts else None
    files.add("base.py", f"def m_{name}(self):", f"    return {value}", f"Base.m_{name} = m_{name}")
    return f"s.m_{name}()"


@route("property of the state")
def _property(files: Files, name: str, value: int) -> str:
    files.add("dep.py", f"L_{name} = {value}")
    files.add("main.py", "import dep")
    files.members += ["    @property", f"    def l_{name}(self):", f"        return dep.L_{name}"]
    return f"s.l_{name}"


@route("module with a name of Python's own", poke="import turtle; turtle.AA_NAME = K")
def _of_python(files: Files, name: str, value: int) -> str:
    files.add("turtle.py", f"AA_{name} = {value}", f"def aa_{name}():", f"    return AA_{name}")
    files.add("main.py", f"from turtle import aa_{name}")
    return f"aa_{name}()"


@route("function that says it is of Python", poke="import dep; dep.BB_NAME = K")
def _says(files: Files, name: str, value: int) -> str:
    files.add("dep.py", f"BB_{name} = {value}", f"def bb_{name}():", f"    return BB_{name}")
    files.add("dep.py", f"bb_{name}.__module__ = 'os.path'")
    files.add("main.py", f"from dep import bb_{name}")
    return f"bb_{name}()"


@route("builtin name", poke="import builtins; builtins.CC_NAME = K")
def _builtin(files: Files, name: str, value: int) -> str:
    files.add("dep.py", "import builtins", f"builtins.CC_{name} = {value}")
    files.add("main.py", "import dep")
    return f"CC_{name}"


READ = "int(__import__('os').environ['KNOB_{name}'])"
"""An expression that reads the environment when it is evaluated."""


@route("descriptor", poke="import os; os.environ['KNOB_NAME'] = str(K)")
def _descriptor(files: Files, name: str, value: int) -> str:
    files.environment[f"KNOB_{name}"] = str(value)
    files.add("dep.py", f"class DD_{name}:", "    def __get__(self, one, of=None):")
    files.add("dep.py", f"        return {READ.format(name=name)}", f"class EE_{name}:", f"    K = DD_{name}()")
    files.add("main.py", "import dep")
    return f"dep.EE_{name}.K"


@route("property of a metaclass", poke="import os; os.environ['KNOB_NAME'] = str(K)")
def _metaclass(files: Files, name: str, value: int) -> str:
    files.environment[f"KNOB_{name}"] = str(value)
    files.add("dep.py", f"class FF_{name}(type):", "    @property", "    def K(cls):")
    files.add("dep.py", f"        return {READ.format(name=name)}")
    files.add("dep.py", f"class GG_{name}(metaclass=FF_{name}):", "    pass")
    files.add("main.py", "import dep")
    return f"dep.GG_{name}.K"


if sys.version_info < (3, 13):  # since then, `classmethod` calls no property

    @route("property of a class", poke="import os; os.environ['KNOB_NAME'] = str(K)")
    def _class_property(files: Files, name: str, value: int) -> str:
        files.environment[f"KNOB_{name}"] = str(value)
        files.add("dep.py", f"class HH_{name}:", "    @classmethod", "    @property", "    def K(cls):")
        files.add("dep.py", f"        return {READ.format(name=name)}")
        files.add("main.py", "import dep")
        return f"dep.HH_{name}.K"


@route("attribute that a module makes", poke="import os; os.environ['KNOB_NAME'] = str(K)")
def _made(files: Files, name: str, value: int) -> str:
    files.environment[f"KNOB_{name}"] = str(value)
    files.add(f"maker_{name}.py", "def __getattr__(name):", "    if name != 'K':", "        raise AttributeError(name)")
    files.add(f"maker_{name}.py", f"    return {READ.format(name=name)}")
    files.add("main.py", f"import maker_{name}")
    return f"maker_{name}.K"


@route("bound")
def _bound(files: Files, name: str, value: int) -> str:
    files.bounds[f"bound_{name}"] = value
    files.add("main.py", f"H_{name} = Bound('bound_{name}')")
    return f"(0 + H_{name})"


@route("flag")
def _flag(files: Files, name: str, value: int) -> str:
    files.flags[f"flag_{name}"] = bool(value % 2)
    files.add("main.py", f"J_{name} = Flag('flag_{name}')")
    return f"({value - value % 2} + (1 if J_{name} else 0))"


@dataclass(frozen=True)
class Project:
    """A random project: its knobs, and how each reaches the model.

    Attributes:
        edges: pairs of knobs: an action that requires the first and writes the second.
        knobs: the values by name.
        routes: the names of the routes by knob.
        ballast: the most of a second number that counts up by itself: its steps keep the search busy.
        style: "module" for functions at module level, "factory" for functions within one that is called, "evolve" for
            a scenario of another module with these actions in place of others of the same names.
        noise: a seed of comments and blank lines; it means nothing.
    """

    edges: tuple[tuple[str, str], ...]
    knobs: dict[str, int]
    routes: dict[str, str]
    ballast: int
    style: str
    noise: int = 0

    def with_knob(self, name: str, value: int) -> Project:
        """Return the project after an edit."""
        return Project(self.edges, {**self.knobs, name: value}, self.routes, self.ballast, self.style, self.noise)

    def with_noise(self, noise: int) -> Project:
        """Return the project after an edit without a meaning."""
        return Project(self.edges, self.knobs, self.routes, self.ballast, self.style, noise)

    @property
    def expected(self) -> tuple[str, int]:
        """Return "violated" with the steps to the nearest violation, or "holds" with the number of states."""
        knob = self.knobs
        first, bad, cut = knob["first"], knob["bad"], knob["cut"]
        steps = [(knob[guard], knob[target]) for guard, target in self.edges]
        found, waiting = {first: 0}, deque([first])
        while waiting:
            state = waiting.popleft()
            if state == bad:
                return "violated", found[state]
            if state > cut:
                continue
            for guard, target in steps:
                if guard == state and target not in found:
                    found[target] = found[state] + 1
                    waiting.append(target)
        # A state beyond the cut is not expanded: the ballast does not count up there.
        kept = sum(state <= cut for state in found)
        beyond = [state for state in found if state > cut]
        reached = {target for guard, target in steps if guard in found and guard <= cut}
        return "holds", kept * (self.ballast + 1) + sum((self.ballast + 1) if s in reached else 1 for s in beyond)

    @property
    def arguments(self) -> list[str]:
        """The knobs that are arguments of the factory: variables of a function around those of the model."""
        return [name for name in self.knobs if self.style == "factory" and self.routes[name] == "literal"]

    def files(self) -> Files:
        """Return its files."""
        files = Files()
        files.add("main.py", "from typing import Annotated", "from kwalk import *", "SYSTEM = Actor('system')")
        read = {name: ROUTES[self.routes[name]](files, name, value) for name, value in self.knobs.items()}
        read |= {name: name for name in self.arguments}
        base = "(base.Base)" if "base.py" in files.texts else ""
        files.add("main.py", *(["import base"] if base else []), "@state", f"class S{base}:")
        files.add("main.py", f"    n: int = number(0, {TOP})", f"    b: int = number(0, {max(1, self.ballast)})")
        files.add("main.py", *files.members)
        lines = [*self._functions(read), *self._scenario(files)]
        if self.style == "factory":
            given = ", ".join(f"{name}={self.knobs[name]}" for name in self.arguments)
            lines = [f"def build({given}):", *(f"    {line}" for line in lines), "    return SC", "SC = build()"]
        files.add("main.py", *lines)
        files.texts["main.py"] = self._with_noise(files.texts["main.py"])
        return files

    def _functions(self, read: dict[str, str]) -> list[str]:
        lines = []
        for number, (guard, target) in enumerate(self.edges):
            lines += [
                "@action(by=SYSTEM)",
                f"def go{number}(s: S) -> None:",
                '    """Go."""',
                f"    require(s.n == {read[guard]})",
                f"    s.n = {read[target]}",
            ]
        lines += [
            "@action(by=SYSTEM)",
            "def count(s: S) -> None:",
            f"    require(s.b < {self.ballast})",
            "    s.b += 1",
            "def begin(s: S) -> None:",
            f"    s.n = {read['first']}",
            "@always()",
            "def never_bad(s: S) -> bool:",
            f"    return s.n != {read['bad']}",
            "@constraint()",
            "def near(s: S) -> bool:",
            f"    return s.n <= {read['cut']}",
        ]
        return lines

    def _scenario(self, files: Files) -> list[str]:
        names = ", ".join([*(f"go{number}" for number in range(len(self.edges))), "count"])
        given = (
            f"name='edited', story='Edited.', state=S, initial=begin, properties=(never_bad,), constraints=(near,), "
            f"bounds={files.bounds!r}, flags={files.flags!r}, actions=({names},)"
        )
        if self.style != "evolve":
            return [f"SC = Scenario({given})"]
        empty = "".join(f"@action(by=SYSTEM)\ndef go{n}(s):\n    require(s.n < 0)\n" for n in range(len(self.edges)))
        files.add("others.py", "from kwalk import *", "SYSTEM = Actor('system')", *empty.splitlines())
        first = given.replace(
            f"actions=({names},)", "actions=(" + "".join(f"others.go{n}, " for n in range(len(self.edges))) + ")"
        )
        return ["import others", f"SC = evolve(Scenario({first}), actions=({names},))"]

    def _with_noise(self, lines: list[str]) -> list[str]:
        chance = random.Random(self.noise)
        noisy = []
        for line in lines:
            if self.noise and not line.startswith((" ", "@", "else")) and chance.random() < 0.4:
                noisy += ["", f"# {chance.random()}"]
            noisy.append(f"{line}  # {chance.random()}" if self.noise and chance.random() < 0.3 else line)
        return noisy


def random_project(chance: random.Random) -> Project:
    """Return a random project that has a violation, or not."""
    edges = tuple((f"from{n}", f"to{n}") for n in range(chance.randint(2, 5)))
    names = ["first", "bad", "cut", *(name for edge in edges for name in edge)]
    knobs = {name: chance.randint(0, TOP) for name in names}
    knobs["cut"] = chance.choice([TOP, TOP, chance.randint(3, TOP)])
    path = [knobs["first"]]
    for guard, target in edges:  # most edges leave a state that is reached
        if chance.random() < 0.8:
            knobs[guard] = chance.choice(path)
        path.append(knobs[target])
    routes = {name: chance.choice([*ROUTES]) for name in names}
    style = chance.choice(["module", "module", "factory", "evolve"])
    return Project(edges, knobs, routes, chance.choice([0, 3, 200]), style)


def random_edit(project: Project, chance: random.Random, route: str) -> tuple[str, Project, Project]:
    """Return a knob, the project with that route for it, and with another value of it; most edits change the answer."""
    edits = [
        (name, project.with_knob(name, value))
        for name in project.knobs
        for value in range(TOP + 1)
        if value != project.knobs[name]
    ]
    chance.shuffle(edits)
    changing = [edit for edit in edits if edit[1].expected != project.expected]
    name, edited = changing[0] if changing and chance.random() < 0.8 else edits[0]
    project.routes[name] = route  # the edited project shares them
    return name, project, edited
