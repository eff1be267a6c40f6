/** What hangs on an object that went to another stack, where the ledger that says so still has the key it had before. */
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import type {Operation} from '../../../src/engine/model/plan.ts'
import {heldBack} from '../../../src/engine/plan/undo-view.ts'
import type {UndoOperation} from '../../../src/engine/plan/undo-wish.ts'
import {Lab, type Planning, stackOf} from '../../support/lab.ts'

/** c's y hangs on what was a's x and is b's by now; c was no part of the run that moved it. */
async function moved(lab: Lab): Promise<void> {
  const c = stackOf('c').bdb('y')
  await lab.apply([stackOf('a').bdb('x'), stackOf('b').bdb('other'), c])
  const {ledger} = lab.store('c')
  const y = ledger.entries.get('null_resource.y')
  if (y === undefined) throw new Error('y is not there')
  lab.store('c').ledger = {...ledger, entries: new Map([['null_resource.y', {...y, dependsOn: ['a:null_resource.x']}]])}
  await lab.apply([stackOf('a'), stackOf('b').bdb('other').bdb('x'), c], {selected: new Set(['a', 'b'])})
  expect([lab.entry('a', 'x'), lab.entry('b', 'x')?.kind]).toEqual([undefined, 'cluster.database'])
}

describe('what hangs on an object that went to another stack', () => {
  const goes = async (lab: Lab, selection: NonNullable<Planning['selection']>): Promise<string[]> => {
    const stacks = [stackOf('a'), stackOf('b').bdb('other').bdb('x'), stackOf('c').bdb('y')]
    const {plan} = await lab.plan(stacks, {destroy: true, selection, selected: new Set(['b', 'c'])})
    return plan.operations.filter(it => it.action !== 'no-op').map(it => `${it.action} ${it.stack}:${it.address}`)
  }

  it('keeps it there when it is left out of a destroy, and goes first where that is what goes', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await moved(lab)
      expect(await goes(lab, {target: [], exclude: ['c:null_resource.y']})).toEqual(['delete b:null_resource.other'])
      expect(await goes(lab, {target: ['b:null_resource.x'], exclude: []})).toEqual([
        'delete c:null_resource.y',
        'delete b:null_resource.x',
      ])
    })
  })

  it('keeps an undo from deleting it', async () => {
    const lab = new Lab()
    await lab.run(() => moved(lab))
    const ledgers = await lab.ledgers(['b'])
    const others = [...(await lab.ledgers(['a', 'c'])).values()]
    const of = {stack: 'a', address: 'null_resource.x', kind: 'cluster.database', action: 'create'} as unknown as Operation
    const wish: UndoOperation = {of, key: 'b:null_resource.x', removes: 'delete', entries: ['b:null_resource.x'], secretsKept: []}
    expect([...heldBack({ledgers, others, kinds}, [wish])]).toEqual([['a:null_resource.x', 'c:null_resource.y hangs on it by now']])
  })
})

it('an object in a place that is not to be had, whose key went elsewhere once, is recorded once and never again', async () => {
  const lab = new Lab()
  await lab.run(async () => {
    const b = () => stackOf('b').subscription('second')
    await lab.apply([stackOf('a').subscription('main'), b()])
    await lab.apply([stackOf('a'), b().subscription('theirs', {name: 'main'})])
    const now = [stackOf('a').subscription('main', {name: 'second'}).database('x', 'main'), b().subscription('theirs', {name: 'main'})]
    const alone = {selected: new Set(['a'])}
    await lab.apply(now, alone)
    expect(lab.entry('a', 'x')?.dependsOn).toEqual(['a:null_resource.main'])
    const {operations} = (await lab.plan(now, alone)).plan
    expect(operations.map(it => [it.address, it.action])).toEqual([
      ['null_resource.main', 'blocked'],
      ['null_resource.x', 'no-op'],
    ])
  })
})
