import {describe, expect, it} from 'vitest'
import {clusterNode} from '../../../../src/backends/cluster/kinds/node.ts'
import {clusterPolicy} from '../../../../src/backends/cluster/kinds/policy.ts'
import {clusterSettings} from '../../../../src/backends/cluster/kinds/settings.ts'
import {clusterUser} from '../../../../src/backends/cluster/kinds/user.ts'
import {ruleAt} from '../../../../src/engine/model/field-rules.ts'
import {idOf} from '../../../../src/engine/model/kind.ts'

describe('cluster settings and policy', () => {
  it('warn of every change, since it is the whole cluster that changes', () => {
    expect(ruleAt(clusterSettings, '/name').risk?.('a', 'b')).toBe('changes the whole cluster')
    expect(ruleAt(clusterPolicy, '/any/*/thing').risk?.(1, 2)).toBe('changes the defaults of the whole cluster')
  })

  it('hide the license', () => {
    expect(ruleAt(clusterSettings, '/license').secret).toBe(true)
  })
})

describe('a cluster node', () => {
  it('is found by its uid, a number or digits', () => {
    const {key} = clusterNode.identity
    expect([key({uid: 1}), idOf(clusterNode, {uid: '1'}), idOf(clusterNode, {rack_id: 'a'})]).toEqual(['1', '1', undefined])
    expect(clusterNode.spec.safeParse({rack_id: 'a'}).success).toBe(false)
  })
})

describe('a cluster user', () => {
  it('is found by its name, and its id is read in either spelling', () => {
    const {key} = clusterUser.identity
    expect([key({name: 'ops'}), idOf(clusterUser, {uid: 4}), idOf(clusterUser, {id: '4'})]).toEqual(['ops', '4', '4'])
  })

  it('has a password that never comes back', () => {
    expect(ruleAt(clusterUser, '/password').writeOnly).toBe(true)
  })
})
