/** From documents to declarations: evaluated, checked, and everything wrong said at once. Pure. */

import type {Json} from '../../base/json.ts'
import {addAll} from '../../base/many.ts'
import type {Declaration, Dependency, ParentRef, StackDeclarations} from '../../engine/model/declaration.ts'
import type {Kinds} from '../../engine/model/kind.ts'
import {openLeaves} from '../../engine/model/resolve.ts'
import {type Key, Secret, spokenProblems, type Value} from '../../engine/model/value.ts'
import {backendOf} from '../../ledger/backends/registry.ts'
import {ledgerOf, targetsOf} from '../files/backend-block.ts'
import {Problems} from '../files/problems.ts'
import type {StackDocument} from '../files/stack-document.ts'
import {CORRECT_STACKS, DeclarationError} from '../language/values/errors.ts'
import {checkCycles, checkDuplicates, type Resolved} from './check-declarations.ts'
import type {Draft} from './draft.ts'
import {DraftIndex, parentRefOf} from './parents.ts'
import {type SecretVariable, secretVariables, withoutSecretVariables} from './secret-variables.ts'
import {AppContext, StackNames} from './stack-names.ts'
import {StackReader} from './stack-reader.ts'
import {type GivenValues, gatherVariables} from './variables.ts'

export interface ReadInput {
  readonly documents: readonly StackDocument[]
  readonly kinds: Kinds
  /** Values from outside the stacks, `givenValues`. */
  readonly given: GivenValues
  /** `plan` refuses variables without a value; `validate` leaves what hangs on them unknown. */
  readonly mode: 'plan' | 'validate'
  /** As if nobody had given a value of a secret. */
  readonly withheld?: boolean
  /** The stacks asked for; all are read and checked, because they refer to each other. */
  readonly selected: ReadonlySet<string>
  /** Is told every value that must not be shown, before anything is said of the stacks. */
  readonly onSecret?: ((value: Json) => void) | undefined
}

export interface ReadResult {
  /** In the order of the documents; those asked for and the others alike. */
  readonly stacks: readonly StackDeclarations[]
  /** Those of no stack in particular. */
  readonly warnings: readonly string[]
  readonly secrets: readonly SecretVariable[]
}

/** @throws DeclarationError with every problem of all stacks */
export function readStacks({documents, kinds, given, mode, withheld = false, selected, onSecret = () => {}}: ReadInput): ReadResult {
  const misshapen = documents.flatMap(document => document.misshapen)
  if (misshapen.length > 0)
    throw new DeclarationError(spokenProblems([...misshapen, ...documents.flatMap(document => document.problems)], selected))
  const problems = new Problems()
  const gathered = gatherVariables(documents, given, mode, selected)
  addAll(problems.all, gathered.problems)
  for (const variables of gathered.byStack.values())
    for (const {sensitive, value} of variables.values()) if (sensitive && value !== undefined) onSecret(value)
  const app = new AppContext(mode, selected)
  const stacks = documents.map(document => {
    const variables = gathered.byStack.get(document.name) ?? new Map()
    const names = new StackNames(document, app, withheld ? withoutSecretVariables(variables) : variables)
    const ledger = ledgerOf(document, problems)
    const place = backendOf(ledger).place(ledger)
    const other = place === undefined ? undefined : app.byLedger.get(place)
    if (other) {
      const [block] = document.terraform
      problems.add(
        {stack: document.name, address: 'terraform.backend', source: block?.source ?? {}},
        `its ledger is ${place}, and so is that of stack ${other.document.name}: give each stack its own`,
      )
    } else if (place !== undefined) app.byLedger.set(place, names)
    return {reader: new StackReader(names, kinds, problems), ledger, targets: targetsOf(document)}
  })
  const drafts = stacks.map(({reader}) => reader.drafts())
  const tell = (value: Value): void => {
    for (const {leaf} of openLeaves(value)) if (leaf instanceof Secret && leaf.value !== undefined) onSecret(leaf.value)
  }
  for (const {spec, opens, clearSecrets} of drafts.flat()) if (opens.length + clearSecrets.length > 0) tell(spec)
  const index = new DraftIndex(drafts.flat(), new Map(stacks.map(({reader, targets}) => [reader.stack, targets])))
  const resolved = stacks.map(({reader}, at) => {
    const own = drafts[at] ?? []
    const imports = reader.imports(new Map(own.map(draft => [draft.place.address, draft])))
    return own.map(draft => resolve(draft, index, kinds, problems, imports))
  })
  const all = resolved.flat()
  checkDuplicates(all, index, problems)
  checkCycles(all, problems)
  const rest = stacks.map(({reader}) => ({outputs: reader.outputs(), moved: reader.moved(), removed: reader.removed()}))
  for (const {outputs} of rest) for (const {value} of outputs) tell(value)
  if (problems.all.length > 0) {
    const others = problems.all.length > gathered.problems.length ? [CORRECT_STACKS] : []
    throw new DeclarationError(spokenProblems(problems.all, selected), {remedies: [...new Set([...others, ...gathered.remedies])]})
  }
  return {
    stacks: stacks.map(({reader, ledger, targets}, at) => ({
      name: reader.stack,
      declarations: (resolved[at] ?? []).map(({declaration}) => declaration),
      outputs: rest[at]?.outputs ?? [],
      targets,
      ledger,
      moved: rest[at]?.moved ?? [],
      removed: rest[at]?.removed ?? [],
      warnings: problems.warnings.filter(it => it.stack === reader.stack).map(it => it.text),
    })),
    warnings: gathered.warnings,
    secrets: secretVariables(gathered.byStack),
  }
}

function resolve(draft: Draft, index: DraftIndex, kinds: Kinds, problems: Problems, imports: ReadonlyMap<string, string>): Resolved {
  const parent = parentRefOf(draft, index, kinds, problems)
  const {address, source} = draft.place
  const importId = imports.get(address)
  const declaration: Declaration = {
    stack: draft.stack,
    address,
    key: draft.key,
    kind: draft.kind.name,
    spec: draft.spec,
    ...(parent ? {parent} : {}),
    dependsOn: dependenciesOf(draft, parent),
    policy: draft.policy,
    outputs: draft.outputs,
    source,
    ...(importId === undefined ? {} : {importId}),
    clearSecrets: draft.clearSecrets,
  }
  return {draft, declaration}
}

/** What the parent's field reads beside the parent itself is a reference like any other. */
function dependenciesOf(draft: Draft, parent: ParentRef | undefined): readonly Dependency[] {
  const dependencies = new Map<Key, Dependency>()
  const add = (keys: Iterable<Key>, reason: Dependency['reason']): void => {
    for (const key of keys)
      if (!dependencies.has(key) && !(parent?.by === 'key' && parent.key === key)) dependencies.set(key, {key, reason})
  }
  add(draft.references, 'reference')
  if (draft.parent) add(draft.parent.reads, 'reference')
  add(draft.dependsOn, 'depends_on')
  return [...dependencies.values()]
}
