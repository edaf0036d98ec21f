#!/usr/bin/env bash
# Executes the notebook of docs/python.md: notebook_test.sh PYTHON MRCSIM REPOSITORY. Exits with 77 where Debian's nbconvert is
# missing.
set -euo pipefail
python=$1 mrcsim=$2 repository=$3
"$python" -c 'import ipykernel, matplotlib, nbconvert, pandas' 2>/dev/null || {
  echo "SKIPPED: nbconvert, ipykernel, matplotlib or pandas is missing (Debian: python3-nbconvert python3-ipykernel …)"
  exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$repository"
HOME=$scratch MRCSIM=$mrcsim PYTHONPATH=$repository/tb/python PYTHONDONTWRITEBYTECODE=1 "$python" - "$scratch" <<'PYTHON'
import sys

import nbformat
from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import ExecutePreprocessor

notebook = nbformat.read("tb/python/pair.ipynb", as_version=4)
stored = [cell for cell in notebook.cells if cell.cell_type == "code" and (cell.outputs or cell.execution_count)]
assert not stored, "the notebook is kept without outputs"
ExecutePreprocessor(timeout=600, kernel_name="python3").preprocess(notebook, {"metadata": {"path": "."}})
outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
text = "".join(str(output) for output in outputs)
assert "retransmit_buffer.entries" in text and "smallest:" in text, text
assert sum("image/png" in output.get("data", {}) for output in outputs) == 2, "two figures"
page, _ = HTMLExporter().from_notebook_node(notebook)
print(f"{len(notebook.cells)} cells, {len(outputs)} outputs, a page of {len(page)} bytes")
PYTHON
