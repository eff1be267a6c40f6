/**
 * `svcctl absorb`: what somebody changed outside and was right about goes into the code that declares it. Nothing but GETs is
 * sent; the edited program is run again, and a plan over the same facts proves that it says what is live and nothing else.
 */
import {existsSync} from 'node:fs'
import {hostname} from 'node:os'
import {resolve} from 'node:path'
import {type EditRefusal, type EditWish, FileEdits, type Position} from '../../absorb/edit.ts'
import {type FileChange, Originals} from '../../absorb/originals.ts'
import {isCode, isCompiled, isProgramFile, programFileAt} from '../../absorb/program-file.ts'
import {readProgram} from '../../absorb/syntax.ts'
import type {AuditEvent} from '../../audit/entry.ts'
import {kinds} from '../../backends/kinds.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {canonicalJson, type Json} from '../../base/json.ts'
import {parsePointer, valueAt} from '../../base/pointer.ts'
import {processIdentityOf} from '../../base/process-lock.ts'
import {holdsRedacted} from '../../base/redact.ts'
import {readKeptFileSync} from '../../base/whole-file.ts'
import type {LoadedDeclarations} from '../../declaration/read/load.ts'
import type {Declaration, StackDeclarations} from '../../engine/model/declaration.ts'
import {ruleAt} from '../../engine/model/field-rules.ts'
import {type Change, isDrift, type Operation} from '../../engine/model/plan.ts'
import {holdsMark} from '../../engine/model/shown-field.ts'
import {type Key, keyOfOperation, shown} from '../../engine/model/value.ts'
import {UnknownAddressError} from '../../engine/observe/choice.ts'
import {namedObjects, Words} from '../../engine/observe/selector.ts'
import type {BuiltPlan} from '../../engine/plan/build.ts'
import {asRecorded} from '../../engine/plan/take-over.ts'
import {createRunId} from '../../ledger/journal-file.ts'
import {recordPlan} from '../apply/apply.ts'
import {assertNothingOpen} from '../apply/open-requests.ts'
import {shownChanges} from '../audit/audit-operations.ts'
import {planWorkspace} from '../plan/plan.ts'
import type {Workspace} from '../workspace/workspace.ts'

/** One field, and where it stands. */
interface DriftedField {
  readonly stack: string
  readonly address: string
  readonly path: string
  readonly before?: Json
  readonly after?: Json
}

export interface AbsorbedField extends DriftedField, Position {
  /** Relative to the working folder. */
  readonly file: string
}

export interface ManualField extends DriftedField, EditRefusal {
  readonly file?: string
}

export interface AbsorbDone {
  /** Of a dry run: what would be. `before` stood in the code, `after` is live. */
  readonly absorbed: readonly AbsorbedField[]
  readonly manual: readonly ManualField[]
  readonly proof: 'empty' | 'not run'
}

/** What was read, and what would be written. */
export interface Absorption extends AbsorbDone {
  readonly files: readonly (FileChange & {readonly file: string})[]
  readonly built: BuiltPlan
}

/** The edited code does not say what is live, or says something else too. Everything is as it was. */
export class AbsorbDiffersError extends AppError {
  constructor(reasons: readonly string[], cause?: unknown) {
    super(`the edited code was not proven, and the files are as they were: ${reasons.join('; ')}`, {
      code: 'E_ABSORB_DIFFERS',
      exit: EXIT.notConverged,
      suggestions: ['Edit the code by hand: svcctl absorb --dry-run shows the places, and --patch FILE the edits.'],
      cause,
    })
  }
}

/** A field that drifted, with the operation that would change it back. */
interface Drift {
  readonly operation: Operation
  readonly change: Change
}

/**
 * @param words - objects; none: all
 * @param fields - JSON pointers; none: all
 * @throws UnknownAddressError
 */
export async function planAbsorption(
  workspace: Workspace,
  {words, fields}: {readonly words: readonly string[]; readonly fields: readonly string[]},
): Promise<Absorption> {
  const {stacks, others, ledgers} = workspace
  const objects = namedObjects(stacks, ledgers, kinds)
  const meaning = new Words(words, objects, kinds)
  if (meaning.idle.length > 0)
    throw new UnknownAddressError(
      meaning.idle.map(word => ({flag: 'absorb', word})),
      objects,
    )
  const built = await planWorkspace(workspace, {options: {}})
  const declarations = [...stacks, ...others].flatMap(it => it.declarations)
  const byKey = new Map(declarations.map(it => [it.key, it]))
  const siblings = siblingsIn(declarations)
  const chosen = built.plan.operations.filter(it => words.length === 0 || meaning.mean(it))
  const files = new SourceFiles(workspace.host.cwd)
  const absorbed: AbsorbedField[] = []
  const manual: ManualField[] = []
  for (const {operation, change} of chosen.flatMap(it => driftOf(it, fields))) {
    const declaration = byKey.get(keyOfOperation(operation))
    const field = {
      stack: operation.stack,
      address: operation.address,
      path: change.path,
      ...(change.after === undefined ? {} : {before: change.after}),
      ...(change.before === undefined ? {} : {after: change.before}),
    }
    const {file, ...result} = placed(files, operation, change, declaration, siblings)
    if ('why' in result) manual.push({...field, ...(file === undefined ? {} : {file}), ...result})
    else absorbed.push({...field, file: file ?? '', ...result})
  }
  const gone = chosen.filter(it => it.cause === 'gone').map((it): ManualField => goneObject(it, byKey.get(keyOfOperation(it))))
  return {absorbed, manual: [...manual, ...(fields.length === 0 ? gone : [])], proof: 'not run', files: files.changes(), built}
}

/** What somebody changed since the last apply; what the code changed as well is a person's to decide. */
function driftOf(operation: Operation, fields: readonly string[]): Drift[] {
  const isWanted = (path: string) => fields.length === 0 || fields.some(it => path === it || path.startsWith(`${it}/`))
  const moved = operation.changes.filter(it => isDrift(it) && isWanted(it.path))
  return operation.remoteId === undefined || operation.elsewhere !== undefined ? [] : moved.map(change => ({operation, change}))
}

function goneObject({stack, address, remoteId}: Operation, declaration: Declaration | undefined): ManualField {
  const {file, line} = declaration?.source ?? {}
  return {
    stack,
    address,
    path: '',
    ...(file === undefined ? {} : {file}),
    ...(line === undefined ? {} : {line, column: 1}),
    found: '',
    edit: '',
    why: `${remoteId ?? 'the object'} is gone: take the declaration out, or let an apply make it again`,
  }
}

/** How many constructs were made in each line of the program. */
function siblingsIn(declarations: readonly Declaration[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const {source} of declarations) counts.set(placeOf(source), (counts.get(placeOf(source)) ?? 0) + 1)
  return counts
}

const placeOf = ({file, line}: Declaration['source']): string => `${file ?? ''}:${line ?? 0}`

type Placement = {readonly file?: string} & (Position | EditRefusal)

function placed(
  files: SourceFiles,
  operation: Operation,
  change: Change,
  declaration: Declaration | undefined,
  siblings: ReadonlyMap<string, number>,
): Placement {
  const {file, line, construct} = declaration?.source ?? {}
  const refused = (why: string): Placement => ({
    ...(file === undefined ? {} : {file}),
    ...(line === undefined ? {} : {line, column: 1}),
    found: '',
    edit: change.before === undefined ? '' : JSON.stringify(change.before),
    why,
  })
  if (declaration === undefined || file === undefined || line === undefined || construct === undefined)
    return refused('nobody knows where it stands')
  const edits = files.open(file)
  if (typeof edits === 'string') return refused(edits)
  const wish: EditWish = {
    origin: {id: construct.slice(construct.lastIndexOf('/') + 1), line, siblings: siblings.get(placeOf(declaration.source)) ?? 1},
    path: change.path,
    declared: valueAt(operation.declared?.spec, parsePointer(change.path)),
    live: change.before,
    rule: ruleOf(operation.kind, change.path),
  }
  const why = refusedBefore(operation, change)
  return {file, ...(why === undefined ? edits.put(wish) : edits.refuse(wish, why))}
}

function refusedBefore({address}: Operation, {before, moved}: Change): string | undefined {
  if (before !== undefined && (holdsMark(before) || holdsRedacted(before))) return 'it holds a secret'
  if (address.endsWith(']')) return 'it is one of several made with forEach or count'
  return moved === 'both' ? 'the code was changed too since the last apply' : undefined
}

const ruleOf = (kind: string, path: string): EditWish['rule'] => {
  const known = kinds.get(kind)
  return known === undefined ? {} : ruleAt(known, path.replace(/\/\d+(?=\/|$)/g, '/*'))
}

/** The files of the program, each read once. */
class SourceFiles {
  readonly #cwd: string
  readonly #open = new Map<string, {readonly path: string; readonly bytes: Uint8Array; readonly edits: FileEdits} | string>()

  constructor(cwd: string) {
    this.#cwd = cwd
  }

  /** @returns why not, where it cannot be opened */
  open(file: string): FileEdits | string {
    const known = this.#open.get(file) ?? this.#read(file)
    this.#open.set(file, known)
    return typeof known === 'string' ? known : known.edits
  }

  changes(): Absorption['files'] {
    return [...this.#open].flatMap(([file, it]) => {
      if (typeof it === 'string' || Buffer.from(it.edits.text).equals(it.bytes)) return []
      return {file, path: it.path, before: it.bytes, after: it.edits.text}
    })
  }

  #read(file: string) {
    if (!isCode(file)) return `${file} is no TypeScript`
    const unread = `${file} cannot be read as TypeScript`
    const named = resolve(this.#cwd, file)
    const path = isProgramFile(file) ? programFileAt(named, this.#cwd) : undefined
    if (path === undefined)
      return existsSync(named) && programFileAt(named, this.#cwd) === undefined
        ? `${file} leads out of this repository, or lies outside of it`
        : unread
    try {
      const bytes = readKeptFileSync(path)
      // A mark at the beginning stays, for it is a byte of the file.
      const text = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes)
      if (isCompiled(path, text)) return `${file} is compiled from another file, and the next build would write over it`
      const program = readProgram(text, file)
      return program === undefined ? unread : {path, bytes, edits: new FileEdits(program)}
    } catch {
      // Not there, or no text: a person is told where it should be.
      return unread
    }
  }
}

export interface ProofWishes {
  /** Runs the program again; ends it when the signal says so. */
  readonly reload: (signal: AbortSignal) => Promise<Pick<LoadedDeclarations, 'stacks' | 'others'>>
  readonly signal: AbortSignal
  /** Called right before the ledgers are written. */
  readonly onRecord: () => void
}

/**
 * Writes the edits, proves them, and lets the ledgers follow; or puts everything back.
 * @throws AbsorbDiffersError, AbsorbChangedError, AbsorbFileError, LockLostError
 */
export async function carryOutAbsorption(
  workspace: Workspace,
  planned: Absorption,
  {reload, signal, onRecord}: ProofWishes,
): Promise<AbsorbDone> {
  const {absorbed, manual, files, built} = planned
  if (files.length === 0) return {absorbed, manual, proof: 'not run'}
  assertNothingOpen(workspace)
  const {host} = workspace
  const holder = {
    ...processIdentityOf(hostname(), process.pid),
    id: createRunId(host.clock, host.random),
    who: 'svcctl absorb',
    since: new Date(host.clock.now()).toISOString(),
  }
  const originals = new Originals(host.cwd, holder, files)
  originals.write()
  let proven: {readonly stacks: readonly StackDeclarations[]; readonly after: BuiltPlan}
  try {
    const {stacks, others} = await reload(signal).catch((error: unknown) => {
      signal.throwIfAborted()
      throw error instanceof AppError ? new AbsorbDiffersError([error.message], error) : error
    })
    const after = await planWorkspace(workspace.seen({stacks}), {options: {}})
    const reasons = [...differences(built, after, absorbed), ...otherDifferences(workspace.others, others)]
    if (reasons.length > 0) throw new AbsorbDiffersError(reasons)
    // Whoever took a lock away meanwhile may have applied the code as it was: what was read is not so any more.
    for (const store of workspace.stores.values()) await store.assertHeld()
    signal.throwIfAborted()
    proven = {stacks, after}
  } catch (error) {
    for (const text of originals.putBack()) host.log.warn(text)
    throw error
  }
  originals.forget()
  onRecord()
  await record(workspace.seen({stacks: proven.stacks}), proven.after, absorbed)
  return {absorbed, manual, proof: 'empty'}
}

const keysOf = (fields: readonly DriftedField[]): ReadonlySet<Key> => new Set(fields.map(it => keyOfOperation(it)))

/** What the edits changed beside what they were to change. */
function differences(before: BuiltPlan, after: BuiltPlan, absorbed: readonly AbsorbedField[]): string[] {
  const keys = keysOf(absorbed)
  const paths = new Set(absorbed.map(it => `${keyOfOperation(it)} ${it.path}`))
  const told = ({plan}: BuiltPlan) => new Map(plan.operations.map(it => [keyOfOperation(it), it]))
  const [old, now] = [told(before), told(after)]
  const reasons = [...now.keys()].filter(key => !old.has(key)).map(key => `${key} is new`)
  for (const [key, was] of old) {
    const is = now.get(key)
    if (is === undefined) reasons.push(`${key} is not planned any more`)
    else if (keys.has(key)) {
      const left = was.changes.filter(({path}) => !paths.has(`${key} ${path}`)).map(it => it.path)
      const other = is.changes.filter(({path}) => !left.includes(path)).map(it => it.path)
      if (other.length > 0) reasons.push(`${key} still differs in ${other.join(', ')}`)
      else if (left.length !== is.changes.length || (left.length === 0 && is.action !== 'adopt' && is.action !== 'no-op'))
        reasons.push(`${key} would be ${is.action}d otherwise than before`)
    } else if (essence(was) !== essence(is)) reasons.push(`${key} is planned otherwise than before`)
  }
  return reasons
}

const essence = ({action, cause, kind, remoteId, changes, declared}: Operation): string =>
  canonicalJson({action, cause, kind, remoteId, changes, declared})

/** Stacks that the run does not cover, whose code may share a line with one that was edited. */
function otherDifferences(before: readonly StackDeclarations[], after: readonly StackDeclarations[]): string[] {
  const told = (stacks: readonly StackDeclarations[]) =>
    new Map(
      stacks.flatMap(it => it.declarations).map(({key, kind, spec, policy}) => [key, canonicalJson({kind, spec: shown(spec), policy})]),
    )
  const [old, now] = [told(before), told(after)]
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter(key => old.get(key) !== now.get(key))
    .map(key => `${key} is declared otherwise than before`)
}

/** What was absorbed was applied last, by whoever did it. */
async function record(workspace: Workspace, after: BuiltPlan, absorbed: readonly AbsorbedField[]): Promise<void> {
  const keys = keysOf(absorbed)
  const operations = after.plan.operations.flatMap(it => {
    const entry = workspace.ledgers.get(it.stack)?.entries.get(it.address)
    return keys.has(keyOfOperation(it)) && it.action !== 'no-op' && entry !== undefined ? asRecorded(it, entry) : []
  })
  const events = operations.map(it => ({stack: it.stack, event: absorbEvent(it, absorbed)}))
  await recordPlan(workspace, {...after, plan: {...after.plan, operations}}, {outputs: false, events})
}

/** The values that stood in the code, and those that stand there now. */
const absorbEvent = (operation: Operation, absorbed: readonly AbsorbedField[]): AuditEvent => ({
  event: 'absorb',
  address: operation.address,
  ...(operation.remoteId === undefined ? {} : {remoteId: operation.remoteId}),
  state: 'done',
  changes: shownChanges(absorbed.filter(it => keyOfOperation(it) === keyOfOperation(operation))),
})
