import {describe, expect, it} from 'vitest'
import {openClusterBackend} from '../../../src/backends/cluster/backend.ts'
import {
  checkNode,
  deleteModule,
  listBdbs,
  readAvailability,
  readClusterAccount,
  readEndpointStats,
  readLogs,
  readStatistics,
} from '../../../src/backends/cluster/cluster-api.ts'
import {systemClock} from '../../../src/base/clock.ts'
import {answering, type Scripted, scriptedClient} from '../scripted-client.ts'

const create = {method: 'POST', path: '/v1/bdbs', body: {name: 'cache'}} as const
const clusterThat = (answer: Scripted) =>
  openClusterBackend(
    scriptedClient(() => answer),
    {clock: systemClock},
  )
const clusterOf = (table: Record<string, Scripted | Scripted[]>) => {
  const client = answering(table)
  return {cluster: openClusterBackend(client, {clock: systemClock}), client}
}

describe('a write to the cluster', () => {
  it.each([
    ['200 with the object and its action', {json: {uid: 3, action_uid: 'u'}}, {outcome: 'accepted', taskId: 'u', body: {uid: 3}}],
    ['200 with an empty body', {}, {outcome: 'accepted'}],
    [
      '406',
      {status: 406, json: {error_code: 'invalid_state', description: 'no'}},
      {outcome: 'refused', error: {code: 'E_CLUSTER_REFUSED'}},
    ],
    ['409', {status: 409, json: {error_code: 'bdb_busy', description: 'wait'}}, {outcome: 'busy', reason: 'wait (409 bdb_busy)'}],
    ['409 for a name that is taken', {status: 409, json: {error_code: 'name_already_exists'}}, {outcome: 'refused'}],
    ['503 of a node that says it is not ready', {status: 503, json: {error_code: 'node_not_ready'}}, {outcome: 'busy'}],
    ['503 of a gateway', {status: 503, text: '<html></html>'}, {outcome: 'unknown'}],
    ['404', {status: 404}, {outcome: 'gone', error: {exit: 11}}],
    ['401', {status: 401}, {outcome: 'refused', error: {code: 'E_CLUSTER_UNAUTHORIZED', exit: 9}}],
    ['500', {status: 500, json: {message: 'oops'}}, {outcome: 'unknown', error: {code: 'E_CLUSTER_OUTCOME_UNKNOWN'}}],
  ] satisfies [string, Scripted, object][])('that is answered by %s', async (_, answer, outcome) => {
    expect(await clusterThat(answer).write(create)).toMatchObject(outcome)
  })
})

describe('an action of the cluster', () => {
  it('is followed by its uid, and nothing for a 404', async () => {
    const {cluster, client} = clusterOf({'GET /v1/actions/u': {json: {action_uid: 'u', status: 'running', progress: '45'}}})
    expect(await cluster.task('u')).toMatchObject({id: 'u', state: 'running', description: '45 %'})
    expect(await cluster.task('v')).toBeUndefined()
    expect(client.asked).toEqual(['GET /v1/actions/u', 'GET /v1/actions/v'])
  })

  it('has no list that promises to be all of them', async () => {
    const {cluster, client} = clusterOf({})
    expect(await cluster.tasks()).toBeUndefined()
    expect(client.asked).toEqual([])
  })
})

describe('the availability of a database', () => {
  const contract = 'GET /v1/bdbs/3/availability'
  const local = 'GET /v1/local/bdbs/3/endpoint/availability'

  it.each([
    ['available for an empty 200', {[contract]: {}}, {is: 'available'}],
    ['available with a record', {[contract]: {json: {available: true}}}, {is: 'available', body: {available: true}}],
    [
      'not available for a 503',
      {[contract]: {status: 503, json: {error_code: 'no_quorum'}}},
      {is: 'unavailable', code: 'no_quorum', message: 'no_quorum'},
    ],
    ['asked for at the local path after a 404', {[local]: {}}, {is: 'available'}],
    ['not found where neither path is there', {}, {is: 'not found'}],
  ] satisfies [string, Record<string, Scripted>, object][])('is %s', async (_, table, availability) => {
    expect(await readAvailability(clusterOf(table).cluster, 3)).toEqual(availability)
  })

  it('takes a 503 for the answer: it is not tried again', async () => {
    const {cluster, client} = clusterOf({[contract]: {status: 503}})
    await readAvailability(cluster, 3)
    expect(client.calls[0]?.options?.answers).toEqual([404, 503])
  })

  it('is an error for anything else', async () => {
    await expect(readAvailability(clusterOf({[contract]: {status: 401}}).cluster, 3)).rejects.toMatchObject({exit: 9})
  })
})

describe('the rows of the contract', () => {
  it('ask for logs with the filters that were given, once', async () => {
    const {cluster, client} = clusterOf({'GET /v1/logs?limit=5&stime=2026-01-01T00%3A00%3A00Z': {json: [{type: 'bdb_created'}]}})
    expect(await readLogs(cluster, {limit: 5, stime: '2026-01-01T00:00:00Z'})).toEqual([{type: 'bdb_created'}])
    expect(client.asked).toHaveLength(1)
  })

  it('list databases whole: two requests for a list that no other list can vouch for', async () => {
    const {cluster, client} = clusterOf({
      'GET /v1/bdbs?limit=1000&offset=0': {json: [{uid: 1}, {uid: 2}]},
      'GET /v1/bdbs?limit=1000&offset=1': {json: [{uid: 2}]},
    })
    expect(await listBdbs(cluster)).toEqual([{uid: 1}, {uid: 2}])
    expect(client.asked).toHaveLength(2)
  })

  it('read statistics in the shape of the server', async () => {
    const {cluster} = clusterOf({'GET /v1/shards/stats/last': {json: {1: {used_memory: 5}}}})
    expect(await readStatistics(cluster, 'shards')).toEqual({1: {used_memory: 5}})
    expect(await readEndpointStats(cluster)).toBeUndefined()
  })

  it('check a node and delete a module by their own paths', async () => {
    const {cluster, client} = clusterOf({'POST /v1/nodes/2/actions/check': {}, 'DELETE /v1/modules/abc': {status: 204}})
    expect(await checkNode(cluster, 2)).toEqual({outcome: 'accepted'})
    expect(await deleteModule(cluster, 'abc')).toEqual({outcome: 'accepted'})
    expect(client.asked).toEqual(['POST /v1/nodes/2/actions/check', 'DELETE /v1/modules/abc'])
  })

  it('know a cluster by its name', async () => {
    expect(await readClusterAccount(clusterThat({json: {name: 'cluster.local'}}))).toMatchObject({
      key: 'cluster.local',
      name: 'cluster.local',
    })
  })
})
