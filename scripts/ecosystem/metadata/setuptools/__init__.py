"""Stands in for setuptools while pip downloads a source distribution, see build_meta.py."""
