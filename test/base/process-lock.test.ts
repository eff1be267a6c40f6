import {execFileSync} from 'node:child_process'
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type HolderState, holderState, type LockHolder, processIdentityOf, tryProcessLock} from '../../src/base/process-lock.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-lock-'))
  path = join(folder, 'lock')
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

const holder = (id: string): LockHolder => ({id, who: id, host: 'h', pid: 7, start: '', pidSpace: '', since: '2026-11-21T00:00:00Z'})
const states =
  (...dead: string[]) =>
  ({id}: LockHolder): HolderState =>
    dead.includes(id) ? 'dead' : 'alive'
const leave = (file: string, id: string) => writeFileSync(file, JSON.stringify(holder(id)))

describe('a process lock', () => {
  it('is a file that is complete from the first moment and goes with its holder', () => {
    const attempt = tryProcessLock(path, holder('a'), states())
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(holder('a'))
    expect(readdirSync(folder)).toEqual(['lock'])
    if (attempt.held) attempt.lock.release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('names who holds it', () => {
    leave(path, 'a')
    expect(tryProcessLock(path, holder('b'), states())).toEqual({held: false, holder: holder('a')})
  })

  it('of a dead holder passes to the next, who learns whose it was', () => {
    leave(path, 'a')
    expect(tryProcessLock(path, holder('b'), states('a'))).toMatchObject({held: true, lock: {holder: holder('b'), takenFrom: holder('a')}})
    expect(readdirSync(folder)).toEqual(['lock'])
  })

  it('whose making was answered as if somebody else had been first, as network file systems do, is held all the same', () => {
    leave(path, 'a')
    const attempt = tryProcessLock(path, holder('a'), states())
    expect(attempt).toMatchObject({held: true, lock: {holder: holder('a')}})
    if (attempt.held) attempt.lock.release()
    expect(readdirSync(folder)).toEqual([])
  })

  it.skipIf(!existsSync('/etc/machine-id'))('of another machine of the same name is respected, whatever pids there are here', () => {
    const mine = processIdentityOf('runner', process.pid)
    const [space = '', machine] = mine.pidSpace.split(' ')
    expect([space, machine]).toEqual([expect.stringMatching(/^pid:/), expect.stringMatching(/^[0-9a-f]{16}$/)])
    const there: LockHolder = {...holder('a'), ...mine, pid: 4_000_000, pidSpace: `${space} 0123456789abcdef`}
    expect([holderState(there, 'runner'), holderState({...there, pidSpace: mine.pidSpace}, 'runner')]).toEqual(['elsewhere', 'dead'])
  })

  it('is left alone while somebody else is taking it over', () => {
    leave(path, 'a')
    leave(`${path}.a`, 'b')
    expect(tryProcessLock(path, holder('c'), states('a'))).toEqual({held: false, holder: holder('a')})
  })

  it('passes on also when the one who was taking it over died doing so', () => {
    leave(path, 'a')
    leave(`${path}.a`, 'b')
    expect(tryProcessLock(path, holder('c'), states('a', 'b'))).toMatchObject({held: true})
    expect(readdirSync(folder)).toEqual(['lock'])
  })

  it('is not given back by one who lost it meanwhile', () => {
    const attempt = tryProcessLock(path, holder('a'), states())
    leave(path, 'b')
    if (attempt.held) attempt.lock.release()
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(holder('b'))
  })

  it.each(['', '{', '[]', '{"id":"../../x","host":"h","pid":1}', '{"id":"a","host":"h","pid":-1}'])(
    'with the content %j has an unknown holder',
    content => {
      writeFileSync(path, content)
      expect(tryProcessLock(path, holder('b'), states('a'))).toEqual({held: false, holder: undefined})
    },
  )

  it('that is a link to nothing, a folder or a FIFO has an unknown holder too, and nobody waits on it', () => {
    symlinkSync('gone', path)
    execFileSync('mkfifo', [join(folder, 'fifo')])
    for (const file of [path, folder, join(folder, 'fifo')])
      expect(tryProcessLock(file, holder('b'), states()), file).toEqual({held: false, holder: undefined})
    expect(readdirSync(folder)).toEqual(['fifo', 'lock'])
  })

  it('that a full disk has no room for leaves nothing behind', () => {
    // Where the text is written aside, the disk is full.
    symlinkSync('/dev/full', `${path}.b.new`)
    expect(() => tryProcessLock(path, holder('b'), states())).toThrow('ENOSPC')
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('the holder of a lock', () => {
  const self = {...processIdentityOf('here', process.pid), id: 'a', who: 'a', since: ''}

  it('is alive while its process runs', () => {
    expect(holderState(self, 'here')).toBe('alive')
  })

  it('is dead when there is no such process', () => {
    expect(holderState({...self, pid: 2 ** 22 + 1}, 'here')).toBe('dead')
  })

  it('cannot be judged from another host', () => {
    expect(holderState(self, 'there')).toBe('elsewhere')
  })
})
