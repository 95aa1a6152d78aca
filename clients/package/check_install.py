#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""install.sh compiles what it installs: configures as install.sh does and compares, by CMake's file
API, what the target "all" makes with what is installed. What no installed file is made of is an
error. Nothing is compiled. Arguments are handed to install.sh, such as -DJALLOC_CUDA=OFF."""

import json
import pathlib
import subprocess
import sys
import tempfile

# For this machine, and yet CMake takes it for another.
CROSS = ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_CROSSCOMPILING_EMULATOR=/usr/bin/env"]
ROOT = pathlib.Path(__file__).resolve().parents[2]


def configure(build, arguments):
    """The codemodel of a build folder that install.sh has configured."""
    query = build / ".cmake/api/v1/query"
    query.mkdir(parents=True)
    (query / "codemodel-v2").touch()
    subprocess.run([ROOT / "install.sh", "--no-dependencies", "--configure-only",
                    "--build-dir", build, *arguments], check=True, stdout=subprocess.DEVNULL)
    reply = build / ".cmake/api/v1/reply"
    index = json.loads(max(reply.glob("index-*.json")).read_text(encoding="utf-8"))

    def load(name):
        return json.loads((reply / name).read_text(encoding="utf-8"))

    model = load(index["reply"]["codemodel-v2"]["jsonFile"])["configurations"][0]
    targets = {target["id"]: load(target["jsonFile"]) for target in model["targets"]}
    installers = [installer for folder in model["directories"]
                  for installer in load(folder["jsonFile"]).get("installers", [])]
    return targets, installers


def not_installed(targets, installers):
    """Names of what "all" builds in vain: what is neither installed nor a part of what is."""
    files = {pathlib.Path(path if isinstance(path, str) else path["from"]).name
             for installer in installers for path in installer.get("paths", [])}

    def made(target):
        """Files that rules of a target make, as those of a GPU module do."""
        return {pathlib.Path(source["path"]).name.removesuffix(".rule")
                for source in target.get("sources", [])} - {target["name"]}

    def is_installed(target):
        return "install" in target or not files.isdisjoint(made(target))

    def is_a_name(target):  # for other targets; it compiles nothing itself
        return target["type"] == "UTILITY" and not made(target)

    waiting = [name for name, target in targets.items() if is_installed(target)]
    wanted = set()
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += [dependency["id"] for dependency in targets[name].get("dependencies", [])]
    return sorted(target["name"] for name, target in targets.items()
                  if name not in wanted and not target.get("isGeneratorProvided")
                  and not is_a_name(target))


def main():
    compared = 0
    for components, options in (("library,clients", []), ("library", CROSS)):
        with tempfile.TemporaryDirectory() as folder:
            targets, installers = configure(pathlib.Path(folder) / "build",
                                            ["--components", components, *options, *sys.argv[1:]])
        vain = not_installed(targets, installers)
        if vain:
            sys.exit(f"install.sh --components {components} compiles what it does not install: "
                     + ", ".join(vain))
        compared += len(targets)
    print(f"check_install: {compared} targets, all of them installed or a part of what is")


if __name__ == "__main__":
    main()
