import {createHash} from 'node:crypto'
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {absorbFolder, undoDeadAbsorbs} from '../../src/absorb/originals.ts'

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
