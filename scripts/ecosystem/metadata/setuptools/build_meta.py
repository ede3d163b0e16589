"""Answers pip's question for the name and version of a source distribution from its PKG-INFO.

pip asks a package's own build code for them even if it only downloads, which runs that code and often needs torch. Found
before the real setuptools through PYTHONPATH, this runs nothing of the package. It cannot build.
"""

import os


class _Backend:
    @staticmethod
    def get_requires_for_build_wheel(config_settings=None):
        return []

    @staticmethod
    def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
        with open("PKG-INFO", encoding="utf-8") as source:
            metadata = source.read()
        said = dict(line.split(": ", 1) for line in metadata.split("\n\n")[0].splitlines() if ": " in line)
        name = said["Name"].replace("-", "_")
        folder = f"{name}-{said['Version']}.dist-info"
        os.makedirs(os.path.join(metadata_directory, folder))
        with open(os.path.join(metadata_directory, folder, "METADATA"), "w", encoding="utf-8") as target:
            target.write(metadata)
        return folder


get_requires_for_build_wheel = _Backend.get_requires_for_build_wheel
prepare_metadata_for_build_wheel = _Backend.prepare_metadata_for_build_wheel
# Packages without pyproject.toml ask this object.
__legacy__ = _Backend
