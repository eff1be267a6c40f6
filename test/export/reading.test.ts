/** What an export reads, what it costs, and what is made of what it cannot use. */
import {describe, expect, it} from 'vitest'
import {kinds} from '../../src/backends/kinds.ts'
import type {JsonObject} from '../../src/base/json.ts'
import {Redactor} from '../../src/base/redact.ts'
import type {Backend} from '../../src/engine/model/backend.ts'
import type {Kind} from '../../src/engine/model/kind.ts'
import {knownFacts} from '../../src/engine/observe/known-facts.ts'
import {readWorld} from '../../src/engine/observe/read-world.ts'
import {typescriptFiles} from '../../src/export/files.ts'
import {exportModel} from '../../src/export/model.ts'
import type {SimulatorConfigInput} from '../../src/simulator/index.ts'
import {world} from '../../src/simulator/index.ts'
import {Lab, stackOf} from '../support/lab.ts'
import {exported, Projects} from './exported.ts'

const usual = (kind: Kind) => !kind.goesWithParent
const PATIENT = {perMinute: 1e9, burst: 1e9}

function eightTimes25(config: SimulatorConfigInput): Lab {
  let build = world()
  for (let s = 1; s <= 8; s++) {
    build = build.subscription(`sub ${s}`)
    for (let d = 1; d <= 25; d++) build = build.database(`db ${d}`, {memoryLimitInGb: d}).rule('ro').user('app', {role: 'ro'})
  }
  const lab = new Lab({simulator: config, ...PATIENT})
  build.into(lab.simulator)
  return lab
}

describe('the price of an export', () => {
  const wire: SimulatorConfigInput = {spelling: 'wire', cloud: {sparseLists: false, asynchronousLists: [], listLagMs: 0}}

  it.each([
    ['contract', {}],
    ['wire', wire],
  ] as const)('of 8 subscriptions with 25 databases each is 25 requests in the spelling of the %s', async (_, config) => {
    const lab = eightTimes25(config)
    const {model} = await exported(lab, {wants: it => usual(it) && it.api === 'cloud', scope: ['cloud']})
    expect(model.stacks.flatMap(it => it.objects)).toHaveLength(208)
    expect(lab.requests.length).toBeLessThanOrEqual(25)
    expect(lab.writes).toEqual([])
  })

  it('is one more for each row that shows less than its object', async () => {
    const lab = eightTimes25({cloud: {sparseLists: true, defaultsFilled: true}})
    const {model} = await exported(lab, {wants: it => usual(it) && it.api === 'cloud', scope: ['cloud']})
    expect(lab.requests.length).toBeLessThanOrEqual(25 + 208)
    const [database] = model.stacks.flatMap(it => it.objects).filter(it => it.kind.name === 'cloud.database')
    expect(database?.spec).toMatchObject({dataPersistence: 'none', throughputMeasurement: {by: 'operations-per-second', value: 1000}})
  })
})

it('an export of more than anybody reads is refused when the lists say so, before objects are read one by one', async () => {
  const lab = eightTimes25({cloud: {sparseLists: true}})
  const backendOf = lab.backends('plan')
  const found: number[] = []
  const reading = lab.run(() =>
    readWorld({
      kinds,
      backends: new Map([['cloud', backendOf('', 'cloud')]]),
      wants: it => it.api === 'cloud',
      picks: false,
      scope: () => ['cloud'],
      onFound: objects => {
        found.push(objects.length)
        if (objects.length > 200) throw new RangeError('too many')
      },
    }),
  )
  await expect(reading).rejects.toThrow('too many')
  // One list of subscriptions, and what is in each; not the rules and users of 200 databases.
  expect(lab.requests.length).toBeLessThan(60)
  expect(found).toHaveLength(2)
})

describe('the code of one world', () => {
  const build = world()
    .subscription('orders')
    .database('a', {modules: [{name: 'json'}, {name: 'search'}]})
    .rule('ro')
    .user('app', {role: 'ro'})
    .database('b', {alerts: [{name: 'dataset-size', value: 80}]})
    .database('c')
    .bdb('p')

  const filesOf = async (config: SimulatorConfigInput, more = build): Promise<ReadonlyMap<string, string>> => {
    const lab = new Lab({simulator: config, ...PATIENT})
    more.into(lab.simulator)
    await lab.run(() => lab.clock.sleep(10_000))
    const {model} = await exported(lab)
    return typescriptFiles(model, {tables: 3, adopts: true})
  }

  it('is the same bytes in another order, in pages of another size, and later', async () => {
    const first = await filesOf({})
    expect(await filesOf({latencyMs: 40, cloud: {shuffled: true, paging: {maxLimit: 1}}, cluster: {shuffled: true}})).toEqual(first)
    expect(await filesOf({cloud: {lists: 'nested', ids: 'named', idType: 'string', paging: {pastEnd: '404'}}})).toEqual(first)
  })

  it('changes in its own stack alone when a database is made in another one', async () => {
    const two = build.subscription('shop').database('a')
    const [before, after] = [await filesOf({}, two), await filesOf({}, two.database('new one'))]
    const changed = [...after.keys()].filter(path => after.get(path) !== before.get(path))
    expect(changed).toEqual(['stacks/shop.ts', 'imports.ts'])
    const ids = (text = '') => [...text.matchAll(/(\w+): 'cloud/g)].map(it => it[1] ?? '')
    expect(ids(after.get('imports.ts'))).toEqual(expect.arrayContaining(ids(before.get('imports.ts'))))
  })

  it('has no remote id but in imports.ts', async () => {
    const files = await filesOf({})
    for (const [path, text] of files) if (path !== 'imports.ts') expect(text).not.toMatch(/cloud\/|cluster\//)
  })
})

describe('a name that is no name of a variable', () => {
  const names = ['My DB & Co.', 'class', '1st', '日本', '`', '${', '*/', 'a\nb', 'A b', 'a-b', "it's", '${TfToken', 'x'.repeat(90)]

  it('becomes code that compiles, and means the same object', async () => {
    let build = world().subscription('Database')
    for (const name of names) build = build.database(name).rule('ro')
    const lab = new Lab(PATIENT)
    build.into(lab.simulator)
    const {model} = await exported(lab)
    expect(model.undeclarable).toEqual([])
    const projects = new Projects()
    try {
      projects.add('one', model, {tables: 0})
      projects.add('two', model)
      await projects.synthesize()
      expect(await projects.compile()).toBe('')
      const [stack] = (await projects.declarations('one')).filter(it => it.name !== 'cluster')
      const databases = stack?.declarations.filter(it => it.kind === 'cloud.database').map(it => it.spec.name)
      expect(databases?.toSorted()).toEqual(names.toSorted())
    } finally {
      projects.remove()
    }
  }, 120_000)
})

describe('what cannot be declared', () => {
  it('is left out and named: words nobody knows, marks of the library, fields of the server', async () => {
    const lab = new Lab(PATIENT)
    const fields = {dataPersistence: 'quantum', alerts: [{name: 'dataset-size', value: 1, id: 7}], port: 12_000}
    world().subscription('a').database('b', fields).into(lab.simulator)
    const {model} = await exported(lab)
    const database = model.stacks.flatMap(it => it.objects).find(it => it.kind.name === 'cloud.database')
    expect(database?.spec).toEqual({name: 'b', memoryLimitInGb: 1, port: 12_000, alerts: [{name: 'dataset-size', value: 1}]})
    expect(database?.leftOut).toEqual(['alerts/*/id', 'dataPersistence', 'id', 'publicEndpoint', 'status'])
  })

  it('is left out and named where no program could have the field, however deep it lies', async () => {
    const lab = new Lab(PATIENT)
    world().bdb('sessions').into(lab.simulator)
    const {world: read} = await exported(lab)
    const hostile = JSON.parse('{"more": {"a": 1, "__proto__": {"b": 2}}, "list": [{"__proto__": 3, "c": 4}], "__proto__": 5}')
    const objects = read.objects.map(it => ({...it, fields: Object.assign(JSON.parse(JSON.stringify(hostile)), it.fields)}))
    const model = exportModel({kinds, objects, around: objects, split: 'subscription', allFields: true, hides: it => it})
    const database = model.stacks.flatMap(it => it.objects).find(it => it.kind.name === 'cluster.database')
    expect(database?.unlisted).toMatchObject({more: {a: 1}, list: [{c: 4}]})
    expect(database?.leftOut).toEqual(expect.arrayContaining(['list/*/__proto__', 'more/__proto__']))
  })

  it('is said where all of an object is: a peering that shows too little', async () => {
    const lab = new Lab(PATIENT)
    world().subscription('a').peering({provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-1'}).into(lab.simulator)
    const {model} = await exported(lab)
    expect(model.undeclarable).toMatchObject([{kind: 'cloud.peering', remoteId: 'cloud/subscriptions/1/peerings/pcx-1'}])
    expect(model.undeclarable[0]?.problems.join()).toContain('awsAccountId is missing')
  })

  it('is what holds a secret, whatever field it stands in', async () => {
    const lab = new Lab(PATIENT)
    world()
      .bdb('p', {description: 'pass hunter2 on', eviction_policy: 'hunter2', rack: {note: ['hunter2']}})
      .into(lab.simulator)
    const redactor = new Redactor()
    redactor.register('hunter2')
    const {model} = await exported(lab, {allFields: true, hides: value => redactor.value(value)})
    const text = [...typescriptFiles(model, {tables: 3, adopts: true}).values()].join('')
    expect(text).toContain("name: 'p'")
    expect(text).not.toContain('hunter2')
    expect(text).not.toContain('[redacted]')
  })

  it('is what is called like a secret, under a name that tells nothing', async () => {
    const lab = new Lab(PATIENT)
    world()
      .bdb('p', {'hunter2/a': true, rack: {'hunter2/b': 'x', hunter3: 'y'}, name: 'p'})
      .into(lab.simulator)
    const redactor = new Redactor()
    for (const secret of ['hunter2/a', 'hunter2/b']) redactor.register(secret)
    for (const allFields of [true, false]) {
      const {model} = await exported(lab, {allFields, hides: value => redactor.value(value)})
      const text =
        [...typescriptFiles(model, {tables: 3, adopts: true}).values()].join('') +
        JSON.stringify(model.stacks.flatMap(it => it.objects.map(({spec, unlisted, leftOut}) => ({spec, unlisted, leftOut}))))
      expect(text).toContain('[redacted]')
      expect(text).not.toContain('hunter2')
    }
  })
})

describe('--all-fields', () => {
  it('takes what svcctl does not know, and neither secrets nor what servers give out', async () => {
    const lab = new Lab(PATIENT)
    const fields = {
      oss_cluster: true,
      tags: [{key: 'a', value: 'b'}],
      tls_private_key: 'k',
      crdt_guid: '',
      endpoints: [],
      backup_status: 'x',
    }
    world().bdb('p', fields).into(lab.simulator)
    const {model} = await exported(lab, {allFields: true})
    const bdb = model.stacks.flatMap(it => it.objects).find(it => it.kind.name === 'cluster.database')
    expect(Object.keys(bdb?.unlisted ?? {})).toEqual(expect.arrayContaining(['oss_cluster', 'tags']))
    expect(Object.keys(bdb?.unlisted ?? {}).filter(it => /key|status|endpoint|uid/.test(it))).toEqual([])
    const text = [...typescriptFiles(model, {tables: 3, adopts: true}).values()].join('')
    expect(text).toContain('...unlisted({')
  })
})

describe('a world that changes while it is exported', () => {
  it('is not what was read first: the plan over what was read names the fields', async () => {
    const lab = new Lab({simulator: {cloud: {sparseLists: true, defaultsFilled: true}}, ...PATIENT})
    world().subscription('a').database('b').database('c').into(lab.simulator)
    const backendOf = lab.backends('plan')
    const cloud = backendOf('', 'cloud')
    let changed = false
    const changing: Backend = {
      ...cloud,
      spending: cloud.spending,
      reader: {
        list: (...given) => cloud.reader.list(...given),
        prove: (...given) => cloud.reader.prove(...given),
        forget: path => cloud.reader.forget(path),
        read: (...given) => {
          if (!changed) lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 9}})
          changed = true
          return cloud.reader.read(...given)
        },
      },
    }
    const seen = await lab.run(() =>
      readWorld({kinds, backends: new Map([['cloud', changing]]), wants: usual, picks: false, scope: () => ['cloud']}),
    )
    const model = exportModel({kinds, objects: seen.objects, split: 'subscription', allFields: false, hides: it => it})
    const stack = stackOf('a')
    for (const it of model.stacks.flatMap(it => it.objects)) {
      const {parent} = it
      stack.add(it.kind.name, it.id, it.spec, {
        importId: it.remoteId,
        ...(parent && 'id' in parent ? {parent: stack.in(parent.id)} : {}),
      })
    }
    const {plan} = await lab.run(() => lab.plan([stack], {backendOf: () => knownFacts('cloud', kinds, seen.collections, seen.facts)}))
    const open = plan.operations.filter(it => it.action !== 'adopt')
    expect(open.map(it => [it.address, it.action, it.changes.map(change => change.path)])).toEqual([
      ['null_resource.b', 'update', ['/memoryLimitInGb']],
    ])
  })

  it('loses what is gone before it is read whole', async () => {
    const lab = new Lab({simulator: {cloud: {sparseLists: true, defaultsFilled: true}}, ...PATIENT})
    world().subscription('a').database('b').into(lab.simulator)
    const cloud = lab.backends('plan')('', 'cloud')
    const reader = {...cloud.reader, list: cloud.reader.list.bind(cloud.reader), prove: cloud.reader.prove.bind(cloud.reader)}
    const vanishing: Backend = {
      ...cloud,
      spending: cloud.spending,
      reader: {
        ...reader,
        forget: () => {},
        read: async ({path}): Promise<JsonObject | undefined> => (path.includes('databases') ? undefined : {}),
      },
    }
    const seen = await lab.run(() =>
      readWorld({kinds, backends: new Map([['cloud', vanishing]]), wants: usual, picks: false, scope: () => ['cloud']}),
    )
    expect(seen.vanished.map(it => it.remoteId)).toEqual(['cloud/subscriptions/1/databases/1'])
  })
})
