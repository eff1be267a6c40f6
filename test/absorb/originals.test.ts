import {mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {absorbFolder, undoDeadAbsorbs} from '../../src/absorb/originals.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'originals-'))
  mkdirSync(join(cwd, '.svcctl'))
})
afterEach(() => rmSync(cwd, {recursive: true}))

it.each(['a file', 'a link to nothing'])(
  'where %s lies in the place of the originals of an absorb, nothing is taken back and nothing stops',
  what => {
    const folder = absorbFolder(cwd)
    if (what === 'a file') writeFileSync(folder, 'mine')
    else symlinkSync('nowhere', folder)
    const said: string[] = []
    undoDeadAbsorbs(
      cwd,
      () => 'dead',
      text => void said.push(text),
    )
    expect(said).toEqual([])
    if (what === 'a file') expect(readFileSync(folder, 'utf8')).toBe('mine')
  },
)
