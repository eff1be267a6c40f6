import {describe, expect, it} from 'vitest'
import {type AuditEvent, type ChainedLine, type ChainHead, chained, NOTHING, type UnchainedEntry} from '../../src/audit/entry.ts'
import {type CheckedChain, checkChain, checkFile, type LedgerWord} from '../../src/audit/verify.ts'
import {entry} from './sample-entry.ts'

const BEGIN = {seq: 0, hash: NOTHING}

/** Lines behind each other, each with an address of its own. */
function lines(count: number, after: ChainHead = BEGIN, event: Partial<AuditEvent> = {}): ChainedLine[] {
  const all: ChainedLine[] = []
  for (let last = after; all.length < count; last = all.at(-1)?.entry ?? last)
    all.push(chained(entry({address: `null_resource.a${last.seq + 1}`, ...event}), last))
  return all
}
const headOf = (all: readonly ChainedLine[]): ChainHead => ({seq: all.at(-1)?.entry.seq ?? 0, hash: all.at(-1)?.entry.hash ?? NOTHING})
const bytesOf = (all: readonly ChainedLine[]): string => all.map(it => `${it.text}\n`).join('')

function fileOf(content: string, path = 'shop.jsonl') {
  const parts = content.split('\n')
  const torn = parts.pop() ?? ''
  return checkFile({path, lines: [...parts.map(text => ({text, torn: false})), ...(torn === '' ? [] : [{text: torn, torn: true}])]})
}
const ledgerAt = (head: ChainHead, more: Partial<LedgerWord> = {}): LedgerWord => ({
  ...head,
  lineage: 'l-1',
  files: [{file: 'f', ...head, isHere: true}],
  last: [],
  ...more,
})
const check = (content: string, ledger?: LedgerWord, head?: string): CheckedChain =>
  checkChain(content === '' ? [] : [fileOf(content)], ledger, head)

describe('an audit is verified', () => {
  const all = lines(8)
  const head = headOf(all)

  it('as it was written, with and without the ledger', () => {
    expect(check(bytesOf(all))).toEqual({head, lines: 8, gaps: [], ahead: 0})
    expect(check(bytesOf(all), ledgerAt(head)).fault).toBeUndefined()
    expect(check(bytesOf(all), undefined, head.hash.slice(0, 12)).fault).toBeUndefined()
  })

  it('and each flipped bit is found at its line', () => {
    for (const [at, {text}] of all.entries()) {
      const before = bytesOf(all.slice(0, at))
      const after = bytesOf(all.slice(at + 1))
      for (let i = 0; i <= text.length; i += 7) {
        const byte = Buffer.from(`${text}\n`)
        byte[i] = (byte[i] ?? 0) ^ (i % 2 === 0 ? 1 : 4)
        const found = check(before + byte.toString('latin1') + after, ledgerAt(head)).fault
        expect([at, i, found?.seq]).toEqual([at, i, at + 1])
      }
    }
  })

  it('and a line that was dropped is found at its number, the last one too', () => {
    for (const at of all.keys()) {
      const rest = [...all.slice(0, at), ...all.slice(at + 1)]
      expect(check(bytesOf(rest), ledgerAt(head)).fault).toMatchObject({seq: at + 1})
      expect(check(bytesOf(rest), undefined, head.hash).fault).toMatchObject({seq: at + 1})
    }
  })

  it('and two lines that changed places are found at the first of them', () => {
    for (let a = 0; a < all.length; a++)
      for (let b = a + 1; b < all.length; b++) {
        const swapped = [...all]
        const [x, y] = [all[a], all[b]]
        if (x === undefined || y === undefined) throw new RangeError()
        swapped[a] = y
        swapped[b] = x
        expect([a, b, check(bytesOf(swapped), ledgerAt(head)).fault?.seq]).toEqual([a, b, a + 1])
      }
  })

  it('and a file that was cut short anywhere is behind the ledger, in the middle of a line too', () => {
    const bytes = bytesOf(all)
    for (let size = 0; size < bytes.length; size += 11) {
      const whole = bytes.slice(0, size).split('\n').length - 1
      expect([size, check(bytes.slice(0, size), ledgerAt(head)).fault]).toMatchObject([size, {seq: whole + 1}])
      expect(check(bytes.slice(0, size), undefined, head.hash).fault).toMatchObject({seq: whole + 1})
    }
  })

  it('and a line written twice is found where the next one should be', () => {
    expect(check(bytesOf([...all.slice(0, 4), ...all.slice(3)])).fault).toMatchObject({seq: 5})
  })

  it('and a line whose hash was made anew does not fit the one behind it', () => {
    const third = all[2]?.entry ?? all[0]?.entry
    if (third === undefined) throw new RangeError()
    const {seq: _, hash: _hash, prev, here: _here, ...rest} = third
    const forged = chained({...rest, reason: 'forged'}, {seq: 2, hash: prev})
    expect(check(bytesOf([...all.slice(0, 2), forged, ...all.slice(3)])).fault).toMatchObject({seq: 3})
    expect(check(bytesOf([...all.slice(0, 2), forged]), ledgerAt(headOf(all.slice(0, 3)))).fault).toMatchObject({seq: 3})
  })

  it('and a chain that was made anew as a whole is another one than the ledger knows', () => {
    const forged = lines(8, BEGIN, {reason: 'forged'})
    expect(check(bytesOf(forged)).fault).toBeUndefined()
    expect(check(bytesOf(forged), ledgerAt(head)).fault).toMatchObject({seq: 8})
    expect(check(bytesOf(forged), undefined, head.hash).fault).toBeDefined()
  })

  it('and a file that is gone is missing from its first line, where no other machine could have it', () => {
    expect(check('', ledgerAt(head)).fault).toMatchObject({seq: 1})
    expect(check('', ledgerAt(head, {files: []}))).toEqual({lines: 0, gaps: [{from: 1, to: 8}], ahead: 0})
  })
})

describe('an audit is ahead of its ledger', () => {
  const begun = lines(3, BEGIN, {run: 'run-1'})

  it('by a run that did not come to its end, and that is no fault', () => {
    const run = [chained(entry({event: 'apply-begin', run: 'run-2'}), headOf(begun))]
    const done = [...run, ...lines(2, headOf(run), {run: 'run-2'})]
    expect(check(bytesOf([...begun, ...done]), ledgerAt(headOf(begun)))).toMatchObject({ahead: 3, gaps: []})
    expect(check(bytesOf([...begun, ...done]), ledgerAt(headOf(begun))).fault).toBeUndefined()
  })

  it('by holds and freezes, which need no lock of it', () => {
    const held = lines(40, headOf(begun), {event: 'hold'})
    expect(check(bytesOf([...begun, ...held]), ledgerAt(headOf(begun))).fault).toBeUndefined()
  })

  it('by two runs: then the ledger was put back', () => {
    const second = [chained(entry({event: 'apply-begin', run: 'run-2'}), headOf(begun))]
    const third = [chained(entry({event: 'forget', run: 'run-3'}), headOf(second))]
    expect(check(bytesOf([...begun, ...second, ...third]), ledgerAt(headOf(begun))).fault).toMatchObject({seq: 5})
  })

  it('and what another ledger of the stack has in the same file does not count', () => {
    const all = [...begun]
    for (const run of ['run-2', 'run-3', 'run-4']) all.push(chained({...entry({event: 'apply-begin', run}), lineage: 'l-2'}, headOf(all)))
    expect(check(bytesOf(all), ledgerAt(headOf(begun)))).toMatchObject({ahead: 0})
  })
})

describe('an audit that several machines have written', () => {
  const first = lines(3)
  const second = lines(4, headOf(first))
  const seam = chained(entry({address: 'back'}), headOf(second), headOf(first))
  const third = [seam, ...lines(2, seam.entry)]
  const mine = [...first, ...third]

  it('names what is not here, and is not broken', () => {
    const checked = check(bytesOf(mine), ledgerAt(headOf(third), {files: []}))
    expect(checked).toEqual({head: headOf(third), lines: 6, gaps: [{from: 4, to: 7}], ahead: 0})
  })

  it('is whole when all its files are looked at together', () => {
    const theirs = chained(entry({address: 'null_resource.a4'}), headOf(first), BEGIN)
    const rest = lines(3, theirs.entry)
    const back = chained(entry({address: 'back'}), headOf(rest), headOf(first))
    const files = [fileOf(bytesOf([...first, back]), 'a'), fileOf(bytesOf([theirs, ...rest]), 'b')]
    expect(checkChain(files, ledgerAt(headOf([back]), {files: []}), undefined)).toMatchObject({gaps: [], lines: 8})
  })

  it('is whole where the ledger carries along what no file has', () => {
    const ledger = ledgerAt(headOf(third), {files: [], last: second.map(it => it.text)})
    expect(check(bytesOf(mine), ledger)).toMatchObject({gaps: [], lines: 10})
    expect(check('', ledger)).toMatchObject({
      gaps: [
        {from: 1, to: 3},
        {from: 8, to: 10},
      ],
    })
  })

  it('cannot have lines taken out and called another machine’s', () => {
    for (const at of mine.keys()) {
      const rest = [...mine.slice(0, at), ...mine.slice(at + 1)]
      const ledger = ledgerAt(headOf(third), {files: [{file: mine[0]?.entry.hash.slice(0, 12) ?? '', ...headOf(third), isHere: false}]})
      expect([at, check(bytesOf(rest), ledger).fault?.seq]).toEqual([at, at < 3 ? at + 1 : at === 3 ? 4 : mine[at]?.entry.seq])
    }
  })

  it('was cut short where the ledger had seen more of this very file', () => {
    const files = [{file: first[0]?.entry.hash.slice(0, 12) ?? '', ...headOf(first), isHere: false}]
    const ledger = ledgerAt(headOf(second), {files})
    expect(check(bytesOf(first), ledger)).toMatchObject({gaps: [{from: 4, to: 7}]})
    expect(check(bytesOf(first), ledger).fault).toBeUndefined()
    expect(check(bytesOf(first.slice(0, 2)), ledger).fault).toMatchObject({seq: 3})
  })

  it('and a ledger that is a file misses none but what was in the place that is looked at', () => {
    const [a, b] = [
      {file: 'a', ...headOf(first)},
      {file: 'b', ...headOf(second)},
    ]
    const at = (isHere: readonly boolean[]) =>
      ledgerAt(headOf(second), {
        files: [
          {...a, isHere: isHere[0] ?? false},
          {...b, isHere: isHere[1] ?? false},
        ],
      })
    expect(check('', at([false, false]))).toEqual({lines: 0, gaps: [{from: 1, to: 7}], ahead: 0})
    expect(check(bytesOf(first), at([true, false]))).toEqual({head: headOf(first), lines: 3, gaps: [{from: 4, to: 7}], ahead: 0})
    expect(check(bytesOf(first), at([true, true])).fault).toMatchObject({seq: 4})
    expect(check('', at([true, false])).fault).toMatchObject({seq: 1})
  })

  it('stays broken once a file was cut, whatever comes behind, until a copy of the lines is there', () => {
    const cut = chained(entry(), headOf(second), {...headOf(first.slice(0, 1)), had: 3})
    const content = bytesOf([...first.slice(0, 1), cut])
    expect(check(content).fault).toMatchObject({seq: 2})
    expect(checkChain([fileOf(content), fileOf(bytesOf(first), 'a copy')], undefined, undefined).fault).toBeUndefined()
  })

  it('does not take a line of the ledger for one that was altered there', () => {
    const [one, two] = second.map(it => it.text)
    const ledger = ledgerAt(headOf(second), {files: [], last: [one ?? '', (two ?? '').replace('a5', 'b5')]})
    expect(check(bytesOf(first), ledger).fault).toMatchObject({seq: 5, path: 'the ledger'})
  })
})

describe('a line that was added to the past', () => {
  const run = (count: number, after: ChainHead, name: string) => [
    chained(entry({event: 'apply-begin', run: name}), after),
    ...lines(count, {seq: after.seq + 1, hash: chained(entry({event: 'apply-begin', run: name}), after).entry.hash}, {run: name}),
  ]
  const closed = (count: number, after: ChainHead, name: string) => {
    const own = run(count, after, name)
    return [...own, chained(entry({event: 'apply-end', run: name, state: 'converged'}), headOf(own))]
  }
  /** The same lines behind another one. */
  const again = (own: readonly ChainedLine[], after: ChainHead, seam?: ChainHead, more: Partial<UnchainedEntry> = {}) => {
    const anew: ChainedLine[] = []
    for (const {entry} of own) {
      const {seq: _, hash: _hash, prev: _prev, ...it} = entry
      anew.push(chained({...it, ...more}, anew.at(-1)?.entry ?? after, anew.length === 0 ? seam : undefined))
    }
    return anew
  }
  const all = [...closed(3, BEGIN, 'run-1')]
  all.push(...closed(3, headOf(all), 'run-2'))
  const head = headOf(all)
  const forged = (after: ChainHead, event: Partial<AuditEvent> = {}, seam: ChainHead | undefined = head) =>
    chained(entry({action: 'delete', address: 'null_resource.a1', plan: {hash: 'p', approvedBy: 'the-boss'}, ...event}), after, seam)
  const third = headOf(all.slice(0, 3))
  const remote = (more: Partial<LedgerWord> = {}) => ledgerAt(head, {files: [], ...more})

  it('is not as it was written: with a ledger of this machine, with one behind HTTP, with the printed hash and with none', () => {
    for (const event of [{}, {run: 'run-1'}, {run: 'run-9'}]) {
      const content = bytesOf([...all, forged(third, event)])
      expect(check(content, ledgerAt(head)).fault).toMatchObject({seq: 4})
      expect(check(content, remote()).fault).toMatchObject({seq: 4})
      expect(check(content, undefined, head.hash.slice(0, 12)).fault).toMatchObject({seq: 4})
      expect(check(content).fault).toMatchObject({seq: 4})
    }
  })

  it('is not a hold either where no other machine can have written it', () => {
    const content = bytesOf([...all, forged(third, {event: 'hold'})])
    expect(check(content, ledgerAt(head)).fault).toMatchObject({seq: 4})
    expect(check(content, remote())).toMatchObject({lines: 10, head, beside: [{seq: 4}]})
  })

  it('is found in a file of its own, and where it gives itself another number', () => {
    const alone = fileOf(bytesOf([forged(third, {run: 'run-1'}, BEGIN)]), 'theirs')
    expect(checkChain([fileOf(bytesOf(all)), alone], remote(), undefined).fault).toMatchObject({seq: 4})
    const renumbered = chained(entry(), {seq: 7, hash: third.hash}, head)
    expect(check(bytesOf([...all, renumbered]), remote()).fault).toMatchObject({seq: 8})
  })

  it('is found as a whole file beside what the ledger carries along', () => {
    const last = all.map(it => it.text)
    const other = [...closed(2, BEGIN, 'run-3')]
    other.push(...closed(2, headOf(other), 'run-4'))
    expect(check(bytesOf(other), remote({last})).fault).toMatchObject({seq: 5})
    expect(check(bytesOf(lines(8, BEGIN, {run: 'run-5'})), remote({last})).fault).toMatchObject({seq: 1})
  })

  it('and one about another stack do not go together', () => {
    const other = chained({...entry(), stack: 'other'}, head)
    expect(check(bytesOf([...all, other])).fault).toMatchObject({seq: all.length + 1})
  })

  it('is none of another ledger either, in the one file of a ledger that is here', () => {
    const other = chained({...entry({event: 'hold'}), lineage: 'l-2'}, third, head)
    expect(check(bytesOf([...all, other]), ledgerAt(head)).fault).toMatchObject({seq: 4})
    expect(check(bytesOf([...all, other]), remote())).toMatchObject({lines: 10, beside: [{seq: 4}]})
  })

  it('is none where the ledger had forgotten how far the audit was, and a machine went on from its own file', () => {
    const theirs = again(closed(2, third, 'run-8'), third, BEGIN)
    theirs.push(...closed(2, headOf(theirs), 'run-9'))
    const files = (own: readonly ChainedLine[]) => [fileOf(bytesOf([...all.slice(0, 3), ...own]), 'a'), fileOf(bytesOf(theirs), 'b')]
    expect(checkChain(files(all.slice(3)), remote(), undefined).fault).toMatchObject({seq: 8})
    const own = again(all.slice(3), third, third)
    const checked = checkChain(files(own), remote(headOf(own)), undefined)
    expect(checked.fault).toBeUndefined()
    expect(checked).toMatchObject({lines: 10, head: headOf(own), beside: theirs.map(({entry: {seq, hash}}) => ({seq, hash}))})
    expect(checkChain(files(own).slice(1), remote({...headOf(own), last: own.map(it => it.text)}), undefined).fault).toBeUndefined()
  })

  it('is none, and no ledger was put back, where nothing is here of the chain that the ledger has since it forgot', () => {
    const anew = again(lines(3), BEGIN)
    const own = again([...closed(2, third, 'run-8'), ...closed(2, third, 'run-9')], third, BEGIN)
    const later = again([...closed(2, third, 'run-8'), ...closed(2, third, 'run-9')], {seq: 20, hash: 'e'.repeat(64)}, headOf(own))
    for (const at of [1, 2, 3]) {
      const checked = check(bytesOf([...own, ...later]), remote({...headOf(anew.slice(0, at)), files: []}))
      expect([at, checked.fault]).toEqual([at, undefined])
    }
    expect(check(bytesOf([...own, ...later]), remote({...third, files: []})).fault).toMatchObject({seq: 8})
  })

  it('is none where the ledger has the chain of a former one', () => {
    const chain = again(all, BEGIN, undefined, {lineage: 'l-0'})
    const own = closed(2, BEGIN, 'run-5')
    own.push(...closed(2, headOf(own), 'run-6'))
    const files = [fileOf(bytesOf(chain), 'a'), fileOf(bytesOf(own), 'b')]
    expect(checkChain(files, remote(headOf(chain)), undefined)).toMatchObject({lines: 10, beside: own.map(() => ({}))})
    expect(checkChain(files, remote(headOf(chain)), undefined).fault).toBeUndefined()
  })

  it('is none where a machine wrote of a hold or of a run that died, while another one went on', () => {
    const half = all.slice(0, 5)
    const dead = run(2, headOf(half), 'run-3')
    const held = lines(12, headOf(half), {event: 'hold'})
    for (const side of [dead, held, [...held, ...run(2, headOf(held), 'run-3')]]) {
      const files = [fileOf(bytesOf(all), 'a'), fileOf(bytesOf([...half, ...side]), 'b')]
      const checked = checkChain(files, remote(), undefined)
      expect(checked.fault).toBeUndefined()
      expect(checked).toMatchObject({lines: 10, head, beside: side.map(({entry: {seq, hash}}) => ({seq, hash})), gaps: [], ahead: 0})
    }
    // Of a run whose beginning the ledger had got, and which the next one finished from its journal.
    const begun = run(1, BEGIN, 'run-1')
    const settled = [...begun, chained(entry({event: 'apply-end', run: 'run-1', state: 'settled'}), headOf(begun))]
    const lost = lines(3, headOf(begun), {run: 'run-1', reason: 'lost'})
    const files = [fileOf(bytesOf(settled), 'a'), fileOf(bytesOf([...begun, ...lost]), 'b')]
    const both = checkChain(files, ledgerAt(headOf(settled), {files: []}), undefined)
    expect([both.fault, both.beside?.length, both.lines]).toEqual([undefined, 3, 3])
  })
})
