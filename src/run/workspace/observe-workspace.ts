/** What is live of the stacks of a workspace, as it sees them: reads, and decides nothing. */
import {kinds} from '../../backends/kinds.ts'
import type {Json} from '../../base/json.ts'
import {evaluate} from '../../declaration/read/residual.ts'
import type {Key} from '../../engine/model/value.ts'
import type {Observation, ObserveInput} from '../../engine/observe/observation.ts'
import {observe} from '../../engine/observe/observe.ts'
import {justDeleted, maybeLate} from '../journal/maybe-late.ts'
import {checkAccounts} from './accounts.ts'
import {speaksTo} from './needed-apis.ts'
import type {Workspace} from './workspace.ts'

/**
 * @param wants - which declarations, and what ledgers own, are looked at
 * @throws OtherAccountError, UnprovenAccountError: what another account has says nothing of what these ledgers have
 */
export async function observeWorkspace(
  workspace: Workspace,
  wants: (key: Key) => boolean,
  {stacks = [...workspace.stacks, ...workspace.others], expected = []}: Partial<Pick<ObserveInput, 'stacks' | 'expected'>> = {},
): Promise<Observation> {
  await checkAccounts(workspace)
  const {ledgers, otherLedgers, accountOf, backendOf, variable, host} = workspace
  const selected = new Set(workspace.stacks.map(it => it.name))
  const learnsSecret = (value: Json, of: string) => host.redactor.registerValue(value, of)
  const sources = {ledgers, otherLedgers, accountOf, kinds, backendOf, evaluate, variable}
  return observe({
    ...sources,
    stacks,
    selected,
    wants,
    learnsSecret,
    expected,
    maybeLate: maybeLate(host),
    deleted: (await justDeleted(host)).filter(speaksTo((stack, api) => workspace.connectionOf(stack, api))),
  })
}
