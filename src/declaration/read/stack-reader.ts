/** Reads one stack: its objects as drafts, its outputs, and the blocks that speak of addresses. */
import {isJsonObject, type Json} from '../../base/json.ts'
import {addAll} from '../../base/many.ts'
import type {OutputDeclaration} from '../../engine/model/declaration.ts'
import {type Kinds, locate} from '../../engine/model/kind.ts'
import {Deferred, type Key, keyOf, Secret, type Value} from '../../engine/model/value.ts'
import type {Problems, SourcePlace} from '../files/problems.ts'
import {type Block, blocksIn} from '../files/stack-document.ts'
import {parseReference} from '../language/expression-parser.ts'
import {hint} from '../language/hint.ts'
import {isIdentifier, type Node, partsOf, printAddress, printTemplate} from '../language/values/expression.ts'
import {nodeOf, Open, type OpenValue, opensIn} from '../language/values/open-value.ts'
import {type Draft, draftOf} from './draft.ts'
import {ObjectBlock} from './object-block.ts'
import type {StackNames} from './stack-names.ts'

export class StackReader {
  readonly names: StackNames
  readonly #kinds: Kinds
  readonly #problems: Problems
  readonly #blocks = new Map<string, ObjectBlock>()

  constructor(names: StackNames, kinds: Kinds, problems: Problems) {
    this.names = names
    this.#kinds = kinds
    this.#problems = problems
    addAll(problems.all, names.document.problems)
    this.#refuseForeign()
    for (const [name, block] of names.document.resources.get('null_resource') ?? []) {
      if (!this.#isOurs(name, block)) continue
      // A ledger could not hold it: what was made of it would be nobody's.
      if (!isIdentifier(name)) {
        this.#problems.add(
          this.#place(`null_resource.${name}`, block),
          `${JSON.stringify(name)} is no name of a resource: it has letters, digits, underscores and hyphens, and begins with a letter or underscore`,
        )
        continue
      }
      const object = new ObjectBlock(name, block, names, kinds, problems)
      this.#blocks.set(name, object)
      names.blocks.set(name, object)
    }
  }

  get stack(): string {
    return this.names.document.name
  }

  #place(address: string, {source}: Pick<Block, 'source'>): SourcePlace {
    return {stack: this.stack, address, source}
  }

  /** Nobody else applies a stack of svcctl, so what it cannot make would never be made. */
  #refuseForeign(): void {
    const {resources, modules} = this.names.document
    for (const [type, byName] of resources) {
      if (type === 'null_resource') continue
      for (const [name, block] of byName) {
        this.#problems.add(
          this.#place(`${type}.${name}`, block),
          `svcctl makes no ${type}: keep it in a stack that Terraform applies, and pass what is needed of it in through a variable`,
        )
      }
    }
    for (const [name, block] of modules) {
      this.#problems.add(
        this.#place(`module.${name}`, block),
        'svcctl reads no modules: declare the objects in the stack itself, with constructs',
      )
    }
  }

  #isOurs(name: string, block: Block): boolean {
    const place = this.#place(printAddress(name), block)
    const {triggers} = block.body
    if (isJsonObject(triggers) && triggers.kind !== undefined) return true
    this.#problems.add(
      place,
      isJsonObject(triggers)
        ? `it has no trigger "kind", so svcctl cannot tell what it is${hint('kind', Object.keys(triggers))}: write "kind": "cloud.database" beside "spec", or keep it in a stack that Terraform applies`
        : 'its triggers must be an object with "kind" and "spec"',
    )
    return false
  }

  drafts(): readonly Draft[] {
    const drafts: Draft[] = []
    for (const block of this.#blocks.values()) {
      const dependsOn = this.#dependsOn(block)
      for (const instance of block.list()) {
        const draft = draftOf(instance, dependsOn)
        if (draft === undefined) continue
        drafts.push(draft)
        this.#checkMissingVariables(draft, block)
      }
    }
    return drafts
  }

  /** A variable of a stack that was not asked for may be without a value, as long as nobody asks for it. */
  #checkMissingVariables({place, opens}: Draft, {stack}: ObjectBlock): void {
    const {app} = stack
    if (app.mode !== 'plan' || app.missing.size === 0 || !app.selected.has(this.stack)) return
    const missing = new Set(opens.flatMap(open => (open.value === undefined && open.node ? variablesIn(open.node) : [])))
    for (const name of missing) {
      const [owner, variable] = name.split('\0')
      if (app.missing.has(name) && owner !== this.stack) {
        this.#problems.add(place, `it reads the variable ${variable} of stack ${owner}, which has no value: set TF_VAR_${variable}`)
      }
    }
  }

  #dependsOn({body, place}: ObjectBlock): ReadonlySet<Key> {
    const keys = new Set<Key>()
    const {depends_on: list} = body
    if (list === undefined || list === null) return keys
    if (!Array.isArray(list)) {
      this.#problems.add(place, 'depends_on must be a list of addresses')
      return keys
    }
    for (const item of list as readonly Json[]) {
      for (const key of this.#addressed(place, 'depends_on', item) ?? []) keys.add(key)
    }
    return keys
  }

  /** The keys of the objects an address names: all instances of a bare name. `undefined` with a problem. */
  #addressed(place: SourcePlace, argument: string, item: Json): readonly Key[] | undefined {
    const say = (message: string): undefined => {
      this.#problems.add(place, `${argument}: ${message}`)
      return undefined
    }
    if (typeof item !== 'string') return say('an address is a text')
    const address = addressIn(item)
    if (address === undefined)
      return /^(?:data|var|local|module)\./.test(item) ? [] : say(`${JSON.stringify(item)} is not an address like null_resource.cache`)
    const block = this.#blocks.get(address.name)
    if (block === undefined) {
      if (this.names.document.resources.get('null_resource')?.has(address.name)) return []
      return say(`null_resource.${address.name} is not declared${hint(address.name, [...this.#blocks.keys()])}`)
    }
    const instances = block.instances()
    if (instances === 'unknown') return []
    if (address.key === undefined) return [...instances.values()].map(it => keyOf(this.stack, it.address))
    const found = instances.get(address.key)
    return found ? [keyOf(this.stack, found.address)] : say(`${item} is not among the instances of null_resource.${address.name}`)
  }

  outputs(): readonly OutputDeclaration[] {
    return [...this.names.document.outputs].flatMap(([name, block]) => {
      const {body} = block
      const place = this.#place(`output.${name}`, block)
      if (body.precondition !== undefined)
        this.#problems.add(place, "svcctl does not evaluate a precondition yet: check it in the stack's own code")
      const value = this.#problems.try(place, body.value ?? null, () => this.names.app.noting(() => this.names.output(name, 0)).result)
      if (value === undefined) return []
      const tainted = opensIn(value).some(open => open.secret)
      // cdktf marks everything that goes from stack to stack as sensitive; the value itself knows better.
      const marked = body.sensitive === true && !name.startsWith('cross-stack-output-')
      const description = typeof body.description === 'string' ? {description: body.description} : {}
      return [{name, value: closedWhole(value, this.stack), sensitive: tainted || marked, ...description}]
    })
  }

  moved(): readonly {from: string; to: string}[] {
    return this.names.document.moved.flatMap(block => {
      const place = this.#place('moved', block)
      const from = this.#address(place, 'moved.from', block.body.from)
      const to = this.#address(place, 'moved.to', block.body.to)
      if (from === undefined || to === undefined) return []
      if (this.#isDeclared(from))
        this.#problems.add(place, `moved.from: ${from} is still declared: take that declaration away, or the moved block`)
      return [{from, to}]
    })
  }

  removed(): readonly {from: string; destroy: boolean}[] {
    return this.names.document.removed.flatMap(block => {
      const place = this.#place('removed', block)
      const from = this.#address(place, 'removed.from', block.body.from)
      if (from === undefined) return []
      if (this.#isDeclared(from))
        this.#problems.add(place, `removed.from: ${from} is still declared: take that declaration away, or the removed block`)
      const [lifecycle] = blocksIn(block.body.lifecycle)
      return [{from, destroy: lifecycle?.destroy !== false}]
    })
  }

  /** Remote paths of `import` blocks by address. */
  imports(byAddress: ReadonlyMap<string, Draft>): ReadonlyMap<string, string> {
    const imports = new Map<string, string>()
    for (const block of this.names.document.imports) {
      const place = this.#place('import', block)
      const to = this.#address(place, 'import.to', block.body.to)
      if (to === undefined) continue
      const draft = byAddress.get(to)
      if (draft === undefined) {
        const name = addressIn(to)?.name ?? ''
        const declared = this.#blocks.has(name)
        // It is there, and what is wrong with it is said there.
        if (!declared && this.names.document.resources.get('null_resource')?.has(name)) continue
        this.#problems.add(
          place,
          `import.to: ${to} is not declared${declared ? ': name one of its instances' : hint(to, [...byAddress.keys()])}`,
        )
        continue
      }
      const id = this.#problems.try(place, block.body.id ?? null, () => this.names.evaluate(block.body.id ?? null, this.names.names()))
      if (id instanceof Open && this.names.app.mode === 'validate') continue
      const located = typeof id === 'string' ? locate(this.#kinds, id) : undefined
      if (typeof id !== 'string' || located?.kind.name !== draft.kind.name) {
        this.#problems.add(
          place,
          `import.id: ${typeof id === 'string' ? JSON.stringify(id) : 'the value'} is no path of a ${draft.kind.name}: write ${draft.kind.remote.replaceAll('*', '<id>')}`,
        )
      } else if (imports.has(to)) this.#problems.add(place, `import.to: ${to} is imported twice`)
      else imports.set(to, id)
    }
    return imports
  }

  #address(place: SourcePlace, argument: string, value: Json | undefined): string | undefined {
    const address = typeof value === 'string' ? addressIn(value) : undefined
    if (address) return printAddress(address.name, address.key)
    this.#problems.add(
      place,
      `${argument} must be an address like null_resource.cache or null_resource.cache["a"], not ${JSON.stringify(value ?? null)}`,
    )
    return undefined
  }

  #isDeclared(address: string): boolean {
    const {name, key} = addressIn(address) ?? {name: ''}
    const instances = this.#blocks.get(name)?.instances()
    if (instances === undefined || instances === 'unknown') return false
    // A block that got for_each or count is moved into one of its instances by its bare name.
    return key === undefined ? instances.has(undefined) : instances.has(key)
  }
}

/** `null_resource.cache["a"]`, also inside `${}`. */
function addressIn(text: string): {name: string; key?: string | number} | undefined {
  const node = parseReference(text)
  if (node === undefined) return undefined
  const key = node.type === 'index' && node.key.type === 'literal' ? node.key.value : undefined
  const owner = node.type === 'index' ? node.of : node
  if (owner.type !== 'attr' || owner.of.type !== 'root' || owner.of.name !== 'null_resource') return undefined
  if (node.type === 'index' && typeof key !== 'string' && typeof key !== 'number') return undefined
  return {name: owner.name, ...(typeof key === 'string' || typeof key === 'number' ? {key} : {})}
}

/**
 * The same of an output. One with parts that are known later is known later as a whole: in a plan and in a ledger it has one expression,
 * or one value. One that holds a secret is in neither.
 */
function closedWhole(value: OpenValue, stack: string): Value {
  const opens = opensIn(value)
  const isLater = opens.some(open => open.value === undefined) && !opens.some(open => open.secret)
  const node = isLater ? nodeOf(value) : undefined
  if (node === undefined) return closed(value, stack)
  return new Deferred(printTemplate(node, stack), [...new Set(opens.flatMap(open => open.needs))])
}

/** The value as the engine holds it. */
function closed(value: OpenValue, stack: string): Value {
  if (value instanceof Open) {
    const expression = value.node && printTemplate(value.node, stack)
    return value.value === undefined
      ? new Deferred(expression ?? '', value.needs, value.secret)
      : new Secret(value.value, expression, value.version)
  }
  if (Array.isArray(value)) return (value as readonly OpenValue[]).map(item => closed(item, stack))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value as {readonly [key: string]: OpenValue}).map(([key, item]) => [key, closed(item, stack)]))
}

/** `stack\0variable` of every variable an open expression reads. */
function variablesIn(node: Node): readonly string[] {
  return node.type === 'variable' ? [`${node.stack}\0${node.name}`] : partsOf(node).flatMap(variablesIn)
}
