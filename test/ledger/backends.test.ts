/** What holds for every place a ledger may be kept in; a new one is measured by the same. */
import {describe, expect, it} from 'vitest'
import {systemClock} from '../../src/base/clock.ts'
import type {JsonObject} from '../../src/base/json.ts'
import {systemRandom} from '../../src/base/random.ts'
import {locationOf} from '../../src/ledger/backends/open-ledger.ts'
import {backendOf, fileOf, LEDGER_BACKENDS, ledgerLocation} from '../../src/ledger/backends/registry.ts'

const BLOCKS: Readonly<Record<string, JsonObject>> = {
  local: {path: 'state/shop.tfstate'},
  http: {address: 'https://state.example/shop', lock_address: 'https://state.example/lock', unlock_address: 'https://state.example/lock'},
}

it('each is tried here', () => {
  expect(Object.keys(BLOCKS).sort()).toEqual([...LEDGER_BACKENDS.keys()].sort())
})

describe.each([...LEDGER_BACKENDS])('a ledger in a backend %s', (type, backend) => {
  const problems: string[] = []
  const reading = {stack: 'shop', say: (it: string) => problems.push(it), warn: (it: string) => problems.push(it)}
  const block = BLOCKS[type] ?? {}

  it('is read from its block into a location that a plan may have, and that names its backend', () => {
    const location = backend.read(block, reading)
    expect([problems, backendOf(location)]).toEqual([[], backend])
    expect(ledgerLocation.parse(JSON.parse(JSON.stringify(location)))).toEqual(location)
    expect(ledgerLocation.safeParse({...location, more: 1}).success).toBe(false)
  })

  it('has one place, whether its stack or another one names it', () => {
    expect(backend.place(backend.read(block, reading))).toBe(backend.remoteState(block))
  })

  it('is opened as a store of that place, which is remote unless it is a file', () => {
    const location = backend.read(block, reading)
    const store = backend.open(location, {
      stack: 'shop',
      folder: '/stacks',
      environment: {},
      transport: () => () => Promise.reject(new Error('nothing is sent')),
      clock: systemClock,
      random: systemRandom,
      pid: 1,
      host: 'here',
      user: 'who',
      version: '1',
      notice: text => problems.push(text),
    })
    expect([store.isRemote, problems]).toEqual([fileOf(location) === undefined, []])
  })
})

it.each([
  ['state/shop.tfstate', 'local'],
  ['https://state.example/shop', 'http'],
])('%s on a command line is a ledger in a backend %s', (text, type) => {
  expect(locationOf(text).type).toBe(type)
})
