#!/bin/sh
# {stamp}
# Memory for hosts without hooks and without MCP: memory-recall.sh search|timeline|details WORDS… [OPTIONS]
# CAM_PROJECT_ROOT names the project's folder; without it the current one counts.
set -eu
command=${1:-}
case "$command" in
  search | timeline | details) shift ;;
  *)
    echo "usage: memory-recall.sh search|timeline|details WORDS... [OPTIONS]" >&2
    exit 4
    ;;
esac
has_cwd='' has_state='' has_limit=''
for word in "$@"; do
  case "$word" in
    --cwd | --cwd=*) has_cwd=yes ;;
    --state | --state=*) has_state=yes ;;
    --limit | --limit=*) has_limit=yes ;;
  esac
done
[ -n "$has_cwd" ] || set -- --cwd "${CAM_PROJECT_ROOT:-$PWD}" "$@"
if [ "$command" = search ]; then
  [ -n "$has_state" ] || set -- --state auto "$@"
  [ -n "$has_limit" ] || set -- --limit 8 "$@"
fi
exec {cam} recall "$command" "$@"
