/** Random accounts and random declarations over the same few names, so that they meet, miss and collide. */
import fc from 'fast-check'
import type {JsonObject} from '../../src/base/json.ts'
import {Secret, type ValueObject} from '../../src/engine/model/value.ts'
import {type FaultInput, type SimulatorConfigInput, type WorldBuilder, world} from '../../src/simulator/index.ts'
import {type StackBuilder, stackOf} from './lab.ts'

/** What must never be seen anywhere; every password holds it. */
export const SECRET_MARK = 'S3CR3T'

interface RandomDatabase {
  readonly name: string
  /** Declared under the same address with another name: a rename once it is owned. */
  readonly renamed: boolean
  readonly fields: JsonObject
  readonly rules: readonly {readonly name: string; readonly rule: string}[]
  readonly users: readonly {readonly name: string; readonly role: string; readonly password: string}[]
  readonly removal: 'delete' | 'retain'
}

interface RandomSubscription {
  readonly name: string
  readonly renamed: boolean
  readonly databases: readonly RandomDatabase[]
  readonly peerings: readonly {readonly vpcId: string; readonly vpcCidr: string}[]
  readonly exclusive: readonly string[]
}

export interface RandomStack {
  readonly subscriptions: readonly RandomSubscription[]
  readonly bdbs: readonly {readonly name: string; readonly fields: JsonObject}[]
  readonly users: readonly {readonly name: string; readonly role: string; readonly password: string}[]
  readonly settings: boolean
  readonly node: boolean
}

const seldom = fc.integer({min: 0, max: 9}).map(it => it === 0)
const password = fc.constantFrom('one', 'two').map(it => `${SECRET_MARK}-${it}`)

/** @param throughput - another one than a thousand operations a second */
export const databaseFields = (throughput: {readonly by: string; readonly value: number}) =>
  fc.record(
    {
      memoryLimitInGb: fc.constantFrom(0.1, 1, 2.5),
      replication: fc.boolean(),
      dataPersistence: fc.constantFrom('none', 'aof-every-1-second'),
      port: fc.constantFrom(12_000, 12_001),
      modules: fc.subarray([{name: 'json'}, {name: 'search'}]),
      alerts: fc.subarray([
        {name: 'dataset-size', value: 80},
        {name: 'throughput-higher-than', value: 5000},
      ]),
      throughputMeasurement: fc.constantFrom({by: 'operations-per-second', value: 1000}, throughput),
      backup: fc.constantFrom({interval: 6, enabled: true}, {enabled: false}),
    },
    {requiredKeys: ['memoryLimitInGb']},
  )

const named = <T>(names: readonly string[], rest: (name: string) => fc.Arbitrary<T>, max = names.length) =>
  fc.subarray([...names], {maxLength: max}).chain(chosen => fc.tuple(...chosen.map(rest)))

const database = (name: string): fc.Arbitrary<RandomDatabase> =>
  fc.record({
    name: fc.constant(name),
    renamed: seldom,
    fields: databaseFields({by: 'operations-per-second', value: 2000}),
    rules: named(['r', 's'], it => fc.record({name: fc.constant(it), rule: fc.constantFrom('+@read ~*', '+@all ~cache:*')})),
    users: named(['u', 'v'], it => fc.record({name: fc.constant(it), role: fc.constantFrom('r', 's'), password})),
    removal: fc.constantFrom('delete', 'delete', 'delete', 'retain'),
  })

const subscription = (name: string): fc.Arbitrary<RandomSubscription> =>
  fc.record({
    name: fc.constant(name),
    renamed: seldom,
    databases: named(['x', 'y', 'z'], database),
    peerings: named(['vpc-1', 'vpc-2'], vpcId =>
      fc.record({vpcId: fc.constant(vpcId), vpcCidr: fc.constantFrom('10.0.0.0/24', '10.1.0.0/24')}),
    ),
    exclusive: fc.subarray(['databases', 'peerings']),
  })

export const randomStack: fc.Arbitrary<RandomStack> = fc.record({
  subscriptions: named(['a', 'b', 'c'], subscription),
  bdbs: named(['p', 'q'], name =>
    fc.record({
      name: fc.constant(name),
      fields: fc.record({memory_size: fc.constantFrom(104_857_600, 209_715_200), max_connections: fc.constantFrom(0, 10)}),
    }),
  ),
  users: named(['m', 'n'], name => fc.record({name: fc.constant(name), role: fc.constantFrom('admin', 'db_viewer'), password})),
  settings: fc.boolean(),
  node: fc.boolean(),
})

/** The same thing as somebody else made it at a console. */
export function liveWorld(stack: RandomStack): WorldBuilder {
  let built = world()
  for (const {name, databases, peerings} of stack.subscriptions) {
    built = built.subscription(name)
    for (const it of peerings) built = built.peering({provider: 'AWS', region: 'us-east-1', ...it})
    for (const {name: database, fields, rules, users} of databases) {
      built = built.database(database, fields)
      for (const it of rules) built = built.rule(it.name, it.rule)
      for (const {name: user, role} of users) built = built.user(user, {role})
    }
  }
  for (const {name, fields} of stack.bdbs) built = built.bdb(name, fields)
  for (const {name, role} of stack.users) built = built.clusterUser(name, {role})
  return built
}

const unchangeable = ({port, modules}: JsonObject): JsonObject => ({
  ...(port === undefined ? {} : {port}),
  ...(modules === undefined ? {} : {modules}),
})

interface Declaring {
  /** Of every user, and of databases of a cluster; else what each user was given. */
  readonly password?: string
  readonly createBeforeDestroy?: boolean
  /** Whether subscriptions say which databases they are made with. */
  readonly inline?: boolean
}

/** The same thing as a stack declares it. */
export function declared(
  stack: RandomStack,
  name = 'shop',
  {password: given, createBeforeDestroy = false, inline = false}: Declaring = {},
): StackBuilder {
  const builder = stackOf(name)
  const spelled = (it: {name: string; renamed: boolean}) => (it.renamed ? `${it.name}-new` : it.name)
  for (const sub of stack.subscriptions) {
    const local = `sub_${sub.name}`
    const databases = sub.databases.map(it => ({name: spelled(it), memoryLimitInGb: 1, ...unchangeable(it.fields)}))
    const madeWith = inline && databases.length > 0 ? {databases} : {}
    builder.subscription(local, {name: spelled(sub), ...madeWith}, {exclusive: sub.exclusive})
    for (const {vpcId, vpcCidr} of sub.peerings) builder.peering(`${local}_${vpcId}`, local, {vpcId, vpcCidr})
    for (const it of sub.databases) {
      const database = `${local}_${it.name}`
      builder.database(database, local, {name: spelled(it), ...it.fields}, {removal: it.removal, createBeforeDestroy})
      for (const {name: rule, rule: text} of it.rules) builder.rule(`${database}_${rule}`, database, {name: rule, rule: text})
      for (const user of it.users) {
        const spec: ValueObject = {name: user.name, role: user.role, password: new Secret(given ?? user.password)}
        builder.user(
          `${database}_${user.name}`,
          database,
          spec,
          it.rules.some(rule => rule.name === user.role) ? [`${database}_${user.role}`] : [],
        )
      }
    }
  }
  const shown = given === undefined ? {} : {authentication_redis_pass: new Secret(given)}
  for (const {name: bdb, fields} of stack.bdbs) builder.bdb(`bdb_${bdb}`, {name: bdb, ...fields, ...shown})
  for (const {name: user, role, password: text} of stack.users)
    builder.clusterUser(`user_${user}`, {name: user, role, password: new Secret(given ?? text)})
  if (stack.settings) builder.add('cluster.settings', 'settings', {name: 'eu-1'})
  if (stack.node) builder.add('cluster.node', 'node', {uid: 2, rack_id: 'rack-b'})
  return builder
}

/** Every way in which a deployment may differ that leaves what it does the same. */
export const knobs: fc.Arbitrary<SimulatorConfigInput> = fc.record(
  {
    spelling: fc.constantFrom('contract' as const, 'wire' as const),
    latencyMs: fc.constantFrom(0, 40),
    cloud: fc.record(
      {
        asynchronous: fc.boolean(),
        taskAnswer: fc.constantFrom(200 as const, 201 as const, 202 as const),
        synchronousAnswer: fc.constantFrom('object' as const, 'empty' as const, 'no-content' as const),
        taskMs: fc.constantFrom(0, 200, 5000),
        readyMs: fc.constantFrom(0, 200, 3000),
        appears: fc.constantFrom('accepted' as const, 'completed' as const),
        listLagMs: fc.constantFrom(0, 300, 1500),
        lists: fc.constantFrom('bare' as const, 'wrapped' as const, 'nested' as const),
        emptyDatabaseList: fc.constantFrom('empty' as const, '404' as const),
        asynchronousLists: fc.subarray(['databases', 'peerings', 'rules'] as const),
        sparseLists: fc.boolean(),
        sparsePeerings: fc.boolean(),
        shuffled: fc.boolean(),
        names: fc.constantFrom('declared' as const, 'renamed' as const),
        singlePrecision: fc.boolean(),
        defaultsFilled: fc.boolean(),
        extraModules: fc.subarray(['timeseries']),
        aclRespaced: fc.boolean(),
        taskWords: fc.constantFrom('contract' as const, 'long' as const),
        taskError: fc.constantFrom('object' as const, 'text' as const),
        taskResourceId: fc.boolean(),
        taskNotFoundReads: fc.integer({min: 0, max: 4}),
        taskList: fc.record({maxRows: fc.constantFrom(null, 1), runningOnly: fc.boolean(), served: fc.boolean()}, {requiredKeys: []}),
        rateLimit: fc.constantFrom(null, {perMinute: 100, burst: 150}, {perMinute: 100, burst: 5}),
        rateHeaders: fc.constantFrom('x-ratelimit' as const, 'x-rate-limit' as const, 'none' as const),
        paging: fc.record(
          {maxLimit: fc.constantFrom(null, 1, 2, 100), pastEnd: fc.constantFrom('empty' as const, '404' as const)},
          {requiredKeys: []},
        ),
        busy: fc.constantFrom('allow' as const, '409' as const, 'task' as const),
        followsDatabases: fc.boolean(),
        maxPendingSubscriptions: fc.constantFrom(null, 1, 3),
        maxConcurrentChanges: fc.constantFrom(null, 2),
        deleteNotEmpty: fc.constantFrom('409' as const, 'task' as const),
        refuseUnchangedName: fc.boolean(),
      },
      {requiredKeys: []},
    ),
    cluster: fc.record(
      {
        changeMs: fc.constantFrom(0, 200, 5000),
        listLagMs: fc.constantFrom(0, 300),
        shuffled: fc.boolean(),
        emptyBodies: fc.boolean(),
        actions: fc.boolean(),
        busy: fc.constantFrom('allow' as const, '409' as const),
      },
      {requiredKeys: []},
    ),
  },
  {requiredKeys: []},
)

/** Bad weather: what goes wrong, and when. */
export const faults: fc.Arbitrary<FaultInput[]> = fc.array(
  fc.record({
    match: fc.constantFrom(
      {method: 'POST'},
      {method: 'PUT'},
      {method: 'DELETE'},
      {method: 'GET'},
      {method: 'POST', path: '/subscriptions'},
      {method: 'POST', path: '/subscriptions/*/databases'},
      {method: 'GET', path: '/tasks**'},
      {},
    ),
    after: fc.integer({min: 0, max: 5}),
    times: fc.integer({min: 1, max: 2}),
    action: fc.oneof(
      fc.constantFrom(
        {type: 'drop-after-effect' as const},
        {type: 'drop-before-effect' as const},
        {type: 'refuse' as const},
        {type: 'hang' as const},
        {type: 'hang' as const, effect: true},
        {type: 'garbage' as const},
        {type: 'truncate' as const},
        {type: 'cut' as const},
        {type: 'delay' as const, ms: 20_000},
        {type: 'fail-task' as const, code: 'QUOTA_EXCEEDED', message: 'No more of these.', field: 'memoryLimitInGb'},
        {type: 'end-status' as const},
      ),
      // A 409 or a 429 is a promise that nothing happened.
      fc.record({type: fc.constant('status' as const), status: fc.constantFrom(500, 502, 503), effect: fc.boolean()}),
      fc.record({type: fc.constant('status' as const), status: fc.constantFrom(409, 429)}),
    ),
  }),
  {minLength: 1, maxLength: 4},
)

/** Which of two stacks has an object: by the local name of a subscription, a database or a cluster's object. */
export type Split = (local: string) => 'shop' | 'other'

export const split: fc.Arbitrary<Split> = fc.record({seed: fc.integer({min: 0, max: 255})}).map(({seed}) => local => {
  const sum = [...local].reduce((total, letter) => (total * 31 + letter.charCodeAt(0)) % 251, seed)
  return sum % 2 === 0 ? 'shop' : 'other'
})

/** One set of declarations, shared out between two stacks; what an object is called inside its stack hangs on the stack. */
export function declaredIn(stack: RandomStack, of: Split): StackBuilder[] {
  const builders = {shop: stackOf('shop'), other: stackOf('other')}
  const local = (name: string) => (of(name) === 'shop' ? name : `${name}_there`)
  const at = (name: string) => ({by: 'key' as const, key: builders[of(name)].key(local(name))})
  const spelled = (it: {name: string; renamed: boolean}) => (it.renamed ? `${it.name}-new` : it.name)
  for (const sub of stack.subscriptions) {
    const name = `sub_${sub.name}`
    builders[of(name)].subscription(local(name), {name: spelled(sub)}, {exclusive: sub.exclusive})
    for (const {vpcId, vpcCidr} of sub.peerings) {
      const spec = {provider: 'AWS', region: 'us-east-1', vpcId, vpcCidr}
      builders[of(`${name}_${vpcId}`)].add('cloud.peering', local(`${name}_${vpcId}`), spec, {parent: at(name)})
    }
    for (const it of sub.databases) {
      const database = `${name}_${it.name}`
      const own = builders[of(database)]
      own.add(
        'cloud.database',
        local(database),
        {memoryLimitInGb: 1, name: spelled(it), ...it.fields},
        {parent: at(name), policy: {removal: it.removal}},
      )
      for (const {name: rule, rule: text} of it.rules)
        own.add('cloud.acl_rule', local(database) + rule, {name: rule, rule: text}, {parent: at(database)})
    }
  }
  for (const {name: bdb, fields} of stack.bdbs) builders[of(`bdb_${bdb}`)].bdb(local(`bdb_${bdb}`), {name: bdb, ...fields})
  if (stack.settings) builders[of('settings')].add('cluster.settings', local('settings'), {name: 'eu-1'})
  return [builders.shop, builders.other]
}
