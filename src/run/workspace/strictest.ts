/** The settings that are in force for a run as a whole: of several connections the strictest. */
import {largest} from '../../base/many.ts'
import type {Settings} from '../../config/settings.ts'

export function strictest(all: readonly Settings[]): Settings | undefined {
  const [first] = all
  if (first === undefined) return undefined
  const maxDestroy = leastDestroy(all.map(it => it.maxDestroy))
  return {
    ...first,
    ...(maxDestroy === undefined ? {} : {maxDestroy}),
    refuseRisky: all.some(it => it.refuseRisky),
    adopt: all.every(it => it.adopt === 'changes') ? 'changes' : 'equal',
    onDrift: (['refuse', 'keep'] as const).find(word => all.some(it => it.onDrift === word)) ?? 'overwrite',
    limits: all.some(it => it.limits === 'conservative') ? 'conservative' : 'none',
    timeoutMs: largest(all.map(it => it.timeoutMs)),
  }
}

/** The least number and the least share: which of the two is the stricter one depends on the stack. */
function leastDestroy(given: readonly (string | undefined)[]): string | undefined {
  const limits = given.flatMap(it => it?.split(',').map(part => part.trim()) ?? [])
  if (limits.length === 0) return undefined
  const least = (of: readonly string[]) => of.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)).slice(0, 1)
  return [...least(limits.filter(it => !it.endsWith('%'))), ...least(limits.filter(it => it.endsWith('%')))].join(',')
}
