import {describe, expect, it} from 'vitest'
import {boundedEvent} from '../../src/audit/bounds.ts'
import type {AuditEvent} from '../../src/audit/entry.ts'
import {isJsonObject, type Json} from '../../src/base/json.ts'

const update = (changes: AuditEvent['changes'] & object): AuditEvent => ({event: 'operation', address: 'a', changes})

const cutOf = (value: Json | undefined): string => (isJsonObject(value) && typeof value.cut === 'string' ? value.cut : '')

describe('what an audit keeps of a change', () => {
  it('is the whole of it where it is short, whatever it is', () => {
    const changes = [
      {path: '/a', before: null, after: [1, {b: 'c'}]},
      {path: '/p', after: {secret: true}},
      {path: '/gone', before: 'x'.repeat(990)},
    ]
    expect(boundedEvent(update(changes))).toEqual(update(changes))
  })

  it('is the beginning and the end of a long text, and how long it was', () => {
    const [change] = boundedEvent(update([{path: '/rule', before: `<${'x'.repeat(9_998)}>`, after: 'short'}])).changes ?? []
    expect(change?.after).toBe('short')
    expect(change?.before).toMatchObject({length: 10_000})
    const cut = cutOf(change?.before)
    expect(cut).toMatch(/^<x+…x+>$/)
    expect(cut.length).toBe(500)
  })

  it('is the same of a long list, as JSON', () => {
    const [change] =
      boundedEvent(update([{path: '/modules', after: Array.from({length: 1_000}, (_, i) => ({name: `m${i}`}))}])).changes ?? []
    expect(change?.after).toMatchObject({cut: expect.stringMatching(/^\[\{"name":"m0"\}.*…/)})
  })

  it('never ends in half of a character', () => {
    for (const shift of ['', 'a', 'ab']) {
      const [change] = boundedEvent(update([{path: '/t', after: `${shift}${'😀'.repeat(2_000)}`}])).changes ?? []
      expect(cutOf(change?.after)).not.toMatch(/\p{Cs}/u)
    }
  })

  it('is a part of every name that is too long, once and for all', () => {
    const long = 'n'.repeat(2_000_000)
    const place = {stack: long, address: long}
    const event = {
      event: 'transfer',
      run: 'r',
      plan: {hash: 'h', approvedBy: long},
      address: long,
      remoteId: long,
      from: place,
      to: place,
    } as const
    const line = boundedEvent({...update([{path: long, after: long}]), ...event, reason: long})
    expect(JSON.stringify(line).length).toBeLessThan(20_000)
    expect(boundedEvent(line)).toEqual(line)
    expect(line).toMatchObject({run: 'r', address: expect.stringMatching(/^n{899}…n{100}$/)})
  })

  it('is so many fields as fit into a line, and how many are left out', () => {
    const many = Array.from({length: 10_000}, (_, i) => ({path: `/f${i}`, before: 'b'.repeat(400), after: 'a'.repeat(400)}))
    const line = boundedEvent({...update(many), reason: 'r'.repeat(50_000)})
    expect(JSON.stringify(line).length).toBeLessThan(20_000)
    expect((line.changes?.length ?? 0) + (line.changesLeftOut ?? 0)).toBe(10_000)
    expect(line.changes?.length).toBeGreaterThan(10)
  })
})
