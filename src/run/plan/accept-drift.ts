/** `drift accept`: what of an object is otherwise than it was applied is written into a baseline. */
import {kinds} from '../../backends/kinds.ts'
import {parseDeadline} from '../../base/deadline.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {parsePointer, valueAt} from '../../base/pointer.ts'
import {shellWord} from '../../base/shell-word.ts'
import {UsageError} from '../../base/usage-error.ts'
import {actorOf} from '../../config/actor.ts'
import {type BaselineEntry, MAX_ACCEPTED_DAYS} from '../../engine/model/drift-baseline.ts'
import type {LedgerEntry} from '../../engine/model/ledger.ts'
import {pointerFault, shortPointer} from '../../engine/model/pointer-schema.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import {UnknownAddressError} from '../../engine/observe/choice.ts'
import {namedObjects, Words} from '../../engine/observe/selector.ts'
import type {Host} from '../host/host.ts'
import {reasonIn} from '../host/said.ts'
import type {Workspace} from '../workspace/workspace.ts'
import {readDrift} from './drift.ts'
import {isSecretField, knownTo, meantBy, writeEntries} from './drift-baseline.ts'

/** The value of a field must not be shown, so that it cannot stand in a file that people share. */
export class SecretInBaselineError extends AppError {
  constructor(fields: readonly {readonly key: Key; readonly path: string}[]) {
    const [first] = fields
    super(`${fields.map(it => `${it.key}#${it.path}`).join(', ')}: a secret, and a baseline holds none`, {
      code: 'E_BASELINE_SECRET',
      exit: EXIT.usage,
      problems: fields.map(({key: address, path}) => ({address, path, message: 'is a secret, whose value cannot stand in a baseline'})),
      suggestions: [`Accept whatever it has: svcctl drift accept ${shellWord(`${first?.key ?? ''}#${first?.path ?? ''}`)} --any …`],
    })
  }
}

export interface AcceptWish {
  /** As they were typed: `null_resource.cache`, `shop/cache#/memoryLimitInGb`. */
  readonly words: readonly string[]
  readonly file: string
  /** RFC 3339. */
  readonly until: string
  readonly by: string
  readonly reason: string
  /** Whatever the fields have, from now on. */
  readonly any: boolean
}

/** @throws DeadlineError, UsageError */
export const acceptance = (
  {environment, wallClock}: Pick<Host, 'environment' | 'wallClock'>,
  {until, reason, by}: {readonly until: string; readonly reason: string; readonly by: string | undefined},
): Pick<AcceptWish, 'until' | 'by' | 'reason'> => ({
  until: parseDeadline(until, wallClock.now(), MAX_ACCEPTED_DAYS),
  by: actorOf(environment, by).name,
  reason: reasonIn(reason, '--reason'),
})

export interface AcceptDone {
  readonly file: string
  readonly entries: readonly BaselineEntry[]
}

/**
 * Looks at the named objects, and writes down what of them is otherwise than applied.
 * @throws UnknownAddressError, UsageError where nothing has drifted, SecretInBaselineError, BaselineError, BaselineLockedError
 */
export async function acceptDrift(workspace: Workspace, wish: AcceptWish): Promise<AcceptDone> {
  const {host} = workspace
  const asked = askedFor(workspace, wish.words)
  const keys = [...new Set(asked.map(it => it.key))]
  const {report} = await readDrift(workspace, {target: keys, exclude: []})
  const several = workspace.stacks.length + workspace.others.length > 1
  const secret: {key: Key; path: string}[] = []
  // The file is for the repository: what was read by now says what is secret.
  const rest = {until: wish.until, by: host.redactor.text(wish.by), reason: host.redactor.text(wish.reason)}
  const entries = asked.flatMap(({key, word, path}): BaselineEntry[] => {
    const owned = ownedAt(workspace, key)
    const kind = kinds.get(owned?.kind ?? '')
    const drifted = report.drifted.find(it => keyOfOperation(it) === key)
    const base = {address: several ? key : key.slice(key.indexOf(':') + 1)}
    if (drifted?.missing && path === undefined) return [{...base, path: '', missing: true, ...rest}]
    if (wish.any && path !== undefined && owned !== undefined && isApplied(owned, path)) return [{...base, path, any: true, ...rest}]
    const changes = drifted?.changes.filter(it => path === undefined || it.path === path || it.path.startsWith(`${path}/`)) ?? []
    if (changes.length === 0) throw new NothingDriftedError(word, path)
    return changes.map(({path: at, after}): BaselineEntry => {
      assertShort(word, at)
      if (wish.any) return {...base, path: at, any: true, ...rest}
      if (after === undefined) return {...base, path: at, missing: true, ...rest}
      const hidden = JSON.stringify(host.redactor.value(after)) !== JSON.stringify(after)
      if (hidden || isSecretField(kind, at, after)) secret.push({key, path: at})
      return {...base, path: at, value: after, ...rest}
    })
  })
  if (secret.length > 0) throw new SecretInBaselineError(secret)
  await writeEntries(host, wish.file, entries, baseline => void meantBy(baseline, wish.file, knownTo(workspace)))
  return {file: wish.file, entries}
}

/** @throws UsageError for what no baseline could be read with */
function assertShort(word: string, path: string): void {
  const fault = pointerFault(path, shortPointer)
  if (fault === undefined) return
  const shown = word.length > MOST_SHOWN ? `${word.slice(0, MOST_SHOWN)}…` : word
  throw new UsageError(`${shown}: the path of the field ${fault}, and a baseline takes none that has`, [
    'Name the field as svcctl drift does, or one above it.',
  ])
}

const MOST_SHOWN = 100

class NothingDriftedError extends UsageError {
  constructor(word: string, path: string | undefined) {
    super(`${word}: ${path === undefined ? 'nothing of it has' : `${path} has not`} drifted, so there is nothing to accept`, [
      'See what has drifted: svcctl drift',
    ])
  }
}

const ownedAt = ({ledgers}: Pick<Workspace, 'ledgers'>, key: Key): LedgerEntry | undefined =>
  ledgers.get(key.slice(0, key.indexOf(':')))?.entries.get(key.slice(key.indexOf(':') + 1))

const isApplied = ({applied, secrets}: LedgerEntry, path: string): boolean =>
  valueAt(applied, parsePointer(path)) !== undefined || Object.keys(secrets).some(it => it === path || it.startsWith(`${path}/`))

interface Asked {
  readonly key: Key
  readonly word: string
  readonly path?: string
}

/** Words as objects and fields. A `#/` may stand in an address too: the longest address that means something counts. */
function askedFor(workspace: Workspace, words: readonly string[]): Asked[] {
  const objects = namedObjects(workspace.stacks, workspace.ledgers, kinds).filter(
    it => ownedAt(workspace, keyOfOperation(it)) !== undefined,
  )
  const everything = namedObjects([...workspace.stacks, ...workspace.others], workspace.allLedgers, kinds)
  return words.flatMap(word => {
    const cuts = [...word.matchAll(/#(?=\/)/g)].map(it => it.index).reverse()
    for (const cut of [word.length, ...cuts]) {
      const meaning = new Words([word.slice(0, cut)], objects, kinds)
      const meant = new Set(objects.filter(it => meaning.mean(it)).map(keyOfOperation))
      const path = cut === word.length ? {} : {path: word.slice(cut + 1)}
      if (meant.size > 0 && path.path !== undefined) assertShort(word, path.path)
      if (meant.size > 0) return [...meant].sort().map(key => ({key, word, ...path}))
    }
    const declared = new Words([word.slice(0, cuts.at(-1))], everything, kinds)
    if (everything.some(it => declared.mean(it)))
      throw new UsageError(`${word}: no ledger of the chosen stacks has it, so nothing of it can drift`, [
        'Apply it first, or choose its stack with --stack.',
      ])
    throw new UnknownAddressError([{flag: 'drift accept', word}], everything)
  })
}
