/**
 * Where in the code a declared field stands: in the object of the `new X(…)` at the line that the construct recorded, or in
 * the row of a table that it was made from.
 */
import {
  child,
  children,
  identifierOf,
  keyNameOf,
  type PlacedNode,
  type Program,
  placedNodes,
  type SyntaxNode,
  unwrapped,
  writtenText,
} from './syntax.ts'

/** A construct as the plan knows it. */
export interface ConstructOrigin {
  /** Its id: the last part of its path. */
  readonly id: string
  readonly line: number
  /** How many constructs the same line made. */
  readonly siblings: number
}

/** Where a value stands. */
export interface FoundValue {
  readonly node: SyntaxNode
}

/** Where a person has to look, and why a program cannot change it. */
export interface NotFound {
  readonly node: SyntaxNode | undefined
  readonly why: string
}

/** The `new X(…)` that made a construct. */
export function findConstruct(program: Program, {id, line}: ConstructOrigin): {readonly made: PlacedNode} | NotFound {
  const here = placedNodes(program, 'NewExpression').filter(({node}) => node.line === line)
  const called = here.filter(({node}) => writtenText(unwrapped(children(node, 'arguments')[1])) === id)
  const open = here.filter(({node}) => {
    const argument = unwrapped(children(node, 'arguments')[1])
    return argument !== undefined && writtenText(argument) === undefined
  })
  const [made, ...more] = called.length > 0 ? called : open
  if (made !== undefined && more.length === 0) return {made}
  return {
    node: here[0]?.node,
    why:
      here.length === 0
        ? 'no construct is made in that line: it is made by a call, a class of its own or a library'
        : 'several constructs are made in that line',
  }
}

/** Where the value of a field of the spec stands. */
export function findField(program: Program, {node, around}: PlacedNode, field: string, origin: ConstructOrigin): FoundValue | NotFound {
  const object = unwrapped(children(node, 'arguments')[2])
  if (object === undefined) return {node, why: 'no object is passed'}
  if (object.type !== 'ObjectExpression') return {node: object, why: whyNot(object)}
  const own = propertyOf(object, field)
  const loop = loopAround(program, around, node)
  if ('after' in own) return {node: own.after, why: 'a spread behind it may have another value'}
  if (own.value !== undefined) {
    const key = loop?.keyNameOf(own.value)
    if (key !== undefined) return inRow(loop, key, origin, own.value)
    if (unwrapped(own.value)?.type === 'Identifier' || unwrapped(own.value)?.type === 'MemberExpression')
      return {node: own.value, why: 'it is a variable'}
    return origin.siblings > 1 ? {node: own.value, why: `it stands for ${origin.siblings} objects`} : {node: own.value}
  }
  const [only, ...more] = own.spreads
  if (only === undefined) return {node: object, why: 'it does not stand in the object: a file, an Aspect or an override gives it'}
  const key = more.length === 0 ? loop?.keyOfSpread(only, field) : undefined
  return key === undefined ? {node: only, why: 'it comes from a spread'} : inRow(loop, key, origin, only)
}

/** A property by its key: what is written last of it counts. */
function propertyOf(
  object: SyntaxNode,
  field: string,
): {readonly value?: SyntaxNode; readonly spreads: readonly SyntaxNode[]} | {readonly after: SyntaxNode} {
  let value: SyntaxNode | undefined
  const spreads: SyntaxNode[] = []
  for (const it of entriesOf(object)) {
    if (it.type === 'SpreadElement') {
      if (value !== undefined) return {after: it}
      spreads.push(it)
    } else if (keyNameOf(it) === field) value = it.type === 'ObjectProperty' ? child(it, 'value') : it
  }
  return {...(value === undefined ? {} : {value}), spreads}
}

/** Properties and spreads in their order; what stands in `...unlisted({…})` stands there as well as anywhere. */
const entriesOf = (object: SyntaxNode): readonly SyntaxNode[] =>
  children(object, 'properties').flatMap(it => {
    if (it?.type !== 'SpreadElement') return it ?? []
    const call = unwrapped(child(it, 'argument'))
    const isUnlisted = call?.type === 'CallExpression' && identifierOf(child(call, 'callee')) === 'unlisted'
    const fields = isUnlisted ? unwrapped(children(call, 'arguments')[0]) : undefined
    return fields?.type === 'ObjectExpression' ? entriesOf(fields) : it
  })

/** The property of a row, a list's or an object's item, by the next part of a pointer. */
export function below(node: SyntaxNode | undefined, part: string): FoundValue | NotFound {
  const at = unwrapped(node)
  if (at?.type === 'ArrayExpression') {
    const elements = children(at, 'elements')
    const spread = elements.find(it => it?.type === 'SpreadElement')
    if (spread !== undefined) return {node: spread, why: 'it comes from a spread'}
    const element = elements[Number(part)]
    return element === undefined ? {node: at, why: 'it does not stand in the list'} : {node: element}
  }
  if (at?.type !== 'ObjectExpression') return {node: at, why: whyNot(at)}
  const own = propertyOf(at, part)
  if ('after' in own) return {node: own.after, why: 'a spread behind it may have another value'}
  if (own.value !== undefined) return {node: own.value}
  const [spread] = own.spreads
  return spread === undefined ? {node: at, why: 'it does not stand in the object'} : {node: spread, why: 'it comes from a spread'}
}

/** In words that follow "not edited: ". */
export function whyNot(node: SyntaxNode | undefined): string {
  switch (node?.type) {
    case 'Identifier':
    case 'MemberExpression':
    case 'OptionalMemberExpression':
      return 'it is a variable'
    case 'SpreadElement':
      return 'it comes from a spread'
    case 'CallExpression':
    case 'OptionalCallExpression':
    case 'NewExpression':
    case 'AwaitExpression':
      return 'it comes from a call'
    case 'TemplateLiteral':
      return 'it is text with a placeholder'
    default:
      return 'it is an expression'
  }
}

/** The `for (const … of table)` around a construct. */
interface Loop {
  readonly rows: SyntaxNode | undefined
  /** What the loop runs over, where that is no list in this file. */
  readonly over: SyntaxNode
  /** The key of the row that an expression stands for. */
  keyNameOf(expression: SyntaxNode): string | undefined
  /** The same for a field that `...own` brings along. */
  keyOfSpread(spread: SyntaxNode, field: string): string | undefined
  /** Whether the construct's id is the row's `id`. */
  readonly byId: boolean
}

function loopAround(program: Program, around: readonly SyntaxNode[], made: SyntaxNode): Loop | undefined {
  for (const node of around) {
    if (node.type !== 'ForOfStatement') continue
    const declared = children(child(node, 'left') ?? node, 'declarations')[0]
    const pattern = declared && child(declared, 'id')
    const over = child(node, 'right')
    if (pattern === undefined || over === undefined) continue
    const binding = bindingOf(pattern)
    if (binding === undefined) continue
    const keyNameOf = (expression: SyntaxNode): string | undefined => {
      const at = unwrapped(expression)
      const name = identifierOf(at)
      if (name !== undefined) return binding.keys.get(name)
      const isMember = at?.type === 'MemberExpression' && at.fields.computed !== true && identifierOf(child(at, 'object')) === binding.row
      return isMember && binding.row !== undefined ? identifierOf(child(at, 'property')) : undefined
    }
    const id = children(made, 'arguments')[1]
    return {
      rows: tableAt(program, over),
      over,
      keyNameOf,
      keyOfSpread: (spread, field) => {
        const name = identifierOf(unwrapped(child(spread, 'argument')))
        if (name === undefined) return undefined
        if (name === binding.row) return field
        return name === binding.rest && ![...binding.keys.values()].includes(field) ? field : undefined
      },
      byId: id !== undefined && keyNameOf(id) === 'id',
    }
  }
  return undefined
}

interface Binding {
  /** `for (const row of …)` */
  readonly row?: string
  /** `...own` */
  readonly rest?: string
  /** Keys of the row by the names they have inside. */
  readonly keys: ReadonlyMap<string, string>
}

function bindingOf(pattern: SyntaxNode): Binding | undefined {
  const row = identifierOf(pattern)
  if (row !== undefined) return {row, keys: new Map()}
  if (pattern.type !== 'ObjectPattern') return undefined
  const keys = new Map<string, string>()
  let rest: string | undefined
  for (const it of children(pattern, 'properties')) {
    if (it?.type === 'RestElement') rest = identifierOf(child(it, 'argument'))
    else if (it?.type === 'ObjectProperty') {
      const [key, name] = [keyNameOf(it), identifierOf(child(it, 'value'))]
      if (key !== undefined && name !== undefined) keys.set(name, key)
    }
  }
  return {keys, ...(rest === undefined ? {} : {rest})}
}

/** The list that a loop runs over: written there, or the one constant of that name in the file. */
function tableAt(program: Program, over: SyntaxNode): SyntaxNode | undefined {
  const list = unwrapped(over)
  if (list?.type === 'ArrayExpression') return list
  const name = identifierOf(list)
  if (name === undefined) return undefined
  const [only, ...more] = placedNodes(program, 'VariableDeclarator').filter(({node}) => identifierOf(child(node, 'id')) === name)
  const value =
    more.length === 0 && only !== undefined && only.around[0]?.fields.kind === 'const' ? unwrapped(child(only.node, 'init')) : undefined
  return value?.type === 'ArrayExpression' ? value : undefined
}

function inRow(loop: Loop | undefined, key: string, {id}: ConstructOrigin, at: SyntaxNode): FoundValue | NotFound {
  if (loop?.rows === undefined) return {node: loop?.over ?? at, why: 'the loop runs over no list that stands in this file'}
  if (!loop.byId) return {node: at, why: 'its id is not that of a row'}
  const rows = children(loop.rows, 'elements').filter(row => {
    const object = unwrapped(row)
    const own = object?.type === 'ObjectExpression' ? propertyOf(object, 'id') : undefined
    return own !== undefined && 'value' in own && writtenText(unwrapped(own.value)) === id
  })
  const [row, ...more] = rows
  if (row === undefined || more.length > 0)
    return {node: loop.rows, why: `${more.length > 0 ? 'several rows have' : 'no row has'} the id ${JSON.stringify(id)}`}
  return below(row, key)
}
