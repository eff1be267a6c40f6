/**
 * How each field of an object was decided, as the comparison says it while it decides (`diff.ts`): what a plan shows are
 * the fields that differ, and an explanation is all of them.
 */
import type {Json} from '../../base/json.ts'
import type {Change} from './plan.ts'

export const DECISIONS = {
  equal: 'declared and live are the same',
  'in-git': 'the declaration is what differs from what was applied last',
  outside: 'somebody changed what is live since the last apply',
  both: 'the declaration changed since the last apply, and what is live did too',
  normalised: 'it is spelled otherwise, and means the same',
  'server-added': 'the server adds to it, and what it adds is left alone',
  'create-only': 'it is sent on create only, and never compared',
  'write-only': 'no answer shows it: the ledger tells whether it changed',
  ignored: 'the declaration says that its changes are ignored',
  unread: 'what was read does not show it: the ledger tells whether it changed',
  undeclared: 'nobody declares it: it is left alone',
} as const satisfies Readonly<Record<string, string>>

export type Decided = keyof typeof DECISIONS

export const DECIDED = Object.keys(DECISIONS) as readonly Decided[]

/** Secrets are marks, as everywhere that somebody may see. */
export interface FieldDecision {
  /** JSON pointer in the spec. */
  readonly path: string
  readonly declared?: Json
  /** What was applied last. */
  readonly ledger?: Json
  readonly live?: Json
  readonly decided: Decided
  /** What decided it, in words. */
  readonly rule: string
}

/** Of a field that differs: who moved it. Where nobody can tell, what is declared is what is wanted. */
const BY_MOVED = {'in git': 'in-git', outside: 'outside', both: 'both', unknown: 'in-git'} as const satisfies Record<
  NonNullable<Change['moved']>,
  Decided
>

export const decidedBy = ({moved = 'unknown'}: Pick<Change, 'moved'>): Decided => BY_MOVED[moved]

/** The field differs, and is changed or left as somebody changed it. */
export const isDifference = ({decided}: Pick<FieldDecision, 'decided'>): boolean =>
  decided === 'in-git' || decided === 'outside' || decided === 'both'

/** Who changed a field that differs, in words. */
export const WHO_MOVED = {
  'in git': 'the declaration is not what was applied last',
  outside: 'what is live is not what was applied last',
  both: 'neither the declaration nor what is live is what was applied last',
  unknown: 'declared and live differ, and no ledger tells who changed it',
} as const satisfies Record<NonNullable<Change['moved']>, string>

/** Of an immutable field that differs. */
export const NOT_IN_PLACE = 'it cannot be changed in place'
