/** One object of an API: a `null_resource` of cdktf's own null provider, whose triggers are its declaration. */
import {Resource} from '@cdktf/provider-null/lib/resource/index.js'
import {Annotations, dependable, propertyAccess, ref, type TerraformProvider, type TerraformStack, Token} from 'cdktf'
import type {Construct, IConstruct} from 'constructs'
import {canonicalJson} from '../../base/json.ts'
import {escapeTemplate} from '../../base/quoted-text.ts'
import type {FieldPointer, PolicyOptions, RemovalPolicy, ResourceOptions} from './authored.ts'
import {ConstructError} from './construct-error.ts'
import {finishedObject, finishedTexts, PlainRendering} from './finished.ts'
import {type HoistedSpec, hoist} from './hoist.ts'
import {madeAt, notePlace} from './source-line.ts'
import {RESOURCE_TYPE, StackCompanion} from './stack-companion.ts'
import {withoutTrace} from './without-trace.ts'

/** A reference that names no single value. */
export class ConstructReferenceError extends ConstructError {
  constructor(construct: IConstruct, problem: string, suggestion: string) {
    super(construct.node.path, {code: 'E_CONSTRUCT_REFERENCE', problem, suggestion, place: madeAt(construct)})
  }
}

export interface ManagedObjectOptions extends PolicyOptions, ResourceOptions {
  readonly exclusive?: readonly string[]
}

/** What of a construct's properties is declared: all that is no option. */
export type DeclaredFields<Props> = {[Field in keyof Props as Exclude<Field, keyof ManagedObjectOptions>]: Props[Field]}

/** The values of one object that others may refer to. */
export interface ObjectReferences<Kind extends string = string> {
  /** As in the stack file: `cloud.database`. */
  readonly kind: Kind
  /** The remote path (`cloud/subscriptions/12`), known once the object exists. */
  readonly id: string
  /** Any field of the live object, deeper ones by pointer: `output('publicEndpoint')`, `output('endpoint/port')`. */
  output(field: string): string
}

/** How a parent may be named: a construct, or for one that no stack declares its name, its numeric id or its remote path. */
export type ParentOf<Kind extends string> = ObjectReferences<Kind> | string | number

export abstract class ManagedObject<Kind extends string, Props extends ManagedObjectOptions>
  extends Resource
  implements ObjectReferences<Kind>
{
  abstract readonly kind: Kind
  /** What is declared. Read when the stack is synthesized: an Aspect may still change it. */
  spec: DeclaredFields<Props>
  /** The field that names the parent, and the parent's kind. */
  protected readonly parent?: {readonly field: string; readonly kind: string}
  /** Pointers of the fields that take lists or objects, `*` for any slot. */
  protected readonly containers: readonly string[] = []
  removalPolicy: RemovalPolicy
  ignoreChanges: readonly FieldPointer[]
  exclusive: readonly string[]
  readonly #outputs = new Set<string>()
  readonly #tokens = new Map<string, string>()
  readonly #warned = new Set<string>()

  constructor(scope: Construct, id: string, props: Props) {
    const {spec, options} = split(props)
    const {removalPolicy = 'delete', ignoreChanges = [], exclusive = [], dependsOn, ...resource} = options
    super(scope, id, resource)
    notePlace(this)
    this.spec = spec
    this.removalPolicy = removalPolicy
    this.ignoreChanges = ignoreChanges
    this.exclusive = exclusive
    if (dependsOn !== undefined) this.dependsOn = withoutTrace(() => dependsOn.map(it => dependable(it)))
    StackCompanion.of(this).claim(this, this.cdktfStack.getLogicalId(this))
  }

  /** What `dependsOn` of another construct refers to; cdktf makes the token when it is asked for first, and keeps it. */
  override get fqn(): string {
    return withoutTrace(() => super.fqn)
  }

  /** The remote path (`cloud/subscriptions/12`), known once the object exists. */
  override get id(): string {
    this.#refuseMany('id')
    return this.#attribute('id')
  }

  /**
   * Any field of the live object, deeper ones by pointer: `output('publicEndpoint')`, `output('endpoint/port')`.
   * Numbers and booleans come as text; a field that takes a number takes it back.
   */
  output(field: string): string {
    this.#refuseMany(`output(${JSON.stringify(field)})`)
    return this.#attribute(`triggers[${JSON.stringify(this.#declareOutput(field))}]`)
  }

  /** All its triggers, as another construct may refer to them. They are its declaration: what they say is set by its properties. */
  override get triggers(): {[key: string]: string} {
    return super.triggers
  }

  override set triggers(_: {[key: string]: string}) {
    throw new ConstructReferenceError(
      this,
      'its triggers are its declaration, and are written from its fields',
      'Set the fields (.spec) instead; further text belongs in a construct of your own.',
    )
  }

  /** One object of several made with `forEach` (by key, `iterator.key` included) or `count` (by index). */
  instance(key: string | number): ObjectReferences<Kind> {
    return {
      kind: this.kind,
      id: this.#instanceAttribute(key, 'id'),
      output: field => this.#instanceAttribute(key, 'triggers', this.#declareOutput(field)),
    }
  }

  /**
   * Says which object of the API this is. cdktf would ask `terraform version` for each of them, 0.1 s apiece, and fail where
   * Terraform is not installed; it is svcctl that reads import blocks.
   */
  override importFrom(id: string, provider?: TerraformProvider): void {
    const {node} = this
    node.addValidation = () => {}
    try {
      super.importFrom(id, provider)
    } finally {
      Reflect.deleteProperty(node, 'addValidation')
    }
  }

  override overrideLogicalId(newLogicalId: string): void {
    if (this.#tokens.size > 0) {
      // cdktf would keep the first name without a word.
      throw new ConstructReferenceError(
        this,
        'its address is in use already',
        'Override the logical id before other constructs refer to it.',
      )
    }
    StackCompanion.of(this).claim(this, newLogicalId)
    super.overrideLogicalId(newLogicalId)
  }

  override resetOverrideLogicalId(): void {
    StackCompanion.of(this).claim(this, this.cdktfStack.getLogicalId(this))
    super.resetOverrideLogicalId()
  }

  /** The spec as the stack file has it: the parent by its id. */
  protected renderedSpec(): Readonly<Record<string, unknown>> {
    const fields: Readonly<Record<string, unknown>> = this.spec
    if (this.parent === undefined) return fields
    const {field, kind} = this.parent
    const parent = fields[field]
    if (!isReference(parent)) return fields
    if (parent.kind !== kind) {
      throw new ConstructReferenceError(
        this,
        `${field} must be a ${kind}, and it is a ${parent.kind}`,
        `Pass the construct of the ${field}, or its name, numeric id or remote path.`,
      )
    }
    return {...fields, [field]: parent.id}
  }

  protected override synthesizeAttributes(): {[name: string]: unknown} {
    return {triggers: this.#triggers(this.#hoisted())}
  }

  /** cdktf looks for tokens in what it says of overrides, imports and moves, also where there are none. */
  override toMetadata(): unknown {
    return this.#isUnmarked() ? {} : super.toMetadata()
  }

  override toTerraform(): unknown {
    if (!this.#isPlain()) return this.#elaborate()
    const hoisted = this.#hoisted()
    return new PlainRendering({
      type: this.terraformResourceType,
      name: this.friendlyUniqueId,
      dependsOn: this.dependsOn,
      expressions: hoisted.expressions,
      triggers: () => this.#triggers(hoisted),
      metadata: () => this.#nodeMetadata(),
      elaborate: () => this.#elaborate(),
    })
  }

  /** As cdktf renders a resource, with whatever may be said of one; three times the work. */
  #elaborate(): unknown {
    const rendered: {resource?: Record<string, Record<string, {triggers: Record<string, unknown>}>>} = super.toTerraform()
    const attributes = rendered.resource?.[this.terraformResourceType]?.[this.friendlyUniqueId]
    if (attributes === undefined) return rendered
    const finished = {...attributes, triggers: finishedTexts(attributes.triggers, {open: hasOverrides(this.cdktfStack)})}
    return {...rendered, resource: {[this.terraformResourceType]: {[this.friendlyUniqueId]: finished}}}
  }

  /** Whether nothing is said of it but what it depends on, by its program or by a class that extends it. */
  #isPlain(): boolean {
    const {dependsOn: _, ...others} = this.terraformMetaArguments
    return (
      Object.values(others).every(it => it === undefined) &&
      this.provisioners === undefined &&
      this.#isUnmarked() &&
      !hasOverrides(this.cdktfStack) &&
      leavesRendering(Object.getPrototypeOf(this))
    )
  }

  /** Whether it has no overrides, and is neither moved nor imported. */
  #isUnmarked(): boolean {
    return ELABORATE.every(name => isNothing(Reflect.get(this, name)))
  }

  protected override get constructNodeMetadata(): {[key: string]: unknown} {
    return Object.fromEntries(Object.entries(this.#nodeMetadata()).map(([key, value]) => [key, finishedObject(value)]))
  }

  #nodeMetadata(): Readonly<Record<string, object>> {
    const metadata: Record<string, object> = {...super.constructNodeMetadata}
    const source = madeAt(this)
    return source === undefined ? metadata : {...metadata, svcctl: {source}}
  }

  #hoisted(): HoistedSpec {
    const hoisted = hoist(this, this.renderedSpec(), this.containers)
    for (const pointer of hoisted.typedExpressions) this.#warnOfTypedExpression(pointer)
    return hoisted
  }

  #triggers({literals, expressions}: HoistedSpec): Readonly<Record<string, unknown>> {
    const policy = this.#policy()
    return {
      kind: this.kind,
      spec: literals(),
      ...expressions,
      ...Object.fromEntries([...this.#outputs].sort().map(name => [name, ''])),
      ...(policy === undefined ? {} : {policy}),
    }
  }

  /** One token for each attribute, however often it is asked for. */
  #attribute(attribute: string): string {
    const known = this.#tokens.get(attribute)
    if (known !== undefined) return known
    const token = withoutTrace(() => this.getStringAttribute(attribute))
    this.#tokens.set(attribute, token)
    return token
  }

  #instanceAttribute(key: string | number, attribute: string, trigger?: string): string {
    if (Token.isUnresolved(key)) {
      return Token.asString(propertyAccess(this.fqn, trigger === undefined ? [key, attribute] : [key, attribute, trigger]))
    }
    const index = `[${typeof key === 'number' ? key : escapeTemplate(JSON.stringify(key))}]`
    const deeper = trigger === undefined ? '' : `[${JSON.stringify(trigger)}]`
    this.#tokens.set(index, '')
    return Token.asString(ref(`${RESOURCE_TYPE}.${this.friendlyUniqueId}${index}.${attribute}${deeper}`, this.cdktfStack))
  }

  #policy(): string | undefined {
    const policy = {
      ...(this.exclusive.length > 0 ? {exclusive: [...this.exclusive].sort()} : {}),
      ...(this.removalPolicy === 'retain' ? {removal: 'retain'} : {}),
      ...(this.ignoreChanges.length > 0 ? {ignoreChanges: [...this.ignoreChanges].sort()} : {}),
    }
    return Object.keys(policy).length > 0 ? escapeTemplate(canonicalJson(policy)) : undefined
  }

  #declareOutput(field: string): string {
    const name = field.replace(/^\//, '')
    if (!/^[^"\\${}\p{Cc}]+$/u.test(name)) {
      throw new ConstructReferenceError(
        this,
        `${JSON.stringify(field)} names no field of an object`,
        "Name a field, or a deeper one by pointer: output('endpoint/port').",
      )
    }
    this.#outputs.add(`out/${name}`)
    return `out/${name}`
  }

  #refuseMany(what: string): void {
    if (this.forEach === undefined && this.count === undefined) return
    const [example, word] = this.forEach === undefined ? ['0', 'count'] : ["'key'", 'forEach']
    throw new ConstructReferenceError(
      this,
      `it is declared with ${word}, so .${what} would mean many objects`,
      `Say which one: .instance(${example}).${what}`,
    )
  }

  #warnOfTypedExpression(pointer: string): void {
    // cdktf renders twice, and shows what was said the first time.
    if (this.#warned.has(pointer)) return
    this.#warned.add(pointer)
    Annotations.of(this).addWarning(
      `${pointer} has "\${" or "%{" typed by hand; it is taken as text. For an expression use a reference, a TerraformVariable or Fn.`,
    )
  }
}

/** Whether `addOverride` was called on the stack itself; cdktf lays those over what is rendered, and cannot do so over a token. */
function hasOverrides(stack: TerraformStack): boolean {
  const overrides: unknown = Reflect.get(stack, 'rawOverrides')
  return typeof overrides !== 'object' || overrides === null || Object.keys(overrides).length > 0
}

/** What cdktf keeps of overrides, moves and imports. */
const ELABORATE = ['rawOverrides', '_imported', '_hasMoved', '_movedByTarget', '_movedById']

const isNothing = (value: unknown): boolean =>
  value === undefined || value === false || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)

/** What a class of a stack's program may have extended. */
const RENDERING = ['synthesizeAttributes', 'constructNodeMetadata', 'terraformMetaArguments']
const leaving = new WeakMap<object, boolean>([[ManagedObject.prototype, true]])

function leavesRendering(prototype: object | null): boolean {
  if (prototype === null) return false
  const known = leaving.get(prototype)
  if (known !== undefined) return known
  const leaves = !RENDERING.some(name => Object.hasOwn(prototype, name)) && leavesRendering(Object.getPrototypeOf(prototype))
  leaving.set(prototype, leaves)
  return leaves
}

const isReference = (value: unknown): value is ObjectReferences =>
  typeof value === 'object' && value !== null && 'kind' in value && 'id' in value && 'output' in value

const OPTIONS: ReadonlySet<string> = new Set<keyof ManagedObjectOptions>([
  'dependsOn',
  'forEach',
  'count',
  'lifecycle',
  'removalPolicy',
  'ignoreChanges',
  'exclusive',
])

function split<Props extends ManagedObjectOptions>(props: Props): {spec: DeclaredFields<Props>; options: ManagedObjectOptions}
function split(props: object): {spec: object; options: object} {
  const entries = Object.entries(props).filter(([, value]) => value !== undefined)
  return {
    spec: Object.fromEntries(entries.filter(([name]) => !OPTIONS.has(name))),
    options: Object.fromEntries(entries.filter(([name]) => OPTIONS.has(name))),
  }
}
