"""A ZooKeeper with TLS and SASL, if the jars of the lab are there: certificates and passwords of `kwalk collect`."""

from __future__ import annotations

import shutil
import socket
import subprocess

import pytest

from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.zookeeper import create
from tests.collect.clusters import SECRET

pytest.importorskip("kazoo", reason="kazoo is not installed; run make setup")
pytestmark = [
    pytest.mark.lab,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed"),
]
JAAS = """Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required user_reader="PASSWORD";
};
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def certificate(folder, name):
    """A certificate of localhost that is its own authority, and its key, as PEM files."""
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        f"/CN={name}",
        "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "-keyout",
        f"{folder}/{name}.key",
        "-out",
        f"{folder}/{name}.pem",
    ]
    subprocess.run(command, check=True, capture_output=True)
    both = (folder / f"{name}.key").read_text() + (folder / f"{name}.pem").read_text()
    (folder / f"{name}.both.pem").write_text(both)


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    """A ZooKeeper with a port for TLS; its folder of certificates, and its ports."""
    folder = tmp_path_factory.mktemp("secured")
    for name in ("server", "client", "stranger"):
        certificate(folder, name)
    (folder / "jaas.conf").write_text(JAAS.replace("PASSWORD", SECRET))
    port, tls = free_port(), free_port()
    settings = {
        "secureClientPort": tls,
        "authProvider.1": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
        "ssl.keyStore.location": folder / "server.both.pem",
        "ssl.keyStore.type": "PEM",
        "ssl.trustStore.location": folder / "client.pem",
        "ssl.trustStore.type": "PEM",
    }
    java = (
        "-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
        f"-Djava.security.auth.login.config={folder / 'jaas.conf'}",
    )
    lab = Lab(folder / "lab", LabOptions(brokers=1))
    try:
        lab.start_zookeeper(port, settings, java)
        for path in ("/brokers", "/brokers/ids", "/brokers/topics"):
            lab.zk.do(create(path))
        yield folder, port, tls
    finally:
        lab.close()


@pytest.fixture
def collect(secured, kwalk, tmp_path, monkeypatch):
    """Run `kwalk collect` against it, with TLS or without."""
    folder, port, tls = secured
    (tmp_path / "password").write_text(f"{SECRET}\n")
    (tmp_path / "wrong").write_text("wrong\n")
    monkeypatch.chdir(tmp_path)

    def run(*words, encrypted=False, seconds=20):
        words = [word.format(folder=folder) for word in words]
        address = f"localhost:{tls if encrypted else port}"
        return kwalk("collect", address, "--release", "3.9.0", "--seconds", str(seconds), *words)

    return run


WITH_TLS = ("--tls-ca", "{folder}/server.pem", "--tls-cert", "{folder}/client.pem", "--tls-key", "{folder}/client.key")


def test_with_the_certificates_that_zookeeper_trusts_it_is_read(collect):
    ran = collect(*WITH_TLS, encrypted=True)
    assert (ran.code, ran.out.splitlines()[0][:9]) == (0, "Snapshot:")


@pytest.mark.parametrize(
    "words",
    [
        ("--tls",),
        ("--tls-ca", "{folder}/stranger.pem", *WITH_TLS[2:]),
        (*WITH_TLS[:2], "--tls-cert", "{folder}/stranger.pem", "--tls-key", "{folder}/stranger.key"),
    ],
)
def test_with_other_certificates_it_is_refused_in_one_line(collect, words):
    ran = collect(*words, encrypted=True, seconds=2)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "No ZooKeeper answers at localhost:" in ran.err


def test_with_a_password_for_sasl_it_is_read(collect):
    pytest.importorskip("puresasl", reason="pure-sasl is not installed")
    ran = collect("--sasl", "reader", "--password-file", "password")
    assert (ran.code, ran.out.splitlines()[0][:9]) == (0, "Snapshot:")
    assert SECRET not in ran.out + ran.err


def test_with_a_wrong_password_for_sasl_it_is_refused_in_one_line(collect):
    pytest.importorskip("puresasl", reason="pure-sasl is not installed")
    ran = collect("--sasl", "reader", "--password-file", "wrong")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "refuses the password" in ran.err


def test_a_user_of_the_scheme_digest_is_accepted(collect):
    ran = collect("--digest", "reader", "--password-file", "password")
    assert ran.code == 0
