#!/bin/sh
# python/weft.py with the library and program of $FOLDER, a build, under $PYTHON (that of Debian, else python3): values,
# errors, Ctrl-C, forks, other libraries in the process, the notebook. What is missing is skipped with a line: python3, pandas, igraph, lxml.
set -eu
cd "$(dirname "$0")/.."
built=$(cd "$FOLDER" && pwd)
python=${PYTHON:-/usr/bin/python3}
[ -x "$python" ] || python=python3
command -v "$python" >/dev/null || { echo "python.sh: skipped, no python3"; exit 0; }
for module in pandas igraph lxml; do
    "$python" -c "import $module" 2>/dev/null || echo "python.sh: skipped what needs $module"
done
WEFT_LIBRARY=$built/libweft.so WEFT_PROGRAM=$built/weft WEFT_DATA=configs PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1
export WEFT_LIBRARY WEFT_PROGRAM WEFT_DATA PYTHONPATH PYTHONDONTWRITEBYTECODE
"$python" tests/python_module.py
