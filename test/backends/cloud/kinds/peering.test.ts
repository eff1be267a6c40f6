import {describe, expect, it} from 'vitest'
import {cloudPeering} from '../../../../src/backends/cloud/kinds/peering.ts'
import {diffFields} from '../../../../src/engine/model/diff.ts'

const declared = {provider: 'AWS', region: 'us-east-1', awsAccountId: '123456789012', vpcId: 'vpc-1', vpcCidr: '10.0.0.0/24'}
const matches = (live: Record<string, string | number>, spec: Record<string, string> = declared) =>
  cloudPeering.identity.matches(spec, cloudPeering.normalize(live))

describe('a peering', () => {
  it('is found by what it connects, in the spelling of the answer, with the provider missing', () => {
    expect(matches({vpcPeeringId: 1, regionName: 'us-east-1', vpcUid: 'vpc-1', awsAccountId: '123456789012', vpcCidr: '10.0.0.0/24'})).toBe(
      true,
    )
    expect(matches({id: 1, provider: 'aws', region: 'us-east-1', vpcId: 'vpc-1', awsAccountId: 123456789012})).toBe(true)
  })

  it('is another one when a declared field differs', () => {
    expect(matches({id: 1, regionName: 'us-east-1', vpcUid: 'vpc-2'})).toBe(false)
    expect(matches({id: 1, regionName: 'eu-west-1', vpcUid: 'vpc-1'})).toBe(false)
  })

  it('is not taken for another network in the same region by a row that shows no more', () => {
    expect(matches({id: 1, regionName: 'us-east-1', status: 'active'})).toBe(false)
    expect(matches({id: 1, regionName: 'us-east-1'}, {region: 'us-east-1'})).toBe(true)
  })

  it('is named by what it connects', () => {
    expect(cloudPeering.identity.key(declared)).toBe('us-east-1 vpc-1 10.0.0.0/24')
    expect(cloudPeering.identity.key({provider: 'AWS'})).toBeUndefined()
  })

  it('is replaced whatever changes, with a warning', () => {
    const live = cloudPeering.normalize({id: 1, regionName: 'us-east-1', vpcUid: 'vpc-2'})
    const found = diffFields({kind: cloudPeering, declared, live, ignore: [], secretState: () => 'same'})
    expect(found.immutable).toEqual(['/vpcId'])
    expect(found.changes).toEqual([
      {
        path: '/vpcId',
        before: 'vpc-2',
        after: 'vpc-1',
        risk: 'the peering is replaced: traffic through it stops until the new one is accepted',
        moved: 'unknown',
      },
    ])
  })

  it('counts as created while it waits to be accepted, and has failed when it was refused', () => {
    const states = ['active', 'inactive', 'pending-acceptance', 'initiating-request', 'failed', 'rejected']
    expect(states.map(status => cloudPeering.ready({status}))).toEqual(['ready', 'ready', 'ready', 'waiting', 'failed', 'failed'])
  })
})
