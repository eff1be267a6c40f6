/** Rows of a list that show less than their objects do. What is read by its id, and what wins where both say something. */
import {describe, expect, it} from 'vitest'
import {cloudDatabase} from '../../../src/backends/cloud/kinds/database.ts'
import {clusterDatabase} from '../../../src/backends/cluster/kinds/database.ts'
import type {JsonObject} from '../../../src/base/json.ts'
import type {Backend} from '../../../src/engine/model/backend.ts'
import type {Kind} from '../../../src/engine/model/kind.ts'
import {type Collection, liveObject} from '../../../src/engine/model/live.ts'
import {wholeRows} from '../../../src/engine/observe/whole-rows.ts'

/** A list with these rows, of an API whose objects show `own` by their ids; `undefined`: gone meanwhile. */
function listed(
  rows: readonly JsonObject[],
  own: Readonly<Record<string, JsonObject | undefined>>,
  {kind = clusterDatabase, used = 0}: {kind?: Kind; used?: number} = {},
) {
  const asked: string[] = []
  const backend = {
    spending: {used},
    reader: {
      read: ({path}: {readonly path: string}) => {
        asked.push(path)
        return Promise.resolve(own[path.split('/').at(-1) ?? ''])
      },
    },
  } as unknown as Backend
  const parent = kind.parent === undefined ? [] : ['1']
  const objects = rows.flatMap(it => liveObject(kind, parent, it) ?? [])
  const collection = {backend, kind, objects} as unknown as Collection
  return {asked, look: () => wholeRows([collection])}
}

const row = (uid: number, more: JsonObject = {}): JsonObject => ({uid, name: `db-${uid}`, memory_size: 100, ...more})

describe('rows that show what every object has, and nothing more', () => {
  it('cost one look at one of them where its own answer shows no more', async () => {
    const {asked, look} = listed([row(1), row(2)], {1: row(1)})
    expect((await look()).objects.map(it => it.fields)).toEqual([row(1), row(2)])
    expect(asked).toEqual(['/v1/bdbs/1'])
  })

  it('are all read by their ids where the first one shows more, and their own answers win', async () => {
    const own = {1: row(1, {replication: true, memory_size: 200}), 2: row(2, {replication: false})}
    const {asked, look} = listed([row(1), row(2)], own)
    const found = await look()
    expect(asked).toEqual(['/v1/bdbs/1', '/v1/bdbs/2'])
    expect(found.objects.map(it => it.fields)).toEqual([own[1], own[2]])
    // As they were seen first, so that what was changed in between is seen to differ.
    expect(found.facts.map(it => it.fields)).toEqual([{...own[1], memory_size: 100}, own[2]])
  })

  it('whose objects are gone by then are said to be', async () => {
    const {look} = listed([row(1), row(2)], {1: row(1, {replication: true})})
    const {objects, vanished} = await look()
    expect([objects.map(it => it.remoteId), vanished.map(it => it.remoteId)]).toEqual([['cluster/bdbs/1'], ['cluster/bdbs/2']])
  })
})

describe('rows that show nothing but what every object has to have', () => {
  const bare = [1, 2].map(id => ({databaseId: id, name: `db-${id}`, memoryLimitInGb: 1}))
  const asked = async (used: number) => {
    const {asked, look} = listed(bare, {1: {...bare[0], port: 12_000}, 2: bare[1]}, {kind: cloudDatabase, used})
    expect((await look()).objects).toHaveLength(2)
    return asked
  }

  it('may leave out what was not set: they are read where the lists cost little, and believed where they cost much', async () => {
    expect(await asked(24)).toEqual(['/subscriptions/1/databases/1', '/subscriptions/1/databases/2'])
    expect(await asked(25)).toEqual([])
  })
})

describe('rows that leave nothing out', () => {
  it('differ in what they show, and cost no request', async () => {
    const {asked, look} = listed([row(1), row(2, {replication: true})], {})
    expect([(await look()).objects.length, asked]).toEqual([2, []])
  })

  it('show what is nested, and cost no request', async () => {
    const rows = [1, 2].map(id => ({databaseId: id, name: `db-${id}`, memoryLimitInGb: 1, modules: [{name: 'search'}]}))
    const {asked, look} = listed(rows, {}, {kind: cloudDatabase})
    expect([(await look()).objects.length, asked]).toEqual([2, []])
  })
})
