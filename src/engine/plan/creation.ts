/** Objects that are made: for the first time, in the place of another one, or anew where they would have had to move. */
import type {JsonObject} from '../../base/json.ts'
import type {Cause} from '../model/cause.ts'
import {rootRule} from '../model/field-rules.ts'
import type {Kind} from '../model/kind.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import type {LiveObject} from '../model/live.ts'
import type {Change, Operation} from '../model/plan.ts'
import {shown, type ValueObject} from '../model/value.ts'
import type {Paired} from '../observe/observation.ts'

/** What an operation is before it is known what is to be done. */
export type OperationBase = Omit<Operation, 'action' | keyof Why>
export type Why = Pick<Operation, 'cause' | 'reason'>

export function creation(kind: Kind, base: OperationBase, spec: ValueObject, entry: LedgerEntry | undefined): Operation {
  const changes = createChanges(kind, spec)
  if (kind.verbs.create === undefined) {
    const reason = kind.absent?.create ?? `the API cannot create a ${kind.noun}`
    return {...base, changes, action: 'blocked', wants: 'create', cause: 'no-create', reason}
  }
  const why: Why = entry ? {cause: 'gone', reason: `${entry.remoteId} is gone`} : {cause: 'not-there', reason: 'not there yet'}
  return {...base, changes, action: 'create', ...why}
}

/** What a create sends, field by field. */
export const createChanges = (kind: Kind, spec: ValueObject): Change[] =>
  Object.keys(spec)
    .sort()
    .map(field => {
      const {pattern, secret, writeOnly} = rootRule(kind).below(field)
      return {path: pattern, after: secret || writeOnly ? {secret: true} : shown(spec[field] ?? null)}
    })

export interface Replaced {
  readonly kind: Kind
  readonly live: LiveObject
  /** As the plan may show what it was. */
  readonly former: JsonObject
  /** How the new object will differ from it: that is made as it is declared, and nothing of it is left as somebody set it. */
  readonly changes: () => readonly Change[]
}

export function replacement(replaced: Replaced, found: OperationBase, createFirst: boolean, why: Why): Operation {
  const {kind, live} = replaced
  if (kind.verbs.delete === undefined || kind.verbs.create === undefined) {
    return {
      ...found,
      action: 'blocked',
      wants: 'replace',
      cause: kind.verbs.delete === undefined ? 'no-delete' : 'no-create',
      reason: `${why.reason}, and ${kind.absent?.delete ?? `the API cannot delete a ${kind.noun}`}`,
    }
  }
  if (createFirst && kind.identity.unique && found.name === live.name) {
    return {
      ...found,
      action: 'blocked',
      wants: 'replace',
      cause: 'name-kept',
      reason: `${why.reason}; create_before_destroy needs another name, since two ${kind.noun}s called ${JSON.stringify(found.name ?? '')} cannot exist at once`,
    }
  }
  return replacing(replaced, found, why)
}

export function replacing({former, changes}: Replaced, {kept: _, ...found}: OperationBase, why: Why): Operation {
  return {...found, action: 'replace', ...why, changes: changes(), former}
}

/** @param why - `old`: what becomes of the object it was, which is not deleted by an operation of its own */
export function createdAnew(
  operation: Operation,
  kind: Kind,
  {spec}: Paired,
  {cause, old}: {readonly cause: Cause; readonly old: string},
): Operation {
  const {wants: _, remoteId: _old, origin: _origin, ...rest} = operation
  const reason = `it moves to another ${kind.parent?.field ?? 'parent'}, and ${old}`
  return {...rest, action: 'create', cause, reason, changes: createChanges(kind, spec)}
}
