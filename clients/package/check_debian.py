#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The Debian packages of a build as a user has them: in a bare Debian of this machine's release, which mmdebstrap makes
and which is gone at the end, apt installs them with what they depend on, in_debian.sh and check.py use them, and after
their removal nothing is left.

    check_debian.py BUILD     makes the packages and checks them
    check_debian.py --ask     only says whether there can be such a Debian here

Exit status 77: there cannot, for a reason that is printed. The packages are those of the component chroot of install.sh."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "scripts")]
import check  # pylint: disable=wrong-import-position
import elsewhere  # pylint: disable=wrong-import-position


def ask():
    """The release, where a Debian of it can be had; raises NotHere where not."""
    release = elsewhere.debian()[1]
    if not shutil.which("mmdebstrap"):
        raise elsewhere.NotHere("no program mmdebstrap")
    elsewhere.may_make_a_root()
    elsewhere.mirror_answers(release)
    return release


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, help="build folder")
    parser.add_argument("--ask", action="store_true", help="only whether it can be had here")
    arguments = parser.parse_args()
    try:
        release = ask()
    except elsewhere.NotHere as reason:
        print(f"check_debian: not to be had here: {reason}")
        return elsewhere.rtest.SKIPPED
    if arguments.ask:
        return 0
    if arguments.build is None:
        parser.error("no build folder")

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check.make_debs(arguments.build.resolve(), folder / "debs")
        archive = folder / "files.tar"
        check.run("tar", "--create", "--file", archive, "-C", folder, *sorted(f"debs/{deb.name}" for deb in (folder / "debs").glob("*.deb")),
                  "-C", HERE.parent, "package")
        elsewhere.run_in_debian(release, archive, "bash /srv/package/in_debian.sh", variant="apt")
    print("check_debian: installed, used from C, C++ and Fortran, chosen as libblas.so.3, removed: nothing is left")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed: {error}")
