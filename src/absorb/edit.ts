/** What is live, written into the code that declares it: one value at a time, and every other byte stays as it is. */
import MagicString from 'magic-string'
import {canonicalJson, isJsonObject, type Json, type JsonObject} from '../base/json.ts'
import {parsePointer} from '../base/pointer.ts'
import type {EffectiveRule} from '../engine/model/field-rules.ts'
import {literalText, type Style, says, styleOf, writtenValue} from './literal.ts'
import {below, type ConstructOrigin, type FoundValue, findConstruct, findField, type NotFound, whyNot} from './locate.ts'
import {child, children, keyNameOf, type Program, type SyntaxNode, sourceText, unwrapped} from './syntax.ts'

/** A field whose live value the code is to have. */
export interface EditWish {
  readonly origin: ConstructOrigin
  /** JSON pointer in the spec. */
  readonly path: string
  /** As the stack declares it. */
  readonly declared: Json | undefined
  /** Absent: the object does not show the field any more. */
  readonly live: Json | undefined
  /** Of the field that `path` names. */
  readonly rule: Pick<EffectiveRule, 'keyedBy' | 'serverAdds'>
}

export interface Position {
  readonly line: number
  /** From 1. */
  readonly column: number
}

/** What a person has to do. */
export interface EditRefusal extends Partial<Position> {
  /** What stands there. */
  readonly found: string
  /** What is to stand there. */
  readonly edit: string
  readonly why: string
}

/** The edits of one file, gathered until it is written. */
export class FileEdits {
  readonly #program: Program
  readonly #style: Style
  readonly #magic: MagicString

  constructor(program: Program) {
    this.#program = program
    this.#style = styleOf(program.text)
    this.#magic = new MagicString(program.text)
  }

  /** @returns where the value was put, or why it could not be */
  put(wish: EditWish): Position | EditRefusal {
    const {path, declared, live, rule} = wish
    const place = this.#find(wish)
    if ('why' in place) return this.#refusal(place, wish)
    const node = unwrapped(place.node) ?? place.node
    const written = writtenValue(node)
    if (written === undefined) return this.#refusal({node, why: whyNot(this.#firstOther(node))}, wish)
    if (declared === undefined || !says(written, declared)) {
      return this.#refusal({node, why: 'an Aspect or an override has made another value of it'}, wish)
    }
    if (live === undefined) return this.#refusal({node, why: `${path} is not there any more: take it out of the code`}, wish)
    if (node.type === 'ArrayExpression' && Array.isArray(live)) {
      const refused = this.#putList(node, live as readonly Json[], rule)
      if (refused !== undefined) return this.#refusal({node, why: refused}, wish)
    } else if (this.#hasComment(node)) return this.#refusal({node, why: 'a comment stands in it'}, wish)
    else this.#magic.update(node.start, node.end, literalText(this.#program, live, node, this.#style))
    return {line: node.line, column: node.column}
  }

  /** What a person has to do about a field that is not to be edited. */
  refuse(wish: EditWish, why: string): EditRefusal {
    const place = this.#find(wish)
    return this.#refusal({node: place.node, why}, wish)
  }

  get text(): string {
    return this.#magic.toString()
  }

  #find({origin, path}: EditWish): FoundValue | NotFound {
    const construct = findConstruct(this.#program, origin)
    if ('why' in construct) return construct
    const [first = '', ...rest] = parsePointer(path)
    let at = findField(this.#program, construct.made, first, origin)
    for (const part of rest) if (!('why' in at)) at = below(at.node, part)
    return at
  }

  #refusal({node, why}: NotFound, {path, live}: EditWish): EditRefusal {
    const field = parsePointer(path).at(-1) ?? ''
    const isValue = node !== undefined && writtenValue(node) !== undefined && node.type !== 'ObjectExpression'
    const wanted = live === undefined ? '' : literalText(this.#program, live, isValue ? node : undefined, this.#style)
    return {
      ...(node === undefined ? {} : {line: node.line, column: node.column}),
      found: node === undefined ? '' : shortened(sourceText(this.#program, node)),
      edit: wanted === '' || node?.type !== 'ObjectExpression' ? wanted : `${field}: ${wanted}`,
      why,
    }
  }

  /** The part of a list or an object that is no literal. */
  #firstOther(node: SyntaxNode): SyntaxNode {
    const parts =
      node.type === 'ArrayExpression' ? children(node, 'elements') : node.type === 'ObjectExpression' ? children(node, 'properties') : []
    for (const part of parts) {
      const value = part?.type === 'ObjectProperty' ? unwrapped(child(part, 'value')) : unwrapped(part)
      if (value !== undefined && writtenValue(value) === undefined) return this.#firstOther(value)
    }
    return node
  }

  #hasComment({start, end}: SyntaxNode): boolean {
    return this.#program.comments.some(it => it.start >= start && it.end <= end)
  }

  /** Items stay where they stand: what is gone goes, what is new comes last. @returns why not */
  #putList(node: SyntaxNode, live: readonly Json[], {keyedBy = '', serverAdds = false}: EditWish['rule']): string | undefined {
    const elements = children(node, 'elements').flatMap(it => it ?? [])
    const values = elements.map(it => writtenValue(it) ?? null)
    const keyOfItem = (it: Json) => (keyedBy !== '' && isJsonObject(it) ? it[keyedBy] : undefined)
    const wanted = serverAdds ? live.filter(it => values.some(value => isSame(keyOfItem(value) ?? value, keyOfItem(it) ?? it))) : [...live]
    const kept = new Map<SyntaxNode, Json>()
    const fresh = wanted.filter(item => {
      const free = elements.map((element, i) => ({element, value: values[i] ?? null})).filter(it => !kept.has(it.element))
      const match =
        free.find(it => says(it.value, item)) ??
        free.find(it => keyOfItem(item) !== undefined && isSame(keyOfItem(it.value), keyOfItem(item)))
      if (match === undefined) return true
      kept.set(match.element, item)
      return false
    })
    const gone = elements.filter(it => !kept.has(it))
    if ((gone.length > 0 || elements.length === 0) && this.#hasComment(node)) return 'a comment stands in the list'
    const edits = [...kept].flatMap(([element, item]) => editsOf(element, item))
    if (edits.some(it => this.#hasComment(it.node))) return 'a comment stands in an item of the list'
    for (const it of edits) this.#magic.update(it.node.start, it.node.end, literalText(this.#program, it.value, it.node, this.#style))
    const last = elements.filter(it => kept.has(it)).at(-1)
    if (last === undefined) {
      this.#magic.update(node.start, node.end, literalText(this.#program, fresh, undefined, this.#style))
      return undefined
    }
    this.#remove(elements, gone, last)
    const lineEnd = this.#program.text.includes('\r\n') ? '\r\n' : '\n'
    const separator = last.line > node.line ? `,${lineEnd}${this.#indentOf(last)}` : ', '
    const style = styleOf(sourceText(this.#program, node), this.#style)
    for (const item of fresh) this.#magic.appendLeft(last.end, separator + literalText(this.#program, item, undefined, style))
    return undefined
  }

  #remove(elements: readonly SyntaxNode[], gone: readonly SyntaxNode[], last: SyntaxNode): void {
    for (const [i, element] of elements.entries()) {
      const next = elements[i + 1]
      if (element.start < last.start && gone.includes(element) && next !== undefined) this.#magic.remove(element.start, next.start)
    }
    const end = elements.at(-1)?.end ?? last.end
    if (end > last.end) this.#magic.remove(last.end, end)
  }

  #indentOf({start}: SyntaxNode): string {
    const {text} = this.#program
    return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', start - 1) + 1))?.[0] ?? ''
  }
}

interface Edit {
  readonly node: SyntaxNode
  readonly value: Json
}

/** Of an item that is kept, the fields that differ. */
function editsOf(written: SyntaxNode, item: Json): Edit[] {
  const element = unwrapped(written) ?? written
  const value = writtenValue(element)
  if (value === undefined || says(value, item)) return []
  if (element.type !== 'ObjectExpression' || !isJsonObject(item) || !isJsonObject(value) || !sameKeys(value, item))
    return [{node: element, value: item}]
  return children(element, 'properties').flatMap(property => {
    const [key, node] = [property && keyNameOf(property), property && unwrapped(child(property, 'value'))]
    if (key === undefined || node === undefined) return []
    const wanted = item[key] ?? null
    return says(writtenValue(node) ?? null, wanted) ? [] : [{node, value: wanted}]
  })
}

const sameKeys = (a: JsonObject, b: JsonObject): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.keys(a).every(it => Object.hasOwn(b, it))

const isSame = (a: Json | undefined, b: Json | undefined): boolean => canonicalJson(a ?? null) === canonicalJson(b ?? null)

const SHORT = 120

const shortened = (text: string): string => (text.length > SHORT ? `${text.slice(0, SHORT - 1)}…` : text)
