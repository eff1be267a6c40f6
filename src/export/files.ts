/** The files of an export, by their paths below its folder. */
import {withBanner} from './banner.ts'
import {secretVariableNames} from './document.ts'
import type {ExportedStack, ExportModel} from './model.ts'
import {adoption, type CodePiece, moduleText, program, stackClass} from './typescript.ts'

export interface CodeOptions {
  /** Siblings from which on there is a table; 0 for none. */
  readonly tables: number
  /** Whether the code says which object is which: import blocks. */
  readonly adopts: boolean
}

/** Without `export.json`, which names all others. */
export function typescriptFiles(model: ExportModel, {tables, adopts}: CodeOptions): ReadonlyMap<string, string> {
  const {stacks} = model
  const meant = adopted(stacks, adopts)
  const classes = stacks.map(stack => [stack, stackClass(stack, {tables})] as const)
  const main = program(stacks, meant.length > 0)
  const imports = [
    ...main.imports,
    ...(meant.length > 0 ? [{from: './imports.js', name: 'adopt'}] : []),
    ...stacks.map(it => ({from: `./stacks/${it.id}.js`, name: it.className})),
  ]
  return new Map([
    ['main.ts', typescript([{...main, imports}])],
    ...classes.map(([stack, piece]) => [`stacks/${stack.id}.ts`, typescript([piece])] as const),
    ...(meant.length > 0 ? [['imports.ts', typescript([adoption(meant)])] as const] : []),
    ['secrets.env.example', withBanner(secretsText(model), '#')],
  ])
}

/** Everything in one module: what is written to standard output. */
export function typescriptModule({stacks}: ExportModel, {tables, adopts}: CodeOptions): string {
  const meant = adopted(stacks, adopts)
  return moduleText([
    ...stacks.map(it => withoutExport(stackClass(it, {tables}))),
    ...(meant.length > 0 ? [withoutExport(adoption(meant))] : []),
    program(stacks, meant.length > 0),
  ])
}

/** The stacks with what has an import block; where not everything is to have one, what no name tells still has. */
function adopted(stacks: readonly ExportedStack[], all: boolean): readonly ExportedStack[] {
  const meant = stacks.map(it => ({...it, objects: it.objects.filter(({isNamesake}) => all || isNamesake)}))
  return meant.some(it => it.objects.length > 0) ? meant : []
}

const typescript = (pieces: readonly CodePiece[]): string => withBanner(`\n${moduleText(pieces)}`, '//')

const withoutExport = ({imports, body}: CodePiece): CodePiece => ({imports, body: body.replace(/^export (class|function)/gm, '$1')})

function secretsText(model: ExportModel): string {
  const names = secretVariableNames(model)
  if (names.length === 0) return '# Nothing here has a secret.\n'
  return [
    '# No API shows these. None is needed until something sends it: what is created anew, or a raised version.',
    ...names.map(it => `export ${it}=`),
    '',
  ].join('\n')
}
