import type {FieldDecision} from '../model/decision.ts'
import type {StackDeclarations} from '../model/declaration.ts'
import type {Hides, SecretStateOf} from '../model/diff.ts'
import type {OwnershipInput} from '../model/ownership.ts'
import type {Lifts, Operation} from '../model/plan.ts'
import type {Key} from '../model/value.ts'
import type {Observation} from '../observe/observation.ts'

export interface PlanInput extends OwnershipInput {
  readonly observation: Observation
  readonly stacks: readonly StackDeclarations[]
  readonly selected: ReadonlySet<string>
  readonly secretState: SecretStateOf
  readonly hides?: Hides | undefined
  readonly lifts: Pick<Lifts, 'onDrift' | 'noDestroy'>
  /** Fields that a saved plan leaves as somebody changed them, whatever `onDrift` says. */
  readonly kept?: ReadonlyMap<Key, readonly string[]>
  /** Of a saved plan: objects that were approved as left alone, for what only the whole plan could see. */
  readonly leftAlone?: ReadonlyMap<Key, Operation>
  /** Gets how each field was decided, by object: for whoever explains a plan. */
  readonly decisions?: Map<Key, readonly FieldDecision[]> | undefined
  /** Of removals of what nobody declares: those that were chosen. Absent: all. What is not among them stays. */
  readonly keeps?: (removals: readonly Operation[]) => (it: Operation) => boolean
  /** `--accept`: those of what is planned that it names. Absent: none. */
  readonly accepts?: (planned: readonly Operation[]) => (it: Operation) => boolean
  /** `svcctl destroy`: nothing is declared, since that is what was asked for. */
  readonly destroy?: boolean
}
