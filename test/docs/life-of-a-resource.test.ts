/**
 * The page walks through the program as it runs: each function it names is called by the one named before it, or by one
 * that has not returned yet, after whatever that one was said to call before. So a reader never jumps back.
 */
import {readFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {parse} from '@babel/parser'
import {describe, expect, it} from 'vitest'

const page = fileURLToPath(new URL('../../docs/life-of-a-resource.md', import.meta.url))

interface Named {
  /** `buildPlan`, `Workspace.open` */
  readonly name: string
  readonly file: string
}

/** Functions as the page has them: their name as code, linked to their file. */
const named: readonly Named[] = [...readFileSync(page, 'utf8').matchAll(/\[`([A-Za-z]\w*(?:\.\w+)?)`\]\((\S+\.ts)\)/g)].map(
  ([, name = '', path = '']) => ({name, file: join(dirname(page), path)}),
)

/** The text of every function of a file, by its name; methods also with their class in front. */
const functionsOf = memo((file: string): ReadonlyMap<string, string> => {
  const text = readFileSync(file, 'utf8')
  const found = new Map<string, string>()
  const note = (name: string | undefined, node: Node, of?: string): void => {
    if (name === undefined || typeof node.start !== 'number' || typeof node.end !== 'number') return
    const body = text.slice(node.start, node.end)
    if (!found.has(name)) found.set(name, body)
    if (of !== undefined) found.set(`${of}.${name}`, body)
  }
  const visit = (it: unknown, of?: string): void => {
    if (Array.isArray(it)) {
      for (const item of it) visit(item, of)
      return
    }
    if (!isNode(it)) return
    const within = it.type === 'ClassDeclaration' ? nameIn(it.id) : of
    const key = isNode(it.key) ? (nameIn(it.key) ?? nameIn(it.key.id)) : undefined
    // Whoever makes one of a class runs what stands in it.
    if (it.type === 'FunctionDeclaration' || it.type === 'ClassDeclaration') note(nameIn(it.id), it)
    if (/^Class(Private)?Method$/.test(it.type)) note(key, it, of)
    if (isNode(it.value) && it.value.type === 'ArrowFunctionExpression') note(key, it.value, of)
    if (isNode(it.init) && it.init.type === 'ArrowFunctionExpression') note(nameIn(it.id), it.init)
    for (const [field, value] of Object.entries(it)) if (!/Comments$|^loc$/.test(field)) visit(value, within)
  }
  visit(parse(text, {sourceType: 'module', plugins: ['typescript']}).program)
  return found
})

/** The words of a function in their order, `name(` where it is called, with those of its own file's functions where it names them first. */
const wordsOf = memo((file: string, name: string): readonly string[] => {
  const functions = functionsOf(file)
  const seen = new Set([name, name.split('.').at(-1) ?? ''])
  const expand = (body: string): string[] =>
    (body.replace(/\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'/g, '').match(/[A-Za-z_$][\w$]*(?:\s*(?:<[^()<>]*>)?\()?/g) ?? []).flatMap(text => {
      const [word = ''] = text.split(/[\s<(]/)
      const inner = functions.get(word)
      const said = text.endsWith('(') ? `${word}(` : word
      if (inner === undefined || seen.has(word)) return [said]
      seen.add(word)
      return [said, ...expand(inner)]
    })
  return expand(functions.get(name) ?? '')
})

describe('the life of one resource', () => {
  it('names functions that stand in the files it links', () => {
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter(({name, file}) => !functionsOf(file).has(name)).map(it => it.name)).toEqual([])
  })

  it('follows the calls from the first function to the last, and never goes back', () => {
    const [root, ...rest] = named
    if (root === undefined) throw new Error('the page names no function')
    /** Functions that have not returned, each with how far the page has read it. */
    const open = [{...root, at: 0}]
    const strangers: string[] = []
    for (const it of rest) {
      const word = `${it.name.split('.').at(-1) ?? ''}(`
      const caller = open.findLastIndex(from => wordsOf(from.file, from.name).indexOf(word, from.at) >= 0)
      const from = open[caller]
      if (from === undefined) strangers.push(`${it.name}: none of ${open.map(({name}) => name).join(' > ')} calls it from here on`)
      else {
        from.at = wordsOf(from.file, from.name).indexOf(word, from.at) + 1
        open.splice(caller + 1)
      }
      open.push({...it, at: 0})
    }
    expect(strangers).toEqual([])
  })
})

interface Node {
  readonly type: string
  readonly start?: unknown
  readonly end?: unknown
  readonly id?: unknown
  readonly key?: unknown
  readonly value?: unknown
  readonly init?: unknown
}

function isNode(it: unknown): it is Node {
  return typeof it === 'object' && it !== null && 'type' in it && typeof it.type === 'string'
}

function nameIn(it: unknown): string | undefined {
  return isNode(it) && 'name' in it && typeof it.name === 'string' ? it.name : undefined
}

function memo<A extends readonly string[], T>(make: (...args: A) => T): (...args: A) => T {
  const made = new Map<string, T>()
  return (...args) => {
    const id = args.join('\n')
    const known = made.get(id)
    if (known !== undefined) return known
    const value = make(...args)
    made.set(id, value)
    return value
  }
}
