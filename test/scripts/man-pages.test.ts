import {spawnSync} from 'node:child_process'
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {manPages} from '../../scripts/man-pages.ts'
import {commandTable} from '../../src/bin/command-list.ts'
import {describeAll} from '../../src/cli/shell/manifest.ts'
import {lacks} from '../support/tools.ts'

const pages = manPages(await describeAll(commandTable), commandTable.topics, '1.2.3')
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-man-'))
  for (const {file, roff} of pages) writeFileSync(join(folder, file), roff)
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

describe('the manual', () => {
  it('has a page for the program and for every command, and npm is told of each', () => {
    const files = pages.map(({file}) => file)
    expect(files).toEqual(expect.arrayContaining(['svcctl.1', 'svcctl-plan.1', 'svcctl-enterprise-support-package-node.1']))
    expect(files).toHaveLength(Object.keys(commandTable.commands).length + 1)
    const {man} = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    expect([...man].sort()).toEqual(files.map(file => `./dist/man/man1/${file}`).sort())
  })

  it.skipIf(lacks('man pages as man shows them', 'man'))('says in man what --help says', () => {
    const {stdout, stderr, status} = spawnSync('man', ['-l', join(folder, 'svcctl-profile-set.1')], {
      encoding: 'utf8',
      env: {PATH: process.env.PATH, LANG: 'C.UTF-8', MANWIDTH: '80', MANPAGER: 'cat', MAN_KEEP_FORMATTING: '', TERM: 'dumb'},
    })
    expect({status, stderr}).toEqual({status: 0, stderr: ''})
    expect(stdout).toContain('svcctl-profile-set - create a profile, or change fields of one')
    expect(stdout).toContain('svcctl profile set NAME [options]')
    expect(stdout).toContain('--deployment <deployment>')
    expect(stdout).toContain("--api-key '${PROD_KEY}' --api-secret -")
    expect(
      Math.max(
        ...stdout
          .split('\n')
          .filter(line => !line.includes('svcctl profile set'))
          .map(line => line.length),
      ),
    ).toBeLessThanOrEqual(80)
  })

  it.skipIf(lacks('man pages as mandoc judges them', 'mandoc'))('has nothing mandoc warns of, but that there is no date', () => {
    const {stdout, stderr} = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', ...pages.map(({file}) => join(folder, file))], {
      encoding: 'utf8',
    })
    expect((stdout + stderr).split('\n').filter(line => line !== '' && !line.includes('missing date'))).toEqual([])
  })
})
