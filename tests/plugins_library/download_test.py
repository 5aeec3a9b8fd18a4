"""Downloads resume, check their sum and are atomic: against a server on this machine.

    python3 download_test.py NEXUML_RUN
"""
import gzip
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SCENARIO = Path(__file__).resolve().parent.parent / "data" / "scenarios" / "mnist-resnet.yaml"


class Server(ThreadingHTTPServer):
    """Serves `files`; cuts the first answer off after `cut` bytes."""

    def __init__(self, files, cut=None):
        self.files, self.cut, self.ranges = files, cut, []
        super().__init__(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.server.files.get(self.path.rsplit("/", 1)[-1])
        if body is None:
            self.send_error(404)
            return
        begin = 0
        if match := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")):
            begin = int(match.group(1))
            self.server.ranges.append(begin)
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(body) - begin))
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
        self.end_headers()
        end = len(body)
        if self.server.cut is not None and not begin:
            end, self.server.cut = self.server.cut, None
        self.wfile.write(body[begin:end])
        self.wfile.flush()
        if end < len(body):
            self.connection.close()

    def log_message(self, *arguments):
        pass


def train(host, folder, mirror, *options):
    environment = dict(os.environ, NEXUML_DATA_ROOT=str(folder), NEXUML_LOGS_ROOT=str(folder),
                       NEXUML_DOWNLOAD_MIRROR=mirror)
    return subprocess.run([host, "train", str(SCENARIO), "--max-epochs", "1", *options], env=environment,
                          capture_output=True, text=True)


def check(condition, run):
    if not condition:
        sys.exit(f"exit {run.returncode}\n{run.stdout[-500:]}\n{run.stderr[-2000:]}")


def main():
    host = sys.argv[1]
    body = gzip.compress(bytes(range(256)) * 64, mtime=0)
    name = "train-images-idx3-ubyte.gz"
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        target = folder / "mnist" / name

        server = Server({name: body}, cut=len(body) // 2)
        run = train(host, folder, server.address)
        part = target.with_name(name + ".part")
        check(run.returncode == 1 and name in run.stderr and not target.exists() and part.stat().st_size > 0, run)

        # The rest arrives, and what came is not what was published: nothing appears under the name.
        have = part.stat().st_size
        run = train(host, folder, server.address)
        check(have in server.ranges, run)
        check(run.returncode == 1 and hashlib.md5(body).hexdigest() in run.stderr and not target.exists(), run)

        # A file that is there is not fetched; a server that lacks the next one is named.
        target.write_bytes(body)
        run = train(host, folder, server.address)
        check(run.returncode == 1 and "train-labels-idx1-ubyte.gz" in run.stderr and "404" in run.stderr, run)

        # Without `download` nothing is fetched.
        run = train(host, folder / "none", server.address, "-O", "data.datasets[0].source.params.download=false",
                    "-O", "data.datasets[1].source.params.download=false")
        check(run.returncode == 1 and "set download: true" in run.stderr and not (folder / "none").exists(), run)
    print("downloads resume, are checked and atomic")


main()
