import {APIS} from '../../base/apis.ts'
import {stackOf} from '../model/journal.ts'
import type {LiveObject} from '../model/live.ts'
import type {AccountOf} from '../model/ownership.ts'
import type {Key} from '../model/value.ts'

/** What is known of the objects while the run goes on: ids and live fields other operations read. */
export class Objects {
  readonly #accountOf: AccountOf
  readonly #remote = new Map<Key, string>()
  /** By account and remote path: two clusters may each have a `cluster/bdbs/3`. */
  readonly #keys = new Map<string, Key>()
  readonly #live = new Map<Key, LiveObject>()
  readonly #inline = new Set<string>()

  constructor(accountOf: AccountOf = () => '') {
    this.#accountOf = accountOf
  }

  set(key: Key, remoteId: string, live?: LiveObject): void {
    this.#remote.set(key, remoteId)
    this.#keys.set(this.#at(key, remoteId), key)
    if (live) this.#live.set(key, live)
  }

  /** Whether it is known as the object of something else: no create has made it. */
  isAnothers(key: Key, remoteId: string): boolean {
    const owner = this.#keys.get(this.#at(key, remoteId))
    return owner !== undefined && owner !== key
  }

  remoteId(key: Key): string | undefined {
    return this.#remote.get(key)
  }

  live(key: Key): LiveObject | undefined {
    return this.#live.get(key)
  }

  /** What the create of `key` made along with it. */
  setInline(key: Key, kind: string, names: readonly string[]): void {
    for (const name of names) this.#inline.add(`${key} ${kind} ${name}`)
  }

  madeInline(key: Key, kind: string, name: string): boolean {
    return this.#inline.has(`${key} ${kind} ${name}`)
  }

  #at(key: Key, remoteId: string): string {
    const api = APIS.find(it => remoteId.startsWith(`${it}/`))
    return `${api === undefined ? '' : this.#accountOf(stackOf(key), api)} ${remoteId}`
  }
}
