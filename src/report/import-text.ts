/** What an import came to, as a person reads it. */
import {keyOf} from '../engine/model/value.ts'
import {shownValue} from './plan-text.ts'
import {oneLine} from './terminal-text.ts'

/** Of the application's documents, as far as text is made of them. */
export interface ImportReport {
  readonly imported: readonly {
    readonly stack: string
    readonly address: string
    readonly remoteId: string
    readonly differs: readonly {readonly path: string}[]
    readonly from?: string
  }[]
  readonly skipped: readonly {readonly address: string; readonly reason: string}[]
}

export interface TakeoverReport extends ImportReport {
  readonly differs: readonly {
    readonly stack: string
    readonly address: string
    readonly path: string
    readonly before?: Parameters<typeof shownValue>[0]
    readonly after?: Parameters<typeof shownValue>[0]
  }[]
  readonly missing: readonly {readonly from: string; readonly remoteId: string}[]
  readonly leftOut: readonly {readonly from: string; readonly type: string; readonly attributes?: readonly string[]}[]
  readonly proof: 'empty' | 'differs' | 'not run'
  readonly stateRm: readonly string[]
}

const importedLines = ({imported, skipped}: ImportReport): readonly string[] => [
  ...imported.map(({stack, address, remoteId, differs, from}) => {
    const origin = from === undefined ? '' : ` from ${oneLine(from)}`
    return `${keyOf(stack, address)} [${remoteId}]: imported${origin}${differs.length === 0 ? '' : `; the code differs in ${differs.map(it => it.path).join(', ')}`}`
  }),
  ...skipped.map(it => `${oneLine(it.address)}: not imported: ${oneLine(it.reason)}`),
]

export const importText = (report: ImportReport): string => importedLines(report).join('\n') || 'nothing is left to import'

const PROOFS = {
  empty: 'A plan of what was taken over is empty.',
  differs: 'A plan of what was taken over is not empty: svcctl plan shows what differs.',
  'not run': 'Nothing was taken over.',
} as const satisfies Record<TakeoverReport['proof'], string>

export function takeoverText(report: TakeoverReport): string {
  const {differs, missing, leftOut, proof, stateRm} = report
  const types = new Map<string, number>()
  for (const {type, attributes} of leftOut) if (attributes === undefined) types.set(type, (types.get(type) ?? 0) + 1)
  const fields = new Map<string, Set<string>>()
  for (const {type, attributes = []} of leftOut) fields.set(type, new Set([...(fields.get(type) ?? []), ...attributes]))
  const blocks: readonly (readonly string[])[] = [
    importedLines(report),
    differs.map(({stack, address, path, before, after}) => {
      const side = (value: typeof before) => (value === undefined ? '(absent)' : shownValue(value))
      return `${keyOf(stack, address)} ${oneLine(path.slice(1))}: the state says ${side(before)}, live is ${side(after)}`
    }),
    missing.map(it => `${oneLine(it.from)}: ${it.remoteId} is gone`),
    [
      ...[...types].map(([type, count]) => `left out: ${count} ${oneLine(type)}`),
      ...[...fields].flatMap(([type, names]) =>
        names.size === 0 ? [] : [`left out of ${oneLine(type)}: ${[...names].sort().map(oneLine).join(', ')}`],
      ),
    ],
    [PROOFS[proof]],
    stateRm.length === 0 ? [] : ['For Terraform to let go of them:', ...stateRm.map(it => `  ${oneLine(it)}`)],
  ]
  return blocks
    .filter(it => it.length > 0)
    .map(it => it.join('\n'))
    .join('\n\n')
}
