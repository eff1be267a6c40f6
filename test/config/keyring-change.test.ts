import {describe, expect, it} from 'vitest'
import type {Keyring} from '../../src/config/keyring.ts'
import {type KeyringUndo, undoText, withKeyringEntries} from '../../src/config/keyring-change.ts'

/** A keyring that refuses what the test says. */
function keyring(entries: Record<string, string> = {}, refuses: (doing: string) => boolean = () => false) {
  const held = new Map(Object.entries(entries))
  const check = (doing: string) => {
    if (refuses(doing)) throw new Error(`refused: ${doing}`)
  }
  const store: Keyring = {
    get: async name => held.get(name),
    set: async (name, secret) => {
      check(`set ${name}=${secret}`)
      held.set(name, secret)
    },
    remove: async name => {
      check(`remove ${name}`)
      return held.delete(name)
    },
  }
  return {store, held: () => Object.fromEntries(held)}
}

const fails = () => Promise.reject(new Error('the disk is full'))

describe('a change of keyring and file', () => {
  it('gives every entry back what it held when the file cannot be written', async () => {
    const {store, held} = keyring({'lab.password': 'old', other: 'mine'})
    const told: KeyringUndo[] = []
    const secrets = {'lab.password': 'new', 'lab.files_api_key': 'key'}
    await expect(withKeyringEntries(store, secrets, fails, undo => told.push(undo))).rejects.toThrow('the disk is full')
    expect(held()).toEqual({'lab.password': 'old', other: 'mine'})
    expect(told).toEqual([{undone: ['lab.password', 'lab.files_api_key'], left: []}])
  })

  it('stores nothing when the keyring takes one secret and refuses the next', async () => {
    const {store, held} = keyring({}, doing => doing.startsWith('set b'))
    const written: string[] = []
    const change = withKeyringEntries(
      store,
      {a: '1', b: '2'},
      async () => written.push('file'),
      () => undefined,
    )
    await expect(change).rejects.toThrow('refused: set b=2')
    expect([held(), written]).toEqual([{}, []])
  })

  it('names what the keyring would not give up again', async () => {
    const {store} = keyring({}, doing => doing.startsWith('remove'))
    const told: string[] = []
    await expect(withKeyringEntries(store, {'lab.password': 'new'}, fails, undo => told.push(undoText(undo)))).rejects.toThrow()
    expect(told).toEqual([
      'The keyring still holds what was stored as "lab.password" (service "svcctl"), and would not give it up: remove it there.',
    ])
  })
})
