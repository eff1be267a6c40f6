import {describe, expect, it} from 'vitest'
import type {BackendWarning} from '../../../src/backends/api/warning.ts'
import {wholeList} from '../../../src/backends/api/whole-list.ts'
import {openCloudBackend} from '../../../src/backends/cloud/backend.ts'
import {systemClock} from '../../../src/base/clock.ts'
import type {AppError} from '../../../src/base/errors.ts'
import type {Json} from '../../../src/base/json.ts'
import {type PagedServer, pagedServer, pageOf} from '../paged-server.ts'
import {answering, type ScriptedClient, scriptedClient} from '../scripted-client.ts'

const rows = (length: number): Json[] => Array.from({length}, (_, i) => ({id: i + 1}))
const get = (path: string) => ({method: 'GET', path}) as const

function open(client: ScriptedClient, more: {readonly maxResponseBytes?: number} = {}) {
  const warnings: BackendWarning[] = []
  const {reader} = openCloudBackend(client, {clock: systemClock, onWarning: it => warnings.push(it), ...more})
  return {reader, warnings, asked: client.asked}
}

const serve = (server: PagedServer) => open(pagedServer(server))

/** Eight subscriptions, 25 databases in each. */
const eightTimes25 = (): PagedServer['lists'] => ({
  '/subscriptions': rows(8),
  ...Object.fromEntries(Array.from({length: 8}, (_, i) => [`/subscriptions/${i + 1}/databases`, rows(25)])),
})

async function readEight(reader: ReturnType<typeof open>['reader']) {
  const subscriptions = await reader.list(get('/subscriptions'))
  const paths = (subscriptions?.rows ?? []).map(row => `/subscriptions/${row.id}/databases`)
  await Promise.all(paths.map(path => reader.list(get(path))))
  await reader.prove()
  return Promise.all(['/subscriptions', ...paths].map(path => reader.list(get(path))))
}

describe('reading lists', () => {
  it('shows people all of a list, although a longer one was read before and only this one is cut', async () => {
    const databases = '/subscriptions/1/databases'
    const {reader} = serve({lists: {'/subscriptions': rows(5), [databases]: rows(5)}, caps: {[databases]: 2}})
    expect(await wholeList(reader, '/subscriptions')).toHaveLength(5)
    expect(await wholeList(reader, databases)).toHaveLength(5)
  })

  it('asks for a list once, however often and by whomever it is wanted, until it is forgotten', async () => {
    const {reader, asked} = serve({lists: {'/subscriptions': rows(3)}})
    await Promise.all([reader.list(get('/subscriptions')), reader.list(get('/subscriptions'))])
    await reader.list(get('/subscriptions'))
    expect(asked).toEqual(['GET /subscriptions?limit=1000&offset=0'])
    reader.forget('/subscriptions')
    await reader.list(get('/subscriptions'))
    expect(asked).toHaveLength(2)
  })

  it('forgets what stands below a path, and nothing beside it', async () => {
    const {reader, asked} = serve({lists: {'/subscriptions/1/databases': rows(1), '/subscriptions/12/databases': rows(1)}})
    await reader.list(get('/subscriptions/1/databases'))
    await reader.list(get('/subscriptions/12/databases'))
    reader.forget('/subscriptions/1')
    await reader.list(get('/subscriptions/12/databases'))
    expect(asked).toHaveLength(2)
    await reader.list(get('/subscriptions/1/databases'))
    expect(asked).toHaveLength(3)
  })

  it('keeps an object for whoever is content with that, and asks again for everybody else', async () => {
    const client = scriptedClient(({path}) => (path.endsWith('/2') ? {status: 404} : {json: {id: 1}}))
    const {reader, asked} = open(client)
    const kept = (id: number) => reader.read(get(`/subscriptions/${id}`), {kept: true})
    await Promise.all([kept(1), kept(1), kept(2)])
    expect([await kept(2), asked.length]).toEqual([undefined, 2])
    await reader.read(get('/subscriptions/1'))
    expect(asked.length).toBe(3)
    reader.forget('/subscriptions')
    await kept(1)
    expect(asked.length).toBe(4)
  })

  it('ends a list that never ends with an error, after as many pages as its first one allows', async () => {
    const endless = scriptedClient(({path}) => {
      const offset = Number(new URLSearchParams(path.split('?')[1]).get('offset'))
      return {json: {subscriptions: Array.from({length: 10}, (_, i) => ({id: offset + i + 1}))}}
    })
    const {reader, asked} = open(endless)
    const whole = reader.list(get('/subscriptions')).then(() => reader.prove())
    await expect(whole).rejects.toMatchObject({code: 'E_LIST_ENDLESS', message: expect.stringMatching(/600 pages brought \d+ rows/)})
    expect(asked).toHaveLength(600)
  })

  it('gives up a list that has more rows than anybody keeps, however many its pages bring', async () => {
    const endless = scriptedClient(({path}) => {
      const offset = Number(new URLSearchParams(path.split('?')[1]).get('offset'))
      return {json: {subscriptions: Array.from({length: 50_000}, (_, i) => ({id: offset + i + 1}))}}
    })
    const {reader, asked} = open(endless)
    await expect(reader.list(get('/subscriptions')).then(() => reader.prove())).rejects.toMatchObject({code: 'E_LIST_ENDLESS'})
    expect(asked.length).toBeLessThan(10)
  })

  describe('whose rows are large', () => {
    const KIB = 2 ** 10
    /** Pages of ten rows and of 20 KiB, without an end or with one. */
    const large = (most = Number.POSITIVE_INFINITY) =>
      scriptedClient(({path}) => {
        const offset = Number(new URLSearchParams(path.split('?')[1]).get('offset'))
        const length = Math.max(0, Math.min(10, most - offset))
        return {json: Array.from({length}, (_, i) => ({id: offset + i + 1, text: 'x'.repeat(2 * KIB)}))}
      })

    it('gives up one that has more than four answers may have, long before it has too many rows', async () => {
      const {reader, asked} = open(large(), {maxResponseBytes: 64 * KIB})
      await expect(reader.list(get('/subscriptions')).then(() => reader.prove())).rejects.toMatchObject({
        code: 'E_LIST_ENDLESS',
        message:
          'GET /subscriptions: the list is too large for memory: 14 pages brought 127 rows, which have 256.5 KiB, and a list may have 256 KiB (4 times --max-response)',
        suggestions: [
          'If this server is right to have so much, allow it: --max-response 1MiB.',
          'Look at single pages of it: svcctl api cloud get "PATH?limit=100&offset=0" (or api enterprise).',
        ],
      })
      expect(asked).toHaveLength(14)
    })

    it('gives up the list with which all that are kept have more than six answers may have, and none after some were forgotten', async () => {
      const {reader} = open(large(50), {maxResponseBytes: 32 * KIB})
      const read = (id: number) =>
        reader.list(get(`/subscriptions/${id}/databases`)).then(() => reader.prove({path: `/subscriptions/${id}/databases`}))
      await read(1)
      await expect(read(2)).rejects.toMatchObject({
        code: 'E_LIST_ENDLESS',
        message: expect.stringMatching(
          /^GET \/subscriptions\/2\/databases: the lists of this API are too large for memory: .*, all lists have 19\d(\.\d)? KiB, and may have 192 KiB together \(6 times --max-response\)$/,
        ),
      })
      reader.forget('/subscriptions')
      await read(3)
    })

    it('counts no row twice, however often a list is read', async () => {
      let time = 0
      const moving = scriptedClient(({path}) => {
        const offset = Number(new URLSearchParams(path.split('?')[1]).get('offset'))
        // Another order in each answer.
        const all = rows(100).map(it => ({...(it as {id: number}), text: 'x'.repeat(2 * KIB)}))
        const turned = [...all.slice((time * 37) % 100), ...all.slice(0, (time * 37) % 100)]
        time++
        return {json: {subscriptions: turned.slice(offset, offset + 10)}}
      })
      const {reader, asked} = open(moving, {maxResponseBytes: 64 * KIB})
      await reader.list(get('/subscriptions'))
      await reader.prove()
      expect(asked.length).toBeGreaterThan(20)
    })
  })

  it('takes 100 000 rows in one answer, and no more', async () => {
    const answering = (length: number) => open(scriptedClient(() => ({json: {subscriptions: rows(length)}})))
    expect((await answering(100_000).reader.list(get('/subscriptions')))?.rows).toHaveLength(100_000)
    await expect(answering(100_001).reader.list(get('/subscriptions'))).rejects.toMatchObject({
      code: 'E_LIST_PAGE',
      message: expect.stringContaining('GET /subscriptions: the answer has 100001 rows'),
    })
  })

  it('reads 8 subscriptions with 25 databases each in 17 requests: one a list, and a proof for each of the longest', async () => {
    const {reader, asked} = serve({lists: eightTimes25()})
    const listings = await readEight(reader)
    expect(listings.every(it => it?.proven)).toBe(true)
    expect(asked).toHaveLength(17)
    expect(asked.filter(it => it.endsWith('offset=24'))).toHaveLength(8)
    expect(listings[0]?.proof).toBe('shorter than another page')
    expect(listings[1]?.proof).toBe('a page without a new row')
  })

  it('needs one request more, once, where the server ignores offsets', async () => {
    const {reader, asked} = serve({lists: eightTimes25(), ignores: 'offset and limit'})
    const listings = await readEight(reader)
    expect(listings.every(it => it?.proven)).toBe(true)
    expect(asked).toHaveLength(18)
    expect(listings[1]?.proof).toBe('page one again')
  })

  it('proves only the longest list; a list of another length needs no proof of its own', async () => {
    const {reader, asked} = serve({lists: {'/subscriptions': rows(2), '/regions': rows(7), '/payment-methods': rows(6)}})
    for (const path of ['/subscriptions', '/regions', '/payment-methods']) await reader.list(get(path))
    expect((await reader.list(get('/regions')))?.proven).toBe(false)
    expect((await reader.list(get('/subscriptions')))?.proven).toBe(true)
    await reader.prove()
    expect(asked.slice(3)).toEqual(['GET /regions?limit=1000&offset=6'])
  })

  it.each([
    {ignores: undefined, found: 5, asked: ['0', '1', '2', '3', '4']},
    {ignores: 'offset and limit' as const, found: 2, asked: ['0', '1', '1000000']},
  ])('proves a list by its own pages where it is asked to, whatever the length of the others ($ignores)', async it => {
    const lists = {'/subscriptions': rows(5), '/regions': rows(7)}
    const {reader, asked} = serve({lists, caps: {'/subscriptions': 2}, ...(it.ignores ? {ignores: it.ignores} : {})})
    for (const path of Object.keys(lists)) await reader.list(get(path))
    expect(await reader.list(get('/subscriptions'))).toMatchObject({proven: true, rows: {length: 2}})
    await reader.prove({path: '/subscriptions', alone: true})
    expect(await reader.list(get('/subscriptions'))).toMatchObject({proven: true, rows: {length: it.found}})
    expect(asked.filter(path => path.includes('subscriptions')).map(path => path.split('offset=')[1])).toEqual(it.asked)
  })

  it('needs no proof for an empty list', async () => {
    const {reader, asked} = serve({lists: {'/subscriptions': []}})
    expect(await reader.list(get('/subscriptions'))).toEqual({rows: [], withoutId: [], proven: true, proof: 'an empty page'})
    expect(asked).toHaveLength(1)
  })

  it.each([
    ['empty' as const, 'an empty page'],
    ['404' as const, 'a 404 past the last row'],
  ])('looks behind a single row at offset 1, where %s is the end', async (pastEnd, proof) => {
    const {reader, asked} = serve({lists: {'/subscriptions': rows(1)}, pastEnd})
    await reader.list(get('/subscriptions'))
    await reader.prove()
    expect(await reader.list(get('/subscriptions'))).toMatchObject({proven: true, proof})
    expect(asked).toEqual(['GET /subscriptions?limit=1000&offset=0', 'GET /subscriptions?limit=1000&offset=1'])
  })

  it('finds all rows behind a silent cap, with pages that overlap by a row', async () => {
    const {reader, asked} = serve({lists: {'/subscriptions': rows(25)}, cap: 10})
    expect((await reader.list(get('/subscriptions')))?.rows).toHaveLength(10)
    await reader.prove()
    const listing = await reader.list(get('/subscriptions'))
    expect(listing?.rows).toHaveLength(25)
    expect(listing?.proven).toBe(true)
    expect(asked.map(it => it.split('offset=')[1])).toEqual(['0', '9', '18'])
  })

  it('goes on at once when a page is as full as it was asked to be', async () => {
    const {reader, asked} = serve({lists: {'/subscriptions': rows(1500)}})
    expect(await reader.list(get('/subscriptions'))).toMatchObject({proven: true, rows: {length: 1500}})
    expect(asked.map(it => it.split('?')[1])).toEqual(['limit=1000&offset=0', 'limit=1000&offset=999'])
  })

  it('takes pages of 100 where 1000 is refused, and remembers it for all lists', async () => {
    const {reader, asked} = serve({lists: {'/subscriptions': rows(3), '/regions': rows(2)}, refuseAbove: 100})
    await reader.list(get('/subscriptions'))
    await reader.list(get('/regions'))
    expect(asked).toEqual([
      'GET /subscriptions?limit=1000&offset=0',
      'GET /subscriptions?limit=100&offset=0',
      'GET /regions?limit=100&offset=0',
    ])
  })

  it('throws a 400 that has nothing to do with the limit, and goes on asking for 1000', async () => {
    const refused = {status: 400, json: {error: {code: 'INVALID_REQUEST', message: 'no', details: {field: 'limit'}}}}
    const {reader, asked} = open(
      answering({
        'GET /regions?limit=1000&offset=0': refused,
        'GET /regions?limit=100&offset=0': refused,
        'GET /subscriptions?limit=1000&offset=0': {json: []},
      }),
    )
    const error = await reader.list(get('/regions')).catch((it: AppError) => it)
    // What is read is in no stack: nothing is to be set there.
    expect(error).toMatchObject({code: 'E_CLOUD_REFUSED', suggestions: expect.not.arrayContaining([expect.stringContaining('stack')])})
    await reader.list(get('/subscriptions'))
    expect(asked.at(-1)).toBe('GET /subscriptions?limit=1000&offset=0')
  })

  it('goes on where a page overlaps by exactly one known row, wherever in the page that stands', async () => {
    // Pages in an order of their own: the row that comes again is the last one here.
    const page = (offset: number, ...ids: readonly number[]) => [
      `GET /subscriptions?limit=1000&offset=${offset}`,
      {json: ids.map(id => ({id}))},
    ]
    const {reader, asked} = open(answering(Object.fromEntries([page(0, 1, 2, 3, 4), page(3, 5, 6, 7, 4), page(6, 8, 7), page(7, 8)])))
    await reader.list(get('/subscriptions'))
    await reader.prove()
    const listing = await reader.list(get('/subscriptions'))
    expect(listing).toMatchObject({rows: [1, 2, 3, 4, 5, 6, 7, 8].map(id => ({id})), proven: true})
    expect(asked.map(it => it.split('offset=')[1])).toEqual(['0', '3', '6'])
  })

  it('reads the list again from the start when it moved between two pages', async () => {
    const lists = {'/subscriptions': rows(6)}
    const server = pagedServer({lists, cap: 4})
    const {reader, asked} = open({
      ...server,
      call: async (...args) => {
        const result = await server.call(...args)
        // The second row goes after page one was read: what follows moves up.
        if (server.asked.length === 1) lists['/subscriptions'] = rows(6).filter((_, i) => i !== 1)
        return result
      },
    })
    await reader.list(get('/subscriptions'))
    await reader.prove()
    const listing = await reader.list(get('/subscriptions'))
    expect(listing?.rows.map(it => it.id)).toEqual([1, 3, 4, 5, 6])
    expect(listing?.proven).toBe(true)
    expect(asked.map(it => it.split('offset=')[1])).toEqual(['0', '3', '0', '3'])
  })

  it('answers unproven, with a warning, when a list never holds still; and stops asking', async () => {
    let next = 0
    const client = scriptedClient(() => ({json: Array.from({length: 3}, () => ({id: ++next}))}))
    const {reader, warnings} = open(client)
    await reader.list(get('/subscriptions'))
    await reader.prove()
    expect((await reader.list(get('/subscriptions')))?.proven).toBe(false)
    expect(warnings).toEqual([{code: 'W_LIST_UNSTABLE', message: expect.stringContaining('/subscriptions')}])
    const {length} = client.asked
    await reader.prove()
    expect(client.asked).toHaveLength(length)
    expect(length).toBeLessThan(80)
  })

  it.each([
    {cap: 3, asked: ['limit=1000&offset=0', 'limit=1000&offset=2', 'limit=1&offset=1000000']},
    {cap: 1, asked: ['limit=1000&offset=0', 'limit=1000&offset=1', 'limit=0&offset=1000000', 'limit=1&offset=1000000']},
  ])('answers unproven where the server looks at limit and not at offset: it may have a cap (of $cap)', async ({cap, asked: wanted}) => {
    const {reader, warnings, asked} = serve({lists: {'/subscriptions': rows(6), '/tasks': rows(6)}, cap, ignores: 'offset'})
    await reader.list(get('/subscriptions'))
    await reader.prove()
    expect(await reader.list(get('/subscriptions'))).toMatchObject({proven: false, rows: {length: cap}})
    expect(warnings).toEqual([{code: 'W_LIST_CUT', message: expect.stringContaining('/subscriptions')}])
    expect(asked.map(it => it.split('?')[1])).toEqual(wanted)
    // Another list of the server is told by its second page.
    await reader.list(get('/tasks'))
    await reader.prove()
    expect((await reader.list(get('/tasks')))?.proven).toBe(false)
    expect(asked).toHaveLength(wanted.length + 2)
  })

  it('takes a shorter list for whole there, since its cap is the same for all', async () => {
    const {reader} = serve({lists: {'/subscriptions': rows(3), '/regions': rows(5)}, ignores: 'offset'})
    await reader.list(get('/subscriptions'))
    await reader.prove()
    await reader.list(get('/regions'))
    await reader.prove()
    expect(await reader.list(get('/subscriptions'))).toMatchObject({proven: true, rows: {length: 3}})
    expect((await reader.list(get('/regions')))?.proven).toBe(false)
  })

  it('asks once whether page one is all there is of a list of one row', async () => {
    const {reader, asked} = serve({lists: {'/subscriptions': rows(1)}, ignores: 'offset and limit'})
    await reader.list(get('/subscriptions'))
    await reader.prove()
    expect(await reader.list(get('/subscriptions'))).toMatchObject({proven: true, rows: {length: 1}})
    expect(asked).toHaveLength(3)
  })

  it('asks again whether a server ignores offsets where that failed', async () => {
    const lists = {'/subscriptions': rows(3)}
    let failures = 1
    const {reader, asked} = open(
      scriptedClient(({path}) =>
        path.includes('offset=1000000') && failures-- > 0 ? {status: 500} : pageOf({lists, ignores: 'offset and limit'}, path),
      ),
    )
    await reader.list(get('/subscriptions'))
    await expect(reader.prove()).rejects.toMatchObject({code: 'E_CLOUD_SERVER'})
    await reader.prove()
    expect((await reader.list(get('/subscriptions')))?.proven).toBe(true)
    expect(asked.filter(it => it.includes('offset=1000000'))).toHaveLength(2)
  })

  it('shows an object once that the API lists twice', async () => {
    const {reader} = serve({lists: {'/subscriptions': [{id: 1}, {id: 2}, {id: 2}]}})
    await reader.list(get('/subscriptions'))
    await reader.prove()
    expect(await reader.list(get('/subscriptions'))).toMatchObject({rows: [{id: 1}, {id: 2}], proven: true})
  })

  it('leaves out a row without an id, and says so', async () => {
    const {reader, warnings} = serve({lists: {'/subscriptions': [{id: 1}, {name: 'lost'}]}})
    expect(await reader.list(get('/subscriptions'))).toMatchObject({rows: [{id: 1}], withoutId: [{name: 'lost'}]})
    expect(warnings).toEqual([{code: 'W_ROW_WITHOUT_ID', message: expect.stringContaining('/subscriptions')}])
  })

  it('keeps a query that the list was asked with', async () => {
    const {reader, asked} = serve({lists: {'/tasks': [{taskId: 'a'}]}})
    await reader.list(get('/tasks?status=processing'))
    expect(asked).toEqual(['GET /tasks?status=processing&limit=1000&offset=0'])
  })

  it('does not remember a failure', async () => {
    const {reader} = open(answering({'GET /subscriptions?limit=1000&offset=0': [{status: 500}, {json: [{id: 1}]}]}))
    await expect(reader.list(get('/subscriptions'))).rejects.toMatchObject({code: 'E_CLOUD_SERVER'})
    expect((await reader.list(get('/subscriptions')))?.rows).toEqual([{id: 1}])
  })
})

describe('a 404 for a whole list', () => {
  it('is an empty list where the subscription stands in the list of this run, without a further request', async () => {
    const {reader, asked} = serve({lists: {'/subscriptions': rows(1)}})
    await reader.list(get('/subscriptions'))
    expect(await reader.list(get('/subscriptions/1/databases'))).toMatchObject({rows: [], proven: true})
    expect(asked).toHaveLength(2)
  })

  it('is told by one read of the subscription where the list of this run lacks it: lists lag behind', async () => {
    const here = {'GET /subscriptions?limit=1000&offset=0': {json: {subscriptions: []}}}
    const client = answering({...here, 'GET /subscriptions/7': {json: {id: 7}}})
    const {reader} = open(client)
    expect(await reader.list(get('/subscriptions'))).toMatchObject({rows: [], proven: true})
    expect(await reader.list(get('/subscriptions/7/databases'))).toMatchObject({rows: [], proven: true})
    expect(await reader.list(get('/subscriptions/8/databases'))).toBeUndefined()
  })

  it.each([
    ['empty', {json: {id: 7}}, {rows: [], withoutId: [], proven: true, proof: 'its parent exists and has none (404)'}],
    ['gone', {status: 404}, undefined],
  ])('is told to be %s by one read of the subscription, where no list tells', async (_, subscription, listing) => {
    const client = answering({'GET /subscriptions/7': subscription})
    const {reader} = open(client)
    expect(await reader.list(get('/subscriptions/7/databases'))).toEqual(listing)
    expect(client.asked).toEqual(['GET /subscriptions/7/databases?limit=1000&offset=0', 'GET /subscriptions/7'])
  })

  it('asks the database about its ACL lists', async () => {
    const client = answering({'GET /subscriptions/7/databases/8': {json: {databaseId: 8}}})
    expect(await open(client).reader.list(get('/subscriptions/7/databases/8/acl/rules'))).toMatchObject({rows: [], proven: true})
    expect(client.asked.at(-1)).toBe('GET /subscriptions/7/databases/8')
  })

  it('is an error at the root: a wrong base address never looks like an empty account', async () => {
    await expect(open(answering({})).reader.list(get('/subscriptions'))).rejects.toMatchObject({code: 'E_CLOUD_NOT_FOUND', exit: 11})
  })
})

describe('an asynchronous list', () => {
  const task = (status: string, more: Json = {}) => ({json: {taskId: 't1', status, response: more}})

  it('is followed to the resource of its task, over reads that do not know the task yet', async () => {
    const client = answering({
      'GET /subscriptions/1/peerings?limit=1000&offset=0': {status: 202, json: {taskId: 't1', status: 'received'}},
      'GET /tasks/t1': [
        {status: 404},
        {status: 404},
        task('processing-in-progress'),
        task('processing-completed', {resource: {peerings: [{vpcPeeringId: 'pcx-1'}]}}),
      ],
    })
    const {reader} = openCloudBackend(client, {clock: systemClock, pollIntervalMs: 1})
    expect((await reader.list(get('/subscriptions/1/peerings')))?.rows).toEqual([{vpcPeeringId: 'pcx-1'}])
    expect(client.asked.filter(it => it === 'GET /tasks/t1')).toHaveLength(4)
  })

  it('gives up on a task that stays unknown after five reads', async () => {
    const client = answering({'GET /subscriptions/1/peerings?limit=1000&offset=0': {status: 202, json: {taskId: 't1'}}})
    const {reader} = openCloudBackend(client, {clock: systemClock, pollIntervalMs: 1})
    await expect(reader.list(get('/subscriptions/1/peerings'))).rejects.toMatchObject({code: 'E_CLOUD_NOT_FOUND'})
    expect(client.asked.filter(it => it === 'GET /tasks/t1')).toHaveLength(6)
  })

  it('says why, when its task fails', async () => {
    const client = answering({
      'GET /subscriptions/1/peerings?limit=1000&offset=0': {status: 202, json: {taskId: 't1'}},
      'GET /tasks/t1': task('processing-error', {error: {type: 'INTERNAL_SERVER_ERROR', status: '500', description: 'broken'}}),
    })
    const {reader} = openCloudBackend(client, {clock: systemClock, pollIntervalMs: 1})
    await expect(reader.list(get('/subscriptions/1/peerings'))).rejects.toMatchObject({
      code: 'E_CLOUD_TASK_FAILED',
      message: 'GET /subscriptions/1/peerings: task t1 failed: broken (INTERNAL_SERVER_ERROR)',
    })
  })
})
