/** Between the secrets of a run and the digests of a ledger: which moved since the last apply, and what to keep of them. */
import type {RandomBytes} from '../base/random.ts'
import type {Ledger, LedgerEntry} from '../engine/ledger.ts'
import type {StackSecrets} from '../engine/ledger-book.ts'
import type {SecretStateOf} from '../engine/make-plan.ts'
import type {Paired} from '../engine/observe.ts'
import {openLeaves} from '../engine/resolve.ts'
import {type Key, Secret} from '../engine/value.ts'
import {createSecretSalt, type RecordedSecret, SecretDigests} from './secret-digests.ts'

/** One per ledger salt: a digest made once is not made again. */
export class SecretSealer {
  readonly #key: string | undefined
  readonly #random: RandomBytes
  readonly #bySalt = new Map<string, SecretDigests>()

  /** @param key - the value of `SVC_LEDGER_KEY` */
  constructor(random: RandomBytes, key?: string) {
    this.#random = random
    this.#key = key
  }

  #digests(salt: string): SecretDigests {
    const known = this.#bySalt.get(salt) ?? new SecretDigests(salt, this.#key)
    this.#bySalt.set(salt, known)
    return known
  }

  /** What the ledgers say of every secret a plan is about to compare. @throws LedgerKeyError */
  async states(ledgers: ReadonlyMap<string, Ledger>, pairs: ReadonlyMap<Key, Paired>): Promise<SecretStateOf> {
    const states = new Map<string, 'same' | 'changed'>()
    for (const [stack, ledger] of ledgers) {
      if (ledger.secretSalt === undefined) continue
      const fields: (RecordedSecret & {readonly at: string})[] = []
      for (const {declaration, match, spec} of pairs.values()) {
        const entry = declaration.stack === stack ? ledger.entries.get(match?.formerAddress ?? declaration.address) : undefined
        if (entry === undefined) continue
        for (const {pointer, leaf} of openLeaves(spec)) {
          if (leaf instanceof Secret) fields.push({...fieldOf(entry, pointer, leaf), at: `${declaration.key} ${pointer}`})
        }
      }
      const changed = await this.#digests(ledger.secretSalt).changed(fields, ledger.secretsDigest)
      for (const {at, context} of fields) states.set(at, changed.has(context) ? 'changed' : 'same')
    }
    return (key, pointer) => states.get(`${key} ${pointer}`) ?? this.#unrecorded(ledgers, pairs, key)
  }

  /** A secret field the ledger's entry does not have is new; without an entry nobody can tell. */
  #unrecorded(ledgers: ReadonlyMap<string, Ledger>, pairs: ReadonlyMap<Key, Paired>, key: Key): 'changed' | 'unknown' {
    const pair = pairs.get(key)
    const entry = pair && ledgers.get(pair.declaration.stack)?.entries.get(pair.match?.formerAddress ?? pair.declaration.address)
    return entry ? 'changed' : 'unknown'
  }

  /**
   * The ledger with digests of these secrets. The digest over all is made where every secret's value is known.
   *
   * @param secrets - what was applied just now, by address and pointer
   * @param others - what is declared and was not touched
   */
  async seal(ledger: Ledger, secrets: StackSecrets, others: StackSecrets): Promise<Ledger> {
    const salt = ledger.secretSalt ?? (await createSecretSalt(this.#random, this.#key))
    const digests = this.#digests(salt)
    const entries = new Map(ledger.entries)
    const all: RecordedSecret[] = []
    let complete = true
    for (const [address, entry] of ledger.entries) {
      const applied = secrets.get(address)
      const kept: Record<string, string> = applied ? {} : {...entry.secrets}
      for (const [pointer, secret] of applied ?? []) kept[pointer] = await digests.digest(fieldOf(entry, pointer, secret))
      if (applied) entries.set(address, {...entry, secrets: kept})
      const values = applied ?? others.get(address)
      for (const [pointer, recorded] of Object.entries(kept)) {
        const secret = values?.get(pointer)
        if (secret === undefined) complete = false
        else all.push({...fieldOf(entry, pointer, secret), recorded})
      }
    }
    const {secretsDigest: _, ...rest} = ledger
    const sealed = {...rest, entries, secretSalt: salt}
    return complete && all.some(it => it.version === undefined) ? {...sealed, secretsDigest: await digests.digestAll(all)} : sealed
  }
}

const fieldOf = (entry: LedgerEntry, pointer: string, secret: Secret): RecordedSecret => ({
  context: `${entry.remoteId}${pointer}`,
  value: secret.value,
  version: secret.version,
  recorded: entry.secrets[pointer],
})
