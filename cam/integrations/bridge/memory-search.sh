#!/bin/sh
# {stamp}
# memory-recall.sh search, under a name of its own.
exec "$(dirname "$0")/memory-recall.sh" search "$@"
