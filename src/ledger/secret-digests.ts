/**
 * What a ledger keeps of a secret: enough to tell that it is still the same, too little to guess it cheaply.
 *
 * Every digest is a scrypt of its own (about 50 ms), so that weak passwords cost an attacker as much as they cost us.
 * To prove that nothing changed, one digest over all secrets is compared instead: one scrypt, however many there are; and
 * to find the one that did, digests over groups of them (`secret-groups.ts`).
 * The salt belongs to the ledger; `SVC_LEDGER_KEY` is mixed in when it is set, and a ledger remembers that it was.
 */
import {createHmac, timingSafeEqual} from 'node:crypto'
import {AppError, EXIT} from '../base/errors.ts'
import {canonicalJson, type Json} from '../base/json.ts'
import type {RandomBytes} from '../base/random.ts'
import {DigestLine, URGENCY, type Urgency} from './digest-line.ts'
import {digestOfRecords, type GroupDigests, groupsAmong, isOfRecords, splitUp, withRecords} from './secret-groups.ts'

const PREFIX = 'scrypt:'
/** Then the salt, a colon and the digest. */
const FOREIGN = 'scrypt@'
const VERSION = 'version:'
/** In front of a digest of what was never sent: an object that was found is taken to have it. */
const ASSUMED = 'assumed:'
const SALT_BYTES = 16
const DIGEST_BYTES = 24
const CHECK_BYTES = 6

export interface SecretField {
  /**
   * What the digest is bound to besides the value, so that equal passwords of two objects look different. Remote path
   * and pointer (`cloud/…/users/9/password`) for what a ledger keeps: an object that only moves to another address
   * keeps its digest.
   */
  readonly context: string
  /** `undefined` only where there is a version. */
  readonly value: Json | undefined
  /** Then the version alone is kept and compared. */
  readonly version?: string | undefined
}

export interface RecordedSecret extends SecretField {
  /** What the ledger has for it; `undefined` when it is new. */
  readonly recorded: string | undefined
}

/** What the ledger has of a secret that was taken for equal and never sent. */
export const assumed = (digest: string): string => `${ASSUMED}${digest}`
export const isAssumed = (recorded: string | undefined): boolean => recorded?.startsWith(ASSUMED) === true
/** Whatever its value is: only the version is kept, and a salt is no part of it. */
export const isVersion = (recorded: string): boolean => bare(recorded).startsWith(VERSION)
/** Whether it is a digest with the ledger's own salt. */
export const isDigest = (recorded: string): boolean => bare(recorded).startsWith(PREFIX)
const bare = (recorded: string): string => (recorded.startsWith(ASSUMED) ? recorded.slice(ASSUMED.length) : recorded)

/** A digest as another ledger keeps it: with the salt it was made with. A version needs none. */
export function digestFrom(salt: string | undefined, digest: string): string {
  const own = bare(digest)
  if (salt === undefined || !own.startsWith(PREFIX)) return digest
  const foreign = `${FOREIGN}${salt}:${own.slice(PREFIX.length)}`
  return isAssumed(digest) ? assumed(foreign) : foreign
}

/** What a ledger keeps of a secret, and whose salt it was made with where that is not the ledger's own. */
export function digestIn(recorded: string | undefined): {readonly salt?: string; readonly digest: string | undefined} {
  const own = recorded === undefined ? '' : bare(recorded)
  if (!own.startsWith(FOREIGN)) return {digest: recorded}
  const [salt = '', digest = ''] = own.slice(FOREIGN.length).split(':')
  return {salt, digest: isAssumed(recorded) ? assumed(`${PREFIX}${digest}`) : `${PREFIX}${digest}`}
}

/** The ledger's digests were made with another key. */
export class LedgerKeyError extends AppError {
  constructor(isSet: boolean) {
    super(
      isSet
        ? 'SVC_LEDGER_KEY is not the key this ledger was written with.'
        : 'This ledger was written with an SVC_LEDGER_KEY, and none is set.',
      {
        code: 'E_LEDGER_KEY',
        exit: EXIT.usage,
        suggestions: ['Set SVC_LEDGER_KEY to the key the last apply had. Without it nobody can tell which secrets changed.'],
      },
    )
  }
}

/**
 * A salt for a new ledger; with a key it carries a check of it.
 *
 * @param key - the value of `SVC_LEDGER_KEY`; empty counts as not set
 */
export async function createSecretSalt(random: RandomBytes, key?: string, line = new DigestLine()): Promise<string> {
  const salt = Buffer.from(random(SALT_BYTES)).toString('base64url')
  return key ? `${salt}.${await keyCheck(salt, key, line)}` : salt
}

/** A secret of which a ledger has a digest, and whether its value is known to be the one that was recorded. */
export interface Sealed extends RecordedSecret {
  readonly recorded: string
  readonly isKnown: boolean
}

export class SecretDigests {
  readonly #salt: string
  readonly #check: string | undefined
  readonly #key: string
  readonly #line: DigestLine
  readonly #made = new Map<string, Promise<string>>()
  /** Fields the digest over all has proven to be as recorded. */
  readonly #proven = new Set<string>()
  #checked: Promise<void> | undefined

  /**
   * Costs nothing until the first digest.
   *
   * @param salt - of `createSecretSalt`
   * @param key - the value of `SVC_LEDGER_KEY`; ignored by a ledger that began without one (see `isKeyUnused`)
   * @param line - shared by all digests of a process
   */
  constructor(salt: string, key = '', line = new DigestLine()) {
    this.#line = line
    const [plain = '', check] = salt.split('.')
    this.#salt = plain
    this.#check = check
    this.#key = check === undefined ? '' : key
    this.isKeyUnused = check === undefined && key !== ''
  }

  /** There is a key now and there was none when the ledger began: a new salt and new digests would mix it in. */
  readonly isKeyUnused: boolean

  /**
   * What to keep of one secret.
   *
   * @throws LedgerKeyError
   */
  async digest({context, value, version}: SecretField, urgency: Urgency = URGENCY.asked): Promise<string> {
    if (version !== undefined) return `${VERSION}${version}`
    await this.#verifyKey()
    return this.#scrypt(['field', context, value ?? null], urgency)
  }

  /**
   * One digest over several secrets and over what is kept of each, so that it stops being valid when either changes.
   * The order of the fields means nothing; versioned ones are no part of it.
   *
   * @throws LedgerKeyError
   */
  async digestAll(fields: readonly RecordedSecret[]): Promise<string> {
    await this.#verifyKey()
    return withRecords(await this.#scrypt(allOf(fields), URGENCY.asked), recordsIn(fields))
  }

  /**
   * Which secrets are not what was recorded. One scrypt when none is; else one for each group on the way to those that
   * moved, and for each secret beside them. A new field, or one that went from a version to a value or back, counts as
   * changed and costs nothing.
   *
   * @param recordedAll - the ledger's digests over all and over groups, made of the recorded ones among `fields`
   * @returns their contexts
   * @throws LedgerKeyError
   */
  async changed(fields: readonly RecordedSecret[], recordedAll: GroupDigests = new Map()): Promise<ReadonlySet<string>> {
    const moved = new Set<string>()
    const digested: RecordedSecret[] = []
    for (const field of fields) {
      const recorded = field.recorded === undefined ? undefined : bare(field.recorded)
      if (field.version === undefined && recorded?.startsWith(PREFIX)) digested.push(field)
      else if (field.version === undefined || recorded !== `${VERSION}${field.version}`) moved.add(field.context)
    }
    for (const {context} of await this.#moved(digested, recordedAll, '')) moved.add(context)
    return moved
  }

  /** Those of a group that are not as recorded. */
  async #moved(fields: readonly RecordedSecret[], groups: GroupDigests, group: string): Promise<readonly RecordedSecret[]> {
    if (fields.every(it => this.#isProven(it))) return []
    const kept = digestOfRecords(groups.get(group), recordsIn(fields))
    if (kept !== undefined && isSame(await this.#overAll(fields), kept)) {
      for (const field of fields) this.prove(field)
      return []
    }
    const isSplit = [...groups.keys()].some(it => it.length > group.length && it.startsWith(group))
    const parts = isSplit
      ? [...splitUp(fields, group)].map(([name, part]) => this.#moved(part, groups, name))
      : fields.map(async field => ((await this.isAsRecorded(field)) ? [] : [field]))
    return (await Promise.all(parts)).flat()
  }

  async #overAll(fields: readonly RecordedSecret[]): Promise<string> {
    await this.#verifyKey()
    return this.#scrypt(allOf(fields), URGENCY.asked)
  }

  /**
   * What to keep over several of a ledger's secrets. What was made of the same records stays, whatever is known of the
   * values; the rest is made where every value is known to be the recorded one.
   *
   * @param sealed - all of which the ledger has a digest
   * @param former - what it has over several of them
   * @param make - else nothing new is made: that costs, and this is not the end
   */
  async overGroups(sealed: readonly Sealed[], former: GroupDigests, make: boolean): Promise<GroupDigests> {
    const kept = [...groupsAmong(sealed)].map(async ([group, members]): Promise<readonly (readonly [string, string])[]> => {
      const known = former.get(group)
      if (known !== undefined && isOfRecords(known, members)) return [[group, known]]
      return make && members.every(it => it.isKnown) ? [[group, await this.digestAll(members)]] : []
    })
    return new Map((await Promise.all(kept)).flat())
  }

  /** The value of this one is known to be the recorded one: it was sent, or is covered by a digest that holds. */
  prove(field: RecordedSecret): void {
    this.#proven.add(this.#idOf(field))
  }

  #isProven(field: RecordedSecret): boolean {
    return this.#proven.size > 0 && this.#proven.has(this.#idOf(field))
  }

  /**
   * Whether this value is the one that was recorded; costs nothing where `changed` has found out already.
   *
   * @throws LedgerKeyError
   */
  async isAsRecorded(field: RecordedSecret): Promise<boolean> {
    const {recorded} = field
    return recorded !== undefined && (this.#isProven(field) || isSame(await this.digest(field), bare(recorded)))
  }

  #idOf({context, value, recorded = ''}: RecordedSecret): string {
    return hmac(this.#key, canonicalJson([context, value, recorded]))
  }

  /** Once, before the first digest; a wrong key would make every secret look changed. */
  #verifyKey(): Promise<void> {
    this.#checked ??= (async () => {
      if (this.#check === undefined) return
      if (this.#key === '' || !isSame(await keyCheck(this.#salt, this.#key, this.#line), this.#check))
        throw new LedgerKeyError(this.#key !== '')
    })()
    return this.#checked
  }

  #scrypt(input: Json, urgency: Urgency): Promise<string> {
    const text = hmac(this.#key, canonicalJson(input))
    const made = this.#made.get(text) ?? this.#line.scrypt(text, this.#salt, DIGEST_BYTES, urgency).then(digest => `${PREFIX}${digest}`)
    this.#made.set(text, made)
    return made
  }
}

/** Of what a digest over several is made: a version is no part of it. */
export const recordsIn = (fields: readonly RecordedSecret[]) =>
  fields.filter(it => it.version === undefined).map(({context, recorded = ''}) => ({context, recorded}))

const allOf = (fields: readonly RecordedSecret[]): Json => [
  'all',
  ...fields
    .filter(({version}) => version === undefined)
    .map(({context, value = null, recorded = ''}): Json => [context, value, recorded])
    .map(canonicalJson)
    .sort(),
]

const hmac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('base64url')

/** Few bits of the key, behind a scrypt: enough to notice a wrong one. */
const keyCheck = (salt: string, key: string, line: DigestLine): Promise<string> =>
  line.scrypt(hmac(key, 'key check'), salt, CHECK_BYTES, URGENCY.asked)

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
