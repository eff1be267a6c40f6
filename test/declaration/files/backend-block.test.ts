import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {stackDocument} from '../../../src/declaration/files/stack-document.ts'
import {readStacks} from '../../../src/declaration/read/read-stacks.ts'
import {givenValues} from '../../../src/declaration/read/variables.ts'
import {messagesOf} from '../read/read-stack.ts'

const said = (backend: Record<string, string>): string => saidOf({http: {address: 'https://state.example/shop', ...backend}})

const saidOf = (backend: Record<string, Record<string, string>>): string => {
  const text = JSON.stringify({terraform: {backend}})
  const documents = [stackDocument('shop', undefined, [{name: 'a.tf.json', shown: 'a.tf.json', text}])]
  const given = givenValues({environment: {}, files: [], commandLine: []})
  return messagesOf(() => readStacks({documents, kinds, given, mode: 'plan', selected: new Set(['shop'])})).join('\n')
}

describe('an address of a state server in a stack', () => {
  it.each(['address', 'lock_address', 'unlock_address'])('holds no credential: %s', name => {
    for (const address of [
      'https://user:t0ken-1@state.example/x',
      'https://t0ken-1@state.example/x',
      'https://state.example/x?token=t0ken-1',
    ]) {
      const message = said({[name]: address})
      expect(message).toContain(`${name} of the backend http holds a secret`)
      expect(message).not.toContain('t0ken-1')
    }
  })
})

describe('a place of a ledger in a stack', () => {
  it.each(['local', 'http'])('has no NUL character, which ends a path: %s', type => {
    const name = type === 'local' ? 'path' : 'address'
    expect(saidOf({[type]: {[name]: 'https://a\0b/c'}})).toContain(`${name} of the backend ${type} has a NUL character in it`)
  })
})
