/** Servers that spell names their own way: what is made is found again, and never made twice. */
import {describe, expect, it} from 'vitest'
import type {JsonObject} from '../../../src/base/json.ts'
import type {Backend, Listing, Reader} from '../../../src/engine/model/backend.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const spelled = (row: JsonObject): JsonObject => (typeof row.name === 'string' ? {...row, name: row.name.trim().toLowerCase()} : row)

/** Backends that show names in lower case, and without the spaces around them; or otherwise. */
function spelling(lab: Lab, mode: 'plan' | 'full', show = spelled) {
  const backends = lab.backends(mode)
  const known = new Map<Backend, Backend>()
  const bend = (backend: Backend): Backend => {
    const {reader} = backend
    const own: Reader = {
      list: async (request, options) => {
        const listing: Listing | undefined = await reader.list(request, options)
        return listing && {...listing, rows: listing.rows.map(it => show(it))}
      },
      prove: options => reader.prove(options),
      read: async (request, options) => {
        const row = await reader.read(request, options)
        return row && show(row)
      },
      forget: path => reader.forget(path),
    }
    return new Proxy(backend, {get: (target, name) => (name === 'reader' ? own : Reflect.get(target, name, target))})
  }
  return (stack: string, api: 'cloud' | 'cluster') => {
    const backend = backends(stack, api)
    const it = known.get(backend) ?? bend(backend)
    known.set(backend, it)
    return it
  }
}

const apply = (lab: Lab, stack: StackBuilder, show = spelled) => {
  const plan = spelling(lab, 'plan', show)
  return lab.apply([stack], {backendOf: plan, used: () => plan('', 'cloud').spending.used, run: {backendOf: spelling(lab, 'full', show)}})
}

const stack = (name: string) => stackOf().subscription('before').database('other', 'before').subscription('main', {name})

describe('a server that writes names in small letters', () => {
  it('is said to do so, with the name to declare, and makes nothing twice', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const first = await apply(lab, stack(' Main'))
      expect(first.residual).toMatchObject([
        {address: 'null_resource.main', fields: [{path: '/name', before: 'main', diagnosis: 'normalised'}]},
      ])
      expect(first.residual[0]?.fields[0]?.advice).toContain('declare it as the server spells it: "main"')
      lab.simulator.clearLog()
      await apply(lab, stack(' Main'))
      expect(lab.writes.filter(it => it.startsWith('POST'))).toEqual([])
      lab.simulator.clearLog()
      const done = await apply(lab, stack('main'))
      expect([done.residual, lab.writes.filter(it => it.startsWith('POST'))]).toEqual([[], []])
    })
  })

  it('and does not say what it has made: the wait for it says what is called almost like it', async () => {
    const lab = new Lab({simulator: {cloud: {taskResourceId: false}}})
    await lab.run(async () => {
      const {ended} = await apply(lab, stackOf().subscription('main', {name: 'Main'}))
      const error = ended[0]?.error
      expect(error).toMatchObject({code: 'E_OPERATION_TIMEOUT'})
      expect(error?.message).toContain('its list shows "main" (cloud/subscriptions/1): the server may have changed the name')
      expect(error?.suggestions[0]).toContain('declare its name as the server spells it: "main"')
    })
  })
})

describe('a server that leaves most of a peering out of what it shows', () => {
  it('is believed when it says which one it has made', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const sparse = ({vpcUid: _, vpcId: _vpc, vpcCidr: _cidr, vpcCidrs: _cidrs, awsAccountId: _account, ...row}: JsonObject) => row
      const {summary} = await apply(lab, stackOf().subscription('main').peering('office', 'main'), sparse)
      expect([summary.done, summary.unknown, lab.entry('shop', 'office')?.remoteId]).toEqual([2, 0, 'cloud/subscriptions/1/peerings/pcx-1'])
    })
  })
})
