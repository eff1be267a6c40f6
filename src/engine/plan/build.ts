/** The whole way from declarations to a sealed plan: observe, pair, diff, order, guard, bill. Sends nothing but GETs. */
import {AppError, EXIT, type Problem} from '../../base/errors.ts'
import {shellWord} from '../../base/shell-word.ts'
import {liveAttribute} from '../model/attribute.ts'
import type {Hold} from '../model/controls.ts'
import {type Declaration, neededBy, type StackDeclarations, sourceOf} from '../model/declaration.ts'
import type {Hides, SecretStateOf} from '../model/diff.ts'
import {type Kind, meansAnother} from '../model/kind.ts'
import type {Ledger} from '../model/ledger.ts'
import {sha256} from '../model/live.ts'
import {outputDigests} from '../model/output-digest.ts'
import {accountsOfOperations} from '../model/ownership.ts'
import type {Lifts, Operation, Plan, PlannedStack, PlanSource} from '../model/plan.ts'
import {PLAN_FORMAT} from '../model/plan.ts'
import {declaredPart} from '../model/planned-object.ts'
import {openLeaves, plainPart, resolveValue} from '../model/resolve.ts'
import {Deferred, type Key, keyOfOperation, Secret, shown, spoken, spokenProblems, type ValueObject} from '../model/value.ts'
import {changedKeys} from '../observe/changed-scope.ts'
import {type Choice, choose} from '../observe/choice.ts'
import {leastReads} from '../observe/least-reads.ts'
import type {Observation, ObserveInput, Paired} from '../observe/observation.ts'
import {observe} from '../observe/observe.ts'
import type {Selection} from '../observe/select.ts'
import {beginning, billOf} from './bill.ts'
import {Claims} from './claims.ts'
import {factsOf, sealed, summaryOf} from './document.ts'
import {namedTwice} from './freed-names.ts'
import {evaluateGuards} from './guards.ts'
import {withHolds} from './holds.ts'
import {assertOneEach} from './one-operation.ts'
import {planOperations} from './operations.ts'
import type {PlanInput} from './plan-input.ts'

/** More than one live object fits a declaration: nobody but a person can say which is meant. */
export class AmbiguousIdentityError extends AppError {
  constructor(problems: readonly Problem[]) {
    super(problems.map(it => `${it.address ?? ''}: ${it.message}`).join('\n'), {
      lines: true,
      code: 'E_AMBIGUOUS_IDENTITY',
      exit: EXIT.refused,
      problems,
      suggestions: ['Name the right one with an import block (its id is the remote path), or rename the other one, then plan again.'],
    })
  }
}

/** What only the live state shows to be wrong with the declarations. */
export class PlanProblemsError extends AppError {
  /** @param absent - stacks that are to be applied first */
  constructor(problems: readonly Problem[], absent: readonly string[] = []) {
    super(`${problems.length === 1 ? 'a declaration does' : `${problems.length} declarations do`} not fit the live state`, {
      code: 'E_PLAN_PROBLEMS',
      exit: EXIT.usage,
      problems,
      suggestions:
        absent.length > 0
          ? absent.map(stack => `Apply the stack that declares it first: svcctl apply --stack ${shellWord(stack)}`)
          : ['Correct the stack at the places named above, then plan again.'],
    })
  }
}

export interface BuildPlanInput extends Omit<ObserveInput, 'wants'>, Pick<PlanInput, 'kept' | 'leftAlone' | 'decisions'> {
  /** What the ledgers know of the secrets that were found declared; `ahead` begins to work it out, where it is known what will be asked. */
  readonly secretStates: (pairs: Observation['pairs'], ahead?: boolean) => Promise<SecretStateOf>
  readonly tool: string
  readonly accounts: Plan['accounts']
  readonly lifts: Lifts
  readonly selection: Selection
  /** `--unmanaged` */
  readonly listUnmanaged?: boolean
  /** Of planning again after something was applied: what the words meant before. */
  readonly choice?: Choice
  readonly pricing: Pick<Parameters<typeof billOf>[0], 'perMinute' | 'tokens' | 'durationMs' | 'limits'>
  /** Told how many requests will be needed at least, before the first: throws where that is too many. */
  readonly mayRead?: (atLeast: number) => void
  /** Requests sent so far, over all connections of the run. */
  readonly used: () => number
  readonly notAfter?: string
  /** What the stacks were read from. */
  readonly source?: PlanSource
  /** Takes known secrets out of what servers show. */
  readonly hides?: Hides
  /** `--scope changed`: only what differs from the ledger is looked at. */
  readonly onlyChanged?: boolean
  /** Digests of where the ledgers are, by stack, as far as that is the same on every machine. */
  readonly places?: ReadonlyMap<string, string>
  /** By stack. */
  readonly holds?: ReadonlyMap<string, readonly Hold[]>
  /** Said with the plan: what of dead runs is still open. */
  readonly notes?: readonly string[]
}

export interface BuiltPlan {
  readonly plan: Plan
  readonly observation: Observation
  readonly choice: Choice
}

/** @throws AmbiguousIdentityError (exit 3), PlanProblemsError (exit 64), OperationCycleError (exit 64), and what reading throws */
export async function buildPlan(input: BuildPlanInput): Promise<BuiltPlan> {
  const usedBefore = input.used()
  // Without options that name objects everything selected is read, and that is known now.
  if (input.choice === undefined && !input.onlyChanged && selectsAll(input.selection)) input.mayRead?.(leastReads(input))
  const choice = input.choice ?? (await choose({...input, words: {...input.selection, ...input.lifts}}))
  const changed = input.onlyChanged ? await changedOnly(input) : undefined
  const wants = (key: Key) => choice.wants(key) && (changed?.has(key) ?? true)
  // Digests of secrets are made while the live state is read. Whoever needs them below finds them made, or hears what is wrong.
  const isKept = ({key, stack, address}: Declaration) =>
    wants(key) && Object.keys(input.ledgers.get(stack)?.entries.get(address)?.secrets ?? {}).length > 0
  void input.secretStates(unread(input, isKept), true).catch(() => {})
  const observation = await observe({...input, wants})
  if (observation.ambiguous.length > 0) throw new AmbiguousIdentityError(spokenProblems(observation.ambiguous, input.selected))
  const problems = [...observation.problems, ...absentProblems(input, observation)]
  if (problems.length > 0) throw new PlanProblemsError(spokenProblems(problems, input.selected), appliedFirst(input, observation))
  const {
    operations: all,
    unmanaged,
    notes,
  } = planOperations({
    ...input,
    observation,
    secretState: await input.secretStates(observation.pairs),
    keeps: removals => choice.over(removals).keeps,
    accepts: planned => choice.over(planned).accepts,
  })
  const twice = namedTwice(all, {...input, observation})
  if (twice.length > 0) throw new PlanProblemsError(spokenProblems(twice, input.selected))
  const {permissions} = choice.over(all)
  const operations = withHolds(all, input.holds, input.ledgers)
  assertOneEach(operations, input.kinds, input.accountOf)
  new Claims({...input, observation}).assertRespected(operations)
  const stacks = input.stacks
    .filter(it => input.selected.has(it.name))
    .map(it => plannedStack(input, observation, operations, it))
    .sort(by(it => it.name))
  const used = input.used() - usedBefore
  const objects = [...observation.pairs.values()].filter(it => it.match !== undefined).length + observation.orphans.length
  const otherStacks = input.stacks.flatMap(({name, ledger}) => (input.selected.has(name) ? [] : [{name, ledger}])).sort(by(it => it.name))
  const content = {
    operations,
    stacks,
    lifts: tidied({...input.lifts, ...permissions}),
    ...(input.destroy ? {destroy: true as const} : {}),
    ...(otherStacks.length > 0 ? {otherStacks} : {}),
  }
  const plan: Omit<Plan, 'hash'> = {
    ...content,
    format: PLAN_FORMAT,
    tool: input.tool,
    accounts: input.accounts,
    declarationsDigest: declarationsDigest(input.stacks.filter(it => input.selected.has(it.name))),
    scope: changed ? 'changed' : input.selection.target.length + input.selection.exclude.length > 0 ? 'targeted' : 'all',
    selectors: {target: sorted(input.selection.target), exclude: sorted(input.selection.exclude)},
    facts: factsOf(observation),
    summary: summaryOf(operations),
    unmanaged: input.listUnmanaged ? unmanaged : unmanaged.length,
    notes: [
      ...(input.notes ?? []),
      ...(changed ? [SCOPE_NOTE] : []),
      ...(input.destroy ? stacks.flatMap(nothingOwned) : allGone(input, operations)),
      ...notes.map(it => spoken(it, input.selected)),
    ],
    guards: evaluateGuards(content, input.kinds),
    requests: {used, avoided: Math.max(0, objects - used)},
    bill: billOf({
      operations: beginning(content),
      among: operations,
      ...input.pricing,
      accountAt: accountsOfOperations(input.kinds, input.accountOf),
    }),
    ...(input.notAfter === undefined ? {} : {notAfter: input.notAfter}),
    ...(input.source === undefined ? {} : {source: input.source}),
    ...writtenAt(operations, input.stacks),
  }
  return {plan: sealed(plan), observation, choice}
}

/** For a list that must not hang on the order of a stack file. */
const by =
  <T>(text: (it: T) => string) =>
  (a: T, b: T): number =>
    text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0

const sorted = (words: readonly string[]): string[] => [...new Set(words)].sort()

/** The same lifts are the same plan, in whatever order they were given. */
const tidied = ({allowDestroy, adopt, accept, ...lifts}: Lifts): Lifts => ({
  ...lifts,
  allowDestroy: sorted(allowDestroy),
  adopt: sorted(adopt),
  accept: sorted(accept),
})

const selectsAll = ({target, exclude}: Selection): boolean => target.length + exclude.length === 0

const SCOPE_NOTE = 'only what differs from the ledger was looked at (--scope changed): changes made outside are not seen'

/** Nothing of what was made is there: more likely somebody is elsewhere than somebody deleted it all. */
function allGone({ledgers}: BuildPlanInput, operations: readonly Operation[]): string[] {
  const owned = [...ledgers.values()].reduce((sum, it) => sum + it.entries.size, 0)
  const gone = operations.filter(it => it.cause === 'gone').length
  return owned > 1 && gone === owned ? [`all ${owned} objects in the ledgers are gone: is this the right account?`] : []
}

/** Why `destroy` leaves a stack as it is: only what its ledger has is its own. */
function nothingOwned({name, ledgerCondition, owned}: PlannedStack): string[] {
  if (owned > 0) return []
  return ledgerCondition === 'absent'
    ? [
        `stack ${name} has no ledger, so nothing is known to be its own, and nothing is destroyed: either it was never applied, or its ledger is in another folder or backend; what it declares and is there already comes into a ledger with svcctl import --all`,
      ]
    : [`the ledger of stack ${name} has no objects: nothing was made or imported yet, or all of it is destroyed already`]
}

/** What is declared, as it stands before anything is read. */
const unread = ({stacks, selected}: BuildPlanInput, isMeant: (it: Declaration) => boolean = () => true): Observation['pairs'] =>
  new Map(
    stacks
      .filter(it => selected.has(it.name))
      .flatMap(it => it.declarations)
      .filter(isMeant)
      .map(it => [it.key, {declaration: it, spec: it.spec, context: false}] as const),
  )

/** The keys that differ from the ledger; secrets by their digests. */
async function changedOnly(input: BuildPlanInput): Promise<ReadonlySet<Key>> {
  const stacks = input.stacks.filter(it => input.selected.has(it.name))
  return changedKeys(stacks, input.ledgers, await input.secretStates(unread(input)), {
    kinds: input.kinds,
    ledgers: [...(input.otherLedgers ?? []), ...input.ledgers.values()],
    evaluate: input.evaluate,
    variable: input.variable,
    accountOf: input.accountOf,
  })
}

/** Where what is changed stands in the stacks; nothing where no stack says. */
function writtenAt(operations: readonly Operation[], stacks: readonly StackDeclarations[]): Pick<Plan, 'written'> {
  const changed = new Set(operations.filter(it => it.action !== 'no-op').map(keyOfOperation))
  const written: Record<string, string> = {}
  for (const {key, source} of stacks.flatMap(it => it.declarations)) {
    if (source.file === undefined || !changed.has(key)) continue
    written[key] = source.line === undefined ? source.file : `${source.file}:${source.line}`
  }
  return Object.keys(written).length === 0 ? {} : {written}
}

/** ` 7`: what it was looked for by. */
function nameOf({identity}: Kind, spec: ValueObject): string {
  const name = identity.key(plainPart(spec))
  return name === undefined ? '' : ` ${name}`
}

/** Why an object that is not there cannot be made of its declaration; one that its id alone tells has no name to be made by. */
function whyNotMade({adoptOnly, singleton, noun, identity: {declaredId, renames}}: Kind, spec: ValueObject): string | undefined {
  if (adoptOnly || singleton) return `a ${noun} cannot be created`
  const isToldById = renames !== undefined && spec[renames] === undefined && declaredId?.(plainPart(spec)) !== undefined
  return isToldById ? `without a ${renames} none can be created: declare one, or the id of a ${noun} that is there` : undefined
}

/**
 * What must exist and does not: a node or a singleton is never created, and nothing is replaced by what cannot be. What is wrong
 * otherwise says nothing of that.
 */
function absentProblems({kinds}: BuildPlanInput, {pairs, problems}: Observation): Problem[] {
  const said = new Set(problems.map(it => it.address))
  return [...pairs.values()].flatMap(pair => {
    const {declaration, spec, match, context} = pair
    const kind = kinds.get(declaration.kind)
    if (kind === undefined || said.has(declaration.key)) return []
    if (declaration.importId !== undefined && !context && isStillToBePlaced(pair, pairs)) {
      const message = `import of ${declaration.importId}: that is in no ${kind.parent?.field ?? 'parent'} that is still to be made, as the declared one is`
      return [{address: declaration.key, message, ...sourceOf(declaration)}]
    }
    if (match !== undefined && !meansAnother(kind, plainPart(spec), match.live.remoteId)) return []
    if (match === undefined && context)
      return [{address: declaration.key, message: `does not exist${neededByWords(declaration.key, pairs)}`}]
    const why = context ? undefined : whyNotMade(kind, spec)
    return why === undefined
      ? []
      : [{address: declaration.key, message: `there is no ${kind.noun}${nameOf(kind, spec)}, and ${why}`, ...sourceOf(declaration)}]
  })
}

/** `, and stack shop needs it` */
function neededByWords(key: Key, pairs: Observation['pairs']): string {
  const needing = [...pairs.values()].find(({declaration, context}) => !context && neededBy(declaration).includes(key))
  return needing === undefined ? '' : `, and ${needing.declaration.key} needs it`
}

/** Stacks outside the run of which something is missing that the run needs. */
const appliedFirst = ({selected}: BuildPlanInput, {pairs}: Observation): string[] => [
  ...new Set(
    [...pairs.values()].flatMap(({declaration: {stack}, match, context}) =>
      match === undefined && context && !selected.has(stack) ? [stack] : [],
    ),
  ),
]

/** Whether nothing is there of an object, since what it is to live in is certainly not there either. */
function isStillToBePlaced(pair: Paired, pairs: Observation['pairs']): boolean {
  for (let at: Paired | undefined = pair; at !== undefined; ) {
    if (at.match !== undefined || at.stray !== undefined || at.doubt !== undefined) return false
    // Where this is to be made is known.
    if (at.parent !== undefined) return at !== pair
    const above: Declaration['parent'] = at.declaration.parent
    at = above?.by === 'key' ? pairs.get(above.key) : undefined
  }
  return false
}

function plannedStack(
  input: BuildPlanInput,
  observation: Observation,
  operations: readonly Operation[],
  stack: StackDeclarations,
): PlannedStack {
  const ledger = input.ledgers.get(stack.name)
  // Of whatever stack it is: an output may read what another one has.
  const replaced = new Set(operations.filter(it => it.action === 'replace').map(keyOfOperation))
  const answer = (deferred: Deferred) => {
    if (deferred.needs.some(it => replaced.has(it) || observation.pairs.get(it)?.match === undefined)) return undefined
    return lookupAnswer(input, observation, stack.name, deferred)
  }
  return {
    name: stack.name,
    ledger: stack.ledger,
    ledgerCondition: ledger?.condition ?? 'absent',
    ...boundTo(ledger, input.places?.get(stack.name)),
    targets: stack.targets,
    owned: ledger?.entries.size ?? 0,
    declared: input.destroy ? 0 : stack.declarations.length,
    outputs: input.destroy
      ? []
      : stack.outputs.toSorted(by(it => it.name)).map(({name, value, sensitive}) => {
          const known = resolveValue(value, answer)
          const expression = known instanceof Deferred || known instanceof Secret ? known.expression : undefined
          const secret = openLeaves(known).some(({leaf}) => leaf instanceof Secret || leaf.secret)
          return {
            name,
            value: value instanceof Deferred && input.hides ? input.hides(shown(known)) : shown(known),
            sensitive,
            ...(expression === undefined ? {} : {expression}),
            ...(secret ? {secret: true as const} : {}),
          }
        }),
    recorded: outputDigests(ledger?.outputs ?? {}, name =>
      stack.outputs.some(it => it.name === name && openLeaves(it.value).some(({leaf}) => leaf instanceof Secret || leaf.secret)),
    ),
  }
}

/** Its lineage tells a ledger from others, wherever it is; before it has one, and when it is lost, its place does. */
function boundTo(ledger: Ledger | undefined, place: string | undefined): Pick<PlannedStack, 'lineage' | 'place'> {
  const lineage = ledger?.lineage ?? ''
  return {...(lineage !== '' && {lineage}), ...(place !== undefined && {place})}
}

function lookupAnswer(input: BuildPlanInput, {pairs}: Observation, stack: string, deferred: Deferred) {
  try {
    return input.evaluate(deferred.expression, stack, {
      variable: input.variable,
      attribute: (key: Key, attribute: string) => liveAttribute(pairs.get(key)?.match?.live, attribute),
    })
  } catch {
    // Not answered by the live object yet: it stays unknown in the plan and is asked again at apply.
    return undefined
  }
}

const declarationsDigest = (stacks: readonly StackDeclarations[]): string =>
  sha256(
    stacks.toSorted(by(it => it.name)).map(({name, declarations, outputs}) => ({
      name,
      declarations: declarations.toSorted(by(it => it.address)).map(it => ({
        address: it.address,
        kind: it.kind,
        ...declaredPart(it, it.spec, it.parent).declared,
      })),
      outputs: outputs.toSorted(by(it => it.name)).map(it => ({name: it.name, value: shown(it.value)})),
    })),
  )
