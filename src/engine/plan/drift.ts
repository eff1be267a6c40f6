/** Last applied against live, for what the ledgers own. A change in git is no drift. */
import {type Agreed, agreed, type Hold} from '../model/controls.ts'
import type {Declaration, StackDeclarations} from '../model/declaration.ts'
import {diffFields} from '../model/diff.ts'
import type {Kinds} from '../model/kind.ts'
import type {Ledger, LedgerEntry} from '../model/ledger.ts'
import type {Change, PlannedFreeze} from '../model/plan.ts'
import {recordedSecrets} from '../model/shown-field.ts'
import {keyOf, keyOfOperation} from '../model/value.ts'
import type {Observation} from '../observe/observation.ts'
import {planRemovals} from './removals.ts'

export interface OwnedObject {
  readonly stack: string
  readonly address: string
  readonly kind: string
  readonly name?: string
  /** cdktf's construct path, where the object is still declared. */
  readonly construct?: string
}

export interface Drifted extends OwnedObject {
  /** The object is gone. */
  readonly missing: boolean
  readonly changes: readonly Pick<Change, 'path' | 'before' | 'after' | 'risk'>[]
  readonly held?: Agreed
}

/** An owned object of which nobody can tell what has become: it has no address of its own, and its list cannot be read whole. */
export interface UnseenObject extends OwnedObject {
  readonly why: string
}

/** A report, and what it only counts. */
export interface DriftReading {
  readonly report: DriftReport
  readonly unchanged: readonly OwnedObject[]
}

/** An object that somebody holds. */
export interface HeldObject extends Agreed {
  readonly stack: string
  readonly address: string
}

export interface DriftReport {
  readonly drifted: readonly Drifted[]
  readonly summary: {readonly drifted: number; readonly missing: number; readonly unchanged: number; readonly unmanaged: number}
  /** Absent: all that is owned was seen, or is gone. */
  readonly unseen?: readonly UnseenObject[]
  /** Owned objects that are held, drifted or not; absent: none. */
  readonly holds?: readonly HeldObject[]
  /** Absent: nothing is frozen. */
  readonly freezes?: readonly PlannedFreeze[]
}

/** What was applied last, as if it were declared: what drift compares with. Parents are where the objects are. */
export function appliedStack(
  stack: StackDeclarations,
  ledger: Ledger,
  kinds: Kinds,
  parentOf: (remoteId: string) => string | undefined,
): StackDeclarations {
  // Without its variables (drift needs none) nobody knows how many instances a block has: then it stands for all of them.
  const byAddress = new Map(stack.declarations.map(it => [it.address, it]))
  const declared = (address: string) => byAddress.get(address) ?? byAddress.get(address.replace(/\[.*\]$/, ''))
  const declarations = [...ledger.entries.values()].flatMap((entry): Declaration[] => {
    if (!kinds.has(entry.kind)) return []
    const parent = parentOf(entry.remoteId)
    return [
      {
        stack: stack.name,
        address: entry.address,
        key: keyOf(stack.name, entry.address),
        kind: entry.kind,
        spec: entry.applied,
        ...(parent === undefined ? {} : {parent: {by: 'remoteId' as const, remoteId: parent}}),
        dependsOn: [],
        policy: {
          exclusive: [],
          removal: entry.removal,
          ignoreChanges: declared(entry.address)?.policy.ignoreChanges ?? [],
          preventDestroy: entry.preventDestroy,
          createBeforeDestroy: false,
        },
        outputs: [],
        source: declared(entry.address)?.source ?? {},
        clearSecrets: [],
      },
    ]
  })
  return {...stack, declarations, outputs: [], moved: [], removed: []}
}

export function driftOf(
  observation: Observation,
  stacks: readonly StackDeclarations[],
  ledgers: ReadonlyMap<string, Ledger>,
  kinds: Kinds,
): DriftReading {
  const drifted: Drifted[] = []
  const unchanged: OwnedObject[] = []
  const unseen: UnseenObject[] = []
  for (const {declaration, match, context, doubt} of observation.pairs.values()) {
    if (context) continue
    const entry = ledgers.get(declaration.stack)?.entries.get(declaration.address)
    const live = match?.found === 'ledger' ? match.live : undefined
    const kind = kinds.get(declaration.kind)
    if (entry === undefined || kind === undefined) continue
    const name = kind.identity.key(entry.applied)
    const {construct} = declaration.source
    const base = {
      stack: declaration.stack,
      address: declaration.address,
      kind: declaration.kind,
      ...(name === undefined ? {} : {name}),
      ...(construct === undefined ? {} : {construct}),
    }
    // What can be read by its id was, and is gone whatever its list shows.
    if (live === undefined && doubt !== undefined && kind.verbs.read === undefined) unseen.push({...base, why: doubt.reason})
    else if (live === undefined) drifted.push({...base, missing: true, changes: []})
    else {
      const changes = changesSince(entry, declaration, live.fields, kind)
      if (changes.length === 0) unchanged.push(base)
      else drifted.push({...base, missing: false, changes})
    }
  }
  const {unmanaged} = planRemovals(
    {observation, stacks, selected: new Set(), ledgers, kinds, secretState: () => 'same', lifts: {onDrift: 'overwrite', noDestroy: false}},
    [],
  )
  drifted.sort((a, b) => (keyOfOperation(a) < keyOfOperation(b) ? -1 : 1))
  const missing = drifted.filter(it => it.missing).length
  return {
    report: {
      drifted,
      summary: {drifted: drifted.length - missing, missing, unchanged: unchanged.length, unmanaged: unmanaged.length},
      ...(unseen.length === 0 ? {} : {unseen}),
    },
    unchanged,
  }
}

/** What people have said of these objects, beside what has become of them. */
export function withControls(
  {report, unchanged}: DriftReading,
  holds: ReadonlyMap<string, readonly Hold[]>,
  freezes: readonly PlannedFreeze[],
  ledgers: ReadonlyMap<string, Ledger>,
): DriftReading {
  const heldAt = ({stack, address}: OwnedObject): Agreed | undefined => {
    const remoteId = ledgers.get(stack)?.entries.get(address)?.remoteId
    const hold = holds.get(stack)?.find(it => it.address === address || (remoteId !== undefined && it.remoteId === remoteId))
    return hold && agreed(hold)
  }
  const drifted = report.drifted.map(it => {
    const held = heldAt(it)
    return held === undefined ? it : {...it, held}
  })
  const held = [...report.drifted, ...unchanged].flatMap(it => {
    const hold = heldAt(it)
    return hold === undefined ? [] : [{stack: it.stack, address: it.address, ...hold}]
  })
  return {
    report: {...report, drifted, ...(held.length === 0 ? {} : {holds: held}), ...(freezes.length === 0 ? {} : {freezes})},
    unchanged,
  }
}

/** `before` is what was applied, `after` what is there now. */
function changesSince(
  entry: LedgerEntry,
  declaration: Declaration,
  live: Parameters<typeof diffFields>[0]['live'],
  kind: Parameters<typeof diffFields>[0]['kind'],
): Drifted['changes'] {
  const {changes} = diffFields({
    kind,
    declared: entry.applied,
    live,
    applied: entry.applied,
    recorded: recordedSecrets(entry),
    ignore: declaration.policy.ignoreChanges,
    secretState: () => 'same',
  })
  return changes.map(({path, before: now, after: applied}) => ({
    path,
    ...(applied === undefined ? {} : {before: applied}),
    ...(now === undefined ? {} : {after: now}),
  }))
}
