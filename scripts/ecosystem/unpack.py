"""unpack.py ARCHIVE FOLDER: writes the Python files of a wheel or of a source distribution below a folder.

A source distribution's own top folder is left out. Names that lead out of the folder, and links, are skipped.
"""

import os
import sys
import tarfile
import zipfile


def main(archive, folder):
    source = archive.endswith((".tar.gz", ".tgz", ".tar.bz2"))
    for name, read in members(archive):
        parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
        if source:
            parts = parts[1:]
        if not parts or not parts[-1].endswith(".py") or ".." in parts or ":" in parts[0]:
            continue
        target = os.path.join(folder, *parts)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as out:
            out.write(read())


def members(archive):
    if archive.endswith((".whl", ".zip")):
        with zipfile.ZipFile(archive) as wheel:
            for member in wheel.infolist():
                if not member.is_dir():
                    yield member.filename, lambda member=member: wheel.read(member)
    else:
        with tarfile.open(archive) as tar:
            for member in tar:
                if member.isfile():
                    yield member.name, lambda member=member: tar.extractfile(member).read()


if __name__ == "__main__":
    main(*sys.argv[1:])
