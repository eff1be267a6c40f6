import {appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {ChainFile, type Known, type KnownChain, type Written} from '../../src/audit/chain-file.ts'
import {type AuditEvent, NOTHING, readLine} from '../../src/audit/entry.ts'
import {linesOf} from '../../src/audit/lines.ts'
import {checkFile} from '../../src/audit/verify.ts'
import type {HolderState, LockHolder} from '../../src/base/process-lock.ts'
import {entry} from './sample-entry.ts'

let folder: string
let locks = 0
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-chain-'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

const holder = (): LockHolder => ({host: 'here', pid: 1, start: '', pidSpace: '', id: `lock-${++locks}`, who: 'a test', since: ''})
const chain = (name = 'shop', stateOf: (holder: LockHolder) => HolderState = () => 'alive') =>
  new ChainFile(join(folder, `${name}.jsonl`), {holder, stateOf})
const written = (file: ChainFile, known?: Known, ...events: Partial<AuditEvent>[]): Written => {
  const done = file.append((events.length === 0 ? [{}] : events).map(entry), known)
  file.close()
  if (done === undefined) throw new Error('somebody else writes')
  return done
}
const textOf = (file: ChainFile) => readFileSync(file.path, 'utf8').split('\n').slice(0, -1)
const check = (file: ChainFile) => checkFile({path: file.path, lines: linesOf(file.path)})
const known = ({head, file}: Written, more: Partial<KnownChain> = {}): KnownChain => ({
  ...head,
  files: [{file, ...head, isHere: false}],
  ...more,
})

describe('the file of an audit', () => {
  it('goes on from its last line, whoever wrote that', () => {
    const one = written(chain())
    const two = written(chain(), undefined, {address: 'a'}, {address: 'b'})
    expect(one.head.seq).toBe(1)
    expect(two.head.seq).toBe(3)
    expect(two.file).toBe(one.file)
    expect(textOf(chain()).map(it => readLine(it)?.prev)).toEqual([NOTHING, one.head.hash, readLine(textOf(chain())[1] ?? '')?.hash])
    expect(check(chain()).fault).toBeUndefined()
  })

  it('is where svcctl keeps it: what stands there in its place is to be moved away, and no other file named', () => {
    const {path} = chain('folder')
    mkdirSync(path)
    expect(() => chain('folder')).toThrow(
      expect.objectContaining({
        code: 'E_NOT_A_FILE',
        suggestions: [`Move it away and run the command again: svcctl keeps a file of its own there (mv ${path} ${path}.old).`],
      }),
    )
  })

  it('can be read by its owner only', () => {
    written(chain())
    expect(statSync(chain().path).mode & 0o777).toBe(0o600)
  })

  it('takes back a line that its writer died at, and goes on from the one before', () => {
    const first = written(chain())
    appendFileSync(chain().path, '{"actor":{"host":"he')
    expect(check(chain())).toMatchObject({torn: true, links: [{seq: 1}]})
    const second = written(chain(), known(first))
    expect(second.head.seq).toBe(2)
    expect(check(chain())).toMatchObject({torn: false, links: [{seq: 1}, {seq: 2}]})
    expect(check(chain()).fault).toBeUndefined()
  })

  it.each([
    ['a file of another program', '# my settings\nexport A=1', 'a last line without its break'],
    ['one that is one line', 'export A=1', 'all of it'],
  ])('takes nothing away from %s: %j (%s)', (_, text) => {
    const path = join(folder, 'shop.jsonl')
    writeFileSync(path, text)
    expect(() => written(chain())).toThrow(
      expect.objectContaining({code: 'E_NOT_A_FILE', message: expect.stringContaining('no line of an audit')}),
    )
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it('takes zeros back, which a power cut may leave', () => {
    const first = written(chain())
    appendFileSync(chain().path, '\0\0\0')
    expect(written(chain(), known(first)).head.seq).toBe(2)
    expect(check(chain()).fault).toBeUndefined()
  })

  it('begins anew where nothing but a torn line is there', () => {
    appendFileSync(join(folder, 'shop.jsonl'), '{"actor"')
    expect(written(chain()).head.seq).toBe(1)
    expect(check(chain()).fault).toBeUndefined()
  })

  it('goes on from where the ledger is when the disk was wiped, and says that it has nothing of before', () => {
    const elsewhere = written(chain('other'), undefined, {}, {}, {})
    const here = written(chain(), known(elsewhere))
    expect(here.head.seq).toBe(4)
    expect(here.lines.map(it => it.entry.here)).toEqual([{seq: 0, hash: NOTHING}])
    expect(here.lines[0]?.entry.prev).toBe(elsewhere.head.hash)
    expect(check(chain()).fault).toBeUndefined()
  })

  it('goes on from the ledger behind lines that another machine did not see, and says which those are', () => {
    const shared = written(chain(), undefined, {}, {})
    const lost = written(chain(), known(shared), {address: 'lost'})
    const other = written(chain('other'), known(shared), {address: 'b'}, {address: 'c'})
    const back = written(chain(), known(other))
    expect(back.head.seq).toBe(5)
    expect(back.lines[0]?.entry.here).toEqual(lost.head)
    expect(check(chain()).fault).toBeUndefined()
  })

  it('goes on behind what the ledger does not know yet, and hands that on', () => {
    const first = written(chain())
    written(chain(), known(first), {address: 'ahead'}, {address: 'ahead too'})
    const next = written(chain(), known(first), {address: 'next'})
    expect(next.lines.map(it => [it.entry.seq, it.entry.address])).toEqual([
      [2, 'ahead'],
      [3, 'ahead too'],
      [4, 'next'],
    ])
    expect(chain().append([], known(first))).toMatchObject({head: next.head, lines: [{}, {}, {}]})
  })

  it('says that the ledger knew of nothing, and goes on from its own lines', () => {
    const first = written(chain(), undefined, {}, {})
    const next = written(chain(), 'silent', {address: 'a'}, {address: 'b'})
    expect(written(chain('new'), 'silent').lines[0]?.entry.here).toBeUndefined()
    expect(written(chain('newer'), 'rewritten').lines[0]?.entry.here).toEqual({seq: 0, hash: NOTHING})
    expect(next.lines.map(it => it.entry.here)).toEqual([first.head, undefined])
    // That is no place where lines are missing.
    const older = {seq: 1, hash: readLine(textOf(chain())[0] ?? '')?.hash ?? ''}
    expect(
      chain()
        .append([], {...older, files: []})
        ?.lines.map(it => it.entry.seq),
    ).toEqual([2, 3, 4])
    expect(check(chain()).fault).toBeUndefined()
  })

  it('says for good that lines are missing that the ledger had seen in this very file', () => {
    const all = written(chain(), undefined, {}, {}, {})
    const size = Buffer.byteLength(`${textOf(chain())[0]}\n`)
    truncateSync(chain().path, size)
    expect(written(chain(), known(all)).lines[0]?.entry.here).toMatchObject({seq: 1, had: 3})
    rmSync(chain().path)
    expect(written(chain(), known(all)).lines[0]?.entry.here).toEqual({seq: 0, hash: NOTHING})
    rmSync(chain().path)
    expect(written(chain(), known(all, {files: [{file: all.file, ...all.head, isHere: true}]})).lines[0]?.entry.here).toMatchObject({
      seq: 0,
      had: 3,
    })
  })

  it('notices that its lines were taken away while a run goes on', () => {
    const file = chain()
    file.append([entry(), entry()], undefined)
    truncateSync(file.path, Buffer.byteLength(`${textOf(file)[0]}\n`))
    const next = file.append([entry()], undefined)
    file.close()
    expect(next?.head.seq).toBe(3)
    expect(next?.lines[0]?.entry.here).toMatchObject({seq: 1, had: 2})
  })

  it('goes on behind a line that was altered from what the ledger knows, and leaves the line as it is', () => {
    const all = written(chain(), undefined, {}, {address: 'a'})
    const altered = readFileSync(chain().path, 'utf8').replace('"address":"a"', '"address":"b"')
    writeFileSync(chain().path, altered)
    expect(written(chain(), known(all)).head.seq).toBe(3)
    expect(readFileSync(chain().path, 'utf8').startsWith(altered)).toBe(true)
    expect(check(chain()).fault).toEqual({seq: 2, message: 'line 2 was altered'})
  })

  it('is left alone while somebody else writes, and not for longer than they live', () => {
    written(chain())
    writeFileSync(chain().lockPath, JSON.stringify(holder()))
    expect(chain().append([entry()], undefined)).toBeUndefined()
    expect(chain().locked().message).toMatch(/is being written by pid 1 on here/)
    expect(written(chain('shop', () => 'dead')).head.seq).toBe(2)
    expect(existsSync(chain().lockPath)).toBe(false)
  })

  it('lets two processes write in turn while both have it open', () => {
    const [a, b] = [chain(), chain()]
    for (const [at, file] of [a, b, b, a, b, a].entries()) expect(file.append([entry()], undefined)?.head.seq).toBe(at + 1)
    a.close()
    b.close()
    expect(check(chain()).fault).toBeUndefined()
  })
})
