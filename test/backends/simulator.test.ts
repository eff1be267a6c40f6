import {describe, expect, it} from 'vitest'
import {wholeList} from '../../src/backends/api/whole-list.ts'
import {openCloudBackend} from '../../src/backends/cloud/backend.ts'
import {
  listAclRules,
  listAclUsers,
  listDatabases,
  listPaymentMethods,
  listPeerings,
  listRegions,
  listSubscriptions,
  listTasks,
  readCloudAccount,
} from '../../src/backends/cloud/cloud-api.ts'
import {openClusterBackend} from '../../src/backends/cluster/backend.ts'
import {
  listBdbs,
  listModules,
  listNodes,
  readAvailability,
  readCluster,
  readPolicy,
  readStatistics,
} from '../../src/backends/cluster/cluster-api.ts'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {waitFor} from '../../src/base/wait-for.ts'
import {type SimulatorConfigInput, world} from '../../src/simulator/index.ts'
import {createBudget, NO_LIMITS} from '../../src/transport/budget.ts'
import {createApiClient} from '../../src/transport/create-api-client.ts'

const SPELLINGS = ['contract', 'wire'] as const

/** Two subscriptions, three databases, one of them with ACLs, one cluster database; both backends, in virtual time. */
function lab(config: SimulatorConfigInput) {
  const clock = new VirtualClock()
  const simulator = world()
    .subscription('orders')
    .database('cache')
    .rule('read-only')
    .user('app', {role: 'read-only'})
    .database('queue')
    .subscription('billing')
    .database('ledger')
    .subscription('empty')
    .bdb('sessions')
    .simulator({clock, config})
  const {bases, transport} = simulator
  const {credentials} = simulator.config
  const budget = createBudget({limits: NO_LIMITS, clock})
  const waits: string[] = []
  const cloud = openCloudBackend(
    createApiClient({
      address: bases.cloud,
      authentication: {'x-api-key': credentials.apiKey, 'x-api-secret-key': credentials.secretKey},
      transport,
      budget,
      clock,
    }),
    {clock, onWait: text => void waits.push(text)},
  )
  const basic = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')
  const cluster = openClusterBackend(
    createApiClient({address: bases.cluster, authentication: {authorization: `Basic ${basic}`}, transport, budget, clock}),
    {clock},
  )
  return {clock, simulator, cloud, cluster, waits}
}

const names = (rows: readonly {name?: unknown}[]) => rows.map(it => String(it.name)).sort()

describe.each(SPELLINGS)('against the simulator, in the %s spelling', spelling => {
  it('every cloud list of the contract is read whole', async () => {
    const {clock, cloud} = lab({spelling})
    await clock.run(
      (async () => {
        const subscriptions = await listSubscriptions(cloud)
        expect(subscriptions).toHaveLength(3)
        const ids = subscriptions.map(row => String(row.id ?? row.subscriptionId))
        const databases = await Promise.all(ids.map(id => listDatabases(cloud, id)))
        expect(databases.map(it => it.length)).toEqual(expect.arrayContaining([2, 1, 0]))
        const at = databases.findIndex(it => it.length === 2)
        const orders = ids[at] ?? ''
        expect(names(databases[at] ?? [])).toEqual(['cache', 'queue'])
        const cache = databases[at]?.find(it => it.name === 'cache')
        const database = String(cache?.id ?? cache?.databaseId)
        expect(await cloud.reader.read({method: 'GET', path: `/subscriptions/${orders}/databases/${database}`})).toMatchObject({
          name: 'cache',
        })
        expect(names(await listAclRules(cloud, orders, database))).toEqual(['read-only'])
        expect(names(await listAclUsers(cloud, orders, database))).toEqual(['app'])
        expect(await listPeerings(cloud, orders)).toEqual([])
        // Peerings are read by a task in one spelling.
        expect(await listTasks(cloud)).toHaveLength(spelling === 'wire' ? 1 : 0)
        expect((await listRegions(cloud)).length).toBeGreaterThan(3)
        expect(await listPaymentMethods(cloud)).toHaveLength(1)
        expect(await readCloudAccount(cloud)).toMatchObject({key: '1001', name: 'Simulated account'})
      })(),
    )
  })

  it('every cluster read of the contract answers', async () => {
    const {clock, cluster} = lab({spelling})
    await clock.run(
      (async () => {
        // Lists lag behind the beginning of the world, too.
        await clock.sleep(1_000)
        const [bdb] = await listBdbs(cluster)
        expect(bdb).toMatchObject({name: 'sessions'})
        expect(await wholeList(cluster.reader, '/v2/bdbs')).toHaveLength(1)
        expect(await listNodes(cluster)).toHaveLength(3)
        expect(await wholeList(cluster.reader, '/v1/users')).toHaveLength(1)
        expect(await wholeList(cluster.reader, '/v1/roles')).toHaveLength(5)
        expect(await listModules(cluster)).toHaveLength(2)
        expect(await readCluster(cluster)).toMatchObject({name: 'cluster.local'})
        expect(await readPolicy(cluster)).toBeDefined()
        expect(await cluster.reader.read({method: 'GET', path: '/v1/bootstrap'})).toBeDefined()
        for (const of of ['cluster', 'bdbs', 'nodes', 'shards'] as const) expect(await readStatistics(cluster, of)).toBeDefined()
        expect(await readAvailability(cluster, String(bdb?.uid))).toMatchObject({is: 'available'})
      })(),
    )
  })

  it('a database is created by a task, found in its list, and deleted', async () => {
    const {clock, cloud} = lab({spelling})
    await clock.run(
      (async () => {
        const [first] = await listSubscriptions(cloud)
        const path = `/subscriptions/${first?.id ?? first?.subscriptionId}/databases`
        const written = await cloud.write({method: 'POST', path, body: {name: 'new', memoryLimitInGb: 1}})
        if (written.outcome !== 'accepted' || written.taskId === undefined) throw new Error(`not accepted: ${written.outcome}`)
        const {taskId} = written
        const ended = await waitFor(
          async () => {
            const task = await cloud.task(taskId)
            return task === undefined || task.state === 'running' ? undefined : task
          },
          {clock, everyMs: 500, timeoutMs: 60_000},
        )
        expect(ended).toMatchObject({id: taskId, state: 'done'})
        expect(await cloud.tasks()).toMatchObject({complete: true})
        const find = async () => {
          cloud.reader.forget(path)
          return (await cloud.reader.list({method: 'GET', path}))?.rows.find(it => it.name === 'new')
        }
        const made = await waitFor(find, {clock, everyMs: 500, timeoutMs: 60_000})
        expect(made).toBeDefined()
        const gone = await cloud.write({method: 'DELETE', path: `${path}/999999`})
        expect(gone.outcome).toBe('gone')
      })(),
    )
  })

  it('a refusal keeps the words of the API', async () => {
    const {clock, cloud, cluster} = lab({spelling})
    const path = '/subscriptions'
    const refused = await clock.run(cloud.write({method: 'POST', path, body: {}}))
    expect(refused).toMatchObject({outcome: 'refused', error: {code: 'E_CLOUD_REFUSED', said: {message: expect.stringMatching(/./)}}})
    expect(await clock.run(cluster.write({method: 'POST', path: '/v1/bdbs', body: {}}))).toMatchObject({outcome: 'refused'})
  })
})

describe('lists that the simulator answers by a task', () => {
  it('are followed, page by page', async () => {
    const {clock, cloud} = lab({cloud: {asynchronousLists: ['subscriptions', 'databases'], paging: {maxLimit: 2}}})
    expect(names(await clock.run(listSubscriptions(cloud)))).toEqual(['billing', 'empty', 'orders'])
  })

  it('say from time to time what is waited for', async () => {
    const {clock, cloud, waits} = lab({cloud: {asynchronousLists: ['subscriptions'], taskMs: 25_000}})
    await clock.run(listSubscriptions(cloud))
    expect(waits.slice(0, 2)).toEqual([
      'GET /subscriptions: still waiting for its task (processing), 10 s',
      'GET /subscriptions: still waiting for its task (processing), 20 s',
    ])
  })
})

describe('a task list that hides something', () => {
  it.each([{runningOnly: true}, {maxRows: 1}])('is not complete: %j', async taskList => {
    const {clock, cloud} = lab({cloud: {taskList, readyMs: 0}})
    await clock.run(
      (async () => {
        const [first] = await listSubscriptions(cloud)
        for (const name of ['one', 'two']) {
          await cloud.write({method: 'POST', path: `/subscriptions/${first?.id}/databases`, body: {name, memoryLimitInGb: 1}})
          await clock.sleep(5_000)
        }
        expect(await cloud.tasks()).toMatchObject({complete: false})
      })(),
    )
  })
})

describe('a 429 without a code or headers', () => {
  it('is for too many changes while one that was started here runs, and for too many requests otherwise', async () => {
    const {clock, simulator, cloud} = lab({cloud: {plainErrors: 'text', maxConcurrentChanges: 1, taskMs: 600_000}})
    const create = (name: string) => cloud.write({method: 'POST', path: '/subscriptions/1/databases', body: {name, memoryLimitInGb: 1}})
    await clock.run(
      (async () => {
        expect(await create('one')).toMatchObject({outcome: 'accepted'})
        expect(await create('two')).toMatchObject({outcome: 'crowded'})
        await clock.sleep(600_000)
        expect(await cloud.tasks()).toMatchObject({tasks: [{state: 'done'}]})
        simulator.inject({match: {method: 'POST'}, action: {type: 'status', status: 429}})
        expect(await create('three')).toMatchObject({outcome: 'unsent'})
      })(),
    )
  })
})
