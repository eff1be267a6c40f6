/** Between the secrets of a run and the digests of a ledger: which moved since the last apply, and what to keep of them. */
import type {RandomBytes} from '../base/random.ts'
import type {StackSecrets} from '../engine/apply/ledger-book.ts'
import type {SecretStateOf} from '../engine/model/diff.ts'
import type {Ledger, LedgerEntry} from '../engine/model/ledger.ts'
import {openLeaves} from '../engine/model/resolve.ts'
import {type Key, Secret} from '../engine/model/value.ts'
import type {Paired} from '../engine/observe/observation.ts'
import {entryOf} from '../engine/observe/pair.ts'
import {assumed, createSecretSalt, digestIn, isAssumed, LedgerKeyError, type RecordedSecret, SecretDigests} from './secret-digests.ts'

/** Secrets as they are declared: by address, then by JSON pointer. */
export type DeclaredSecrets = ReadonlyMap<string, ReadonlyMap<string, Secret>>

/** One per ledger salt: a digest made once is not made again. */
export class SecretSealer {
  readonly #key: string | undefined
  readonly #random: RandomBytes
  readonly #bySalt = new Map<string, SecretDigests>()
  readonly #fresh = new Map<string, Promise<string>>()

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

  /**
   * What the ledgers say of every secret a plan is about to compare.
   * @param ledgers - those of other stacks too: an object that moves here is recorded there
   * @throws LedgerKeyError
   */
  async states(ledgers: ReadonlyMap<string, Ledger>, pairs: ReadonlyMap<Key, Paired>): Promise<SecretStateOf> {
    const states = new Map<string, 'same' | 'changed' | 'unknown'>()
    const bySalt = new Map<string, RecordedAt[]>()
    for (const pair of pairs.values()) {
      const {declaration, spec, match} = pair
      const entry = entryOf(ledgers, pair)
      if (entry === undefined) continue
      for (const {pointer, leaf} of openLeaves(spec)) {
        if (!(leaf instanceof Secret)) continue
        // A digest that came with its object from another ledger brought that one's salt.
        const {salt = ledgers.get(match?.owner?.stack ?? declaration.stack)?.secretSalt, digest} = digestIn(entry.secrets[pointer])
        if (salt === undefined) continue
        const fields = bySalt.get(salt) ?? []
        if (fields.length === 0) bySalt.set(salt, fields)
        fields.push({...fieldOf(entry, pointer, leaf), recorded: digest, at: `${declaration.key} ${pointer}`})
      }
    }
    const digestsOverAll = new Map([...ledgers.values()].flatMap(it => (it.secretSalt ? [[it.secretSalt, it.secretsDigest]] : [])))
    for (const [salt, fields] of bySalt) {
      const changed = await this.#digests(salt).changed(fields, digestsOverAll.get(salt))
      // What was only ever taken for equal still is: nobody knows more of it than at first.
      for (const {at, context, recorded} of fields)
        states.set(at, changed.has(context) ? 'changed' : isAssumed(recorded) ? 'unknown' : 'same')
    }
    return (key, pointer) => states.get(`${key} ${pointer}`) ?? this.#unrecorded(ledgers, pairs, key)
  }

  /** A secret field the ledger's entry does not have is new; without an entry nobody can tell. */
  #unrecorded(ledgers: ReadonlyMap<string, Ledger>, pairs: ReadonlyMap<Key, Paired>, key: Key): 'changed' | 'unknown' {
    const pair = pairs.get(key)
    const entry = pair && entryOf(ledgers, pair)
    return entry ? 'changed' : 'unknown'
  }

  /**
   * What a journal keeps of a secret that is about to be sent: it names its own salt, so that it can be compared
   * wherever it travels.
   *
   * @throws LedgerKeyError
   */
  async sentDigest(ledger: Ledger, context: string, secret: Secret): Promise<string> {
    const salt = await this.#saltOf(ledger)
    return `${salt}/${await this.#digests(salt).digest({context, value: secret.value, version: secret.version})}`
  }

  /** Whether this is what was sent; no, where that cannot be told any more. */
  async wasSent(digest: string, context: string, secret: Secret): Promise<boolean> {
    const [salt = '', recorded] = splitOnce(digest, '/')
    try {
      return await this.#digests(salt).isAsRecorded({context, value: secret.value, version: secret.version, recorded})
    } catch (error) {
      if (error instanceof LedgerKeyError) return false
      throw error
    }
  }

  /** Whether the ledger has a digest of this very secret, made when it was sent. */
  async isRecorded({secretSalt}: Ledger, entry: LedgerEntry, pointer: string, secret: Secret): Promise<boolean> {
    const {salt = secretSalt, digest} = digestIn(entry.secrets[pointer])
    if (salt === undefined || digest === undefined || isAssumed(digest)) return false
    return this.#digests(salt).isAsRecorded({...fieldOf(entry, pointer, secret), recorded: digest})
  }

  /**
   * The ledger with digests of these secrets. The digest over all is made where every secret's value is known to be
   * the recorded one.
   *
   * @param secrets - what was sent or taken for equal just now, by address and pointer
   * @param others - what is declared, whatever became of it
   */
  async seal(ledger: Ledger, secrets: StackSecrets, others: DeclaredSecrets): Promise<Ledger> {
    const salt = await this.#saltOf(ledger)
    const digests = this.#digests(salt)
    const entries = new Map(ledger.entries)
    const all: RecordedSecret[] = []
    let complete = true
    for (const [address, entry] of ledger.entries) {
      const known = secrets.get(address)
      const kept: Record<string, string> = {...entry.secrets}
      for (const [pointer, {secret, sent}] of known ?? []) {
        const digest = await digests.digest(fieldOf(entry, pointer, secret))
        kept[pointer] = sent ? digest : assumed(digest)
      }
      if (known) entries.set(address, {...entry, secrets: kept})
      for (const [pointer, recorded] of Object.entries(kept)) {
        const secret = known?.get(pointer)?.secret ?? others.get(address)?.get(pointer)
        const field = secret && {...fieldOf(entry, pointer, secret), recorded}
        // A value that is declared and not there yet would be proven "unchanged" for ever.
        if (field !== undefined && (await digests.isAsRecorded(field))) all.push(field)
        else complete = false
      }
    }
    const {secretsDigest: _, ...rest} = ledger
    const sealed = {...rest, entries, secretSalt: salt}
    return complete && all.some(it => it.version === undefined) ? {...sealed, secretsDigest: await digests.digestAll(all)} : sealed
  }

  /** Of a ledger that has none yet the one it will have. */
  #saltOf({stack, secretSalt}: Ledger): Promise<string> {
    if (secretSalt !== undefined) return Promise.resolve(secretSalt)
    const known = this.#fresh.get(stack) ?? createSecretSalt(this.#random, this.#key)
    this.#fresh.set(stack, known)
    return known
  }
}

function splitOnce(text: string, by: string): readonly [string, string | undefined] {
  const at = text.indexOf(by)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

interface RecordedAt extends RecordedSecret {
  readonly at: string
}

const fieldOf = (entry: LedgerEntry, pointer: string, secret: Secret): RecordedSecret => ({
  context: `${entry.remoteId}${pointer}`,
  value: secret.value,
  version: secret.version,
  recorded: entry.secrets[pointer],
})
