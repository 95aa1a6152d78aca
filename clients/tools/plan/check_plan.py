#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Logs the calls of jblas-bench, asks jalloc-plan about them, and holds its answer against what jblas-bench says of each
call: with the minimal bytes every call runs and with a granule less one does not; the optimal bytes are the largest of
the size queries; handles add up. Then budgets, pictures, measurements, and input that is wrong.

    check_plan.py JALLOC_PLAN JBLAS_BENCH"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

GRANULE = 64
MEBIBYTE = 1 << 20
# Of the last one has no rung without workspace.
CALLS = ["-f trsm -r d --side L -m 200 -n 70", "-f gemm -r s -m 150 -n 150 -k 150", "-f getrf -r d -m 160 -n 160",
         "-f geqp3 -r d -m 90 -n 60"]


def require(condition, what):
    if not condition:
        sys.exit(f"check_plan: {what}")


def run(*command, data=None, **variables):
    env = {name: value for name, value in os.environ.items() if not name.startswith("JALLOC_")}
    env.update({"JALLOC_THREADS": "1"} | variables)
    done = subprocess.run([str(word) for word in command], env=env, input=data, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace")


class Check:
    def __init__(self, plan, bench, folder):
        self.plan_tool, self.bench, self.folder = plan, bench, folder

    def plan(self, log, *options):
        code, output, errors = run(self.plan_tool, "--json", log, *options)
        require(code == 0, f"{log} {options}: {code} {errors}")
        return json.loads(output)

    def refused(self, code, *arguments, data=None):
        """The message of a run that ends so."""
        got, output, errors = run(self.plan_tool, *arguments, data=data)
        require(got == code and errors.startswith("jalloc-plan: "), f"{arguments}: {got} {output} {errors}")
        return errors

    def bench_json(self, call, *options):
        _, output, errors = run(self.bench, *call.split(), "--json", "-i", "1", "-j", "0", *options)
        require(output, f"{call} {options}: {errors}")
        return json.loads(output)

    def text(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def logged(self):
        """One line of each call, and beside them the lines of one process."""
        lines = []
        for call in CALLS:
            code, _, errors = run(self.bench, *call.split(), "-i", "1", "-j", "0", JALLOC_LAYER="2")
            found = [line for line in errors.splitlines() if line.startswith("jblas-bench -f ")]
            require(code == 0 and found, f"{call}: {code} {errors}")
            lines.append(found[-1])
            require(re.search(r" --handle \d+ ", found[-1]), f"no handle: {found[-1]}")
        return [re.sub(r" --handle \d+ ", " --handle 1 ", line) for line in lines]

    # ---- What is needed ----

    def check_needs(self, lines):
        queried = [self.bench_json(call)["asked_bytes"] for call in CALLS]
        log = self.text("one.log", "\n".join(lines) + "\n")
        plan = self.plan(log)
        require(plan["optimal_bytes"] == max(queried), f"optimal {plan['optimal_bytes']}, queried {queried}")
        require(plan["calls"] == plan["kinds"] == len(CALLS) and plan["handles"] == 1, f"counts: {plan}")
        require("geqp3" in plan["minimal_call"], f"who needs it: {plan['minimal_call']}")

        minimal = plan["minimal_bytes"]
        fixed = ["--mode", "manual", "--workspace"]
        runs = [self.bench_json(call, *fixed, str(minimal))["good"] for call in CALLS]
        require(minimal > 0 and all(runs), f"with the minimum: {minimal} {runs}")
        below = self.bench_json(CALLS[-1], *fixed, str(minimal - GRANULE))
        require(below["status"] == "JSTATUS_MEMORY_ERROR", f"with a granule less: {below}")

        steps = plan["steps"]
        require([step["bytes"] for step in steps] == sorted({step["bytes"] for step in steps}), f"order: {steps}")
        require(steps[0]["bytes"] == minimal and steps[-1]["bytes"] == plan["optimal_bytes"], f"ends: {steps}")
        require(steps[-1]["degraded"] == 0 and abs(steps[-1]["ratio"] - 1) < 1e-6, f"the best: {steps[-1]}")
        for step in steps:
            # Each step is where a call's rung changes, as the benchmark sees it.
            call = next(call for call in CALLS if re.match(rf"j\w+_[sd]{call.split()[1]} ", step["call"]))
            at = self.bench_json(call, *fixed, str(step["bytes"]))["rung"]
            require(at == 0 or step != steps[-1], f"not the best rung on the last step: {step}")
            if step != steps[0]:
                before = self.bench_json(call, *fixed, str(step["bytes"] - GRANULE))["rung"]
                require(at < before, f"no better rung on {step}: {before} {at}")
        require(plan["setting"] == f"JALLOC_DEVICE_MEMORY_SIZE={plan['optimal_bytes']}", f"setting: {plan['setting']}")
        return log, plan

    def check_handles(self, lines, one):
        both = self.text("two.log", "\n".join(lines + [line.replace("--handle 1", "--handle 2") for line in lines]) + "\n")
        plan = self.plan(both)
        require(plan["handles"] == 2 and plan["calls"] == 2 * one["calls"], f"two handles: {plan}")
        for which in ("minimal_bytes", "optimal_bytes"):
            require(plan[which] == 2 * one[which], f"{which} of two: {plan[which]}, of one: {one[which]}")
        require(plan["setting"] == f"JALLOC_BUDGET={plan['optimal_bytes']}", f"setting: {plan['setting']}")
        ordered = self.plan(both, "--in-order")
        for which in ("minimal_bytes", "optimal_bytes"):
            require(ordered[which] == one[which], f"{which} in order: {ordered[which]}")

        # A log without numbers is one handle's; what a caller holds is added.
        old = self.text("old.log", "\n".join(line.replace(" --handle 1", "") for line in lines) + "\n")
        require(self.plan(old)["steps"] == one["steps"], "a log without numbers of handles")
        held = self.text("held.log", "\n".join([lines[0].replace("--mode", "--borrowed 4096 --mode")] + lines[1:]) + "\n")
        plan = self.plan(held)
        for which in ("minimal_bytes", "optimal_bytes"):
            require(plan[which] == one[which] + 4096, f"{which} within a borrow: {plan[which]}")
        message = self.refused(1, held, "--budget", str(plan["minimal_bytes"] - GRANULE))
        require(f"lacks {GRANULE}:" in message and "4096 of it held by callers" in message and "the rest jlapack_dgeqp3" in message,
                f"too small for what is held, too: {message}")
        alone = self.text("alone.log", "jblas-bench -f dot -r d -n 9 --incx 1 --incy 1 --borrowed 4096 --mode default\n")
        message = self.refused(1, alone, "--budget", "4032")
        require("lacks 64:" in message and message.rstrip().endswith("4096 of it held by callers around them"),
                f"too small for what is held: {message}")

    def check_counts(self, lines, one):
        """Equal lines are counted, whatever the handle held; text between them is passed over."""
        changed = [re.sub(r"--workspace \d+", "--workspace 64", line).replace("--mode default", "--mode manual") for line in lines]
        many = self.text("many.log", "".join(f"noise {i}\n{lines[i % 4]}\n{changed[i % 4]}\n" for i in range(40000)))
        plan = self.plan(many)
        require(plan["calls"] == 80000 and plan["kinds"] == 4 and plan["other_lines"] == 40000, f"counts: {plan}")
        factor = plan["steps"][0]["seconds"] / one["steps"][0]["seconds"]
        require(abs(factor - 20000) < 1, f"times: {factor}")
        scaled = self.text("scaled.log", "".join(f"jblas-bench -f scal -r {kind} -n 9 --alpha {value} --incx 1\n" for kind, value in (
            ("d", "0.25"), ("d", "-3e-5"), ("d", "0"), ("d", "1"), ("d", "nan"), ("z", "0.5,1"), ("z", "0,-7"), ("z", "0,1"))) +
            "".join(f"jblas-bench -f rot -r d -n 9 --incx 1 --incy 1 --c {c} --s {s}\n" for c, s in (
                ("0.6", "0.8"), ("0.8", "-0.6"), ("1", "0"))))
        # Of d any, 0, 1 and what is no number; of z any and i; rotations any and none.
        require((self.plan(scaled)["calls"], self.plan(scaled)["kinds"]) == (11, 8), f"scalars: {self.plan(scaled)}")
        require(len(self.plan(scaled, "--verify")["verified"]) > 0, "they can be made")
        tagged = self.text("tagged.log", "".join(f"[1,0]<stderr>:{line}\n" for line in lines))
        require(self.plan(tagged)["steps"] == one["steps"], "lines behind a tag")
        piped = run(self.plan_tool, "-", "--json", data="\n".join(lines).encode())
        require(piped[0] == 0 and json.loads(piped[1])["steps"] == one["steps"], f"standard input: {piped}")

    def check_promises(self):
        """Three products instead of four are normwise and of other bits: a line says what its handle allowed."""
        for policy, accuracy, rung in (("fast", "normwise", "3m"), ("same_bits", "normwise", "packed"),
                                       ("fast", "componentwise", "packed")):
            log = self.text("promises.log", "jblas-bench -f gemm -r z -m 512 -n 512 -k 512 "
                            f"--policy {policy} --accuracy {accuracy} --pointer_mode host\n")
            best = self.plan(log)["steps"][-1]["rung"]
            require(best == rung, f"{policy}, {accuracy}: {best}")

    # ---- Budgets ----

    def check_budget(self, log, one):
        minimal, optimal = one["minimal_bytes"], one["optimal_bytes"]
        message = self.refused(1, log, "--budget", str(minimal - GRANULE))
        require(f"lacks {GRANULE}:" in message and "jlapack_dgeqp3 m=90 n=60" in message, f"too small: {message}")
        for share in (0, 0.25, 0.5, 1):
            budget = int(minimal + share * (optimal - minimal))
            plan = self.plan(log, "--budget", str(budget))
            chosen = plan["budget"]
            step = [step for step in one["steps"] if step["bytes"] <= budget][-1]
            require(chosen["used_bytes"] <= budget and chosen["seconds"] <= step["seconds"] * (1 + 1e-5), f"{budget}: {chosen}")
            costs = sum(call["costs_seconds"] for call in chosen["degraded_calls"])
            require(abs(chosen["best_seconds"] + costs - chosen["seconds"]) <= 1e-4 * chosen["seconds"], f"costs: {chosen}")
            require(sum(call["times"] for call in chosen["degraded_calls"]) == chosen["degraded"], f"degraded: {chosen}")
            later = [step for step in one["steps"] if step["bytes"] <= budget + MEBIBYTE][-1]
            saved = step["seconds"] - later["seconds"]
            require(abs(chosen["mebibyte_saves_seconds"] - saved) <= 1e-4 * step["seconds"], f"one MiB: {chosen}")
            require(plan["setting"] == f"JALLOC_DEVICE_MEMORY_SIZE={chosen['used_bytes']}", f"setting: {plan['setting']}")

        code, text, _ = run(self.plan_tool, log, "--budget", str(minimal))
        for words in ("minimal", "optimal", "predicted", "degraded", "setting", "jlapack_dgetrf m=160 n=160"):
            require(code == 0 and words in text, f"no {words!r} in:\n{text}")
        require(max(map(len, text.splitlines())) < 130, f"long lines:\n{text}")

    def check_picture(self, log):
        picture = self.folder / "plan.svg"
        self.plan(log, "--svg", picture, "--budget", "300K")
        root = xml.etree.ElementTree.parse(picture).getroot()
        words = root.findall("{http://www.w3.org/2000/svg}text")
        width = float(root.get("width"))
        boxes = []
        for word in words:
            size, x, y = float(word.get("font-size")), float(word.get("x")), float(word.get("y"))
            length = 0.66 * size * len(word.text)
            left = x - length * {"start": 0, "middle": 0.5, "end": 1}[word.get("text-anchor")]
            boxes.append((left, left + length, y - size, y, word.text))
            require(left >= 0 and left + length <= width and y <= float(root.get("height")), f"outside: {word.text}")
        for i, a in enumerate(boxes):
            for b in boxes[:i]:
                require(a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2], f"{a} and {b} overlap")
        texts = " ".join(word.text for word in words)
        for call in ("jblas_dtrsm", "jblas_sgemm", "jlapack_dgetrf", "jlapack_dgeqp3", "budget 300.00 KiB"):
            require(call in texts, f"{call} is not named: {texts}")
        message = self.refused(1, log, "--svg", self.folder / "nowhere" / "plan.svg")
        require("nowhere" in message, message)

    def check_verify(self, log, one):
        middle = one["steps"][len(one["steps"]) // 2]["bytes"]
        verified = self.plan(log, "--verify", "--budget", str(middle))["verified"]
        require(len(verified) == 3, f"neighbours: {verified}")
        require(verified[0]["bytes"] < verified[1]["bytes"] == middle < verified[2]["bytes"], f"order: {verified}")
        require(all(row["measured_seconds"] > 0 and row["predicted_seconds"] > 0 for row in verified), f"{verified}")
        code, text, _ = run(self.plan_tool, log, "--verify")
        require(code == 0 and "measured" in text, text)

    # ---- Of another machine ----

    def check_machine(self, lines):
        """A log says nothing of its processor and its threads: the calls are asked here, and what "here" is is said.
        Whatever the kernels and the threads are, the answer is what the calls ask for with these."""
        log = self.text("machine.log", "\n".join(lines) + "\n")
        needs = set()
        for variables, options in (({}, []), ({"JALLOC_HOST_ISA": "generic"}, []), ({}, ["--threads", "8"])):
            code, output, errors = run(self.plan_tool, "--json", log, *options, **variables)
            require(code == 0, errors)
            plan = json.loads(output)
            threads = options[1] if options else "1"
            env = {**variables, "JALLOC_THREADS": threads}
            queried = [json.loads(run(self.bench, *call.split(), "--json", "-i", "1", "-j", "0", **env)[1])["asked_bytes"]
                       for call in CALLS]
            require(plan["optimal_bytes"] == max(queried), f"{env}: {plan['optimal_bytes']}, queried {queried}")
            require(plan["threads"] == int(threads) and plan["processor"].endswith(variables.get("JALLOC_HOST_ISA", "best")), f"{plan}")
            text = run(self.plan_tool, log, *options, **variables)[1]
            require(re.search(rf"asked on +{re.escape(plan['processor'])}, {threads} thread", text), text)
            needs.add(plan["optimal_bytes"])
        require(len(needs) > 1, f"machines do not differ: {needs}")

    # ---- What is wrong ----

    def check_left_out(self, lines, one):
        log = self.text("some.log", "\n".join(["jblas-bench -f trsm --nonsense 3", lines[0], "jblas-bench -f frobnicate -m 3",
                                                lines[1], "jblas-bench -f trsm -m many", lines[2], lines[3],
                                                "see jblas-bench for more", "jblas-bench -f gemm -r q"]) + "\n")
        code, output, errors = run(self.plan_tool, "--json", log)
        require(code == 0 and json.loads(output)["steps"] == one["steps"], f"{code} {errors}")
        require(json.loads(output)["not_understood"] == 4 and json.loads(output)["other_lines"] == 1, output)
        for number, why in ((1, "--nonsense"), (3, "unknown routine 'frobnicate'"), (5, "'many'"), (9, "'q'")):
            require(re.search(rf"some\.log:{number}: .*{re.escape(why)}", errors), f"line {number}: {errors}")
        message = self.refused(2, log, "--strict")
        require("4 calls are not understood" in message, message)
        many = self.text("wrong.log", "".join(f"jblas-bench -f trsm -m x{i}\n" for i in range(1000)) + lines[0] + "\n")
        _, output, errors = run(self.plan_tool, "--json", many)
        require(json.loads(output)["not_understood"] == 1000 and len(errors.splitlines()) < 20, f"too many words: {errors}")

        # Cut in the middle of a size: another call, if it were taken.
        cut = self.text("cut.log", lines[1] + "\n" + lines[0][:lines[0].index("-m 200") + 5])
        code, output, errors = run(self.plan_tool, "--json", cut)
        require(code == 0 and json.loads(output)["calls"] == 1 and "cut.log:2: its end is missing" in errors, errors)

        huge = 2 ** 62
        large = self.text("large.log", lines[0] + f"\njblas-bench -f gemm -r z -m {huge} -n {huge} -k {huge}\n"
                          f"jblas-bench -f getrf -r d -m {huge} -n {huge}\njblas-bench -f trsm -m {2 ** 63 - 1} -n 3\n"
                          f"jblas-bench -f gemm -m {2 ** 64} -n 1 -k 1\njblas-bench -f potrf -n -5\n")
        code, output, errors = run(self.plan_tool, "--json", large)
        answer = json.loads(output)
        require(code == 0 and answer["calls"] >= 1 and answer["refused"] >= 1 and answer["not_understood"] == 1, f"{output} {errors}")
        require("large.log:6: potrf: " in errors, f"a call that is refused: {errors}")

        held = self.text("overflow.log", lines[0] + "\n" + lines[1].replace("--mode", f"--borrowed {2 ** 64 - 64} --mode") + "\n")
        message = self.refused(2, held)
        require(f"overflow.log:2: with the {2 ** 64 - 64} bytes" in message, message)
        most = 2 ** 63 - 1
        for call in (f"gemm -r d -m {most} -n 1 -k 1 --lda {most} --ldb 1 --ldc {most}", f"geqrf -r z -m {most - 7} -n 8",
                     f"gelsd -r d -m {2 ** 32} -n {2 ** 32} --nrhs {2 ** 32}", f"potrf -r z -n {2 ** 30}"):
            near = self.text("near.log", f"jblas-bench -f {call} --pointer_mode host\n")
            for options in ([], ["--budget", "64"], ["--verify"]):
                message = self.refused(2, near, *options)
                require(f"near.log:1: {call.split()[0]}: " in message and "more than memory can hold" in message, f"{call}: {message}")

        away = self.text("away.log", lines[0].replace("--mode", "--device cuda:63 --mode") + "\n" + lines[1] + "\n")
        code, output, errors = run(self.plan_tool, "--json", away)
        answer = json.loads(output)
        require(code == 0 and answer["elsewhere"] == 1 and answer["calls"] == 1, f"a device that is not here: {output}")
        require("away.log:1: a call on cuda:63, which is not here" in errors, errors)
        mixed = self.text("mixed.log", lines[1] + "\n" + lines[0].replace("--mode", "--device cuda:0 --mode") + "\n")
        code, output, errors = run(self.plan_tool, "--json", mixed)
        require(code == 0 and json.loads(output)["elsewhere"] == 1 and json.loads(output)["calls"] == 1, f"two devices: {output}")
        require("mixed.log:2: a call on cuda:0, and this plan is for host" in errors, errors)
        require("no call" in self.refused(2, away, "--device", "cuda:63"), "no call of a device that is not here")

    def check_bad_input(self, log):
        require("empty" in self.refused(2, self.text("empty.log", "")), "an empty log")
        require("none of its 3 lines" in self.refused(2, self.text("text.log", "a\nb\nc\n")), "a log without calls")
        garbage = self.text("garbage.log", os.urandom(200000) + b"\njblas-bench -f \0trsm\n")
        require("none of its" in self.refused(2, garbage), "garbage")
        long = self.text("long.log", "x" * 100000 + "\njblas-bench -f " + "y" * 100000 + "\njblas-bench " + "-m 3 " * 20000 + "\n")
        message = self.refused(2, long)
        require("long.log:2: " in message and "long.log:3: " in message and len(message) < 5000, f"long lines: {message}")
        require("directory" in self.refused(2, self.folder), "a folder")
        require("nowhere.log" in self.refused(2, self.folder / "nowhere.log"), "no file")
        log.chmod(0)
        if not os.access(log, os.R_OK):
            require("ermission" in self.refused(2, log), "a file that may not be read")
        log.chmod(0o600)

        for wrong in ([], [log, log], ["--budget", "plenty", log], ["--threads", "x", log], ["--threads=", log]):
            self.refused(2, *wrong)
        code, _, errors = run(self.plan_tool, log, "--nonsense")
        require(code == 2 and "--help" in errors, f"--nonsense: {code} {errors}")
        code, output, _ = run(self.plan_tool, "--help")
        require(code == 0 and output.startswith("usage: jalloc-plan"), f"--help: {code}")
        code, output, _ = run(self.plan_tool, "--version")
        require(code == 0 and re.fullmatch(r"jalloc-plan \d+\.\d+\.\d+\n", output), f"--version: {output}")
        # What the shell has for the program is not for the plan.
        code, output, errors = run(self.plan_tool, log, "--json", "--verify", JALLOC_LAYER="2", JALLOC_BUDGET="64",
                                   JALLOC_DEVICE_MEMORY_SIZE="900T")
        require(code == 0 and errors == "", f"the program's environment: {code} {errors}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check = Check(*sys.argv[1:3], pathlib.Path(folder))
        lines = check.logged()
        log, one = check.check_needs(lines)
        check.check_handles(lines, one)
        check.check_counts(lines, one)
        check.check_promises()
        check.check_budget(log, one)
        check.check_picture(log)
        check.check_verify(log, one)
        check.check_machine(lines)
        check.check_left_out(lines, one)
        check.check_bad_input(log)
    print("check_plan: needs, handles, budgets, pictures and wrong input are as they should be")


if __name__ == "__main__":
    main()
