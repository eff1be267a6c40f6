/** Every guard against everything that may lift it: in one plan that all of them refuse. */
import {describe, expect, it} from 'vitest'
import type {GuardResult, Lifts} from '../../../src/engine/model/plan.ts'
import {world} from '../../../src/simulator/index.ts'
import {Lab, stackOf} from '../../support/lab.ts'
import {liftsIn} from '../../support/lifts-in.ts'

const shop = (memoryLimitInGb: number, rule: string) =>
  stackOf()
    .subscription('main')
    .database('cache', 'main')
    .database('small', 'main', {memoryLimitInGb})
    .database('drifted', 'main')
    .rule('ro', 'small', {rule})
    .clusterUser('viewer', {role: 'admin'})
    .bdb('kept', {}, {preventDestroy: true})
const fresh = () =>
  stackOf('fresh')
    .subscription('other', {}, {exclusive: ['databases']})
    .database('taken', 'other', {memoryLimitInGb: 2})
const emptied = () => stackOf('emptied').clusterUser('last')

const STRICT: Partial<Lifts> = {allowDestroy: [], adopt: [], skipBlocked: false, refuseRisky: true, onDrift: 'refuse', maxDestroy: '0'}
const ALL_GUARDS = [
  'G_NO_LEDGER',
  'G_ADOPTED',
  'G_PROTECTED',
  'G_FIRST_CONTACT',
  'G_PREVENT_DESTROY',
  'G_THRESHOLD',
  'G_EMPTY',
  'G_RISKY',
  'G_DRIFT',
  'G_BLOCKED',
]
const but = (...codes: string[]): string[] => ALL_GUARDS.filter(it => !codes.includes(it))

async function refusedByAll(): Promise<Lab> {
  const lab = new Lab()
  world().subscription('other').database('theirs').database('taken', {memoryLimitInGb: 1}).clusterUser('viewer').into(lab.simulator)
  await lab.run(async () => {
    await lab.apply([shop(2, '+@read ~*'), emptied()])
    const drifted = lab.entry('shop', 'drifted')?.remoteId ?? ''
    lab.simulator.edit({path: drifted, set: {memoryLimitInGb: 7}})
  })
  return lab
}

const guardsWith = async (lab: Lab, lifts: Partial<Lifts>): Promise<readonly GuardResult[]> => {
  const now = shop(1, '+@all ~*').without('cache', 'viewer', 'kept')
  const {plan} = await lab.run(() => lab.plan([now, fresh(), emptied().without('last')], {lifts: {...STRICT, ...lifts}}))
  return plan.guards
}
const codesOf = (guards: readonly GuardResult[]): string[] => guards.map(it => it.code)

describe('a plan that every guard refuses', () => {
  it('says of each guard which objects it means, and what lifts it', async () => {
    const guards = await guardsWith(await refusedByAll(), {})
    const theirs = expect.stringMatching(/^fresh:cloud\/subscriptions\/\d+\/databases\/\d+$/)
    expect(guards).toEqual([
      {
        code: 'G_NO_LEDGER',
        addresses: [theirs],
        allow: expect.stringMatching(/^--allow-destroy fresh:cloud\/\S+$/),
        message: expect.any(String),
      },
      {
        code: 'G_ADOPTED',
        addresses: ['shop:null_resource.viewer'],
        allow: '--allow-destroy shop:null_resource.viewer',
        message: expect.any(String),
      },
      {
        code: 'G_PROTECTED',
        addresses: ['shop:null_resource.cache', 'shop:null_resource.kept'],
        allow: '--allow-destroy shop:null_resource.cache --allow-destroy shop:null_resource.kept',
        message: expect.any(String),
      },
      {
        code: 'G_FIRST_CONTACT',
        addresses: ['fresh:null_resource.taken'],
        allow: '--adopt fresh:null_resource.taken',
        message: expect.any(String),
      },
      {
        code: 'G_PREVENT_DESTROY',
        addresses: ['shop:null_resource.kept'],
        allow: 'declare it without prevent_destroy and apply that first, or forget it with a removed block',
        message: expect.any(String),
      },
      {
        code: 'G_THRESHOLD',
        addresses: expect.arrayContaining(['shop:null_resource.cache', 'emptied:null_resource.last', theirs]),
        allow: '--max-destroy 3',
        message: expect.stringContaining('shop: 3 of 7 owned objects would be deleted, more than 0'),
      },
      {
        code: 'G_EMPTY',
        addresses: ['emptied:null_resource.last'],
        allow: 'svcctl destroy --stack emptied',
        message: 'emptied declares nothing and owns 1 objects',
      },
      {
        code: 'G_RISKY',
        addresses: expect.arrayContaining(['shop:null_resource.small']),
        allow: '--no-refuse-risky',
        message: expect.any(String),
      },
      {code: 'G_DRIFT', addresses: ['shop:null_resource.drifted'], allow: '--on-drift overwrite', message: expect.any(String)},
      {code: 'G_BLOCKED', addresses: ['shop:null_resource.ro'], allow: '--skip-blocked', message: expect.any(String)},
    ])
  })

  it('loses exactly that guard whose advice is taken literally', async () => {
    const lab = await refusedByAll()
    for (const {code, allow} of await guardsWith(lab, {})) {
      if (!allow.startsWith('--')) continue
      expect(codesOf(await guardsWith(lab, liftsIn(allow))), `${code}: ${allow}`).toEqual(but(code))
    }
  })

  it.each([
    [{allowDestroy: ['cloud.database', 'cluster.database', 'cluster.user']}, but('G_PROTECTED')],
    [{allowDestroy: ['*']}, but('G_PROTECTED', 'G_ADOPTED', 'G_THRESHOLD')],
    [{allowDestroy: ['null_resource.*', 'cloud/*']}, but('G_PROTECTED', 'G_ADOPTED')],
    [{allowDestroy: ['viewer', 'cluster.database', 'cache', 'theirs']}, but('G_PROTECTED', 'G_ADOPTED', 'G_NO_LEDGER')],
    [{allowDestroy: ['cache']}, ALL_GUARDS],
    [{adopt: ['*']}, but('G_FIRST_CONTACT')],
    [{adopt: ['cloud.database']}, but('G_FIRST_CONTACT')],
    [{adopt: ['fresh:tak*']}, but('G_FIRST_CONTACT')],
    [{adopt: ['cloud.subscription', 'shop:null_resource.small']}, ALL_GUARDS],
    [{maxDestroy: '3'}, but('G_THRESHOLD')],
    [{maxDestroy: '2'}, ALL_GUARDS],
    [{maxDestroy: '30%'}, but('G_THRESHOLD')],
    [{skipBlocked: true}, but('G_BLOCKED')],
    [{accept: ['ro']}, but('G_BLOCKED')],
    [{accept: ['cache']}, ALL_GUARDS],
    [{onDrift: 'overwrite'}, but('G_DRIFT')],
    [{onDrift: 'keep'}, but('G_DRIFT')],
    [{refuseRisky: false}, but('G_RISKY')],
    [{noDestroy: true}, but('G_NO_LEDGER', 'G_ADOPTED', 'G_PROTECTED', 'G_PREVENT_DESTROY', 'G_THRESHOLD')],
    [
      {
        allowDestroy: ['*', 'theirs'],
        adopt: ['*'],
        accept: ['*'],
        skipBlocked: true,
        refuseRisky: false,
        onDrift: 'overwrite',
        maxDestroy: '100%',
      },
      ['G_PREVENT_DESTROY', 'G_EMPTY'],
    ],
  ] as [Partial<Lifts>, string[]][])('is still refused with %j by what that does not lift', async (lifts, expected) => {
    expect(codesOf(await guardsWith(await refusedByAll(), lifts))).toEqual(expected)
  })
})

describe('a stack that declares nothing any more', () => {
  it('is not refused where all it owned moves to another stack in the same plan, and is where something stays behind', async () => {
    const lab = new Lab()
    const from = () => stackOf('old').clusterUser('one').clusterUser('two')
    const to = () => stackOf('new').clusterUser('one').clusterUser('two')
    await lab.run(async () => {
      await lab.apply([from()])
      const codes = async (target: ReturnType<typeof to>) =>
        codesOf((await lab.plan([stackOf('old'), target], {lifts: {allowDestroy: []}})).plan.guards)
      expect(await codes(to())).toEqual([])
      expect(await codes(to().without('two'))).toEqual(['G_EMPTY'])
    })
  })
})

describe('a long list of objects', () => {
  it('is allowed by its kinds where a kind is enough, and object by object where it is not', async () => {
    const many = Array.from({length: 21}, (_, i) => `d${i}`)
    const lab = new Lab()
    many.reduce((account, name) => account.database(name), world().subscription('main')).into(lab.simulator)
    const declared = (memoryLimitInGb: number) => {
      const stack = stackOf().subscription('main')
      for (const name of many) stack.database(name, 'main', {memoryLimitInGb})
      return stack
    }
    await lab.run(async () => {
      const {plan} = await lab.plan([declared(3)], {lifts: STRICT})
      expect(plan.guards.map(it => [it.code, it.addresses.length, it.allow])).toEqual([['G_FIRST_CONTACT', 21, '--adopt cloud.database']])
      await lab.apply([declared(3)])
      const {plan: less} = await lab.plan([stackOf().subscription('main')], {lifts: {...STRICT, maxDestroy: '100'}})
      expect(less.guards.map(it => [it.code, it.allow.split('--allow-destroy').length])).toEqual([['G_ADOPTED', 22]])
    })
  })
})
