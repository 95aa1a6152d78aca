#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Runs jalloc-shm over segments in every state: in use, idle, stale after a kill, poisoned, damaged; over temporary
names; over files that are no segments, links and pipes, which it must leave alone. Where the system allows it, all of
this happens over a /dev/shm of its own, so that sweeping can be tried; else what sweeps is only tried dry.

    check_shm.py PROGRAM MAKER"""

import contextlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

FOLDER = pathlib.Path("/dev/shm")
# library/shm/layout.h: the word "poisoned", the state of slot 1, and its value when who had it is being cleared away.
POISONED, STATE_OF_SLOT_1, REAPING = 516, 4096 + 8, 2
TOP = 1 << 20
INSIDE = "JALLOC_CHECK_SHM_INSIDE"  # set: /dev/shm is this test's own


def require(condition, what):
    if not condition:
        sys.exit(f"check_shm: {what}")


def equal(found, expected, what):
    require(found == expected, f"{what}: {found!r}, where {expected!r} is right")


class Maker:
    """A process that has made a segment and is attached to it."""

    def __init__(self, program, name):
        self.process = subprocess.Popen([program, str(name)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        equal(self.process.stdout.readline(), "ready\n", f"the maker of {name}")

    def leave(self):
        self.process.stdin.close()
        equal(self.process.wait(), 0, "the maker")
        self.process.stdout.close()

    def die(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Check:
    def __init__(self, tool, maker):
        self.tool, self.maker = tool, maker
        self.count = 0
        self.makers, self.paths = [], []

    def run(self, *arguments, status=0):
        found = subprocess.run([self.tool, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               timeout=120, check=False)
        text, errors = found.stdout.decode(), found.stderr.decode()
        equal(found.returncode, status, f"exit status of {arguments} (said {text!r} {errors!r})")
        for c in text + errors:
            require(c == "\n" or c.isprintable(), f"{arguments} writes {c!r}")
        return text if status == 0 else text + errors

    def name(self, what):
        self.count += 1
        name = f"/jalloc-check-{os.getpid()}-{self.count}-{what}"
        self.paths.append(FOLDER / name[1:])
        return name

    def make(self, name):
        maker = Maker(self.maker, name)
        self.makers.append(maker)
        return maker

    def row(self, name, status=0):
        rows = json.loads(self.run("list", "--json", name, status=status).split("jalloc-shm:")[0])["segments"]
        equal(len(rows), 1, f"rows of {name}")
        return rows[0]

    def state(self, name, status=0):
        return self.row(name, status)["state"]

    def listed(self):
        return {row["name"]: row for row in json.loads(self.run("list", "--json"))["segments"]}

    def swept(self, *arguments):
        """Names that a sweep says it takes, or would take."""
        lines = self.run("clear", *arguments).splitlines()
        return {line.split(" remove ")[-1].split("removed ")[-1].split(" (")[0] for line in lines}

    def clean(self):
        for maker in self.makers:
            if maker.process.poll() is None:
                maker.die()
        for path in self.paths:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()

    # ---- What is so ----------------------------------------------------------------------------------------------

    def in_use_idle_and_gone(self):
        name = self.name("live")
        maker = self.make(name)
        row = self.row(name)
        equal((row["state"], row["attached"], row["alive"], row["size_bytes"], row["owner"]),
              ("in use", 1, 1, TOP, os.geteuid()), "a segment in use")
        require(abs(row["created_at"] - time.time()) < 600, "it was made just now")
        require(name in self.listed(), "list shows it")
        require(name in self.run("list", name[1:]) and name in self.run("list", FOLDER / name[1:]), "names are lenient")
        require("sound" in self.run("verify", name) and "sound" in self.run("verify", "--lock", name), "it is sound")
        equal(self.row(name)["attached"], 1, "whoever looked has left")
        require("in use" in self.run("clear", name, status=1), "in use is said")
        require(name not in self.swept("--all", "--dry-run"), "a sweep leaves it")
        self.show(name, maker.process.pid)

        maker.leave()
        equal((self.row(name)["state"], self.row(name)["attached"]), ("idle", 0), "everybody has left")
        require(name not in self.swept("--dry-run"), "idle is not stale")
        require(name in self.swept("--all", "--dry-run"), "--all has it")
        equal(self.state(name), "idle", "a dry run removes nothing")
        self.run("clear", "--older-than", "1h", name)
        equal(self.state(name), "idle", "it is younger")
        self.run("clear", name)
        equal(self.state(name, status=1), "missing", "it is gone")

    def show(self, name, pid):
        about = json.loads(self.run("show", "--json", name))
        books = about["statistics"]
        parts = ("metadata_bytes", "owned_bytes", "given_bytes", "cached_bytes", "free_bytes")
        equal(sum(books[part] for part in parts), books["size_bytes"], "the five parts together")
        equal(sum(part["bytes"] for part in about["extents"].values()), books["size_bytes"], "the extents together")
        require(books["given_bytes"] >= 50000 and books["owned_bytes"] >= 100000 + 100 * 64, "the blocks are counted")
        equal([(slot["slot"], slot["pid"], slot["alive"]) for slot in about["slots"]], [(1, pid, True)], "slots")
        users = {user["id"]: user for user in about["allocators"]}
        equal(sorted(users), ["7", "8"], "allocators")
        equal(users["7"]["live_count"], 102, "live blocks of the general one")
        require(users["8"]["region_bytes"] >= 64 << 10, "the region of the stack")
        text = self.run("show", name)
        for word in ("fragmentation", "alive", str(pid), "Map", "=", "."):
            require(word in text, f"show says {word}")
        require("Map" not in self.run("show", "--no-map", name), "--no-map")
        with tempfile.TemporaryDirectory() as folder:
            picture = pathlib.Path(folder) / "segment.svg"
            self.run("show", "--svg", picture, name)
            root = xml.etree.ElementTree.parse(picture).getroot()
            titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
            require(any("0x0: " in title for title in titles), "the picture begins at 0")
            require(any("allocator 8" in title and "in use" in title for title in titles), "the stack is drawn")
            require(any("of 64 bytes" in title for title in titles), "the slab is in the picture")
            require(any("the segment" in title and "blocks" in title for title in titles), "so is the given block")
            require(picture.stat().st_size < 1 << 19, "the picture is small")
            self.run("show", "--svg", pathlib.Path(folder) / "no" / "segment.svg", name, status=1)

    def stale(self):
        name = self.name("stale")
        self.make(name).die()
        row = self.row(name)
        equal((row["state"], row["attached"], row["alive"]), ("stale", 1, 0), "after a kill")
        require("dead" in self.run("show", name), "show says so")
        require("sound" in self.run("verify", name), "what died leaves a sound segment")
        require(name in self.swept("--dry-run"), "a sweep has it")
        equal(self.state(name), "stale", "a dry run removes nothing")
        require(name not in self.swept("--dry-run", "--older-than", "1h"), "it is younger")
        self.run("clear", name)
        equal(self.state(name, status=1), "missing", "it is gone")

    def killed_while_clearing_away(self):
        name = self.name("reaping")
        self.make(name).die()
        with (FOLDER / name[1:]).open("r+b") as file:
            file.seek(STATE_OF_SLOT_1)
            file.write(bytes([REAPING]))
        row = self.row(name)
        equal((row["state"], row["attached"], row["alive"]), ("stale", 1, 0), "who was cleared away half")
        require("sound" in self.run("verify", name), "it is sound all the same")
        require("sound" in self.run("verify", "--lock", name), "attaching clears the rest away")
        equal(self.state(name), "idle", "then nobody is attached")

    def broken(self):
        name = self.name("poisoned")
        self.make(name).leave()
        path = FOLDER / name[1:]
        with path.open("r+b") as file:
            file.seek(POISONED)
            file.write(b"\1")
        equal(self.state(name), "poisoned", "a poisoned segment")
        require("poisoned" in self.run("verify", name, status=1), "verify says so")
        require(name in self.swept("--dry-run"), "a sweep has it")
        self.run("clear", name)
        require(not path.exists(), "it is gone")

        name = self.name("truncated")
        self.make(name).leave()
        path = FOLDER / name[1:]
        os.truncate(path, 20000)
        equal((self.state(name), self.row(name)["status"]), ("damaged", "JSTATUS_TRUNCATED"), "a truncated segment")
        self.run("show", name, status=1)
        self.run("verify", name, status=1)
        require(name in self.swept("--dry-run"), "a sweep has it")
        self.run("clear", name)
        require(not path.exists(), "it is gone")

        name = self.name("truncated-under-a-process")
        maker = self.make(name)
        path = FOLDER / name[1:]
        os.truncate(path, 20000)
        equal(self.state(name), "damaged", "a segment truncated under a living process")
        self.run("clear", name, status=1)
        require(path.exists(), "it has to wait for the process")
        maker.die()
        self.run("clear", name)
        require(not path.exists(), "and is gone after it")

        name = self.name("poisoned-under-a-process")
        maker = self.make(name)
        path = FOLDER / name[1:]
        with path.open("r+b") as file:
            file.seek(POISONED)
            file.write(b"\1")
        equal(self.state(name), "poisoned", "a segment poisoned under a living process")
        require(name not in self.swept("--dry-run"), "a sweep leaves it")
        self.run("clear", name, status=1)
        require(path.exists(), "it has to wait for the process")
        maker.die()
        require(name in self.swept("--dry-run"), "a sweep has it after that")

        name = self.name("checksum")
        self.make(name).leave()
        path = FOLDER / name[1:]
        with path.open("r+b") as file:
            file.seek(40)
            file.write(b"\xff\xff")
        equal((self.state(name), self.row(name)["status"]), ("damaged", "JSTATUS_CORRUPTED"), "a damaged header")
        self.run("clear", name)
        require(not path.exists(), "it is gone")

    def not_ours(self):
        name = self.name("text")
        path = FOLDER / name[1:]
        path.write_text("somebody's text\n")
        require(name not in self.listed(), "other files are not listed")
        equal(self.state(name, status=1), "not a segment", "a text")
        self.run("clear", name, status=1)
        equal(path.read_text(), "somebody's text\n", "the text is still there")

        name = self.name("empty")
        (FOLDER / name[1:]).touch()
        self.run("clear", name, status=1)
        require((FOLDER / name[1:]).exists(), "the empty file is still there")

        name = self.name("pipe")
        os.mkfifo(FOLDER / name[1:])
        require(name not in self.listed(), "pipes are not listed")
        self.run("clear", name, status=1)
        require((FOLDER / name[1:]).is_fifo(), "the pipe is still there")

        target, link = self.name("target"), self.name("link")
        self.make(target).die()
        os.symlink(FOLDER / target[1:], FOLDER / link[1:])
        require(link not in self.listed(), "links are not listed")
        self.run("clear", link, status=1)
        require((FOLDER / link[1:]).is_symlink() and (FOLDER / target[1:]).exists(), "link and target are still there")

        name = self.name("writable")
        self.make(name).leave()
        os.chmod(FOLDER / name[1:], 0o622)
        equal(self.state(name), "unsafe", "one that others can write to")
        require(name not in self.swept("--all", "--dry-run"), "a sweep leaves it")
        self.run("clear", name, status=1)
        require((FOLDER / name[1:]).exists(), "it is still there")
        if os.geteuid() == 0:
            os.chmod(FOLDER / name[1:], 0o600)
            os.chown(FOLDER / name[1:], 12345, 12345)
            equal((self.state(name), self.row(name)["owner"]), ("unsafe", 12345), "another user's")
            self.run("clear", name, status=1)
            require((FOLDER / name[1:]).exists(), "another user's is still there")

        self.run("clear", self.name("missing"), status=1)
        self.run("show", self.name("missing"), status=1)

    def temporary(self):
        ended = subprocess.Popen(["true"])
        ended.wait()
        base = f"jalloc-check-{os.getpid()}"
        leftover, making = f"/.{base}.jalloc-{ended.pid}-0123abcd", f"/.{base}.jalloc-{os.getpid()}-0123abcd"
        other = f"/.{base}.jalloc-{ended.pid}-not_random"
        for name in (leftover, making, other):
            path = FOLDER / name[1:]
            self.paths.append(path)
            path.touch(mode=0o600)
            os.utime(path, (0, 0))
        rows = self.listed()
        equal((rows[leftover]["state"], rows[making]["state"]), ("leftover", "being made"), "temporary names")
        require(other not in rows, "a name that is not quite one")
        os.utime(FOLDER / leftover[1:])
        equal(self.listed()[leftover]["state"], "being made", "a temporary name of this minute")
        os.utime(FOLDER / leftover[1:], (0, 0))
        swept = self.swept("--dry-run")
        require(leftover in swept and making not in swept, "a sweep has the leftover alone")
        self.run("clear", making, status=1)
        self.run("clear", other, status=1)
        self.run("clear", leftover)
        equal([(FOLDER / name[1:]).exists() for name in (leftover, making, other)], [False, True, True], "what is left")

    def files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "segment"
            maker = self.make(path)
            equal(self.state(path), "in use", "a file")
            self.run("clear", path, status=1)
            maker.die()
            equal(self.state(path), "stale", "a file after a kill")
            equal(self.state(path / "below", status=1), "missing", "a path through a file")
            self.run("clear", path)
            require(not path.exists(), "the file is gone")

    def strange_names(self):
        plain, strange = self.name("plain"), self.name("\x1b[31m\"\\\n")
        self.make(plain).die()
        os.rename(FOLDER / plain[1:], FOLDER / strange[1:])
        self.run("list", "--json")
        self.run("list")
        self.run("show", strange)
        self.run("verify", strange)
        self.run("clear", strange)
        require(not (FOLDER / strange[1:]).exists(), "it is gone")

    def completed(self):
        """By bash: what list shows, by its beginning, and nothing that the shell would run."""
        completion = pathlib.Path(self.tool).resolve().parents[1] / "completions" / "jalloc-shm"
        if not shutil.which("bash") or not completion.exists():
            return
        mesh, evil = self.name("mesh"), self.name("$(touch evil)")
        makers = [self.make(mesh), self.make(evil)]

        def complete(*words):
            script = (f"PATH={shlex.quote(str(pathlib.Path(self.tool).resolve().parent))}:$PATH; source {shlex.quote(str(completion))}; "
                      f"COMP_WORDS=(jalloc-shm {shlex.join(words)}); COMP_CWORD={len(words)}; "
                      "_jalloc_shm; printf '%s\\n' \"${COMPREPLY[@]}\"")
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(["bash", "-c", script], cwd=folder, text=True, capture_output=True, check=True, timeout=60)
                equal((done.stderr, os.listdir(folder)), ("", []), "completion")
            return done.stdout.split()

        for beginning in (mesh[:-1], mesh[1:-1]):
            equal(complete("show", beginning), [mesh], f"completed: {beginning}")
        equal(complete("show", evil[:-3]), [], "completed: a name that is not usual")
        equal(complete("sho"), ["show"], "completed: a command")
        for maker in makers:
            maker.leave()

    def sweeps(self):
        """For real, where nobody else's segments can be hit."""
        names = {state: self.name(state) for state in ("live", "idle", "stale")}
        makers = {state: self.make(name) for state, name in names.items()}
        makers["idle"].leave()
        makers["stale"].die()
        foreign = self.name("foreign")
        (FOLDER / foreign[1:]).write_text("text")
        there = lambda: {path.name for path in FOLDER.iterdir()}
        require(names["stale"] in self.swept(), "it says what it removes")
        require(names["stale"][1:] not in there(), "stale ones go")
        require(names["idle"][1:] in there(), "idle ones stay")
        self.swept("--all")
        require(names["idle"][1:] not in there(), "with --all idle ones go")
        require({names["live"][1:], foreign[1:]} <= there(), "living and foreign ones stay")
        makers["live"].leave()

    def usage(self):
        require("usage" in self.run("--help") and "usage" in self.run("list", "--help"), "help")
        for arguments in ([], ["nonsense"], ["show"], ["show", "a", "b"], ["verify"], ["list", "--svg", "x"],
                          ["clear", "--all", "x"], ["clear", "--older-than", "soon"], ["clear", "--older-than", "-1"],
                          ["list", "--nonsense"]):
            require("; see --help" in self.run(*arguments, status=2), f"{arguments} is bad usage")


def main():
    tool, maker = sys.argv[1:3]
    if INSIDE not in os.environ and os.geteuid() == 0 and shutil.which("unshare"):
        own = ["unshare", "--mount", "--propagation", "private",
               "sh", "-c", 'mount -t tmpfs tmpfs /dev/shm && exec "$@"', "sh"]
        if subprocess.run([*own, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            os.environ[INSIDE] = "1"
            os.execvp(own[0], [*own, sys.executable, *sys.argv])
    check = Check(tool, maker)
    try:
        for part in (check.usage, check.in_use_idle_and_gone, check.stale,
                     check.killed_while_clearing_away, check.broken, check.not_ours,
                     check.temporary, check.files, check.strange_names, check.completed):
            part()
        if INSIDE in os.environ:
            check.sweeps()
        else:
            print("check_shm: no /dev/shm of its own: sweeping was tried dry alone")
    finally:
        check.clean()
    print("check_shm: as it should be")


if __name__ == "__main__":
    main()
