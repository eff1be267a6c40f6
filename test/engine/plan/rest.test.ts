/** What an apply left to do, as a plan that can be read, reviewed and applied. */
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import type {Ended} from '../../../src/engine/apply/work.ts'
import type {Lifts, Operation, Plan} from '../../../src/engine/model/plan.ts'
import {Deferred, Secret} from '../../../src/engine/model/value.ts'
import {assertAgrees} from '../../../src/engine/plan/agree.ts'
import {isSubset, restOf} from '../../../src/engine/plan/rest.ts'
import {Lab, stackOf} from '../../support/lab.ts'

/** What is left of a plan when the operations for which `done` says so are done. */
function left(plan: Plan, done: (it: Operation) => boolean, lifts: Lifts = plan.lifts): Plan | undefined {
  const ended = plan.operations.map(
    (operation): Ended => ({
      operation,
      state: done(operation) ? 'done' : 'skipped',
      remoteId: operation.remoteId ?? 'cloud/subscriptions/1',
      ms: 0,
    }),
  )
  return restOf(plan, {ended}, {kinds, lifts})
}

describe('the rest of a plan', () => {
  it('stands in the order of what it still waits for', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const {plan} = await lab.plan([stackOf().subscription('zebra').database('ant', 'zebra').subscription('mouse')])
      const rest = left(plan, it => it.address === 'null_resource.zebra')
      expect(rest?.summary).toMatchObject({create: 2, 'no-op': 1})
      expect(() => rest && assertAgrees(rest, kinds)).not.toThrow()
    })
  })

  it('is refused by what refuses it, as long as nobody allows it for the run', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').database('a', 'main').database('b', 'main')])
      const {plan} = await lab.plan([stackOf().subscription('main')], {lifts: {allowDestroy: []}})
      const rest = left(plan, it => it.address === 'null_resource.a')
      expect(rest?.guards).toMatchObject([{code: 'G_PROTECTED', addresses: ['null_resource.b']}])
      expect(() => rest && assertAgrees(rest, kinds)).not.toThrow()
      const allowed = left(plan, it => it.address === 'null_resource.a', {...plan.lifts, allowDestroy: ['null_resource.b']})
      expect(allowed).toMatchObject({guards: [], lifts: {allowDestroy: ['null_resource.b']}})
      expect([rest, allowed].map(it => it && isSubset(it, plan))).toEqual([true, false])
    })
  })

  it('does not call a stack empty that has handed over all it had', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const in_ = {parent: {by: 'key', key: 'base:null_resource.main'}} as const
      const base = stackOf('base').subscription('main')
      const [old, next] = [stackOf('old'), stackOf('next')]
      await lab.apply([base, old.add('cloud.database', 'x', {name: 'x', memoryLimitInGb: 1}, in_)])
      next.add('cloud.database', 'x', {name: 'x', memoryLimitInGb: 1}, in_).add('cloud.database', 'y', {name: 'y', memoryLimitInGb: 1}, in_)
      const {plan} = await lab.plan([base, old.without('x'), next])
      expect(plan.summary).toMatchObject({move: 1, create: 1})
      const rest = left(plan, it => it.action === 'move')
      expect(rest?.guards).toEqual([])
      expect(() => rest && assertAgrees(rest, kinds)).not.toThrow()
    })
  })

  /** The rest of a plan of two stacks, one of which is planned, with a secret and a value that is known only later. */
  async function approved(lab: Lab): Promise<{readonly plan: Plan; readonly rest: Plan}> {
    const later = new Deferred('${null_resource.main.triggers["out/status"]}', ['shop:null_resource.main'])
    const shop = stackOf()
      .subscription('main')
      .database('db', 'main', {name: 'db', dataEvictionPolicy: later})
      .user('app', 'db', {role: 'x', password: new Secret('pw', '${var.pw}')})
      .subscription('first')
    const {plan} = await lab.plan([shop, stackOf('other')], {selected: new Set(['shop']), notAfter: '2030-01-01T00:00:00.000Z'})
    const rest = left(plan, it => it.address === 'null_resource.first')
    if (rest === undefined) throw new Error('nothing is left')
    return {plan, rest}
  }

  const changed = (rest: Plan, local: string, change: Partial<Operation>): Plan => ({
    ...rest,
    operations: rest.operations.map(it => (it.address === `null_resource.${local}` ? {...it, ...change} : it)),
  })

  it.each<[string, (rest: Plan) => Plan]>([
    ['a secret of another variable', rest => changed(rest, 'app', {secrets: [{path: '/password', expression: '${var.root_pw}'}]})],
    [
      'another value that is known only later',
      rest =>
        changed(rest, 'db', {deferred: [{path: '/dataEvictionPolicy', expression: '${var.other}', needs: ['shop:null_resource.main']}]}),
    ],
    ['an address that is moved', rest => changed(rest, 'db', {movedFrom: 'null_resource.old'})],
    ['another account', rest => ({...rest, accounts: {...rest.accounts, cloud: {address: 'elsewhere', keyHash: 'k'}}})],
    ['another key', rest => ({...rest, accounts: {...rest.accounts, cloud: {address: 'cloud', keyHash: 'other'}}})],
    ['no end of its time', ({notAfter: _, ...rest}) => rest],
    ['no other stacks to leave alone', ({otherStacks: _, ...rest}) => rest],
    ['another ledger', rest => ({...rest, stacks: rest.stacks.map(it => ({...it, ledger: {type: 'local', file: 'other.tfstate'}}))})],
    [
      'an output that gives a secret away',
      rest => ({
        ...rest,
        stacks: rest.stacks.map(it => ({...it, outputs: [{name: 'x', value: {unknown: true}, sensitive: false, expression: '${var.pw}'}]})),
      }),
    ],
  ])('is no part of what was approved with %s', async (_, forged) => {
    const lab = new Lab()
    await lab.run(async () => {
      const {plan, rest} = await approved(lab)
      expect([isSubset(rest, plan), isSubset(forged(rest), plan)]).toEqual([true, false])
    })
  })

  it('is the same part with another key of the account', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const {plan, rest} = await approved(lab)
      const of = (it: Plan, keyHash: string, account: string): Plan => ({...it, accounts: {cloud: {address: 'cloud', keyHash, account}}})
      const whole = of(plan, 'k', '7')
      expect([of(rest, 'new', '7'), of(rest, 'new', '8')].map(it => isSubset(it, whole))).toEqual([true, false])
    })
  })
})
