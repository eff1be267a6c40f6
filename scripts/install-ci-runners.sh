#!/usr/bin/env bash
# Brings gitlab-ci-local, under which a test runs the jobs of ci/gitlab, into node_modules/.ci-runners. What cannot be
# brought is named, and the test that wants it is skipped and says so.
# Exit code: 0 when it is there afterwards, 1 otherwise.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=node_modules/.ci-runners
if [ -x "$folder/node_modules/.bin/gitlab-ci-local" ]; then
  echo 'ci runners: all there'
  exit 0
fi
mkdir -p "$folder"
if npm install --silent --no-audit --no-fund --prefix "$folder" gitlab-ci-local@4.72.0 </dev/null >/dev/null 2>&1; then
  echo 'ci runners: all there'
else
  echo 'ci runners: NOT INSTALLED: npm could not bring gitlab-ci-local. The test that needs it is skipped and says so.' >&2
  exit 1
fi
