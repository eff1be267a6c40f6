/** Puts the parts of a plan together, and gives it a name made of its content. */
import {AppError, EXIT, type Problem} from '../../base/errors.ts'
import {canonicalJson, type JsonObject} from '../../base/json.ts'
import {sha256, sha256Text} from '../model/live.ts'
import {ACTIONS, type Action, type Fact, type Operation, type Plan} from '../model/plan.ts'
import {recordedSecrets} from '../model/shown-field.ts'
import type {ValueObject} from '../model/value.ts'
import type {Observation} from '../observe/observation.ts'
import {comparedPointers, factRow} from './facts.ts'

/** Digits that are shown of a hash, and the fewest that name a plan. */
export const SHORT_HASH = 12

/** The parts of a plan do not say the same: somebody changed the file. Nothing was sent. */
export class PlanAlteredError extends AppError {
  constructor(problems: readonly Problem[]) {
    super(
      `the plan's parts disagree with each other: ${problems.map(it => `${it.address === undefined ? '' : `${it.address}: `}${it.message}`).join('; ')}`,
      {
        code: 'E_PLAN_ALTERED',
        exit: EXIT.refused,
        problems,
        suggestions: ['Somebody changed the file. Make the plan again with: svcctl plan --out FILE'],
      },
    )
  }
}

/** What a plan costs, where it was written and what is frozen for now; all the rest decides what is sent, or is what is said of it. */
const UNCOVERED: ReadonlySet<string> = new Set<keyof Plan>(['requests', 'bill', 'source', 'written', 'freezes', 'hash'])

export function hashOf(plan: object): string {
  const covered: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(plan).filter(([name]) => !UNCOVERED.has(name)))
  // Listed or counted, it is the same plan: nothing is sent for what is nobody's.
  const content = {...covered, unmanaged: Array.isArray(covered.unmanaged) ? covered.unmanaged.length : covered.unmanaged}
  // Operation by operation.
  return sha256(content, 2)
}

export const sealed = (plan: Omit<Plan, 'hash'>): Plan => ({...plan, hash: hashOf(plan)})

/** The plan with other parts. Its hash is made again, over all of it, only where a part that it covers says something else. */
export function resealed(plan: Plan, parts: Partial<Omit<Plan, 'hash'>>): Plan {
  const isSame = ([name, part]: readonly [string, unknown]): boolean =>
    UNCOVERED.has(name) || canonicalJson(part) === canonicalJson(plan[name as keyof Plan])
  const changed = {...plan, ...parts}
  return Object.entries(parts).every(isSame) ? changed : sealed(changed)
}

/** @throws PlanAlteredError */
export function assertSealed(plan: {readonly hash: string}): void {
  const expected = hashOf(plan)
  if (expected === plan.hash) return
  throw new PlanAlteredError([{message: `the content has the hash ${expected.slice(0, 12)}, and the file says ${plan.hash.slice(0, 12)}`}])
}

export function summaryOf(operations: readonly Operation[]): Record<Action, number> {
  const summary = Object.fromEntries(ACTIONS.map(action => [action, 0])) as Record<Action, number>
  for (const {action} of operations) summary[action]++
  return summary
}

/** The lists a plan was made from, each with a digest over identity and compared fields of all its rows. */
export function factsOf({collections, pairs, ownership}: Pick<Observation, 'collections' | 'pairs' | 'ownership'>): Fact[] {
  // By account. As it was compared: a sparse row was read on its own, and is no other fact for it.
  const compared = new Map<string, Map<string, {readonly spec: ValueObject; readonly fields: JsonObject}>>()
  for (const {declaration, match, spec} of pairs.values()) {
    if (match === undefined) continue
    const {kind, remoteId, fields} = match.live
    const account = ownership.account(declaration.stack, kind.api)
    const ofAccount = compared.get(account) ?? new Map<string, {spec: ValueObject; fields: JsonObject}>()
    if (ofAccount.size === 0) compared.set(account, ofAccount)
    ofAccount.set(remoteId, {spec, fields})
  }
  return collections
    .map(({backend, kind, path, objects}) => {
      const ofAccount = compared.get(ownership.accountAt(backend))
      // In an order of its own, by the very text that is hashed.
      const rows = objects
        .map(({remoteId, fields: listed}) => {
          const {spec, fields = listed} = ofAccount?.get(remoteId) ?? {}
          const recorded = recordedSecrets(ownership.at(backend, remoteId)?.entry)
          return canonicalJson(factRow(kind, fields, spec ? comparedPointers(kind, spec, recorded) : []))
        })
        .sort()
      return {api: kind.api, kind: kind.name, path, rows: rows.length, digest: sha256Text(listTexts(rows))}
    })
    .sort((a, b) => (`${a.api} ${a.path} ${a.digest}` < `${b.api} ${b.path} ${b.digest}` ? -1 : 1))
}

/** The canonical text of a list of which there are the items' texts. */
function* listTexts(items: readonly string[]): Generator<string> {
  yield '['
  for (const [i, item] of items.entries()) yield i > 0 ? `,${item}` : item
  yield ']'
}
