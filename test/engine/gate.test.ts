import {describe, expect, it} from 'vitest'
import {Gate} from '../../src/engine/gate.ts'
import {Lab, stackOf} from '../support/lab.ts'

describe('a gate', () => {
  it('gives a place that becomes free to who has most behind it of those it lets through', async () => {
    const gate = new Gate()
    const order: string[] = []
    const enter = (name: string, group: string, behind: number) =>
      gate.enter([{name: group, places: 1}], behind).then(leave => {
        order.push(name)
        return leave
      })
    const first = await enter('first', 'a', 0)
    const late = enter('late', 'a', 1)
    const urgent = enter('urgent', 'a', 5)
    await enter('elsewhere', 'b', 9)
    first()
    ;(await urgent)()
    ;(await late)()
    expect(order).toEqual(['first', 'elsewhere', 'urgent', 'late'])
  })

  it('lets what is begun in a root of one place be finished first, and long paths begin elsewhere', async () => {
    const gate = new Gate()
    const order: string[] = []
    const account = {name: 'account', places: 3}
    const enter = (name: string, behind: number, root?: number) =>
      gate
        .enter([account, ...(root === undefined ? [] : [{name: `root ${root}`, places: root, root: 'cloud' as const}])], behind)
        .then(leave => {
          order.push(name)
          return leave
        })
    const leaves = await Promise.all([enter('first', 0, 1), enter('second', 0), enter('third', 0)])
    const rest = [enter('database', 3, 1), enter('rule', 1, 1), enter('short', 1, 9), enter('long', 3, 9)]
    for (const leave of leaves) leave()
    await Promise.all(rest.map(next => next.then(leave => leave())))
    expect(order).toEqual(['first', 'second', 'third', 'long', 'short', 'rule', 'database'])
  })

  it('learns that a group is narrower than declared, but never closes it', async () => {
    const gate = new Gate()
    const group = {name: 'a', places: 10}
    const leaves = await Promise.all([gate.enter([group], 0), gate.enter([group], 0), gate.enter([group], 0)])
    gate.narrow(group)
    let inside = false
    const fourth = gate.enter([group], 0).then(leave => {
      inside = true
      return leave
    })
    leaves[0]?.()
    await Promise.resolve()
    expect(inside).toBe(false)
    leaves[1]?.()
    await fourth
    expect(inside).toBe(true)
    gate.narrow(group)
    gate.narrow(group)
    gate.narrow(group)
    leaves[2]?.()
    ;(await fourth)()
    await gate.enter([group], 0)
  })

  it('gives a place back once, however often it is told to', async () => {
    const gate = new Gate()
    const leave = await gate.enter([{name: 'a', places: 1}], 0)
    const second = gate.enter([{name: 'a', places: 1}], 0)
    leave()
    leave()
    await second
    let third = false
    void gate.enter([{name: 'a', places: 1}], 0).then(() => {
      third = true
    })
    await Promise.resolve()
    expect(third).toBe(false)
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
