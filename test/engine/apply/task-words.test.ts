import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {TaskWords} from '../../../src/engine/apply/task-words.ts'
import {defineKind, type Kinds} from '../../../src/engine/model/kind.ts'

const words = new TaskWords(kinds)

describe('what a task is about', () => {
  it.each([
    ['databaseCreateRequest', 'cloud.database', true],
    ['databaseCreateRequest', 'cloud.subscription', false],
    ['databaseCreateRequest', 'cloud.acl_user', false],
    ['aclUserCreateRequest', 'cloud.acl_user', true],
    ['ACL_RULE_CREATE', 'cloud.acl_rule', true],
    ['subscriptionPeeringRequest', 'cloud.peering', true],
    ['subscriptionPeeringRequest', 'cloud.subscription', true],
    ['regionMigration', 'cloud.database', true],
    [undefined, 'cloud.database', true],
  ])('%s may be about a %s: %s', (commandType, kind, may) => {
    expect(words.concerns({...(commandType === undefined ? {} : {commandType})}, kind)).toBe(may)
  })

  it.each([
    ['databaseCreateRequest', true],
    ['databaseImportRequest', true],
    ['vpcPeeringRequest', true],
    ['vpcPeeringDeleteRequest', false],
    ['databaseUpdateRequest', false],
    ['subscriptionDeleteRequest', false],
    ['peeringsGetRequest', false],
    ['ACL_RULES_GET', false],
    [undefined, true],
  ])('%s may be a create: %s', (commandType, may) => {
    expect(words.creates({...(commandType === undefined ? {} : {commandType})})).toBe(may)
  })

  it.each([
    ['databasesGetRequest', true],
    ['GetDatabases', true],
    ['ACL_RULES_LIST', true],
    ['databaseUpdateRequest', false],
    ['vpcPeeringRequest', false],
    ['targetCreateRequest', false],
    [undefined, false],
  ])('%s is a read: %s', (commandType, is) => {
    expect(words.reads({...(commandType === undefined ? {} : {commandType})})).toBe(is)
  })

  it('is said by the kinds: one that is new is told from the others by its own words', () => {
    const [database] = [...kinds.values()].filter(it => it.name === 'cloud.database')
    if (database === undefined) throw new Error('there is no such kind')
    const backup = defineKind({...database, name: 'cloud.vault', taskWords: ['vault']})
    const more: Kinds = new Map([...kinds, [backup.name, backup]])
    expect(new TaskWords(more).concerns({commandType: 'vaultCreateRequest'}, 'cloud.database')).toBe(false)
    expect(new TaskWords(more).concerns({commandType: 'vaultCreateRequest'}, 'cloud.vault')).toBe(true)
  })
})
