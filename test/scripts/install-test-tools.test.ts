/** The script that installs what some tests want, on machines where it cannot. */
import {spawnSync} from 'node:child_process'
import {chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'

const SCRIPT = fileURLToPath(new URL('../../scripts/install-test-tools.sh', import.meta.url))
const BASH = '/bin/bash'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-tools-'))
  mkdirSync(join(folder, 'bin'))
  symlinkSync(process.execPath, join(folder, 'bin', 'node'))
  symlinkSync('/usr/bin/env', join(folder, 'bin', 'env'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

/** A program of this machine; it writes down how it was called. */
function program(name: string, body: string): void {
  const path = join(folder, 'bin', name)
  writeFileSync(path, `#!${BASH}\necho "${name} $*" >>"${join(folder, 'calls')}"\n${body}\n`)
  chmodSync(path, 0o755)
}

const install = () => spawnSync(BASH, [SCRIPT], {env: {PATH: join(folder, 'bin')}, encoding: 'utf8', timeout: 20_000})

describe('scripts/install-test-tools.sh', () => {
  it('asks for no password: where sudo would, it says so, names what is missing, and is exit 1', () => {
    program('id', 'echo 1000')
    program('sudo', '[ "$1" = -n ] && exit 1; read -r password')
    program('apt-get', 'exit 0')
    const {status, stderr} = install()
    expect(status).toBe(1)
    expect(stderr).toContain('test tools: NOT INSTALLED: installing needs root, and sudo would ask for a password\n')
    expect(stderr).toContain('  gnome-keyring-daemon (package gnome-keyring)\n')
    expect(stderr).toContain('The tests that need them are skipped and say so.\n')
  })

  it('is exit 1 with the reason where there is no apt', () => {
    program('id', 'echo 0')
    expect(install()).toMatchObject({status: 1, stderr: expect.stringContaining('NOT INSTALLED: this system has no apt-get')})
  })

  it('tries every package when the mirror does not answer, and names the reason', () => {
    program('id', 'echo 0')
    program('apt-get', 'exit 100')
    const {status, stderr} = install()
    expect(status).toBe(1)
    expect(stderr).toContain('NOT INSTALLED: apt-get could not install all of them; the lists of packages could not be brought up to date')
  })
})
