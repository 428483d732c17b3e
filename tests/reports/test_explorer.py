"""The explorer without a browser: its steps, distances, saved paths, and what its server refuses."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from itertools import pairwise

import pytest

import kwalk
from kwalk.model.language import Kind, Model, UsageError
from kwalk.model.language.registry import find_scenario
from kwalk.reports.explorer.server import ExplorerServer
from tests.reports.exploring import exploring, known_distance
from tests.reports.traces import LOST, model, trace


def violations_from(subject: Model, start) -> dict[str, int]:
    """The distance from a state to a violation of each property, or to a deadlock, by a search in plain Python."""
    depths, queue, violated = {start: 0}, [start], {}
    for vector in queue:
        if subject.scenario.deadlock_is_error and not list(subject.successors(vector)):
            violated.setdefault("deadlock", depths[vector])
        for prop in subject.properties:
            if subject.violates(prop, vector):
                violated.setdefault(prop.key, depths[vector])
        for _, after in subject.successors(vector):
            for prop in subject.properties:
                if prop.kind is Kind.STEP and subject.violates(prop, after, vector):
                    violated[prop.key] = min(violated.get(prop.key, 10**6), depths[vector] + 1)
            if after not in depths:
                depths[after] = depths[vector] + 1
                queue.append(after)
    return violated


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    with exploring(model(), tmp_path_factory.mktemp("out")) as one:
        yield one


def test_a_notebook_shows_the_page_in_a_frame_until_it_is_closed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = kwalk.exhaust("lost-update").counterexample
    page = kwalk.explore(found)
    answer = urllib.request.urlopen(page.address)
    assert "frame-ancestors http://localhost:* http://127.0.0.1:*" in answer.headers["content-security-policy"]
    assert f'<iframe src="{page.address}"' in page._repr_html_() and "open" in repr(page)
    call = urllib.request.Request(page.address + "about", b"{}", {"Content-Type": "application/json"})
    about = json.loads(urllib.request.urlopen(call).read())
    assert about["scenario"] == "lost-update" and about["traced"]["end"] == found.length
    page.close()
    page.close()
    assert "<iframe" not in page._repr_html_() and "ended" in repr(page)
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(page.address)
    assert list(tmp_path.iterdir()) == []


def test_the_next_steps_are_those_of_plain_python(office):
    subject = office.model
    position = office.first
    for key in LOST:
        view = office.view(position)
        enabled = {a["instance"]: a for a in view["actions"] if "changes" in a}
        plain = {i.index: after for i, after in subject.successors(office.position(position).vector)}
        assert set(enabled) == set(plain)
        for number, after in plain.items():
            at = office.position(position).vector
            assert enabled[number]["idle"] == (after == at)
            broken = {p.key for p in subject.properties if subject.violates(p, after)}
            broken |= {p.key for p in subject.properties if p.kind is Kind.STEP and subject.violates(p, after, at)}
            assert set(enabled[number]["violates"]) == broken
        position = office.take(position, [subject.instance(key).index])
    assert [step["key"] for step in office.view(position)["path"][1:]] == list(LOST)


def test_the_same_steps_lead_to_the_same_position(office):
    steps = [office.model.instance(key).index for key in LOST]
    assert office.take(office.first, steps) == office.take(office.take(office.first, steps[:3]), steps[3:])


def test_changed_fields_have_their_old_values(office):
    position = office.take(office.first, [office.model.instance(LOST[0]).index])
    view, first = office.view(position), office.view(office.first)
    changed = {n for n, (old, new) in enumerate(zip(first["values"], view["values"], strict=True)) if old != new}
    assert {int(number) for number in view["old"]} == changed
    assert all(view["old"][number] == first["values"][number] for number in changed)


@pytest.mark.parametrize("wanted", [[-1], [10**6], ["0"], [True], [None]])
def test_a_step_that_does_not_exist_is_refused(office, wanted):
    with pytest.raises(UsageError, match="no such step"):
        office.take(office.first, wanted)


def test_a_disabled_step_is_refused(office):
    enabled = {a["instance"] for a in office.view(office.first)["actions"]}
    disabled = next(i for i in office.model.instances if i.index not in enabled)
    with pytest.raises(UsageError, match="is not enabled"):
        office.take(office.first, [disabled.index])


@pytest.mark.parametrize("scenario", ["lost-update", "die-hard", "blocking-queue"])
def test_the_distance_is_that_of_a_plain_search_along_a_path(scenario, tmp_path):
    subject = Model(find_scenario(scenario))
    with exploring(subject, tmp_path) as one:
        position, lengths = one.first, []
        while True:
            known = known_distance(one, position)
            assert known["status"] == "found"
            lengths.append(known["least"])
            if not known["least"]:
                break
            violated = violations_from(subject, one.position(position).vector)
            assert known["least"] == min(violated.values())
            assert set(known["properties"]) == {key for key, steps in violated.items() if steps == known["least"]}
            position = one.take(position, known["path"][:1])
        assert all(one - 1 == other for one, other in pairwise(lengths))


def test_a_model_without_violations_says_that_every_state_was_visited(tmp_path):
    subject = Model(find_scenario("two-phase-commit"))
    with exploring(subject, tmp_path) as one:
        known = known_distance(one, one.first)
        assert (known["status"], known["states"]) == ("none", 288)


def test_a_spent_budget_gives_a_lower_bound(tmp_path):
    subject = Model(find_scenario("two-phase-commit"))
    with exploring(subject, tmp_path, seconds=1e-6) as one:
        known = known_distance(one, one.first)
        assert known["status"] == "bounded" and "time budget" in known["note"]
        assert known["least"] == 1  # the first level is complete: the state itself violates nothing
        assert one.distance(one.first, 60.0)["status"] in ("preparing", "searching", "none")


def test_a_goal_is_one_property_or_a_state_that_should_be_reachable(tmp_path):
    subject = Model(find_scenario("two-phase-commit"))
    with exploring(subject, tmp_path) as one:
        goals = {prop["key"]: number for number, prop in enumerate(one.about()["properties"])}
        known = known_distance(one, one.first, goal=goals["all_commit()"])
        assert (known["status"], known["least"]) == ("found", 10)
        end = one.take(one.first, known["path"])
        assert one.view(end)["truths"][goals["all_commit()"]] == "true"
        assert known_distance(one, one.first, goal=goals["managers_agree()"])["status"] == "none"


def test_a_walk_ends_at_the_first_violation(tmp_path):
    with exploring(Model(find_scenario("lost-update")), tmp_path) as one:
        ends = [one.walk(one.first, 50, seed) for seed in range(10)]
        assert ends == [one.walk(one.first, 50, seed) for seed in range(10)]
        found = [end for end in ends if end["ended"].startswith("violated")]
        assert found
        for end in found:
            view = one.view(end["position"])
            assert "violated" in view["truths"]
            assert all("violated" not in one.view(each["position"])["truths"] for each in view["path"][:-1])


def test_a_saved_path_is_replayed(kwalk, tmp_path):
    with exploring(model(), tmp_path / "out") as one:
        violating = one.take(one.first, [one.model.instance(key).index for key in LOST])
        for position, code in ((violating, 12), (one.first, 0)):
            file = one.saved(position)["trace"]
            assert kwalk("replay", file).code == code


def test_a_counterexample_is_opened_at_its_end(tmp_path):
    found = trace()
    with exploring(model(), tmp_path, found) as one:
        view = one.view(one.about()["traced"]["end"])
        assert [step["key"] for step in view["path"][1:]] == list(found.actions)
        assert one.trace(view["position"]).prop == found.prop


# The server.


@pytest.fixture
def server(office):
    with ExplorerServer(office) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def asked(server, method="POST", path=None, body=b"{}", **headers) -> tuple[int, bytes, dict[str, str]]:
    """The answer to one request; a header of the value None is left out."""
    path = f"/{server.token}/about" if path is None else path
    given = {"Host": f"127.0.0.1:{server.port}", "Content_Type": "application/json", **headers}
    if method == "POST":
        given.setdefault("Content_Length", str(len(body)))
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in given.items():
        if value is not None:
            connection.putheader(name.replace("_", "-"), value)
    connection.endheaders(body if method == "POST" else None)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content, {name.lower(): value for name, value in answer.getheaders()}


def test_the_page_is_sent_to_whoever_knows_the_token(server):
    status, content, headers = asked(server, "GET", f"/{server.token}/")
    assert status == 200 and b"explore" in content
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "access-control-allow-origin" not in headers
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", server.address)


@pytest.mark.parametrize("path", ["/", "/wrong/", "/about", "//about", "/../about", "/%00/", "/wrong/about"])
def test_nothing_is_sent_to_those_who_do_not(server, path):
    for method in ("GET", "POST"):
        status, content, _ = asked(server, method, path)
        assert status == 404 and len(content) < 40


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:80"}, 403),
        ({"Host": None}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": None}, 415),
        ({"Content_Length": "-1"}, 413),
        ({"Content_Length": "99999999"}, 413),
        ({"Content_Length": "1e3"}, 413),
    ],
)
def test_calls_that_are_not_of_the_page_are_refused(server, headers, status):
    assert asked(server, **headers)[0] == status


@pytest.mark.parametrize("body", [b"", b"[]", b"7", b"{", b'"x"', b"[" * 20_000, b"\xff"])
def test_a_call_that_is_not_an_object_is_refused(server, body):
    assert asked(server, body=body)[0] == 400


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("view", {}),
        ("view", {"position": -1}),
        ("view", {"position": 1e9}),
        ("view", {"position": "0"}),
        ("view", {"position": True}),
        ("take", {"position": 0}),
        ("take", {"position": 0, "steps": {}}),
        ("take", {"position": 0, "steps": [10**9]}),
        ("walk", {"position": 0, "steps": 0}),
        ("walk", {"position": 0, "steps": 10**9}),
        ("reads", {"position": 0, "property": 10**9}),
        ("bookmark", {"position": 0, "name": "x" * 10_000}),
        ("bookmark", {"position": 0, "name": 7}),
        ("graph", {"position": 0, "steps": 99}),
        ("graph", {"position": 0, "most": 10**9}),
        ("distance", {"position": 0, "seconds": -1}),
        ("distance", {"position": 0, "goal": 10**9}),
        ("distance", {"position": 0, "seconds": "x"}),
        ("save", {"position": None}),
    ],
)
def test_calls_with_wrong_values_get_one_sentence(server, name, content):
    status, answer, _ = asked(server, path=f"/{server.token}/{name}", body=json.dumps(content).encode())
    assert status == 200
    assert json.loads(answer)["error"].endswith((".", "positions"))


def test_nothing_is_written_outside_of_the_folder(server, office):
    before = set(office.out.path.parent.rglob("*"))
    content = {"position": 0, "name": "../x", "file": "../../x", "path": "/x"}
    for name in ("save", "bookmark"):
        assert asked(server, path=f"/{server.token}/{name}", body=json.dumps(content).encode())[0] == 200
    made = set(office.out.path.parent.rglob("*")) - before
    assert made and all(path.parent == office.out.path for path in made)


def test_a_browser_that_closes_the_connection_does_no_harm(server, capfd):
    for content in (
        b"",
        b"POST",
        f"POST /{server.token}/view HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        "Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{".encode(),
    ):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(content)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    assert asked(server)[0] == 200
    assert capfd.readouterr() == ("", "")


# The command.


def test_a_port_in_use_is_one_line(kwalk):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = kwalk("explore", "lost-update", "--port", port)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"kwalk: Port {port} is in use. Name another with --port, or leave it out for a free one.\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("lost-update", "missing.itf.json"), "Cannot read the trace 'missing.itf.json'"),
        (("no.itf.json",), "not an ITF trace"),
        (("lost-update", "no.itf.json"), "not an ITF trace"),
        ((), "Name a scenario"),
        (("nothing-like-it",), "nothing-like-it"),
    ],
)
def test_what_is_no_trace_is_one_line(kwalk, tmp_path, words, said):
    (tmp_path / "no.itf.json").write_text("{}")
    ran = kwalk("explore", *words)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said in ran.err


def test_a_trace_of_another_scenario_or_with_bounds_is_refused(kwalk, tmp_path):
    with exploring(model(), tmp_path) as one:
        file = one.saved(one.first)["trace"]
    ran = kwalk("explore", "lost-update", file)
    assert ran.code == 2 and "is a trace of 'tests.reports.post_office:POST_OFFICE'" in ran.err
    ran = kwalk("explore", file, "--bound", "queue=1")
    assert ran.code == 2 and "Leave out --bound" in ran.err


def test_ctrl_c_ends_the_command_and_its_search(tmp_path):
    command = [sys.executable, "-m", "kwalk.reports.command_line", "explore", "lost-update", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline().startswith("Explore: http://127.0.0.1:")
        process.stdout.readline()
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(60) == 0
        assert process.stderr.read() == "kwalk: ended.\n"
    searches = [int(child) for child in children.stdout.split()]
    assert searches and not [pid for pid in searches if _is_running(pid)]


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_property_of_states_at_rest_is_not_checked_until_the_system_is_at_rest_again(office):
    steps = ("post(0, FIRST)", "let_dog_out(0)", "deliver()")
    at = office.take(office.first, [office.model.instance(key).index for key in steps])
    number = next(n for n, prop in enumerate(office.properties) if prop.key == "no_card_stays(0)")
    view = office.view(at)
    assert view["quiescent"] and view["truths"][number] == "violated"
    posts = [one for one in view["actions"] if one["key"].startswith("post(")]
    assert posts and all(one["unchecked"] == ["no_card_stays(0)"] for one in posts)
    after = office.view(office.take(at, [posts[0]["instance"]]))
    assert after["truths"][number] == "vacuous" and not after["quiescent"]
    assert all(one["unchecked"] == [] for one in after["actions"] if "changes" in one)


@pytest.mark.parametrize("seed", range(4))
def test_a_walk_continues_with_a_violation_that_was_there_and_stops_at_a_new_one(office, seed):
    steps = ("post(0, FIRST)", "let_dog_out(0)", "deliver()")
    at = office.take(office.first, [office.model.instance(key).index for key in steps])
    old = set(violated_at(office, at))
    assert "nothing_is_lost(0)" in old
    walk = office.walk(at, 30, seed)
    path = [each.number for each in office.path(walk["position"])][len(steps) :]
    assert len(path) > 2 or walk["ended"].startswith("violated")
    for before, after in pairwise(path[:-1]):
        assert set(violated_at(office, after)) <= set(violated_at(office, before))


def violated_at(office, position: int) -> list[str]:
    """The keys of the properties that a position violates."""
    truths = office.view(position)["truths"]
    return [prop.key for prop, truth in zip(office.properties, truths, strict=True) if truth == "violated"]
