import {describe, expect, it} from 'vitest'
import {type ExactJson, stringifyExactJson} from '../../src/base/lossless-json.ts'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {paginate} from '../../src/passthrough/paginate.ts'
import {rawVoice} from '../../src/passthrough/raw-voice.ts'
import type {ApiClient} from '../../src/transport/api-client.ts'
import {answering, type Scripted, scriptedClient} from '../backends/scripted-client.ts'

async function rowsOf(path: string, client: ApiClient) {
  const rows: string[] = []
  const onRow = async (row: ExactJson) => void rows.push(stringifyExactJson(row))
  const voice = rawVoice({deployment: 'cloud', path})
  const done = await paginate(path, {client, voice, clock: new VirtualClock(), pollIntervalMs: 1_000, timeoutMs: 10_000, onRow})
  expect(done.rows).toBe(rows.length)
  return {rows, proof: done.proof}
}

/** A server of so many rows that cuts every page at a cap of its own. */
const capped = (count: number, cap: number) =>
  scriptedClient(({path}): Scripted => {
    const query = new URL(path, 'http://x').searchParams
    const [offset, limit] = [Number(query.get('offset')), Math.min(cap, Number(query.get('limit')))]
    return {json: Array.from({length: count}, (_, i) => ({id: i + 1})).slice(offset, offset + limit)}
  })

describe('a list that is read to its end', () => {
  it('has each of its rows once and in its order, whatever cap the server has', async () => {
    const client = capped(7, 3)
    const {rows, proof} = await rowsOf('/subscriptions', client)
    expect(rows).toEqual([1, 2, 3, 4, 5, 6, 7].map(id => `{"id":${id}}`))
    expect(proof).toBe('a page without a new row')
    expect(client.asked[0]).toBe('GET /subscriptions?limit=1000&offset=0')
  })

  it('keeps what else is asked of it, and takes a limit for the size of its pages', async () => {
    const client = capped(3, 100)
    await rowsOf('/subscriptions?fields=id&limit=2', client)
    expect(client.asked.slice(0, 2)).toEqual([
      'GET /subscriptions?fields=id&limit=2&offset=0',
      'GET /subscriptions?fields=id&limit=2&offset=1',
    ])
  })

  it.each(['offset=5', 'limit=0', 'limit=many', 'limit=12345678'])('refuses %s before anything is sent', async query => {
    const client = answering({})
    await expect(rowsOf(`/subscriptions?${query}`, client)).rejects.toMatchObject({code: 'E_PAGING_QUERY', exit: 64})
    expect(client.asked).toEqual([])
  })

  it('keeps every digit of its numbers, and no secret', async () => {
    const text = '[{"id":1,"bytes":12345678901234567890,"password":"hunter2"}]'
    const {rows} = await rowsOf(
      '/subscriptions',
      scriptedClient(({path}) => (path.endsWith('=0') ? {text} : {json: []})),
    )
    expect(rows).toEqual([expect.stringContaining('"bytes":12345678901234567890')])
    expect(rows.join()).not.toContain('hunter2')
  })

  it('is a list, and nothing else: an object has no pages', async () => {
    const client = scriptedClient(() => ({json: {name: 'one'}}))
    await expect(rowsOf('/subscriptions/1', client)).rejects.toMatchObject({code: 'E_NOT_A_LIST', exit: 64})
  })

  it('that answers 404 is empty where its parent is there, and is an error where that is gone, too', async () => {
    const parent = answering({'GET /subscriptions/1': {json: {id: 1}}})
    expect(await rowsOf('/subscriptions/1/databases', parent)).toMatchObject({rows: [], proof: expect.stringContaining('404')})
    await expect(rowsOf('/subscriptions/1/databases', answering({}))).rejects.toMatchObject({exit: 11})
  })

  it('that is answered by a task is read from what that task made', async () => {
    const task = {taskId: 't1', status: 'completed', response: {resource: [{id: 1}]}}
    const client = scriptedClient(({path}) => {
      if (path.startsWith('/tasks/')) return {json: task}
      return path.endsWith('offset=0') ? {status: 202, json: {taskId: 't1', status: 'processing'}} : {json: []}
    })
    expect((await rowsOf('/subscriptions', client)).rows).toEqual(['{"id":1}'])
  })
})
