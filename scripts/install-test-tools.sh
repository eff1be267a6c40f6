#!/usr/bin/env bash
# Installs, from Debian's packages, the programs that some tests and benchmarks use: a real keyring, the shells that
# completion is written for, a renderer of man pages, a terminal, a browser, tools to compare with. Nothing else needs them: what
# stays missing is named at the end, and the tests that want it are skipped and say so.
# Nobody is asked for anything, and a mirror that does not answer is given up after seconds.
# Exit code: 0 when everything is there afterwards, 1 otherwise.
set -uo pipefail

# program:package
tools=(
  dbus-run-session:dbus-daemon
  dbus-send:dbus-bin
  gnome-keyring-daemon:gnome-keyring
  zsh:zsh
  fish:fish
  tmux:tmux
  man:man-db
  mandoc:mandoc
  pigz:pigz
  script:bsdutils
  chromium:chromium
  rsync:rsync
)

missing() {
  local tool
  for tool in "${tools[@]}"; do
    command -v "${tool%%:*}" >/dev/null 2>&1 || printf '%s\n' "$tool"
  done
}

# As root, or as somebody who is root without being asked for a password.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 \
    -o DPkg::Lock::Timeout=60 "$@" </dev/null >/dev/null
}

mapfile -t wanted < <(missing)
if ((${#wanted[@]} == 0)); then
  echo 'test tools: all there'
  exit 0
fi

reason=''
if ! command -v apt-get >/dev/null 2>&1; then
  reason='this system has no apt-get'
elif [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
  reason='installing needs root, and sudo would ask for a password'
else
  apt update || reason='the lists of packages could not be brought up to date'
  refused=''
  # One by one: a package that this release does not have must not keep the others out.
  for tool in "${wanted[@]}"; do
    echo "test tools: installing ${tool#*:}"
    apt -y --no-install-recommends install "${tool#*:}" || refused=yes
  done
  if [ -n "$refused" ]; then reason="apt-get could not install all of them${reason:+; $reason}"; fi
fi

hash -r
mapfile -t left < <(missing)
if ((${#left[@]} == 0)); then
  echo 'test tools: all there'
  exit 0
fi
{
  echo "test tools: NOT INSTALLED${reason:+: $reason}"
  for tool in "${left[@]}"; do printf '  %s (package %s)\n' "${tool%%:*}" "${tool#*:}"; done
  echo 'The tests that need them are skipped and say so.'
} >&2
exit 1
