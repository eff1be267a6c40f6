import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {systemClock} from '../../src/base/clock.ts'
import {holderState, processIdentityOf} from '../../src/base/process-lock.ts'
import {systemRandom} from '../../src/base/random.ts'
import {emptyLedger, type Ledger} from '../../src/engine/model/ledger.ts'
import {LocalLedgerStore, type LocalStoreOptions, lockFileOf} from '../../src/ledger/local-store.ts'
import {lockAll} from '../../src/ledger/managed-store.ts'
import {childProgram} from '../support/child-program.ts'
import {entry, fullLedger, ledgerOf} from './sample-ledger.ts'

let folder: string
let path: string
let notices: string[]
const children: ChildProcess[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-ledger-'))
  path = join(folder, 'terraform.shop.tfstate')
  notices = []
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(folder, {recursive: true, force: true})
})

const store = (more: Partial<LocalStoreOptions> = {}) =>
  new LocalLedgerStore({
    path,
    stack: 'shop',
    process: processIdentityOf('build-7', process.pid),
    stateOf: holder => holderState(holder, 'build-7'),
    who: 'tester',
    clock: systemClock,
    random: systemRandom,
    notice: message => notices.push(message),
    ...more,
  })

/** Another process that takes the lock, says so, and keeps it. */
async function holderProcess(): Promise<ChildProcess & {readonly pid: number}> {
  const script = await childProgram(join(import.meta.dirname, '../support/hold-ledger-lock.ts'))
  const child = spawn(process.execPath, [script, path, 'build-7'], {stdio: ['ignore', 'pipe', 'inherit']})
  children.push(child)
  await once(child.stdout, 'data')
  const {pid} = child
  if (pid === undefined) throw new Error('the holder did not start')
  return Object.assign(child, {pid})
}

describe('a ledger in a file', () => {
  it('is empty and absent before the first apply', async () => {
    expect(await store().load()).toEqual({
      stack: 'shop',
      condition: 'absent',
      serial: 0,
      lineage: '',
      accounts: {},
      entries: new Map(),
      outputs: {},
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('comes back as it was saved, one serial on, under a lineage of its own', async () => {
    const it = store({random: count => new Uint8Array(count).fill(7)})
    const unlock = await it.lock(0)
    const saved = await it.save(ledgerOf([entry('null_resource.a', 'cluster/bdbs/1')]))
    await unlock()
    expect(saved).toMatchObject({condition: 'present', serial: 1, lineage: '07070707-0707-4707-8707-070707070707'})
    expect(await store().load()).toEqual(saved)
  })

  it('is not put in the place of what somebody wrote who forced the lock while it was being written', async () => {
    const theirs = store()
    // What takes time between the look at the lock and the new file: this process may be stopped there.
    const encode = (ledger: Ledger) => {
      rmSync(lockFileOf(path))
      writeFileSync(path, 'theirs')
      return JSON.stringify(ledger.serial)
    }
    const it = store({content: {keepsBackup: false, encode, decode: () => emptyLedger('shop')}})
    await it.lock(0)
    await expect(it.save(await it.load())).rejects.toMatchObject({code: 'E_LOCK_LOST', exit: 10})
    expect(readFileSync(path, 'utf8')).toBe('theirs')
    expect(readdirSync(folder)).toEqual(['terraform.shop.tfstate'])
    expect(await theirs.lockSeen()).toBeUndefined()
  })

  it('is readable by its owner only and leaves no other file but the backup', async () => {
    const it = store()
    let unlock = await it.lock(0)
    await it.save(fullLedgerAt(0))
    await unlock()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    unlock = await it.lock(0)
    await it.save(await it.load())
    await unlock()
    expect(readdirSync(folder).sort()).toEqual(['terraform.shop.tfstate', 'terraform.shop.tfstate.backup'])
    expect(statSync(`${path}.backup`).mode & 0o777).toBe(0o600)
  })

  it('keeps the version a run found as its backup, however often that run saves', async () => {
    const it = store()
    let unlock = await it.lock(0)
    const first = await it.save(fullLedgerAt(0))
    await unlock()
    const before = readFileSync(path, 'utf8')
    unlock = await it.lock(0)
    await it.save(await it.save(await it.save(first)))
    await unlock()
    expect(readFileSync(`${path}.backup`, 'utf8')).toBe(before)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({serial: 4})
  })

  it('that somebody rewrites without its lock, counting on from the same serial, is neither read as what this run wrote nor overwritten', async () => {
    const it = store()
    const unlock = await it.lock(0)
    const saved = await it.save({...fullLedger(), ...(await it.load()), entries: fullLedger().entries})
    const own = readFileSync(path, 'utf8')
    const theirs = JSON.stringify({...JSON.parse(own), outputs: {whose: {value: 'theirs', type: 'string'}}})
    writeFileSync(path, theirs)
    const changed = {code: 'E_LEDGER_CHANGED', exit: 5, message: expect.stringContaining('another one with that number')}
    await expect(it.save(saved)).rejects.toMatchObject(changed)
    await expect(it.load()).rejects.toMatchObject(changed)
    expect(readFileSync(path, 'utf8')).toBe(theirs)
    // The same bytes in another file are the same version: it was copied back.
    writeFileSync(path, own)
    expect(await it.load()).toEqual(saved)
    writeFileSync(path, theirs)
    await unlock()
    await it.lock(0)
    expect((await it.load()).outputs).toEqual({whose: {value: 'theirs', sensitive: false}})
  })

  it('refuses to overwrite what somebody else wrote since it was read', async () => {
    const [mine, theirs] = [store(), store()]
    const read = await mine.load()
    let unlock = await theirs.lock(0)
    await theirs.save(await theirs.load())
    await unlock()
    const before = readFileSync(path, 'utf8')
    unlock = await mine.lock(0)
    await expect(mine.save(read)).rejects.toMatchObject({code: 'E_LEDGER_CHANGED', exit: 5})
    await unlock()
    expect(readFileSync(path, 'utf8')).toBe(before)
  })

  it.each([
    ['an empty file', ''],
    ['a file cut short', '{"version": 4, "ser'],
    ['a newer file', '{"version": 5}'],
  ])('leaves %s as it is', async (_what, content) => {
    writeFileSync(path, content)
    const it = store()
    const unlock = await it.lock(0)
    await expect(it.save(ledgerOf([]))).rejects.toMatchObject({code: expect.stringMatching(/^E_LEDGER_(DAMAGED|NEWER)$/), exit: 1})
    await unlock()
    expect(readFileSync(path, 'utf8')).toBe(content)
    expect(readdirSync(folder)).toEqual(['terraform.shop.tfstate'])
  })

  it('says how to rebuild a damaged file, and how to take back the one before', async () => {
    writeFileSync(path, '')
    writeFileSync(`${path}.backup`, '')
    await expect(store().load()).rejects.toMatchObject({
      suggestions: [
        expect.stringContaining(`mv ${path} ${path}.damaged, then run "svcctl plan --stack shop"`),
        expect.stringContaining(`cp ${path}.backup ${path}`),
      ],
    })
  })

  it('behind a link is written where it lies, with backup and lock beside it, and the link stays', async () => {
    const real = join(folder, 'real')
    mkdirSync(real)
    symlinkSync('real/shop.tfstate', path)
    for (const it of [store(), store({path: join(real, 'shop.tfstate')}), store()]) {
      const unlock = await it.lock(0)
      await it.save(await it.load())
      await unlock()
    }
    expect(store().key).toBe(store({path: join(real, 'shop.tfstate')}).key)
    expect([readdirSync(folder), lstatSync(path).isSymbolicLink()]).toEqual([['real', 'terraform.shop.tfstate'], true])
    expect(readdirSync(real)).toEqual(['shop.tfstate', 'shop.tfstate.backup'])
    expect(lstatSync(join(real, 'shop.tfstate.backup')).isFile()).toBe(true)
    expect((await store().load()).serial).toBe(3)
  })

  it('that is a folder or a device is refused, and stays what it is', () => {
    symlinkSync('/dev/full', path)
    expect(() => store()).toThrow(expect.objectContaining({code: 'E_NOT_A_FILE'}))
    expect(() => store({path: folder})).toThrow(expect.objectContaining({code: 'E_NOT_A_FILE'}))
  })

  it('that is larger than any app makes it is refused with what to do, before it is in memory', async () => {
    writeFileSync(path, '{')
    truncateSync(path, 256 * 1_048_576 + 1)
    await expect(store().load()).rejects.toMatchObject({
      code: 'E_LEDGER_ACCESS',
      message: expect.stringContaining('is larger than 268435456 bytes'),
    })
  })

  it('keeps 10 000 objects as they are over many versions', async () => {
    const many = Array.from({length: 10_000}, (_, at) =>
      entry(`null_resource.o${at}`, `cloud/subscriptions/${at % 50}/databases/${at}`, {
        applied: {name: `database-${at}`, memoryLimitInGb: 1.5, modules: [{name: 'json'}], dataPersistence: 'aof-every-1-second'},
        dependsOn: ['shop:null_resource.o0'],
        outputs: {id: String(at)},
      }),
    )
    const it = store()
    const unlock = await it.lock(0)
    let ledger = {...(await it.load()), entries: ledgerOf(many).entries}
    const {serial} = ledger
    for (let round = 0; round < 3; round++) {
      await it.save(ledger)
      ledger = await it.load()
    }
    await unlock()
    expect(ledger.serial).toBe(serial + 3)
    expect(ledger.entries.size).toBe(10_000)
    for (const wanted of many) expect(ledger.entries.get(wanted.address)).toEqual(wanted)
  })
})

describe('the lock of a ledger file', () => {
  it('is held by one at a time, and the other is told who, where and since when', async () => {
    const unlock = await store().lock(0)
    await expect(store().lock(0)).rejects.toMatchObject({
      code: 'E_LOCKED',
      exit: 10,
      message: expect.stringMatching(new RegExp(`is locked by pid ${process.pid} on build-7 \\(tester\\) since 20\\d\\d-\\d\\d-\\d\\dT`)),
    })
    await unlock()
    await (await store().lock(0))()
    expect(readdirSync(folder)).toEqual([])
  })

  it('is waited for as long as asked', async () => {
    const unlock = await store().lock(0)
    const waiting = store().lock(30_000)
    await unlock()
    await (await waiting)()
  })

  it('says whose it is as soon as it is waited for', async () => {
    const unlock = await store().lock(0)
    await expect(store().lock(150)).rejects.toMatchObject({code: 'E_LOCKED'})
    expect(notices).toEqual([expect.stringMatching(/^Waiting up to 150 ms for the lock on .*, which is held by pid \d+ on build-7/)])
    await unlock()
  })

  it('stops being waited for when the run is interrupted', async () => {
    const unlock = await store().lock(0)
    const stop = new AbortController()
    const waiting = store().lock(60_000, stop.signal)
    stop.abort(new Error('interrupted'))
    await expect(waiting).rejects.toThrow('interrupted')
    await unlock()
  })

  it('of a living process on this host is respected, and taken over when that process was killed', async () => {
    const holder = await holderProcess()
    await expect(store().lock(0)).rejects.toMatchObject({
      code: 'E_LOCKED',
      message: expect.stringContaining(`pid ${holder.pid} on build-7`),
    })
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const unlock = await store().lock(0)
    expect(notices).toEqual([expect.stringContaining(`was held by pid ${holder.pid} on build-7`)])
    await unlock()
    expect(readdirSync(folder)).toEqual([])
  })

  it('is taken over by exactly one of many that find its holder dead', async () => {
    const holder = await holderProcess()
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const results = await Promise.allSettled(Array.from({length: 8}, () => store().lock(0)))
    expect(results.filter(it => it.status === 'fulfilled')).toHaveLength(1)
  })

  it('is taken over when its pid belongs to another process by now', async ctx => {
    const {id, since, ...rest} = {...processIdentityOf('build-7', process.pid), id: 'aa', since: '2026-01-01T00:00:00Z'}
    if (rest.start === '') ctx.skip('this system does not tell when a process started')
    writeFileSync(lockFileOf(path), JSON.stringify({...rest, id, since, who: 'x', start: 'another-boot/1'}))
    await (await store().lock(0))()
    expect(notices).toHaveLength(1)
  })

  it.each([
    ['of another host', {host: 'build-8'}],
    ['of another container on this host', {pidSpace: 'pid:[1]'}],
  ])('%s is never taken over', async (_what, other) => {
    const dead = {...processIdentityOf('build-7', 2 ** 22 + 1), id: 'aa', since: '2026-01-01T00:00:00Z', who: 'x', ...other}
    writeFileSync(lockFileOf(path), JSON.stringify(dead))
    await expect(store().lock(0)).rejects.toMatchObject({code: 'E_LOCKED'})
    expect(existsSync(lockFileOf(path))).toBe(true)
  })

  it('that is a link to nothing ends the wait like any other', async () => {
    symlinkSync('gone', lockFileOf(path))
    await expect(store().lock(0)).rejects.toMatchObject({code: 'E_LOCKED'})
    expect(await store().forceUnlock()).toContain('somebody')
    await (await store().lock(0))()
  })

  it('that cannot be read is respected until it is forced', async () => {
    writeFileSync(lockFileOf(path), '')
    await expect(store().lock(0)).rejects.toMatchObject({code: 'E_LOCKED'})
    await store().forceUnlock()
    await (await store().lock(0))()
  })

  it('can be forced with its id only, and the run that lost it writes nothing more', async () => {
    const it = store()
    await it.lock(0)
    const {id} = JSON.parse(readFileSync(lockFileOf(path), 'utf8'))
    await expect(store().forceUnlock('other')).rejects.toMatchObject({code: 'E_LOCK_ID', exit: 64})
    expect(await store().forceUnlock(id)).toContain(`pid ${process.pid}`)
    expect(await store().forceUnlock(id)).toBeUndefined()
    await expect(it.save(ledgerOf([]))).rejects.toMatchObject({code: 'E_LOCK_LOST', exit: 10})
    const unlock = await store().lock(0)
    await expect(it.save(ledgerOf([]))).rejects.toMatchObject({code: 'E_LOCK_LOST'})
    await unlock()
    expect(existsSync(path)).toBe(false)
  })

  it('admits two contending processes one after the other, and loses no save of either', async () => {
    const script = await childProgram(join(import.meta.dirname, '../support/bump-ledger.ts'))
    const runs = [1, 2].map(() => spawn(process.execPath, [script, path, '15'], {stdio: 'inherit'}))
    children.push(...runs)
    const codes = await Promise.all(runs.map(async run => (await once(run, 'exit'))[0]))
    expect(codes).toEqual([0, 0])
    expect((await store().load()).serial).toBe(30)
  })

  it('of several stacks is taken for all or for none', async () => {
    const stores = ['c', 'a', 'b'].map(name => store({path: join(folder, name)}))
    const unlockB = await store({path: join(folder, 'b')}).lock(0)
    await expect(lockAll(stores, {timeoutMs: 0, clock: systemClock})).rejects.toMatchObject({code: 'E_LOCKED'})
    expect(readdirSync(folder)).toEqual(['.b.svcctl.lock'])
    await unlockB()
    const unlock = await lockAll([...stores, ...stores], {timeoutMs: 0, clock: systemClock})
    expect(readdirSync(folder).sort()).toEqual(['.a.svcctl.lock', '.b.svcctl.lock', '.c.svcctl.lock'])
    await unlock()
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('locks of several ledgers', () => {
  it('are all given back where one of them cannot be, and what failed first is what is said', async () => {
    const stores = ['a', 'b', 'c'].map(name => store({path: join(folder, name)}))
    const [a, b, c] = stores
    if (a === undefined || b === undefined || c === undefined) throw new TypeError('three stores')
    const failing = Object.assign(Object.create(b), {
      key: b.key,
      lock: async () => async () => {
        throw new Error('the unlock failed')
      },
    })
    const unlock = await lockAll([a, failing, c], {timeoutMs: 0, clock: systemClock})
    expect(readdirSync(folder).sort()).toEqual(['.a.svcctl.lock', '.c.svcctl.lock'])
    await expect(unlock()).rejects.toThrow('the unlock failed')
    expect(readdirSync(folder)).toEqual([])

    const held = await store({path: join(folder, 'c')}).lock(0)
    await expect(lockAll([a, failing, c], {timeoutMs: 0, clock: systemClock})).rejects.toMatchObject({code: 'E_LOCKED'})
    expect(readdirSync(folder)).toEqual(['.c.svcctl.lock'])
    await held()
  })
})

const fullLedgerAt = (serial: number) => ({...fullLedger(), serial, lineage: ''})
