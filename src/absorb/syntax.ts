/**
 * The syntax tree of a stack's program, as far as absorbing looks at it: constructs that are made, the literals in them, and
 * the loops around them. Nothing is resolved or run: what is not a literal in the very text is not ours to change.
 */
import {type ParserOptions, parse} from '@babel/parser'

/** Any node of the tree, in the parser's own spelling. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly line: number
  /** From 1, as editors count. */
  readonly column: number
  /** What the parser says of it. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** A node with those around it, the nearest first. */
export interface PlacedNode {
  readonly node: SyntaxNode
  readonly around: readonly SyntaxNode[]
}

export interface Program {
  readonly text: string
  readonly root: SyntaxNode
  readonly comments: readonly {readonly start: number; readonly end: number}[]
}

/** @returns undefined when the text is not TypeScript (or JavaScript) that can be read */
export function readProgram(text: string, name: string): Program | undefined {
  const plugins: NonNullable<ParserOptions['plugins']> = [
    ...(/\.[cm]?ts$|\.tsx$/.test(name) ? ['typescript' as const] : []),
    ...(/\.[jt]sx$/.test(name) ? ['jsx' as const] : []),
    'decorators',
  ]
  try {
    const file = parse(text, {sourceType: 'unambiguous', plugins})
    const root = asNode(file.program)
    const comments = (file.comments ?? []).flatMap(it => asNode(it) ?? [])
    return root && {text, root, comments}
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

export function asNode(value: unknown): SyntaxNode | undefined {
  if (value === null || typeof value !== 'object' || !('type' in value) || typeof value.type !== 'string') return undefined
  const {type, start, end, loc} = value as {type: string; start?: unknown; end?: unknown; loc?: {start?: {line?: number; column?: number}}}
  if (typeof start !== 'number' || typeof end !== 'number') return undefined
  return {type, start, end, line: loc?.start?.line ?? 0, column: (loc?.start?.column ?? 0) + 1, fields: value as Record<string, unknown>}
}

export const child = (node: SyntaxNode, field: string): SyntaxNode | undefined => asNode(node.fields[field])

export function children(node: SyntaxNode, field: string): readonly (SyntaxNode | undefined)[] {
  const list = node.fields[field]
  return Array.isArray(list) ? list.map(asNode) : []
}

export const sourceText = ({text}: Program, {start, end}: Pick<SyntaxNode, 'start' | 'end'>): string => text.slice(start, end)

/** Every node of a type, with what is around it. No recursion: programs may be deep. */
export function placedNodes({root}: Program, type: string): PlacedNode[] {
  const found: PlacedNode[] = []
  const open: PlacedNode[] = [{node: root, around: []}]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const {node, around} = next
    if (node.type === type) found.push(next)
    const inside = [node, ...around]
    for (const [field, value] of Object.entries(node.fields)) {
      if (field === 'loc' || field.endsWith('Comments')) continue
      for (const item of Array.isArray(value) ? value : [value]) {
        const below = asNode(item)
        if (below !== undefined) open.push({node: below, around: inside})
      }
    }
  }
  return found.sort((a, b) => a.node.start - b.node.start)
}

const WRAPPERS = ['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression', 'TSTypeAssertion', 'ParenthesizedExpression']

/** What is inside brackets, `as const`, `satisfies X` and their like. */
export function unwrapped(node: SyntaxNode | undefined): SyntaxNode | undefined {
  let at = node
  while (at !== undefined && WRAPPERS.includes(at.type)) at = child(at, 'expression')
  return at
}

/** The name of a key that is written out: `a`, `'a'`, `1`. */
export function keyNameOf(property: SyntaxNode): string | undefined {
  if (property.fields.computed === true) return undefined
  const key = child(property, 'key')
  if (key?.type === 'Identifier') return String(key.fields.name)
  return key?.type === 'StringLiteral' || key?.type === 'NumericLiteral' ? String(key.fields.value) : undefined
}

export const identifierOf = (node: SyntaxNode | undefined): string | undefined =>
  node?.type === 'Identifier' ? String(node.fields.name) : undefined

/** Text that is written out, in quotes or without a placeholder between backticks. */
export function writtenText(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === 'StringLiteral') return String(node.fields.value)
  if (node?.type !== 'TemplateLiteral' || children(node, 'expressions').length > 0) return undefined
  const value = children(node, 'quasis')[0]?.fields.value
  return value !== null && typeof value === 'object' && 'cooked' in value && typeof value.cooked === 'string' ? value.cooked : undefined
}
