#!/bin/sh
# usage: run.sh SCRIPT ARGUMENTS...: runs a cross-check with Debian's Python; exit 77 where there is none.
here=$(dirname "$0")
python=/usr/bin/python3
if [ ! -x $python ]; then
  echo "skipped: $python is not installed (Debian: python3-torch, python3-numpy)"
  exit 77
fi
script=$1
shift
PYTHONDONTWRITEBYTECODE=1 exec $python "$here/$script" "$@"
