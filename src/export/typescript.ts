/** Exported objects as TypeScript: a class for each stack, the map of what is adopted, and the program. */
import type {JsonObject} from '../base/json.ts'
import {addAll} from '../base/many.ts'
import {type Code, type Field, literalCode, printed, quoted, raw} from './code.ts'
import {tableName} from './ids.ts'
import type {ExportedObject, ExportedStack} from './model.ts'
import {type Part, parts, type Table} from './tables.ts'
import {camelCase} from './words.ts'

/** Code, and the names it takes from elsewhere. */
export interface CodePiece {
  readonly imports: readonly Import[]
  readonly body: string
}

export interface Import {
  readonly from: string
  readonly name: string
  readonly type?: true
}

export interface StackCodeOptions {
  /** Siblings from which on there is a table; 0 for none. */
  readonly tables: number
}

/** The class of a stack. */
export function stackClass(stack: ExportedStack, {tables}: StackCodeOptions): CodePiece {
  const {className, apis, objects} = stack
  const lines: string[] = ['super(scope, id)', ...apis.map(api => `new ${TARGETS[api]}(this, '${api}')`)]
  const referred = new Set(
    objects.flatMap(it => [...(it.parent && 'id' in it.parent ? [it.parent.id] : []), ...Object.values(it.references)]),
  )
  const taken = new Set([...referred].map(camelCase))
  for (const part of parts(objects, tables)) addAll(lines, partLines(part, referred, taken))
  const body = [
    `export class ${className} extends TerraformStack {`,
    '  constructor(scope: Construct, id: string) {',
    ...lines.map(it => `    ${it}`),
    '  }',
    '}',
  ].join('\n')
  const used = [
    ...apis.map(api => TARGETS[api]),
    ...objects.map(it => it.kind.code.construct),
    ...(objects.some(it => Object.keys(it.secrets).length > 0) ? ['secret'] : []),
    ...(objects.some(isUnlisted) ? ['unlisted'] : []),
  ]
  return {
    imports: [
      {from: 'cdktf', name: 'TerraformStack'},
      {from: 'constructs', name: 'Construct', type: true},
      ...[...new Set(used)].map(name => ({from: 'svcctl', name})),
    ],
    body,
  }
}

const TARGETS = {cloud: 'CloudTarget', cluster: 'ClusterTarget'} as const

const isUnlisted = ({kind, spec, unlisted}: ExportedObject): boolean =>
  Object.keys(unlisted).length > 0 || (kind.code.untyped?.(spec) ?? false)

/** Four columns stand before each line of a constructor. */
const INDENT = 4

function partLines(part: Part, referred: ReadonlySet<string>, taken: Set<string>): readonly string[] {
  if ('table' in part) return tableLines(part.table, taken)
  const {object} = part
  const assigned = referred.has(object.id) ? `const ${camelCase(object.id)} = ` : ''
  const call = creation(object, raw(quoted(object.id)), [
    ...parentFields(object),
    ...specFields(object, Object.keys(object.spec)),
    ...tailFields(object),
  ])
  return [assigned + printed(call, INDENT, INDENT + assigned.length)]
}

/**
 * `const databases = [{id: 'a', …}, …]`, and `for (const {id, ...own} of databases)` with what they have in common.
 */
function tableLines({objects, varying, asConst}: Table, taken: Set<string>): readonly string[] {
  const [first] = objects
  if (first === undefined) return []
  const name = freeName(tableName(first.kind), taken)
  const rows: Code = {
    items: objects.map(it => ({
      fields: [{key: 'id', value: raw(quoted(it.id))}, ...varying.map(field => ({key: field, value: literalCode(it.spec[field] ?? null)}))],
    })),
  }
  const common = Object.keys(first.spec).filter(field => !varying.includes(field))
  const own: Field[] = varying.length === 0 ? [] : [{short: '...own'}]
  const call = creation(first, raw('id'), [...parentFields(first), ...own, ...specFields(first, common), ...tailFields(first, 'id')])
  const head = `const ${name} = `
  const tail = asConst ? ' as const' : ''
  return [
    `${head}${printed(rows, INDENT, INDENT + head.length, tail)}${tail}`,
    ...loop(`for (const {id${varying.length === 0 ? '' : ', ...own'}} of ${name})`, call),
  ]
}

/** In one line where that is room enough. */
function loop(head: string, call: Code): readonly string[] {
  const line = printed(call, INDENT, INDENT + head.length + 1)
  return line.includes('\n') ? [head, `  ${printed(call, INDENT + 2)}`] : [`${head} ${line}`]
}

/** `databases`, or `databases2`: no variable that is there already. */
function freeName(name: string, taken: Set<string>): string {
  let free = name
  for (let count = 2; taken.has(free); count++) free = `${name}${count}`
  taken.add(free)
  return free
}

const creation = ({kind}: ExportedObject, id: Code, fields: readonly Field[]): Code => ({
  call: `new ${kind.code.construct}`,
  arguments: [raw('this'), id, {fields}],
})

function parentFields({parent}: ExportedObject): readonly Field[] {
  if (parent === undefined) return []
  const {field} = parent
  if (!('id' in parent)) return [{key: field, value: raw(quoted(parent.text))}]
  return [shortened(field, camelCase(parent.id))]
}

const shortened = (key: string, variable: string): Field => (key === variable ? {short: key} : {key, value: raw(variable)})

const specFields = ({spec, references}: ExportedObject, names: readonly string[]): readonly Field[] =>
  names.map(key => {
    const reference = references[key]
    return {key, value: reference === undefined ? literalCode(spec[key] ?? null) : raw(`${camelCase(reference)}.name`)}
  })

/** @param each - the variable that holds the id, where one call stands for many objects */
function tailFields(object: ExportedObject, each?: string): readonly Field[] {
  const {unlisted, secrets, id} = object
  const fields: Field[] = Object.entries(secrets).map(([key, name]) => ({
    key,
    value: {
      call: 'secret',
      arguments: [
        raw('this'),
        raw(each === undefined ? quoted(name) : `\`\${${each}}${name.slice(id.length)}\``),
        {fields: [{key: 'version', value: raw('1')}]},
      ],
    },
  }))
  if (!isUnlisted(object)) return fields
  const call: Code = {call: '...unlisted', arguments: [literalCode(unlisted)]}
  return [...fields, {spread: call}]
}

/** Which object is which, for import blocks: the one place where remote ids stand. */
export function adoption(stacks: readonly ExportedStack[]): CodePiece {
  const objects: JsonObject = Object.fromEntries(
    stacks.filter(it => it.objects.length > 0).map(stack => [stack.id, Object.fromEntries(stack.objects.map(it => [it.id, it.remoteId]))]),
  )
  const head = 'const objects: Record<string, Record<string, string>> = '
  const body = [
    `/** Which object is which. Once an apply has adopted them, this may go. */`,
    `${head}${printed(literalCode(objects), 0, head.length)}`,
    '',
    'export function adopt(app: App): void {',
    '  for (const [stack, ids] of Object.entries(objects)) {',
    '    for (const [id, remoteId] of Object.entries(ids)) {',
    '      const object = app.node.tryFindChild(stack)?.node.tryFindChild(id)',
    '      if (TerraformResource.isTerraformResource(object)) object.importFrom(remoteId)',
    '    }',
    '  }',
    '}',
  ].join('\n')
  return {
    imports: [
      {from: 'cdktf', name: 'App', type: true},
      {from: 'cdktf', name: 'TerraformResource'},
    ],
    body,
  }
}

/** The program: all stacks, and what they adopt. */
export function program(stacks: readonly ExportedStack[], adopts: boolean): CodePiece {
  const body = [
    'const app = new App()',
    ...stacks.map(it => `new ${it.className}(app, ${quoted(it.id)})`),
    ...(adopts ? ['adopt(app)'] : []),
    'app.synth()',
  ].join('\n')
  return {imports: [{from: 'cdktf', name: 'App'}], body}
}

/** A module of these pieces: what they import once, then the pieces. */
export function moduleText(pieces: readonly CodePiece[]): string {
  const wanted = new Map<string, Map<string, boolean>>()
  for (const {from, name, type} of pieces.flatMap(it => it.imports)) {
    const names = wanted.get(from) ?? new Map<string, boolean>()
    wanted.set(from, names)
    names.set(name, type === true && (names.get(name) ?? true))
  }
  const packages = [...wanted].sort(([a], [b]) => (isLocal(a) === isLocal(b) ? (a < b ? -1 : 1) : isLocal(a) ? 1 : -1))
  return `${[packages.map(([from, names]) => importLine(from, names)).join('\n'), ...pieces.map(it => it.body)].filter(Boolean).join('\n\n')}\n`
}

const isLocal = (from: string): boolean => from.startsWith('.')

function importLine(from: string, names: ReadonlyMap<string, boolean>): string {
  const sorted = [...names].sort(([a], [b]) => (a < b ? -1 : 1))
  const allTypes = sorted.every(([, type]) => type)
  const fields = sorted.map(([name, type]) => ({short: type && !allTypes ? `type ${name}` : name}))
  const head = `import ${allTypes ? 'type ' : ''}`
  const tail = ` from ${quoted(from)}`
  return `${head}${printed({fields}, 0, head.length, tail)}${tail}`
}
