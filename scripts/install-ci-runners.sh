#!/usr/bin/env bash
# Brings the programs under which a test runs the pipelines of docs/ci.md: gitlab-ci-local from npm, into
# node_modules/.ci-runners, and act, which Go builds (two minutes, once), into the cache of this account. What cannot be brought
# is named, and the test that wants it is skipped and says so.
# Exit code: 0 when both are there afterwards, 1 otherwise.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()

folder=node_modules/.ci-runners
if ! [ -x "$folder/node_modules/.bin/gitlab-ci-local" ]; then
  mkdir -p "$folder"
  npm install --silent --no-audit --no-fund --prefix "$folder" gitlab-ci-local@4.72.0 </dev/null >/dev/null 2>&1 ||
    missing+=('gitlab-ci-local: npm could not bring it')
fi

# test/support/local-runners.ts looks for it at the same place.
version=0.2.89
cache=${XDG_CACHE_HOME:-$HOME/.cache}/svcctl-test-tools/act-$version
if ! [ -x "$cache/act" ]; then
  PATH=$PATH:/usr/local/go/bin
  if command -v go >/dev/null 2>&1; then
    limit=()
    if command -v timeout >/dev/null 2>&1; then limit=(timeout -k 10 "${SVCCTL_TEST_TOOLS_SECONDS:-600}"); fi
    echo 'ci runners: building act'
    # Built beside its place, so that half of it is never found there.
    building=$(mktemp -d)
    if GOBIN=$building ${limit[@]+"${limit[@]}"} go install "github.com/nektos/act@v$version" </dev/null >"$building/log" 2>&1; then
      mkdir -p "$cache" && mv "$building/act" "$cache/act"
    else
      missing+=("act: go could not build it: $(tail -n 1 "$building/log")")
    fi
    rm -rf "$building"
  else
    missing+=('act: there is no Go to build it with')
  fi
fi

if ((${#missing[@]} == 0)); then
  echo 'ci runners: all there'
  exit 0
fi
{
  echo 'ci runners: NOT INSTALLED'
  printf '  %s\n' "${missing[@]}"
  echo 'The tests that need them are skipped and say so.'
} >&2
exit 1
