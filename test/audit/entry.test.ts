import {createHash} from 'node:crypto'
import {describe, expect, it} from 'vitest'
import {type AuditEvent, chained, NOTHING, readLine} from '../../src/audit/entry.ts'
import {processorTime} from '../support/processor-time.ts'
import {entry} from './sample-entry.ts'

const line = (event: Partial<AuditEvent> = {}): string => chained(entry(event), {seq: 0, hash: NOTHING}).text

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Somebody who knows how hashes are made writes the line in another way, and gives it the hash of that. */
function forged(text: string, change: (rest: string) => string): string {
  const rest = change(text.replace(/"hash":"[0-9a-f]{64}",(?="lineage")/, ''))
  return rest.replace('"lineage"', `"hash":"${sha256(rest)}","lineage"`)
}

describe('a line of an audit', () => {
  it('is read as it was written, whatever is in it', () => {
    const values = [1.5, -1e21, 1e-7, null, true, '', '"hash":"', '\\u0041/\u2028\u0001 é😀', {hash: 'x', b: [{10: 1, 9: 2, a: {}}]}, []]
    for (const after of values) {
      const text = line({changes: [{path: '/a', after}]})
      expect(readLine(text)?.changes).toEqual([{path: '/a', after}])
    }
  })

  it('is none in any other spelling, though it has the hash of that', () => {
    const text = line({address: 'a/b', changes: [{path: '/n', before: 1, after: {x: 1, y: 2}}]})
    expect(readLine(forged(text, it => it))).toBeDefined()
    const spellings: ((rest: string) => string)[] = [
      it => it.replace('"address":', '"address": '),
      it => `${it.slice(0, -1)} }`,
      it => it.replace('a/b', 'a\\/b'),
      it => it.replace('a/b', '\\u0061/b'),
      it => it.replace('"before":1', '"before":1.0'),
      it => it.replace('"before":1', '"before":-0'),
      it => it.replace('"x":1,"y":2', '"y":2,"x":1'),
      it => it.replace('"x":1', '"x":1,"x":1'),
      it => it.replace('"address":"a/b"', '"address":"other","address":"a/b"'),
      it => it.replace('{"actor"', '{"v":1,"actor"'),
      it => `${it}\r`,
      it => `\ufeff${it}`,
    ]
    for (const change of spellings) expect(readLine(forged(text, change)), change(text)).toBeUndefined()
  })

  it('is none with a field that lines do not have, or one of another type', () => {
    const text = line({address: 'a'})
    const changes: ((rest: string) => string)[] = [
      it => it.replace('"address"', '"addres"'),
      it => it.replace('"address":"a"', '"address":1'),
      it => it.replace('"v":1', '"v":2'),
      it => it.replace('"address":"a"', '"__proto__":"a"'),
      it => it.replace('"address":"a"', '"\\u005f_proto__":"a"'),
      it => it.replace('"address":"a"', `"address":"${'a'.repeat(5_000)}"`),
    ]
    for (const change of changes) expect(readLine(forged(text, change))).toBeUndefined()
  })
})

it('of a million lines that are none each is told without an error', () => {
  const takenMs = processorTime()
  for (let at = 0; at < 1_000_000; at++) if (readLine('') !== undefined) throw new Error('an empty line is no entry')
  expect(takenMs()).toBeLessThan(3_000)
})
