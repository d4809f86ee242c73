"""What the program contains: licence texts, and the SBOM.

cargo-about and cargo-cyclonedx know only crates, take minutes to compile, and the SBOM of the latter contains local paths. The
program also contains Rust's standard library, musl, libunwind and uPlot.
"""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

LICENSE_FILE = re.compile(r"(licen[cs]e|unlicense|copying|copyright|notice)", re.IGNORECASE)


def output(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def compiled_crates(source, target):
    """Returns the crates that are linked into the program, with the crates that they use: no build scripts, macros or tests."""
    options = ["--locked", "--format-version=1", f"--filter-platform={target}"]
    metadata = json.loads(output("cargo", "metadata", *options, cwd=source))
    packages = {it["id"]: it for it in metadata["packages"]}
    nodes = {it["id"]: it for it in metadata["resolve"]["nodes"]}
    found, pending = {}, [it["id"] for it in metadata["packages"] if it["name"] == "pgdyno"]
    while pending:
        crate = pending.pop()
        if crate not in found:
            used = [it["pkg"] for it in nodes[crate]["deps"] if any(kind["kind"] is None for kind in it["dep_kinds"])]
            used = [it for it in used if not any("proc-macro" in target["kind"] for target in packages[it]["targets"])]
            found[crate] = packages[crate] | {"uses": [reference(packages[it]) for it in used]}
            pending += used
    return sorted(found.values(), key=reference)


def reference(crate):
    """Identifies a crate by its package URL. Crates of this project have none, because they are not published."""
    return f"{'pkg:cargo/' if crate['source'] else 'pgdyno/'}{crate['name']}@{crate['version']}"


def collect_licenses(source, crates, zig, directory):
    """Writes pgdyno's licences, and those of third parties, into a directory."""
    owners = {}  # Licence text, and what it applies to.

    def add(owner, text):
        owners.setdefault("\n".join(line.rstrip() for line in text.strip().splitlines()), []).append(owner)

    for crate in [it for it in crates if it["source"]]:
        owner = f"{crate['name']} {crate['version']} ({crate['license']})"
        files = [it for it in Path(crate["manifest_path"]).parent.iterdir() if LICENSE_FILE.match(it.name) and it.is_file()]
        for file in sorted(files):
            add(owner, file.read_text(errors="replace"))
        if not files:
            # Some crates contain only the name of their licence. All of these permit one of ours.
            ours = "LICENSE-APACHE" if "Apache-2.0" in crate["license"] else "LICENSE-MIT"
            assert "Apache-2.0" in crate["license"] or "MIT" in crate["license"], f"{owner} contains no licence"
            add(owner, (source / ours).read_text().replace("The pgdyno authors", ", ".join(crate["authors"]) or "its authors"))
    add("musl, the C library", (zig / "libc/musl/COPYRIGHT").read_text())
    add("libunwind and compiler-rt of LLVM", (zig / "libunwind/LICENSE.TXT").read_text())
    add("uPlot, in the web pages", (source / "packaging/uplot-license.txt").read_text())
    add("DejaVu Sans, in the pictures of documents", (source / "crates/report/fonts/LICENSE").read_text())
    line = "=" * 100
    parts = ["\n".join([line, *names, line, "", text, ""]) for text, names in owners.items()]
    (directory / "THIRD-PARTY.txt").write_text("\n".join(parts))
    shutil.copy(source / "LICENSE-MIT", directory)
    shutil.copy(source / "LICENSE-APACHE", directory)
    sysroot = output("rustc", "--print", "sysroot").strip()
    shutil.copy(f"{sysroot}/share/doc/rust/COPYRIGHT-library.html", directory / "rust-standard-library.html")


def sbom(source, crates, timestamp):
    """Returns an SBOM in CycloneDX's JSON format."""
    locked = tomllib.loads((source / "Cargo.lock").read_text())["package"]
    checksums = {(it["name"], it["version"]): it.get("checksum") for it in locked}

    def component(crate):
        it = {"type": "library", "bom-ref": reference(crate), "name": crate["name"], "version": crate["version"]}
        # Some crates separate alternatives as before SPDX expressions.
        it["licenses"] = [{"expression": crate["license"].replace("/", " OR ")}]
        if crate["source"]:
            it["purl"] = reference(crate)
            it["hashes"] = [{"alg": "SHA-256", "content": checksums[crate["name"], crate["version"]]}]
        return it

    program = next(it for it in crates if it["name"] == "pgdyno")
    rust = output("rustc", "--version").split()[1]
    uplot = json.loads((source / "web/package.json").read_text())["devDependencies"]["uplot"]
    others = [("rust-std", rust, "MIT OR Apache-2.0"), ("musl", "", "MIT"), ("libunwind", "", "Apache-2.0 WITH LLVM-exception")]
    others += [("uplot", uplot, "MIT")]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": timestamp, "component": component(program) | {"type": "application"}},
        "components": [component(it) for it in crates if it is not program]
        + [
            {"type": "library", "bom-ref": name, "name": name, "version": version, "licenses": [{"expression": license}]}
            for name, version, license in others
        ],
        "dependencies": [{"ref": reference(it), "dependsOn": sorted(set(it["uses"]))} for it in crates],
    }
