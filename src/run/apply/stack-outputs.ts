/** The outputs of a stack as an apply leaves them in its ledger. */
import {AppError} from '../../base/errors.ts'
import type {Json} from '../../base/json.ts'
import {evaluate} from '../../declaration/read/residual.ts'
import type {ApplyResult} from '../../engine/apply/work.ts'
import {runAttribute} from '../../engine/model/attribute.ts'
import type {Lookup} from '../../engine/model/declaration.ts'
import type {LedgerOutput} from '../../engine/model/ledger.ts'
import {isAsRecorded} from '../../engine/model/output-digest.ts'
import type {Plan} from '../../engine/model/plan.ts'
import type {Workspace} from '../workspace/workspace.ts'

/**
 * What the run has found out, and else what was planned. A saved plan knows the others as they were then: what another apply
 * has written since stays, for it has seen objects that this one did not look at.
 */
export function outputsOf(
  {variable, ledgers, host}: Workspace,
  plan: Plan,
  stack: string,
  {objects}: ApplyResult,
): Record<string, LedgerOutput> {
  const planned = plan.stacks.find(it => it.name === stack)
  const recorded = ledgers.get(stack)?.outputs ?? {}
  const isLater = (name: string) => planned?.recorded !== undefined && !isAsRecorded(recorded[name], planned.recorded[name])
  const lookup: Lookup = {
    variable,
    attribute: (key, attribute) => host.redactor.value(runAttribute(objects, key, attribute)),
  }
  const known = new Set(planned?.outputs.map(it => it.name))
  const outputs: Record<string, LedgerOutput> = Object.fromEntries(
    Object.entries(recorded).filter(([name]) => !known.has(name) && isLater(name)),
  )
  for (const {name, value, sensitive, expression, secret} of planned?.outputs ?? []) {
    if (secret) continue
    const there = recorded[name]
    const found = expression === undefined ? undefined : evaluated(expression, stack, lookup)
    if (found === undefined && isLater(name)) {
      if (there !== undefined) outputs[name] = there
      continue
    }
    const kept = found ?? (expression === undefined ? value : there?.value)
    if (kept !== undefined) outputs[name] = {value: kept, sensitive}
  }
  return outputs
}

function evaluated(expression: string, stack: string, lookup: Lookup): Json | undefined {
  try {
    return evaluate(expression, stack, lookup)
  } catch (error) {
    // What it reads was not made in this run: the output keeps its last value.
    if (error instanceof AppError) return undefined
    throw error
  }
}
