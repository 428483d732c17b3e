"""`kwalk lab`: start real brokers on this machine, look at them, and repeat there what stories say."""

from __future__ import annotations

from kwalk.reports.options.declaration import JSON, Command, Section, argument, option, out, repeatable, switch
from kwalk.search.base.option_kinds import NATURAL, POSITIVE, RELEASE, SECONDS

COMMAND = Command(
    "start real brokers on this machine, look at them, and repeat there what stories say",
    (
        "action",
        {
            "metavar": "ACTION",
            "choices": ("fetch", "start", "capture", "list", "reproduce", "replay", "fuzz"),
            "help": "fetch: download what releases need; start: run a cluster until Ctrl-C; capture: print a "
            "snapshot of a running cluster; list: list the experiments; reproduce: run experiments; replay: drive "
            "a cluster along traces; fuzz: run random histories, and explain them",
        },
    ),
    argument(
        "names",
        "NAME",
        "fetch: releases; capture: the folder of the cluster; reproduce: experiments; replay: traces; "
        "fuzz: logs, for histories of one log in place of a cluster",
        nargs="*",
    ),
    repeatable("--release", RELEASE, "the version of the brokers, or ID=VERSION of one (default: 3.9.0)"),
    option("--brokers", POSITIVE, "number of brokers, 1 to 5 (default: 3)"),
    switch("--proxied", "put proxies between brokers, and between each and ZooKeeper"),
    option(
        "--seconds",
        SECONDS,
        "time budget in seconds: start: of the cluster, which ends then; fuzz: of explaining a history (default: 60)",
    ),
    option(
        "--rounds",
        POSITIVE,
        "reproduce: number of rounds (default: that of the experiment); fuzz: histories (default: 10)",
    ),
    option("--seed", NATURAL, "fuzz: the seed of the histories (default: 0)"),
    option("--operations", POSITIVE, "fuzz: operations of a history (default: 12)"),
    switch("--minimize", "fuzz: leave out operations of misfits that are not needed for them"),
    out("folder of the cluster's data and logs, of the evidence, or of the cases"),
    JSON,
    handler="kwalk.clusters.handlers.lab:run_lab",
    section=Section.CLUSTER,
    codes="0 as expected, reproduced or explained, 2 usage error, or a cluster that does not start, 3 undecided, "
    "12 a trace departs, a misfit, or a wrong diagnosis",
    page="../how-to/run-a-lab.md",
    examples="""
  kwalk lab fetch 2.8.2 3.9.0                      download what these versions need, once
  kwalk lab start --release 2.8.2                  three brokers until Ctrl-C
  kwalk lab start --brokers 2 --release 3.4.1 --release 1=2.8.0
  kwalk lab capture kwalk-out/lab > now.json       a snapshot; then: kwalk diagnose now.json --forecast
  kwalk lab reproduce lost-deletion --release 3.9.0 --rounds 100
  kwalk lab replay kwalk-out/trace.itf.json        does a real cluster do what the counterexample says?
  kwalk lab fuzz --release 2.8.2 --rounds 20       has the model a behaviour for what real clusters do?
  kwalk lab fuzz logs --rounds 500                 has the model's log the bytes of Kafka's own class Log?""",
)
