"""Hooks of mkdocs, named in mkdocs.yml: the pages that are generated."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # mkdocs loads this file by its path, without the package

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from book import commands, http_api, notebooks, python_names


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to the written ones."""
    for source in (python_names, commands, http_api, notebooks):
        for address, content in source.pages():
            files.append(File.generated(config, address, content=content))
    return files
