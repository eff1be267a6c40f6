/** Between the secrets of a run and the digests of a ledger: which moved since the last apply, and what to keep of them. */
import type {RandomBytes} from '../base/random.ts'
import type {StackSecrets} from '../engine/apply/ledger-book.ts'
import type {KnownSecret} from '../engine/apply/sent-secrets.ts'
import type {SecretStateOf} from '../engine/model/diff.ts'
import type {Ledger, LedgerEntry} from '../engine/model/ledger.ts'
import {openLeaves} from '../engine/model/resolve.ts'
import {type Key, Secret} from '../engine/model/value.ts'
import type {Paired} from '../engine/observe/observation.ts'
import {entryOf} from '../engine/observe/pair.ts'
import {DigestLine, URGENCY} from './digest-line.ts'
import {
  assumed,
  createSecretSalt,
  digestIn,
  isAssumed,
  isDigest,
  LedgerKeyError,
  type RecordedSecret,
  recordsIn,
  type Sealed,
  SecretDigests,
} from './secret-digests.ts'
import {type GroupDigests, groupDigestsOf, groupsAmong, isOfRecords, overSeveral} from './secret-groups.ts'

/** Secrets as they are declared: by address, then by JSON pointer. */
export type DeclaredSecrets = ReadonlyMap<string, ReadonlyMap<string, Secret>>

/** One per ledger salt: a digest made once is not made again. */
export class SecretSealer {
  readonly #key: string | undefined
  readonly #random: RandomBytes
  readonly #line: DigestLine
  readonly #bySalt = new Map<string, SecretDigests>()
  readonly #fresh = new Map<string, Promise<string>>()

  /** @param key - the value of `SVC_LEDGER_KEY` */
  constructor(random: RandomBytes, key?: string, line = new DigestLine()) {
    this.#line = line
    this.#random = random
    this.#key = key
  }

  #digests(salt: string): SecretDigests {
    const known = this.#bySalt.get(salt) ?? new SecretDigests(salt, this.#key, this.#line)
    this.#bySalt.set(salt, known)
    return known
  }

  /**
   * What the ledgers say of every secret a plan is about to compare.
   * @param ledgers - those of other stacks too: an object that moves here is recorded there
   * @param ahead - before the live state is read: digests are made only where these are all the secrets of a ledger, so that what
   *   is asked for then is made already, and never waits for what nobody asks for
   * @throws LedgerKeyError
   */
  async states(ledgers: ReadonlyMap<string, Ledger>, pairs: ReadonlyMap<Key, Paired>, ahead = false): Promise<SecretStateOf> {
    const states = new Map<string, 'same' | 'changed' | 'unknown'>()
    const bySalt = new Map<string, RecordedAt[]>()
    for (const pair of pairs.values()) {
      const {declaration, spec, match} = pair
      const entry = entryOf(ledgers, pair)
      if (entry === undefined) continue
      for (const {pointer, leaf} of openLeaves(spec)) {
        if (!(leaf instanceof Secret)) continue
        const ledger = match?.owner?.stack ?? declaration.stack
        // A digest that came with its object from another ledger brought that one's salt.
        const {salt = ledgers.get(ledger)?.secretSalt, digest} = digestIn(entry.secrets[pointer])
        if (salt === undefined) continue
        const fields = bySalt.get(salt) ?? []
        if (fields.length === 0) bySalt.set(salt, fields)
        fields.push({...fieldOf(entry, pointer, leaf), recorded: digest, at: `${declaration.key} ${pointer}`, ledger})
      }
    }
    const compare = async ([salt, all]: readonly [string, readonly RecordedAt[]]) => {
      const parts = partsOf(
        all,
        [...ledgers.values()].filter(it => it.secretSalt === salt),
      )
      await Promise.all(parts.map(({fields, over}) => compareWith(salt, fields, over)))
    }
    const compareWith = async (salt: string, fields: readonly RecordedAt[], over: GroupDigests) => {
      if (ahead && !isOfRecords(over.get(''), recordsIn(fields))) return
      const changed = await this.#digests(salt).changed(fields, over)
      // What was only ever taken for equal still is: nobody knows more of it than at first.
      for (const {at, context, recorded} of fields)
        states.set(at, changed.has(context) ? 'changed' : isAssumed(recorded) ? 'unknown' : 'same')
    }
    await Promise.all([...bySalt].map(compare))
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
    return `${salt}/${await this.#digests(salt).digest({context, value: secret.value, version: secret.version}, URGENCY.sending)}`
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

  /** Begins the digests that a ledger will need of an object, while the run waits for other things; `seal` finds them made. */
  ahead(ledger: Ledger, entry: LedgerEntry, secrets: ReadonlyMap<string, KnownSecret>): void {
    const begin = async () => {
      const digests = this.#digests(await this.#saltOf(ledger))
      await Promise.all([...secrets].map(([pointer, {secret}]) => digests.digest(fieldOf(entry, pointer, secret), URGENCY.sent)))
    }
    // Whoever seals hears of a failure.
    void begin().catch(() => {})
  }

  /**
   * The ledger with digests of these secrets. Those over several are made where every secret's value is known to be the
   * recorded one, and stay where nothing they are made of has changed.
   *
   * @param secrets - what was sent or taken for equal just now, by address and pointer
   * @param others - what is declared, whatever became of it
   * @param closing - `false` while the run goes on: what is over several is left to the end
   */
  async seal(ledger: Ledger, secrets: StackSecrets, others: DeclaredSecrets, {closing = true} = {}): Promise<Ledger> {
    const salt = await this.#saltOf(ledger)
    const digests = this.#digests(salt)
    const entries = new Map(ledger.entries)
    await Promise.all(
      [...secrets].map(async ([address, known]) => {
        const entry = ledger.entries.get(address)
        if (entry !== undefined) entries.set(address, {...entry, secrets: {...entry.secrets, ...(await recordsOf(digests, entry, known))}})
      }),
    )
    const secretAt = (address: string, pointer: string) => secrets.get(address)?.get(pointer)?.secret ?? others.get(address)?.get(pointer)
    const former = groupDigestsOf(ledger)
    const sealed = await this.#compared(digests, recordedIn(entries.values(), secretAt), former, closing)
    const {secretsDigest: _all, secretGroups: _groups, ...rest} = ledger
    return {...rest, entries, secretSalt: salt, ...overSeveral(await digests.overGroups(sealed, former, closing))}
  }

  /** A value that is declared and not there yet would be proven "unchanged" for ever: each is compared with what is recorded. */
  async #compared(digests: SecretDigests, recorded: readonly RecordedField[], former: GroupDigests, closing: boolean): Promise<Sealed[]> {
    const isMade = closing && [...groupsAmong(recorded)].some(([group, members]) => !isOfRecords(former.get(group), members))
    const given = isMade ? recorded.filter(it => it.value !== undefined) : []
    const moved = await digests.changed(given, former)
    const known = new Set(given.flatMap(it => (moved.has(it.context) ? [] : it.context)))
    return recorded.map(it => ({...it, isKnown: known.has(it.context)}))
  }

  /** Of a ledger that has none yet the one it will have. */
  #saltOf({stack, secretSalt}: Ledger): Promise<string> {
    if (secretSalt !== undefined) return Promise.resolve(secretSalt)
    const known = this.#fresh.get(stack) ?? createSecretSalt(this.#random, this.#key, this.#line)
    this.#fresh.set(stack, known)
    return known
  }
}

function splitOnce(text: string, by: string): readonly [string, string | undefined] {
  const at = text.indexOf(by)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** What a ledger is to keep of an object's secrets. Those that were sent are the recorded ones from here on. */
async function recordsOf(
  digests: SecretDigests,
  entry: LedgerEntry,
  known: ReadonlyMap<string, KnownSecret>,
): Promise<LedgerEntry['secrets']> {
  const kept = [...known].map(async ([pointer, {secret, sent}]) => {
    const field = fieldOf(entry, pointer, secret)
    const digest = await digests.digest(field)
    const recorded = sent ? digest : assumed(digest)
    digests.prove({...field, recorded})
    return [pointer, recorded] as const
  })
  return Object.fromEntries(await Promise.all(kept))
}

interface RecordedField extends RecordedSecret {
  readonly recorded: string
}

/** All of which a ledger has a digest with its own salt, with their values where those are known. */
function recordedIn(
  entries: Iterable<LedgerEntry>,
  secretAt: (address: string, pointer: string) => Secret | undefined,
): readonly RecordedField[] {
  return [...entries].flatMap(entry =>
    Object.entries(entry.secrets).flatMap(([pointer, recorded]) => {
      if (!isDigest(recorded)) return []
      const secret = secretAt(entry.address, pointer)
      return [{context: `${entry.remoteId}${pointer}`, value: secret?.version === undefined ? secret?.value : undefined, recorded}]
    }),
  )
}

interface RecordedAt extends RecordedSecret {
  readonly at: string
  /** The stack whose ledger has it. */
  readonly ledger: string
}

/**
 * What the digests over several are to be compared for. Ledgers may have one salt together, since what is moved to a new
 * one takes it along: either one has the digest of all, made before they moved, or each has one of its own.
 */
function partsOf(fields: readonly RecordedAt[], ledgers: readonly Ledger[]): {fields: readonly RecordedAt[]; over: GroupDigests}[] {
  const overs = new Map(ledgers.map(it => [it.stack, groupDigestsOf(it)]))
  const whole = [...overs.values()].find(it => isOfRecords(it.get(''), recordsIn(fields)))
  if (whole !== undefined || overs.size <= 1) return [{fields, over: whole ?? [...overs.values()][0] ?? new Map()}]
  const parts = new Map<string, RecordedAt[]>()
  for (const field of fields) {
    const part = parts.get(field.ledger) ?? []
    if (part.length === 0) parts.set(field.ledger, part)
    part.push(field)
  }
  return [...parts].map(([ledger, part]) => ({fields: part, over: overs.get(ledger) ?? new Map()}))
}

const fieldOf = (entry: LedgerEntry, pointer: string, secret: Secret): RecordedSecret => ({
  context: `${entry.remoteId}${pointer}`,
  value: secret.value,
  version: secret.version,
  recorded: entry.secrets[pointer],
})
