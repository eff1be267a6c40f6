/**
 * What a ledger keeps of a secret: enough to tell that it is still the same, too little to guess it cheaply.
 *
 * Every digest is a scrypt of its own (about 50 ms), so that weak passwords cost an attacker as much as they cost us.
 * To prove that nothing changed, one digest over all secrets is compared instead: one scrypt, however many there are.
 * The salt belongs to the ledger; `SVC_LEDGER_KEY` is mixed in when it is set, and a ledger remembers that it was.
 */
import {createHmac, scrypt, timingSafeEqual} from 'node:crypto'
import {AppError, EXIT} from '../base/errors.ts'
import {canonicalJson, type Json} from '../base/json.ts'
import type {RandomBytes} from '../base/random.ts'

/** 16 MiB and about 50 ms each; a change of these needs a new prefix. */
const COST = {N: 16_384, r: 8, p: 1}
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
export async function createSecretSalt(random: RandomBytes, key?: string): Promise<string> {
  const salt = Buffer.from(random(SALT_BYTES)).toString('base64url')
  return key ? `${salt}.${await keyCheck(salt, key)}` : salt
}

export class SecretDigests {
  readonly #salt: string
  readonly #check: string | undefined
  readonly #key: string
  readonly #made = new Map<string, Promise<string>>()
  /** Fields the digest over all has proven to be as recorded. */
  readonly #proven = new Set<string>()
  #checked: Promise<void> | undefined

  /**
   * Costs nothing until the first digest.
   *
   * @param salt - of `createSecretSalt`
   * @param key - the value of `SVC_LEDGER_KEY`; ignored by a ledger that began without one (see `isKeyUnused`)
   */
  constructor(salt: string, key = '') {
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
  async digest({context, value, version}: SecretField): Promise<string> {
    if (version !== undefined) return `${VERSION}${version}`
    await this.#verifyKey()
    return this.#scrypt(['field', context, value ?? null])
  }

  /**
   * One digest over all secrets and over what is kept of each, so that it stops being valid when either changes.
   * The order of the fields means nothing; versioned ones are no part of it.
   *
   * @throws LedgerKeyError
   */
  async digestAll(fields: readonly RecordedSecret[]): Promise<string> {
    await this.#verifyKey()
    return this.#scrypt(allOf(fields))
  }

  /**
   * Which secrets are not what was recorded. One scrypt when none is; else one for each that has a digest.
   * A new field, or one that went from a version to a value or back, counts as changed and costs nothing.
   *
   * @param recordedAll - the ledger's digest over all, made of the recorded ones among `fields`
   * @returns their contexts
   * @throws LedgerKeyError
   */
  async changed(fields: readonly RecordedSecret[], recordedAll?: string): Promise<ReadonlySet<string>> {
    const moved = new Set<string>()
    const digested: RecordedSecret[] = []
    for (const field of fields) {
      const recorded = field.recorded === undefined ? undefined : bare(field.recorded)
      if (field.version === undefined && recorded?.startsWith(PREFIX)) digested.push(field)
      else if (field.version === undefined || recorded !== `${VERSION}${field.version}`) moved.add(field.context)
    }
    if (digested.length === 0) return moved
    if (recordedAll !== undefined && isSame(await this.digestAll(digested), recordedAll)) {
      for (const field of digested) this.#proven.add(this.#idOf(field))
      return moved
    }
    await Promise.all(
      digested.map(async field => {
        if (!(await this.isAsRecorded(field))) moved.add(field.context)
      }),
    )
    return moved
  }

  /**
   * Whether this value is the one that was recorded; costs nothing where `changed` has found out already.
   *
   * @throws LedgerKeyError
   */
  async isAsRecorded(field: RecordedSecret): Promise<boolean> {
    const {recorded} = field
    return recorded !== undefined && (this.#proven.has(this.#idOf(field)) || isSame(await this.digest(field), bare(recorded)))
  }

  #idOf({context, value, recorded = ''}: RecordedSecret): string {
    return hmac(this.#key, canonicalJson([context, value, recorded]))
  }

  /** Once, before the first digest; a wrong key would make every secret look changed. */
  #verifyKey(): Promise<void> {
    this.#checked ??= (async () => {
      if (this.#check === undefined) return
      if (this.#key === '' || !isSame(await keyCheck(this.#salt, this.#key), this.#check)) throw new LedgerKeyError(this.#key !== '')
    })()
    return this.#checked
  }

  #scrypt(input: Json): Promise<string> {
    const text = hmac(this.#key, canonicalJson(input))
    const made = this.#made.get(text) ?? derive(text, this.#salt, DIGEST_BYTES).then(digest => `${PREFIX}${digest}`)
    this.#made.set(text, made)
    return made
  }
}

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
const keyCheck = (salt: string, key: string): Promise<string> => derive(hmac(key, 'key check'), salt, CHECK_BYTES)

const derive = (text: string, salt: string, bytes: number): Promise<string> =>
  new Promise((resolve, reject) => {
    scrypt(text, salt, bytes, COST, (error, digest) => (error ? reject(error) : resolve(digest.toString('base64url'))))
  })

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
