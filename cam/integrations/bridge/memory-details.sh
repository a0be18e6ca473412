#!/bin/sh
# {stamp}
# memory-recall.sh details, under a name of its own.
exec "$(dirname "$0")/memory-recall.sh" details "$@"
