import {createHash} from 'node:crypto'
import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {AbsorbChangedError, absorbFolder, type FileChange, Originals, undoDeadAbsorbs} from '../../src/absorb/originals.ts'

let cwd: string
let said: string[]
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'originals-'))
  mkdirSync(join(cwd, '.svcctl'))
  said = []
})
afterEach(() => rmSync(cwd, {recursive: true}))

const undo = () =>
  undoDeadAbsorbs(
    cwd,
    () => 'dead',
    text => void said.push(text.replaceAll(cwd, '')),
  )

it.each(['a file', 'a link to nothing'])(
  'where %s lies in the place of the originals of an absorb, nothing is taken back and nothing stops',
  what => {
    const folder = absorbFolder(cwd)
    if (what === 'a file') writeFileSync(folder, 'mine')
    else symlinkSync('nowhere', folder)
    undo()
    expect(said).toEqual([])
    if (what === 'a file') expect(readFileSync(folder, 'utf8')).toBe('mine')
  },
)

describe('what a person saves while an absorb is under way', () => {
  const at = (name: string) => join(cwd, name)
  const read = (name: string) => readFileSync(at(name), 'utf8')
  const holder = {id: 'mine', who: 'svcctl absorb', host: 'h', pid: 1, start: '', pidSpace: '', since: ''}
  const begun = (...names: readonly string[]) => {
    const changes = names.map((name): FileChange => {
      writeFileSync(at(name), 'old')
      return {path: at(name), before: Buffer.from('old'), after: 'new'}
    })
    return new Originals(cwd, holder, changes)
  }

  it.each<[string, () => void]>([
    ['edits', () => writeFileSync(at('b.ts'), 'mine')],
    ['takes away', () => rmSync(at('b.ts'))],
  ])('is not overwritten where somebody %s a file that was read, and no other file is edited', (_, meanwhile) => {
    const originals = begun('a.ts', 'b.ts', 'c.ts')
    meanwhile()
    const mine = existsSync(at('b.ts')) && read('b.ts')
    expect(() => originals.write()).toThrow(AbsorbChangedError)
    expect([read('a.ts'), existsSync(at('b.ts')) && read('b.ts'), read('c.ts')]).toEqual(['old', mine, 'old'])
    expect(readdirSync(absorbFolder(cwd))).toEqual([])
  })

  it('stays where the edits are taken back, which is said, and so does the original', () => {
    const originals = begun('a.ts', 'b.ts')
    originals.write()
    writeFileSync(at('b.ts'), 'new and mine')
    const stay = originals.putBack()
    expect(stay).toEqual([expect.stringMatching(/b\.ts was changed after an absorb .* stays; .*mine\/1\.original$/)])
    expect([read('a.ts'), read('b.ts'), read('.svcctl/absorb/mine/1.original')]).toEqual(['old', 'new and mine', 'old'])
    undo()
    expect(said).toEqual([])
  })
})

describe('what an absorb has left that was killed', () => {
  const digest = (text: string) => createHash('sha256').update(text).digest('hex')
  const at = (name: string) => join(cwd, name)
  const kept = () => join(absorbFolder(cwd), 'dead', '0.original')
  /** The manifest names a file that held `old` and got `new`. */
  const leave = (path: string, original: string | null = 'old') => {
    mkdirSync(join(absorbFolder(cwd), 'dead'), {recursive: true})
    const holder = {id: 'dead', who: 'svcctl absorb', host: 'h', pid: 1, start: '', pidSpace: '', since: ''}
    const files = [{path, copy: '0.original', before: digest('old'), after: digest('new')}]
    writeFileSync(join(absorbFolder(cwd), 'dead', 'manifest.json'), JSON.stringify({holder, files}))
    if (original !== null) writeFileSync(kept(), original)
  }
  const isNot = (path: string) =>
    `${path} holds what an absorb wrote that ended before it was proven, and stays: /.svcctl/absorb/dead/0.original is not its original`

  it('is put back', () => {
    writeFileSync(at('main.ts'), 'new')
    leave(at('main.ts'))
    undo()
    expect(readFileSync(at('main.ts'), 'utf8')).toBe('old')
    expect(said).toEqual(['/main.ts is as it was: an absorb that had changed it ended before it was proven'])
    expect(existsSync(join(absorbFolder(cwd), 'dead'))).toBe(false)
  })

  it('is put back only as it was, and as nothing else that lies in its place', () => {
    writeFileSync(at('main.ts'), 'new')
    leave(at('main.ts'), 'something else')
    undo()
    expect(readFileSync(at('main.ts'), 'utf8')).toBe('new')
    expect(said).toEqual([isNot('/main.ts')])
  })

  it.each(['.bashrc', 'node_modules/a/index.js'])('is never a file that no absorb edits: %s', name => {
    mkdirSync(join(cwd, 'node_modules', 'a'), {recursive: true})
    writeFileSync(at(name), 'new')
    leave(at(name))
    undo()
    expect(readFileSync(at(name), 'utf8')).toBe('new')
    expect(said).toEqual([isNot(`/${name}`)])
  })

  it.each(['itself', 'behind a link'])('is no file outside of the project, %s', how => {
    const outside = mkdtempSync(join(tmpdir(), 'originals-outside-'))
    writeFileSync(join(outside, 'main.ts'), 'new')
    symlinkSync(outside, at('linked'))
    leave(how === 'itself' ? join(outside, 'main.ts') : at('linked/main.ts'))
    undo()
    expect(readFileSync(join(outside, 'main.ts'), 'utf8')).toBe('new')
    expect(said).toEqual([expect.stringContaining('and stays')])
    rmSync(outside, {recursive: true})
  })

  it.each<[string, () => void]>([
    ['whose original is missing', () => leave(at('main.ts'), null)],
    [
      'whose original is a folder',
      () => {
        leave(at('main.ts'), null)
        mkdirSync(kept())
      },
    ],
    ['that is a folder now', () => leave(cwd)],
    ['that is a device', () => leave('/dev/zero')],
    ['that nothing can be called', () => leave(`${at('a')}\u0000b.ts`)],
  ])('stops nobody with a file %s, and is said once', (_, lay) => {
    writeFileSync(at('main.ts'), 'new')
    lay()
    undo()
    expect(said).toHaveLength(1)
    undo()
    expect(said).toHaveLength(1)
  })

  it('is nothing where the manifest names no whole path', () => {
    writeFileSync(at('main.ts'), 'new')
    leave('main.ts')
    undo()
    expect([said, readFileSync(at('main.ts'), 'utf8')]).toEqual([[], 'new'])
  })
})
