#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two machines: a daemon over TCP with certificates made on the spot, a second one that has it as
its upstream, and the command line as a client of the first. What works, and what everybody is told
when something does not.

usage: remote_cli_test.py BUILD_FOLDER ROOT
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import unittest

from cli_case import BUILD, ROOT, CliCase
from waiting import wait_until

HERE = "DNS:localhost,IP:127.0.0.1"
UNKNOWN_TOKEN = "kiln_0123456789abcdef_" + "0" * 64 + "\n"


class Remote(CliCase):
    def setUp(self):
        super().setUp()
        self.started = []
        self.certificates = self.dir / "tls"
        self.certificates.mkdir()
        self.make_authority("ca")
        self.make_authority("other_ca")
        self.make_certificate("server", "ca")
        self.make_certificate("client", "ca")
        self.make_certificate("old_client", "ca", days=-1)
        self.make_certificate("stranger", "other_ca")
        (self.certificates / "rubbish.pem").write_text("this is no certificate\n")

    def tearDown(self):
        for process in self.started:
            self.end(process)
        super().tearDown()

    # -- what the tests are made of

    def openssl(self, *arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True,
                       cwd=self.certificates)

    def make_authority(self, name):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                     "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj",
                     f"/CN={name}", "-days", "2")

    def make_certificate(self, name, authority, days=2, host=HERE):
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                     "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        self.sign(name, authority, days, host)

    def sign(self, name, authority, days, host=HERE):
        (self.certificates / "ext").write_text(f"subjectAltName={host}\n")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey",
                     f"{authority}.key", "-CAcreateserial", "-out", f"{name}.pem", "-days", days,
                     "-extfile", "ext")

    def expire(self, url):
        """The certificate of the far daemon does, while it runs: it starts with none that has."""
        self.sign("server", "ca", -1)
        self.assertTrue(wait_until(lambda: self.client(url, "status").returncode != 0),
                        "the daemon still has its old certificate")

    def tls(self, name):
        return str(self.certificates / name)

    def end(self, process):
        if process.poll() is None:
            process.kill()
            process.wait()

    def daemon(self, name, config):
        """One in a folder of its own, with that configuration, ready."""
        folder = self.dir / name
        folder.mkdir(exist_ok=True)
        (folder / "kilnd.toml").write_text(config)
        read, write = os.pipe()
        env = {k: v for k, v in self.env.items() if not k.startswith("KILN_")}
        with open(folder / "kilnd.log", "ab") as log:
            process = subprocess.Popen(
                [str(BUILD / "kilnd"), f"--ready-fd={write}", "--config", str(folder / "kilnd.toml"),
                 "--allow-root", "--cache.dir", str(folder / "cache"), "--cache.min_free=0",
                 "--listen.unix", str(folder / "run/kilnd.sock")],
                pass_fds=[write], cwd=folder, env=env, stderr=log)
        os.close(write)
        self.started.append(process)
        with os.fdopen(read) as pipe:
            said = json.loads(pipe.readline())
        self.assertTrue(said["ready"], said)
        return process

    def of(self, name):
        """The environment of a client of that daemon."""
        return {"KILN_DAEMON": f"unix:{self.dir}/{name}/run/kilnd.sock"}

    def far(self, certificate="server"):
        """The daemon on the other machine, behind TCP; its address. It has a token of each scope."""
        (self.dir / "far").mkdir(exist_ok=True)
        config = (f'[listen]\ntcp = "127.0.0.1:0"\n[tls]\ncert = "{self.tls(certificate)}.pem"\n'
                  f'key = "{self.tls(certificate)}.key"\nclient_ca = "{self.tls("ca.pem")}"\n')
        (self.dir / "far/kilnd.toml").write_text(config)
        for scope in "read", "write", "peer":
            made = self.run_program("kilnd", "--config", self.dir / "far/kilnd.toml",
                                    "--cache.dir", self.dir / "far/cache",
                                    "token", "create", "--scope", scope, "--tenant", scope)
            self.assertEqual(made.returncode, 0, made.stderr)
            (self.dir / scope).write_text(made.stdout)
        (self.dir / "unknown").write_text(UNKNOWN_TOKEN)
        self.daemon("far", config)
        status = self.objects(self.kiln("--json", "status", env=self.of("far")))[0]
        address = [t for t in status["transports"] if t.startswith("tcp:")][0]
        return "https://localhost:" + address.rsplit(":", 1)[1]

    def near(self, url, ca="ca.pem", cert="client", token="peer", mode="read_write"):
        """The daemon on this machine, without a past."""
        rows = [f'url = "{url}"', f'mode = "{mode}"', 'deadline = "20s"']
        rows += [f'tls_ca = "{self.tls(ca)}"'] if ca else []
        rows += [f'tls_cert = "{self.tls(cert)}.pem"', f'tls_key = "{self.tls(cert)}.key"'] if cert else []
        rows += [f'token_file = "{self.dir / token}"'] if token else []
        return self.daemon("near", "[[upstream]]\n" + "\n".join(rows) + "\n")

    def objects(self, result):
        return [json.loads(line) for line in result.stdout.splitlines()]

    def compile(self, name):
        self.expect(self.kiln("compile", "some", "-o", "fog=true", "--out", f"out_{name}",
                              env=self.of(name)), 0)

    def explained(self, name):
        return self.expect(self.kiln("explain", "--last", env=self.of(name)), 0).stdout

    # -- a shared cache between machines

    def test_what_one_machine_made_another_finds(self):
        self.write_project()
        url = self.far()
        self.compile("far")
        self.near(url)
        self.compile("near")
        self.assertRegex(self.explained("near"), r"hit \(upstream\)")
        spirv = [sorted(p.read_bytes() for p in (self.dir / f"out_{name}").glob("*.spv"))
                 for name in ("far", "near")]
        self.assertTrue(spirv[0])
        self.assertEqual(spirv[0], spirv[1])
        self.expect(self.kiln("status", env=self.of("near")), 0, f"upstream     {url} answers in ")
        row = self.objects(self.kiln("--json", "status", env=self.of("near")))[0]["upstreams"]
        self.assertEqual([(r["url"], r["state"], r["cause"]) for r in row], [(url, "answers", None)])
        self.expect(self.kiln("doctor", env=self.of("near")), 0, f"upstream      {url} answers in ")

    def test_an_upstream_that_fails_is_named_with_its_cause_everywhere(self):
        self.write_project()
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))  # and does not listen
            nobody = f"https://localhost:{closed.getsockname()[1]}"
            url = self.far()
            rows = [
                ("wrong_ca", dict(ca="other_ca.pem"), ["is not signed by the authority in", "upstream.tls_ca"]),
                ("system_ca", dict(ca=None), ["is not signed by an authority of this system"]),
                ("no_certificate", dict(cert=None), ["takes nobody without a client certificate", "upstream.tls_cert"]),
                ("expired_certificate", dict(cert="old_client"), ["old_client.pem' expired on", "renew it"]),
                ("strangers_certificate", dict(cert="stranger"), ["does not take the client certificate", "tls.client_ca"]),
                ("no_file", dict(cert="nowhere"), ["upstream.tls_cert", "nowhere.pem' cannot be read"]),
                ("rubbish", dict(ca="rubbish.pem"), ["upstream.tls_ca", "holds no certificate in PEM"]),
                ("closed_port", dict(url=nobody), ["nobody listens at localhost:", "listen.tcp"]),
                ("unknown_host", dict(url="https://nowhere.invalid:1"), ["the host 'nowhere.invalid' is not known"]),
                ("unknown_token", dict(token="unknown"), ["token"]),
                ("no_token", dict(token=None), ["token"]),
                ("token_file_missing", dict(token="nowhere"), ["upstream.token_file", "cannot be read"]),
                ("token_file_rubbish", dict(token="kiln.toml"), ["upstream.token_file", "holds no token"]),
            ]
            for name, how, causes in rows:
                with self.subTest(name):
                    process = self.near(**{"url": url, **how})
                    self.addCleanup(self.end, process)
                    self.compile("near")  # an upstream's failure is nobody's
                    shown = {
                        "explain": self.explained("near"),
                        "status": self.expect(self.kiln("status", env=self.of("near")), 0, " fails").stdout,
                        "doctor": self.expect(self.kiln("doctor", env=self.of("near")), 4, "FAIL  upstream").stdout,
                    }
                    self.assertIn("upstream_unreachable", shown["explain"])
                    for where, text in shown.items():
                        for cause in causes:
                            self.assertIn(cause, text, where)
                    self.end(process)
                    subprocess.run(["rm", "-rf", str(self.dir / "near")], check=True)

    def test_an_upstream_with_an_expired_certificate_is_said_to_have_one(self):
        self.write_project()
        url = self.far()
        self.expire(url)
        self.near(url)
        self.compile("near")
        self.assertRegex(self.explained("near"), "the certificate of localhost:[0-9]+ expired on")
        self.expect(self.kiln("doctor", env=self.of("near")), 4, "expired on")

    def test_the_log_and_the_health_name_the_cause(self):
        self.write_project()
        self.near(self.far(), ca="other_ca.pem")
        for fog in "true", "false":  # five calls fail, and then it is left alone
            for skinning in "true", "false":
                self.kiln("compile", "some", "-o", f"fog={fog}", "-o", f"skinning={skinning}",
                          "--out", "out", env=self.of("near"))
        self.expect(self.kiln("status", env=self.of("near")), 0, "reason upstream-down: https://",
                    "is not signed by the authority in")
        log = (self.dir / "near/kilnd.log").read_text()
        down = [json.loads(line) for line in log.splitlines() if '"does not answer"' in line]
        self.assertEqual(len(down), 1, log)
        self.assertIn("is not signed by the authority in", down[0]["cause"])
        self.assertNotIn("ssl_transport_security", log)

    def test_a_read_token_is_enough_to_read_and_said_to_be_too_little_to_write(self):
        self.write_project()
        url = self.far()
        self.compile("far")
        self.near(url, token="read", mode="read_only")
        self.compile("near")
        self.assertRegex(self.explained("near"), r"hit \(upstream\)")

    def test_a_renewed_token_is_read_again(self):
        self.write_project()
        url = self.far()
        (self.dir / "renewed").write_text(UNKNOWN_TOKEN)
        self.near(url, token="renewed")
        self.expect(self.kiln("status", env=self.of("near")), 0, " fails")
        (self.dir / "renewed").write_text((self.dir / "peer").read_text())
        self.assertTrue(wait_until(  # the daemon looks at the file again
            lambda: f"{url} answers" in self.kiln("status", env=self.of("near")).stdout))

    # -- the command line as a client

    def client(self, url, *arguments, ca="ca.pem", cert="client", token="read"):
        flags = ["--daemon", url, "--token-file", self.dir / token]
        flags += ["--tls-ca", self.tls(ca)] if ca else []
        flags += ["--tls-cert", self.tls(cert) + ".pem", "--tls-key", self.tls(cert) + ".key"] if cert else []
        return self.kiln(*flags, *arguments)

    def test_a_client_is_told_what_is_the_matter_and_what_to_do(self):
        self.write_project()
        self.make_certificate("elsewhere", "ca", host="DNS:elsewhere.invalid")
        url = self.far()
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))  # and does not listen
            rows = [
                (dict(), 0, ["SERVING"]),
                (dict(ca="other_ca.pem"), 9, ["is not signed by the authority in", "--tls-ca"]),
                (dict(ca=None), 9, ["an authority of this system", "--tls-ca"]),
                (dict(cert=None), 9, ["takes nobody without a client certificate", "--tls-cert"]),
                (dict(cert="old_client"), 9, ["old_client.pem' expired on", "renew it"]),
                (dict(cert="stranger"), 9, ["does not take the client certificate", "client_ca"]),
                (dict(ca="rubbish.pem"), 2, ["--tls-ca", "holds no certificate in PEM"]),
                (dict(token="unknown"), 9, ["token"]),
                (dict(url=f"https://localhost:{closed.getsockname()[1]}"), 4, ["nobody listens at", "listen.tcp"]),
                (dict(url="https://nowhere.invalid:1"), 4, ["the host 'nowhere.invalid' is not known"]),
            ]
            for how, code, texts in rows:
                for verb in (["status"], ["compile", "some", "--out", "o"], ["cache", "stats"], ["stop"]):
                    if code == 0 and verb != ["status"]:
                        continue
                    with self.subTest(how=how, verb=verb):
                        result = self.client(*[how.get("url", url), *verb],
                                             **{k: v for k, v in how.items() if k != "url"})
                        self.expect(result, code, *texts)
                        self.assertNotRegex(result.stderr, r"(?m)^[EID]\d{4} |ssl_transport")
                        if code != 0:
                            self.assertRegex(result.stderr, r"\Aerror: [^\n]+\n\Z")
        self.expire(url)
        self.expect(self.client(url, "status"), 9, "the certificate of localhost:", "expired on",
                    "renewed there")
        self.end(self.started[-1])
        self.expect(self.client(self.far("elsewhere"), "status"), 9, "is another host's")

    def test_a_key_with_a_pass_phrase_is_refused_without_asking(self):
        url = self.far()
        for form in "pkcs8", "rsa":  # a line of its own, and the older form with a head
            with self.subTest(form=form):
                protected = pathlib.Path(self.tls("protected") + ".key")
                pathlib.Path(self.tls("protected") + ".pem").write_bytes(
                    pathlib.Path(self.tls("client") + ".pem").read_bytes())
                if form == "pkcs8":
                    subprocess.run(["openssl", "pkcs8", "-topk8", "-in", self.tls("client") + ".key",
                                    "-passout", "pass:some", "-out", str(protected)], check=True)
                else:
                    subprocess.run(["openssl", "genrsa", "-aes128", "-traditional", "-passout",
                                    "pass:some", "-out", str(protected), "2048"], check=True,
                                   stderr=subprocess.DEVNULL)
                self.expect(self.client(url, "status", cert="protected"), 2,
                            "protected by a pass phrase, which nobody can be asked for")

    def test_who_failed_too_often_is_still_told_why(self):
        self.write_project()
        url = self.far()
        for _ in range(12):  # ten in a minute make a pause
            refused = self.client(url, "status", token="unknown")
            self.expect(refused, 9, "this token is not known")
        self.expect(refused, 9, "wait for 60 s")
        self.near(url, token="unknown")
        self.expect(self.kiln("status", env=self.of("near")), 0, "this token is not known")

    def test_the_token_of_another_daemon_is_refused_with_what_to_do(self):
        made = self.kiln("token", "create", "--scope", "admin")  # of the user's own daemon
        self.expect(made, 0)
        (self.dir / "mine").write_text(made.stdout)
        self.expect(self.client(self.far(), "status", token="mine"), 9, "kiln token create")

    def test_upstreams_that_cannot_be_are_refused_by_the_configuration(self):
        rows = [
            ('url = "http://cache.example:7411"', "'upstream.url' = 'http://cache.example:7411' is not"),
            ('url = "http://127.0.0.1:7411"', "is not"),
            ('url = "unix:/run/kilnd.sock"\ntls_ca = "ca.pem"', "are of https"),
            ('url = "https://cache.example:7411"\ntls_cert = "a.pem"', "tls_cert and tls_key go together"),
            ('url = "https://cache.example:7411"\ntls_key = "a.key"', "tls_cert and tls_key go together"),
            ('tls_ca = "ca.pem"', "an upstream needs a url"),
        ]
        for rows_of_one, text in rows:
            with self.subTest(rows_of_one):
                (self.dir / "bad.toml").write_text("[[upstream]]\n" + rows_of_one + "\n")
                result = self.kiln("config", "check", "bad.toml")
                self.expect(result, 2, text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
