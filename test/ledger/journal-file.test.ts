import {execFileSync} from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {buildSync} from 'esbuild'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {
  continueJournal,
  createJournal,
  createRunId,
  damagedCopyOf,
  endedRuns,
  journalPath,
  listRuns,
  readJournal,
  runsFolder,
} from '../../src/ledger/journal-file.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-journal-'))
  path = journalPath(runsFolder(folder), '20261121T101530123-3f9ab2')
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

/** A journal with three entries. */
function written(): string {
  const journal = createJournal(path, {run: '20261121T101530123-3f9ab2', stack: 'shop'})
  journal.append({at: 'sent', key: 'shop:null_resource.a'})
  journal.append({at: 'handle', task: 't-1'}, {fsync: false})
  journal.append({at: 'settled', text: 'line\nbreak ü "quote"'})
  journal.close()
  return readFileSync(path, 'utf8')
}
const entries = [
  {at: 'sent', key: 'shop:null_resource.a'},
  {at: 'handle', task: 't-1'},
  {at: 'settled', text: 'line\nbreak ü "quote"'},
]
const header = {run: '20261121T101530123-3f9ab2', stack: 'shop', format: 'svcctl.journal/1'}

describe('a journal', () => {
  it('gives back its header and its entries in order', () => {
    written()
    expect(readJournal(path)).toEqual({header, entries, torn: false})
  })

  it('is one JSON line per entry, numbered from the header on', () => {
    const lines = written()
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(lines.map(({seq}) => seq)).toEqual([0, 1, 2, 3])
    expect(lines[1].entry).toEqual({at: 'sent', key: 'shop:null_resource.a'})
  })

  it('is for its owner only, and so is its folder', () => {
    written()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(runsFolder(folder)).mode & 0o777).toBe(0o700)
  })

  it('is never begun twice', () => {
    const before = written()
    expect(() => createJournal(path, {})).toThrow('EEXIST')
    expect(readFileSync(path, 'utf8')).toBe(before)
  })

  it('can be read wherever it was cut, and lacks at most the entry that was cut', () => {
    const whole = Buffer.from(written())
    const headerEnd = whole.indexOf('\n') + 1
    for (let size = headerEnd; size <= whole.length; size++) {
      writeFileSync(path, whole.subarray(0, size))
      const lines = whole.subarray(0, size).toString('latin1').split('\n').length - 1
      expect(readJournal(path)).toEqual({header, entries: entries.slice(0, lines - 1), torn: whole[size - 1] !== 0x0a})
    }
  })

  it('goes on after a torn line as if that had never been begun', () => {
    const whole = written()
    truncateSync(path, Buffer.byteLength(whole) - 5)
    const {torn, journal} = continueJournal(path)
    expect(torn).toBe(true)
    expect(journal.append({at: 'again'})).toBe(3)
    journal.close()
    expect(readJournal(path)).toEqual({header, entries: [...entries.slice(0, 2), {at: 'again'}], torn: false})
  })

  it.each([
    ['no header', () => '', 'it is empty'],
    ['a torn header', (text: string) => text.slice(0, 20), 'its first line is not what was written'],
    ['another first line', (text: string) => text.split('\n').slice(1).join('\n'), 'its first line is not what was written'],
  ])('with %s is damaged, and left as it is', (_what, edit, words) => {
    const text = edit(written())
    writeFileSync(path, text)
    expect(() => continueJournal(path)).toThrow(words)
    expect(() => readJournal(path)).toThrow(expect.objectContaining({code: 'E_JOURNAL_DAMAGED', exit: 1}))
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it.each([
    ['a changed entry', (text: string) => text.replace('"seq":1', '"seq":7'), 'the line of entry 1 is not what was written'],
    ['a missing line', (text: string) => text.split('\n').toSpliced(1, 1).join('\n'), 'entry 1 is missing before entry 2'],
    ['a line of noise', (text: string) => text.split('\n').with(1, '\0\0').join('\n'), 'the line of entry 1 is not what was written'],
  ])('with %s has all the others; who goes on with it keeps it as it was, beside a whole one', (_what, edit, damage) => {
    const text = edit(written())
    writeFileSync(path, text)
    expect(readJournal(path)).toEqual({header, entries: entries.slice(1), torn: false, damage})
    expect(readFileSync(path, 'utf8')).toBe(text)
    const {journal} = continueJournal(path)
    expect(journal.append({at: 'again'})).toBe(entries.length)
    journal.close()
    expect(readJournal(path)).toEqual({header, entries: [...entries.slice(1), {at: 'again'}], torn: false})
    expect(readFileSync(damagedCopyOf(path), 'utf8')).toBe(text)
  })

  it('with a line that is there twice has it once', () => {
    const [first = '', second = '', ...rest] = written().split('\n')
    writeFileSync(path, [first, second, second, ...rest].join('\n'))
    expect(readJournal(path)).toEqual({header, entries, torn: false, damage: 'entry 1 is there twice'})
  })

  it('that is closed takes nothing more, and leaves alone what has its number by then', () => {
    const journal = createJournal(path, {run: 'r'})
    journal.close()
    const other = join(folder, 'other')
    const file = openSync(other, 'w+')
    try {
      expect(() => journal.append({late: true})).toThrow(expect.objectContaining({code: 'E_JOURNAL_WRITE'}))
      journal.close()
      expect([readFileSync(other, 'utf8'), fstatSync(file).size]).toEqual(['', 0])
    } finally {
      closeSync(file)
    }
    expect(readJournal(path).entries).toEqual([])
  })

  it('of another version is refused, however its lines look', () => {
    written()
    writeFileSync(path, '{"entry":{"format":"svcctl.journal/2"}}\nwhatever\n')
    expect(() => readJournal(path)).toThrow(expect.objectContaining({code: 'E_JOURNAL_VERSION', exit: 1}))
  })

  it('that is not there is exit 11', () => {
    expect(() => readJournal(path)).toThrow(expect.objectContaining({code: 'E_JOURNAL_MISSING', exit: 11}))
  })

  it.skipIf(process.platform === 'win32')('is none where a repository brings a link to a device along, or a FIFO stands there', () => {
    mkdirSync(runsFolder(folder), {recursive: true})
    symlinkSync('/dev/zero', path)
    expect(() => readJournal(path)).toThrow(expect.objectContaining({code: 'E_JOURNAL_MISSING'}))
    rmSync(path)
    execFileSync('mkfifo', [path])
    expect(() => readJournal(path)).toThrow(expect.objectContaining({code: 'E_JOURNAL_MISSING'}))
  })

  it('that is there and cannot be read says how to get it out of the way of every later run', () => {
    mkdirSync(path, {recursive: true})
    const mv = `mv ${path} ${path}.old`
    expect(() => readJournal(path)).toThrow(
      expect.objectContaining({
        code: 'E_JOURNAL_MISSING',
        message: `The journal ${path} cannot be read (EINVAL).`,
        suggestions: expect.arrayContaining([expect.stringContaining(mv)]),
      }),
    )
    renameSync(path, `${path}.old`)
    expect(listRuns(runsFolder(folder))).toEqual([])
  })

  it.skipIf(process.platform === 'win32')('on a full disk keeps its whole entries and refuses the one that does not fit', () => {
    const script = join(folder, 'fill.mjs')
    buildSync({
      entryPoints: [join(import.meta.dirname, '../support/fill-journal.ts')],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: script,
    })
    // A limit on the size of files stands for the disk: a write is cut short at it, as on a full disk.
    const out = execFileSync('bash', ['-c', 'ulimit -f 4; exec "$0" "$@"', process.execPath, script, path], {encoding: 'utf8'})
    const {written: count, codes} = JSON.parse(out)
    expect(codes).toEqual(['E_JOURNAL_WRITE 1', 'E_JOURNAL_WRITE 1'])
    const {entries: kept, torn} = readJournal(path)
    expect(torn).toBe(false)
    expect(kept).toHaveLength(count + 1)
    expect(kept.at(-1)).toEqual({small: true})
  })
})

describe('the runs of a folder', () => {
  it('are none before the first', () => {
    expect(listRuns(runsFolder(folder))).toEqual([])
    expect([...endedRuns(runsFolder(folder))]).toEqual([])
  })

  it('are not known where a file lies in the place of the folder, or a link to itself, and that says what to do', () => {
    const runs = runsFolder(folder)
    mkdirSync(join(folder, '.svcctl'))
    writeFileSync(runs, '')
    const refusal = {
      code: 'E_RUNS_FOLDER',
      message: `${runs}, where runs are kept, is no folder; nothing was sent.`,
      suggestions: [`Move it away, then run the command again: mv ${runs} ${runs}.old`],
    }
    expect(() => listRuns(runs)).toThrow(expect.objectContaining(refusal))
    expect(() => endedRuns(runs)).toThrow(expect.objectContaining(refusal))
    expect(() => createJournal(path, {})).toThrow(
      expect.objectContaining({code: 'E_JOURNAL_WRITE', suggestions: [expect.stringMatching(/^Make sure/)]}),
    )
  })

  it('are listed oldest first, without what else lies there', async () => {
    const clock = new VirtualClock(Date.UTC(2026, 10, 21, 9, 59, 59, 999))
    const ids: string[] = []
    for (let at = 0; at < 3; at++) {
      ids.push(createRunId(clock, count => new Uint8Array(count).fill(9 - at)))
      await clock.run(clock.sleep(1))
    }
    expect(ids).toEqual(['20261121T095959999-090909', '20261121T100000000-080808', '20261121T100000001-070707'])
    const runs = runsFolder(folder)
    expect(() => journalPath(runs, '../../x')).toThrow(expect.objectContaining({code: 'E_NAME_IN_PATH'}))
    for (const id of ids.toReversed()) createJournal(journalPath(runs, id), {run: id}).close()
    writeFileSync(join(runs, `${ids[0]}.residual.json`), '{}')
    appendFileSync(join(runs, 'notes.jsonl'), '')
    expect(readdirSync(runs)).toHaveLength(5)
    expect(listRuns(runs).map(({run}) => run)).toEqual(ids)
  })
})
