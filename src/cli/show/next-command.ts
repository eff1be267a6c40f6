/** The command that carries a saved plan out, as it was planned: to be copied and run as it stands. */
import {shellWord} from '../../base/shell-word.ts'
import type {Plan} from '../../engine/model/plan.ts'
import {approvalOf} from '../../report/document/of-plan.ts'
import {plannedWith} from '../../report/plan-text.ts'

/** Options that an apply of the file needs again; keys and values of variables may be secret, and are not among them. */
const CARRIED = ['profile', 'api-url', 'url', 'ca-file', 'var-file'] as const

type Carried = {readonly [K in (typeof CARRIED)[number]]?: string | readonly string[] | undefined}

export function applyCommand(
  file: string,
  plan: Plan,
  flags: Carried & {readonly insecure?: boolean | undefined; readonly 'synth-dir'?: string | undefined},
): string {
  const options = CARRIED.flatMap(name => [flags[name] ?? []].flat().map(value => `--${name} ${shellWord(value)}`))
  if (flags.insecure) options.push('--insecure')
  const clear = plan.operations.some(it => it.secrets?.some(leaf => leaf.expression === undefined))
  if (clear && flags['synth-dir'] !== undefined) options.push(`--synth-dir ${shellWord(flags['synth-dir'])}`)
  return ['svcctl apply', shellWord(file), '--approve', approvalOf(plan), ...options].join(' ')
}

/** The command that makes the same plan again and carries it out, where nobody saved it. */
export const planAgain = (plan: Plan): string =>
  [
    plan.destroy ? 'svcctl destroy' : 'svcctl apply',
    ...plan.stacks.map(it => `--stack ${shellWord(it.name)}`),
    ...plannedWith(plan),
    ...(plan.destroy ? [] : ['--approve', approvalOf(plan)]),
  ].join(' ')
