#!/bin/sh
# {stamp}
# memory-recall.sh timeline, under a name of its own.
exec "$(dirname "$0")/memory-recall.sh" timeline "$@"
