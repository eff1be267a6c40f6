/** The file of accepted drift: read with care, since it excuses what would be said otherwise, and written a field at a time. */
import {hostname} from 'node:os'
import {resolve} from 'node:path'
import {kinds} from '../../backends/kinds.ts'
import {writeFileAtomicSync} from '../../base/atomic-file.ts'
import {JsonBoundsError, parseJson} from '../../base/bounded-json.ts'
import {editLockOf, withEditLock} from '../../base/edit-lock.ts'
import {AppError, EXIT, type Problem} from '../../base/errors.ts'
import {fileAt} from '../../base/file-place.ts'
import type {Json} from '../../base/json.ts'
import {judge} from '../../base/judge.ts'
import {NamedFileError} from '../../base/named-file.ts'
import {formatPointer, parsePointer, valueAt} from '../../base/pointer.ts'
import {holderState, type LockHolder, processIdentityOf} from '../../base/process-lock.ts'
import {maskSecrets} from '../../base/secret-fields.ts'
import {shellWord} from '../../base/shell-word.ts'
import {isAbsent} from '../../base/system-code.ts'
import {UsageError} from '../../base/usage-error.ts'
import {readWholeFileSync} from '../../base/whole-file.ts'
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import {
  BASELINE_FORMAT,
  type BaselineEntry,
  baselineSchema,
  type DriftBaseline,
  MAX_ACCEPTED_DAYS,
  withEntries,
} from '../../engine/model/drift-baseline.ts'
import {ruleAt} from '../../engine/model/field-rules.ts'
import type {Kind} from '../../engine/model/kind.ts'
import type {Ledger} from '../../engine/model/ledger.ts'
import {holdsMark} from '../../engine/model/shown-field.ts'
import {type Key, keyOf} from '../../engine/model/value.ts'
import type {MeantEntry} from '../../engine/plan/accepted-drift.ts'
import type {Host} from '../host/host.ts'
import {readNamedInput} from '../host/named-input.ts'
import type {Workspace} from '../workspace/workspace.ts'

/** Where `drift accept` writes when nobody says. */
export const USUAL_BASELINE = 'drift-baseline.json'

const DAY_MS = 86_400_000
const MAX_BASELINE_BYTES = 16 * 2 ** 20

/** A baseline that is none, or says what no baseline may. Nothing was read of the world, and nothing written. */
export class BaselineError extends AppError {
  constructor(file: string, problems: readonly Problem[], cause?: unknown) {
    super(
      [`${file} is no baseline of drift:`, ...problems.map(it => `${it.address === undefined ? '' : `${it.address}: `}${it.message}`)].join(
        '\n',
      ),
      {
        lines: true,
        code: 'E_BASELINE',
        exit: EXIT.usage,
        problems,
        suggestions: [
          `Correct or take out what is named above: ${file} is JSON, and schemas/baseline.schema.json describes it.`,
          'What has drifted without it: svcctl drift',
        ],
        cause,
      },
    )
  }
}

/** Somebody else is writing it, and does not come to an end. */
export class BaselineLockedError extends AppError {
  constructor(file: string, holder: LockHolder | undefined) {
    const who =
      holder === undefined ? `${editLockOf(file)} cannot be read` : `process ${holder.pid} on ${holder.host}, since ${holder.since}`
    super(`${file} was not changed: another process is writing it (${who})`, {
      code: 'E_BASELINE_LOCKED',
      exit: EXIT.locked,
      suggestions: ['Run the command again when that process has ended.', `If it is gone for good: rm ${shellWord(editLockOf(file))}`],
    })
  }
}

/** What addresses can mean: everything that is declared, and what the ledgers have. */
export interface BaselineObjects {
  /** All of the app. */
  readonly stacks: readonly StackDeclarations[]
  readonly ledgers: ReadonlyMap<string, Ledger>
}

export const knownTo = (workspace: Workspace): BaselineObjects => ({
  stacks: [...workspace.stacks, ...workspace.others],
  ledgers: workspace.allLedgers,
})

type Input = Parameters<typeof readNamedInput>[0]

/** @throws UsageError when it cannot be read, BaselineError */
export async function readBaseline(input: Input, file: string, now: number): Promise<DriftBaseline> {
  const {text, name} = await readNamedInput(input, {option: '--baseline', file, maxBytes: MAX_BASELINE_BYTES})
  return parseBaseline(text, name, now)
}

function parseBaseline(text: string, name: string, now: number): DriftBaseline {
  let document: Json
  try {
    document = parseJson(text)
  } catch (error) {
    throw new BaselineError(name, [{message: error instanceof JsonBoundsError ? error.message : 'it is not JSON'}], error)
  }
  const {success, data: baseline, error} = judge(baselineSchema, document)
  if (!success) {
    const addressOf = (at: readonly PropertyKey[]) => valueAt(document, ['entries', String(at[1]), 'address'])
    throw new BaselineError(
      name,
      error.issues.map(({path: at, message, code}): Problem => {
        const address = at[0] === 'entries' && at.length > 1 ? addressOf(at) : undefined
        const place = formatPointer(at.map(String))
        const missing = code === 'invalid_type' && valueAt(document, at.map(String)) === undefined
        return {
          ...(typeof address === 'string' ? {address} : {}),
          path: place,
          message: `${place === '' ? 'it' : place} ${missing ? 'is not there' : message}`,
        }
      }),
      error,
    )
  }
  const late = baseline.entries.filter(it => Date.parse(it.until) > now + MAX_ACCEPTED_DAYS * DAY_MS)
  if (late.length > 0)
    throw new BaselineError(
      name,
      late.map(it => tooLong(it)),
    )
  return baseline
}

const tooLong = ({address, until}: Pick<BaselineEntry, 'address' | 'until'>): Problem => ({
  address,
  message: `is accepted until ${until}, and nothing may be for more than ${MAX_ACCEPTED_DAYS} days from now`,
})

/**
 * Which objects the entries mean.
 * @throws BaselineError for addresses that nothing has, and for secrets
 */
export function meantBy({entries}: DriftBaseline, file: string, known: BaselineObjects): MeantEntry[] {
  const addresses = new Addresses(known)
  const meant = entries.map(entry => ({entry, keys: addresses.meantBy(entry.address)}))
  const problems = meant.flatMap(({entry, keys}): Problem[] => {
    const {address, path, value} = entry
    if (keys.size === 0) return [{address, message: 'no declared or owned object has this name'}]
    const secret = value !== undefined && [...keys].some(key => isSecretField(addresses.kindOf(key), path, value))
    return secret ? [{address, path, message: `${path} is a secret, and its value stands in the file: say "any": true in its place`}] : []
  })
  if (problems.length > 0) throw new BaselineError(file, problems)
  return meant
}

/** Addresses as a file spells them: with or without a stack, and as they were before a move. */
class Addresses {
  readonly #kinds = new Map<Key, string>()
  readonly #stacks: BaselineObjects['stacks']
  readonly #names: ReadonlySet<string>

  constructor({stacks, ledgers}: BaselineObjects) {
    this.#stacks = stacks
    this.#names = new Set([...stacks.map(it => it.name), ...ledgers.keys()])
    for (const {key, kind} of stacks.flatMap(it => it.declarations)) this.#kinds.set(key, kind)
    for (const [stack, {entries}] of ledgers) for (const {address, kind} of entries.values()) this.#kinds.set(keyOf(stack, address), kind)
  }

  kindOf(key: Key): Kind | undefined {
    return kinds.get(this.#kinds.get(key) ?? '')
  }

  meantBy(address: string): ReadonlySet<Key> {
    const keys = [...this.#names].flatMap(stack => [keyOf(stack, address), ...(address.startsWith(`${stack}:`) ? [address] : [])])
    const moved = this.#stacks.flatMap(({name, moved}) =>
      moved.flatMap(({from, to}) =>
        keys.flatMap(key => {
          const was = keyOf(name, from)
          return key === was || key.startsWith(`${was}[`) ? [`${keyOf(name, to)}${key.slice(was.length)}`] : []
        }),
      ),
    )
    return new Set([...keys, ...moved].filter(key => this.#kinds.has(key)))
  }
}

/** Whether a field, or something in what it has, must not be shown. */
export function isSecretField(kind: Kind | undefined, path: string, value: Json): boolean {
  const segments = parsePointer(path)
  if (kind !== undefined) {
    const {secret, writeOnly} = ruleAt(kind, formatPointer(segments.map(it => (/^\d+$/.test(it) ? '*' : it))))
    if (secret || writeOnly) return true
  }
  if (holdsMark(value)) return true
  // By the names of the fields on the way, too.
  const within = segments.reduceRight((inner: Json, name) => ({[name]: inner}), value)
  return JSON.stringify(maskSecrets(within)) !== JSON.stringify(within)
}

/** Puts entries into the file, in place of those for the same fields. @param check - of the whole, before anything is written */
export async function writeEntries(
  host: Host,
  file: string,
  entries: readonly BaselineEntry[],
  check: (baseline: DriftBaseline) => void,
): Promise<void> {
  const {clock, random, wallClock} = host
  await withEditLock(
    {
      file: resolve(host.cwd, file),
      clock,
      random,
      process: processIdentityOf(hostname(), process.pid),
      stateOf: holder => holderState(holder, hostname()),
    },
    {
      who: 'drift accept',
      placeOf: fileAt,
      locked: (_, holder) => new BaselineLockedError(file, holder),
      unwritable: (_, cause) => (cause instanceof AppError ? cause : new NamedFileError(file, cause)),
    },
    (target, assertHeld) => {
      const before = existing(target, file)
      const baseline: DriftBaseline =
        before === undefined ? {format: BASELINE_FORMAT, entries: []} : parseBaseline(before, file, wallClock.now())
      const after = withEntries(baseline, entries)
      check(after)
      assertHeld()
      try {
        writeFileAtomicSync(target, `${JSON.stringify(after, null, 2)}\n`, {mode: SHARED_MODE})
      } catch (error) {
        throw new NamedFileError(file, error)
      }
    },
  )
}

/** It belongs into the repository, like the code beside it. */
const SHARED_MODE = 0o644

function existing(target: string, file: string): string | undefined {
  try {
    return readWholeFileSync(target, MAX_BASELINE_BYTES).toString()
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw new UsageError(`--baseline ${file} cannot be read`, ['Check the path.'], error)
  }
}
