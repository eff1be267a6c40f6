import {describe, expect, it} from 'vitest'
import {Gate, type Group, type Passage, type Turnstile} from '../../../src/engine/apply/gate.ts'
import {Lab, stackOf} from '../../support/lab.ts'
import {processorTime} from '../../support/processor-time.ts'

/** A turn in a gate that lasts until it is told to leave. */
function turn(gate: Gate, groups: readonly Group[], {key = '', behind = 0}: {key?: string; behind?: number} = {}) {
  const state: {place?: Turnstile; leave: () => void; passage: Promise<Passage<void>>} = {
    leave: () => {},
    passage: Promise.resolve({passed: false}),
  }
  const left = new Promise<void>(resolve => {
    state.leave = resolve
  })
  state.passage = gate.within({key, groups, behind}, undefined, place => {
    state.place = place
    return left
  })
  return state
}

/** Whatever is only waiting for promises has happened. */
const settled = () => new Promise(resolve => setImmediate(resolve))
const one = {name: 'a', places: 1}
const account = {name: 'account', places: Number.POSITIVE_INFINITY, account: true} as const

describe('a gate before which thousands wait', () => {
  const open = Number.POSITIVE_INFINITY
  const all = (places: number): Group => ({name: 'all', places, all: true})
  const shapes: Readonly<Record<string, (i: number) => readonly Group[]>> = {
    'for all of one run': i => [all(10), account, {name: `root ${i}`, places: open, root: 'cloud'}],
    'for one root': () => [all(open), account, {name: 'root', places: 1, root: 'cloud'}],
  }

  it.each(Object.entries(shapes))('lets them through at a price for each that does not grow with the line: %s', async (_, groupsOf) => {
    const costMs = async (count: number): Promise<number> => {
      const takenMs = processorTime()
      const gate = new Gate()
      const work = (place: Turnstile) => Promise.resolve(place.answered(true))
      await Promise.all(
        Array.from({length: count}, (_none, i) => gate.within({key: `${i}`, groups: groupsOf(i), behind: i % 7}, undefined, work)),
      )
      const ms = takenMs()
      return ms
    }
    await costMs(1_000)
    // The least of several: what else the machine does, a collection of garbage too, only ever adds.
    const least = async (count: number) => Math.min(await costMs(count), await costMs(count), await costMs(count))
    const [small, large] = [await least(2_000), await least(8_000)]
    expect(large / small).toBeLessThan(10)
  })
})

describe('a gate', () => {
  it('gives a place that becomes free to who has most behind it of those it lets through', async () => {
    const gate = new Gate()
    const order: string[] = []
    const enter = (key: string, group: string, behind: number) =>
      gate.within({key, groups: [{name: group, places: 1}], behind}, undefined, async () => void order.push(key))
    const first = turn(gate, [one])
    const rest = [enter('late', 'a', 1), enter('urgent', 'a', 5), enter('elsewhere', 'b', 9)]
    await settled()
    first.leave()
    await Promise.all(rest)
    expect(order).toEqual(['elsewhere', 'urgent', 'late'])
  })

  it('lets what is begun in a root of one place be finished first, and long paths begin elsewhere', async () => {
    const gate = new Gate()
    const order: string[] = []
    const inAll = {name: 'all', places: 3}
    const groups = (root: number) => [inAll, {name: `root ${root}`, places: root, root: 'cloud' as const}]
    const enter = (key: string, behind: number, root: number) =>
      gate.within({key, groups: groups(root), behind}, undefined, async () => void order.push(key))
    const first = [turn(gate, groups(1)), turn(gate, [inAll]), turn(gate, [inAll])]
    const rest = [enter('database', 3, 1), enter('rule', 1, 1), enter('short', 1, 9), enter('long', 3, 9)]
    for (const it of first) it.leave()
    await Promise.all(rest)
    expect(order.filter(it => it === 'long' || it === 'short')).toEqual(['long', 'short'])
    expect(order.filter(it => it === 'rule' || it === 'database')).toEqual(['rule', 'database'])
  })

  it('learns that a group is narrower than declared, but never closes it for good', async () => {
    const gate = new Gate()
    const group = {name: 'a', places: 10, root: 'cloud'} as const
    const inside = [turn(gate, [group]), turn(gate, [group]), turn(gate, [group])]
    await settled()
    for (const it of inside.slice(0, 2)) it.place?.answered(true)
    expect(inside[2]?.place?.refused(group, 0)).toMatchObject({others: 2})
    inside[2]?.leave()
    const fourth = turn(gate, [group])
    await settled()
    expect(fourth.place).toBeUndefined()
    inside[1]?.leave()
    await settled()
    expect(fourth.place).toBeDefined()
    inside[0]?.leave()
    await settled()
    expect(fourth.place?.refused(group, 0)).toEqual({others: 0, inARow: 1, since: 0})
    fourth.leave()
    const fifth = turn(gate, [group])
    await settled()
    expect(fifth.place).toBeUndefined()
    gate.open(group)
    await settled()
    expect(fifth.place).toBeDefined()
  })

  it('gives a place back whatever happens in it', async () => {
    const gate = new Gate()
    const failing = gate.within({key: 'a', groups: [one], behind: 0}, undefined, () => Promise.reject(new Error('the disk is full')))
    const next = gate.within({key: 'b', groups: [one], behind: 0}, undefined, async () => 'came in')
    await expect(failing).rejects.toThrow('the disk is full')
    expect(await next).toEqual({passed: true, value: 'came in'})
  })

  it('keeps the place of what goes on, and keeps out who can never come in because of it', async () => {
    const gate = new Gate()
    let over: (isOver: boolean) => void = () => {}
    const slow = turn(gate, [one], {key: 'slow'})
    await settled()
    slow.place?.keepUntil(
      new Promise(resolve => {
        over = resolve
      }),
    )
    slow.leave()
    const next = turn(gate, [one])
    await settled()
    expect(next.place).toBeUndefined()
    over(false)
    expect(await next.passage).toEqual({passed: false, by: 'slow'})
    expect(await turn(gate, [one]).passage).toEqual({passed: false, by: 'slow'})
    expect(await gate.within({key: 'c', groups: [{name: 'b', places: 1}], behind: 0}, undefined, async () => 1)).toMatchObject({
      passed: true,
    })
  })

  it('has few changes on their way into an account before it is known how many it takes', async () => {
    const gate = new Gate()
    const turns = Array.from({length: 40}, () => turn(gate, [account]))
    const unanswered = () => turns.filter(it => it.place).length
    const seen: number[] = []
    for (let answered = 0; answered < 12; answered++) {
      await settled()
      seen.push(unanswered() - answered)
      turns[answered]?.place?.answered(true)
    }
    expect(seen).toEqual([1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3])
  })
})

describe('one change in a subscription at a time', () => {
  it('is never refused by a server that allows no more', async () => {
    const lab = new Lab({simulator: {cloud: {busy: '409', taskMs: 3000, readyMs: 1000, followsDatabases: true}}})
    const stack = stackOf()
    for (const sub of ['a', 'b']) {
      stack.subscription(sub)
      for (const database of ['1', '2', '3']) stack.database(`${sub}${database}`, sub)
    }
    const {summary} = await lab.run(() => lab.apply([stack], {run: {limits: {perRoot: 1}}}))
    expect(summary).toMatchObject({done: 8, failed: 0})
    expect(lab.simulator.log.filter(it => it.status === 409)).toEqual([])
  })
})

describe('changes that a subscription takes on, and refuses with their tasks', () => {
  it('are each sent once more, and not once for each that went before', async () => {
    const lab = new Lab({simulator: {cloud: {busy: 'task', taskMs: 5000, readyMs: 0}}})
    const stack = stackOf().subscription('main')
    for (let i = 0; i < 12; i++) stack.database(`db-${i}`, 'main')
    const result = await lab.run(() => lab.apply([stack]))
    expect(result.summary).toMatchObject({done: 13})
    expect(lab.writes.filter(it => it.endsWith('/databases')).length).toBeLessThanOrEqual(2 * 12 - 1)
  })
})
