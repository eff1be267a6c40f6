/** Two declarations that mean one object, and do not look like it: nothing is made twice for them. */
import {expect, it} from 'vitest'
import {Deferred} from '../../../src/engine/model/value.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const main = () => stackOf('a').subscription('main').database('source', 'main', {protocol: 'redis'})
const network = {provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-1', vpcCidr: '10.0.0.0/24'}
const computed = (stack: StackBuilder, local: string): StackBuilder => {
  const name = new Deferred('${null_resource.source.triggers["out/protocol"]}', ['a:null_resource.source'])
  return stack.add('cloud.subscription', local, {name})
}

it.each<[string, () => StackBuilder[], string, string]>([
  [
    'in a parent that is named by its key and by its name',
    () => [main().peering('one', 'main', network), stackOf('b').add('cloud.peering', 'two', network, {parent: {by: 'name', name: 'main'}})],
    'b:null_resource.two',
    'would be called "us-east-1 vpc-1 10.0.0.0/24" in cloud/subscriptions/1, and so would a:null_resource.one',
  ],
  [
    'one that is made, and one that gets another name',
    () => [
      main().database('source', 'main', {name: 'cache', protocol: 'redis'}),
      stackOf('b').add('cloud.database', 'two', {name: 'cache', memoryLimitInGb: 1}, {parent: {by: 'id', id: '1'}}),
    ],
    'b:null_resource.two',
    'would be called "cache" in cloud/subscriptions/1, and so would a:null_resource.source',
  ],
  [
    'whose names are computed',
    () => [computed(computed(main(), 'one'), 'two')],
    'null_resource.two',
    'would be called "redis", and so would null_resource.one',
  ],
])('two declarations of one object are refused: %s', async (_, declared, address, message) => {
  const lab = new Lab()
  await lab.run(async () => {
    await lab.apply([main()])
    const problem = {address, message: `${message}; one object can have one declaration`}
    await expect(lab.plan(declared())).rejects.toMatchObject({code: 'E_PLAN_PROBLEMS', problems: [problem]})
  })
})

it('two of one name that are told by their ids may get another name together', async () => {
  const lab = new Lab()
  await lab.run(async () => {
    for (const name of ['twin', 'twin']) lab.simulator.edit({path: 'cloud/subscriptions', create: {name}})
    const twins = (name: string) =>
      ['1', '2'].reduce(
        (stack, id) => stack.add('cloud.subscription', `s${id}`, {name}, {importId: `cloud/subscriptions/${id}`}),
        stackOf('a'),
      )
    await lab.apply([twins('twin')])
    const {plan} = await lab.plan([twins('other')])
    expect(plan.operations.map(it => [it.action, it.remoteId])).toEqual([
      ['update', 'cloud/subscriptions/1'],
      ['update', 'cloud/subscriptions/2'],
    ])
    await lab.execute(await lab.recheck(plan, [twins('other')]), [twins('other')])
    expect((await lab.plan([twins('other')])).plan.operations.map(it => it.action)).toEqual(['no-op', 'no-op'])
  })
})

it.each([
  ['accounts', {awsAccountId: '1'}, {awsAccountId: '2'}],
  ['ranges', {vpcCidrs: ['10.0.0.0/24']}, {vpcCidrs: ['10.1.0.0/24']}],
])('two peerings that are told by their %s alone are made, and each stays what it is', async (_, one, other) => {
  const lab = new Lab()
  await lab.run(async () => {
    const aws = {provider: 'AWS', region: 'us-east-1', awsAccountId: '1', vpcId: 'vpc-1'}
    const both = () =>
      stackOf('a')
        .subscription('main')
        .peering('one', 'main', {...aws, ...one})
        .peering('two', 'main', {...aws, ...other})
    await lab.apply([both()])
    expect((await lab.plan([both()])).plan.operations.map(it => it.action)).toEqual(['no-op', 'no-op', 'no-op'])
    lab.stores.delete('a')
    expect((await lab.plan([both()])).plan.operations.map(it => it.action)).toEqual(['adopt', 'adopt', 'adopt'])
  })
})

it('more of one name than anybody tells apart are refused, though each says another account', async () => {
  const lab = new Lab()
  await lab.run(async () => {
    await lab.apply([main()])
    const peering = (stack: StackBuilder, i: number) => stack.peering(`p${100 + i}`, 'main', {...network, awsAccountId: String(i)})
    const first = Array.from({length: 60}, (_, i) => i).reduce(peering, main())
    const spec = (i: number) => ({...network, awsAccountId: String(i)})
    const second = Array.from({length: 41}, (_, i) => 60 + i).reduce(
      (stack, i) => stack.add('cloud.peering', `p${100 + i}`, spec(i), {parent: {by: 'name', name: 'main'}}),
      stackOf('b'),
    )
    const message =
      'more than 100 declarations are of a peering "us-east-1 vpc-1 10.0.0.0/24" in cloud/subscriptions/1: nobody can tell them apart'
    await expect(lab.plan([first, second])).rejects.toMatchObject({
      code: 'E_PLAN_PROBLEMS',
      problems: [{address: 'b:null_resource.p200', message}],
    })
  })
})
