"""The page of an incident says what is wrong, for whom, since when and why, with ids, log lines and the way out."""

from __future__ import annotations

import json
import re
import subprocess
import time
from html import unescape
from pathlib import Path

import pytest

from kwalk.invariants.reading.finding_kinds import KINDS
from kwalk.model.language import Model
from kwalk.reports import documentation
from kwalk.reports.command_line import main
from kwalk.reports.document import Span
from kwalk.reports.handlers.incident import inspection_of, planned_until, problem_of
from kwalk.reports.handlers.target import scenario_with
from kwalk.search.analyses.explain import kernels
from kwalk.search.base.progress import silent
from tests.bad_input.harmless import ACTING
from tests.snapshots.captured import FILES, document
from tests.structure.rooms import ROOT

SITE = "https://kwalk.example/docs/"
LATENT, BROKEN = "scenario-01-05-produce-consume", "scenario-06-08c-broker1-restarted-14s"
LOGGED = """\
[2026-11-23 12:24:11,149] ERROR Uncaught exception in scheduled task 'isr-expiration' (kafka.utils.KafkaScheduler)
INFO [Controller id=1] New partitions to be added Map(t-2 -> …) (kafka.controller.KafkaController)
ERROR [Broker id=1] Topic Id in memory: hbc does not match the topic Id for partition t-0 provided in the request: dG8
ERROR [Broker id=1] Topic ID in memory: vuj7 does not match the topic ID for partition t-0 received: xorn1.
DEBUG [Partition t-0 broker=3] Failed to update ISR to … since we sent an old leader epoch. Giving up.
INFO [Topic Deletion Manager 1] Halted deletion of topics t due to offline replicas
ERROR Partition t-2 should be in one of NonExistentPartition states before moving to NewPartition state.
ERROR Error while rolling log segment for t-0 in dir /var/lib/kafka (kafka.server.LogDirFailureChannel)
WARN [Controller id=3] Ignoring request to delete non-existing topics ghost (kafka.controller.KafkaController)
WARN [Broker id=3] Ignoring LeaderAndIsr request from controller 3 with correlation id 1 epoch 5 for partition t-0 \
since its associated leader epoch 0 is smaller than the current leader epoch 3 (state.change.logger)
Aborted leader election for partition t-0 since the LeaderAndIsr path was already written by another controller. This \
probably means that the current controller 1 went through a soft failure and another controller was elected with epoch 9
INFO [UnifiedLog partition=t-0, dir=/kafka] Truncating to offset 30 (kafka.log.UnifiedLog)
INFO [Controller id=1] Newly added brokers: 3, deleted brokers: , bounced brokers: , all live brokers: 1,2,3
java.lang.IllegalStateException: Duplicate log directories for t-0 are found in both /a/t-0 and /b/t-0. It is likely \
because log directory failure happened while broker was replacing current replica with future replica.
INFO [Controller id=1] Starting topic deletion for topics orders (kafka.controller.KafkaController)
ERROR Error while reading checkpoint file /kafka/replication-offset-checkpoint (kafka.server.LogDirFailureChannel)
ERROR Error while reading partition metadata file /kafka/t-0/partition.metadata (kafka.server.LogDirFailureChannel)
Configured broker.id 2 doesn't match stored broker.id Some(1) in meta.properties.
java.lang.RuntimeException: Invalid cluster.id in: /kafka/meta.properties. Expected a, but read b
ERROR [Controller id=1] Error completing reassignment of partition t-0 (kafka.controller.KafkaController)
INFO [ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Error sending fetch request (sessionId=7, epoch=2) to node 3:
ERROR Error while reading partition metadata file /kafka/t-0/partition.metadata (kafka.server.LogDirFailureChannel)
live brokers are [Set(1, 2)]. No assigned replica is alive.
ERROR [Controller id=1] Error while electing or becoming controller on broker 1. Trigger controller movement immediately
INFO Log for partition t-0 is renamed to /kafka/t-0.7f-delete and is scheduled for deletion (kafka.log.LogManager)
INFO [ReplicaFetcher replicaId=1] Current offset 1 for partition t-0 is out of range, which typically implies a \
leader change. Reset fetch offset to 1 (kafka.server.ReplicaFetcherThread)
java.lang.IllegalStateException: topic name map already contained ID J8gb and new name u did not match existing name t
WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Received UNKNOWN_TOPIC_ID from the leader for partition t-0.
INFO [UnifiedLog partition=__consumer_offsets-7, dir=/kafka] Deleting segment LogSegment(baseOffset=0, …) due to log \
retention time 604800000ms breach based on the largest record timestamp in the segment (kafka.log.UnifiedLog)
org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR Set(1) is insufficient to \
satisfy the min.isr requirement of 2 for partition t-0
"""
"""A line of each kind, as 2.8.2 (and for ids 3.9.0) writes it."""


def text_of(page: str) -> str:
    """The words of a page."""
    body = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def links_of(page: str) -> list[str]:
    return [unescape(link) for link in re.findall(r'href="([^"#][^"]*)"', page)]


@pytest.fixture(scope="module")
def inspected(tmp_path_factory) -> tuple[str, str]:
    """The pages of a broken cluster, as HTML and Markdown."""
    folder = tmp_path_factory.mktemp("incident")
    markdown = folder / "now.md"
    words = ["diagnose", str(FILES[BROKEN]), "--html", "--out", str(folder), "--markdown", str(markdown)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(documentation, "_published", lambda: SITE)
        assert main(words) == 12
    (html,) = folder.glob("*.html")
    return html.read_text(), markdown.read_text()


def test_the_page_begins_with_what_is_broken_and_for_whom(inspected):
    html, markdown = inspected
    text = text_of(html.partition("<body>")[2])
    assert text.startswith("BROKEN The leader refuses ZooKeeper's topic id: t-0, t-1, t-2 and 1 more.")
    assert "Users notice now: consumers get UNKNOWN_LEADER_EPOCH; producers get NOT_LEADER_OR_FOLLOWER" in text
    assert "Usual cause: a client older than 2.8 wrote the topic's znode" in text
    assert markdown.startswith("# **BROKEN**") and "**Users notice now:** consumers" in markdown


def test_the_page_has_the_ids_and_who_has_them(inspected):
    for page in inspected:
        shown = text_of(page)
        assert "Topic ids, and who has them" in shown
        assert shown.count("vuj7un-aR5uS2ffT1gU4Hg") > 2 and "partition.metadata of t-0, t-1, t-2 and t-3" in shown


def test_the_page_has_the_way_out_with_commands(inspected):
    for page in map(text_of, inspected):
        assert "Write the topic id vuj7un-aR5uS2ffT1gU4Hg into the znode of topic t." in page
        assert "zkCli.sh -server ZK set -v DATA_VERSION /brokers/topics/t" in page
        assert "zkCli.sh -server ZK delete /controller" in page


def test_links_lead_to_pages_of_the_documentation_that_exist(inspected):
    html, markdown = inspected
    found = links_of(html)
    assert "docs/stories/repair-topic-ids.md" in html and "docs/how-to/recover-a-cluster.md" in html
    assert len(found) >= 5 and all(link.startswith(SITE) for link in found)
    pages = (link.removeprefix(SITE).partition("#")[0].removesuffix(".html") for link in found)
    assert all((ROOT / "docs" / f"{page}.md").is_file() for page in pages)
    assert all(link in markdown for link in found)


def test_documentation_that_is_not_published_is_named_without_a_link(monkeypatch):
    monkeypatch.setattr(documentation, "_published", lambda: "")
    assert documentation.link("docs/stories/stray-logs.md") == Span("docs/stories/stray-logs.md", "", "")


@pytest.mark.parametrize("page", sorted({kind.story for kind in KINDS if kind.story}))
def test_every_kind_names_a_page_that_exists(page):
    assert (ROOT / page.partition("#")[0]).is_file()


@pytest.mark.parametrize("command", sorted({command for kind in KINDS for command in kind.grep}))
def test_the_commands_find_the_lines_in_the_logs(command, tmp_path):
    (tmp_path / "logs").mkdir()
    for name in ("controller", "state-change", "server"):
        (tmp_path / "logs" / f"{name}.log").write_text(LOGGED)
    found = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert 1 <= found.count("\n") <= 2  # two releases write it in two ways


def test_every_kind_of_damage_says_how_a_cluster_usually_gets_there():
    assert [kind.name for kind in KINDS if kind.severity.rank < 2 and not kind.cause] == []


def test_hostile_names_do_nothing(tmp_path):
    capture = document(BROKEN)
    name = "</code><img src=x onerror=alert(1)>\x1b[31m../../x`**"
    capture["topics"][name] = capture["topics"].pop("t")
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps(capture))
    markdown = tmp_path / "now.md"
    main(["diagnose", str(file), "--html", "--out", str(tmp_path), "--markdown", str(markdown)])
    page = (tmp_path / "incident-hostile.html").read_text()
    assert not re.search(rf"<({'|'.join(ACTING)})\b", page) and "\x1b" not in page + markdown.read_text()
    assert "<img" not in re.sub(r"```.*?```", "", markdown.read_text(), flags=re.DOTALL)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hostile.json", "incident-hostile.html", "now.md"]


def test_pages_of_several_snapshots_are_refused(capsys):
    assert main(["diagnose", str(FILES[LATENT]), str(FILES[BROKEN]), "--html"]) == 2
    assert "Name one, or use --csv." in capsys.readouterr().err


def test_a_hunt_leaves_a_page_that_says_what_its_answer_says_and_more(tmp_path, capsys):
    code = main(["diagnose", str(FILES[LATENT]), "--forecast", "--out", str(tmp_path), "--json"])
    said = json.loads(capsys.readouterr().out)
    (html,), (itf,) = tmp_path.glob("*.html"), tmp_path.glob("*.itf.json")
    page, incident = html.read_text(), json.loads(itf.read_text())["#meta"]["incident"]
    text = text_of(page)
    assert code == 13
    assert text_of(page.partition("<body>")[2]).startswith("LATENT The topic's znode has lost its id: t.")
    assert [sentence for sentence in said["diagnosis"][2:] if sentence not in text] == []
    assert incident["diagnosis"] == said["diagnosis"] and incident["plan"][0]["commands"]
    assert (incident["forecast"]["steps"], incident["forecast"]["since"]) == (17, 7)
    unfolded = re.sub(r"<details>.*?</details>", "", page.partition('<ol class="steps">')[2], flags=re.DOTALL)
    assert "mints an id for each topic that has none" in unfolded  # the root cause is never routine
    assert "zookeeper.topics[t].topic_id none → B" in text
    assert "Since: step 7: controller 2: fails over: sends LeaderAndIsr" in text


def test_an_explanation_in_plain_python_neither_lifts_its_model_nor_waits_for_one_to_be_compiled(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both take longer than many searches, and the time budget is for all of it."""

    def lifted(model: Model) -> None:
        raise AssertionError("lifted")

    monkeypatch.setenv("KWALK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(kernels, "COMPILE_AFTER", 1000.0)
    monkeypatch.setattr("kwalk.model.language.lift.lift", lifted)
    names = ("scenario-01-01-old-create", "scenario-01-01b-aged-by-failover")
    assert main(["diagnose", "--explain", *(str(FILES[name]) for name in names), "--out", str(tmp_path)]) == 0
    (trace,) = tmp_path.glob("*.itf.json")
    assert '"fingerprint": ""' in trace.read_text("utf-8")
    assert main(["replay", "--format", "text", str(trace)]) == 0


def test_a_plan_whose_models_are_not_compiled_in_time_is_left_out(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("KWALK_CACHE", str(tmp_path / "cache"))
    _, scenario = scenario_with("read_series")
    inspection = inspection_of(scenario, str(FILES[BROKEN]))
    problem = problem_of(scenario, str(FILES[BROKEN]), inspection)
    assert inspection.exit_code == 12 and problem.procedures
    assert planned_until(problem, silent, time.monotonic() + 0.1) is None
