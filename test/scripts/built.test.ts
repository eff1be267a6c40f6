import {mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {isBuilt, LAST_BUILT} from '../../scripts/built.mjs'

const SOURCES = [
  'src/index.ts',
  'src/deep/er/part.ts',
  'scripts/build.ts',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
]
const MADE = ['bin/svcctl.js', 'bin/program.js', 'bin/commands.json', 'man/man1/svcctl.1', 'lib/index.js', 'cdktn/index.js']
const TYPES = ['types/index.d.ts', 'types-cdktn/index.d.ts']
const [BEFORE, BUILT, AFTER] = ['2026-01-01', '2026-01-02', '2026-01-03'].map(it => new Date(it)) as [Date, Date, Date]

let root = ''
const dated = (path: string, at: Date) => utimesSync(join(root, path), at, at)
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svcctl-built-'))
  for (const path of [...SOURCES, ...[...MADE, ...TYPES].map(it => join('dist', it)), LAST_BUILT]) {
    mkdirSync(dirname(join(root, path)), {recursive: true})
    writeFileSync(join(root, path), '')
  }
  for (const path of [...SOURCES, 'src', 'src/deep', 'src/deep/er', 'scripts']) dated(path, BEFORE)
  dated(LAST_BUILT, BUILT)
})
afterEach(() => rmSync(root, {recursive: true, force: true}))

it('what was built since the last change of a source need not be built again', () => {
  expect(isBuilt(root)).toBe(true)
})

it.each(SOURCES)('a newer %s is built', path => {
  dated(path, AFTER)
  expect(isBuilt(root)).toBe(false)
})

it('a source that has gone is built without it', () => {
  rmSync(join(root, 'src/deep/er/part.ts'))
  expect(isBuilt(root)).toBe(false)
})

it.each([...[...MADE, ...TYPES].map(it => join('dist', it)), LAST_BUILT])('without %s there is no build', path => {
  rmSync(join(root, path))
  expect(isBuilt(root)).toBe(false)
})
