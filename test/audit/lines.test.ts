import {execFileSync} from 'node:child_process'
import {appendFileSync, closeSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {linesBack, linesOf, openAudit} from '../../src/audit/lines.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-lines-'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

describe('a file of an audit', () => {
  it('is a file: a FIFO, a device and a folder are refused at once', () => {
    const fifo = join(folder, 'fifo')
    execFileSync('mkfifo', [fifo])
    for (const path of [fifo, '/dev/zero', folder]) {
      expect(() => [...linesOf(path)]).toThrow(expect.objectContaining({code: 'E_AUDIT_READ'}))
      expect(() => openAudit(path)).toThrow(expect.objectContaining({code: 'E_AUDIT_READ'}))
    }
  })

  it('is read no further than it went when it was opened', () => {
    const path = join(folder, 'shop.jsonl')
    writeFileSync(path, 'a\n')
    const texts: string[] = []
    for (const {text} of linesOf(path)) {
      texts.push(text)
      if (texts.length < 100) appendFileSync(path, 'b\n')
    }
    expect(texts).toEqual(['a'])
  })

  it('has its lines in both directions, wherever one chunk of it ends', () => {
    const path = join(folder, 'shop.jsonl')
    const lines = Array.from({length: 400}, (_, at) => `${at}${'é'.repeat((at * 997) % 3_000)}`)
    writeFileSync(path, `${lines.join('\n')}\ntorn`)
    expect([...linesOf(path)].map(it => it.text)).toEqual([...lines, 'torn'])
    expect([...linesOf(path)].filter(it => it.torn)).toEqual([{text: 'torn', torn: true}])
    const {file, size} = openAudit(path)
    const back = [...linesBack(file, size)]
    closeSync(file)
    expect(back.map(it => it.text)).toEqual(lines.toReversed())
    expect(back.at(-1)?.end).toBe(2)
    expect(back[0]?.end).toBe(size - 4)
  })

  // By the square of its length it would take minutes.
  it('is read past a line without an end, of which no more than a beginning is kept', () => {
    const path = join(folder, 'shop.jsonl')
    const part = Buffer.alloc(8 * 1024 * 1024, 'x')
    writeFileSync(path, 'first\n')
    for (let times = 0; times < 5; times++) appendFileSync(path, part)
    appendFileSync(path, '\nlast\n')
    const texts = [...linesOf(path)].map(it => it.text)
    expect(texts.map(it => [it.slice(0, 5), it.length])).toEqual([
      ['first', 5],
      ['xxxxx', 1024 * 1024],
      ['last', 4],
    ])
    const {file, size} = openAudit(path)
    const back = [...linesBack(file, size)].map(it => it.text)
    closeSync(file)
    expect(back).toEqual(texts.toReversed())
  })
})
