import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {openCloudBackend} from '../../src/backends/cloud/backend.ts'
import {systemClock} from '../../src/base/clock.ts'
import {pagedServer} from './paged-server.ts'

const rowsOf = (length: number, from = 1) => Array.from({length}, (_, i) => ({id: from + i}))
const idsOf = (rows: readonly {id?: unknown}[] | undefined) => (rows ?? []).map(it => Number(it.id)).sort((a, b) => a - b)

/** Fisher and Yates, from a small generator of its own. */
function shuffler(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  return <T>(rows: readonly T[]): T[] => {
    const out = [...rows]
    for (let i = out.length - 1; i > 0; i--) {
      const j = Math.floor(next() * (i + 1))
      const [a, b] = [out[i], out[j]]
      if (a !== undefined && b !== undefined) [out[i], out[j]] = [b, a]
    }
    return out
  }
}

async function readAll(client: ReturnType<typeof pagedServer>, paths: readonly string[]) {
  const cloud = openCloudBackend(client, {clock: systemClock})
  await Promise.all(paths.map(path => cloud.reader.list({method: 'GET', path})))
  await cloud.reader.prove()
  return Promise.all(paths.map(path => cloud.reader.list({method: 'GET', path})))
}

describe('a list that is called whole', () => {
  it('has every row, whatever the length, the cap, the refused limits, the order and the end of the pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          lengths: fc.array(fc.oneof(fc.nat({max: 12}), fc.nat({max: 260})), {minLength: 1, maxLength: 5}),
          cap: fc.option(fc.oneof(fc.integer({min: 1, max: 5}), fc.integer({min: 1, max: 150})), {nil: undefined}),
          refuseAbove: fc.option(fc.integer({min: 100, max: 999}), {nil: undefined}),
          pastEnd: fc.constantFrom('empty' as const, '404' as const),
          seed: fc.option(fc.integer(), {nil: undefined}),
        }),
        async ({lengths, cap, refuseAbove, pastEnd, seed}) => {
          const lists = Object.fromEntries(lengths.map((length, i) => [`/subscriptions/${i}/databases`, rowsOf(length)]))
          const client = pagedServer({
            lists,
            pastEnd,
            ...(cap === undefined ? {} : {cap}),
            ...(refuseAbove === undefined ? {} : {refuseAbove}),
            ...(seed === undefined ? {} : {order: shuffler(seed)}),
          })
          const paths = Object.keys(lists)
          const listings = await readAll(client, paths)
          for (const [i, path] of paths.entries()) {
            const listing = listings[i]
            // A list in an order that changes with each answer may stay unproven, and then nobody may rely on it.
            if (seed === undefined) expect(listing?.proven).toBe(true)
            if (listing?.proven) expect(idsOf(listing.rows)).toEqual(idsOf(lists[path] as {id: number}[]))
          }
        },
      ),
      {numRuns: 300},
    )
  })

  it('is whole too where the server ignores limit and offset and always answers page one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({max: 40}), {minLength: 1, maxLength: 5}),
        fc.option(fc.integer(), {nil: undefined}),
        async (lengths, seed) => {
          const lists = Object.fromEntries(lengths.map((length, i) => [`/subscriptions/${i}/databases`, rowsOf(length)]))
          const client = pagedServer({lists, ignores: 'offset and limit', ...(seed === undefined ? {} : {order: shuffler(seed)})})
          const listings = await readAll(client, Object.keys(lists))
          for (const [i, length] of lengths.entries()) expect(listings[i]).toMatchObject({proven: true, rows: {length}})
          // One request a list, one proof for each of the longest, and one to be sure that offsets are ignored.
          expect(client.asked.length).toBeLessThanOrEqual(2 * lengths.length + 1)
        },
      ),
      {numRuns: 200},
    )
  })

  it('is none where the server looks at limit and not at offset, and may have cut it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({max: 12}), {minLength: 1, maxLength: 5}),
        fc.integer({min: 1, max: 12}),
        fc.option(fc.integer(), {nil: undefined}),
        async (lengths, cap, seed) => {
          const lists = Object.fromEntries(lengths.map((length, i) => [`/subscriptions/${i}/databases`, rowsOf(length)]))
          const client = pagedServer({lists, cap, ignores: 'offset', ...(seed === undefined ? {} : {order: shuffler(seed)})})
          const listings = await readAll(client, Object.keys(lists))
          for (const [i, length] of lengths.entries()) if (listings[i]?.proven) expect(listings[i]?.rows).toHaveLength(length)
        },
      ),
      {numRuns: 300},
    )
  })

  it('never lacks a row that was there all along, when rows come and go between the pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({min: 1, max: 40}),
        // Pages of one row cannot overlap, and so cannot tell.
        fc.integer({min: 2, max: 12}),
        fc.array(fc.record({after: fc.integer({min: 1, max: 8}), at: fc.nat({max: 40}), add: fc.boolean()}), {maxLength: 4}),
        async (length, cap, edits) => {
          const lists = {'/subscriptions': rowsOf(length)}
          const gone = new Set<number>()
          const server = pagedServer({lists, cap})
          let requests = 0
          const client = {
            ...server,
            call: async (...args: Parameters<typeof server.call>) => {
              const result = await server.call(...args)
              requests++
              for (const {at, add} of edits.filter(it => it.after === requests)) {
                const rows = [...lists['/subscriptions']]
                if (add) rows.splice(at % (rows.length + 1), 0, {id: 1000 + requests})
                else for (const row of rows.splice(at % Math.max(1, rows.length), 1)) gone.add(row.id)
                lists['/subscriptions'] = rows
              }
              return result
            },
          }
          const [listing] = await readAll(client, ['/subscriptions'])
          if (!listing?.proven) return
          const known = new Set(idsOf(listing.rows))
          const stayed = rowsOf(length)
            .map(it => it.id)
            .filter(id => !gone.has(id))
          expect(stayed.filter(id => !known.has(id))).toEqual([])
        },
      ),
      {numRuns: 500},
    )
  })
})
